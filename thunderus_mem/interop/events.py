"""Add events from other programs to the log (`events add`), and export the log (`events export`).

Input: JSON Lines in the seed's base format, or in the format of Thunderus's own log. A line with an id or a
session was logged by another program and is imported: its id here is derived from both, and the originals are
in ``origin``. A type outside the seven kinds becomes the nearest kind; events of Thunderus's harness (files
read, plans) become a ``tool_result`` of a tool of that name. Output: JSON Lines, or PROV-JSON.

Reading is pure; `events_add` writes through a transaction, `Export` reads the log and writes one file.
"""

from __future__ import annotations

import json
import os
import shlex
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from thunderus_mem.document.schema import EVENT, check
from thunderus_mem.document.timestamp import parse_timestamp, utc_key
from thunderus_mem.errors import InvalidDocument, InvalidQuery, NotFound, Refused
from thunderus_mem.history.log import events_of, names_of_document
from thunderus_mem.index.log import read
from thunderus_mem.interop.prov import prov_text
from thunderus_mem.interop.thunderus_events import REST, rest_of
from thunderus_mem.log.imported import imported_id, is_imported, origin_of
from thunderus_mem.log.line import ACTORS, KINDS, MAX_LINE, encode, parse_object, secret_in
from thunderus_mem.log.new_event import EventContext, make_event
from thunderus_mem.memory.locate import find_row
from thunderus_mem.memory.records import UserRecords
from thunderus_mem.memory.transaction import open_transaction
from thunderus_mem.recap.events import is_inside
from thunderus_mem.safety.secrets import find_secrets, redacted_data
from thunderus_mem.search.query import filter_value
from thunderus_mem.startup import NamedTuple, lazy_pattern
from thunderus_mem.store.files import replace_file

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from thunderus_mem.log.line import Event
    from thunderus_mem.log.shard import LoggedEvent
    from thunderus_mem.memory.memory import Memory


class Translated(NamedTuple):
    """A converted event: kind, actor, body, and the paths it refers to."""

    kind: str
    actor: str
    body: dict[str, Any]
    paths: list[str]


def _text(event: Mapping[str, Any], key: str) -> str:
    value = event.get(key)
    if not isinstance(value, str):
        raise ValueError(f'"event.{key}" is missing or not a string')  # noqa: TRY004
    return value


def _texts(event: Mapping[str, Any], key: str) -> list[str]:
    value = event.get(key) or []
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise ValueError(f'"event.{key}" is not a list of strings')
    return value


def _message(actor: str, role: str) -> Callable[[Mapping[str, Any]], Translated]:
    return lambda event: Translated("message", actor, {"role": role, "text": _text(event, "content")}, [])


def _tool_call(event: Mapping[str, Any]) -> Translated:
    body = {"tool": _text(event, "tool"), "arguments": event.get("arguments")}
    return Translated("tool_call", "agent", body, [])


def _flag(event: Mapping[str, Any], key: str) -> bool:
    value = event.get(key)
    if not isinstance(value, bool):
        raise ValueError(f'"event.{key}" is missing or not a boolean')  # noqa: TRY004
    return value


def _tool_result(event: Mapping[str, Any]) -> Translated:
    success = _flag(event, "success")
    body = {"tool": _text(event, "tool"), "success": success, "result": event.get("result")}
    if event.get("error") is not None:
        body["error"] = _text(event, "error")
    return Translated("tool_result", "tool", body, [])


def _shell_command(event: Mapping[str, Any]) -> Translated:
    words = [_text(event, "command"), *map(shlex.quote, _texts(event, "args"))]
    body: dict[str, Any] = {"tool": "shell", "command": " ".join(words)}
    code = event.get("exit_code")
    if isinstance(code, int) and not isinstance(code, bool):
        body |= {"exit_code": code, "success": code == 0}
    elif code is not None:
        raise ValueError('"event.exit_code" is not an integer')
    return Translated("tool_result", "tool", body, [])


def _approval(event: Mapping[str, Any]) -> Translated:
    body = {"action": _text(event, "action"), "approved": _flag(event, "approved")}
    return Translated("approval", "user", body, [])


def _patch(event: Mapping[str, Any]) -> Translated:
    body = {"name": event.get("name"), "status": _text(event, "status"), "diff": event.get("diff")}
    return Translated("patch", "agent", body, _texts(event, "files"))


