"""How much of two texts is the same, word for word, by their three-word runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Set

NEAR_JACCARD: Final = 0.5
NEAR_CONTAINED: Final = 0.8
_FEWEST_RUNS: Final = 6


def jaccard(one: Set[int], other: Set[int]) -> float:
    """How much of both together is in both: 0 to 1."""
    shared = len(one & other)
    return shared / max(len(one) + len(other) - shared, 1)


def near_score(one: Set[int], other: Set[int]) -> float:
    """The Jaccard index, or how much of the shorter the longer holds; 0 when they are not near."""
    shorter = min(len(one), len(other))
    if shorter < _FEWEST_RUNS:
        return 0.0
    score = jaccard(one, other)
    if score >= NEAR_JACCARD:
        return score
    contained = len(one & other) / shorter
    return contained if contained >= NEAR_CONTAINED else 0.0
