"""The log on disk, read only: shards of all sessions, private ones, and one file in the seed's minimal form.

Appending belongs to `files`, under the lock. A reader changes nothing: an unfinished last line is left alone.
"""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from thunderus_mem.model.errors import NotWritable
from thunderus_mem.model.event import decode
from thunderus_mem.model.shard import (
    SHAPE,
    Damage,
    LoggedEvent,
    LogReading,
    ShardReading,
    merge_readings,
    parse_shard,
)
from thunderus_mem.store.unlinked import open_file

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator


__all__ = [
    "SHARD_NAME",
    "Damage",
    "EventLog",
    "LogReading",
    "LoggedEvent",
    "ShardReading",
    "last_line",
    "open_regular",
]

SHARD_NAME: Final = "events.jsonl"
MAX_SHARD: Final = 256 * 1024 * 1024
_BLOCK: Final = 64 * 1024
_FLAGS: Final = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)


def open_regular(path: str) -> int:
    """Open a regular file; raises `OSError` for anything else (link, pipe, folder)."""
    descriptor = open_file(path, _FLAGS | getattr(os, "O_BINARY", 0))
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        return descriptor
    os.close(descriptor)
    raise OSError("not a regular file")


def _read(path: str, *, jailed: bool = True) -> bytes:
    """The bytes of a shard; ``jailed``: its folder may not be a link."""
    if jailed and os.path.islink(os.path.dirname(path)):
        raise OSError("its folder is a link")
    with open(open_regular(path), "rb") as file:
        data = file.read(MAX_SHARD + 1)
    if len(data) > MAX_SHARD:
        raise OSError(f"larger than {MAX_SHARD // (1024 * 1024)} MiB")
    return data


def last_line(path: str) -> bytes | None:
    """The last line of a file without its line end, read from the end.

    ``None`` when there is no file, it cannot be read, has no line, or the last line has no line end.
    """
    try:
        return read_last_line(path)
    except OSError:
        return None


def read_last_line(path: str) -> bytes | None:
    """As `last_line`, but raises ``OSError`` when there is no file, or the system will not let us read it."""
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
    """All shards of one store. Folders and ``legacy_file`` are absolute; shards are named from ``root``."""

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
        """Root-relative paths of all shards, sorted; a store without a log has none."""
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
        """Whether the shard belongs to this working tree alone and is never committed."""
        return shard.startswith(self._private)

    def read_shard(self, shard: str) -> ShardReading:
        """Read one shard. A file that cannot be read is a damage at line 0; a missing one is empty."""
        path = self._absolute(shard)
        try:
            data = _read(path, jailed=path != self._legacy)
        except FileNotFoundError:
            return ShardReading(shard, (), (), False)
        except OSError as error:
            message = f"the shard cannot be read: {error.strerror or error}"
            return ShardReading(shard, (), (Damage(0, SHAPE, message, shard),), False)
        return parse_shard(shard, data)

    def readings(self) -> Iterator[ShardReading]:
        """Every shard, one after the other, so that a long log need not fit into memory."""
        return map(self.read_shard, self.shards())

    def read_all(self) -> LogReading:
        """Every event of every shard, in the order of the log. Long logs take much memory: see `readings`."""
        return merge_readings(self.readings())

    def read_lines(self, shard: str, numbers: Collection[int]) -> list[LoggedEvent]:
        """The events on some lines of a shard (from 1), in the order of the file; damaged lines are left
        out. Raises `NotWritable` when the shard is there but cannot be read."""
        path = self._absolute(shard)
        try:
            lines = _read(path, jailed=path != self._legacy).split(b"\n")
        except FileNotFoundError:
            return []
        except OSError as error:
            raise NotWritable(
                f"{shard} cannot be read: {error.strerror or error}",
                hint="mend its permissions, then run the command again",
            ) from error
        found = []
        for number in sorted(numbers):
            if number <= len(lines):
                with suppress(ValueError):
                    found.append(LoggedEvent(decode(lines[number - 1]), shard, number))
        return found

    def session_of(self, shard: str) -> str | None:
        """The session a shard is named after; ``None`` for the single file of the seed's form."""
        return None if shard == self._relative(self._legacy) else shard.split("/")[-2]

    def contains(self, shard: str, event_id: str) -> bool:
        """Whether a complete line of the shard is the event with this id.

        Raises `NotWritable` when the shard is there but cannot be read: "no" would undo a committed change.
        """
        try:
            data = _read(self._absolute(shard))
        except FileNotFoundError:
            return False
        except OSError as error:
            raise NotWritable(
                f"{shard} cannot be read: {error.strerror or error}",
                hint="mend its permissions; an interrupted change waits for it",
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
