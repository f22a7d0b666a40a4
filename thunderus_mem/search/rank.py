"""Puts documents in order: fuses two rankings, minds what is stale or superseded, and says what is about a
query at all. Pure."""

from __future__ import annotations

import math
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

FUSION_K: Final = 60
"""Reciprocal rank fusion: a document scores 1 / (60 + rank) in each list (Cormack, Clarke, Büttcher,
2009)."""

STALE_FACTOR: Final = 0.85
CONFIRMED_FACTOR: Final = {"user": 1.04, "agent": 1.01}
"""What the word of a person is worth (about two places among neighbours), and that of an agent."""
SUPERSEDED_FACTOR: Final = 0.7
COVERAGE_FLOOR: Final = 0.3
"""A document must match words worth this share of the query; a word is worth its inverse document
frequency."""

COMMON_SHARE: Final = 0.5
"""A word in more than this share of the documents says nothing about any of them."""


class Candidate(NamedTuple):
    """A document (by row id) with its ranks in the two lists, from 1; 0 means it is not in that list."""

    row: int
    document_rank: int
    passage_rank: int
    status: str
    superseded: bool
    confirmed_by: str = ""

    @property
    def score(self) -> float:
        """The fused score; higher is better."""
        fused = sum(1 / (FUSION_K + rank) for rank in (self.document_rank, self.passage_rank) if rank)
        fused *= STALE_FACTOR if self.status == "stale" else CONFIRMED_FACTOR.get(self.confirmed_by, 1.0)
        return fused * (SUPERSEDED_FACTOR if self.superseded else 1.0)


def fuse(
    by_document: Sequence[int],
    by_passage: Sequence[int],
    statuses: Mapping[int, str],
    superseded: Mapping[int, int],
    names: Mapping[int, str],
    confirmed: Mapping[int, str] = MappingProxyType({}),
) -> list[Candidate]:
    """One order from two: row ids of documents, best first. ``superseded`` maps a row to that of its
    successor (0 when
    the successor is no candidate), ``confirmed`` to who confirmed it. Ties go by id."""
    document_ranks = {row: place for place, row in enumerate(by_document, 1)}
    passage_ranks = {row: place for place, row in enumerate(by_passage, 1)}
    candidates = [
        Candidate(
            row,
            document_ranks.get(row, 0),
            passage_ranks.get(row, 0),
            statuses[row],
            row in superseded,
            confirmed.get(row, ""),
        )
        for row in {**document_ranks, **passage_ranks}
        if row in statuses
    ]
    candidates.sort(key=lambda candidate: (-candidate.score, names[candidate.row]))
    return below_successors(candidates, superseded)


def below_successors(candidates: list[Candidate], superseded: Mapping[int, int]) -> list[Candidate]:
    """Move every superseded document to right after its successor, when that comes later. Circles are left
    alone."""
    place = {candidate.row: at for at, candidate in enumerate(candidates)}

    def latest(row: int) -> tuple[int, int]:
        """The place to stand at, and how many steps from the current document."""
        spot, steps, seen = place[row], 0, {row}
        successor = superseded.get(row, 0)
        while successor in place and successor not in seen:
            seen.add(successor)
            spot, steps = max(spot, place[successor]), steps + 1
            successor = superseded.get(successor, 0)
        return spot, steps

    spots = {candidate.row: latest(candidate.row) for candidate in candidates}
    return sorted(candidates, key=lambda candidate: (*spots[candidate.row], place[candidate.row]))


def worth(matching: int, total: int) -> float:
    """What a word is worth that ``matching`` of ``total`` documents have: its inverse document frequency."""
    return math.log(1 + (total - matching + 0.5) / (matching + 0.5))


def covers(
    matched: Sequence[bool], frequencies: Sequence[int], total: int, titled: Sequence[bool] = ()
) -> bool:
    """Whether a document that has the marked words of the query is about it at all.

    At least one matched word must not be in most documents, unless all the query's words are; and the matched
    words must be worth a fair share of the query. A word that no document has counts in full against it; one
    that the document is called by (``titled``) counts twice for it.
    """
    worths = [worth(frequency, total) for frequency in frequencies]
    asked = sum(worths)
    found = sum(value for value, has in zip(worths, matched, strict=True) if has)
    found += sum(value for value, names in zip(worths, titled, strict=bool(titled)) if names)
    telling = [frequency <= max(total * COMMON_SHARE, 3) for frequency in frequencies]
    if any(telling) and not any(has for has, tells in zip(matched, telling, strict=True) if tells):
        return False
    return found >= COVERAGE_FLOOR * asked
