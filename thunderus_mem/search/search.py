"""``search``: from a query to hits, one passage per document, best first.

Passages and whole documents are ranked separately, and the ranks are fused; stale and superseded documents
rank lower. Read only.

Imports here slow down every search. For the same reason the values are named tuples: creating such a class
takes a fifth of the time of a dataclass.
"""

from __future__ import annotations

import math
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

from thunderus_mem.document.paths import is_archived
from thunderus_mem.index.questions import DOCUMENT_WEIGHTS, PASSAGE_WEIGHTS, Filter
from thunderus_mem.search.query import (
    atoms,
    exclusion_expression,
    match_expression,
    parse_query,
    whole_expression,
)
from thunderus_mem.search.snippets import Outdated, Snippets

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from thunderus_mem.index.questions import DocSummary, Index
    from thunderus_mem.memory.memory import Memory
    from thunderus_mem.search.query import Query

# Ranking: fuse two lists, and drop irrelevant documents. No disk access.

FUSION_K: Final = 60
"""Reciprocal rank fusion: a document scores 1 / (60 + rank) in each list (Cormack, Clarke, Büttcher,
2009)."""

STALE_FACTOR: Final = 0.85
CONFIRMED_FACTOR: Final = {"user": 1.04, "agent": 1.01}
"""Weight of a document verified by a user (about two ranks) or by an agent."""
SUPERSEDED_FACTOR: Final = 0.7
COVERAGE_FLOOR: Final = 0.3
"""Minimum share of the query, weighted by inverse document frequency, that a document must match."""

COMMON_SHARE: Final = 0.5
"""A word in more than this share of the documents is not significant."""


class Candidate(NamedTuple):
    """A document (by row id) with its ranks in both lists, from 1; 0 if it is not in the list."""

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
    """Fuse two rankings of document rows into one, best first; ties sort by id.

    ``superseded`` maps a row to that of its successor (0 if that is not a candidate), ``confirmed`` to who
    verified it.
    """
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
    """Move every superseded document directly after its successor, if that comes later; ignore cycles."""
    place = {candidate.row: at for at, candidate in enumerate(candidates)}

    def latest(row: int) -> tuple[int, int]:
        """Return the new position, and the number of steps to the newest successor."""
        spot, steps, seen = place[row], 0, {row}
        successor = superseded.get(row, 0)
        while successor in place and successor not in seen:
            seen.add(successor)
            spot, steps = max(spot, place[successor]), steps + 1
            successor = superseded.get(successor, 0)
        return spot, steps

    spots = {candidate.row: latest(candidate.row) for candidate in candidates}
    return sorted(candidates, key=lambda candidate: (*spots[candidate.row], place[candidate.row]))


def word_weight(matching: int, total: int) -> float:
    """Return the inverse document frequency of a word that ``matching`` of ``total`` documents contain."""
    return math.log(1 + (total - matching + 0.5) / (matching + 0.5))


def covers(
    matched: Sequence[bool], frequencies: Sequence[int], total: int, titled: Sequence[bool] = ()
) -> bool:
    """Whether a document that contains the ``matched`` words of a query is relevant.

    At least one matched word must not be in most documents, unless all the query's words are; and the matched
    words must have a minimum share of the query's weight. Words that no document contains count against it;
    words in the document's title (``titled``) count twice.
    """
    weights = [word_weight(frequency, total) for frequency in frequencies]
    asked = sum(weights)
    found = sum(value for value, has in zip(weights, matched, strict=True) if has)
    found += sum(value for value, names in zip(weights, titled, strict=bool(titled)) if names)
    rare = [frequency <= max(total * COMMON_SHARE, 3) for frequency in frequencies]
    if any(rare) and not any(has for has, is_rare in zip(matched, rare, strict=True) if is_rare):
        return False
    return found >= COVERAGE_FLOOR * asked


# From a query to hits with snippets

MAX_LIMIT: Final = 50
_POOL: Final = 60
_NOT_ASKED: Final = "archived documents were not searched; use --archived to include them"


class Hit(NamedTuple):
    """A passage of a document. ``line`` is in the file; ``marks`` are character ranges in ``snippet``;
    ``superseded_by`` is "" for a current document; ``explain`` has ranks and weights, if requested;
    ``injection`` is what a prompt injection in the passage does, as `lint` reports it, "" for none."""

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
    injection: str = ""


