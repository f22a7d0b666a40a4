"""Walks forward through a repository: anchors at A, verdicts at B, ground truth of the changes between."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final, NamedTuple

from benchmarks.replay.baselines import LOG, stale_by, stale_by_log
from benchmarks.replay.judging import HISTORY, NONE, in_all_situations
from benchmarks.replay.planting import choose, plant
from benchmarks.replay.scoring import Case
from benchmarks.replay.truth import STALE, Expected, Span, expected
from thunderus_mem.fingerprint.source import CodeSource

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from random import Random

    from benchmarks.replay.planting import Planted
    from benchmarks.replay.symbols import Symbol
    from benchmarks.replay.truth import Library

_RECENT: Final = 3000


class Walk(NamedTuple):
    """How far and how often: ``distances`` in first-parent commits, ``starts`` for each, anchors a start;
    ``log_lines`` how many of them are also put to the slow ``git log -L``."""

    distances: tuple[int, ...]
    starts: int
    anchors: int
    log_lines: int
    situations: tuple[str, ...]


class Seen(NamedTuple):
    """What a step gave: cases, and symbols that the product does not see as truth does."""

    cases: list[Case]
    not_seen: list[tuple[str, Symbol]]


def sown(
    library: Library, tree: dict[str, str], chosen: Sequence[tuple[str, Symbol, bool]]
) -> tuple[list[Planted], list[tuple[str, Symbol]]]:
    """Anchors on chosen symbols, and those that cannot have one."""
    sources: dict[str, CodeSource] = {}
    planted, not_seen = [], []
    for path, symbol, changing in chosen:
        if path not in sources:
            sources[path] = CodeSource(path, library.clone.blob(tree[path]))
        found = plant(sources[path], path, symbol, changing=changing)
        if found is None:
            not_seen.append((path, symbol))
        else:
            planted.append(found)
    return planted, not_seen


def cases_of(
    origin: str,
    span: Span,
    planted: Sequence[Planted],
    distance: int,
    situations: Sequence[str],
    log_lines: int = 0,
) -> list[Case]:
    """One case for every planted anchor."""
    clone = span.library.clone
    truths = [expected(span, one.anchor.path, one.symbol, small=one.small) for one in planted]
    shallow = f"{clone.root}-shallow-{span.b[:12]}"
    anchors = [one.anchor for one in planted]
    verdicts = in_all_situations(clone, span.a, span.b, anchors, shallow, situations)
    touched = clone.touched(span.a, span.b)
    found = []
    for at, (one, truth, given) in enumerate(zip(planted, truths, verdicts, strict=True)):
        path = one.anchor.path
        others = stale_by(span, touched, path)
        if at < log_lines:
            others[LOG] = stale_by_log(span, path, one.symbol, truth)
        places = tuple((place, _as_seen(one, name)) for place, name in truth.places)
        found.append(
            Case(
                origin,
                *(clone.name, os.path.splitext(path)[1], span.a, span.b, distance, path, one.anchor.symbol),
                *(one.small, one.changing, truth._replace(places=places), given, others),
            )
        )
    return found


def _as_seen(planted: Planted, name: str) -> str:
    """A place's name as the product writes names, where the two have different names for one symbol."""
    return planted.anchor.symbol if name == planted.symbol.name else name


def walk(library: Library, plan: Walk, dice: Random) -> Iterator[tuple[str, Seen]]:
    """Every step of a plan and its result."""
    clone = library.clone
    line = clone.line()
    for distance in plan.distances:
        low = max(1, len(line) - _RECENT)
        if len(line) - 1 - distance < low:
            continue
        for _ in range(plan.starts):
            at = dice.randint(low, len(line) - 1 - distance)
            span = Span(library, line[at], line[at + distance])
            chosen = choose(library, span.before, set(span.versions), dice, plan.anchors)
            dice.shuffle(chosen)
            planted, not_seen = sown(library, span.before, chosen)
            cases = cases_of("walk", span, planted, distance, plan.situations, plan.log_lines)
            yield f"{clone.name} {distance}", Seen([*cases, *_reverted(span, planted, cases)], not_seen)


def _reverted(span: Span, planted: Sequence[Planted], cases: Sequence[Case]) -> list[Case]:
    """The tree of A committed again on top of B, which reverts all changes."""
    clone = span.library.clone
    healed = [(one, case) for one, case in zip(planted, cases, strict=True) if case.truth.kind in STALE]
    back = clone.commit(span.a, {}, parents=[span.b])
    anchors = [one.anchor for one, _ in healed]
    verdicts = in_all_situations(clone, span.a, back, anchors, "", (HISTORY, NONE))
    truth = Expected("reverted", why="the whole tree")
    return [
        case._replace(
            origin="reverts",
            b=back,
            truth=truth._replace(places=((case.path, case.symbol),)),
            given=given | dict.fromkeys(case.given.keys() - given.keys(), given[NONE]),
            others={},
        )
        for (_, case), given in zip(healed, verdicts, strict=True)
    ]
