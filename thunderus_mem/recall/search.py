"""Query → hits. Passages and whole documents are ranked apart and fused; one passage a document.

Text that is shown comes from the file, and only when the file still is the one that was indexed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

from thunderus_mem.model.archive import is_archived
from thunderus_mem.model.query import atoms, exclusion_expression, match_expression, whole_expression
from thunderus_mem.projection.rows import PASSAGES_PER_DOCUMENT
from thunderus_mem.recall.rank import (
    CONFIRMED_FACTOR,
    DOCUMENT_WEIGHTS,
    FUSION_K,
    PASSAGE_WEIGHTS,
    STALE_FACTOR,
    SUPERSEDED_FACTOR,
    Candidate,
    covers,
    fuse,
)
from thunderus_mem.recall.snippet import Snippets

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from thunderus_mem.model.query import Query
    from thunderus_mem.projection.database import Database
    from thunderus_mem.projection.index import Index

Judging: TypeAlias = "Callable[[Sequence[str] | None], Mapping[str, str]]"
"""What the code says of documents (``None``: of all): their status by id, for those it speaks of."""

MAX_LIMIT: Final = 50
_POOL: Final = 60
_DOCUMENT_BM25 = f"bm25(docs_fts, {', '.join(map(str, DOCUMENT_WEIGHTS.values()))})"
_PASSAGE_BM25 = f"bm25(passages_fts, {', '.join(map(str, PASSAGE_WEIGHTS.values()))})"


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
    allowed = _allowed(database, query, judge)
    hidden = frozenset() if archived else _archived(database)
    expression = match_expression(query)
    snippets = Snippets(root, database, expression, whole=whole)
    if not expression:
        if not (query.filtered or query.unwanted):
            return []
        return _listing(index, snippets, allowed, hidden, limit, judge)
    found = _ranked(database, expression, allowed, hidden)
    docs = _docs(database, {*found.documents, *found.passages})
    successors = _successors(index, docs, allowed, hidden)
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
    ordered = _named_first(index, query, _relevant(database, query, ordered, index.count(), hidden), docs)
    shown = (
        (
            docs[candidate.row],
            _telling_passage(database, expression, candidate.row, found.passages_of.get(candidate.row, [])),
            candidate.score,
            successors[candidate.row][0] if candidate.row in successors else "",
            _explanation(candidate, found, expression) if explain else {},
        )
        for candidate in _with_successors(ordered, superseded)
    )
    return _hits(snippets, shown, limit)


class _Found(NamedTuple):
    """Row ids of documents in both orders, best first, and the passages found in each, best first."""

    documents: list[int]
    passages: list[int]
    passages_of: dict[int, list[int]]
    document_scores: dict[int, float]
    passage_scores: dict[int, float]


def _archived(database: Database) -> frozenset[int]:
    return frozenset(row[0] for row in database.rows("SELECT rowid FROM docs WHERE archived = 1"))


def _ranked(
    database: Database, expression: str, allowed: frozenset[int] | None, hidden: frozenset[int]
) -> _Found:
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
    return _Found(list(document_scores)[:_POOL], list(found)[:_POOL], found, document_scores, passage_scores)


def _telling_passage(database: Database, expression: str, row: int, ranked: list[int]) -> int:
    """The passage to show of a document: the best of those whose own text matches.

    Every passage carries the title, so a short one (a status, a date) would else stand for the whole.
    """
    first = row * PASSAGES_PER_DOCUMENT
    matching = database.rows(
        "SELECT rowid FROM passages_fts WHERE passages_fts MATCH ? AND rowid BETWEEN ? AND ? ORDER BY rowid",
        (f"{{body parts}} : ({expression})", first, first + PASSAGES_PER_DOCUMENT - 1),
    )
    own = [found[0] for found in matching]
    return next((passage for passage in ranked if passage in own), own[0] if own else first)


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
        allowed -= _matching(database, unwanted)
    return allowed


def _matching(database: Database, expression: str) -> set[int]:
    return {
        row[0] for row in database.rows("SELECT rowid FROM docs_fts WHERE docs_fts MATCH ?", (expression,))
    }


def _docs(database: Database, keys: Iterable[int] | Iterable[str], column: str = "rowid") -> dict[int, _Doc]:
    wanted = list(keys)
    marks = ", ".join("?" * len(wanted))
    found = database.rows(
        "SELECT rowid, doc_id, kind, title, path, status, confirmed_by FROM docs "
        f"WHERE {column} IN ({marks})",
        wanted,
    )
    return {row[0]: _Doc(*row) for row in found}


def _successors(
    index: Index, docs: dict[int, _Doc], allowed: frozenset[int] | None, hidden: frozenset[int]
) -> dict[int, tuple[str, _Doc | None]]:
    """For each superseded document: the id of what supersedes it, and that document when it may be shown."""
    by_id = {doc.id: doc for doc in docs.values()}
    successor_ids: dict[str, str] = {}
    asked = set(by_id)
    while asked:  # a successor may be superseded in its turn
        step = index.superseded_by(asked)
        successor_ids.update(step)
        asked = set(step.values()) - set(successor_ids) - set(by_id)
        by_id.update({doc.id: doc for doc in _docs(index.database, asked, "doc_id").values()})
    shown = {
        doc.id: doc
        for doc in by_id.values()
        if doc.row not in hidden and (allowed is None or doc.row in allowed)
    }
    return {by_id[old].row: (new, shown.get(new)) for old, new in successor_ids.items() if old in by_id}


def _relevant(
    database: Database, query: Query, ordered: list[Candidate], total: int, hidden: frozenset[int]
) -> list[Candidate]:
    """Only the candidates that are about the query at all; how common a word is, those in use alone tell."""
    units = {unit for term in query.wanted for unit in (atoms(term) or [whole_expression(term)])}
    matching = [_matching(database, unit) - hidden for unit in sorted(units)]
    frequencies = [len(rows) for rows in matching]

    def about(row: int, titles: Sequence[set[int]]) -> bool:
        titled = [row in rows for rows in titles]
        return covers([row in rows for rows in matching], frequencies, total - len(hidden), titled)

    kept = [candidate for candidate in ordered if about(candidate.row, ())]
    if kept or not ordered:
        return kept
    # Asked only now, since it costs: a word in the title may carry a query whose other words nobody uses.
    titles = [_matching(database, f"{{title names}} : ({unit})") for unit in sorted(units)]
    return [candidate for candidate in ordered if about(candidate.row, titles)]


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


def _listing(
    index: Index,
    snippets: Snippets,
    allowed: frozenset[int] | None,
    hidden: frozenset[int],
    limit: int,
    judge: Judging | None,
) -> list[Hit]:
    """What the filters let through, newest first."""
    database = index.database
    rows = database.rows("SELECT rowid FROM docs ORDER BY updated_key DESC, doc_id")
    seen = [row[0] for row in rows if row[0] not in hidden]
    wanted = [row for row in seen if allowed is None or row in allowed][:limit]
    docs = _judged(_docs(database, wanted), judge)
    superseded = index.superseded_by([doc.id for doc in docs.values()])
    shown: list[tuple[_Doc, int | None, float, str, dict[str, Any]]] = [
        (docs[row], None, 0.0, superseded.get(docs[row].id, ""), {}) for row in wanted
    ]
    return _hits(snippets, shown, limit)


def _hits(
    snippets: Snippets,
    shown: Iterable[tuple[_Doc, int | None, float, str, dict[str, Any]]],
    limit: int,
) -> list[Hit]:
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


def _explanation(candidate: Candidate, found: _Found, expression: str) -> dict[str, Any]:
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
