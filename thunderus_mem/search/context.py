"""``context``: the passages that help with a task, for an agent, within a number of tokens.

Core documents come first if asked for, then documents that govern the given paths, then the answers of
`search`, best first. Every line of a document is quoted, so that none can be taken for one of the program.
The text depends on memory and request only, not on the time: prompt caches can keep it. Read only.
"""

from __future__ import annotations

from contextlib import suppress
from datetime import date
from typing import TYPE_CHECKING, Final

from thunderus_mem.document.paths import is_archived
from thunderus_mem.document.unicode import token_count
from thunderus_mem.errors import InvalidQuery
from thunderus_mem.index.questions import Filter, document_verdict
from thunderus_mem.search.frame import NOTICE, Quote, clean, fitted, head, line
from thunderus_mem.search.query import filter_value, task_query
from thunderus_mem.search.search import Found, code_statuses, find_judged, narrowed
from thunderus_mem.search.snippets import Outdated, Snippets
from thunderus_mem.startup import NamedTuple, lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from thunderus_mem.index.questions import DocSummary, Index, PassageRow
    from thunderus_mem.memory.memory import Memory
    from thunderus_mem.memory.reviewed import Author
    from thunderus_mem.search.query import Query


LEAST_BUDGET: Final = 64
"""The least budget, in tokens of 4 characters: there is room for a short passage."""


LEAST_SCORE: Final = 0.1
"""Passages with a lower score than this, that of `search`, are left out: few of them help."""


class ContextRequest(NamedTuple):
    """A task in words, with the ``paths`` it is about, relative to ``start`` or the root.

    ``budget`` is in tokens of 4 characters, ``limit`` the number of passages besides core documents; 0 is the
    configured one. ``kinds`` selects kinds of documents; ``core`` adds the core documents, or their sections
    about the task if they are long; ``unreviewed`` includes documents that no user has reviewed, as the
    setting ``context.unreviewed`` does.
    """

    task: str = ""
    budget: int = 0
    paths: Sequence[str] = ()
    kinds: Sequence[str] = ()
    core: bool = False
    unreviewed: bool = False
    limit: int = 0
    start: str = "."


class ContextItem(NamedTuple):
    """A passage: its document, where it is, and what is known about it.

    ``age`` is the number of days since ``updated`` (a date, "" if unknown); ``actor`` is who changed title or
    body last: user, agent or tool, or "git" if no event says so. ``reviewed``: by a user. ``text`` has no
    control characters and no secrets, and ends in an ellipsis if it is cut; ``warning`` is a reason for
    caution, "" for none.
    """

    id: str
    title: str
    kind: str
    path: str
    heading: str
    line: int
    verdict: str
    updated: str
    age: int
    actor: str
    reviewed: bool
    text: str
    warning: str = ""


class Context(NamedTuple):
    """The passages for a task, and the number of documents about it omitted because they are unreviewed.

    ``tokens`` is the length of the rendered text, which never exceeds the budget.
    """

    items: tuple[ContextItem, ...]
    omitted_unreviewed: int
    tokens: int


def context(memory: Memory, request: ContextRequest) -> Context:
    """Find the passages for a task. None is not an error.

    Raises `InvalidQuery` for a path outside the repository, an unknown kind, or too small a budget.
    """
    budget = request.budget or memory.config.context_budget
    if budget < LEAST_BUDGET:
        raise InvalidQuery(f"a budget of {budget} tokens is too small", hint=f"use at least {LEAST_BUDGET}")
    room = budget * 4 - len("\n")
    governing: dict[str, None] = {}
    if request.paths:
        from thunderus_mem.verdicts import lookup

        for path in request.paths:
            found = lookup.governing(memory, path, mentions=False, start=request.start)
            governing |= dict.fromkeys(one.id for one in found.documents)
    try:
        given = _fitted(*_items(memory, request, governing, room, whole=True), room)
    except Outdated:
        given = _fitted(*_items(memory, request, governing, room, whole=False), room)
    if memory.config.usage_count:
        from thunderus_mem.memory.usage import count_reads

        count_reads(memory, dict.fromkeys(item.id for item in given.items))
    return given


