"""Candidates for restatements: documents that are each other's nearest by what they speak of.

Words weigh by how rare they are in this memory. How near two documents are is measured against how much each
says, so no figure depends on the length of texts or on the size of the memory. No model.
"""

from __future__ import annotations

from collections import Counter
from math import log, sqrt
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from thunderus_mem.garden.similar.profile import Profile

_NEAREST: Final = 2
"""How many nearest each document has; both must be among the other's."""
_FEWEST_SHARED: Final = 3
# In a memory of a few documents nothing is rare: weights are then those of one of this size.
_SMALLEST: Final = 200
_COMMON_FROM: Final = 8
_COMMON_AT_MOST: Final = 64


class Neighbours(NamedTuple):
    """Two positions, lower first. ``likeness`` is the geometric mean of the parts of what each says that the
    other says too, ``contained`` the larger of them; ``lead`` is how far they are ahead of the next best of
    either (1 = as near as others)."""

    first: int
    second: int
    likeness: float
    contained: float
    lead: float


class _Scale:
    """How much each concept weighs in this memory."""

    def __init__(self, profiles: Sequence[Profile]) -> None:
        self.frequency: Counter[int] = Counter()
        for profile in profiles:
            self.frequency.update(profile.terms)
        size = max(len(profiles), _SMALLEST)
        by_count = {count: log(1 + size / count) for count in set(self.frequency.values())}
        self.weight = {term: by_count[count] for term, count in self.frequency.items()}
        # More than this share a common word: it weighs, but finds nobody.
        self.common = max(_COMMON_FROM, min(len(profiles) // 8, _COMMON_AT_MOST))

    def total(self, terms: Sequence[int] | set[int]) -> float:
        weight = self.weight
        return sum([weight[term] for term in sorted(terms)])


def _rare_terms(profiles: Sequence[Profile], scale: _Scale) -> list[list[int]]:
    frequency, common = scale.frequency, scale.common
    return [[term for term in profile.terms if 1 < frequency[term] <= common] for profile in profiles]


def _nearest(
    rare: Sequence[Sequence[int]], scale: _Scale, totals: Sequence[float]
) -> list[list[tuple[float, int]]]:
    """For each document the nearest by rare concepts and how near, best first, one more than counts."""
    posted: dict[int, list[int]] = {}
    for at, terms in enumerate(rare):
        for term in terms:
            posted.setdefault(term, []).append(at)
    found = []
    for at, terms in enumerate(rare):
        shared: dict[int, float] = {}
        for term in terms:
            weight = scale.weight[term]
            for other in posted[term]:
                shared[other] = shared.get(other, 0.0) + weight
        shared.pop(at, None)
        ranked = sorted((-total / sqrt(totals[other]), other) for other, total in shared.items())
        found.append([(-score / sqrt(totals[at]), other) for score, other in ranked[: _NEAREST + 1]])
    return found


def neighbours(profiles: Sequence[Profile]) -> list[Neighbours]:
    """Every two documents that are among each other's nearest, ordered by position; near linear."""
    scale = _Scale(profiles)
    totals = [max(scale.total(profile.terms), 1e-9) for profile in profiles]
    nearest = _nearest(_rare_terms(profiles, scale), scale, totals)
    closest = [{other for _, other in each[:_NEAREST]} for each in nearest]
    found = []
    for at, others in enumerate(closest):
        for other in sorted(others):
            if other > at and at in closest[other]:
                pair = _measured(at, other, profiles, scale, totals, nearest)
                if pair is not None:
                    found.append(pair)
    return found


def _measured(
    at: int,
    other: int,
    profiles: Sequence[Profile],
    scale: _Scale,
    totals: Sequence[float],
    nearest: Sequence[Sequence[tuple[float, int]]],
) -> Neighbours | None:
    shared = set(profiles[at].terms).intersection(profiles[other].terms)
    if len(shared) < _FEWEST_SHARED:
        return None
    total = scale.total(shared)
    mine = next(score for score, who in nearest[at] if who == other)
    next_best = max(
        [score for score, who in nearest[at] if who != other]
        + [score for score, who in nearest[other] if who != at],
        default=0.0,
    )
    return Neighbours(
        at,
        other,
        total / sqrt(totals[at] * totals[other]),
        total / min(totals[at], totals[other]),
        mine / next_best if next_best else 9.0,
    )
