"""``search``: from a query to hits, one passage per document, best first.

Documents are ranked by the sum of their own bm25 and that of their best passage. Whether the best one answers
the question is decided once per query, mainly from the share of the question's words that it contains. Read
only.

Imports here slow down every search. For the same reason the values are named tuples: creating such a class
takes a fifth of the time of a dataclass.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

from thunderus_mem.document.paths import is_archived
from thunderus_mem.index.questions import Filter, document_verdict
from thunderus_mem.index.words import fold_name, is_cjk, latin_parts, scripts
from thunderus_mem.search.query import (
    atoms,
    exclusion_expression,
    match_expression,
    parse_query,
    whole_expression,
)
from thunderus_mem.search.snippets import Outdated, Snippets
from thunderus_mem.startup import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from thunderus_mem.index.questions import DocSummary, Index
    from thunderus_mem.memory.memory import Memory
    from thunderus_mem.search.query import Query

# Ranking and relevance: pure functions.

STALE_FACTOR: Final = 0.85
CONFIRMED_FACTOR: Final = {"user": 1.04, "agent": 1.01}
"""Weight of a document verified by a user or by an agent: it decides between nearly equal ones."""

ANSWER: Final = 0.6
"""Minimum relevance of the best document for a query to have answers."""
CLOSEST: Final = 0.3
"""Minimum relevance for the closest documents to be shown instead."""
MOST_CLOSEST: Final = 3
MOST_WORDS: Final = 10
"""Words of a question beyond these are no further evidence."""
LATER_HITS: Final = 5
"""The score of a later hit falls with this power of its bm25, relative to the first one."""


def word_weight(holders: int, total: int) -> float:
    """Return the inverse document frequency of a word that ``holders`` of ``total`` documents contain."""
    return math.log(1 + (total - holders + 0.5) / (holders + 0.5))


def relevance(matched: Sequence[bool], holders: Sequence[int], total: int, margin: float) -> float:
    """Return the probability that the best passage, with the ``matched`` words of a question, answers it.

    ``holders`` are the numbers of documents with each word. Words that no document contains are evidence
    against an answer. In a long question fewer words need to match. ``margin`` is how far the document ranks
    above the third best: 0 if they are equal, 1 if there is no third. The numbers are fitted to graded
    questions.
    """
    weights = [word_weight(count, total) for count in holders]
    coverage = sum(weight for weight, has in zip(weights, matched, strict=True) if has) / sum(weights)
    unknown = holders.count(0) / len(holders)
    evidence = 6 * coverage - 3.6 * unknown + 0.31 * min(len(matched), MOST_WORDS) + 4 * margin - 6
    return 1 / (1 + math.exp(-evidence))


def is_answer(matched: Sequence[bool], relevant: float) -> bool:
    """Whether a passage with the ``matched`` words of a question and this relevance is an answer.

    One with all words always is; one with a single word of several never is.
    """
    return all(matched) or (sum(matched) > 1 and relevant >= ANSWER)


def after_successors(ordered: Sequence[int], successors: Mapping[int, int]) -> list[int]:
    """Put the successors of each superseded row directly above it, if they are not above it yet.

    ``successors`` maps a row to that of its successor; cycles are ignored.
    """
    placed: dict[int, None] = {}
    for row in ordered:
        chain = {row: None}
        successor = successors.get(row, 0)
        while successor and successor not in chain and successor not in placed:
            chain[successor] = None
            successor = successors.get(successor, 0)
        placed.update(dict.fromkeys(reversed(chain)))
    return list(placed)


# From a query to hits with snippets

MAX_LIMIT: Final = 50
_POOL: Final = 60
_NOT_ASKED: Final = "archived documents were not searched; use --archived to include them"


class Hit(NamedTuple):
    """A passage of a document. ``line`` is in the file; ``marks`` are character ranges in ``snippet``;
    ``score`` is the relevance, 0 to 1; ``status`` is that in the file, ``verdict`` is computed now, ``state``
    is that of a decision; ``superseded_by`` is "" for a current document; ``explain`` has the
    parts of the score, if requested; ``injection`` is what a prompt injection in the passage does, as `lint`
    reports it, "" for none."""

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
    verdict: str = ""
    state: str = ""


class SearchResult(NamedTuple):
    """The answers to a query, best first; ``notes`` describe what was ignored in the query.

    ``closest`` are at most three passages that may help if there are no answers. ``generation`` identifies
    the searched documents: a hash of their paths and texts.
    """

    query: str
    hits: tuple[Hit, ...]
    closest: tuple[Hit, ...]
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
    query = parse_query(text, unfinished=unfinished, now=memory.now)
    most = limit or memory.config.search_limit

    def answer(index: Index, *, whole: bool) -> SearchResult:
        found = find_judged(memory, index, query, limit=most, archived=archived)
        hits = hits_of(index, found, root=memory.root, limit=most, explain=explain, whole=whole)
        answers, closest = (hits, ()) if found.answered else ((), hits)
        archived_only = not archived and not answers and index.count(archived=True)
        notes = (*query.notes, _NOT_ASKED) if archived_only else query.notes
        asked = index.count(archived=None if archived else False)
        return SearchResult(text, answers, closest, notes, asked, index.generation())

    memory.refresh()
    try:
        return memory.ask(lambda index: answer(index, whole=True))
    except Outdated:
        memory.refresh()
        return memory.ask(lambda index: answer(index, whole=False))


def find_judged(
    memory: Memory, index: Index, query: Query, *, limit: int = 10, archived: bool = False
) -> Found:
    """`find`, with the verdict on each document."""
    # A filter by verdict needs those of all documents; otherwise only those of the found ones.
    judged = code_statuses(memory, index, None) if query.verdicts else None
    found = find(index, query, limit=limit, statuses=judged or {}, archived=archived)
    if judged is None:
        judged = code_statuses(memory, index, [doc.id for doc in found.documents.values()])
    return found.judged(judged)


def code_statuses(memory: Memory, index: Index, doc_ids: Sequence[str] | None) -> Mapping[str, str]:
    """Return the status of documents by their anchors; if there are no anchors, load nothing."""
    if doc_ids == [] or not index.has_anchors():
        return {}
    from thunderus_mem.verdicts import judge

    return judge.code_statuses(memory, doc_ids)


class Candidate(NamedTuple):
    """A matching document: its bm25, that of its best passage, and its passages, best first."""

    document_bm25: float
    passage_bm25: float
    passages: list[int]

    @property
    def bm25(self) -> float:
        """The sum, by which documents are ranked."""
        return self.document_bm25 + self.passage_bm25


class Found(NamedTuple):
    """The index's results for a query: ``documents`` by row, including successors of superseded ones.

    With an ``expression``, ``candidates`` are the best matches by row. Without one, the documents are the
    newest. ``superseded`` maps a row to its successor's id and row; 0 if that must not be shown.
    ``relevance`` is that of the best match; ``named`` documents are named by the query. ``answered``: whether
    the results are answers.
    """

    expression: str
    documents: dict[int, DocSummary]
    superseded: dict[int, tuple[str, int]]
    candidates: dict[int, Candidate]
    named: frozenset[int]
    relevance: float
    answered: bool

    def judged(self, statuses: Mapping[str, str]) -> Found:
        """Set the verdict on each document, given those on anchors."""
        said = {
            row: doc._replace(
                verdict=document_verdict(doc.status, statuses.get(doc.id), archived=is_archived(doc.path))
            )
            for row, doc in self.documents.items()
        }
        return self._replace(documents=said)

    def ordered(self) -> list[int]:
        """Return the rows to show, best first: named ones, then by bm25, and current before superseded."""
        if not self.expression:
            return list(self.documents)
        rows = sorted(
            {*self.candidates, *self.named}, key=lambda row: (-self.rank(row), self.documents[row].id)
        )
        successors = {row: successor for row, (_, successor) in self.superseded.items()}
        return sorted(after_successors(rows, successors), key=lambda row: row not in self.named)

    def scored(self) -> Iterator[tuple[int, float]]:
        """Yield the rows to show, best first, with their scores: the relevance of each, never increasing."""
        best = max((self.rank(row) for row in self.candidates), default=0.0)
        score = 1.0
        for row in self.ordered():
            if row in self.candidates and row not in self.named:
                score = min(score, self.relevance * (self.rank(row) / best) ** LATER_HITS)
            yield row, score

    def rank(self, row: int) -> float:
        """Return the bm25 of a document, adjusted for its verification."""
        found = self.candidates.get(row)
        return self.factor(row) * found.bm25 if found else 0.0

    def factor(self, row: int) -> float:
        """Return the weight of a document by its verification."""
        doc = self.documents[row]
        return STALE_FACTOR if doc.verdict == "stale" else CONFIRMED_FACTOR.get(doc.confirmed_by, 1.0)


def find(
    index: Index,
    query: Query,
    *,
    limit: int = 10,
    statuses: Mapping[str, str] | None = None,
    archived: bool = False,
) -> Found:
    """Find the results for a query in an up-to-date index; with filters only, the newest ``limit`` matches.

    ``statuses`` are the verdicts by anchors, for a query that filters by them. Archived documents are found
    only with ``archived``.
    """
    allowed = _allowed(index, query, statuses or {}, archived)
    expression = match_expression(query)
    if not expression:
        return _newest(index, list(allowed or ())[: _clamped(limit)])

    def shown(doc: DocSummary) -> bool:
        return doc.row in allowed if allowed is not None else archived or not is_archived(doc.path)

    candidates = _candidates(index, expression, allowed, archived)
    asked = query.text.encode("utf-8", "ignore").decode().strip()
    called = index.called(asked) or index.called(asked.rstrip("?!. "))
    documents = {row: doc for row, doc in index.summaries(rows={*candidates, *called}).items() if shown(doc)}
    named = _named(index, query, {row: documents[row] for row in called if row in documents}, documents)
    superseded: dict[int, tuple[str, int]] = {}
    for row, (by, successor) in _successors(index, documents).items():
        visible = successor is not None and shown(successor)
        superseded[row] = (by, successor.row if successor is not None and visible else 0)
        if successor is not None and visible:
            documents.setdefault(successor.row, successor)
    best, answered = _relevance(index, query, candidates, archived)
    return Found(expression, documents, superseded, candidates, named, best, answered or bool(named))


def narrowed(index: Index, query: Query, found: Found, rows: Collection[int]) -> Found:
    """Leave only some documents, and decide by them whether there are answers."""
    candidates = {row: one for row, one in found.candidates.items() if row in rows}
    named = found.named.intersection(rows)
    best, answered = _relevance(index, query, candidates, False)
    return found._replace(
        candidates=candidates, named=named, relevance=best, answered=answered or bool(named)
    )


def _candidates(
    index: Index, expression: str, allowed: Mapping[int, None] | None, archived: bool
) -> dict[int, Candidate]:
    """Return the best matches by row, best first; equal ones by id."""
    ranked = index.ranked(expression, archived=archived)
    best: dict[int, float] = {}
    for row, _, score in ranked.passages:
        if score > best.get(row, 0.0):
            best[row] = score
    sums = {
        row: ranked.documents.get(row, 0.0) + best.get(row, 0.0)
        for row in {**ranked.documents, **best}
        if allowed is None or row in allowed
    }
    kept = set(sums)
    if len(sums) > _POOL:
        cut = sorted(sums.values())[-_POOL]
        kept = {row for row, score in sums.items() if score > cut}
        tied = index.by_id(row for row, score in sums.items() if score == cut)
        kept.update(tied[: _POOL - len(kept)])
    passages: dict[int, list[tuple[float, int]]] = {row: [] for row in kept}
    for row, passage, score in ranked.passages:
        if row in passages:
            passages[row].append((-score, passage))
    return {
        row: Candidate(
            ranked.documents.get(row, 0.0), best.get(row, 0.0), [passage for _, passage in sorted(found)]
        )
        for row, found in passages.items()
    }


def _named(
    index: Index, query: Query, called: Mapping[int, DocSummary], found: Mapping[int, DocSummary]
) -> frozenset[int]:
    """Return the rows of the documents that the whole query names: by a name of the document, its title, or
    an identifier that it contains."""
    if called:  # the archived copy of a document has its name too
        return frozenset(row for row, doc in called.items() if not is_archived(doc.path)) or frozenset(called)
    name = fold_name(query.text.rstrip("?!. "))
    titled = frozenset(row for row, doc in found.items() if fold_name(doc.title.rstrip("?!. ")) == name)
    if titled or len(query.terms) > 1 or len(latin_parts(name := query.terms[0].text)) < 2 or " " in name:
        return titled
    return frozenset(index.matching(whole_expression(query.terms[0]), archived=True) & found.keys())


def _relevance(
    index: Index, query: Query, candidates: Mapping[int, Candidate], archived: bool
) -> tuple[float, bool]:
    """Return the relevance of the best candidate, and whether it is an answer."""
    if not candidates:
        return 0.0, False
    best, *others = sorted(candidates.items(), key=lambda found: -found[1].bm25)
    row, first = best
    margin = 1 - others[1][1].bm25 / first.bm25 if len(others) > 1 else 1.0
    units = _units(query)
    holders = index.holders(units, archived=archived)
    matched = index.holds(row, first.passages[0] if first.passages else 0, units)
    found = relevance(matched, holders, index.count(archived=None if archived else False), margin)
    return found, is_answer(matched, found)


def _units(query: Query) -> list[str]:
    """Return the expressions of the question's words; Chinese, Japanese and Korean in pairs of characters."""
    return list(
        dict.fromkeys(
            unit
            for term in query.wanted
            for unit in (any(map(is_cjk, scripts(term.text))) and atoms(term)) or [whole_expression(term)]
        )
    )


