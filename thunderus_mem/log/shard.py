"""Parse one shard, the bytes of an ``events.jsonl``, into events and damages; check the hash chain."""

from __future__ import annotations

import hashlib
from io import BytesIO
from typing import TYPE_CHECKING, Final

from thunderus_mem.diagnostic import Diagnostic, Severity
from thunderus_mem.document.timestamp import utc_key
from thunderus_mem.log.event import same_recording
from thunderus_mem.log.line import KINDS, MAX_LINE, Event, decode, line_hash, parse_object
from thunderus_mem.startup import NamedTuple
from thunderus_mem.store.paths import is_private_shard

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

SHAPE: Final = "TM503"
CHAIN: Final = "TM504"
TORN: Final = "TM505"
CONFLICT: Final = "TM507"
LINE_ENDS: Final = "TM508"

_SHORT_HASH: Final = len("sha256:") + 12
_MARKERS = (b"<<<<<<< ", b"||||||| ", b">>>>>>> ")


class LoggedEvent(NamedTuple):
    """An event and its location: root-relative shard, line from 1."""

    event: Event
    shard: str
    line: int


class Damage(NamedTuple):
    """A line that is not an event (line 0: the whole file), and the lint rule that reports it.

    ``foreign``: it is an event of Thunderus's own log.
    """

    line: int
    code: str
    message: str
    shard: str = ""
    foreign: bool = False


class ShardReading(NamedTuple):
    """The readable contents of one shard.

    ``torn``: the last line has no line end. ``lines`` are the numbers and hashes of all non-blank lines.
    ``crlf``: some lines end in CRLF, because git is configured so; this does not affect hashes.
    """

    path: str
    events: tuple[LoggedEvent, ...]
    damages: tuple[Damage, ...]
    torn: bool
    lines: tuple[tuple[int, str], ...] = ()
    crlf: bool = False

    @property
    def chained(self) -> bool:
        """Whether any line has the key ``prev``, or there are no events."""
        return not self.events or any(logged.event.chained for logged in self.events)

    @property
    def readable(self) -> bool:
        """Whether the file could be read at all."""
        return all(damage.line for damage in self.damages)


class LogReading(NamedTuple):
    """All shards together, in order (see `placed`); exact duplicates once."""

    events: tuple[LoggedEvent, ...]
    damages: tuple[Damage, ...]


def _is_marker(line: bytes) -> bool:
    return line.startswith(_MARKERS) or line == b"======="


def _records(pieces: Iterable[bytes]) -> Iterator[tuple[int, bytes, bool]]:
    """Yield the non-blank ones of some lines: number, bytes without line end, and whether it is complete.

    A last line with NULs is torn even if it has a line end: the disk kept its size but lost blocks.
    """
    numbered = enumerate(pieces, 1)
    following = next(numbered, None)
    while following is not None:
        (number, piece), following = following, next(numbered, None)
        line = piece.rstrip(b"\n").rstrip(b"\r")
        if line.strip(b" \t"):
            yield number, line, piece.endswith(b"\n") and (following is not None or b"\0" not in line)


def _damage(path: str, number: int, line: bytes, whole: bool, reason: str) -> Damage:
    """Describe the damage of a line; the start of its hash identifies the bytes."""
    digest = line_hash(line)[:_SHORT_HASH]
    if _is_marker(line):
        return Damage(number, CONFLICT, f"Merge conflict marker in the log ({digest})", path)
    if not whole:
        return Damage(number, TORN, f"Incomplete last line, from an interrupted write ({digest})", path)
    if _is_foreign(line):
        message = f"An event of Thunderus's own log, in another format ({digest})"
        return Damage(number, SHAPE, message, path, foreign=True)
    return Damage(number, SHAPE, f"Invalid event: {reason} ({digest})", path)


def _is_foreign(line: bytes) -> bool:
    try:
        data = parse_object(line, MAX_LINE)
    except ValueError:
        return False
    return "seq" in data and isinstance(data.get("event"), dict)


