"""Failures to inject into a command: a failing call, a size limit, a file locked by another program."""

from __future__ import annotations

import errno
import os
import stat
from typing import TYPE_CHECKING, Any

from thunderus_mem.log import append
from thunderus_mem.memory import journal
from thunderus_mem.store import disk, files, lock, paths

if TYPE_CHECKING:
    from collections.abc import Callable

MODULES = (disk, files, journal, lock, paths, journal, journal, append, disk)
ERRNOS = (
    errno.ENOSPC,
    errno.EDQUOT,
    errno.EIO,
    errno.EROFS,
    errno.EACCES,
    errno.EPERM,
    errno.EMFILE,
    errno.ENFILE,
    errno.ENAMETOOLONG,
    errno.ELOOP,
    errno.ESTALE,
    errno.ENOLCK,
)
CALLS = frozenset(
    [
        "open",
        "write",
        "fsync",
        "replace",
        "link",
        "unlink",
        "mkdir",
        "rmdir",
        "ftruncate",
        "fstat",
        "lstat",
        "read",
        "pread",
        "listdir",
        "scandir",
        "chmod",
    ]
)


class FailingOs:
    """``os``, of which the n-th call that touches the disk fails with an errno; None: only counts."""

    def __init__(self, at: int | None, code: int) -> None:
        self.calls = 0
        self.at = at
        self.code = code
        self.failed = ""

    def __getattr__(self, name: str):
        real = getattr(os, name)
        if name not in CALLS:
            return real

        def call(*arguments, **named):
            if name == "open" and arguments[1] & getattr(os, "O_PATH", 0):
                return real(*arguments, **named)  # a folder on the way
            self.calls += 1
            if self.calls == self.at:
                self.failed = name
                raise OSError(self.code, os.strerror(self.code))
            return real(*arguments, **named)

        return call


def refuse(at: int | None, code: int) -> Callable[[], dict[str, object]]:
    """In a process that is about to run one command: its ``at``-th call refuses with ``code``."""
    failing = FailingOs(at, code)
    for module in MODULES:
        module.os = failing
    return lambda: {"calls": failing.calls, "failed": failing.failed}


def limit(size: int) -> Callable[[], dict[str, Any]]:
    """No file may grow past ``size`` bytes: a write that would is cut there, the next one refused."""
    import resource

    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))

    def lifted() -> dict[str, Any]:
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        return {}

    return lifted


class _SyncFails:
    """``os`` of which the n-th ``fsync`` fails, and that notes a later one which would be believed."""

    def __init__(self, at: int) -> None:
        self.calls, self.at = 0, at
        self.failed: tuple[int, int, int] | None = None
        self.refused = ""
        self.believed: list[str] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(os, name)

    def fsync(self, descriptor: int) -> None:
        self.calls += 1
        info = os.fstat(descriptor)
        path = os.readlink(f"/proc/self/fd/{descriptor}")
        if self.calls == self.at:
            self.failed, self.refused = (info.st_dev, info.st_ino, info.st_size), path
            os.dup(descriptor)  # held, so that no other file gets its number once it is gone
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        os.fsync(descriptor)
        # Taking back what could not be synced is no retry: the file is shorter then.
        same = self.failed is not None and (info.st_dev, info.st_ino) == self.failed[:2]
        if same and stat.S_ISREG(info.st_mode) and info.st_size >= self.failed[2]:
            self.believed.append(path)


def sync_fails(at: int) -> Callable[[], dict[str, Any]]:
    """The ``at``-th sync of the command fails (0: none, they are only counted)."""
    failing = _SyncFails(at)
    for module in MODULES:
        module.os = failing  # type: ignore[attr-defined]
    return lambda: {"syncs": failing.calls, "path": failing.refused, "believed": failing.believed}


def _whole(path: str, folder: int | None) -> str:
    """The name as a whole path, where it is one in an open folder."""
    at = folder is not None and folder >= 0
    return os.path.join(os.readlink(f"/proc/self/fd/{folder}"), path) if at else path


def held_elsewhere(times: int, code: int) -> Callable[[], dict[str, Any]]:
    """As Windows does while another program has a file open: each name is refused ``times`` times.

    ``longest`` is how many seconds the command waits for one name, however often it tries.
    """
    left: dict[str, int] = {}
    waited: dict[str, float] = {}
    longest = [0.0]
    last = ""

    class Held:
        def __getattr__(self, name: str) -> Any:
            return getattr(os, name)

        def replace(self, source: str, target: str, **options: Any) -> None:
            refuse(_whole(target, options.get("dst_dir_fd")))
            os.replace(source, target, **options)

        def unlink(self, path: str, **options: Any) -> None:
            refuse(_whole(path, options.get("dir_fd")))
            os.unlink(path, **options)

    def refuse(path: str) -> None:
        nonlocal last
        last = path
        if left.setdefault(path, times) > 0:
            left[path] -= 1
            error = PermissionError(errno.EACCES, "another program has it open", path)
            error.winerror = code  # type: ignore[attr-defined]
            raise error

    class Clock:
        @staticmethod
        def sleep(seconds: float) -> None:
            waited[last] = waited.get(last, 0.0) + seconds
            longest[0] = max(longest[0], waited[last])

    disk.os = Held()  # type: ignore[assignment]
    disk.time = Clock()  # type: ignore[assignment]
    return lambda: {"longest": longest[0], "names": len(left)}
