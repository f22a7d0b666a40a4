"""Malformed events: every key of real ones missing or of a wrong type, as shards with a valid chain."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import TYPE_CHECKING, Any

from thunderus_mem.log.line import line_hash

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

MISSING = object()
WRONG: tuple[Any, ...] = (MISSING, None, 7, "../x\0", [["x"]], {"x": ["y"]})
HUGE: tuple[Any, ...] = (10**30, "long " * 2_000, json.loads("[" * 20 + "]" * 20))
LATER = "2026-01-21T09:30:00.000Z"


def places(value: Any, above: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path of every key in a JSON value; of a list, those of its first item."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield (*above, key)
            yield from places(item, (*above, key))
    elif isinstance(value, list) and value:
        yield (*above, 0)
        yield from places(value[0], (*above, 0))


def changed(event: dict[str, Any], place: tuple[Any, ...], wrong: Any) -> dict[str, Any]:
    """The event with another value at one place."""
    whole: Any = deepcopy(event)
    inner = whole
    for key in place[:-1]:
        inner = inner[key]
    if wrong is MISSING:
        del inner[place[-1]]
    else:
        inner[place[-1]] = wrong
    return whole  # type: ignore[no-any-return]


def malformed(events: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Every key of the events missing and with each wrong value; bodies for each operation, all else for each
    kind. The first keys of refs and body also have huge values, and each kind is unknown once."""
    found, seen = [], set()
    for event in events:
        kind, op = event["kind"], event["body"].get("op")
        for place in places(event):
            shape = (kind, op if place[0] == "body" else None, place)
            if shape not in seen and place != ("prev",):
                seen.add(shape)
                values = WRONG + HUGE if len(place) == 2 else WRONG
                found += [changed(event, place, wrong) for wrong in values]
        if (kind, None, ()) not in seen:
            seen.add((kind, None, ()))
            found.append(changed(event, ("kind",), "later"))
    return found


def write_shard(root: Path, session: str, events: Iterable[dict[str, Any]]) -> Path:
    """Write events as a shard whose hashes match, each with an id and session of its own and later than all
    others, unless those keys are wrong. Returns its file."""
    path = root / ".thunderus" / "sessions" / session / "events.jsonl"
    path.parent.mkdir(parents=True)
    lines: list[bytes] = []
    for number, event in enumerate(events):
        own = {"id": f"evt_{session}{number:06d}", "session_id": session, "ts": LATER}
        # A text with a slash is one of the wrong values.
        right = {key: own[key] for key in own if isinstance(event.get(key), str) and "/" not in event[key]}
        whole = {**event, **right, "prev": line_hash(lines[-1]) if lines else None}
        lines.append(json.dumps(whole, ensure_ascii=False).encode() + b"\n")
    path.write_bytes(b"".join(lines))
    return path
