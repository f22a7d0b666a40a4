"""Named places where a test may make a write fail or die, and a trace of what was asked of the disk.

A failpoint does nothing unless ``THUNDERUS_MEM_FAILPOINTS=1`` and ``FAILPOINT=<name>[:raise|kill][:<n>]``
are both in the environment; ``n`` is the pass at which it fires (the first when absent). Several are joined
by commas; ``FAILPOINT=trace=<file>`` lists every pass in a file instead.
"""

from __future__ import annotations

import errno
import os
import time
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from thunderus_mem.errors import Busy, Conflict, NotFound, NotWritable, Refused, ThunderusError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

NAMES: Final = (
    "replace.opened",
    "replace.half-written",
    "replace.written",
    "replace.synced",
    "replace.renamed",
    "replace.done",
    "remove.checked",
    "remove.unlinked",
    "append.opened",
    "append.half-written",
    "append.written",
    "append.synced",
    "append.rolled-back",
    "batch.set-aside",
    "batch.truncated",
    "repair.set-aside",
    "repair.truncated",
    "repair.completed",
    "stage.begun",
    "stage.half-written",
    "stage.bytes",
    "stage.operation",
    "stage.done",
    "commit.before",
    "commit.after",
    "publish.checked",
    "publish.linked",
    "publish.moved",
    "publish.taken",
    "publish.each",
    "publish.done",
    "drop.each",
    "drop.done",
    "heal.found",
    "heal.known",
    "heal.set-aside",
    "heal.done",
)
"""Every failpoint there is; a test holds this list equal to the calls in the code."""

_KILLED: Final = 137
_TRACE: Final = "trace="
_passes: dict[str, int] = {}
_recorder: list[Callable[[str, str, bytes], None]] = []


def _wanted() -> list[str]:
    wanted = os.environ.get("FAILPOINT")
    if not wanted or os.environ.get("THUNDERUS_MEM_FAILPOINTS") != "1":
        return []
    return wanted.split(",")


def armed(name: str) -> bool:
    """Whether a test asked for ``name``: only then a write is cut in two around it."""
    return any(spec.startswith(_TRACE) or spec.partition(":")[0] == name for spec in _wanted())


def hit(name: str) -> None:
    """Fail here when a test asked for it: ``raise`` an ``OSError`` (EIO), or ``kill`` the process (137)."""
    wanted = _wanted()
    if not wanted:
        return
    _passes[name] = turn = _passes.get(name, 0) + 1
    for spec in wanted:
        if spec.startswith(_TRACE):
            with open(spec.removeprefix(_TRACE), "a", encoding="utf-8") as stream:
                stream.write(f"{name}:{turn}\n")
            continue
        point, kind, at = (*spec.split(":"), "", "")[:3]
        if point != name or turn != int(at or 1):
            continue
        if kind == "kill":
            os._exit(_KILLED)
        raise OSError(errno.EIO, f"failpoint {name}")


def note(operation: str, path: str, detail: bytes = b"") -> None:
    """Tell the recorder, if a test set one, what is asked of the disk: operation, path, and its bytes."""
    for recorder in _recorder:
        recorder(operation, path, detail)


@contextmanager
def recording(recorder: Callable[[str, str, bytes], None]) -> Iterator[None]:
    """Call ``recorder(operation, path, detail)`` after each operation on the disk while this is open.

    Operations: ``create``, ``write`` (detail: bytes), ``sync``, ``sync-folder``, ``rename`` and ``link``
    (detail: the new path), ``unlink``, ``truncate`` (detail: the new size in digits), ``mkdir``, ``rmdir``.
    """
    _recorder.append(recorder)
    try:
        yield
    finally:
        _recorder.remove(recorder)


# Files below a store by way of its folders, none of which may be a link, also not for a moment.
#
# A path is looked up anew by every call that takes one, and a folder may have become a link since the last.
# So each folder is opened from the one above it, and the file from its folder. What stands above the store
# is the user's own affair, and so are files that are in no store.

