"""Read the log: committed and private shards, and a single file in the minimal form of the format.

Read only: an unfinished last line is left alone. `append` writes, under the lock.
"""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from thunderus_mem.document.diff import apply_diff, reversed_diff
from thunderus_mem.document.document import content_hash
from thunderus_mem.errors import NotWritable
from thunderus_mem.log.event import ABORTED, changes_of, is_hand_edit
from thunderus_mem.log.line import decode
from thunderus_mem.log.shard import (
    SHAPE,
    Damage,
    LoggedEvent,
    LogReading,
    ShardReading,
    merge_readings,
    parse_shard,
)
from thunderus_mem.startup import NamedTuple
from thunderus_mem.store.paths import is_safe, kind_of
from thunderus_mem.store.safe_open import open_file

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from thunderus_mem.document.document import Document
    from thunderus_mem.log.event import Change
    from thunderus_mem.log.line import Event

SHARD_NAME: Final = "events.jsonl"
MAX_SHARD: Final = 256 * 1024 * 1024
_BLOCK: Final = 64 * 1024
_FLAGS: Final = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)


def open_regular(path: str) -> int:
    """Open a regular file; raises `OSError` for anything else, e.g. a link, pipe or folder."""
    descriptor = open_file(path, _FLAGS | getattr(os, "O_BINARY", 0))
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        return descriptor
    os.close(descriptor)
    raise OSError("not a regular file")


def _read(path: str, *, jailed: bool = True) -> bytes:
    """Return the bytes of a shard; ``jailed``: its folder must not be a link."""
    if jailed and os.path.islink(os.path.dirname(path)):
        raise OSError("its folder is a symbolic link")
    with open(open_regular(path), "rb") as file:
        # A limit for `read` would reserve that much memory.
        too_large = os.fstat(file.fileno()).st_size > MAX_SHARD
        data = b"" if too_large else file.read()
    if too_large:
        raise OSError(f"larger than {MAX_SHARD // (1024 * 1024)} MiB")
    return data


def last_line(path: str) -> bytes | None:
    """Return the last line of a file without its line end, reading from the end.

    ``None`` if the file is missing, cannot be read, has no lines, or its last line has no line end.
    """
    try:
        return read_last_line(path)
    except OSError:
        return None


def read_last_line(path: str) -> bytes | None:
    """Like `last_line`, but raise ``OSError`` if the file is missing or cannot be read."""
    with open(open_regular(path), "rb") as file:
        end = file.seek(0, os.SEEK_END)
        tail = b""
        while end > 0 and b"\n" not in tail[:-1]:
            start = max(0, end - _BLOCK)
            file.seek(start)
            tail = file.read(end - start) + tail
            end = start
    if not tail.endswith(b"\n"):
        return None
    return tail[:-1].rpartition(b"\n")[2].rstrip(b"\r") or None


