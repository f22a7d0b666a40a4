"""Candidates for near duplicates: documents whose signatures agree in one of their bands.

Every document meets only the few it shares a band with. A band that many share is a template's: there the
lines that all of them have are left out, and what remains is looked at again, so that forms cost no square.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Final, NamedTuple

from thunderus_mem.garden.similar.forms import own_runs
from thunderus_mem.garden.similar.profile import PLACES, signatures

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from thunderus_mem.garden.similar.profile import Profile
    from thunderus_mem.model.document import Document

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
    shared: dict[int, int] = {}
    for at in crowded:
        for line in profiles[at].lines:
            shared[line] = shared.get(line, 0) + 1
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