class ShardReader:
    """Reads a shard line by line: iterate once, over its events. The attributes, as in `ShardReading`, are
    those of the lines read so far.

    ``lines`` are its lines with their ends; an `OSError` becomes a damage at line 0, a missing file is empty.
    """

    def __init__(self, path: str, lines: Iterable[bytes]) -> None:
        self._path = path
        self._lines = lines
        self._prevs: dict[int, str | None] = {}
        self.hashes: list[tuple[int, str]] = []
        self.chained = True
        self.damages: list[Damage] = []
        self.torn = self.crlf = False

    def __iter__(self) -> Iterator[LoggedEvent]:
        try:
            for number, line, whole in _records(self._seen()):
                self.hashes.append((number, line_hash(line)))
                try:
                    event = decode(line)
                except ValueError as reason:
                    self.damages.append(_damage(self._path, number, line, whole, str(reason)))
                    continue
                self.chained = event.chained or (self.chained and bool(self._prevs))
                self._prevs[number] = event.prev
                yield LoggedEvent(event, self._path, number)
        except FileNotFoundError:
            return
        except OSError as error:
            message = f"Cannot read the shard: {error.strerror or error}"
            self.damages.append(Damage(0, SHAPE, message, self._path))

    def _seen(self) -> Iterator[bytes]:
        for line in self._lines:
            self.crlf = self.crlf or line.endswith(b"\r\n")
            self.torn = not line.endswith(b"\n")
            yield line

    def read(self) -> ShardReading:
        """Read the whole shard."""
        events = tuple(self)
        return ShardReading(
            self._path, events, tuple(self.damages), self.torn, tuple(self.hashes), crlf=self.crlf
        )

    @property
    def last_hash(self) -> str:
        """The hash of the last line; "" if the shard is empty, damaged or torn."""
        return "" if self.damages or self.torn or not self.hashes else self.hashes[-1][1]

    @property
    def broken(self) -> set[int]:
        """The lines on either side of a broken link."""
        links = _broken_links(self.hashes, self._prevs) if self.chained else ()
        return {line for link in links for line in (link.line, link.before)}

    @property
    def readable(self) -> bool:
        """Whether the file could be read at all."""
        return all(damage.line for damage in self.damages)


def parse_shard(path: str, data: bytes) -> ShardReading:
    """Parse the bytes of a shard. Never raises: a line that is not an event becomes a damage."""
    return ShardReader(path, BytesIO(data)).read()


def _order(event: Event) -> str:
    ts = event.ts
    # Times as we write them, UTC with milliseconds, need no parsing.
    key = (
        f"{ts[:-1]}000Z"
        if len(ts) == 24 and ts[10] == "T" and ts[19] == "." and ts[23] == "Z"
        else utc_key(ts)
    )
    return f"{key} {event.id}"


def placed(events: Iterable[LoggedEvent]) -> Iterator[tuple[LoggedEvent, str]]:
    """Yield the events of a shard, each with its sort key in the log: by time, then id.

    A line never sorts before an earlier line of its session, even if the clock went back. Equal keys sort by
    shard and line.
    """
    newest: dict[str, str] = {}
    for logged in events:
        session = logged.event.session_id
        place = newest[session] = max(newest.get(session, ""), _order(logged.event))
        yield logged, place


def merge_readings(readings: Iterable[ShardReading]) -> LogReading:
    """Merge shards. An id on several lines counts once, at its first place; it is a damage if the lines do
    not record the same thing."""
    kept: dict[str, tuple[str, str, int, LoggedEvent]] = {}
    damages: list[Damage] = []
    for reading in readings:
        damages.extend(reading.damages)
        for logged, place in placed(reading.events):
            here = (place, logged.shard, logged.line, logged)
            there = kept.setdefault(logged.event.id, here)
            if there is here:
                continue
            kept[logged.event.id] = min(here, there, key=lambda one: one[:3])
            first = there[3]
            if not same_recording(first.event, logged.event):
                message = f"Duplicate id {logged.event.id}: {first.shard}:{first.line} has other content"
                damages.append(Damage(logged.line, SHAPE, message, logged.shard))
    ordered = sorted(kept.values(), key=lambda one: one[:3])
    return LogReading(tuple(one[3] for one in ordered), tuple(damages))


