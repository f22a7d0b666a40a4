"""One shard of the log as a value: the bytes of an ``events.jsonl`` to events, damages and chain findings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from thunderus_mem.model.event import Event, decode, is_hand_edit, line_hash
from thunderus_mem.model.timestamp import utc_key

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = [
    "CHAIN",
    "CONFLICT",
    "LINE_ENDS",
    "SHAPE",
    "TORN",
    "Damage",
    "LogReading",
    "LoggedEvent",
    "ShardReading",
    "merge_readings",
    "parse_shard",
    "places",
]

SHAPE: Final = "TM503"
CHAIN: Final = "TM504"
TORN: Final = "TM505"
CONFLICT: Final = "TM507"
LINE_ENDS: Final = "TM508"

_SHORT_HASH: Final = len("sha256:") + 12
_MARKERS = (b"<<<<<<< ", b"||||||| ", b">>>>>>> ")


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

    ``torn``: the last line has no line end. ``lines`` are the hashes of all lines that are not blank,
    with their numbers. ``crlf``: some lines end in CRLF, as git writes them here; that changes no hash.
    """

    path: str
    events: tuple[LoggedEvent, ...]
    damages: tuple[Damage, ...]
    torn: bool
    lines: tuple[tuple[int, str], ...] = ()
    crlf: bool = False


class LogReading(NamedTuple):
    """All shards together, in order (see `places`); exact repeats once."""

    events: tuple[LoggedEvent, ...]
    damages: tuple[Damage, ...]


def _is_marker(line: bytes) -> bool:
    return line.startswith(_MARKERS) or line == b"======="


def _records(data: bytes) -> Iterator[tuple[int, bytes, bool]]:
    """Lines that are not blank: number, bytes without line end, and whether the line is not a torn last one.

    A last line with NULs is torn although it has an end: the disk kept its size and lost some of its blocks.
    """
    pieces = data.split(b"\n")
    last = len(pieces) - (not pieces[-1])
    for number, piece in enumerate(pieces, 1):
        line = piece.rstrip(b"\r")
        if line.strip(b" \t"):
            yield number, line, number < len(pieces) and not (number == last and b"\0" in line)


def _damage(path: str, number: int, line: bytes, whole: bool, reason: str) -> Damage:
    """What is wrong with a line; the beginning of its hash tells which bytes were meant."""
    digest = line_hash(line)[:_SHORT_HASH]
    if _is_marker(line):
        return Damage(number, CONFLICT, f"a conflict marker of git stands in the log ({digest})", path)
    if not whole:
        return Damage(number, TORN, f"the last line is torn: {reason} ({digest})", path)
    return Damage(number, SHAPE, f"not an event: {reason} ({digest})", path)


def parse_shard(path: str, data: bytes) -> ShardReading:
    """Read the bytes of a shard. Never raises: a line that is no event is a damage, the rest is read."""
    events: list[LoggedEvent] = []
    damages: list[Damage] = []
    lines: list[tuple[int, str]] = []
    for number, line, whole in _records(data):
        digest = line_hash(line)
        lines.append((number, digest))
        try:
            event = decode(line)
        except ValueError as reason:
            damages.append(_damage(path, number, line, whole, str(reason)))
            continue
        events.append(LoggedEvent(event, path, number))
    torn = bool(data) and not data.endswith(b"\n")
    return ShardReading(path, tuple(events), tuple(damages), torn, tuple(lines), crlf=b"\r\n" in data)


def _order(event: Event) -> str:
    ts = event.ts
    # Times as we write them, UTC with milliseconds, are known to be valid and need no reading.
    key = (
        f"{ts[:-1]}000Z"
        if len(ts) == 24 and ts[10] == "T" and ts[19] == "." and ts[23] == "Z"
        else utc_key(ts)
    )
    return f"{key} {event.id}"


def places(reading: ShardReading) -> Iterator[str]:
    """Where each event of a shard stands in the log: a text that sorts by time, then id.

    A line never stands before an earlier line of its session, whatever the clock said meanwhile. Lines with
    one place follow each other by shard and line.
    """
    newest: dict[str, str] = {}
    for logged in reading.events:
        session = logged.event.session_id
        place = newest[session] = max(newest.get(session, ""), _order(logged.event))
        yield place


def _same_edit(first: Event, second: Event) -> bool:
    """Two records of one edit by hand: found in two working trees, they share id and change, not the rest."""
    return is_hand_edit(first) and is_hand_edit(second)


def merge_readings(readings: Iterable[ShardReading]) -> LogReading:
    """Join shards. A repeat with the same bytes counts once, where it is placed first; the same id with other
    bytes is a damage."""
    kept: dict[str, tuple[str, str, int, LoggedEvent]] = {}
    damages: list[Damage] = []
    for reading in readings:
        damages.extend(reading.damages)
        for logged, place in zip(reading.events, places(reading), strict=True):
            here = (place, logged.shard, logged.line, logged)
            there = kept.setdefault(logged.event.id, here)
            if there is here:
                continue
            kept[logged.event.id] = min(here, there, key=lambda one: one[:3])
            first = there[3]
            if first.event.raw != logged.event.raw and not _same_edit(first.event, logged.event):
                message = (
                    f"{logged.event.id} also stands in {first.shard}, line {first.line}, with other content"
                )
                damages.append(Damage(logged.line, SHAPE, message, logged.shard))
    ordered = sorted(kept.values(), key=lambda one: one[:3])
    return LogReading(tuple(one[3] for one in ordered), tuple(damages))