def _snapshot(event: Mapping[str, Any]) -> Translated:
    body = {key: event[key] for key in _STATE if key in event}
    if isinstance(event.get("changed_files"), int):  # their number
        return Translated("snapshot", "tool", {**body, "changed_files": event["changed_files"]}, [])
    return Translated("snapshot", "tool", body, _texts(event, "changed_files"))


_STATE: Final = ("commit", "branch", "label", "description", "snapshot_id")
_KEPT: Final = {
    "file-read": ("line_count", "offset"),
    "approval-mode-change": ("from", "to"),
    "view-edit": ("view", "change_type"),
    "context-load": ("source", "content_hash"),
    "plan-update": ("action", "item", "reason"),
    "memory-update": ("kind", "operation", "content_hash"),
}
"""Keys kept from events about the harness itself; their paths are kept as references."""


def _of_harness(event: Mapping[str, Any]) -> Translated:
    name = event["type"]
    body: dict[str, Any] = {"tool": name, "result": {key: event[key] for key in _KEPT[name] if key in event}}
    if isinstance(event.get("success"), bool):
        body["success"] = event["success"]
    paths = [path for key in ("file_path", "path") if isinstance(path := event.get(key), str)]
    actor = "user" if name in ("view-edit", "approval-mode-change") else "tool"
    return Translated("tool_result", actor, body, paths)


_READERS: Final[dict[str, Callable[[Mapping[str, Any]], Translated]]] = {
    "user-message": _message("user", "user"),
    "model-message": _message("agent", "assistant"),
    "tool-call": _tool_call,
    "tool-result": _tool_result,
    "approval": _approval,
    "patch": _patch,
    "shell-command": _shell_command,
    "git-snapshot": _snapshot,
    "checkpoint": _snapshot,
} | dict.fromkeys(_KEPT, _of_harness)


def _of_unknown_type(event: Mapping[str, Any]) -> Translated:
    return Translated("note", "tool", {key: value for key, value in event.items() if key != "type"}, [])


LOGGED_TYPES: Final = tuple(_READERS)
"""The known event types of Thunderus's log; any other type becomes a note."""


OWN_KINDS: Final = ("message", "tool_call", "tool_result", "note")
"""Kinds of events that can be added as our own; commands log the other kinds themselves."""
MAX_INPUT: Final = 256 << 20
"""Maximum number of bytes of all lines."""

_ROOM: Final = 4_096  # what an event's own keys may add to a line
_KNOWN: Final = frozenset(
    (
        *("v", "id", "ts", "session_id", "actor", "kind", "refs", "body", "why", "origin", "episode_id"),
        *("prev", "head", "heads"),
    )
)
_MOST_REFS: Final = 1_000


class Brought(NamedTuple):
    """One event to add. ``line`` counts from 1; ``ts`` is "" if missing.

    ``refs`` contains ``paths`` and ``memory_doc_ids``, and the ids of a patch or snapshot if given. Of an
    imported event ``origin`` is where it comes from, and ``id`` is derived from that if it had an id; both
    are empty for our own.
    """

    line: int
    kind: str
    actor: str
    body: dict[str, Any]
    refs: dict[str, Any]
    id: str = ""
    ts: str = ""
    why: str = ""
    origin: Mapping[str, Any] = MappingProxyType({})


class RefusedLine(NamedTuple):
    """A line of the input that was not added, from 1, and the reason."""

    line: int
    reason: str


def read_brought(data: bytes) -> tuple[tuple[Brought, ...], tuple[RefusedLine, ...]]:
    """Parse the events in ``data``: one JSON object, or one per line; blank lines are ignored.

    Raises `InvalidDocument` if there are none, or too many.
    """
    if len(data) > MAX_INPUT:
        raise InvalidDocument(
            f"the input is larger than {MAX_INPUT >> 20} MiB", hint="add the events in several parts"
        )
    found, refused = [], []
    for number, line in _objects(data):
        try:
            found.append(_read(number, line))
        except ValueError as reason:
            refused.append(RefusedLine(number, str(reason)))
    if not found and not refused:
        raise InvalidDocument("no events to add", hint="give JSON Lines on stdin, or --kind and --body")
    return tuple(found), tuple(refused)


