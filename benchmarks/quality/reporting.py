"""The results as Markdown and as data. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmarks.quality.scoring import densities, labels, misses, passed, rows, unplanned

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.quality.scoring import Asked, Density, Row
    from benchmarks.replay.scoring import Rate

_MARK = {True: "yes", False: "**no**", None: ""}


def _table(head: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    shown = [f"| {' | '.join(cells)} |" for cells in (head, ["---"] * len(head), *lines)]
    return "\n".join(shown) + "\n"


def _rows(found: Sequence[Row]) -> str:
    lines = []
    for row in found:
        name = f"… {row.part}" if row.part else row.measure
        lines.append((name, str(row.ours), row.target, _MARK[row.met], str(row.theirs)))
    return _table(("measure", "thunderus-mem", "target", "met", "word overlap > 0.8 merges"), lines)


def _densities(found: Sequence[Density]) -> str:
    lines = []
    for one in found:
        numbers = [f"{count:,}" for count in (one.documents, one.planted, one.others)]
        lines.append(
            (one.pool, *numbers, f"{one.hundred:.2f}", one.target, _MARK[one.met], f"{one.theirs:,}")
        )
    head = ("pool", "documents", "planted pairs proposed", "others proposed", "per 100 documents")
    return _table((*head, "target", "met", "word overlap > 0.8 merges"), lines)


def _labels(found: dict[str, dict[str, int]]) -> str:
    names = sorted({name for row in found.values() for name in row})
    lines = [(what, *(f"{row.get(name, 0):,}" for name in names)) for what, row in found.items()]
    return _table(("pairs", *names), lines)


def _examples(asked: Sequence[Asked], most: int) -> str:
    shown = []
    for measure, cases in misses(asked).items():
        shown.append(f"\n### Misses of “{measure}”: {len(cases)}\n")
        shown += [
            f"- {trial.by}, {trial.origin}: {trial.how}\n  `{trial.one}` / `{trial.other}`: {said}"
            for trial, said in cases[:most]
        ]
    shown.append("\n### Proposed, not planted\n")
    shown += [
        f"- {pool}: `{one}` / `{other}`: {told.tier}: {told.label}"
        for pool, (one, other), told in unplanned(asked)
    ]
    return "\n".join(shown) + "\n"


def markdown(asked: Sequence[Asked], examples: int = 0) -> str:
    """Three tables, and examples of errors on request."""
    parts = [
        "## Pairs\n\n" + _rows(rows(asked)),
        "## Proposals\n\n" + _densities(densities(asked)),
        "## Labels\n\n" + _labels(labels(asked)),
    ]
    if examples:
        parts.append("## Errors\n" + _examples(asked, examples))
    return "\n".join(parts)


def _rate(rate: Rate) -> dict[str, Any]:
    return {"hits": rate.hits, "total": rate.total, "interval": rate.interval}


def as_data(asked: Sequence[Asked]) -> dict[str, Any]:
    """The content of the tables, and the misses that may be shown."""
    found, proposals = rows(asked), densities(asked)
    return {
        "measures": [row._asdict() | {"ours": _rate(row.ours), "theirs": _rate(row.theirs)} for row in found],
        "proposals": [one._asdict() | {"hundred": one.hundred} for one in proposals],
        "labels": labels(asked),
        "misses": {
            measure: [trial._asdict() | {"said": said} for trial, said in cases]
            for measure, cases in misses(asked).items()
        },
        "unplanned": [
            {"pool": pool, "one": one, "other": other} | told._asdict()
            for pool, (one, other), told in unplanned(asked)
        ],
        "passed": passed(found, proposals),
    }