_RESTORE: Final = (
    "Find an intact version with `git log -- {path}` and restore it with `git checkout COMMIT -- {path}`. "
    "If no version is intact, leave the file as it is; its other lines are still read"
)
_IMPORT: Final = (
    "Add it with `thunderus-mem events add < {path}`, then move the file out of `.thunderus/sessions`"
)
_ADVICE: Final = {
    TORN: "Run `thunderus-mem doctor --fix`",
    CONFLICT: "Keep the lines of both sides and delete the marker lines",
}


class GitVersion(NamedTuple):
    """The bytes of a shard that git has: in HEAD, in its index (``revision`` "") or in another commit.

    ``data`` is empty and the shard ``removed`` if its file no longer exists.
    """

    revision: str
    data: bytes
    removed: bool = False

    @property
    def place(self) -> str:
        """Its name in a message."""
        return self.revision or "git's index"


class _NamedHead(NamedTuple):
    """A hash in ``heads`` of an event: the last line of a session's shard as this event's writer saw it."""

    session_id: str
    hash: str
    shard: str
    line: int


class LogCheck:
    """Checks the shards of a log one by one, then all together."""

    def __init__(self) -> None:
        self._ids: set[int] = set()
        self._doubled: set[int] = set()
        self._lines: set[int] = set()
        self._older_heads: list[tuple[str, str, int]] = []
        self._heads: list[_NamedHead] = []
        self._shards: dict[str, ShardReading] = {}
        self._crlf: list[str] = []

    def take(
        self, reading: ShardReading, session_id: str | None, versions: Iterable[GitVersion] = ()
    ) -> list[Diagnostic]:
        """Return the findings of one shard of a session; ``None``: the single file of another program.

        ``versions`` are those of git that differ from the file: it must begin with each of them.
        """
        for logged in reading.events:
            mark = _mark_of_id(logged)
            (self._doubled if mark in self._ids else self._ids).add(mark)
            if logged.event.head is not None:
                self._older_heads.append((logged.event.head, logged.shard, logged.line))
            for named, digest in logged.event.heads.items():
                self._heads.append(_NamedHead(named, digest, logged.shard, logged.line))
        if reading.crlf:
            self._crlf.append(reading.path)
        if session_id is not None and not is_private_shard(reading.path):
            self._shards[session_id] = reading._replace(events=(), lines=())
        self._lines.update(_mark_of_hash(digest) for _, digest in reading.lines)
        before = [parse_shard(reading.path, version.data) for version in versions]
        chained = reading.chained or any(one.events and one.chained for one in before)
        found = check_chain(reading, session_id=session_id or "", chained=chained)
        for version in versions:
            found.extend(check_growth(reading, version))
        return found

    def take_missing(self, path: str, versions: Iterable[GitVersion]) -> list[Diagnostic]:
        """Return the findings of a shard that has no file."""
        nothing = ShardReading(path, (), (), False)
        return [one for version in versions for one in check_growth(nothing, version)]

    def close(self, again: Callable[[], Iterable[ShardReading]]) -> list[Diagnostic]:
        """Return the findings of all shards together; ``again`` rereads them if an id may be duplicated."""
        doubles = self._doubles(again()) if self._doubled else ()
        return [*self._missing_heads(), *self._missing_lines(), *doubles, *self._line_ends()]

    def _line_ends(self) -> Iterator[Diagnostic]:
        """Yield one note for all shards with CRLF line ends."""
        if self._crlf:
            more = f" and of {len(self._crlf) - 1} other shards" if len(self._crlf) > 1 else ""
            message = f"Lines of this shard{more} end in CRLF, because of git's configuration"
            hint = "Harmless; to keep LF, let `thunderus-mem init` add the `.gitattributes`"
            yield _finding(LINE_ENDS, Severity.NOTE, min(self._crlf), 0, message, expected="LF", hint=hint)

    def _doubles(self, readings: Iterable[ShardReading]) -> Iterator[Diagnostic]:
        """Yield ids that are on two lines with different content (TM503)."""
        hint = "Keep the line that matches its shard's hash chain; restore the other shard from git"
        suspects = (
            reading._replace(
                events=tuple(one for one in reading.events if _mark_of_id(one) in self._doubled), damages=()
            )
            for reading in readings
        )
        for damage in merge_readings(suspects).damages:
            yield _finding(
                damage.code,
                Severity.ERROR,
                damage.shard,
                damage.line,
                damage.message,
                key="id",
                hint=hint,
            )

    def _missing_heads(self) -> Iterator[Diagnostic]:
        """Yield notes for events whose heads are in no shard: dropped by git, or removed."""
        message = "This session continues from a log line that is missing"
        hint = "Ignore this if the branch with that line was deleted or rebased, or is not merged yet"
        for head, shard, line in self._older_heads:
            if _mark_of_hash(head) not in self._lines:
                yield _finding(CHAIN, Severity.NOTE, shard, line, message, key="head", hint=hint)
        missing: dict[tuple[str, int], list[str]] = {}
        for one in self._heads:
            if one.session_id not in self._shards and _mark_of_hash(one.hash) not in self._lines:
                missing.setdefault((one.shard, one.line), []).append(one.session_id)
        for (shard, line), sessions in missing.items():
            message = f"The shard of {min(sessions)}, named here, is missing"
            if len(sessions) > 1:
                message = f"{len(sessions)} shards named here are missing, among them that of {min(sessions)}"
            yield _finding(CHAIN, Severity.NOTE, shard, line, message, key="heads", hint=hint)

    def _missing_lines(self) -> Iterator[Diagnostic]:
        """Yield errors for shards without a line that ``heads`` of another shard names."""
        reported: set[tuple[str, str]] = set()
        for one in sorted(self._heads):
            reading = self._shards.get(one.session_id)
            lost = reading is not None and reading.readable and _mark_of_hash(one.hash) not in self._lines
            if reading is None or not lost or (reading.path, one.hash) in reported:
                continue
            reported.add((reading.path, one.hash))
            message = (
                f"Lines were changed or removed: no line here has the hash recorded in {one.shard}:{one.line}"
            )
            hint = _RESTORE.format(path=reading.path)
            yield _finding(
                CHAIN, Severity.ERROR, reading.path, 0, message, key="heads", expected=one.hash, hint=hint
            )


