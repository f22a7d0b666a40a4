"""The few operations that change the disk.

Only the modules that write durably build on it; everybody else writes through ``files``. Every path is looked
up without following links (``safe_open``).
"""

from __future__ import annotations

import os
import time
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from thunderus_mem.store.safe_open import folder_of, open_file, open_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

# World-writable never, whatever the umask.
_NEW_FILE: Final = 0o664
_NEW_FLAGS: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0)

_OPEN_FILES_HAVE_MODES: Final = os.chmod in os.supports_fd

# access denied, sharing violation, lock violation: another program has the file open for a moment.
_WINDOWS_SHARING: Final = (5, 32, 33)
PAUSES: Final = (0.01, 0.02, 0.05, 0.1, 0.2, 0.4, 0.8, 0.9)
"""Seconds to wait, one after the other, for a file that another program has open."""


def is_held(error: OSError) -> bool:
    """Whether this is how Windows says that another program has the file."""
    return getattr(error, "winerror", None) in _WINDOWS_SHARING


def retrying(action: Callable[..., Any], *paths: str, pauses: Iterable[float] = PAUSES) -> None:
    """Call ``action(*paths)``; again after each of the ``pauses`` while Windows says a program has the file.

    Only those that are needed are taken from an iterator: several calls may share one.
    """
    left = iter(pauses)
    while True:
        try:
            action(*paths)
        except OSError as error:
            pause = next(left, None) if is_held(error) else None
            if pause is None:
                raise
            time.sleep(pause)
        else:
            return


def mode_of(path: str) -> int:
    """``st_mode`` of what has this name, links not followed; 0 when there is nothing.

    Unlike ``os.path.exists`` it raises when the system will not say: unknown is not absent.
    """
    try:
        with folder_of(path) as (name, at):
            return os.lstat(name, dir_fd=at).st_mode
    except (FileNotFoundError, NotADirectoryError):
        return 0


def create(path: str, flags: int = _NEW_FLAGS) -> int:
    """Make a new file and return its descriptor. By the usual ``flags`` it must not exist."""
    return open_file(path, flags, _NEW_FILE)


def write_all(descriptor: int, path: str, data: bytes) -> None:
    """Write every byte, however many calls it takes."""
    rest = memoryview(data)
    while rest:
        written = os.write(descriptor, rest)
        rest = rest[written:]


def write_new(path: str, pieces: Iterable[bytes], mode: int | None) -> None:
    """Create a file with these bytes and, if given, the permission bits ``mode``; sync it.

    The bits are set while the file is empty: no one else may open it once it contains a private text.
    """
    descriptor = create(path)
    try:
        if mode is not None:
            set_mode(path, mode)
        for piece in pieces:
            write_all(descriptor, path, piece)
        sync_file(descriptor, path)
    finally:
        os.close(descriptor)


def sync_file(descriptor: int, path: str) -> None:
    """Have the bytes of an open file reach the disk, its cache included where the system lets us ask."""
    full_sync = _full_sync_command()
    if full_sync is None:
        os.fsync(descriptor)
    else:
        import fcntl

        fcntl.fcntl(descriptor, full_sync)


def _full_sync_command() -> int | None:
    # macOS: a plain fsync leaves the bytes in the drive's own cache.
    try:
        import fcntl
    except ImportError:
        return None
    command: int | None = getattr(fcntl, "F_FULLFSYNC", None)
    return command


def sync_folder(path: str) -> None:
    """Have the names in a folder reach the disk (where folders can be opened: not on Windows)."""
    if os.name == "nt":
        return
    descriptor = open_folder(path)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def make_folders(path: str, *, durable: bool = True) -> None:
    """Make a folder and those above it that are missing, each name synced."""
    if os.path.isdir(path):
        return
    parent = os.path.dirname(path) or "."
    make_folders(parent, durable=durable)
    try:
        make_folder(path)
    except FileExistsError:
        if not os.path.isdir(path):
            raise
        return
    if durable:
        sync_folder(parent)


def make_folder(path: str) -> None:
    """Make one folder; it must not exist."""
    with folder_of(path) as (name, at):
        os.mkdir(name, dir_fd=at)


def remove_folder(path: str) -> None:
    """Take an empty folder away."""
    with folder_of(path) as (name, at):
        os.rmdir(name, dir_fd=at)


def rename(source: str, target: str, *, pauses: Iterable[float] = PAUSES) -> None:
    """Put ``source`` in the place of ``target`` in one step; ``pauses`` as in `retrying`."""
    with folder_of(source) as (old, here), folder_of(target) as (new, there):
        retrying(partial(os.replace, src_dir_fd=here, dst_dir_fd=there), old, new, pauses=pauses)


def link(source: str, target: str) -> None:
    """Give ``source`` a second name; fails when ``target`` exists."""
    with folder_of(source) as (old, here), folder_of(target) as (new, there):
        os.link(old, new, src_dir_fd=here, dst_dir_fd=there)


def unlink(path: str) -> None:
    """Take a name away."""
    with folder_of(path) as (name, at):
        retrying(partial(os.unlink, dir_fd=at), name)


def set_mode(path: str, mode: int) -> None:
    """Give a regular file these permission bits."""
    if not _OPEN_FILES_HAVE_MODES:
        os.chmod(path, mode)
        return
    descriptor = open_file(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0))
    try:
        os.chmod(descriptor, mode)
    finally:
        os.close(descriptor)


def truncate(descriptor: int, path: str, size: int) -> None:
    """Cut an open file to ``size`` bytes."""
    os.ftruncate(descriptor, size)
