"""The format `thunderus`: session logs of Thunderus, one JSON object per line.

An imported log is exported unchanged. From our own log, the committed events become events of Thunderus: each
change of a document is a ``memory-update``; notes have no counterpart.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from thunderus_mem.errors import InvalidDocument
from thunderus_mem.index.log import read
from thunderus_mem.interop.events import LOGGED_TYPES, events_add, read_brought, restored
from thunderus_mem.interop.formats import FormatField
from thunderus_mem.interop.thunderus_events import FIELDS, NO_ITEMS, NOTHING, PATH, PATHS, event_of
from thunderus_mem.interop.transfer import RefusedRecord, TransferReport
from thunderus_mem.log.event import changes_of, text_in, texts_in
from thunderus_mem.log.imported import is_imported, origin_of

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterator

    from thunderus_mem.interop.events import RefusedLine
    from thunderus_mem.interop.export import Tally
    from thunderus_mem.log.line import Event
    from thunderus_mem.memory.memory import Memory

_OPERATIONS: Final = {"create": "create", "remove": "delete"}
_TEXTS: Final = ("tool", "command", "working_dir", "label", "description")
_TIERS: Final = ("core", "semantic", "procedural", "episodic")
_WHERE: Final = {
    PATHS: "refs.paths",
    PATH: "refs.paths",
    NOTHING: "body.thunderus",
    NO_ITEMS: "body.thunderus",
}


class SessionLog:
    """Reads and writes such logs."""

    fields = tuple(
        FormatField(f"{type}: {key}", _WHERE.get(where, f"body.{where}"), "event", "kept", "")
        for type, keys in FIELDS.items()
        for key, where in keys.items()
    )

    def take(self, memory: Memory, data: bytes, source: str, why: str, *, dry_run: bool) -> TransferReport:
        """Add the events of a log; they are private to this working tree."""
        _refuse_queue(data)
        if dry_run:
            brought, refused = read_brought(data)
            return _report(source, len(brought), 0, refused, dry_run=True)
        done = events_add(memory, data, why=why)
        return _report(source, len(done.added), len(done.known), done.refused)

    def problems(self, data: bytes) -> tuple[int, list[RefusedRecord]]:
        """The number of lines, and what is wrong with some."""
        _refuse_queue(data)
        brought, refused = read_brought(data)
        found = _refused(refused)
        for one in brought:
            type = one.origin.get("type")
            if type not in LOGGED_TYPES:
                found.append(RefusedRecord(one.line - 1, one.id, f"unknown type of event {type!r}", one.line))
        return len(brought) + len(refused), found

    def pieces(self, memory: Memory, tally: Tally) -> Iterator[str]:
        """Yield the lines, session by session; lost are the kinds of events without a counterpart."""
        memory.refresh()
        sessions: dict[str, list[tuple[int, str]]] = {}
        batches = memory.log_index().in_order(since="")
        for logged in read(memory.log, [row for batch in batches for row in batch]):
            event = logged.event
            if is_imported(event):
                _add_imported(sessions, event)
            elif not memory.log.is_private(logged.shard):
                _add_own(sessions, event, tally.lost)
        for lines in sessions.values():
            tally.exported += len(lines)
            yield from (line for _, line in sorted(lines, key=lambda one: one[0]))


def _refuse_queue(data: bytes) -> None:
    if (
        b'"memory_patches"' in data
        and b'"applied_patches"' in data
        and b'"seq"' not in data.partition(b"[")[0]
    ):
        raise InvalidDocument(
            "this is a patch queue, not a session log", hint="use the format `thunderus-queue`"
        )


def _report(
    source: str, imported: int, unchanged: int, refused: tuple[RefusedLine, ...], *, dry_run: bool = False
) -> TransferReport:
    found = tuple(_refused(refused))
    return TransferReport("thunderus", source, imported, 0, unchanged, (), found, {}, {}, dry_run=dry_run)


def _refused(refused: tuple[RefusedLine, ...]) -> list[RefusedRecord]:
    return [RefusedRecord(one.line - 1, "", one.reason, one.line) for one in refused]


def _add_imported(sessions: dict[str, list[tuple[int, str]]], event: Event) -> None:
    session, id = origin_of(event)
    type = text_in(event.origin, "type")
    number = id.removeprefix("evt_")
    lines = sessions.setdefault(session, [])
    if not (session and type and number.isascii() and number.isdigit()):
        lines.append((len(lines), _in_base_shape(event, type)))
        return
    theirs = event_of(type, event.body, texts_in(event.refs, "paths"))
    lines.append((int(number), _line(int(number), session, event.ts, theirs)))


def _in_base_shape(event: Event, type: str) -> str:
    """A line in the shape of the seed, with the kind that it had there."""
    data = {key: value for key, value in restored(event).items() if key != "origin"}
    kind = {"kind": type} if type else {}
    return json.dumps({**data, **kind}, ensure_ascii=False, separators=(",", ":")) + "\n"


def _add_own(sessions: dict[str, list[tuple[int, str]]], event: Event, lost: Counter[str]) -> None:
    found = _as_theirs(event)
    if not found:
        lost[event.kind] += 1
    for theirs in found:
        lines = sessions.setdefault(event.session_id, [])
        number = len(lines)
        lines.append((number, _line(number, event.session_id, f"{event.ts[:19]}Z", theirs)))


def _as_theirs(event: Event) -> list[dict[str, Any]]:
    body = event.body
    if event.kind == "patch":
        return [
            {
                "type": "memory-update",
                "kind": next((tier for tier in _TIERS if f"/memory/{tier}/" in one.path), "semantic"),
                "path": one.path,
                "operation": _OPERATIONS.get(one.op, "update"),
                "content_hash": one.after.removeprefix("sha256:"),
            }
            for one in changes_of(event)
            if one.op != "aborted"
        ]
    if event.kind == "message":
        is_model = body.get("role") in ("assistant", "agent", "model")
        return [event_of("model-message" if is_model else "user-message", body, [])]
    if event.kind == "approval":
        approved = body.get("approved", body.get("status") in (None, "approved"))
        return [{"type": "approval", "action": text_in(body, "action"), "approved": approved is True}]
    if event.kind == "tool_result" and not text_in(body, "command"):
        success = body.get("success", True) is True
        return [event_of("tool-result", {**body, "tool": text_in(body, "tool"), "success": success}, [])]
    names = {"tool_call": "tool-call", "tool_result": "shell-command", "snapshot": "checkpoint"}
    return [_complete(event_of(names[event.kind], body, []))] if event.kind in names else []


def _complete(theirs: dict[str, Any]) -> dict[str, Any]:
    """Thunderus cannot read a log in which one of these is null."""
    return {key: "" if value is None and key in _TEXTS else value for key, value in theirs.items()}


def _line(number: int, session: str, ts: str, theirs: dict[str, Any]) -> str:
    data = {"seq": number, "session_id": session, "timestamp": ts, "event": theirs}
    return json.dumps(data, ensure_ascii=False, separators=(",", ":")) + "\n"


LOG: Final = SessionLog()
