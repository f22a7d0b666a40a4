"""List events of a document or of all, show single events, check the log, and trace a document's events."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, Final

from thunderus_mem.diagnostic import Diagnostic, Severity
from thunderus_mem.document.schema import EVENT, is_valid_fast
from thunderus_mem.document.schema import check as check_schema
from thunderus_mem.errors import InvalidDocument, NotFound
from thunderus_mem.git.commits import base_to_compare
from thunderus_mem.git.history import bytes_before, bytes_since
from thunderus_mem.history.marks import COMMITTED_LOG, marks_of
from thunderus_mem.index.log import read
from thunderus_mem.log.event import changes_of, document_ids, text_in
from thunderus_mem.log.shard import GitVersion, LogCheck
from thunderus_mem.log.transitions import past_of
from thunderus_mem.memory.locate import find_row
from thunderus_mem.memory.records import user_logs
from thunderus_mem.startup import NamedTuple
from thunderus_mem.store.paths import is_shard

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from thunderus_mem.document.document import Document
    from thunderus_mem.index.log import EventRow
    from thunderus_mem.log.line import Event
    from thunderus_mem.log.reader import EventLog
    from thunderus_mem.log.shard import LoggedEvent
    from thunderus_mem.log.transitions import DocumentPast
    from thunderus_mem.memory.memory import Memory

SHORT_COMMIT: Final = 12


_MOST_DOCUMENTS: Final = 5
"""Maximum number of documents in a log entry: an import has hundreds."""


class LogEntry(NamedTuple):
    """One event in one line: when, who, what, about which documents, and why.

    ``doc_ids`` are the first documents, ``more_documents`` the number of others; `events_show` has all.
    ``mark`` is altered (its line failed a check), unchained, imported, or "".
    """

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
    mark: str = ""
    more_documents: int | None = None


class LogListing(NamedTuple):
    """Events, newest first. ``left_out`` is the number of older ones not shown, ``damaged`` the number of
    unreadable lines of the log."""

    events: tuple[LogEntry, ...]
    left_out: int
    damaged: int = 0


HISTORY: Final = ("patch", "approval", "note")
"""The kinds of events that are the history of the memory: changes, reviews and remarks."""


def log(
    memory: Memory, document: str | None = None, *, kinds: Collection[str] = (), limit: int = 50
) -> LogListing:
    """The events of a document, or of the whole memory, of these kinds or of all, newest first."""
    wanted = names_of_document(memory, document) if document is not None else frozenset()
    index = memory.log_index()
    rows = index.newest(limit, kinds=kinds, doc_ids=wanted)
    logged = read(memory.log, rows)
    marks = marks_of(memory, logged)
    listed = tuple(_entry(one.event, marks.get(one.event.id, "")) for one in logged)
    left_out = index.total(kinds=kinds, doc_ids=wanted) - len(rows) if len(rows) == limit else 0
    return LogListing(listed, left_out, index.damages())


def events_of(
    memory: Memory, *, doc_ids: Collection[str] = (), kinds: Collection[str] = (), since: str = ""
) -> Iterator[LoggedEvent]:
    """Events that match the filters, oldest first; read lazily. ``since`` is a `utc_key`."""
    for rows in memory.log_index().in_order(kinds=kinds, doc_ids=doc_ids, since=since):
        yield from read(memory.log, rows)


def names_of_document(memory: Memory, given: str) -> frozenset[str]:
    """The current and former ids of a document; for a removed one, the id in the log.

    Raises `NotFound` if there is neither.
    """
    memory.refresh()
    try:
        row = find_row(memory, given)
    except NotFound:
        if not memory.log_index().total(doc_ids=(given,)):
            raise NotFound(
                f"no document or event has the id {given!r}", hint="run `thunderus-mem list` for all ids"
            ) from None
        return frozenset((given,))
    return frozenset((row.id, *row.aliases))


def _entry(event: Event, mark: str) -> LogEntry:
    body = event.body
    ids = document_ids(event)
    return LogEntry(
        id=event.id,
        ts=event.ts,
        actor=event.actor,
        author=text_in(event.origin, "author"),
        kind=event.kind,
        op=text_in(body, "op") or text_in(body, "decision"),
        doc_ids=ids[:_MOST_DOCUMENTS],
        why=event.why,
        text=text_in(body, "text"),
        session_id=event.session_id,
        mark=mark,
        more_documents=len(ids[_MOST_DOCUMENTS:]) or None,
    )


class ShownEvent(NamedTuple):
    """A complete event, and the location of its line; ``damaged`` is the number of unreadable lines."""

    shard: str
    line: int
    event: dict[str, Any]
    diffs: tuple[str, ...]
    damaged: int = 0


def events_show(memory: Memory, event_id: str) -> ShownEvent:
    """Show the event with an id or a unique prefix of one."""
    entry = event_named(memory, event_id)
    if entry is None:
        raise NotFound(f"no event has the id {event_id!r}", hint="run `thunderus-mem log --all` to list them")
    diffs = tuple(change.diff for change in changes_of(entry.event) if change.diff)
    damaged = memory.log_index().damages()
    return ShownEvent(entry.shard, entry.line, json.loads(entry.event.raw), diffs, damaged)


def event_named(memory: Memory, given: str) -> LoggedEvent | None:
    """The event with an id or a unique prefix of one, with or without ``evt_``.

    Raises `InvalidDocument` if the prefix is ambiguous.
    """
    index = memory.log_index()
    rows = index.beginning_with(given) or index.beginning_with(f"evt_{given}")
    if len(rows) > 1:
        names = ", ".join(row.id for row in rows[:5])
        raise InvalidDocument(
            f"{given!r} is ambiguous: it matches {len(rows)} events", hint=f"use one of: {names}"
        )
    return next(iter(read(memory.log, rows)), None)


class VerifyReport(NamedTuple):
    """The result of checking the log: its shards and events, also of users, and all damage."""

    shards: int
    events: int
    diagnostics: tuple[Diagnostic, ...]


def events_verify(memory: Memory, since: str = "") -> VerifyReport:
    """Check every shard, those of users too: the schema of each line, the hash chain, the bytes that git has.
    Repairs nothing.

    With ``since``, shards must also begin with their bytes in the merge base of HEAD and this revision; those
    removed since are errors. Raises `NotFound` for an unknown revision.
    """
    logs = user_logs(memory)
    found = [*log_findings(memory, since), *(one for log in logs for one in _findings_in(memory, log, {}))]
    private = [len(reading.events) for log in logs for reading in log.readings()]
    shards, events = len(memory.log.shards()) + len(private), memory.log_index().total() + sum(private)
    return VerifyReport(shards, events, tuple(sorted(found, key=lambda finding: finding.sort_key)))


def trace(memory: Memory, document: Document) -> tuple[list[LoggedEvent], DocumentPast]:
    """The events about a document, in order, and the history derived from them; reads no other lines.

    Former ids and paths of the document are followed through the log, and through its texts.
    """
    index = memory.log_index()
    ids, paths, texts = {document.id, *document.aliases}, {document.path}, {document.hash}
    past = past_of(document, ())
    logged: list[LoggedEvent] = []
    known: set[EventRow] = set()
    while True:
        rows = {*index.about(paths, ids), *index.naming((), document.events), *index.leaving(texts)}
        if rows == known:
            return logged, past
        known = rows
        logged = read(memory.log, sorted(rows, key=lambda row: row.order))
        past = past_of(document, [entry.event for entry in logged])
        ids, paths, texts = ids | past.ids, paths.union(past.paths), texts | past.sources


def log_findings(memory: Memory, since: str = "") -> Iterator[Diagnostic]:
    """All damage in the log: lines that do not match the schema, broken chains, incomplete last lines, and
    changes of what git has, also ``since`` a revision (see `events_verify`)."""
    yield from _findings_in(memory, memory.log, _git_versions(memory, since))


def _findings_in(
    memory: Memory, log: EventLog, versions: dict[str, list[GitVersion]]
) -> Iterator[Diagnostic]:
    """All damage in a log; ``versions`` are those of its shards in git."""
    check = LogCheck()
    for done, reading in enumerate(log.readings()):
        memory.tell("Checking the log:", done, 0)
        yield from check.take(reading, log.session_of(reading.path), versions.pop(reading.path, ()))
        for logged in reading.events:
            yield from _by_schema(logged)
    yield from check.close(log.readings)
    for path, lost in versions.items():
        yield from check.take_missing(path, lost)


def _git_versions(memory: Memory, since: str) -> dict[str, list[GitVersion]]:
    """The versions of shards in git that differ from the files: in HEAD or the index, and ``since``."""
    git = memory.git
    found: dict[str, list[GitVersion]] = {}
    for path, one in (bytes_before(git, COMMITTED_LOG) if git is not None else {}).items():
        if os.path.lexists(os.path.join(memory.root, path)):
            found.setdefault(path, []).append(GitVersion(*one))
    if not since:
        return found
    if git is None:
        from thunderus_mem.git.repository import no_repository

        message = "no git repository to compare with"
        raise no_repository(memory.root, memory.environ, message=message, hint="omit --since")
    base = base_to_compare(git, since)
    older, removed = bytes_since(git, base, COMMITTED_LOG)
    for path, one in older.items():
        known = found.setdefault(path, [])
        if all(one.data != version.data for version in known):
            known.append(GitVersion(base[:SHORT_COMMIT], one.data))
    for path in filter(is_shard, removed):
        found.setdefault(path, []).append(GitVersion(base[:SHORT_COMMIT], b"", removed=True))
    return found


def _by_schema(logged: LoggedEvent) -> Iterator[Diagnostic]:
    data = json.loads(logged.event.raw)
    for violation in () if is_valid_fast(EVENT, data) else check_schema(EVENT, data):
        yield Diagnostic(
            "TM503",
            Severity.ERROR,
            logged.shard,
            logged.line,
            1,
            violation.message,
            key=violation.key,
            expected=violation.expected,
            hint="Restore the line from git; older lines are never rewritten",
        )
