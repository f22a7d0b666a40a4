"""The verbs that tell what happened: log, why, events."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from thunderus_mem.model.errors import InvalidDocument, NotFound
from thunderus_mem.model.event import Event, changes_of, document_ids
from thunderus_mem.verbs.locating import find_row

if TYPE_CHECKING:
    from collections.abc import Collection

    from thunderus_mem.evidence.provenance import WhyNode
    from thunderus_mem.memory import Memory
    from thunderus_mem.model.diagnostic import Diagnostic
    from thunderus_mem.store.events import LoggedEvent


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
    """Events, newest first. ``left_out`` counts the older ones that the limit cut."""

    events: tuple[LogEntry, ...]
    left_out: int


def log(memory: Memory, id: str | None = None, *, limit: int = 50) -> LogListing:
    """What happened to a document, or to the whole memory, newest first."""
    return events_list(memory, document=id, limit=limit)


def events_list(
    memory: Memory, *, document: str | None = None, kinds: Collection[str] = (), limit: int = 50
) -> LogListing:
    """Events that pass the filters, newest first."""
    names = _names(memory, document) if document is not None else frozenset()
    logged = [
        entry.event
        for entry in reversed(memory.log.read_all().events)
        if (not names or not names.isdisjoint(document_ids(entry.event)))
        and (not kinds or entry.event.kind in kinds)
    ]
    if not logged and names == {document} and memory.index.get(document or "") is None:
        raise NotFound(f"no document and no event has the id {document!r}")
    return LogListing(tuple(map(_entry, logged[:limit])), max(0, len(logged) - limit))


def _names(memory: Memory, given: str) -> frozenset[str]:
    """The id meant and those the document had; a removed one is known to the log alone, by its id."""
    memory.refresh()
    try:
        row = find_row(memory, given)
    except NotFound:
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
        op=str(body.get("op", "")),
        doc_ids=document_ids(event),
        why=event.why,
        text=str(body.get("text", "")),
        session_id=event.session_id,
    )


@dataclass(frozen=True, slots=True)
class ShownEvent:
    """One event whole, and the place of its line."""

    shard: str
    line: int
    event: dict[str, Any]
    diffs: tuple[str, ...]


def events_show(memory: Memory, event_id: str) -> ShownEvent:
    """The event that has an id or is the only one to begin with it."""
    import json

    found = [entry for entry in memory.log.read_all().events if _is_meant(event_id, entry.event)]
    if not found:
        raise NotFound(f"no event has the id {event_id!r}", hint="`thunderus-mem events list` shows them")
    if len(found) > 1:
        names = ", ".join(entry.event.id for entry in found[:5])
        raise InvalidDocument(f"{event_id!r} is the beginning of {len(found)} ids", hint=f"one of: {names}")
    entry: LoggedEvent = found[0]
    diffs = tuple(change.diff for change in changes_of(entry.event) if change.diff)
    return ShownEvent(entry.shard, entry.line, json.loads(entry.event.raw), diffs)


def _is_meant(given: str, event: Event) -> bool:
    return event.id.lower().startswith(given.lower()) or event.id.lower().startswith(f"evt_{given.lower()}")


@dataclass(frozen=True, slots=True)
class VerifyReport:
    """What the log is worth: how much was read, and every damage."""

    shards: int
    events: int
    diagnostics: tuple[Diagnostic, ...]


def events_verify(memory: Memory) -> VerifyReport:
    """Check every shard: each line against the schema, each chain, each end. Repairs nothing."""
    from thunderus_mem.verbs.surveying import log_findings

    read = memory.log.read_all()
    findings = tuple(sorted(log_findings(memory), key=lambda finding: finding.sort_key))
    return VerifyReport(len(memory.log.shards()), len(read.events), findings)


@dataclass(frozen=True, slots=True)
class WhyReport:
    """Where a document comes from, as a tree: document, events, session, patch, commits."""

    id: str
    tree: WhyNode


def why(memory: Memory, id: str) -> WhyReport:
    """Explain a document by the log and by git."""
    from thunderus_mem.evidence.provenance import why as explained
    from thunderus_mem.verbs.locating import find_document

    memory.refresh()
    document = find_document(memory, id)
    return WhyReport(document.id, explained(document, memory.log, memory.git))