def _objects(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Each line with its number; an object that spans several lines counts as one."""
    data = data.removeprefix(b"\xef\xbb\xbf")
    lines = [(number, line) for number, line in enumerate(data.split(b"\n"), 1) if line.strip()]
    if len(lines) > 1 and lines[0][1].strip() in (b"{", b"{\r") and lines[-1][1].strip() == b"}":
        yield lines[0][0], data.strip()
        return
    yield from ((number, line.strip()) for number, line in lines)


def _read(number: int, line: bytes) -> Brought:
    data = parse_object(line, MAX_LINE - _ROOM)
    return _logged(number, data) if "event" in data else _of_base_shape(number, data)


def _no_choice(key: str, value: object, choices: Iterable[str]) -> str:
    shown = (
        f"unknown {key} {value[:40]!r}" if isinstance(value, str) else f'"{key}" is missing or not a string'
    )
    return f"{shown}; use one of: {', '.join(choices)}"


def _of_base_shape(number: int, data: Mapping[str, Any]) -> Brought:
    named, session, id = (_word(data, key) for key in ("kind", "session_id", "id"))
    imported = bool(session or id)
    kind = _nearest(named) if imported else named
    if not imported and kind not in OWN_KINDS:
        problem = _no_choice("kind", data.get("kind"), OWN_KINDS)
        raise ValueError(f'{problem}; another kind needs the "id" or "session_id" of its log')
    if unknown := sorted(set(data) - _KNOWN):
        raise ValueError(f'unknown key "{unknown[0][:40]}"')
    version = data.get("v", 1)
    if version is True or version != 1:
        raise ValueError('"v" is not 1')
    body = data.get("body")
    if not isinstance(body, dict):
        raise ValueError('"body" is missing or not an object')  # noqa: TRY004
    body = _without_floats(body)
    if isinstance(episode := data.get("episode_id"), str) and episode:
        body = {"episode_id": episode, **body}
    actor = data.get("actor") or _actor_of(kind, body) or ("user" if imported else "")
    if actor and actor not in ACTORS:
        raise ValueError(_no_choice("actor", actor, ACTORS))
    return Brought(
        line=number,
        kind=kind,
        actor=actor,
        body=body,
        refs=_refs(data.get("refs")),
        id=imported_id(session, id) if id else "",
        ts=_time(data.get("ts")),
        why=_word(data, "why"),
        origin=_origin(session, id, _original_type(data, kind)) if imported else {},
    )


def _nearest(named: str) -> str:
    """The kind that is nearest to the kind of an event of another program."""
    kind = named.replace("-", "_")
    if not kind:
        raise ValueError('"kind" is missing')
    return kind if kind in KINDS else "note"


def _original_type(data: Mapping[str, Any], kind: str) -> str:
    """The type of a line in the log it comes from, if it is not the kind; an export has it in ``origin``."""
    before = data.get("origin")
    known = before.get("type") if isinstance(before, dict) else None
    if isinstance(known, str):
        return known
    return data["kind"] if data["kind"] != kind else ""


def _origin(session: str, id: str, type: str) -> dict[str, Any]:
    named = {"id": id, "session": session, "type": type}
    return {**{key: value for key, value in named.items() if value}, "imported": True}


def _logged(number: int, data: Mapping[str, Any]) -> Brought:
    """A line of Thunderus's own log: ``{seq, session_id, timestamp, event: {type, …}}``."""
    event, seq = data["event"], data.get("seq")
    if not isinstance(event, dict) or not _word(event, "type"):
        raise ValueError('"event" is not an object with a "type"')
    if isinstance(seq, bool) or not isinstance(seq, int) or seq < 0:
        raise ValueError('"seq" is not a non-negative integer')
    session, ts = _word(data, "session_id"), _time(data.get("timestamp"))
    if not session or not ts:
        raise ValueError('"session_id" or "timestamp" is missing')
    kind, actor, body, paths = _READERS.get(event["type"], _of_unknown_type)(event)
    refs, body = _refs({"paths": paths}), _without_floats(body)
    rest = rest_of(event, body, refs["paths"])
    if rest and not find_secrets(rest):
        body[REST] = rest
    id = f"evt_{seq}"
    return Brought(
        line=number,
        kind=kind,
        actor=actor,
        body=body,
        refs=refs,
        id=imported_id(session, id),
        ts=ts,
        origin=_origin(session, id, event["type"]),
    )


def _actor_of(kind: str, body: Mapping[str, Any]) -> str:
    """Return who sends such an event; "" for a note, which is by whoever adds it."""
    if kind == "message":
        return "agent" if body.get("role") in ("assistant", "agent", "model") else "user"
    return {"tool_call": "agent", "tool_result": "tool"}.get(kind, "")


def _word(data: Mapping[str, Any], key: str) -> str:
    value = data.get(key)
    if value is None:
        return ""
    if not isinstance(value, str) or len(value) > 1_000:
        raise ValueError(f'"{key}" is not a string of at most 1,000 characters')
    return value


def _time(value: Any) -> str:
    if value is None:
        return ""
    if not isinstance(value, str) or parse_timestamp(value) is None:
        raise ValueError("the time is not in RFC 3339 format")
    return value


def _refs(given: Any) -> dict[str, Any]:
    """Paths, documents, patch and snapshot that an event refers to; paths outside the root are dropped."""
    if given is None:
        given = {}
    if not isinstance(given, dict):
        raise ValueError('"refs" is not an object')  # noqa: TRY004
    found: dict[str, Any] = {key: id for key in ("patch_id", "snapshot_id") if (id := _word(given, key))}
    for key in ("paths", "memory_doc_ids"):
        listed = given.get(key) or []
        if not isinstance(listed, list) or not all(isinstance(item, str) for item in listed):
            raise ValueError(f'"refs.{key}" is not a list of strings')
        if len(listed) > _MOST_REFS:
            raise ValueError(f'"refs.{key}" has more than {_MOST_REFS:,} items')
        found[key] = list(dict.fromkeys(item for item in listed if item))
    found["paths"] = [path for path in found["paths"] if is_inside(path)]
    return found


def _without_floats(value: Any) -> Any:
    """Convert floating-point numbers to strings: events do not contain them."""
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, dict):
        return {key: _without_floats(item) for key, item in value.items()}
    return [_without_floats(item) for item in value] if isinstance(value, list) else value


