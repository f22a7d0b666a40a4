"""Events that others bring: JSON lines of the seed's base shape or of Thunderus's own log, read as values.

All of it is read before any of it is believed: the first line that is no such event is an error that names
its number. Pure.
"""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from thunderus_mem.model.errors import InvalidDocument
from thunderus_mem.model.event_line import ACTORS, MAX_LINE
from thunderus_mem.model.ids import encode_ulid
from thunderus_mem.model.logged_event import LOGGED_TYPES, translated
from thunderus_mem.model.strict_json import parse_object
from thunderus_mem.model.timestamp import parse_timestamp

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["BROUGHT_KINDS", "MAX_INPUT", "Brought", "read_brought"]

BROUGHT_KINDS: Final = ("message", "tool_call", "tool_result", "note")
"""Kinds that anybody may bring; the others tell of changes that a command makes and logs itself."""
MAX_INPUT: Final = 256 << 20
"""Bytes of all lines together."""

_ROOM: Final = 4_096  # what an event's own keys may add to a line
_PLAIN_ID = re.compile(r"evt_[A-Za-z0-9._-]{1,100}", re.ASCII)
_KNOWN: Final = frozenset(
    (
        *("v", "id", "ts", "session_id", "actor", "kind", "refs", "body", "why", "origin", "head", "prev"),
        "episode_id",
    )
)
_MOST_REFS: Final = 1_000


class Brought(NamedTuple):
    """One event as it was brought. ``line`` counts from 1; ``id`` and ``ts`` are "" when it has none.

    ``session`` is the name that the bringer gives its session; ``refs`` holds ``paths`` and
    ``memory_doc_ids`` only.
    """

    line: int
    kind: str
    actor: str
    body: dict[str, Any]
    refs: dict[str, list[str]]
    id: str = ""
    ts: str = ""
    session: str = ""
    why: str = ""


def read_brought(data: bytes) -> tuple[Brought, ...]:
    """The events in ``data``: one JSON object, or one object a line; blank lines do not count.

    Raises `InvalidDocument` that names the first line that cannot be taken; nothing is taken then.
    """
    if len(data) > MAX_INPUT:
        raise InvalidDocument(
            f"the events are longer than {MAX_INPUT >> 20} MiB", hint="bring them in several parts"
        )
    found = []
    for number, line in _objects(data):
        try:
            found.append(_read(number, line))
        except ValueError as reason:
            raise InvalidDocument(
                f"line {number} is no event: {reason}; nothing was written",
                hint="mend the line; `thunderus-mem schema print events` tells what an event holds",
            ) from reason
    if not found:
        raise InvalidDocument(
            "there is no event to add", hint="give JSON lines on stdin, or --kind and --body"
        )
    return tuple(found)


