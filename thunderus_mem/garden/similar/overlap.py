"""How much of two texts is the same, word for word, by their three-word runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Set

_FEWEST_RUNS: Final = 6


class Gates(NamedTuple):
    """From where on documents are alike, 0 to 1: ``near``, the three-word runs of both that both have;
    ``contained``, those of the shorter that the longer has; ``restated``, what both speak of."""

    near: float = 0.5
    contained: float = 0.8
    restated: float = 0.33


def jaccard(one: Set[int], other: Set[int]) -> float:
    """How much of both together is in both: 0 to 1."""
    shared = len(one & other)
    return shared / max(len(one) + len(other) - shared, 1)


def near_score(one: Set[int], other: Set[int], gates: Gates) -> float:
    """The Jaccard index, or how much of the shorter the longer holds; 0 when they are not near."""
    shorter = min(len(one), len(other))
    if shorter < _FEWEST_RUNS:
        return 0.0
    score = jaccard(one, other)
    if score >= gates.near:
        return score
    contained = len(one & other) / shorter
    return contained if contained >= gates.contained else 0.0
