"""Find the conversations and executions of a user by words.

With a filter (a message id, a range of time, an outcome, a tool, an error) the filter selects, and words only
rank; without one, a record must contain a word of the query. A score is the share of the query's words that a
record contains, rare words counting more: 1 if it contains all of them. A record asked for by its message id
has the score 1.
"""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, Final

from thunderus_mem.index.records import RecordFilter, names_in
from thunderus_mem.log.records import EXECUTION, RECORD_KINDS
from thunderus_mem.memory.records import UserRecords
from thunderus_mem.search.query import MAX_TERMS, STOP_WORDS, atoms, parse_query, whole_expression
from thunderus_mem.startup import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from thunderus_mem.index.records import RecordRow
    from thunderus_mem.log.records import Record
    from thunderus_mem.memory.memory import Memory

ALL_RECORDS: Final = RecordFilter()
_SYNTAX: Final = str.maketrans('":“”„«»', "       ")
_MOST_TOOLS, _MOST_ERRORS = 10, 5


class RecordHit(NamedTuple):
    """A record that was found, and its score from 0 to 1. ``linked``: the user has a record of the other kind
    with its message id."""

    record: Record
    score: float
    linked: bool = False


class Patterns(NamedTuple):
    """What executions have in common: how many there are and how many succeeded, the mean duration of those
    that have one, the most used tools and the most frequent types of errors, with their numbers."""

    executions: int
    succeeded: int
    duration_ms: int | None
    tools: tuple[tuple[str, int], ...]
    errors: tuple[tuple[str, int], ...]


class RecordsFound(NamedTuple):
    """The best records, best first; how many there are in all, and what all of them have in common."""

    hits: tuple[RecordHit, ...]
    total: int
    patterns: Patterns


def find_records(
    memory: Memory,
    user: str,
    query: str,
    *,
    kinds: Collection[str] = RECORD_KINDS,
    wanted: RecordFilter = ALL_RECORDS,
    limit: int = 10,
) -> RecordsFound:
    """Find the records of a user, best first; of equal ones the newest first."""
    records = UserRecords(memory, user)
    index = records.index()
    with memory.index.moment():
        rows = index.select(user, kinds, wanted)
        selected = {row.row for row in rows}
        scores = _scores([index.matching(user, unit) & selected for unit in _units(query)], len(rows))
    if wanted.message_id or scores is None:
        scores = dict.fromkeys(selected, 1.0)
    elif not wanted.selects:
        rows = [row for row in rows if row.row in scores]
    ranked = sorted(rows, key=lambda row: -scores.get(row.row, 0.0))
    found = records.read(ranked[:limit])
    ids = {record.message_id for _, record in found}
    behind = {
        kind: index.message_ids(user, other, ids)
        for kind, other in zip(RECORD_KINDS, RECORD_KINDS[::-1], strict=True)
    }
    hits = tuple(
        RecordHit(record, scores.get(row.row, 0.0), record.message_id in behind[record.kind])
        for row, record in found
    )
    return RecordsFound(hits, len(rows), patterns_of(rows))


def _units(query: str) -> list[str]:
    """Return the words of a query as FTS5 expressions, each once; quotes, colons and dashes mean nothing."""
    words = " ".join(word.lstrip("-") for word in query.translate(_SYNTAX).split())
    units: dict[str, None] = {}
    for term in parse_query(words).terms:
        parts = [atom for atom in atoms(term) if atom.strip('"') not in STOP_WORDS]
        units |= dict.fromkeys(parts or [whole_expression(term)])
    return list(units)[:MAX_TERMS]


def _scores(containing: Sequence[set[int]], total: int) -> dict[int, float] | None:
    """Return the scores of the records that contain a word, from those that contain each of the words;
    ``None`` for a query without words."""
    if not containing:
        return None
    weights = [math.log(1 + (total - len(rows) + 0.5) / (len(rows) + 0.5)) for rows in containing]
    scores: dict[int, float] = {}
    for rows, weight in zip(containing, weights, strict=True):
        for row in rows:
            scores[row] = scores.get(row, 0.0) + weight
    return {row: round(min(score / sum(weights), 1.0), 3) for row, score in scores.items()}


def patterns_of(rows: Sequence[RecordRow]) -> Patterns:
    """Return what the executions among records have in common."""
    rows = [row for row in rows if row.kind == EXECUTION]
    durations = [row.duration_ms for row in rows if row.duration_ms is not None]
    tools = Counter(name for row in rows for name in names_in(row.tools))
    errors = Counter(name for row in rows for name in names_in(row.errors))
    return Patterns(
        len(rows),
        sum(row.success for row in rows),
        round(sum(durations) / len(durations)) if durations else None,
        tuple(tools.most_common(_MOST_TOOLS)),
        tuple(errors.most_common(_MOST_ERRORS)),
    )