class AddedEvents(NamedTuple):
    """The ids of added events; those already ``known`` were skipped. ``private`` is the number of those in
    the private shard, ``refused`` are the lines that were not added."""

    added: tuple[str, ...]
    known: tuple[str, ...] = ()
    private: int = 0
    refused: tuple[RefusedLine, ...] = ()


def given_event(kind: str, text: str, *, actor: str = "", about: Sequence[str] = ()) -> Brought:
    """One event from the command line: a message or note, or for a tool the command that was run.

    ``about`` are documents, by id or file path. Raises `InvalidDocument` for any other kind, or an empty
    text.
    """
    if kind not in OWN_KINDS:
        raise InvalidDocument(
            f"events of kind {kind!r} cannot be added", hint=f"use one of: {', '.join(OWN_KINDS)}"
        )
    if not text.strip():
        raise InvalidDocument("the event is empty", hint="give --body TEXT")
    body: dict[str, Any] = {"text": text}
    if kind == "tool_call":
        body = {"tool": "shell", "arguments": {"command": text}}
    elif kind == "tool_result":
        body = {"tool": "shell", "command": text}
    return Brought(1, kind, actor or _actor_of(kind, {}), body, {"paths": [], "memory_doc_ids": list(about)})


def events_add(memory: Memory, given: bytes | Brought, *, why: str = "", share: bool = False) -> AddedEvents:
    """Add events to the log: one, or those of JSON Lines, without the lines that are refused.

    Kinds in ``events.private`` go to the private shard of this working tree, the others to the shared one;
    imported events go to the private one unless ``share``. An imported event that is already in the log is
    skipped. Raises `InvalidDocument` for an invalid event, `Refused` for one with a possible secret.
    """
    if isinstance(given, Brought):
        given = _signed(given, memory)
        _check(given)
        return _add(memory, (given,), why, share=share, named=True)
    brought, refused = read_brought(given)
    fit = []
    for one in (_signed(one, memory) for one in brought):
        try:
            _check(one)
            fit.append(one)
        except (InvalidDocument, Refused) as error:
            refused += (RefusedLine(one.line, str(error)),)
    chosen, doubled = _distinct(fit)
    done = _add(memory, chosen, why, share=share) if chosen else AddedEvents(())
    return done._replace(refused=tuple(sorted((*refused, *doubled))))