class EventLog:
    """All shards of one store. The arguments are absolute paths; shards are relative to ``root``."""

    def __init__(self, root: str, sessions_dir: str, local_sessions_dir: str, legacy_file: str) -> None:
        self.root = root
        self._folders = (sessions_dir, local_sessions_dir)
        self._legacy = legacy_file
        self._private = self._relative(local_sessions_dir) + "/"

    def _relative(self, path: str) -> str:
        return os.path.relpath(path, self.root).replace(os.sep, "/")

    def _absolute(self, shard: str) -> str:
        return os.path.join(self.root, *shard.split("/"))

    def shards(self) -> list[str]:
        """Return the root-relative paths of all shards, sorted."""
        found = [self._relative(self._legacy)] if os.path.lexists(self._legacy) else []
        for folder in self._folders:
            try:
                names = os.listdir(folder)
            except OSError:
                continue
            below = self._relative(folder)
            found += [
                f"{below}/{name}/{SHARD_NAME}"
                for name in names
                if os.path.lexists(f"{folder}{os.sep}{name}{os.sep}{SHARD_NAME}")
            ]
        return sorted(found)

    def is_private(self, shard: str) -> bool:
        """Whether the shard is local to this working tree and never committed."""
        return shard.startswith(self._private)

    def read_shard(self, shard: str) -> ShardReading:
        """Read one shard. An unreadable file is a damage at line 0; a missing one is empty."""
        path = self._absolute(shard)
        try:
            data = _read(path, jailed=path != self._legacy)
        except FileNotFoundError:
            return ShardReading(shard, (), (), False)
        except OSError as error:
            message = f"Cannot read the shard: {error.strerror or error}"
            return ShardReading(shard, (), (Damage(0, SHAPE, message, shard),), False)
        return parse_shard(shard, data)

    def readings(self) -> Iterator[ShardReading]:
        """Read every shard, one at a time, so that a long log need not fit into memory."""
        return map(self.read_shard, self.shards())

    def read_all(self) -> LogReading:
        """Read all events in the order of the log. For long logs, `readings` needs less memory."""
        return merge_readings(self.readings())

    def read_lines(self, shard: str, numbers: Collection[int]) -> list[LoggedEvent]:
        """Return the events on some lines of a shard (from 1), in the order of the file; skip damaged lines.

        Raises `NotWritable` if the shard exists but cannot be read.
        """
        path = self._absolute(shard)
        try:
            lines = _read(path, jailed=path != self._legacy).split(b"\n")
        except FileNotFoundError:
            return []
        except OSError as error:
            raise NotWritable(
                f"cannot read {shard}: {error.strerror or error}",
                hint="fix its permissions, then run the command again",
            ) from error
        found = []
        for number in sorted(numbers):
            if number <= len(lines):
                with suppress(ValueError):
                    found.append(LoggedEvent(decode(lines[number - 1]), shard, number))
        return found

    def session_of(self, shard: str) -> str | None:
        """Return the session a shard is named after; ``None`` for the single file of the minimal form."""
        return None if shard == self._relative(self._legacy) else shard.split("/")[-2]

    def contains(self, shard: str, event_id: str) -> bool:
        """Whether a complete line of the shard is the event with this id.

        Raises `NotWritable` if the shard exists but cannot be read: "no" would undo a committed change.
        """
        try:
            data = _read(self._absolute(shard))
        except FileNotFoundError:
            return False
        except OSError as error:
            raise NotWritable(
                f"cannot read {shard}: {error.strerror or error}",
                hint="fix its permissions; it is needed to recover an interrupted change",
            ) from error
        needle = event_id.encode()
        at = data.find(needle)
        while at >= 0:
            end = data.find(b"\n", at)
            if end < 0:
                return False
            try:
                if decode(data[data.rfind(b"\n", 0, at) + 1 : end]).id == event_id:
                    return True
            except ValueError:
                pass
            at = data.find(needle, end)
        return False


_NO_TEXT: Final = ""
RENAME: Final = "rename"


class Transition(NamedTuple):
    """A change of the document by one event, as hashes of its texts ("" for none).

    ``number`` orders them. ``base`` is the text that ``diff`` applies to: ``before``, or "" if the document
    moved to a new file. ``merged`` are ids of documents merged into it by the event. ``own``: the event names
    the document by a current or former id or path.
    """

    event_id: str
    number: int
    doc_id: str
    path: str
    before: str
    after: str
    base: str
    diff: str | None
    merged: tuple[str, ...] = ()
    own: bool = True


class DocumentPast(NamedTuple):
    """The history of a document in the log: transitions in order, paths (the current one first), ids.

    The ids are its current and former ones, and those of documents merged into it.
    """

    transitions: tuple[Transition, ...]
    paths: tuple[str, ...]
    ids: frozenset[str]

    @property
    def sources(self) -> frozenset[str]:
        """Hashes of texts that a transition starts from and none leads to."""
        return frozenset(transition.before for transition in self.transitions) - {
            transition.after for transition in self.transitions
        }


class _Names(NamedTuple):
    ids: set[str]
    paths: list[str]
    also: frozenset[str]


def given_up(events: Iterable[Event]) -> frozenset[tuple[str, str]]:
    """Return ``(event id, path)`` of aborted changes: logged, but never written to their file."""
    return frozenset(
        (event.why.partition(" ")[0], change.path)
        for event in events
        if event.body.get("op") == ABORTED
        for change in changes_of(event)
    )


def happened(events: Sequence[Event]) -> list[tuple[Event, list[Change]]]:
    """Return events in order with the changes they made, without aborted ones."""
    changing = [(event, changes) for event in events if (changes := changes_of(event))]
    not_made = given_up(events)
    return [
        (event, [one for one in changes if one.op != ABORTED and (event.id, one.path) not in not_made])
        for event, changes in changing
    ]


