"""The verbs that tell what happened: log, why, events."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from thunderus_mem.model.errors import InvalidDocument, NotFound
from thunderus_mem.model.event import Event, changes_of, document_ids
from thunderus_mem.projection.log_index import read
from thunderus_mem.verbs.locating import find_row

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from thunderus_mem.evidence.provenance import WhyEdge, WhyNode
    from thunderus_mem.memory import Memory
    from thunderus_mem.model.diagnostic import Diagnostic
    from thunderus_mem.projection.log_index import EventRow, LogIndex
    from thunderus_mem.store.events import LoggedEvent
    from thunderus_mem.verbs.code_then import CodeThen


@dataclass(frozen=True, slots=True)
class LogEntry:
    """One event in one line: when, who, what, about which documents, and why."""

    id: str
    ts: str
    actor: str
    author: str
    kind: str
    op: str
    doc_ids: tuple[str, ...]
    why: str
    text: str
    session_id: str


@dataclass(frozen=True, slots=True)
class LogListing:
    """Events, newest first. ``left_out`` counts the older ones that the limit cut, ``damaged`` the lines of
    the log that cannot be read."""

    events: tuple[LogEntry, ...]
    left_out: int
    damaged: int = 0


def log(memory: Memory, id: str | None = None, *, limit: int = 50) -> LogListing:
    """What happened to a document, or to the whole memory, newest first."""
    return events_list(memory, document=id, limit=limit)


def events_list(
    memory: Memory, *, document: str | None = None, kinds: Collection[str] = (), limit: int = 50
) -> LogListing:
    """Events that pass the filters, newest first."""
    wanted = names_of_document(memory, document) if document is not None else frozenset()
    index = memory.log_index()
    rows = index.newest(limit, kinds=kinds, doc_ids=wanted)
    listed = tuple(_entry(logged.event) for logged in read(memory.log, rows))
    left_out = index.total(kinds=kinds, doc_ids=wanted) - len(rows) if len(rows) == limit else 0
    return LogListing(listed, left_out, index.damages())


def events_of(
    memory: Memory, *, doc_ids: Collection[str] = (), kinds: Collection[str] = (), since: str = ""
) -> Iterator[LoggedEvent]:
    """Events that pass the filters, oldest first; read as they are asked for. ``since`` is a `utc_key`."""
    for rows in memory.log_index().in_order(kinds=kinds, doc_ids=doc_ids, since=since):
        yield from read(memory.log, rows)


def names_of_document(memory: Memory, given: str) -> frozenset[str]:
    """The id of a document and those it had; of a removed one the id under which the log remembers it.

    Raises `NotFound` when there is neither.
    """
    memory.refresh()
    try:
        row = find_row(memory, given)
    except NotFound:
        if not memory.log_index().total(doc_ids=(given,)):
            raise NotFound(f"no document and no event has the id {given!r}") from None
        return frozenset((given,))
    return frozenset((row.id, *row.aliases))


def _entry(event: Event) -> LogEntry:
    body = event.body
    return LogEntry(
        id=event.id,
        ts=event.ts,
        actor=event.actor,
        author=str(event.origin.get("author", "")),
        kind=event.kind,
        op=str(body.get("op") or body.get("decision") or ""),
        doc_ids=document_ids(event),
        why=event.why,
        text=str(body.get("text", "")),
        session_id=event.session_id,
    )


@dataclass(frozen=True, slots=True)
class ShownEvent:
    """One event whole, and the place of its line; ``damaged`` counts the lines that cannot be read."""

    shard: str
    line: int
    event: dict[str, Any]
    diffs: tuple[str, ...]
    damaged: int = 0


def events_show(memory: Memory, event_id: str) -> ShownEvent:
    """The event that has an id or is the only one to begin with it."""
    import json

    index = memory.log_index()
    found = read(memory.log, _meant(index, event_id))
    if not found:
        raise NotFound(f"no event has the id {event_id!r}", hint="`thunderus-mem events list` shows them")
    if len(found) > 1:
        names = ", ".join(entry.event.id for entry in found[:5])
        raise InvalidDocument(f"{event_id!r} is the beginning of {len(found)} ids", hint=f"one of: {names}")
    entry: LoggedEvent = found[0]
    diffs = tuple(change.diff for change in changes_of(entry.event) if change.diff)
    return ShownEvent(entry.shard, entry.line, json.loads(entry.event.raw), diffs, index.damages())


def _meant(index: LogIndex, given: str) -> list[EventRow]:
    """The events whose id begins with what was given, with or without ``evt_``."""
    named = index.beginning_with(given)
    return named or index.beginning_with(f"evt_{given}")


@dataclass(frozen=True, slots=True)
class VerifyReport:
    """What the log is worth: how much was read, and every damage."""

    shards: int
    events: int
    diagnostics: tuple[Diagnostic, ...]


def events_verify(memory: Memory) -> VerifyReport:
    """Check every shard: each line against the schema, each chain, each end. Repairs nothing."""
    from thunderus_mem.verbs.surveying import log_findings

    findings = tuple(sorted(log_findings(memory), key=lambda finding: finding.sort_key))
    return VerifyReport(len(memory.log.shards()), memory.log_index().total(), findings)


@dataclass(frozen=True, slots=True)
class WhyReport:
    """Where a document comes from, as a graph: document, events, sessions, patches, commits, code.

    ``damaged`` counts the lines of the log that cannot be read; ``code`` is what its anchors name, then and
    now.
    """

    id: str
    nodes: tuple[WhyNode, ...]
    edges: tuple[WhyEdge, ...]
    damaged: int = 0
    code: tuple[CodeThen, ...] = ()


def why(memory: Memory, id: str) -> WhyReport:
    """Explain a document by the log and by git."""
    from thunderus_mem.evidence.provenance import why as explained
    from thunderus_mem.verbs.code_then import code_then, joined
    from thunderus_mem.verbs.locating import find_document
    from thunderus_mem.verbs.tracing import trace

    memory.refresh()
    document = find_document(memory, id)
    logged, past = trace(memory, document)
    graph = explained(document, logged, past, memory.log, memory.git)
    code = code_then(memory, document.id)
    nodes, edges = joined(graph.nodes[0].id, code, graph.nodes)
    return WhyReport(
        document.id,
        (*graph.nodes, *nodes),
        (*graph.edges, *edges),
        memory.log_index().damages(),
        code,
    )