_STORE: Final = f"{os.sep}.thunderus"
_BY_DESCRIPTOR: Final = os.open in os.supports_dir_fd
# Passing through a folder needs no right to list it.
_THROUGH: Final = (
    getattr(os, "O_PATH", os.O_RDONLY) | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0)
)
_NO_LINK: Final = getattr(os, "O_NOFOLLOW", 0)


@contextmanager
def folder_of(path: str) -> Iterator[tuple[str, int | None]]:
    """The name and the descriptor of its folder to look it up from, for calls that take ``dir_fd``.

    The path itself and ``None`` where it is in no store, or the system cannot look up so.
    Raises ``OSError`` when a folder is not there, or is no folder (``ENOTDIR`` or ``ELOOP`` for a link).
    """
    place = path.rfind(_STORE + os.sep) if _BY_DESCRIPTOR else -1
    if place < 0:
        yield path, None
        return
    *folders, name = path[place + 1 :].split(os.sep)
    at = _walk(path[:place] or os.sep, folders)
    try:
        yield name, at
    finally:
        os.close(at)


def _walk(base: str, folders: list[str]) -> int:
    at = os.open(base, _THROUGH)
    for folder in folders:
        try:
            below = os.open(folder, _THROUGH | _NO_LINK, dir_fd=at)
        finally:
            os.close(at)
        at = below
    return at


def open_file(path: str, flags: int, mode: int = 0o777) -> int:
    """`os.open` of a file by way of folders that are no links, and no link itself."""
    with folder_of(path) as (name, at):
        return os.open(name, flags | _NO_LINK, mode, dir_fd=at)


class Folders:
    """Opens files one after another, and the folder of those that stand side by side once.

    A file is that of the folder as it was when the first of them was opened. Use it as a context.
    """

    def __init__(self) -> None:
        self._path = ""
        self._at: int | None = None

    def __enter__(self) -> Folders:
        return self

    def __exit__(self, *raised: object) -> None:
        self._leave()

    def _leave(self) -> None:
        if self._at is not None:
            os.close(self._at)
        self._path, self._at = "", None

    def open_file(self, path: str, flags: int) -> int:
        """The same as the function of this name."""
        folder, _, name = path.rpartition(os.sep)
        if folder != self._path:
            self._leave()
            with folder_of(path) as (_, at):
                self._at = os.dup(at) if at is not None else None
            self._path = folder
        if self._at is None:
            return os.open(path, flags | _NO_LINK)
        return os.open(name, flags | _NO_LINK, dir_fd=self._at)


def open_folder(path: str) -> int:
    """The same for a folder, open for reading, which is how its names are synced and listed."""
    return open_file(path, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0))


# The few calls that change the disk, each told to the recorder, and the one place that words their errors.
#
# Only the modules of the store that write build on it; everybody else writes through ``files``.

# World-writable never, whatever the umask.
_NEW_FILE: Final = 0o664
_NEW_FLAGS: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0)

_OPEN_FILES_HAVE_MODES: Final = os.chmod in os.supports_fd

# access denied, sharing violation, lock violation: another program has the file open for a moment.
_WINDOWS_SHARING: Final = (5, 32, 33)
PAUSES: Final = (0.01, 0.02, 0.05, 0.1, 0.2, 0.4, 0.8, 0.9)
"""Seconds to wait, one after the other, for a file that another program has open."""