def past_of(doc: Document, events: Sequence[Event]) -> DocumentPast:
    """Return the history of a document and of documents merged into it, across renames of file and id."""
    patches = happened(events)
    names = _names(doc, patches)
    origins = _Origins(patches)
    found: list[Transition] = []
    for event, changes in patches:
        for change in changes:
            own = change.doc_id in names.ids or change.path in names.paths
            if change.after and (own or change.doc_id in names.also):
                merged = _removals(changes) if change.before else []
                found.append(
                    Transition(
                        event_id=event.id,
                        number=len(found),
                        doc_id=change.doc_id,
                        path=change.path,
                        before=origins.of(event, changes, change),
                        after=change.after,
                        base=change.before,
                        diff=change.diff,
                        merged=tuple(one.doc_id for one in merged if one.doc_id in names.also),
                        own=own,
                    )
                )
    return DocumentPast(tuple(found), tuple(names.paths), names.also | names.ids)


class _Origins:
    """Finds the text each change started from; for a moved file, that of its old path."""

    def __init__(self, patches: Iterable[tuple[Event, Sequence[Change]]]) -> None:
        # A manual move is recorded as two hand edits in the same session.
        self._removed_by_hand = {
            (event.session_id, change.doc_id): change.before
            for event, changes in patches
            if is_hand_edit(event)
            for change in _removals(changes)
        }

    def of(self, event: Event, changes: Sequence[Change], change: Change) -> str:
        """Return the hash of the text before, "" if there was none."""
        if change.before:
            return change.before
        if is_hand_edit(event):
            return self._removed_by_hand.get((event.session_id, change.doc_id), _NO_TEXT)
        return moved_from(change, changes)


def _removals(changes: Iterable[Change]) -> list[Change]:
    return [one for one in changes if one.before and not one.after]


def moved_from(change: Change, changes: Sequence[Change]) -> str:
    """Return the hash of the file that the same event removed for a new file; else ""."""
    if change.op == RENAME:
        found = _partners(change, changes)
    else:
        found = [one for one in _removals(changes) if one.doc_id == change.doc_id]
    return found[0].before if found and not change.before else _NO_TEXT


def _names(doc: Document, patches: Iterable[tuple[Event, Sequence[Change]]]) -> _Names:
    """Return the ids and paths of a document across renames, newest first, and the ids merged into it."""
    ids, paths = {doc.id}, [doc.path]
    newest_first = [changes for _, changes in patches][::-1]
    before = 0
    while before != len(ids) + len(paths):
        before = len(ids) + len(paths)
        for changes in newest_first:
            for change in changes:
                if change.doc_id in ids and change.path not in paths and _may_be_a_document(change.path):
                    paths.append(change.path)
                if change.op == RENAME and change.after and (change.doc_id in ids or change.path in paths):
                    ids.update(one.doc_id for one in _partners(change, changes) if one.doc_id)
    return _Names(ids, paths, frozenset(doc.aliases) - ids)


def _may_be_a_document(path: str) -> bool:
    # Log lines are untrusted, and their paths are passed to git.
    return kind_of(path) is not None and is_safe(path)


def _partners(change: Change, changes: Iterable[Change]) -> list[Change]:
    """Return the removals in one event that are the old side of a renamed document."""
    gone = [one for one in _removals(changes) if one.op == RENAME]
    near = [one for one in gone if one.doc_id == change.doc_id or one.before == change.after]
    return near or (gone if len(gone) == 1 else [])


def known_texts(transitions: Sequence[Transition], texts: Mapping[str, str]) -> dict[str, str]:
    """Return every text, by hash, that applying diffs forward and backward to ``texts`` or "" gives.

    Texts that do not match the hash in the log are dropped.
    """
    known = {_NO_TEXT: "", **texts}
    ahead: dict[str, list[tuple[str, str]]] = {}
    back: dict[str, list[tuple[str, str]]] = {}
    for transition in transitions:
        if transition.diff is not None:
            for base in {transition.base, transition.before}:
                ahead.setdefault(base, []).append((transition.after, transition.diff))
                back.setdefault(transition.after, []).append((base, transition.diff))
    waiting = list(known)
    while waiting:
        start = waiting.pop()
        ways = [*ahead.get(start, ()), *((base, reversed_diff(diff)) for base, diff in back.get(start, ()))]
        for goal, diff in ways:
            if goal not in known:
                text = apply_diff(known[start], diff)
                if text is not None and content_hash(text) == goal:
                    known[goal] = text
                    waiting.append(goal)
    return known