# Choose documents and read their passages.

_NOTHING: Final = Found("", {}, {}, {}, frozenset(), 0.0, False)
_ENDED: Final = ("rejected", "deprecated", "superseded")
"""States of decisions that do not hold."""
_DATE: Final = lazy_pattern(r"\d{4}-\d\d-\d\d")


class _Chosen(NamedTuple):
    """Documents in order, the ids of ``core`` documents asked for, the rows of documents to show whatever the
    task is (``given``), and of answers that must not be shown (``ended``)."""

    query: Query
    found: Found
    documents: list[DocSummary]
    core: frozenset[str]
    given: frozenset[int]
    ended: frozenset[int]
    limit: int

    @property
    def relevant(self) -> frozenset[int]:
        """The rows of documents to show if all are reviewed."""
        return self.given | _answers(self.found)


def _items(
    memory: Memory, request: ContextRequest, governing: Iterable[str], room: int, *, whole: bool
) -> tuple[list[ContextItem], int]:
    """The passages in full, and the number of unreviewed documents.

    With ``whole``, `Outdated` is raised if a file or the index has changed before the texts are read.
    """
    memory.refresh()
    chosen = memory.ask(lambda index: _choose(memory, request, governing, index))
    if not chosen.documents:
        return [], 0
    from thunderus_mem.memory.reviewed import authors

    known = authors(memory, [(doc.id, doc.path, doc.hash) for doc in chosen.documents])
    every = request.unreviewed or memory.config.context_unreviewed
    omitted = {doc.row for doc in chosen.documents if not (every or known[doc.id].reviewed)}
    core_room = room // 2 if request.task or request.paths else room
    today = memory.now().date()

    def read(index: Index) -> list[ContextItem]:
        rows = index.summaries(ids=[doc.id for doc in chosen.documents])
        if whole and rows.keys() != {doc.row for doc in chosen.documents}:
            raise Outdated
        snippets = Snippets(memory.root, index, "", whole=whole)
        wanted = _relevant(index, chosen, omitted)[: chosen.limit]
        texts = [(doc, _texts(index, snippets, chosen, doc, core_room)) for doc in wanted if doc.row in rows]
        return [_item(doc, known[doc.id], parts, today) for doc, parts in texts if parts]

    return memory.ask(read), len(omitted.intersection(chosen.relevant))


def _choose(memory: Memory, request: ContextRequest, governing: Iterable[str], index: Index) -> _Chosen:
    kinds = tuple(filter_value("kind", kind) for kind in request.kinds)
    query = task_query(request.task)._replace(kinds=kinds)
    found = find_judged(memory, index, query) if query.terms else _NOTHING
    core = [row.id for row in index.documents(Filter(kinds=("core",)))] if request.core else []
    ids = list(dict.fromkeys([*core, *governing]))
    by_id = {doc.id: doc for doc in index.summaries(ids=ids).values()} if ids else {}
    statuses = code_statuses(memory, index, ids)
    given = {
        doc.row: doc._replace(
            verdict=document_verdict(doc.status, statuses.get(id), archived=is_archived(doc.path))
        )
        for id in ids
        if (doc := by_id.get(id)) is not None and (id in core or not kinds or doc.kind in kinds)
    }
    answers = [found.documents[row] for row in found.ordered()] if found.answered else []
    documents = [*given.values(), *(doc for doc in answers if doc.row not in given)]
    superseded = index.superseded_by([doc.id for doc in documents])
    unasked = () if request.core or "core" in kinds else ("core",)
    ended = frozenset(doc.row for doc in documents if doc.state in _ENDED or doc.kind in unasked)
    current = [doc for doc in documents if doc.id not in superseded and doc.row not in ended]
    limit = len(core) + (request.limit or memory.config.context_passages)
    return _Chosen(query, found, current[: 2 * limit], frozenset(core), frozenset(given), ended, limit)