def _mark_of_id(logged: LoggedEvent) -> int:
    return int.from_bytes(hashlib.blake2b(logged.event.id.encode(), digest_size=8).digest())


def _mark_of_hash(digest: str) -> int:
    return int(digest[7:23], 16)


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


def first_change(reading: ShardReading, data: bytes) -> int | None:
    """Return the first line that differs from these bytes of the shard; 0 if lines are missing at its end.

    ``None`` if the shard begins with them; line ends and blank lines do not matter.
    """
    for at, (_, line, _) in enumerate(_records(BytesIO(data))):
        if at == len(reading.lines):
            return 0
        if reading.lines[at][1] != line_hash(line):
            return reading.lines[at][0]
    return None


def check_growth(reading: ShardReading, version: GitVersion) -> Iterator[Diagnostic]:
    """Yield an error (TM504) if a shard does not begin with the bytes that git has.

    A damaged line is a finding already.
    """
    path, restored = reading.path, f"{version.revision} -- ".lstrip() + reading.path
    hint = f"Compare with `git diff {restored}`, and restore it with `git checkout {restored}`"
    if version.removed:
        message = f"The shard was removed since {version.place}"
        yield _finding(CHAIN, Severity.ERROR, path, 0, message, hint=hint)
        return
    line = first_change(reading, version.data) if reading.readable else None
    if line is not None and line not in {damage.line for damage in reading.damages}:
        message = f"This line differs from {version.place}"
        if not line:
            message = f"Lines of {version.place} are missing at the end"
        yield _finding(CHAIN, Severity.ERROR, path, line, message, hint=hint)


