"""The lines by which a person can check what was found about two documents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from thunderus_mem.garden.similar.labels import Comparison, Read
    from thunderus_mem.garden.similar.sentences import Sentence

_MOST: Final = 6
_LONGEST: Final = 120
_MEASURED: Final = {
    "near": "of the three-word runs of the two are shared",
    "paraphrase": "of what the two speak of is shared, by weight",
}


def _quoted(sentence: Sentence) -> str:
    text = sentence.text
    return f'"{text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"}"'


def measured(tier: str, score: float) -> str:
    """The score as a person reads it."""
    return f"{score:.0%} {_MEASURED[tier]}"


def evidence(tier: str, score: float, found: Comparison, one: Read, other: Read) -> tuple[str, ...]:
    """The score, then what differs (or, when nothing does, what answers each other) with path and line."""
    lines = [measured(tier, score)]
    pairs = [(each.about, each.one, each.other) for each in found.differences]
    if not pairs:
        unlike = sorted(
            (pair for pair in found.aligned if pair.likeness < 1.0),
            key=lambda pair: (-pair.likeness, pair.one.line, pair.other.line),
        )
        pairs = [("", pair.one, pair.other) for pair in unlike]
    for about, mine, theirs in pairs[:_MOST]:
        lead = f"{about} differs: " if about else ""
        lines.append(
            f"{lead}{_quoted(mine)} ↔ {_quoted(theirs)} "
            f"({one.document.path}:{mine.line}, {other.document.path}:{theirs.line})"
        )
    if len(pairs) > _MOST:
        lines.append(f"and {len(pairs) - _MOST} more places")
    return tuple(lines)
