"""Count the results of two methods on the trials and compare them with the targets. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from benchmarks.quality.pools import BANDS, WRITTEN
from benchmarks.quality.trials import (
    CONTRADICTION,
    CONTRADICTS,
    DISTINCT,
    EXACT,
    FORM,
    MUTANT,
    NEAR,
    RELATED,
    RESTATEMENT,
)
from benchmarks.quality.written import SPLITS
from benchmarks.replay.scoring import Rate

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from benchmarks.quality.trials import Pool, Seen, Told, Trial

MOST_PROPOSALS: Final = 1.0
"""The target for proposals per 100 documents without planted pairs."""

# Measure, of which trials, what is counted, and the target for all of them.
_FOUND, _PROPOSED, _LABELLED, _MERGED, _SAME = "found", "proposed", "labelled", "merged", "same"
_MEASURES: Final = (
    ("exact duplicates found", EXACT, _FOUND, ("≥", 1.0)),
    ("near duplicates proposed", NEAR, _PROPOSED, None),
    ("restatements proposed", RESTATEMENT, _PROPOSED, None),
    ("contradictions labelled", CONTRADICTION, _LABELLED, None),
    ("mutants labelled", MUTANT, _LABELLED, None),
    ("same form proposed", FORM, _PROPOSED, ("≤", 0.0)),
    ("related proposed", RELATED, _PROPOSED, ("≤", 0.0)),
    *((f"{what} called the same", what, _SAME, ("≤", 0.0)) for what in DISTINCT),
    *((f"{what} merged by --apply", what, _MERGED, ("≤", 0.0)) for what in DISTINCT),
    *((f"{what} merged by --apply", what, _MERGED, None) for what in (EXACT, NEAR, RESTATEMENT)),
)
HALVES: Final = ("development", "sealed")
"""Real text that the rules were developed on, and text that was measured once."""
_HIDDEN: Final = (SPLITS[1], HALVES[1])
_ORDER: Final = {name: at for at, (_, name) in enumerate(BANDS)}


class Asked(NamedTuple):
    """A pool and the results of the product and of the other method."""

    pool: Pool
    ours: Seen
    theirs: Seen


class Row(NamedTuple):
    """One line of the report. ``part`` is "" for all trials; ``met`` is ``None`` without a target."""

    measure: str
    part: str
    ours: Rate
    theirs: Rate
    target: str
    met: bool | None


class Density(NamedTuple):
    """The number of proposed pairs in a pool: planted ones and others."""

    pool: str
    documents: int
    planted: int
    others: int
    theirs: int
    target: str
    met: bool | None

    @property
    def hundred(self) -> float:
        """Proposals per 100 documents."""
        return 100 * (self.planted + self.others) / self.documents if self.documents else 0.0


def _says(told: Told | None, what: str, merged: bool) -> bool:
    if what == _MERGED:
        return merged
    if told is None:
        return False
    if what == _SAME:
        return told.proposed and told.label == "same"
    if what == _FOUND:
        return told.tier in (EXACT, "word overlap")
    return told.label == CONTRADICTS if what == _LABELLED else told.proposed


def counts(seen: Seen, trial: Trial, what: str) -> bool:
    """Whether a method has found, proposed, labelled or merged a pair."""
    return _says(seen.told.get(trial.key), what, trial.key in seen.merged)


_Case: TypeAlias = "tuple[Asked, Trial]"


def _parts(cases: list[_Case]) -> dict[str, list[_Case]]:
    """The breakdowns of some trials: all, by split, by grade or kind, by phrasing."""
    found = {"": cases}
    for split in (*SPLITS, *HALVES):
        found[split] = [case for case in cases if case[1].split == split]
    kinds = sorted({trial.by for _, trial in cases}, key=lambda by: (_ORDER.get(by, 99), by))
    for kind in kinds if len(kinds) > 1 and cases[0][1].what != FORM else ():
        found[kind] = [case for case in cases if case[1].by == kind]
    for phrasing in ("alike", "reworded"):
        found[phrasing] = [
            case for case in cases if case[1].what == CONTRADICTION and case[1].how.endswith(f" {phrasing}")
        ]
    return {name: chosen for name, chosen in found.items() if chosen}


def _meets(rate: Rate, target: tuple[str, float]) -> bool | None:
    if not rate.total:
        return None
    share = rate.hits / rate.total
    return share >= target[1] if target[0] == "≥" else share <= target[1]


def rows(asked: Sequence[Asked]) -> list[Row]:
    """Every measure: first for all trials (to which the target applies), then by part."""
    found = []
    for measure, kind, what, target in _MEASURES:
        cases = [(one, trial) for one in asked for trial in one.pool.trials if trial.what == kind]
        if not cases:
            continue
        for part, chosen in (_parts(cases) if what not in (_MERGED, _SAME) else {"": cases}).items():
            ours = Rate(sum(counts(one.ours, trial, what) for one, trial in chosen), len(chosen))
            # The other method knows one answer: it merges.
            theirs = Rate(sum(counts(one.theirs, trial, _MERGED) for one, trial in chosen), len(chosen))
            mark = target if not part else None
            shown = f"{mark[0]} {100 * mark[1]:g} %" if mark else ""
            found.append(Row(measure, part, ours, theirs, shown, _meets(ours, mark) if mark else None))
    return found


def _density(name: str, one: Asked, documents: set[str], pairs: Collection[tuple[str, str]]) -> Density:
    """The proposals among ``pairs``, per 100 of ``documents``."""
    keys = {trial.key for trial in one.pool.trials}
    proposed = [pair for pair in pairs if pair in one.ours.told and one.ours.told[pair].proposed]
    planted = sum(pair in keys for pair in proposed)
    theirs = sum(pair in one.theirs.merged for pair in pairs)
    return Density(name, len(documents), planted, len(proposed) - planted, theirs, "", None)


def densities(asked: Sequence[Asked]) -> list[Density]:
    """Proposals that have a written document in them; those in each real corpus, and their sum; and those
    among all real pages, were they one memory.

    Pools of twins are left out: whatever two pages have in common stands there four times.
    """
    found, real, together = [], [], []
    for one in asked:
        every = {each.id for each in one.pool.documents}
        pairs = one.ours.told.keys() | one.theirs.merged
        if one.pool.name == WRITTEN:
            own = {id for trial in one.pool.trials for id in trial.key}
            found.append(_density(WRITTEN, one, own, {pair for pair in pairs if own & set(pair)}))
            if every > own:
                rest = {pair for pair in pairs if not own & set(pair)}
                together.append(_density("all of them as one memory", one, every - own, rest))
        elif not one.pool.trials:
            real.append(_density(one.pool.name, one, every, pairs))
    if real:
        size = sum(each.documents for each in real)
        others, theirs = sum(each.others for each in real), sum(each.theirs for each in real)
        whole = Density("all repositories", size, 0, others, theirs, f"≤ {MOST_PROPOSALS:g}", None)
        real.append(whole._replace(met=whole.hundred <= MOST_PROPOSALS))
    return [*found, *real, *together]


def labels(asked: Sequence[Asked]) -> dict[str, dict[str, int]]:
    """For each class of trials, the count of each label given by the product."""
    found: dict[str, dict[str, int]] = {}
    for one in asked:
        for trial in one.pool.trials:
            told = one.ours.told.get(trial.key)
            name = f"{told.label}{'' if told.proposed else ', not proposed'}" if told else "not reported"
            row = found.setdefault(trial.what, {})
            row[name] = row.get(name, 0) + 1
    return found


def unplanned(asked: Sequence[Asked]) -> list[tuple[str, tuple[str, str], Told]]:
    """Pool, ids and result of every proposal that was not planted, in the pools of `densities`.

    Held-out documents are not shown.
    """
    hidden = {id for one in asked for trial in one.pool.trials if trial.split in _HIDDEN for id in trial.key}
    return [
        (one.pool.name, pair, told)
        for one in asked
        if not one.pool.trials or one.pool.name == WRITTEN
        for pair, told in sorted(one.ours.told.items())
        if told.proposed and not hidden & set(pair) and all(pair != trial.key for trial in one.pool.trials)
    ]


def misses(asked: Sequence[Asked]) -> dict[str, list[tuple[Trial, str]]]:
    """The trials that miss a target, with their result. Held-out pairs are not shown."""
    found: dict[str, list[tuple[Trial, str]]] = {}
    for measure, kind, what, target in _MEASURES:
        for one in asked if target else ():
            for trial in one.pool.trials:
                wanted = target is not None and target[0] == "≥"
                if trial.what != kind or trial.split in _HIDDEN or counts(one.ours, trial, what) == wanted:
                    continue
                told = one.ours.told.get(trial.key)
                said = f"{told.tier}: {told.label}" if told else "not reported"
                found.setdefault(measure, []).append((trial, said))
    return found


def passed(found: Sequence[Row], proposals: Sequence[Density]) -> bool:
    """Whether all targets are met."""
    return all(row.met is not False for row in found) and all(one.met is not False for one in proposals)
