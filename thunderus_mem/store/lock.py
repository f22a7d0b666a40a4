"""The lock of a working tree: a kernel lock (flock), released when its process ends."""

from __future__ import annotations

import errno
import fcntl
import os
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from thunderus_mem.errors import Busy, explain
from thunderus_mem.store.disk import make_folders

if TYPE_CHECKING:
    from collections.abc import Iterator

_POLL: Final = 0.01
_NO_LOCKS: Final = frozenset({errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.EINVAL})
_TAKEN: Final = frozenset({errno.EAGAIN, errno.EACCES})
_FLAGS: Final = os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_OWNER_LIMIT: Final = 4096


def owner_path(lock_path: str) -> str:
    """Return the path of the file that describes the holder of the lock; used only in messages."""
    return os.path.join(os.path.dirname(lock_path), "local", "lock-owner.json")


@contextmanager
def held(lock_path: str, *, timeout: float = 10.0, command: str = "") -> Iterator[None]:
    """Hold the lock while the block runs; wait at most ``timeout`` seconds for it.

    Raises ``Busy`` if another process keeps it or the file system has no locks, and ``NotWritable`` if the
    lock file cannot be opened. The file is never removed. Never wait for git, an editor or the network while
    holding the lock.
    """
    limit = time.monotonic() + timeout
    try:
        while (descriptor := _lock(lock_path, os.O_CREAT)) is None:
            if time.monotonic() >= limit:
                raise _busy(lock_path, timeout)
            time.sleep(_POLL)
    except OSError as error:
        if error.errno in _NO_LOCKS:
            raise _no_locks(lock_path) from error
        raise explain(error, lock_path) from error
    try:
        _write_owner(lock_path, command)
        yield
    finally:
        # Unlock first: a process forked meanwhile has the descriptor too, and would keep the lock.
        fcntl.flock(descriptor, fcntl.LOCK_UN)
        os.close(descriptor)


def is_held(lock_path: str) -> bool:
    """Whether a process holds the lock now; false if that cannot be determined. Does not wait."""
    try:
        descriptor = _lock(lock_path)
    except OSError:
        return False
    if descriptor is not None:
        os.close(descriptor)
    return descriptor is None


def _lock(lock_path: str, create: int = 0) -> int | None:
    """Open the file and lock it; ``None`` if another process holds the lock."""
    descriptor = os.open(lock_path, _FLAGS | create, 0o644)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # A file deleted meanwhile (by git, say) locks nobody out.
        if os.fstat(descriptor).st_nlink:
            kept, descriptor = descriptor, -1
            return kept
    except OSError as error:
        if error.errno not in _TAKEN:
            raise
    finally:
        if descriptor >= 0:
            os.close(descriptor)
    return None


def _no_locks(lock_path: str) -> Busy:
    return Busy(
        f"cannot lock {lock_path} on this file system",
        hint="use a local disk, or a file system with a lock service",
    )


def _write_owner(lock_path: str, command: str) -> None:
    import json

    owner = {"pid": os.getpid(), "host": _host(), "command": command, "since": time.time()}
    path = owner_path(lock_path)
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_NONBLOCK
    # Used only in messages: no error here may stop a write.
    try:
        make_folders(os.path.dirname(path))
        descriptor = os.open(path, flags, 0o644)
    except OSError:
        return
    try:
        os.write(descriptor, json.dumps(owner).encode())
    except OSError:
        return
    finally:
        os.close(descriptor)


def _host() -> str:
    uname = getattr(os, "uname", None)
    return str(uname().nodename) if uname else os.environ.get("COMPUTERNAME", "")


def _read_owner(lock_path: str) -> dict[str, Any]:
    import json

    try:
        descriptor = os.open(owner_path(lock_path), os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
        with open(descriptor, "rb") as stream:
            owner = json.loads(stream.read(_OWNER_LIMIT) or b"null")
    except (OSError, ValueError):
        return {}
    return owner if isinstance(owner, dict) else {}


def _busy(lock_path: str, timeout: float) -> Busy:
    owner = _read_owner(lock_path)
    who = "another process"
    if isinstance(owner.get("pid"), int):
        command = str(owner.get("command") or "a command")[:200]
        since = owner.get("since")
        age = f", started {max(time.time() - since, 0):.0f} s ago" if isinstance(since, int | float) else ""
        who = f"process {owner['pid']} on {str(owner.get('host'))[:100]} ({command}{age})"
    return Busy(
        f"{who} holds {lock_path}; gave up after {timeout:g} s, nothing was written",
        hint="run the command again; if that process hangs, end it, which releases the lock",
    )