_SPACE = "Free some space, then run the command again."
_RIGHTS = "Check who owns it and its permissions, then run the command again."
_MEDIUM = "Check the disk before you trust it with more; what is already written stays readable."
_MEANINGS: Final[dict[int, tuple[type[ThunderusError], str, str]]] = {
    errno.ENOENT: (NotFound, "is not there", "Check the name."),
    errno.EEXIST: (Conflict, "is already there", "Run the command again; it looks anew."),
    errno.ENOSPC: (NotWritable, "could not be written: the disk is full", _SPACE),
    errno.EDQUOT: (NotWritable, "could not be written: your quota is used up", _SPACE),
    errno.EFBIG: (NotWritable, "could not be written: a limit on file sizes is reached", _SPACE),
    errno.EROFS: (NotWritable, "is on a read-only file system", "Mount it for writing; reading still works."),
    errno.EACCES: (NotWritable, "may not be opened: permission denied", _RIGHTS),
    errno.EPERM: (NotWritable, "may not be changed: operation not permitted", _RIGHTS),
    errno.EMFILE: (
        NotWritable,
        "could not be opened: too many open files",
        "Raise `ulimit -n`, or close some.",
    ),
    errno.ENFILE: (NotWritable, "could not be opened: the system has too many open files", "Close some."),
    errno.ENAMETOOLONG: (NotWritable, "has too long a name for this file system", "Choose a shorter id."),
    errno.ELOOP: (Refused, "is a symbolic link", "Put a real file there: links could lead out of the store."),
    errno.EISDIR: (Refused, "is a folder where a file must be", "Move that folder away."),
    errno.ENOTDIR: (Refused, "leads through a file where a folder must be", "Move that file away."),
    errno.ESTALE: (
        NotWritable,
        "is gone from the network file system",
        "Open the folder anew, then try again.",
    ),
    errno.EIO: (NotWritable, "could not be read or written: the disk reports an error", _MEDIUM),
    errno.EBUSY: (Busy, "is in use by another program", "Close it there, then run the command again."),
    errno.EAGAIN: (Busy, "is in use by another program", "Run the command again."),
    errno.ENOLCK: (
        Busy,
        "cannot be locked on this file system",
        "Use a local disk, or one with a lock service.",
    ),
    errno.ENOSYS: (
        Busy,
        "cannot be locked on this file system",
        "Use a local disk, or one with a lock service.",
    ),
}


def explain(error: OSError, path: str) -> ThunderusError:
    """The error of ours that says what the system refused, for which file and what to do about it."""
    kind, what, hint = _MEANINGS.get(
        error.errno or 0,
        (
            NotWritable,
            f"could not be read or written: {error.strerror or error}",
            "Then run the command again.",
        ),
    )
    return kind(f"{path} {what}.", hint=hint)


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


def create(path: str) -> int:
    """Make a new file (it must not exist) and return its descriptor, open for writing."""
    descriptor = open_file(path, _NEW_FLAGS, _NEW_FILE)
    note("create", path)
    return descriptor


def write_all(descriptor: int, path: str, data: bytes, *, failpoint: str = "") -> None:
    """Write every byte, however many calls it takes; ``failpoint`` may stop half-way."""
    rest = memoryview(data)
    if failpoint and armed(failpoint):
        half = max(len(data) // 2, 1)
        os.write(descriptor, rest[:half])
        hit(failpoint)
        rest = rest[half:]
    while rest:
        written = os.write(descriptor, rest)
        rest = rest[written:]
    note("write", path, data)


def sync_file(descriptor: int, path: str) -> None:
    """Have the bytes of an open file reach the disk, its cache included where the system lets us ask."""
    full_sync = _full_sync_command()
    if full_sync is None:
        os.fsync(descriptor)
    else:
        import fcntl

        fcntl.fcntl(descriptor, full_sync)
    note("sync", path)


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
    note("sync-folder", path)


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
    note("mkdir", path)


def remove_folder(path: str) -> None:
    """Take an empty folder away."""
    with folder_of(path) as (name, at):
        os.rmdir(name, dir_fd=at)
    note("rmdir", path)


def rename(source: str, target: str, *, pauses: Iterable[float] = PAUSES) -> None:
    """Put ``source`` in the place of ``target`` in one step; ``pauses`` as in `retrying`."""
    with folder_of(source) as (old, here), folder_of(target) as (new, there):
        retrying(partial(os.replace, src_dir_fd=here, dst_dir_fd=there), old, new, pauses=pauses)
    note("rename", source, os.fsencode(target))


def link(source: str, target: str) -> None:
    """Give ``source`` a second name; fails when ``target`` exists."""
    with folder_of(source) as (old, here), folder_of(target) as (new, there):
        os.link(old, new, src_dir_fd=here, dst_dir_fd=there)
    note("link", source, os.fsencode(target))


def unlink(path: str) -> None:
    """Take a name away."""
    with folder_of(path) as (name, at):
        retrying(partial(os.unlink, dir_fd=at), name)
    note("unlink", path)


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
    note("truncate", path, str(size).encode())