def _newest(index: Index, rows: list[int]) -> Found:
    known = index.summaries(rows=rows)
    documents = {row: known[row] for row in rows}
    by = index.superseded_by([doc.id for doc in documents.values()])
    superseded = {row: (by[doc.id], 0) for row, doc in documents.items() if doc.id in by}
    return Found("", documents, superseded, {}, frozenset(), 1.0, True)


def _allowed(
    index: Index, query: Query, statuses: Mapping[str, str], archived: bool
) -> dict[int, None] | None:
    """Return the rows that match filters and exclusions, the newest first; ``None`` for all."""
    if not (query.filtered or query.unwanted):
        return None
    wanted = Filter(
        query.kinds, query.tags, query.statuses, query.paths, query.since, query.before, statuses,
        archived, query.verdicts, query.states, categories=query.categories, runs=query.runs,
    )  # fmt: skip
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


def hits_of(
    index: Index,
    found: Found,
    *,
    root: str,
    limit: int = 10,
    explain: bool = False,
    whole: bool = False,
) -> tuple[Hit, ...]:
    """Return the best passages, best first: the answers, else the closest ones, else none.

    Hits whose file has changed since are skipped; with ``whole``, ``Outdated`` is raised.
    """
    if not found.answered and found.relevance < CLOSEST:
        return ()
    most = _clamped(limit) if found.answered else min(_clamped(limit), MOST_CLOSEST)
    snippets = Snippets(root, index, found.expression, whole=whole)
    hits: list[Hit] = []
    for row, score in found.scored():
        doc, candidate = found.documents[row], found.candidates.get(row)
        passage = index.best_passage(row, found.expression, candidate.passages if candidate else [])
        snippet = snippets.of(doc.path, passage)
        if snippet is None:
            continue
        hits.append(
            Hit(
                doc.id, doc.title, doc.kind, doc.path, snippet.anchor, snippet.line, snippet.text,
                snippet.marks, round(score, 3), doc.status, found.superseded.get(doc.row, ("", 0))[0],
                _explanation(found, row) if explain and candidate else {},
                is_archived(doc.path), snippet.injection, doc.verdict,
                "superseded" if doc.row in found.superseded else doc.state,
            )
        )  # fmt: skip
        if len(hits) == most:
            break
    return tuple(hits)


def _clamped(limit: int) -> int:
    return max(1, min(limit, MAX_LIMIT))


def _explanation(found: Found, row: int) -> dict[str, Any]:
    candidate = found.candidates[row]
    return {
        "expression": found.expression,
        "document_bm25": round(candidate.document_bm25, 4),
        "passage_bm25": round(candidate.passage_bm25, 4),
        "verification_factor": found.factor(row),
        "relevance": round(found.relevance, 4),
        "named": row in found.named,
    }
