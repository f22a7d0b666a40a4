"""The measures as Markdown tables and as data. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmarks.retrieval.collection import PARTS, SEALED
from benchmarks.retrieval.engines import OURS
from benchmarks.retrieval.measures import mean
from benchmarks.retrieval.scoring import (
    ALWAYS,
    LINKED,
    MEASURES,
    OWN,
    RANKINGS,
    WITH_CLOSEST,
    aliased,
    answerable,
    answered,
    answered_right,
    answering,
    by_kind,
    cases,
    current_first,
    difference,
    goals,
    misses,
    percent,
    rate,
    rivals_of,
    values,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.retrieval.scoring import Asked, Case, Goal

_DECISIONS = (
    "answered, of those that share a word",
    "answered, of those that share half of their words",
    "right answer in the first 5, of all",
    "right answer in the first 5, of all answers given",
    "false answers, everyday",
    "false answers, near",
    "false answers, all",
    "false answers, closest hits not counted",
)
_SCOPES = {"": "all questions", "paraphrase": "paraphrase questions"}


def table(head: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """A Markdown table."""
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (head, ["---"] * len(head), *lines)) + "\n"


def _collections(asked: Sequence[Asked]) -> str:
    lines = []
    for one in asked:
        questions = one.collection.questions
        real = sum(bool(question.relevant) for question in questions)
        numbers = (len(one.collection.documents), real, len(questions) - real)
        lines.append((one.collection.name, one.collection.half, *(f"{number:,}" for number in numbers)))
    return table(("collection", "part", "documents", "answerable questions", "unanswerable"), lines)


def _ranking(parts: dict[str, list[Case]]) -> str:
    lines = [
        (
            part,
            str(len(answerable(chosen))),
            engine,
            *(f"{mean(values(chosen, measure, engine)):.3f}" for measure in MEASURES),
        )
        for part, chosen in parts.items()
        for engine in (OURS, WITH_CLOSEST, ALWAYS, *rivals_of(chosen))
    ]
    return table(("questions", "number", "engine", *MEASURES), lines)


def _differences(parts: dict[str, list[Case]]) -> str:
    lines = [
        (part, measure, rival, *(str(difference(chosen, measure, ours, rival)) for ours in RANKINGS))
        for part, chosen in parts.items()
        for measure in MEASURES
        for rival in rivals_of(chosen)
    ]
    return table(("questions", "measure", "minus", *RANKINGS), lines)


def _kinds(chosen: Sequence[Case]) -> str:
    rivals = rivals_of(chosen)
    lines = []
    for kind, own in by_kind(chosen).items():
        ours = [f"{mean(values(own, 'nDCG@10', name)):.3f}" for name in RANKINGS]
        theirs = []
        for rival in rivals:
            one = difference(own, "nDCG@10", ALWAYS, rival)
            theirs.append(f"{mean(values(own, 'nDCG@10', rival)):.3f} ({one.low:+.3f} … {one.high:+.3f})")
        lines.append((kind, str(len(own)), *ours, *theirs))
    return table(("kind", "number", *RANKINGS, *rivals), lines)


def _answering(own: Sequence[Case]) -> str:
    names = [OURS, *rivals_of(own)]
    said = [answering(own, name) for name in names]
    lines = [
        (measure, *(percent(one.rates[place]) for one in said)) for place, measure in enumerate(_DECISIONS)
    ]
    lines.append(("AUC of the score", *(f"{one.area:.3f}" for one in said)))
    always = f"{answering(own, ALWAYS).area:.3f}"
    lines.append(("AUC of the score, abstaining switched off", always, *("" for _ in said[1:])))
    return table(("measure", *names), lines)


def _answered_kinds(own: Sequence[Case]) -> str:
    lines = [
        (kind, percent(rate(chosen, answered)), percent(rate(chosen, answered_right)))
        for kind, chosen in by_kind(own).items()
    ]
    return table(("kind", "answered", "right answer in the first 5"), lines)


def _current(own: Sequence[Case]) -> str:
    names = [OURS, LINKED, *rivals_of(own)]
    return table(
        ("engine", "current before outdated"), [(name, percent(current_first(own, name))) for name in names]
    )


def _aliases(own: Sequence[Case]) -> str:
    lines = [
        (one.documents, scope, str(one.questions), name, f"{without:.3f}", f"{with_them:.3f}")
        for kind, scope in _SCOPES.items()
        for one in aliased(own, kind)
        for name, (without, with_them) in one.values.items()
    ]
    head = ("documents", "questions", "number", "measure", "without aliases", "with aliases")
    return table(head, lines) if lines else ""


def half_of(asked: Sequence[Asked], half: str, *, examples: bool = False) -> str:
    """All tables of one half."""
    own, public = cases(asked, half, public=False), cases(asked, half, public=True)
    sets = by_kind(public)
    parts = {OWN: own} if own else {}
    shown = [
        f"## {half.capitalize()} questions\n",
        "### Ranking\n",
        _ranking({**parts, **sets}),
        _differences({**parts, **sets}),
    ]
    if own:
        shown += ["### nDCG@10 by kind\n", _kinds(own), "### Answering\n", _answering(own)]
        shown += [_answered_kinds(own), "### Current decisions\n", _current(own)]
    if examples and half != SEALED:
        shown += ["### Errors\n", "\n".join(misses(own)) + "\n"]
    return "\n".join(shown)


def halves(asked: Sequence[Asked]) -> list[str]:
    """The halves that were measured."""
    return [half for half in PARTS if any(one.collection.half == half for one in asked)]


def _goals(asked: Sequence[Asked]) -> str:
    """What was measured in each half, by goal."""
    shown: dict[tuple[str, str], dict[str, Goal]] = {}
    for half in halves(asked):
        own, public = cases(asked, half, public=False), cases(asked, half, public=True)
        for goal in goals(own, public):
            shown.setdefault((goal.name, goal.target), {})[half] = goal
    lines = []
    for named, by_half in shown.items():
        cells = [
            f"{by_half[half].measured}{'' if by_half[half].met else ' – missed'}" if half in by_half else ""
            for half in halves(asked)
        ]
        lines.append((*named, *cells))
    return table(("measure", "goal", *halves(asked)), lines)


def tables(asked: Sequence[Asked], *, examples: bool = False) -> dict[str, str]:
    """All tables, by the section of the page that they belong to."""
    own = [case for half in halves(asked) for case in cases(asked, half, public=False)]
    return {
        "collections": _collections(asked),
        "goals": _goals(asked),
        "halves": "\n".join(half_of(asked, half, examples=examples) for half in halves(asked)),
        "aliases": _aliases(own),
    }


def markdown(asked: Sequence[Asked], *, examples: bool = False) -> str:
    """All tables, for a terminal."""
    parts = tables(asked, examples=examples).items()
    return "\n".join(
        text if name == "halves" else f"## {name.capitalize()}\n\n{text}" for name, text in parts
    )


def replaced(page: str, asked: Sequence[Asked]) -> str:
    """The page with new tables; comments mark where each begins and ends: ``<!-- begin goals -->``."""
    for name, text in tables(asked).items():
        before, begin, rest = page.partition(f"<!-- begin {name} -->\n")
        _, end, after = rest.partition(f"<!-- end {name} -->\n")
        page = f"{before}{begin}\n{text}\n{end}{after}" if end else page
    return page


def as_data(asked: Sequence[Asked]) -> dict[str, Any]:
    """The goals and main measures of each half."""
    return {half: _data(asked, half) for half in halves(asked)}


def _data(asked: Sequence[Asked], half: str) -> dict[str, Any]:
    own, public = cases(asked, half, public=False), cases(asked, half, public=True)
    parts = {**({OWN: own} if own else {}), **by_kind(own), **by_kind(public)}
    return {
        "ranking": {
            part: {
                measure: {
                    name: mean(values(chosen, measure, name)) for name in (*RANKINGS, *rivals_of(chosen))
                }
                for measure in MEASURES
            }
            for part, chosen in parts.items()
        },
        "answering": answering(own)._asdict() if own else {},
        "goals": [goal._asdict() for goal in goals(own, public)],
    }


def passed(asked: Sequence[Asked]) -> bool:
    """Whether all goals of the halves that were measured are met."""
    return all(
        goal.met
        for half in halves(asked)
        for goal in goals(cases(asked, half, public=False), cases(asked, half, public=True))
    )
