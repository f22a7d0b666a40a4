"""What the index finds for a query, in two orders: whole documents and passages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from thunderus_mem.model.query import atoms, whole_expression
from thunderus_mem.projection.rows import PASSAGES_PER_DOCUMENT
from thunderus_mem.recall.rank import DOCUMENT_WEIGHTS, PASSAGE_WEIGHTS, Candidate, covers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from thunderus_mem.model.query import Query
    from thunderus_mem.projection.database import Database

_POOL: Final = 60
_DOCUMENT_BM25 = f"bm25(docs_fts, {', '.join(map(str, DOCUMENT_WEIGHTS.values()))})"
_PASSAGE_BM25 = f"bm25(passages_fts, {', '.join(map(str, PASSAGE_WEIGHTS.values()))})"


class Scope(NamedTuple):
    """Which documents may be found, by row id: those ``allowed`` (``None``: all), none of the ``hidden``."""

    allowed: frozenset[int] | None
    hidden: frozenset[int]

    def has(self, row: int) -> bool:
        """Whether a document may be found."""
        return row not in self.hidden and (self.allowed is None or row in self.allowed)


class Found(NamedTuple):
    """Row ids of documents in both orders, best first, and the passages found in each, best first."""

    documents: list[int]
    passages: list[int]
    passages_of: dict[int, list[int]]
    document_scores: dict[int, float]
    passage_scores: dict[int, float]


def ranked(database: Database, expression: str, scope: Scope) -> Found:
    """What matches an expression, in both orders."""
    allowed, hidden = scope
    pool = _POOL if allowed is None else -1
    unseen = "NOT IN (SELECT rowid FROM docs WHERE archived = 1)"
    documents = database.rows(
        f"SELECT rowid, {_DOCUMENT_BM25} AS score FROM docs_fts WHERE docs_fts MATCH ? "
        f"{f'AND rowid {unseen} ' if hidden else ''}ORDER BY score LIMIT ?",
        (expression, pool),
    )
    passages = database.rows(
        f"SELECT rowid, {_PASSAGE_BM25} AS score FROM passages_fts WHERE passages_fts MATCH ? "
        f"{f'AND rowid / {PASSAGES_PER_DOCUMENT} {unseen} ' if hidden else ''}ORDER BY score LIMIT ?",
        (expression, pool * 3 if pool > 0 else pool),
    )
    document_scores = {row: -score for row, score in documents if allowed is None or row in allowed}
    found: dict[int, list[int]] = {}
    passage_scores: dict[int, float] = {}
    for passage, score in passages:
        row = passage // PASSAGES_PER_DOCUMENT
        if allowed is None or row in allowed:
            found.setdefault(row, []).append(passage)
            passage_scores.setdefault(row, -score)
    return Found(list(document_scores)[:_POOL], list(found)[:_POOL], found, document_scores, passage_scores)


def telling_passage(database: Database, expression: str, row: int, best_first: list[int]) -> int:
    """The passage to show of a document: the best of those whose own text matches.

    Every passage carries the title, so a short one (a status, a date) would else stand for the whole.
    """
    first = row * PASSAGES_PER_DOCUMENT
    rows = database.rows(
        "SELECT rowid FROM passages_fts WHERE passages_fts MATCH ? AND rowid BETWEEN ? AND ? ORDER BY rowid",
        (f"{{body parts}} : ({expression})", first, first + PASSAGES_PER_DOCUMENT - 1),
    )
    own = [found[0] for found in rows]
    return next((passage for passage in best_first if passage in own), own[0] if own else first)


def matching(database: Database, expression: str) -> set[int]:
    """Row ids of the documents that match an expression."""
    return {
        row[0] for row in database.rows("SELECT rowid FROM docs_fts WHERE docs_fts MATCH ?", (expression,))
    }


def relevant(
    database: Database, query: Query, ordered: list[Candidate], total: int, hidden: frozenset[int]
) -> list[Candidate]:
    """Only the candidates that are about the query at all; how common a word is, those in use alone tell."""
    units = {unit for term in query.wanted for unit in (atoms(term) or [whole_expression(term)])}
    holders = [matching(database, unit) - hidden for unit in sorted(units)]
    frequencies = [len(rows) for rows in holders]

    def about(row: int, titles: Sequence[set[int]]) -> bool:
        titled = [row in rows for rows in titles]
        return covers([row in rows for rows in holders], frequencies, total - len(hidden), titled)

    kept = [candidate for candidate in ordered if about(candidate.row, ())]
    if kept or not ordered:
        return kept
    # Asked only now, since it costs: a word in the title may carry a query whose other words nobody uses.
    titles = [matching(database, f"{{title names}} : ({unit})") for unit in sorted(units)]
    return [candidate for candidate in ordered if about(candidate.row, titles)]
