"""The verbs that only look: search, show, list, status."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from thunderus_mem.model.ids import resolve_prefix
from thunderus_mem.model.query import parse_query
from thunderus_mem.model.timestamp import utc_key
from thunderus_mem.recall.search import Hit
from thunderus_mem.recall.search import search as ranked

if TYPE_CHECKING:
    from collections.abc import Iterable

    from thunderus_mem.memory import Memory
    from thunderus_mem.projection.index import DocRow


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The passages found for a query, best first; ``notes`` say what was left out of the query."""

    query: str
    hits: tuple[Hit, ...]
    notes: tuple[str, ...]
    total_documents: int


def search(memory: Memory, text: str, *, limit: int | None = None, explain: bool = False) -> SearchResult:
    """Find passages in people's words. No hit is an answer, not an error."""
    refreshed = memory.refresh()
    query = parse_query(text)
    hits = ranked(memory.index, memory.root, query, limit=limit or memory.config.search_limit, explain=explain)
    return SearchResult(text, tuple(hits), query.notes, refreshed.total)


@dataclass(frozen=True, slots=True)
class Listed:
    """One document of a listing."""

    id: str
    kind: str
    title: str
    path: str
    tags: tuple[str, ...]
    created: str
    updated: str
    status: str
    superseded_by: str
    tokens: int


@dataclass(frozen=True, slots=True)
class Listing:
    """Documents by kind and id."""

    documents: tuple[Listed, ...]


def list_documents(
    memory: Memory,
    *,
    kinds: Iterable[str] = (),
    tags: Iterable[str] = (),
    statuses: Iterable[str] = (),
    path: str = "",
    since: str = "",
    before: str = "",
) -> Listing:
    """Documents that pass every filter; times are compared with ``updated``, tags must all be there."""
    memory.refresh()
    wanted_kinds, wanted_tags, wanted_statuses = set(kinds), set(tags), set(statuses)
    first, last = utc_key(since), utc_key(before)
    replaced = {edge.target: edge.source for edge in memory.index.edges() if edge.relation == "supersedes"}

    def passes(row: DocRow) -> bool:
        updated = utc_key(row.updated)
        return (
            (not wanted_kinds or row.kind in wanted_kinds)
            and wanted_tags <= set(row.tags)
            and (not wanted_statuses or row.status in wanted_statuses)
            and path in row.path
            and (not first or updated >= first)
            and (not last or updated < last)
        )

    rows = sorted(filter(passes, memory.index.documents()), key=lambda row: (row.kind, row.id))
    return Listing(tuple(_listed(row, replaced.get(row.id, "")) for row in rows))


def _listed(row: DocRow, superseded_by: str) -> Listed:
    return Listed(
        row.id,
        row.kind,
        row.title,
        row.path,
        tuple(row.tags),
        row.created,
        row.updated,
        row.status,
        superseded_by,
        row.tokens,
    )


@dataclass(frozen=True, slots=True)
class Relation:
    """A link between two documents as one of them sees it (``supersedes``, or ``is superseded by``)."""

    relation: str
    id: str
    title: str


@dataclass(frozen=True, slots=True)
class Shown:
    """A document whole, with what points to it."""

    id: str
    kind: str
    title: str
    path: str
    tags: tuple[str, ...]
    created: str
    updated: str
    status: str
    hash: str
    text: str
    body: str
    relations: tuple[Relation, ...]


_INVERSE = {
    "supersedes": "is superseded by",
    "duplicates": "is duplicated by",
    "derives_from": "is the source of",
    "refers_to": "is referred to by",
}


def show(memory: Memory, id: str) -> Shown:  # noqa: A002
    """One document, read from its file now."""
    from thunderus_mem.verbs.locating import find_document

    memory.refresh()
    document = find_document(memory, id)
    return Shown(
        document.id,
        document.kind,
        document.title,
        document.path,
        document.tags,
        document.created,
        document.updated,
        document.status,
        document.hash,
        document.text,
        document.body,
        tuple(_relations(memory, document.id)),
    )


def _relations(memory: Memory, doc_id: str) -> Iterable[Relation]:
    for edge in memory.index.edges():
        if edge.source == doc_id:
            other, name = edge.target, edge.relation.replace("_", " ")
        elif edge.target == doc_id:
            other, name = edge.source, _INVERSE.get(edge.relation, edge.relation)
        else:
            continue
        row = memory.index.get(other)
        yield Relation(name, other, row.title if row is not None else "")


def complete(memory: Memory, prefix: str) -> tuple[tuple[str, str], ...]:
    """Ids that begin with ``prefix`` and their titles, for a shell; asks the index as it is."""
    titles = {row.id: row.title for row in memory.index.documents()}
    return tuple((doc_id, titles[doc_id]) for doc_id in resolve_prefix(prefix, titles))


@dataclass(frozen=True, slots=True)
class StatusReport:
    """The state of a store at a glance. ``pending`` counts writes and proposals that wait."""

    root: str
    also: tuple[str, ...]
    by_kind: dict[str, int]
    total: int
    stale: tuple[str, ...]
    unrecorded: tuple[str, ...]
    unreadable: tuple[str, ...]
    pending: int
    events: int
    index: str
    next_step: str


def status(memory: Memory) -> StatusReport:
    """Counts, what is stale or not recorded yet, and one next step. Changes no tracked file."""
    from thunderus_mem.evidence.unrecorded import hand_edits

    refreshed = memory.refresh()
    rows = list(memory.index.documents())
    by_kind: dict[str, int] = {}
    for row in rows:
        by_kind[row.kind] = by_kind.get(row.kind, 0) + 1
    log = memory.log_index()
    edits = hand_edits(memory.layout, log, memory.git, memory.git_state())
    unreadable = tuple(sorted(problem.path for problem in memory.index.problems()))
    stale = tuple(sorted(row.id for row in rows if row.status == "stale"))
    unrecorded = tuple(edit.change.doc_id or edit.change.path for edit in edits)
    pending = memory.journal.pending() + _waiting_patches(memory)
    return StatusReport(
        root=memory.root,
        also=memory.also,
        by_kind=dict(sorted(by_kind.items())),
        total=len(rows),
        stale=stale,
        unrecorded=unrecorded,
        unreadable=unreadable,
        pending=pending,
        events=log.count(),
        index=f"rebuilt: {refreshed.rebuilt}" if refreshed.rebuilt else "fresh",
        next_step=_next_step(unreadable, pending, stale, unrecorded, len(rows)),
    )


def _waiting_patches(memory: Memory) -> int:
    try:
        return sum(name.endswith(".json") for name in os.listdir(memory.layout.patches_dir))
    except FileNotFoundError:
        return 0


def _next_step(
    unreadable: tuple[str, ...], pending: int, stale: tuple[str, ...], unrecorded: tuple[str, ...], total: int
) -> str:
    if unreadable:
        return f"thunderus-mem lint {unreadable[0]}"
    if pending:
        return "thunderus-mem doctor"
    if stale:
        return f"thunderus-mem show {stale[0]}"
    if unrecorded:
        return 'thunderus-mem note "why these were edited"'
    if not total:
        return 'thunderus-mem add fact "What everybody should know" --tag start'
    return "thunderus-mem search WORDS"