class BrokenLink(NamedTuple):
    """A line whose ``prev`` is not ``expected``, the hash of the line ``before`` (0: the first line)."""

    line: int
    before: int
    expected: str | None

    @property
    def message(self) -> str:
        """The problem in one sentence."""
        if not self.before:
            return "Lines before this one are missing"
        return "The line before this one was edited, removed or moved"


def broken_links(reading: ShardReading, *, chained: bool | None = None) -> list[BrokenLink]:
    """Return the broken links of a shard: none if it is not ``chained`` (by default: as its lines say).

    After a damaged line the next link is unknown. Exact repeats do not count.
    """
    if not (reading.chained if chained is None else chained):
        return []
    return _broken_links(reading.lines, {logged.line: logged.event.prev for logged in reading.events})


def _broken_links(lines: Iterable[tuple[int, str]], prevs: Mapping[int, str | None]) -> list[BrokenLink]:
    found: list[BrokenLink] = []
    seen: set[str] = set()
    before: tuple[int, str | None] = (0, None)
    broken = False
    for number, digest in lines:
        if digest in seen:
            continue
        seen.add(digest)
        if number in prevs and not broken and prevs[number] != before[1]:
            found.append(BrokenLink(number, *before))
        before, broken = (number, digest), number not in prevs
    return found


def check_chain(
    reading: ShardReading, *, session_id: str = "", chained: bool | None = None
) -> list[Diagnostic]:
    """Return the findings of one shard: damages (TM503, TM505, TM507), broken links (TM504), foreign sessions
    (TM503), and one note for a shard without chain.

    ``session_id`` is the session the file is named after, if any; ``chained`` as in `broken_links`.
    """
    path = reading.path
    found = [
        _finding(damage.code, Severity.ERROR, damage.shard or path, damage.line, damage.message,
                 hint=(_IMPORT if damage.foreign else _ADVICE.get(damage.code, _RESTORE)).format(path=path))
        for damage in reading.damages
    ]  # fmt: skip
    found += [
        _finding(CHAIN, Severity.ERROR, path, link.line, link.message, key="prev",
                 expected=link.expected or "null", hint=_RESTORE.format(path=path))
        for link in broken_links(reading, chained=chained)
    ]  # fmt: skip
    for logged in reading.events:
        found.extend(_oddities(path, logged.line, logged.event, session_id))
    if not (reading.chained if chained is None else chained):
        message = "No line of this shard has the key `prev`; changes to its lines cannot be detected"
        hint = "Ignore it for a log written by another program; commit the file, so that git keeps its lines"
        found.append(_finding(CHAIN, Severity.NOTE, path, 0, message, key="prev", hint=hint))
    if reading.torn and not any(damage.code == TORN for damage in reading.damages):
        hint = "The next command that writes completes the line"
        found.append(_finding(TORN, Severity.NOTE, path, 0, "The last line has no line end", hint=hint))
    return found


def _oddities(path: str, number: int, event: Event, session_id: str) -> Iterator[Diagnostic]:
    if session_id and event.session_id != session_id:
        message = f"Event of session {event.session_id} in the shard of {session_id}"
        yield _finding(SHAPE, Severity.ERROR, path, number, message, key="session_id", expected=session_id)
    if event.kind not in KINDS:
        message = f'Unknown kind "{event.kind}"; the event is kept'
        yield _finding(SHAPE, Severity.NOTE, path, number, message, key="kind", expected=", ".join(KINDS))