def _relevant(index: Index, chosen: _Chosen, omitted: set[int]) -> list[DocSummary]:
    """The documents to show. Without the omitted ones, others may be the answer, or none."""
    relevant = chosen.relevant
    if chosen.found.answered and (gone := omitted | chosen.ended):
        found = narrowed(index, chosen.query, chosen.found, chosen.found.candidates.keys() - gone)
        relevant = chosen.given | _answers(found)
    return [doc for doc in chosen.documents if doc.row in relevant and doc.row not in omitted]


def _answers(found: Found) -> frozenset[int]:
    """The rows of the documents that are probably about the task."""
    scored = found.scored() if found.answered else ()
    return frozenset(row for row, score in scored if score >= LEAST_SCORE)


def _texts(
    index: Index, snippets: Snippets, chosen: _Chosen, doc: DocSummary, core_room: int
) -> list[tuple[PassageRow, str]]:
    """The passage about the task; of a document that has none, all from its decision or beginning on.

    Of a core document all passages, or those about the task if it is long and has any.
    """
    candidate = chosen.found.candidates.get(doc.row)
    matching = candidate.passages if candidate else []
    asked = index.passages_of(doc.row)
    if matching and doc.id not in chosen.core:
        asked = [index.best_passage(doc.row, chosen.found.expression, matching)]
    read = ((one, snippets.passage(doc.path, one)) for one in asked)
    texts = {one: text for one, text in read if text is not None and text[1].strip()}
    if matching and sum(len(text) for _, text in texts.values()) > core_room and doc.id in chosen.core:
        texts = {one: text for one, text in texts.items() if one in matching}
    parts = list(texts.values())
    ends = [row.heading.rpartition(" > ")[2] for row, _ in parts]
    return parts[ends.index("Decision") :] if doc.kind == "adr" and "Decision" in ends else parts


def _item(
    doc: DocSummary, author: Author, texts: Sequence[tuple[PassageRow, str]], today: date
) -> ContextItem:
    # A heading may repeat the title.
    headings = [_title(row.heading.removeprefix(doc.title).removeprefix(" > ")) for row, _ in texts]
    parts = [text.strip("\n") for _, text in texts]
    parts[1:] = [f"{head}:\n{text}" if head else text for head, text in zip(headings, parts, strict=True)][1:]
    updated = _DATE.match(doc.updated)
    injections = [f"possible prompt injection: {row.injection}" for row, _ in texts if row.injection]
    remarks = [doc.state if doc.state != "accepted" else "", *injections[:1]]
    day = updated[0] if updated else ""
    days = 0
    with suppress(ValueError):
        days = max(0, (today - date.fromisoformat(day)).days)
    return ContextItem(
        doc.id, _title(doc.title), doc.kind, doc.path, headings[0], texts[0][0].line, doc.verdict, day,
        days, author.actor or "git", author.reviewed, clean("\n\n".join(parts)),
        "; ".join(filter(None, remarks)),
    )  # fmt: skip


def _title(text: str) -> str:
    return line(text, 120)


# The text for an agent.


def render(value: Context) -> str:
    """Format the passages for an agent: where each one is, and its lines quoted; "" for none."""
    count = value.omitted_unreviewed
    omitted = f"{count:,} unreviewed {'document' if count == 1 else 'documents'} omitted." if count else ""
    blocks = [str(_quote(one)) for one in value.items]
    return "\n\n".join(filter(None, [NOTICE if blocks else "", *blocks, omitted]))


def _quote(one: ContextItem) -> Quote:
    about = head(
        one.id, kind=one.kind, path=f"{one.path}:{one.line}" if one.line else one.path, verdict=one.verdict,
        updated=one.updated, actor=one.actor, trust="" if one.reviewed else "unreviewed", warning=one.warning,
    )  # fmt: skip
    return Quote(about, " > ".join(filter(None, (one.title, one.heading))), one.text)


def _fitted(items: Sequence[ContextItem], omitted: int, room: int) -> Context:
    """The first items that have room, their texts cut where they are too long."""
    left = room - len(NOTICE) - len("\n\n") - len(render(Context((), omitted, 0)))
    kept = fitted([_quote(one) for one in items], left)
    texts = tuple(one._replace(text=quote.text) for one, quote in zip(items, kept, strict=False))
    found = Context(texts, omitted, 0)
    return found._replace(tokens=token_count(render(found)))