def _objects(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Each line with its number; an object written over several lines counts as one."""
    data = data.removeprefix(b"\xef\xbb\xbf")
    lines = [(number, line) for number, line in enumerate(data.split(b"\n"), 1) if line.strip()]
    if len(lines) > 1 and lines[0][1].strip() in (b"{", b"{\r") and lines[-1][1].strip() == b"}":
        yield lines[0][0], data.strip()
        return
    yield from ((number, line.strip()) for number, line in lines)


def _read(number: int, line: bytes) -> Brought:
    data = parse_object(line, MAX_LINE - _ROOM)
    return _logged(number, data) if "event" in data else _of_base_shape(number, data)


def _of_base_shape(number: int, data: Mapping[str, Any]) -> Brought:
    kind = data.get("kind")
    if kind not in BROUGHT_KINDS:
        raise ValueError(f'"kind" is not one of {", ".join(BROUGHT_KINDS)}')
    if unknown := sorted(set(data) - _KNOWN):
        raise ValueError(f'"{unknown[0][:40]}" is no key of an event')
    version = data.get("v", 1)
    if version is True or version != 1:
        raise ValueError('"v" is not 1')
    body = data.get("body")
    if not isinstance(body, dict) or not body:
        raise ValueError('"body" is missing, empty or not an object')
    body = _without_floats(body)
    if isinstance(episode := data.get("episode_id"), str) and episode:
        body = {"episode_id": episode, **body}
    actor = data.get("actor") or _actor_of(str(kind), body)
    if actor not in ACTORS:
        raise ValueError(f'"actor" is not one of {", ".join(ACTORS)}')
    given = _word(data, "id")
    return Brought(
        line=number,
        kind=str(kind),
        actor=actor,
        body=body,
        refs=_refs(data.get("refs")),
        id=given if _PLAIN_ID.fullmatch(given) else _derived(given, data) if given else "",
        ts=_time(data.get("ts")),
        session=_word(data, "session_id"),
        why=_word(data, "why"),
    )


def _logged(number: int, data: Mapping[str, Any]) -> Brought:
    """A line of Thunderus's own log: ``{seq, session_id, timestamp, event: {type, …}}``."""
    event, seq = data["event"], data.get("seq")
    if not isinstance(event, dict) or not isinstance(event.get("type"), str):
        raise ValueError('"event" is not an object with a "type"')  # noqa: TRY004
    if event["type"] not in LOGGED_TYPES:
        raise ValueError(f'"{event["type"][:40]}" is not one of {", ".join(LOGGED_TYPES)}')
    if isinstance(seq, bool) or not isinstance(seq, int) or seq < 0:
        raise ValueError('"seq" is not a whole number from 0')
    session, ts = _word(data, "session_id"), _time(data.get("timestamp"))
    if not session or not ts:
        raise ValueError('"session_id" or "timestamp" is missing')
    kind, actor, body, paths = translated(event)
    return Brought(
        line=number,
        kind=kind,
        actor=actor,
        body=_without_floats(body),
        refs=_refs({"paths": paths}),
        id=_derived(f"{session}\0{seq}", {"ts": ts}),
        ts=ts,
        session=session,
    )


def _derived(name: str, data: Mapping[str, Any]) -> str:
    """An id that the same line gets whenever it is brought, so that bringing it again adds nothing."""
    moment = parse_timestamp(data["ts"]) if isinstance(data.get("ts"), str) else None
    milliseconds = max(0, int(moment.timestamp() * 1000)) if moment is not None else 0
    digest = hashlib.sha256(f"brought\0{name}".encode("utf-8", "surrogatepass")).digest()
    return "evt_" + encode_ulid(milliseconds, int.from_bytes(digest[:10]))


def _actor_of(kind: str, body: Mapping[str, Any]) -> str:
    if kind == "message":
        return "agent" if body.get("role") in ("assistant", "agent", "model") else "user"
    return {"tool_call": "agent", "tool_result": "tool"}.get(kind, "user")


def _word(data: Mapping[str, Any], key: str) -> str:
    value = data.get(key)
    if value is None:
        return ""
    if not isinstance(value, str) or len(value) > 1_000:
        raise ValueError(f'"{key}" is not a text of at most 1,000 characters')
    return value


def _time(value: Any) -> str:
    if value is None:
        return ""
    if not isinstance(value, str) or parse_timestamp(value) is None:
        raise ValueError("its time is not an RFC 3339 time")
    return value


def _refs(given: Any) -> dict[str, list[str]]:
    """Paths and documents that an event names; a path that leads out of the root names nothing here."""
    if given is None:
        given = {}
    if not isinstance(given, dict):
        raise ValueError('"refs" is not an object')  # noqa: TRY004
    found: dict[str, list[str]] = {}
    for key in ("paths", "memory_doc_ids"):
        listed = given.get(key) or []
        if not isinstance(listed, list) or not all(isinstance(item, str) for item in listed):
            raise ValueError(f'"refs.{key}" is not a list of texts')
        if len(listed) > _MOST_REFS:
            raise ValueError(f'"refs.{key}" has more than {_MOST_REFS:,} items')
        found[key] = list(dict.fromkeys(item for item in listed if item))
    found["paths"] = [path for path in found["paths"] if is_inside(path)]
    return found


def is_inside(path: str) -> bool:
    """Whether a path is relative and stays below the root."""
    parts = path.replace("\\", "/").split("/")
    return bool(path) and not path.startswith(("/", "\\", "~")) and ".." not in parts and ":" not in parts[0]


def _without_floats(value: Any) -> Any:
    """The value with floating point numbers as text: an event's line holds none."""
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, dict):
        return {key: _without_floats(item) for key, item in value.items()}
    return [_without_floats(item) for item in value] if isinstance(value, list) else value
