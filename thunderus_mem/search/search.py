"""The piece of a passage that is shown, cut from the file as it is now, with the places of the words that
matched.
"""

from __future__ import annotations

import math
import re
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

from thunderus_mem.document.paths import is_archived
from thunderus_mem.index.database import PASSAGES_PER_DOCUMENT, scratch
from thunderus_mem.index.documents import has_anchors
from thunderus_mem.index.scan import read_bytes, stamp_of
from thunderus_mem.search.query import (
    atoms,
    exclusion_expression,
    match_expression,
    parse_query,
    whole_expression,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from sqlite3 import Connection

    from thunderus_mem.index.database import Database
    from thunderus_mem.index.documents import Index
    from thunderus_mem.memory.memory import Memory
    from thunderus_mem.search.query import Query

WIDTH: Final = 240
_OPEN, _CLOSE = "\x01", "\x02"
_MARK = re.compile("[\x01\x02]")
_TABLE = "CREATE VIRTUAL TABLE shown USING fts5(text, tokenize = 'porter unicode61 remove_diacritics 2')"


class Snippet(NamedTuple):
    """Text of one line's worth, the ranges in it that matched, and where its passage stands."""

    anchor: str
    line: int
    text: str
    marks: tuple[tuple[int, int], ...]


class Outdated(Exception):
    """A file is not what was indexed any more: somebody changed it since the index was looked over."""


class Snippets:
    """Cuts snippets for one query. ``expression`` is the FTS5 expression whose words are marked, "" for
    none. With ``whole`` a file that has changed raises ``Outdated``."""

    def __init__(self, root: str, database: Database, expression: str, *, whole: bool = False) -> None:
        self._root = root
        self._database = database
        self._expression = expression
        self._whole = whole
        self._scratch: Connection | None = None
        self._words = [word for word in re.findall(r"\w{3,}", expression) if word not in ("AND", "OR")]

    def of(self, path: str, passage: int) -> Snippet | None:
        """The snippet of a passage by its row id; ``None`` when the file is gone or no longer what was
        indexed."""
        row = self._database.row(
            "SELECT p.anchor, p.line, p.body, f.size, f.mtime_ns, f.ctime_ns, f.inode "
            "FROM passages p, files f WHERE p.id = ? AND f.path = ?",
            (passage, path),
        )
        lines = self._lines(path, row[3:]) if row is not None else None
        if row is None or lines is None:
            if self._whole:
                raise Outdated(path)
            return None
        line, count = row[1], row[2].count("\n") + 1
        text = "\n".join(lines[line - 1 : line - 1 + count])
        shown, marks = self._cut(_MARK.sub(" ", text))
        return Snippet(row[0], line, shown, marks)

    def _lines(self, path: str, stamp: tuple[int, ...]) -> list[str] | None:
        """The lines of the file, when what is opened has the stamp: another may come into its place."""
        found = stamp_of(self._root, path)
        try:
            data, opened = read_bytes(self._root, found) if found is not None else (b"", None)
        except OSError:
            return None
        if opened is None or opened.values != stamp:
            return None
        return data.decode("utf-8", "replace").replace("\r\n", "\n").split("\n")

    def _cut(self, text: str) -> tuple[str, tuple[tuple[int, int], ...]]:
        """The window with the most marks in it."""
        marks = self._marks(text) if self._expression else []
        start, end = _window(text, marks)
        inside = tuple(
            (first - start, last - start) for first, last in marks if start <= first and last <= end
        )
        return text[start:end].replace("\n", " ").replace("\t", " "), inside

    def _marks(self, text: str) -> list[tuple[int, int]]:
        """Where the query's words stand: as the index tokenises them, else as parts of longer names."""
        if self._scratch is None:
            self._scratch = scratch(_TABLE)
        self._scratch.execute("DELETE FROM shown")
        self._scratch.execute("INSERT INTO shown VALUES (?)", (text,))
        found = self._scratch.execute(
            "SELECT highlight(shown, 0, ?, ?) FROM shown WHERE shown MATCH ?",
            (_OPEN, _CLOSE, self._expression),
        ).fetchone()
        marks: list[tuple[int, int]] = []
        if found is not None:
            places = [match.start() - at for at, match in enumerate(_MARK.finditer(found[0]))]
            marks = list(zip(places[::2], places[1::2], strict=False))
        if not marks and self._words:
            names = re.compile("|".join(map(re.escape, self._words)), re.IGNORECASE)
            marks = [match.span() for match in names.finditer(text)]
        return marks


def _window(text: str, marks: list[tuple[int, int]]) -> tuple[int, int]:
    """Start and end of what is shown: about ``WIDTH`` characters at word boundaries, around most of the
    marks."""
    if len(text) <= WIDTH:
        return 0, len(text)
    start = 0
    if marks:
        inside = [
            sum(first <= other[0] and other[1] <= first + WIDTH - 40 for other in marks) for first, _ in marks
        ]
        start = max(0, marks[inside.index(max(inside))][0] - 40)
    end = min(len(text), start + WIDTH)
    start = max(0, end - WIDTH)
    if start and (blank := re.search(r"\s", text[start : start + 30])):
        start += blank.end()
    if end < len(text):
        cut = max(text.rfind(" ", end - 30, end), text.rfind("\n", end - 30, end))
        end = cut if cut > start else end
    return start, end


# Puts documents in order: fuse two rankings, mind what is stale or superseded, keep only what is relevant.
# Pure.

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

DOCUMENT_WEIGHTS: Final = {
    "doc_id": 2.0, "title": 3.0, "headings": 1.5, "tags": 2.0, "body": 1.0, "names": 3.0, "parts": 0.8,
}  # fmt: skip
PASSAGE_WEIGHTS: Final = {"title": 3.0, "heading": 1.5, "body": 1.0, "parts": 0.8}


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


# What the index finds for a query, in two orders: whole documents and passages.

_POOL: Final = 60
_DOCUMENT_BM25 = f"bm25(docs_fts, {', '.join(map(str, DOCUMENT_WEIGHTS.values()))})"
_PASSAGE_BM25 = f"bm25(passages_fts, {', '.join(map(str, PASSAGE_WEIGHTS.values()))})"


class SearchScope(NamedTuple):
    """Which documents may be found, by row id: those ``allowed`` (``None``: all), none of the ``hidden``."""

    allowed: frozenset[int] | None
    hidden: frozenset[int]

    def has(self, row: int) -> bool:
        """Whether a document may be found."""
        return row not in self.hidden and (self.allowed is None or row in self.allowed)


class RankedRows(NamedTuple):
    """Row ids of documents in both orders, best first, and the passages found in each, best first."""

    documents: list[int]
    passages: list[int]
    passages_of: dict[int, list[int]]
    document_scores: dict[int, float]
    passage_scores: dict[int, float]


def ranked(database: Database, expression: str, scope: SearchScope) -> RankedRows:
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
    return RankedRows(
        list(document_scores)[:_POOL], list(found)[:_POOL], found, document_scores, passage_scores
    )


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


# Query → hits. Passages and whole documents are ranked apart and fused; one passage a document.
#
# Text that is shown comes from the file, and only when the file still is the one that was indexed.

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


def find_hits(
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
    scope = SearchScope(_allowed(database, query, judge), frozenset() if archived else _archived(database))
    expression = match_expression(query)
    if expression:
        shown = _by_relevance(index, query, expression, scope, judge, explain=explain)
    elif query.filtered or query.unwanted:
        shown = _newest_first(index, scope, limit, judge)
    else:
        return []
    return _hits(Snippets(root, database, expression, whole=whole), shown, limit)


def _by_relevance(
    index: Index, query: Query, expression: str, scope: SearchScope, judge: Judging | None, *, explain: bool
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
        from thunderus_mem.index.documents import filter_clauses

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


def _successors(
    index: Index, docs: dict[int, _Doc], scope: SearchScope
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


def _newest_first(index: Index, scope: SearchScope, limit: int, judge: Judging | None) -> Iterator[_Shown]:
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


def _explanation(candidate: Candidate, found: RankedRows, expression: str) -> dict[str, Any]:
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


# The verb `search`, alone in its module: what it loads is felt at every search.
#
# For the same reason values on its way are named tuples: making a class of them costs a fifth of a
# dataclass.

_NOT_ASKED: Final = "The archive was not asked; --archived looks there as well."


class SearchResult(NamedTuple):
    """The passages found for a query, best first; ``notes`` say what was left out of the query.

    ``generation`` names the documents that were asked: it follows from their paths and texts.
    """

    query: str
    hits: tuple[Hit, ...]
    notes: tuple[str, ...]
    total_documents: int
    generation: str


def search(
    memory: Memory,
    text: str,
    *,
    limit: int | None = None,
    explain: bool = False,
    unfinished: bool = False,
    archived: bool = False,
) -> SearchResult:
    """Find passages in people's words. No hit is an answer, not an error.

    With ``unfinished`` the last word is still being typed. Documents in the archive are asked only with
    ``archived``.
    """
    query = parse_query(text, unfinished=unfinished)
    most = limit or memory.config.search_limit

    def judged(doc_ids: Sequence[str] | None) -> Mapping[str, str]:
        if not has_anchors(memory.index.database):
            return {}
        from thunderus_mem.verdicts.judge import code_statuses

        return code_statuses(memory, doc_ids)

    def answer(index: Index, *, whole: bool) -> SearchResult:
        hits = find_hits(
            index,
            query,
            root=memory.root,
            limit=most,
            explain=explain,
            whole=whole,
            judge=judged,
            archived=archived,
        )
        aside = 0 if archived else index.count_archived()
        notes = (*query.notes, _NOT_ASKED) if aside and not hits else query.notes
        return SearchResult(text, tuple(hits), notes, index.count() - aside, index.generation())

    memory.refresh()
    try:
        return memory.ask(lambda index: answer(index, whole=True))
    except Outdated:
        memory.refresh()
        return memory.ask(lambda index: answer(index, whole=False))