class SearchResult(NamedTuple):
    """The passages found for a query, best first; ``notes`` describe what was ignored in the query.

    ``generation`` identifies the searched documents: a hash of their paths and texts.
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
    """Find passages for a query as typed. No hits is not an error.

    With ``unfinished`` the last word is still being typed. Archived documents are searched only with
    ``archived``.
    """
    query = parse_query(text, unfinished=unfinished)
    most = limit or memory.config.search_limit

    def answer(index: Index, *, whole: bool) -> SearchResult:
        # Who asks for a status asks what the code says of all; else it says so of what was found.
        judged = _code_statuses(memory, index, None) if query.statuses else None
        found = find(index, query, limit=most, statuses=judged or {}, archived=archived)
        if judged is None:
            judged = _code_statuses(memory, index, [doc.id for doc in found.documents.values()])
        hits = hits_of(
            index, query, found.judged(judged), root=memory.root, limit=most, explain=explain, whole=whole
        )
        archived_only = not archived and not hits and index.count(archived=True)
        notes = (*query.notes, _NOT_ASKED) if archived_only else query.notes
        asked = index.count(archived=None if archived else False)
        return SearchResult(text, tuple(hits), notes, asked, index.generation())

    memory.refresh()
    try:
        return memory.ask(lambda index: answer(index, whole=True))
    except Outdated:
        memory.refresh()
        return memory.ask(lambda index: answer(index, whole=False))


def _code_statuses(memory: Memory, index: Index, doc_ids: Sequence[str] | None) -> Mapping[str, str]:
    """Return the status of documents by their anchors; if there are no anchors, load nothing."""
    if doc_ids == [] or not index.has_anchors():
        return {}
    from thunderus_mem.verdicts.judge import code_statuses

    return code_statuses(memory, doc_ids)


class Found(NamedTuple):
    """The index's results for a query: ``documents`` by row, including successors of superseded ones.

    With an ``expression``, ``by_document`` and ``by_passage`` are the two rankings of rows with scores, best
    first, and ``passages`` are those found in each document, best first. Without one, the documents are the
    newest. ``superseded`` maps a row to its successor's id and row; 0 if that must not be shown.
    """

    expression: str
    documents: dict[int, DocSummary]
    superseded: dict[int, tuple[str, int]]
    by_document: dict[int, float]
    by_passage: dict[int, float]
    passages: dict[int, list[int]]
    archived: bool

    def judged(self, statuses: Mapping[str, str]) -> Found:
        """Replace the status of documents by the given ones; the others keep that of their file."""
        said = {
            row: doc._replace(status=statuses.get(doc.id, doc.status)) for row, doc in self.documents.items()
        }
        return self._replace(documents=said) if statuses else self


def find(
    index: Index,
    query: Query,
    *,
    limit: int = 10,
    statuses: Mapping[str, str] | None = None,
    archived: bool = False,
) -> Found:
    """Find the results for a query in an up-to-date index; with filters only, the newest ``limit`` matches.

    ``statuses`` are the statuses by anchors, for a query that filters by them. Archived documents are found
    only with ``archived``.
    """
    allowed = _allowed(index, query, statuses or {}, archived)
    expression = match_expression(query)
    if not expression:
        return _newest(index, list(allowed or ())[: _clamped(limit)], archived)
    ranked = index.ranked(expression, _POOL if allowed is None else -1, archived=archived)
    by_document = {row: score for row, score in ranked.documents if allowed is None or row in allowed}
    passages: dict[int, list[int]] = {}
    by_passage: dict[int, float] = {}
    for row, passage, score in ranked.passages:
        if allowed is None or row in allowed:
            passages.setdefault(row, []).append(passage)
            by_passage.setdefault(row, score)
    documents = index.summaries(rows={*list(by_document)[:_POOL], *list(by_passage)[:_POOL]})
    superseded: dict[int, tuple[str, int]] = {}
    for row, (by, successor) in _successors(index, documents).items():
        shown = successor is not None and (
            successor.row in allowed if allowed is not None else archived or not is_archived(successor.path)
        )
        superseded[row] = (by, successor.row if successor is not None and shown else 0)
        if successor is not None and shown:
            documents.setdefault(successor.row, successor)
    return Found(expression, documents, superseded, by_document, by_passage, passages, archived)


def _newest(index: Index, rows: list[int], archived: bool) -> Found:
    known = index.summaries(rows=rows)
    documents = {row: known[row] for row in rows}
    by = index.superseded_by([doc.id for doc in documents.values()])
    superseded = {row: (by[doc.id], 0) for row, doc in documents.items() if doc.id in by}
    return Found("", documents, superseded, {}, {}, {}, archived)


def _allowed(
    index: Index, query: Query, statuses: Mapping[str, str], archived: bool
) -> dict[int, None] | None:
    """Return the rows that match filters and exclusions, the newest first; ``None`` for all."""
    if not (query.filtered or query.unwanted):
        return None
    wanted = Filter(
        query.kinds, query.tags, query.statuses, query.paths, query.since, query.before, statuses, archived
    )
    rows = dict.fromkeys(index.newest(wanted))
    if unwanted := exclusion_expression(query):
        for row in index.matching(unwanted, archived=True):
            rows.pop(row, None)
    return rows


def _successors(index: Index, docs: Mapping[int, DocSummary]) -> dict[int, tuple[str, DocSummary | None]]:
    """Return the id of the successor of each superseded document, and that document."""
    by_id = {doc.id: doc for doc in docs.values()}
    successor_ids: dict[str, str] = {}
    asked = set(by_id)
    while asked:  # a successor may be superseded as well
        step = index.superseded_by(asked)
        successor_ids.update(step)
        asked = set(step.values()) - set(successor_ids) - set(by_id)
        by_id.update({doc.id: doc for doc in index.summaries(ids=asked).values()})
    return {by_id[old].row: (new, by_id.get(new)) for old, new in successor_ids.items() if old in by_id}


_Shown: TypeAlias = "tuple[DocSummary, int, float, dict[str, Any]]"
"""A document, its passage to show, score, and explanation."""


def hits_of(
    index: Index,
    query: Query,
    found: Found,
    *,
    root: str,
    limit: int = 10,
    explain: bool = False,
    whole: bool = False,
) -> list[Hit]:
    """Return the best passages, best first; empty if nothing is relevant.

    Hits whose file has changed since are skipped; with ``whole``, ``Outdated`` is raised.
    """
    snippets = Snippets(root, index, found.expression, whole=whole)
    shown: Iterable[_Shown]
    if found.expression:
        shown = _by_relevance(index, query, found, explain=explain)
    else:
        shown = ((doc, index.best_passage(row, "", ()), 0.0, {}) for row, doc in found.documents.items())
    hits: list[Hit] = []
    for doc, passage, score, explanation in shown:
        snippet = snippets.of(doc.path, passage)
        if snippet is None:
            continue
        hits.append(
            Hit(
                doc.id, doc.title, doc.kind, doc.path, snippet.anchor, snippet.line, snippet.text,
                snippet.marks, round(score, 6), doc.status, found.superseded.get(doc.row, ("", 0))[0],
                explanation,
                is_archived(doc.path), snippet.injection,
            )
        )  # fmt: skip
        if len(hits) == _clamped(limit):
            break
    return hits


def _clamped(limit: int) -> int:
    return max(1, min(limit, MAX_LIMIT))


def _by_relevance(index: Index, query: Query, found: Found, *, explain: bool) -> Iterator[_Shown]:
    """Yield the relevant documents with their best passages, best first."""
    docs = found.documents
    superseded = {row: successor for row, (_, successor) in found.superseded.items()}
    ordered = fuse(
        list(found.by_document)[:_POOL],
        list(found.by_passage)[:_POOL],
        {row: doc.status for row, doc in docs.items()},
        superseded,
        {row: doc.id for row, doc in docs.items()},
        {row: doc.confirmed_by for row, doc in docs.items()},
    )
    ordered = _relevant(index, query, ordered, archived=found.archived)
    for candidate in _with_successors(_named_first(index, query, ordered, docs), superseded):
        row = candidate.row
        passage = index.best_passage(row, found.expression, found.passages.get(row, []))
        yield docs[row], passage, candidate.score, _explanation(candidate, found) if explain else {}


def _relevant(index: Index, query: Query, ordered: list[Candidate], *, archived: bool) -> list[Candidate]:
    """Return the relevant candidates; word frequencies are those in active documents."""
    units = {unit for term in query.wanted for unit in (atoms(term) or [whole_expression(term)])}
    holders = [index.matching(unit, archived=archived) for unit in sorted(units)]
    frequencies = [len(rows) for rows in holders]
    total = index.count(archived=None if archived else False)

    def about(row: int, titles: Sequence[set[int]]) -> bool:
        titled = [row in rows for rows in titles]
        return covers([row in rows for rows in holders], frequencies, total, titled)

    kept = [candidate for candidate in ordered if about(candidate.row, ())]
    if kept or not ordered:
        return kept
    # Slow, so only now: a word in the title may suffice if the query's other words are unknown.
    titles = [index.matching(f"{{title names}} : ({unit})", archived=True) for unit in sorted(units)]
    return [candidate for candidate in ordered if about(candidate.row, titles)]


def _named_first(
    index: Index, query: Query, ordered: list[Candidate], docs: Mapping[int, DocSummary]
) -> list[Candidate]:
    """If the query is an id, put its document (or the one it was merged into) first."""
    name = query.text.strip()
    if "." not in name or not ordered:
        return ordered
    known = index.get(name)
    merged = index.heir(name) if known is None or is_archived(known.path) else None
    return sorted(ordered, key=lambda candidate: docs[candidate.row].id != (merged or name))


def _with_successors(ordered: list[Candidate], superseded: dict[int, int]) -> list[Candidate]:
    """Put the successor of a superseded document above it, even if it does not match the query."""
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


def _explanation(candidate: Candidate, found: Found) -> dict[str, Any]:
    return {
        "expression": found.expression,
        "document_rank": candidate.document_rank,
        "document_bm25": round(found.by_document.get(candidate.row, 0.0), 4),
        "passage_rank": candidate.passage_rank,
        "passage_bm25": round(found.by_passage.get(candidate.row, 0.0), 4),
        "fusion_k": FUSION_K,
        "document_weights": DOCUMENT_WEIGHTS,
        "passage_weights": PASSAGE_WEIGHTS,
        "stale_factor": STALE_FACTOR if candidate.status == "stale" else 1.0,
        "confirmed_factor": CONFIRMED_FACTOR.get(candidate.confirmed_by, 1.0),
        "superseded_factor": SUPERSEDED_FACTOR if candidate.superseded else 1.0,
    }
