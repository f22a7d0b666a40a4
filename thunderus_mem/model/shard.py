"""One shard of the log as a value: the bytes of an ``events.jsonl`` to events, damages and chain findings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from thunderus_mem.model.diagnostic import Diagnostic, Severity
from thunderus_mem.model.event import KINDS, Event, decode, is_hand_edit, line_hash
from thunderus_mem.model.timestamp import utc_key

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = [
    "CHAIN",
    "CONFLICT",
    "SHAPE",
    "TORN",
    "Damage",
    "LogReading",
    "LoggedEvent",
    "ShardReading",
    "check_chain",
    "check_doubles",
    "check_heads",
    "merge_readings",
    "parse_shard",
]

SHAPE: Final = "TM503"
CHAIN: Final = "TM504"
TORN: Final = "TM505"
CONFLICT: Final = "TM507"

_MARKERS = (b"<<<<<<< ", b"||||||| ", b">>>>>>> ")
_RESTORE = "Bring the shard back from git (git log -- {path}) or keep it and accept the finding."


class LoggedEvent(NamedTuple):
    """An event and where it stands: root-relative shard, line from 1."""

    event: Event
    shard: str
    line: int


class Damage(NamedTuple):
    """A line that is no event (line 0: the whole file), with the code of the lint rule that reports it."""

    line: int
    code: str
    message: str
    shard: str = ""


class ShardReading(NamedTuple):
    """What could be read of one shard.

    ``torn``: the last line has no line end. ``head_hash`` is the hash of the last line that is an event,
    which the next event's ``prev`` must hold. ``lines`` are the hashes of all lines that are not blank, with
    their numbers.
    """

    path: str
    events: tuple[LoggedEvent, ...]
    damages: tuple[Damage, ...]
    torn: bool
    head_hash: str | None
    lines: tuple[tuple[int, str], ...] = ()


class LogReading(NamedTuple):
    """All shards together: events by time, then id; exact repeats once."""

    events: tuple[LoggedEvent, ...]
    damages: tuple[Damage, ...]


def _is_marker(line: bytes) -> bool:
    return line.startswith(_MARKERS) or line == b"======="


def _records(data: bytes) -> Iterator[tuple[int, bytes, bool]]:
    """Lines that are not blank: number, bytes without line end, whether a line end was there."""
    pieces = data.split(b"\n")
    for number, piece in enumerate(pieces, 1):
        line = piece.rstrip(b"\r")
        if line.strip(b" \t"):
            yield number, line, number < len(pieces)


def _damage(path: str, number: int, line: bytes, whole: bool, reason: str) -> Damage:
    if _is_marker(line):
        return Damage(number, CONFLICT, "a conflict marker of git stands in the log", path)
    if not whole:
        return Damage(number, TORN, f"the last line is torn: {reason}", path)
    return Damage(number, SHAPE, f"not an event: {reason}", path)


def parse_shard(path: str, data: bytes) -> ShardReading:
    """Read the bytes of a shard. Never raises: a line that is no event is a damage, the rest is read."""
    events: list[LoggedEvent] = []
    damages: list[Damage] = []
    lines: list[tuple[int, str]] = []
    head = None
    for number, line, whole in _records(data):
        digest = line_hash(line)
        lines.append((number, digest))
        try:
            event = decode(line)
        except ValueError as reason:
            damages.append(_damage(path, number, line, whole, str(reason)))
            continue
        events.append(LoggedEvent(event, path, number))
        head = digest
    torn = bool(data) and not data.endswith(b"\n")
    return ShardReading(path, tuple(events), tuple(damages), torn, head, tuple(lines))


def _order(logged: LoggedEvent) -> tuple[str, str]:
    ts = logged.event.ts
    # Times as we write them, UTC with milliseconds, are known to be valid and need no reading.
    key = (
        f"{ts[:-1]}000Z"
        if len(ts) == 24 and ts[10] == "T" and ts[19] == "." and ts[23] == "Z"
        else utc_key(ts)
    )
    return (key, logged.event.id)


def _same_edit(first: Event, second: Event) -> bool:
    """Two records of one edit by hand: found in two working trees, they share id and change, not the rest."""
    return is_hand_edit(first) and is_hand_edit(second)


def merge_readings(readings: Iterable[ShardReading]) -> LogReading:
    """Join shards. A repeat with the same bytes counts once; the same id with other bytes is a damage."""
    kept: dict[str, LoggedEvent] = {}
    damages: list[Damage] = []
    places: dict[tuple[str, int], tuple[str, str]] = {}
    for reading in readings:
        damages.extend(reading.damages)
        place = ("", "")
        for logged in reading.events:
            # Lines of one shard and one moment keep their order: the first one's id places them all.
            order = _order(logged)
            place = place if place[0] == order[0] else order
            places[logged.shard, logged.line] = place
            first = kept.setdefault(logged.event.id, logged)
            if first is logged or first.event.raw == logged.event.raw:
                continue
            if _same_edit(first.event, logged.event):
                kept[logged.event.id] = min(first, logged, key=lambda one: (_order(one), one.shard, one.line))
                continue
            message = f"{logged.event.id} also stands in {first.shard}, line {first.line}, with other content"
            damages.append(Damage(logged.line, SHAPE, message, logged.shard))
    ordered = sorted(kept.values(), key=lambda one: (places[one.shard, one.line], one.shard, one.line))
    return LogReading(tuple(ordered), tuple(damages))


def _finding(
    rule: str,
    severity: Severity,
    path: str,
    line: int,
    message: str,
    *,
    key: str = "",
    expected: str = "",
    hint: str = "",
) -> Diagnostic:
    return Diagnostic(rule, severity, path, line, 1 if line else 0, message, key, expected, hint)


def _link_problem(event: Event, before: str | None, free: bool) -> str:
    if event.prev == before or (free and event.prev is None):
        return ""
    if before is None:
        return "lines that stood before this one are gone"
    return "the line before this one was edited, removed or moved"


def check_chain(reading: ShardReading, *, session_id: str = "", free: bool = False) -> list[Diagnostic]:
    """Findings of one shard: damages (TM503, TM505, TM507), broken links (TM504), foreign sessions (TM503).

    ``session_id`` is the session the file is named after, if any; ``free`` accepts lines without ``prev``,
    as a log written by another program has them.
    """
    path = reading.path
    found = [
        _finding(damage.code, Severity.ERROR, damage.shard or path, damage.line, damage.message,
                 hint=_RESTORE.format(path=path))
        for damage in reading.damages
    ]  # fmt: skip
    by_line = {logged.line: logged.event for logged in reading.events}
    seen: set[str] = set()
    before: str | None = None
    broken = False
    for number, digest in reading.lines:
        if digest in seen:
            continue
        seen.add(digest)
        event = by_line.get(number)
        if event is not None:
            problem = "" if broken else _link_problem(event, before, free)
            if problem:
                found.append(
                    _finding(CHAIN, Severity.ERROR, path, number, problem, key="prev",
                             expected=before or "null", hint=_RESTORE.format(path=path))
                )  # fmt: skip
            found.extend(_oddities(path, number, event, session_id))
        before, broken = digest, event is None
    if reading.torn and not any(damage.code == TORN for damage in reading.damages):
        hint = "The next writing command ends the line."
        found.append(_finding(TORN, Severity.NOTE, path, 0, "the last line has no line end", hint=hint))
    return found


def _oddities(path: str, number: int, event: Event, session_id: str) -> Iterator[Diagnostic]:
    if session_id and event.session_id != session_id:
        message = f"an event of session {event.session_id} stands in the shard of {session_id}"
        yield _finding(SHAPE, Severity.ERROR, path, number, message, key="session_id", expected=session_id)
    if event.kind not in KINDS:
        message = f'the kind "{event.kind}" is not known to this version; the event is kept'
        yield _finding(SHAPE, Severity.NOTE, path, number, message, key="kind", expected=", ".join(KINDS))


def check_heads(readings: Iterable[ShardReading]) -> list[Diagnostic]:
    """Notes for events whose ``head`` names a line that is in no shard: git dropped it, or it was removed."""
    readings = tuple(readings)
    known = {digest for reading in readings for _, digest in reading.lines}
    message = "the newest line this session had seen is in no shard here"
    hint = "Nothing to do when its branch was dropped, rebased or is not merged yet."
    return [
        _finding(CHAIN, Severity.NOTE, logged.shard, logged.line, message, key="head", hint=hint)
        for reading in readings
        for logged in reading.events
        if logged.event.head is not None and logged.event.head not in known
    ]


def check_doubles(readings: Iterable[ShardReading]) -> list[Diagnostic]:
    """Findings for ids that stand on two lines with different content (TM503)."""
    readings = tuple(readings)
    own = {damage for reading in readings for damage in reading.damages}
    hint = "Keep the line that its shard's chain confirms; bring the other shard back from git."
    return [
        _finding(damage.code, Severity.ERROR, damage.shard, damage.line, damage.message, key="id", hint=hint)
        for damage in merge_readings(readings).damages
        if damage not in own
    ]
