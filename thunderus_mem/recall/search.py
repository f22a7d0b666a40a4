"""Query → hits. Passages and whole documents are ranked apart and fused; one passage a document.

Text that is shown comes from the file, and only when the file still is the one that was indexed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

from thunderus_mem.model.archive import is_archived
from thunderus_mem.model.query import exclusion_expression, match_expression
from thunderus_mem.projection.rows import PASSAGES_PER_DOCUMENT
from thunderus_mem.recall.candidates import Found, Scope, matching, ranked, relevant, telling_passage
from thunderus_mem.recall.rank import (
    CONFIRMED_FACTOR,
    DOCUMENT_WEIGHTS,
    FUSION_K,
    PASSAGE_WEIGHTS,
    STALE_FACTOR,
    SUPERSEDED_FACTOR,
    Candidate,
    fuse,
)
from thunderus_mem.recall.snippet import Snippets

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from thunderus_mem.model.query import Query
    from thunderus_mem.projection.database import Database
    from thunderus_mem.projection.index import Index

Judging: TypeAlias = "Callable[[Sequence[str] | None], Mapping[str, str]]"
"""What the code says of documents (``None``: of all): their status by id, for those it speaks of."""

MAX_LIMIT: Final = 50


class Hit(NamedTuple):
    """One passage of one document. ``line`` is in the file; ``marks`` are character ranges in ``snippet``;
    ``superseded_by`` is "" for a current document. ``explain`` tells ranks and weights when asked for.
    ``archived`` is true for a document that is set aside."""

    id: str
    title: str
    kind: str
    path: str
    anchor: str
    line: int
    snippet: str
    marks: tuple[tuple[int, int], ...]
    score: float
    status: str
    superseded_by: str
    explain: dict[str, Any]
    archived: bool = False


class _Doc(NamedTuple):
    """What ranking asks of a document."""

    row: int
    id: str
    kind: str
    title: str
    path: str
    status: str
    confirmed_by: str = ""


_Shown: TypeAlias = "tuple[_Doc, int | None, float, str, dict[str, Any]]"
"""A document, the passage to show of it (``None``: its first), score, successor's id, explanation."""


def search(
    index: Index,
    query: Query,
    *,
    root: str,
    limit: int = 10,
    explain: bool = False,
    whole: bool = False,
    judge: Judging | None = None,
    archived: bool = False,
) -> list[Hit]:
    """The best passages for a query, best first; empty when nothing is relevant. ``index`` must be fresh.

    A query of filters alone lists what they let through, newest first. A hit whose file has changed since is
    left out; with ``whole`` it raises ``Outdated``. ``judge`` tells what the code says of some documents,
    or of all: their status by id, instead of what their files say. Documents in the archive are found only
    with ``archived``.
    """
    limit = max(1, min(limit, MAX_LIMIT))
    database = index.database
    scope = Scope(_allowed(database, query, judge), frozenset() if archived else _archived(database))
    expression = match_expression(query)
    if expression:
        shown = _by_relevance(index, query, expression, scope, judge, explain=explain)
    elif query.filtered or query.unwanted:
        shown = _newest_first(index, scope, limit, judge)
    else:
        return []
    return _hits(Snippets(root, database, expression, whole=whole), shown, limit)


def _by_relevance(
    index: Index, query: Query, expression: str, scope: Scope, judge: Judging | None, *, explain: bool
) -> Iterator[_Shown]:
    """What is about the query, each with the passage that tells most, best first."""
    database = index.database
    found = ranked(database, expression, scope)
    docs = _docs(database, {*found.documents, *found.passages})
    successors = _successors(index, docs, scope)
    superseded = {row: successor.row if successor else 0 for row, (_, successor) in successors.items()}
    for _, successor in successors.values():
        if successor is not None and successor.row not in docs:
            docs[successor.row] = successor
    docs = _judged(docs, judge)
    ordered = fuse(
        found.documents,
        found.passages,
        {row: doc.status for row, doc in docs.items()},
        superseded,
        {row: doc.id for row, doc in docs.items()},
        {row: doc.confirmed_by for row, doc in docs.items()},
    )
    ordered = relevant(database, query, ordered, index.count(), scope.hidden)
    for candidate in _with_successors(_named_first(index, query, ordered, docs), superseded):
        row = candidate.row
        yield (
            docs[row],
            telling_passage(database, expression, row, found.passages_of.get(row, [])),
            candidate.score,
            successors[row][0] if row in successors else "",
            _explanation(candidate, found, expression) if explain else {},
        )


def _archived(database: Database) -> frozenset[int]:
    return frozenset(row[0] for row in database.rows("SELECT rowid FROM docs WHERE archived = 1"))


def _judged(docs: dict[int, _Doc], judge: Judging | None) -> dict[int, _Doc]:
    """The documents with the status that the code gives them."""
    said = judge([doc.id for doc in docs.values()]) if judge is not None and docs else {}
    if not said:
        return docs
    return {row: doc._replace(status=said.get(doc.id, doc.status)) for row, doc in docs.items()}


