"""Read the log: committed and private shards, and a single file in the minimal form of the format.

Read only: an unfinished last line is left alone. `append` writes, under the lock.
"""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING, Final

from thunderus_mem.errors import NotWritable
from thunderus_mem.store.safe_open import READ, open_file

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from thunderus_mem.log.shard import LoggedEvent, LogReading, ShardReader, ShardReading

SHARD_NAME: Final = "events.jsonl"
MAX_SHARD: Final = 256 * 1024 * 1024
_BLOCK: Final = 64 * 1024


def open_regular(path: str) -> int:
    """Open a regular file; raises `OSError` for anything else, e.g. a link, pipe or folder."""
    descriptor = open_file(path, READ | getattr(os, "O_BINARY", 0))
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        return descriptor
    os.close(descriptor)
    raise OSError("not a regular file")


def _lines(path: str, *, jailed: bool = True) -> Iterator[bytes]:
    """Yield the lines of a shard with their ends; ``jailed``: its folder must not be a link."""
    if jailed and os.path.islink(os.path.dirname(path)):
        raise OSError("its folder is a symbolic link")
    with open(open_regular(path), "rb") as file:
        if os.fstat(file.fileno()).st_size > MAX_SHARD:
            raise OSError(f"larger than {MAX_SHARD // (1024 * 1024)} MiB")
        yield from file


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
        self._folders = tuple(dict.fromkeys((sessions_dir, local_sessions_dir)))
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

    def reader(self, shard: str) -> ShardReader:
        """Return a reader of one shard. An unreadable file is a damage at line 0; a missing one is empty."""
        from thunderus_mem.log.shard import ShardReader

        path = self._absolute(shard)
        return ShardReader(shard, _lines(path, jailed=path != self._legacy))

    def read_shard(self, shard: str) -> ShardReading:
        """Read one shard as a whole, like `reader`."""
        return self.reader(shard).read()

    def readings(self) -> Iterator[ShardReading]:
        """Read every shard, one at a time, so that a long log need not fit into memory."""
        return map(self.read_shard, self.shards())

    def read_all(self) -> LogReading:
        """Read all events in the order of the log. For long logs, `readings` needs less memory."""
        from thunderus_mem.log.shard import merge_readings

        return merge_readings(self.readings())

    def read_lines(self, shard: str, numbers: Collection[int]) -> Iterator[LoggedEvent]:
        """Yield the events on some lines of a shard (from 1), in the order of the file; skip damaged lines.

        Raises `NotWritable` if the shard exists but cannot be read.
        """
        from thunderus_mem.log.line import decode
        from thunderus_mem.log.shard import LoggedEvent

        path = self._absolute(shard)
        last = max(numbers, default=0)
        try:
            for number, line in enumerate(islice(_lines(path, jailed=path != self._legacy), last), 1):
                if number in numbers:
                    with suppress(ValueError):
                        event = decode(line.rstrip(b"\n"))
                        yield LoggedEvent(event, shard, number)
        except FileNotFoundError:
            return
        except OSError as error:
            raise NotWritable(
                f"cannot read {shard}: {error.strerror or error}",
                hint="fix its permissions, then run the command again",
            ) from error

    def session_of(self, shard: str) -> str | None:
        """Return the session a shard is named after; ``None`` for the single file of the minimal form."""
        return None if shard == self._relative(self._legacy) else shard.split("/")[-2]

    def contains(self, shard: str, event_id: str) -> bool:
        """Whether a complete line of the shard is the event with this id.

        Raises `NotWritable` if the shard exists but cannot be read: "no" would undo a committed change.
        """
        from thunderus_mem.log.line import decode

        needle = event_id.encode()
        try:
            for line in _lines(self._absolute(shard)):
                if needle in line and line.endswith(b"\n"):
                    with suppress(ValueError):
                        if decode(line[:-1]).id == event_id:
                            return True
        except FileNotFoundError:
            return False
        except OSError as error:
            raise NotWritable(
                f"cannot read {shard}: {error.strerror or error}",
                hint="fix its permissions; it is needed to recover an interrupted change",
            ) from error
        return False