def _signed(one: Brought, memory: Memory) -> Brought:
    """Return the event; if it names no actor, the one who adds it."""
    return one if one.actor else one._replace(actor=memory.actor)


def _distinct(brought: Iterable[Brought]) -> tuple[list[Brought], list[RefusedLine]]:
    """The events, each id once; a line whose id is that of another event is refused."""
    chosen, refused = [], []
    first: dict[str, Brought] = {}
    for one in brought:
        earlier = first.setdefault(one.id, one) if one.id else one
        if earlier is one:
            chosen.append(one)
        elif earlier._replace(line=one.line) != one:
            refused.append(RefusedLine(one.line, f"line {earlier.line} has the same id, with other content"))
    return chosen, refused


def _add(
    memory: Memory, brought: Sequence[Brought], why: str, *, share: bool, named: bool = False
) -> AddedEvents:
    """Append the events; those of a command line may name documents by prefix or path (``named``)."""
    with open_transaction(memory, "events add") as transaction:
        if named:
            brought = [_located(memory, one) for one in brought]
        known = _known(memory, brought)
        fresh = [one for one in brought if one.id not in known]
        private: list[Callable[[EventContext], Event]] = []
        shared: list[Callable[[EventContext], Event]] = []
        for one in fresh:
            local = one.kind in memory.config.events_private or (one.origin and not share)
            (private if local else shared).append(_maker(one, one.id or memory.new_id("evt"), why))
        # Private events first: they are one large write, which is more likely to fail on a full disk.
        ids = transaction.log_private(private) if private else []
        ids += [transaction.log(make) for make in shared]
    return AddedEvents(tuple(ids), tuple(sorted(known)), len(private))


def _located(memory: Memory, one: Brought) -> Brought:
    """Return the event with the ids of the documents it is about. Raises `NotFound` for an unknown one."""
    ids = (find_row(memory, given).id for given in one.refs["memory_doc_ids"])
    return one._replace(refs={**one.refs, "memory_doc_ids": list(dict.fromkeys(ids))})


def _known(memory: Memory, brought: Iterable[Brought]) -> set[str]:
    """The ids of events already in the log: imported before, or exported from this log."""
    ids = {(one.origin.get("session", ""), one.origin["id"]): one.id for one in brought if one.id}
    index = memory.log_index()
    here = index.known(id for _, id in ids)
    logged = read(memory.log, index.naming((), here)) if here else []
    exported = {(origin_of(one.event)[0] or one.event.session_id, one.event.id) for one in logged}
    return index.known(ids.values()) | {ids[key] for key in exported & ids.keys()}


def _maker(one: Brought, id: str, why: str) -> Callable[[EventContext], Event]:
    def make(context: EventContext) -> Event:
        kept = context._replace(origin=one.origin or context.origin, ts=one.ts or context.ts)
        refs = {**_named_after(one.kind, id), **one.refs}
        return make_event(kept, one.kind, one.body, id=id, actor=one.actor, refs=refs, why=one.why or why)

    return make


def _named_after(kind: str, id: str) -> dict[str, str]:
    """The id that a patch or snapshot must have, made from that of its event."""
    ref, prefix = {"patch": ("patch_id", "patch_"), "snapshot": ("snapshot_id", "snap_")}.get(kind, ("", ""))
    return {ref: prefix + id.removeprefix("evt_")} if ref else {}


_LIKE_ANY: Final = EventContext("2026-01-21T09:00:00.000Z", "sess_0")


def _check(one: Brought) -> None:
    """Check that an event has no secret, can be encoded and matches the schema; raise if not."""
    places = {"body": one.body, "refs": one.refs, "why": one.why, "origin": dict(one.origin)}
    for place, value in places.items():
        if found := secret_in(value, place):
            raise Refused(
                f"possible secret in {found[0]} ({found[1]})",
                hint="write where the secret is stored instead of the secret",
            )
    try:
        line = encode(_maker(one, one.id or "evt_0", "")(_LIKE_ANY))
    except ValueError as reason:
        raise InvalidDocument(str(reason)) from reason
    for violation in check(EVENT, json.loads(line)):
        raise InvalidDocument(
            violation.message.rstrip("."), hint="run `thunderus-mem config schemas events` to see the format"
        )