def _allowed(
    database: Database,
    query: Query,
    judge: Judging | None,
) -> frozenset[int] | None:
    """Row ids that the filters and left-out words let through; ``None`` for all."""
    allowed: frozenset[int] | None = None
    if query.filtered:
        from thunderus_mem.projection.filters import filter_clauses

        where, values = filter_clauses(
            kinds=query.kinds,
            tags=query.tags,
            statuses=query.statuses,
            paths=query.paths,
            since=query.since,
            before=query.before,
            judged=judge(None) if judge is not None and query.statuses else {},
        )
        allowed = frozenset(row[0] for row in database.rows(f"SELECT rowid FROM docs WHERE {where}", values))
    if unwanted := exclusion_expression(query):
        if allowed is None:
            allowed = frozenset(row[0] for row in database.rows("SELECT rowid FROM docs"))
        allowed -= matching(database, unwanted)
    return allowed


def _docs(database: Database, keys: Iterable[int] | Iterable[str], column: str = "rowid") -> dict[int, _Doc]:
    wanted = list(keys)
    marks = ", ".join("?" * len(wanted))
    found = database.rows(
        "SELECT rowid, doc_id, kind, title, path, status, confirmed_by FROM docs "
        f"WHERE {column} IN ({marks})",
        wanted,
    )
    return {row[0]: _Doc(*row) for row in found}


def _successors(index: Index, docs: dict[int, _Doc], scope: Scope) -> dict[int, tuple[str, _Doc | None]]:
    """For each superseded document: the id of what supersedes it, and that document when it may be shown."""
    by_id = {doc.id: doc for doc in docs.values()}
    successor_ids: dict[str, str] = {}
    asked = set(by_id)
    while asked:  # a successor may be superseded in its turn
        step = index.superseded_by(asked)
        successor_ids.update(step)
        asked = set(step.values()) - set(successor_ids) - set(by_id)
        by_id.update({doc.id: doc for doc in _docs(index.database, asked, "doc_id").values()})
    shown = {doc.id: doc for doc in by_id.values() if scope.has(doc.row)}
    return {by_id[old].row: (new, shown.get(new)) for old, new in successor_ids.items() if old in by_id}


def _named_first(
    index: Index, query: Query, ordered: list[Candidate], docs: Mapping[int, _Doc]
) -> list[Candidate]:
    """Who types an id means that document, or the one it was joined into, before those that mention it."""
    name = query.text.strip()
    if "." not in name or not ordered:
        return ordered
    known = index.get(name)
    joined = index.heir(name) if known is None or is_archived(known.path) else None
    return sorted(ordered, key=lambda candidate: docs[candidate.row].id != (joined or name))


def _with_successors(ordered: list[Candidate], superseded: dict[int, int]) -> list[Candidate]:
    """Who finds an outdated document finds the one in force above it, even when its words differ."""
    present = {candidate.row for candidate in ordered}
    result: list[Candidate] = []
    for candidate in ordered:
        chain: list[int] = []
        successor = superseded.get(candidate.row, 0)
        while successor and successor not in present:
            present.add(successor)
            chain.append(successor)
            successor = superseded.get(successor, 0)
        result += [candidate._replace(row=row, document_rank=0, passage_rank=0) for row in reversed(chain)]
        result.append(candidate)
    return result


def _newest_first(index: Index, scope: Scope, limit: int, judge: Judging | None) -> Iterator[_Shown]:
    """What the filters let through, newest first."""
    database = index.database
    rows = database.rows("SELECT rowid FROM docs ORDER BY updated_key DESC, doc_id")
    wanted = [row[0] for row in rows if scope.has(row[0])][:limit]
    docs = _judged(_docs(database, wanted), judge)
    superseded = index.superseded_by([doc.id for doc in docs.values()])
    for row in wanted:
        yield docs[row], None, 0.0, superseded.get(docs[row].id, ""), {}


def _hits(snippets: Snippets, shown: Iterable[_Shown], limit: int) -> list[Hit]:
    """Read the passages of the first ``limit`` documents whose files still are what was indexed."""
    hits: list[Hit] = []
    for doc, passage, score, by, told in shown:
        snippet = snippets.of(doc.path, doc.row * PASSAGES_PER_DOCUMENT if passage is None else passage)
        if snippet is None:
            continue
        hits.append(
            Hit(
                doc.id, doc.title, doc.kind, doc.path, snippet.anchor, snippet.line, snippet.text,
                snippet.marks,
                round(score, 6), doc.status, by, told, is_archived(doc.path),
            )
        )  # fmt: skip
        if len(hits) == limit:
            break
    return hits


def _explanation(candidate: Candidate, found: Found, expression: str) -> dict[str, Any]:
    return {
        "expression": expression,
        "document_rank": candidate.document_rank,
        "document_bm25": round(found.document_scores.get(candidate.row, 0.0), 4),
        "passage_rank": candidate.passage_rank,
        "passage_bm25": round(found.passage_scores.get(candidate.row, 0.0), 4),
        "fusion_k": FUSION_K,
        "document_weights": DOCUMENT_WEIGHTS,
        "passage_weights": PASSAGE_WEIGHTS,
        "stale_factor": STALE_FACTOR if candidate.status == "stale" else 1.0,
        "confirmed_factor": CONFIRMED_FACTOR.get(candidate.confirmed_by, 1.0),
        "superseded_factor": SUPERSEDED_FACTOR if candidate.superseded else 1.0,
    }
