"""The results of a run, as Markdown and as data. Pure."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from benchmarks.replay.baselines import METHODS
from benchmarks.replay.judging import HISTORY, SITUATIONS, TITLES
from benchmarks.replay.scoring import (
    FALSE_ALARM,
    MISSED,
    NO_ANSWER,
    RIGHT,
    WRONG_PLACE,
    Case,
    Rate,
    outcome,
    rates,
    right,
)
from benchmarks.replay.truth import CLASSES, FOLLOWED, HELD

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from benchmarks.replay.changing import Checked
    from benchmarks.replay.mutating import Mutation
    from benchmarks.replay.symbols import Symbol

_WRONG: Final = (FALSE_ALARM, MISSED, WRONG_PLACE, NO_ANSWER)
_OF_STALE: Final = {name: f"{name} of `changed` and `missing`" for name in ("precision", "recall")}


class About(NamedTuple):
    """A repository and the commits used."""

    name: str
    commits: int
    newest: str
    steps: int


class Findings(NamedTuple):
    """All results of a run."""

    abouts: list[About]
    cases: list[Case]
    not_seen: list[tuple[str, str, Symbol]]
    mutations: list[tuple[str, Mutation]]
    checked: list[Checked]


def table(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """A Markdown table."""
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    lines += ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]
    return "\n".join(lines)


def _of(cases: Iterable[Case], *origins: str) -> list[Case]:
    return [case for case in cases if case.origin in origins]


def _stale(situation: str) -> Callable[[Case], bool]:
    return lambda case: case.given[situation].stale


def _situations(cases: Sequence[Case]) -> list[str]:
    return [name for name in SITUATIONS if any(name in case.given for case in cases)]


def result(case: Case, situation: str) -> str:
    """The outcome of a case in a situation."""
    return outcome(case.path, case.symbol, case.truth, case.given[situation])


def headline(findings: Findings) -> str:
    """The figures with targets, for each situation."""
    walked, moved = _of(findings.cases, "walk"), _of(findings.cases, "walk", "moves")
    healed = _of(findings.cases, "walk", "reverts")
    names = _situations(walked)
    found = {name: rates(walked, _stale(name)) for name in names}
    rows: list[tuple[str, ...]] = [
        (_OF_STALE.get(key, key), *(str(found[name][key]) for name in names))
        for key in next(iter(found.values()), {})
    ]
    rows.append(("renames and moves followed", *(str(right(moved, name, FOLLOWED)) for name in names)))
    larger = [case for case in moved if not case.small]
    rows.append(("… of bodies of 40 tokens or more", *(str(right(larger, name, FOLLOWED)) for name in names)))
    rows.append(("reverts recognized", *(str(right(healed, name, ("reverted",))) for name in names)))
    rows.append(("`unknown`", *(str(_unanswered(walked, name)) for name in names)))
    return table(("", *(TITLES[name] for name in names)), rows)


def _unanswered(cases: Sequence[Case], situation: str) -> Rate:
    return Rate(sum(case.given[situation].status == "unknown" for case in cases), len(cases))


def classes(cases: Sequence[Case], situation: str) -> str:
    """The outcomes of the verdicts for each class of the ground truth."""
    counts = Counter((case.truth.kind, result(case, situation)) for case in cases)
    outcomes = (RIGHT, FALSE_ALARM, MISSED, WRONG_PLACE, NO_ANSWER)
    rows = []
    for kind in CLASSES:
        total = sum(count for (name, _), count in counts.items() if name == kind)
        if total:
            rows.append((kind, f"{total:,}", *(f"{counts[kind, one]:,}" for one in outcomes)))
    return table(("what happened", "anchors", *outcomes[:-1], f"`{NO_ANSWER}`"), rows)


def comparison(cases: Sequence[Case]) -> str:
    """Our verdicts and other methods, on the same anchors."""
    walked = _of(cases, "walk")
    rows = []
    for name in METHODS:
        asked = [case for case in walked if name in case.others]
        found = rates(asked, lambda case, name=name: case.others[name])  # type: ignore[misc]
        rows.append((name, f"{len(asked):,}", *map(str, found.values())))
    found = rates(walked, _stale(HISTORY))
    rows.append(("thunderus-mem", f"{len(walked):,}", *map(str, found.values())))
    return table(("method", "anchors", *found), rows)


def by_group(cases: Sequence[Case], key: Callable[[Case], Any], title: str) -> str:
    """The headline figures of each language, repository or distance."""
    walked = _of(cases, "walk")
    rows = []
    for group in sorted({key(case) for case in walked}):
        some = [case for case in walked if key(case) == group]
        found = rates(some, _stale(HISTORY))
        followed = right([c for c in _of(cases, "walk", "moves") if key(c) == group], HISTORY, FOLLOWED)
        rows.append(
            (
                group,
                f"{len(some):,}",
                found["precision"],
                found["recall"],
                found["cosmetic edits flagged"],
                followed,
            )
        )
    return table(
        (title, "anchors", "precision", "recall", "cosmetic edits flagged", "renames and moves followed"),
        rows,
    )


def reformats(cases: Sequence[Case]) -> str:
    """False alarms per 1,000 symbols whose syntax tree a formatter did not change."""
    rows = []
    planted = [case for case in cases if case.origin not in ("walk", "moves", "reverts")]
    for name in dict.fromkeys(case.origin for case in planted):
        same = [case for case in planted if case.origin == name and case.truth.kind in HELD]
        other = sum(case.origin == name for case in planted) - len(same)
        alarms = sum(result(case, HISTORY) == FALSE_ALARM for case in same)
        silent = sum(result(case, HISTORY) == NO_ANSWER for case in same)
        rate = Rate(alarms, len(same))
        high = 1000 * rate.interval[1]
        share = f"{1000 * alarms / max(1, len(same)):.2f} (at most {high:.2f})"
        rows.append((name, f"{len(same):,}", alarms, share, silent, other))
    head = (
        "formatter",
        "symbols",
        "false alarms",
        "per 1,000 symbols",
        "`unknown`",
        "excluded",
    )
    return table(head, rows)


LANGUAGES: Final = {
    ".c": "C", ".h": "C", ".cs": "C#", ".rb": "Ruby", ".rake": "Ruby", ".gemspec": "Ruby", ".php": "PHP",
    ".kt": "Kotlin", ".kts": "Kotlin", ".java": "Java", ".go": "Go", ".rs": "Rust", ".py": "Python",
    ".pyi": "Python", ".js": "JavaScript", ".jsx": "JavaScript", ".mjs": "JavaScript", ".cjs": "JavaScript",
    ".ts": "TypeScript", ".tsx": "TypeScript", ".mts": "TypeScript", ".cts": "TypeScript",
}  # fmt: skip


def language(case: Case) -> str:
    """The language of the anchored file."""
    return LANGUAGES.get(case.language, case.language)


def in_situations(cases: Sequence[Case]) -> str:
    """Precision, recall, moves and reverts of each language in every situation."""
    rows = []
    for group in sorted({language(case) for case in cases}):
        some = [case for case in cases if language(case) == group]
        walked = _of(some, "walk")
        for name in _situations(walked):
            found = rates(walked, _stale(name))
            followed = right(_of(some, "walk", "moves"), name, FOLLOWED)
            healed = right(_of(some, "walk", "reverts"), name, ("reverted",))
            rows.append((group, TITLES[name], *list(found.values())[:3], followed, healed))
    head = ("language", "", "precision", "recall", "cosmetic edits flagged", "moves followed", "reverts")
    return table(head, rows)


def changes_checked(checked: Sequence[Checked]) -> str:
    """How many change checks reported exactly the anchors that the commit edited, by repository."""
    rows = []
    for name in [*dict.fromkeys(one.repository for one in checked), "all"]:
        some = [one for one in checked if name in (one.repository, "all")]
        both = sum(len(one.edited & one.reported) for one in some)
        edited, reported = sum(len(one.edited) for one in some), sum(len(one.reported) for one in some)
        equal = Rate(sum(one.equal for one in some), len(some))
        rows.append((name, equal, edited, both, reported - both))
    return table(
        ("repository", "equal commits", "anchors edited", "of them reported", "others reported"), rows
    )


def mutated(mutations: Sequence[tuple[str, Mutation]]) -> str:
    """The share of one-token edits that went unnoticed."""
    missed = Rate(sum(one.missed for _, one in mutations), len(mutations))
    return f"Edits of one token in Python that went unnoticed: {missed}."


def false_verdicts(findings: Findings) -> list[dict[str, Any]]:
    """Every wrong verdict, as data; a case is listed once for all situations with the same error."""
    found = []
    for case in findings.cases:
        wrong: dict[str, list[str]] = {}
        for situation in case.given:
            how = result(case, situation)
            if how in _WRONG:
                wrong.setdefault(how, []).append(situation)
        for how, situations in wrong.items():
            given = case.given[situations[0]]
            found.append(
                {
                    "how": how,
                    "situations": situations,
                    "origin": case.origin,
                    "repository": case.repository,
                    "a": case.a,
                    "b": case.b,
                    "path": case.path,
                    "symbol": case.symbol,
                    "small": case.small,
                    "truth": case.truth.kind,
                    "places": list(case.truth.places),
                    "verdict": given.status,
                    "found": [given.path, given.symbol],
                    "reason": given.reason,
                }
            )
    return found


def as_data(findings: Findings) -> dict[str, Any]:
    """The counts, as data."""
    walked = _of(findings.cases, "walk")
    return {
        "repositories": [about._asdict() for about in findings.abouts],
        "anchors": len(findings.cases),
        "not_seen": len(findings.not_seen),
        "situations": {
            name: {
                key: [rate.hits, rate.total, *rate.interval]
                for key, rate in rates(walked, _stale(name)).items()
            }
            | {"followed": list(right(_of(findings.cases, "walk", "moves"), name, FOLLOWED))}
            for name in _situations(walked)
        },
        "classes": {
            origin: {
                f"{kind}/{how}": count
                for (kind, how), count in sorted(
                    Counter(
                        (c.truth.kind, result(c, HISTORY)) for c in findings.cases if c.origin == origin
                    ).items()
                )
            }
            for origin in dict.fromkeys(case.origin for case in findings.cases)
        },
        "change_checks": [sum(one.equal for one in findings.checked), len(findings.checked)],
        "mutations": [len(findings.mutations), sum(one.missed for _, one in findings.mutations)],
        "false_verdicts": false_verdicts(findings),
    }


def markdown(findings: Findings) -> str:
    """The whole report."""
    cases = findings.cases
    walked = _of(cases, "walk")
    even = [case for case in walked if not case.changing]
    about = [(a.name, f"{a.commits:,}", a.newest, a.steps) for a in findings.abouts]
    parts = [
        table(("repository", "commits", "newest", "steps from A to B"), about),
        (
            f"{len(walked):,} anchors walked, {len(cases) - len(walked):,} in planted commits, "
            f"{len(findings.not_seen):,} symbols found only by the reference parsers."
        ),
        headline(findings),
        f"Anchors from all files ({len(even):,}; the others are from files that change before B):",
        table(("", TITLES[HISTORY]), [(key, rate) for key, rate in rates(even, _stale(HISTORY)).items()]),
        *(
            f"Verdicts {TITLES[name]}, by what happened to the code:\n\n{classes(walked, name)}"
            for name in _situations(walked)
        ),
        f"Planted renames and moves, {TITLES[HISTORY]}:\n\n{classes(_of(cases, 'moves'), HISTORY)}",
        comparison(cases),
        by_group(cases, language, "language"),
        in_situations(cases),
        by_group(cases, lambda case: case.repository, "repository"),
        by_group(cases, lambda case: case.distance, "commits between"),
        reformats(cases),
        mutated(findings.mutations),
        f"Change checks:\n\n{changes_checked(findings.checked)}",
    ]
    return "\n\n".join(parts) + "\n"
