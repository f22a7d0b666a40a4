"""Candidates for restatements: documents that are each other's nearest by what they speak of.

Words weigh by how rare they are in this memory. How near two documents are is measured against how much each
says, so no figure depends on the length of texts or on the size of the memory. No model.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from heapq import nsmallest
from itertools import accumulate, chain
from math import fsum, log, sqrt
from typing import TYPE_CHECKING, Final, NamedTuple

from thunderus_mem.garden.similar.sharing import in_turn

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from thunderus_mem.garden.similar.profile import Profile
    from thunderus_mem.garden.similar.sharing import Share

NEAREST: Final = 2
"""How many nearest each document has; both must be among the other's."""
_FEWEST_SHARED: Final = 3
_FEWEST_RARE: Final = 2
_LOOKED_AT: Final = 5
_LEAST_PART: Final = 10
_REACH: Final = 128
"""So many documents that share a rare concept are met, and those met most for their length compared."""
# In a memory of a few documents nothing is rare: weights are then those of one of this size.
_SMALLEST: Final = 200
_MANY: Final = 2000
"""From so many documents on it pays to look for the nearest in several processes."""
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
    """How much each concept weighs in this memory, and which are rare enough to find others."""

    def __init__(self, profiles: Sequence[Profile]) -> None:
        frequency: Counter[int] = Counter(chain.from_iterable(profile.terms for profile in profiles))
        size = max(len(profiles), _SMALLEST)
        by_count = {count: log(1 + size / count) for count in set(frequency.values())}
        self.weight = {term: by_count[count] for term, count in frequency.items()}
        # More than this share a common word: it weighs, but finds nobody.
        common = max(_COMMON_FROM, min(len(profiles) // 8, _COMMON_AT_MOST))
        rare = sorted((count, term) for term, count in frequency.items() if 1 < count <= common)
        self.counts = [count for count, _ in rare]
        self.rank = {term: rank for rank, (_, term) in enumerate(rare)}

    def total(self, terms: Iterable[int]) -> float:
        """What concepts weigh together, to the last bit the same in whatever order."""
        return fsum(map(self.weight.__getitem__, terms))

    def rare(self, terms: Sequence[int]) -> list[int]:
        """The ranks of those concepts that find others, the rarest first."""
        return sorted([rank for rank in map(self.rank.get, terms) if rank is not None])

    def in_reach(self, ranks: Sequence[int]) -> Sequence[int]:
        """No more of them than lead to a bounded number of documents."""
        met = list(accumulate([self.counts[rank] for rank in ranks]))
        return ranks[: bisect_left(met, _REACH) + 1]


class _Search:
    """Finds the nearest of documents of one memory."""

    def __init__(self, profiles: Sequence[Profile], scale: _Scale, totals: Sequence[float]) -> None:
        self._profiles, self._scale, self._totals = profiles, scale, totals
        self._rare = [scale.rare(profile.terms) for profile in profiles]
        self._posted: list[list[int]] = [[] for _ in scale.counts]
        for at, ranks in enumerate(self._rare):
            for rank in ranks:
                self._posted[rank].append(at)
        self._said: dict[int, frozenset[int]] = {}

    def of(self, positions: Iterable[int]) -> list[list[tuple[float, int]]]:
        """For each document the nearest and how near, best first, one more than counts."""
        return [self._of(at) for at in positions]

    def _of(self, at: int) -> list[tuple[float, int]]:
        scale, totals = self._scale, self._totals
        asked = scale.in_reach(self._rare[at])
        met = Counter(chain.from_iterable([self._posted[rank] for rank in asked]))
        met.pop(at, None)
        least = max(_FEWEST_RARE, len(asked) // _LEAST_PART)
        ranked = [(-count * count / totals[other], other) for other, count in met.items() if count >= least]
        if not ranked:
            return []
        said = self._terms(at)
        scored = [
            (-scale.total(said & self._terms(other)) / sqrt(totals[at] * totals[other]), other)
            for _, other in nsmallest(_LOOKED_AT, ranked)
        ]
        return [(-score, other) for score, other in sorted(scored)[: NEAREST + 1]]

    def _terms(self, at: int) -> frozenset[int]:
        if at not in self._said:
            self._said[at] = frozenset(self._profiles[at].terms)
        return self._said[at]


def _nearest(search: _Search, count: int, share: Share) -> list[list[tuple[float, int]]]:
    """The nearest of each of so many documents, those of many found in several processes."""
    if count < _MANY:
        return search.of(range(count))
    answers = share(range(count), search.of)
    return [
        search.of([at])[0] if found is None else [(score, other) for score, other in found]
        for at, found in enumerate(answers)
    ]


def neighbours(profiles: Sequence[Profile], share: Share = in_turn) -> list[Neighbours]:
    """Every two documents that are among each other's nearest, ordered by position; near linear."""
    scale = _Scale(profiles)
    totals = [max(scale.total(profile.terms), 1e-9) for profile in profiles]
    nearest = _nearest(_Search(profiles, scale, totals), len(profiles), share)
    closest = [{other for _, other in each[:NEAREST]} for each in nearest]
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
