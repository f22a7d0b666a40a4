"""The seal beside the index: the stamp its file had after our last write. Another stamp, another writer."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from typing import Final

from thunderus_mem.store.unlinked import folder_of, open_file

_LIMIT = 200
# Not blocking, should somebody have put a pipe there.
_READ: Final = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
_BACKDATE_NS = 5_000_000_001


def write_seal(path: str) -> None:
    """Remember the stamp of the index file after our own write, before anybody else gets at it.

    Its mtime is set back first, so that a write by anybody else, even in the same tick, gives another one.
    """
    from thunderus_mem.projection.replacing import put

    try:
        moment = time.time_ns() - _BACKDATE_NS
        with folder_of(path) as (name, at):
            os.utime(name, ns=(moment, moment), dir_fd=at)
        put(_seal_path(path), _stamp(path).encode("ascii"))
    except OSError:
        break_seal(path)


def break_seal(path: str) -> None:
    """Have the next one who opens the index build a new one: slower, never wrong."""
    with suppress(OSError), folder_of(_seal_path(path)) as (name, at):
        os.unlink(name, dir_fd=at)


def sealed(path: str) -> bool:
    """Whether the index file is as we left it. To be asked while no writer of ours can be at work."""
    try:
        descriptor = open_file(_seal_path(path), _READ)
        try:
            kept = os.read(descriptor, _LIMIT)
        finally:
            os.close(descriptor)
        return kept == _stamp(path).encode("ascii")
    except OSError:
        return False


def _seal_path(path: str) -> str:
    return f"{path}.seal"


def _stamp(path: str) -> str:
    with folder_of(path) as (name, at):
        info = os.lstat(name, dir_fd=at)
    return f"{info.st_size} {info.st_mtime_ns} {info.st_ctime_ns} {info.st_ino}"


def inode_of(path: str) -> int:
    """What tells one file in a place from the next; 0 when there is none."""
    try:
        return os.lstat(path).st_ino
    except (FileNotFoundError, NotADirectoryError):
        return 0