JSONL, PROV = "jsonl", "prov-json"
FORMATS = (JSONL, PROV)
_ESCAPES = lazy_pattern(r"\\(?:u[0-9a-fA-F]{4}|.)")


@dataclass(frozen=True, slots=True)
class Exported:
    """The result of an export: the ``file`` written, or the ``text``. ``private`` is the number of private
    events not exported, ``damaged`` the number of unreadable lines of the log."""

    file: str
    format: str
    events: int
    private: int
    damaged: int
    text: str = ""


class Export:
    """The events that match the filters, in the order of the log; counted as they are read.

    Private events are included only with ``private``, those of a ``user`` only with that, and then no others.
    Raises `InvalidQuery` for an invalid day or unknown format, `NotFound` for a document without events.
    """

    def __init__(
        self,
        memory: Memory,
        *,
        form: str = JSONL,
        document: str | None = None,
        kinds: Collection[str] = (),
        since: str = "",
        private: bool = False,
        user: str = "",
    ) -> None:
        if form not in FORMATS:
            raise InvalidQuery(f"unknown format {form!r}", hint=f"use one of: {', '.join(FORMATS)}")
        first = filter_value("since", since, memory.now) if since else ""
        self._log = memory.log
        self._with_private = private or bool(user)
        if user:
            reading = UserRecords(memory, user).read_all()
            self._events = iter([one for one in reading.events if _chosen(one.event, kinds, first)])
            self._damaged = len(reading.damages)
        else:
            wanted = names_of_document(memory, document) if document is not None else None
            self._events = events_of(memory, doc_ids=wanted or (), kinds=kinds, since=first)
            self._damaged = memory.log_index().damages()
        self._form = form
        self.count = 0
        self.left_out = 0

    def pieces(self) -> Iterator[str]:
        """The text, piece by piece."""
        if self._form == PROV:
            yield prov_text(logged.event for logged in self._read())
            return
        for logged in self._read():
            yield _line(logged)

    def _read(self) -> Iterator[LoggedEvent]:
        for logged in self._events:
            if self._log.is_private(logged.shard) and not self._with_private:
                self.left_out += 1
                continue
            self.count += 1
            yield logged

    def write(self, memory: Memory, path: str) -> Exported:
        """Write the export to the file ``path`` (absolute), atomically."""
        _check_target(memory, path)
        replace_file(path, (piece.encode("utf-8", "replace") for piece in self.pieces()))
        return self.done(path)

    def done(self, path: str = "") -> Exported:
        """The result so far."""
        return Exported(path, self._form, self.count, self.left_out, self._damaged)


def _chosen(event: Event, kinds: Collection[str], since: str) -> bool:
    return (not kinds or event.kind in kinds) and utc_key(event.ts) >= since


def _line(logged: LoggedEvent) -> str:
    """An event with its location as one line: its original text, unless it contains a possible secret; an
    imported one with its original id and session."""
    head = json.dumps({"shard": logged.shard, "line": logged.line}, ensure_ascii=False)[:-1]
    raw = logged.event.raw.decode("utf-8", "replace")
    if is_imported(logged.event):
        raw = json.dumps(restored(logged.event), ensure_ascii=False, separators=(",", ":"))
    if find_secrets(_ESCAPES.sub(" ", raw)):
        data: Any = redacted_data(json.loads(raw))
        raw = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
        head += ', "redacted": true'
    return f'{head}, "event": {raw}}}\n'


def restored(event: Event) -> dict[str, Any]:
    """An imported event with its original id and session, outside the chain of our log."""
    session, id = origin_of(event)
    ours = {"prev", "head", "heads", *(() if session else ("session_id",))}
    data = {key: value for key, value in json.loads(event.raw).items() if key not in ours}
    return {**data, "id": id or event.id, **({"session_id": session} if session else {})}


def _check_target(memory: Memory, path: str) -> None:
    folder = os.path.dirname(path)
    if not os.path.isdir(folder):
        raise NotFound(f"folder {folder!r} does not exist", hint="create it first, or choose another file")
    store = os.path.realpath(memory.layout.store)
    if os.path.commonpath([os.path.realpath(folder), store]) == store:
        raise Refused(f"{path} is inside the store", hint="export to a file outside .thunderus")
