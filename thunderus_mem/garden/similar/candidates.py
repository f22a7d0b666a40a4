"""Which two documents are worth comparing, near linear in the size of the memory: those whose signatures
agree in one of their bands, and those that are each other's nearest by what they speak of. Pure, but for the
processes that look for the nearest of many.

A band that many share is a template's: there the lines that all of them have are left out, and what remains
is looked at again, so that forms cost no square. Of what documents speak of, words weigh by how rare they are
in this memory; how near two documents are is measured against how much each says, so no figure depends on the
length of texts or on the size of the memory. No model.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from heapq import nsmallest
from itertools import accumulate, chain, pairwise
from math import fsum, log, sqrt
from typing import TYPE_CHECKING, Final, NamedTuple

from thunderus_mem.garden.similar.profile import PLACES, signatures, three_word_runs, told_lines
from thunderus_mem.garden.similar.words import number_of
from thunderus_mem.store.parallel import spread

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from thunderus_mem.document.document import Document
    from thunderus_mem.garden.similar.profile import Profile

# With 32 bands of 4 a pair that shares half of its three-word runs is met 87 times in 100, one that shares
# seven tenths always; one that shares a tenth in 3 of 1,000 cases.
_BANDS: Final = 32
_ROWS: Final = PLACES // _BANDS
CROWD: Final = 24
"""More documents than this in one band, or with one line, share a form."""


class Candidates(NamedTuple):
    """Pairs of positions to look at, lower first; ``forms`` are those met only as neighbours in a crowd."""

    pairs: set[tuple[int, int]]
    forms: set[tuple[int, int]]


def _bands(members: Iterable[tuple[int, bytes]]) -> list[list[int]]:
    """Positions that share a band, for every band that several share; the same company only once."""
    width = 4 * _ROWS
    signed = list(members)
    found: set[tuple[int, ...]] = set()
    for start in range(0, 4 * PLACES, width):
        first: dict[bytes, int] = {}
        groups: dict[int, list[int]] = {}
        for at, signature in signed:
            leader = first.setdefault(signature[start : start + width], at)
            if leader != at:
                groups.setdefault(leader, [leader]).append(at)
        found.update(map(tuple, groups.values()))
    return [list(group) for group in sorted(found)]


def _pairs_of(group: Sequence[int]) -> Iterable[tuple[int, int]]:
    return ((one, other) for at, one in enumerate(group) for other in group[at + 1 :])


def near_candidates(documents: Sequence[Document], profiles: Sequence[Profile]) -> Candidates:
    """The pairs worth comparing word by word, near linear in the number of documents."""
    groups = _bands((at, profile.signature) for at, profile in enumerate(profiles) if profile.runs)
    pairs: set[tuple[int, int]] = set()
    forms: set[tuple[int, int]] = set()
    crowded: set[int] = set()
    for group in groups:
        if len(group) <= CROWD:
            pairs.update(_pairs_of(group))
        else:
            crowded.update(group)
            forms.update(pairwise(group))
    if crowded:
        pairs.update(_unlike_the_form(sorted(crowded), documents, profiles))
    return Candidates(pairs, forms - pairs)


def _unlike_the_form(
    crowded: Sequence[int], documents: Sequence[Document], profiles: Sequence[Profile]
) -> set[tuple[int, int]]:
    """Pairs among documents of one form that are alike in what is their own."""
    shared = Counter(chain.from_iterable(profiles[at].lines for at in crowded))
    form = frozenset(line for line, count in shared.items() if count > CROWD)
    own = [own_runs(documents[at], form) for at in crowded]
    filled = [(at, runs) for at, runs in zip(crowded, own, strict=True) if runs]
    signed = dict(zip([at for at, _ in filled], signatures([runs for _, runs in filled]), strict=True))
    pairs: set[tuple[int, int]] = set()
    for group in _bands(signed.items()):
        if len(group) <= CROWD:
            pairs.update(_pairs_of(group))
        else:
            # The form is inside its lines: whoever fills it in alike stands side by side in this order.
            beside = sorted(group, key=lambda at: (signed[at], at))
            pairs.update((min(two), max(two)) for two in pairwise(beside))
    return pairs


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


def _nearest(search: _Search, count: int) -> list[list[tuple[float, int]]]:
    """The nearest of each of so many documents, those of many found in several processes."""
    if count < _MANY:
        return search.of(range(count))
    answers = spread(range(count), search.of)
    return [
        search.of([at])[0] if found is None else [(score, other) for score, other in found]
        for at, found in enumerate(answers)
    ]


def neighbours(profiles: Sequence[Profile]) -> list[Neighbours]:
    """Every two documents that are among each other's nearest, ordered by position; near linear."""
    scale = _Scale(profiles)
    totals = [max(scale.total(profile.terms), 1e-9) for profile in profiles]
    nearest = _nearest(_Search(profiles, scale, totals), len(profiles))
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


# Lines that belong to a form, not to what a document says: the same in documents of several titles.

_TITLES: Final = 4
"""Versions of one document share a title; two copies and their copies are not yet a form."""


def form_lines(documents: Sequence[Document], profiles: Sequence[Profile]) -> frozenset[int]:
    """The numbers of lines that stand in documents of at least four different titles."""
    last: dict[int, str] = {}
    titles: dict[int, int] = {}
    for at in sorted(range(len(documents)), key=lambda at: documents[at].title):
        title = documents[at].title
        for line in profiles[at].lines:
            if last.get(line) != title:
                last[line] = title
                titles[line] = titles.get(line, 0) + 1
    return frozenset(line for line, count in titles.items() if count >= _TITLES)


def common_titles(documents: Sequence[Document]) -> frozenset[str]:
    """The titles that at least four documents have: they name a form, not what a document is about."""
    counted = Counter(document.title for document in documents)
    return frozenset(title for title, count in counted.items() if count >= _TITLES)


def own_runs(document: Document, form: frozenset[int]) -> set[int]:
    """The three-word runs of the lines that are not the form's."""
    lines = told_lines(document.body)
    return three_word_runs([line for line in lines if number_of(line.lower()) not in form])
