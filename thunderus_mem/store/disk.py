"""The operations that change the disk.

Only modules that write durably use it directly; all others write through ``files``. Paths are opened without
following symbolic links (``safe_open``).
"""

from __future__ import annotations

import os
import time
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from thunderus_mem.store.safe_open import CREATE, folder_of, open_file, open_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

# Never world-writable, whatever the umask.
_NEW_FILE: Final = 0o664

_CAN_CHMOD_DESCRIPTOR: Final = os.chmod in os.supports_fd

# Access denied, sharing violation, lock violation: another program has the file open, usually briefly.
_WINDOWS_SHARING: Final = (5, 32, 33)
PAUSES: Final = (0.01, 0.02, 0.05, 0.1, 0.2, 0.4, 0.8, 0.9)
"""Seconds to wait before each retry for a file that another program has open."""


def is_held(error: OSError) -> bool:
    """Whether Windows reports that another program has the file open."""
    return getattr(error, "winerror", None) in _WINDOWS_SHARING


def retrying(action: Callable[..., Any], *paths: str, pauses: Iterable[float] = PAUSES) -> None:
    """Call ``action(*paths)``; on Windows, retry while another program has the file open, after each pause.

    Several calls may share one iterator of pauses: only the pauses that are needed are consumed.
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
    """Return ``st_mode`` of the path, without following links; 0 if it does not exist.

    Unlike ``os.path.exists`` it raises if the system cannot answer: unknown is not missing.
    """
    try:
        with folder_of(path) as (name, at):
            return os.lstat(name, dir_fd=at).st_mode
    except (FileNotFoundError, NotADirectoryError):
        return 0


def create(path: str, flags: int = CREATE) -> int:
    """Create a file and return its descriptor. With the default ``flags`` it must not exist."""
    return open_file(path, flags, _NEW_FILE)


def write_all(descriptor: int, path: str, data: bytes) -> None:
    """Write all bytes, in as many calls as needed."""
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
    """Sync an open file to the disk, including the drive's cache where the system supports it."""
    full_sync = _full_sync_command()
    if full_sync is None:
        os.fsync(descriptor)
    else:
        import fcntl

        fcntl.fcntl(descriptor, full_sync)


def _full_sync_command() -> int | None:
    # macOS: fsync leaves the bytes in the drive's cache.
    try:
        import fcntl
    except ImportError:
        return None
    command: int | None = getattr(fcntl, "F_FULLFSYNC", None)
    return command


def sync_folder(path: str) -> None:
    """Sync the entries of a folder to the disk (not on Windows, where folders cannot be opened)."""
    if os.name == "nt":
        return
    descriptor = open_folder(path)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def make_folders(path: str, *, durable: bool = True) -> None:
    """Create a folder and its missing parents, each synced if ``durable``."""
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
    """Create one folder; it must not exist."""
    with folder_of(path) as (name, at):
        os.mkdir(name, dir_fd=at)


def remove_folder(path: str) -> None:
    """Remove an empty folder."""
    with folder_of(path) as (name, at):
        os.rmdir(name, dir_fd=at)


def rename(source: str, target: str, *, pauses: Iterable[float] = PAUSES) -> None:
    """Replace ``target`` with ``source`` atomically; ``pauses`` as in `retrying`."""
    with folder_of(source) as (old, here), folder_of(target) as (new, there):
        retrying(partial(os.replace, src_dir_fd=here, dst_dir_fd=there), old, new, pauses=pauses)


def link(source: str, target: str) -> None:
    """Create a hard link ``target`` to ``source``; fails if ``target`` exists."""
    with folder_of(source) as (old, here), folder_of(target) as (new, there):
        os.link(old, new, src_dir_fd=here, dst_dir_fd=there)


def unlink(path: str) -> None:
    """Remove a file."""
    with folder_of(path) as (name, at):
        retrying(partial(os.unlink, dir_fd=at), name)


def set_mode(path: str, mode: int) -> None:
    """Set the permission bits of a regular file."""
    if not _CAN_CHMOD_DESCRIPTOR:
        os.chmod(path, mode)
        return
    descriptor = open_file(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0))
    try:
        os.chmod(descriptor, mode)
    finally:
        os.close(descriptor)


def truncate(descriptor: int, path: str, size: int) -> None:
    """Truncate an open file to ``size`` bytes."""
    os.ftruncate(descriptor, size)
