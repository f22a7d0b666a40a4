"""All errors: a message for people, an optional hint, and the exit code on the class.

::

    ThunderusError              2   wrong usage or invalid input
    ├── NothingWritten          1   the editor saved no new text
    ├── InvalidDocument         2   carries its diagnostics
    ├── InvalidConfig           2   file, key, "did you mean"
    ├── InvalidQuery            2   too long, too many terms
    ├── Conflict                3   the text changed since it was read
    │   └── DocumentExists      3   an id or a path already exists
    ├── NotFound                4   no document has that id, path or name
    │   └── NoStore             4   no .thunderus here or in a parent folder
    ├── NotWritable             4   no permission, no space, read-only file system
    ├── OutOfMemory             4   the system cannot provide more memory
    ├── Refused                 5   a secret, a path outside the store, an untrusted file
    │   └── TooLarge            5   a file larger than the limit
    ├── Degraded                6   damage found; intact data can still be read
    └── Busy                    75  another process holds the lock

Findings are values (`Diagnostic`), failures are these exceptions. They are caught only in ``cli/app.py``.
``code`` is the name in ``--json`` output: it stays the same when the class is renamed.
"""

from __future__ import annotations

import errno
from contextlib import contextmanager
from typing import TYPE_CHECKING, ClassVar, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from thunderus_mem.diagnostic import Diagnostic


class ThunderusError(Exception):
    """The command failed.

    ``str()`` is the message; ``hint`` says what to do next. ``diagnostics`` are the findings that caused it,
    if any.
    """

    code: ClassVar[str] = "Usage"
    exit_code: ClassVar[int] = 2

    def __init__(
        self, message: str, *, hint: str | None = None, diagnostics: Sequence[Diagnostic] = ()
    ) -> None:
        super().__init__(message)
        self.hint = hint
        self.diagnostics = tuple(diagnostics)


@contextmanager
def resumable() -> Iterator[None]:
    """Note in an interruption that the same command, run again, continues."""
    try:
        yield
    except BaseException as stop:
        if not isinstance(stop, Exception):
            stop.add_note("run the same command again to continue")
        raise


class NothingWritten(ThunderusError):
    """The editor saved no new text."""

    code = "NothingWritten"
    exit_code = 1

    def __init__(self) -> None:
        super().__init__("nothing written: the text is empty or unchanged")


class InvalidDocument(ThunderusError):
    """The document to be written is not valid for its kind."""

    code = "InvalidDocument"


class InvalidConfig(ThunderusError):
    """A configuration file has an unknown key or a value of the wrong type."""

    code = "InvalidConfig"


class InvalidQuery(ThunderusError):
    """A query is too long, or a filter has an invalid value."""

    code = "InvalidQuery"


class Conflict(ThunderusError):
    """The text on disk changed since this change was made."""

    code = "Conflict"
    exit_code = 3


class DocumentExists(Conflict):
    """The id or file name already exists."""

    code = "DocumentExists"


class NotFound(ThunderusError):
    """No document has that id, path or name."""

    code = "NotFound"
    exit_code = 4


class NoStore(NotFound):
    """No ``.thunderus`` in this folder or any parent folder."""

    code = "NoStore"


class NotWritable(ThunderusError):
    """A file cannot be read or written: no permission, no space, a read-only file system."""

    code = "NotWritable"
    exit_code = 4


class OutOfMemory(ThunderusError):
    """The system cannot provide more memory."""

    code = "OutOfMemory"
    exit_code = 4

    def __init__(self, message: str = "out of memory", *, hint: str | None = None) -> None:
        super().__init__(message, hint=hint or _MEMORY)


def is_out_of_memory(error: Exception) -> bool:
    """Whether no memory is left.

    The loader reports that as a library that it cannot map, the interpreter at times as a call
    that failed without an exception, because there was no memory for the exception.
    """
    unmapped = isinstance(error, ImportError) and "failed to map segment from shared object" in str(error)
    refused = isinstance(error, OSError) and error.errno == errno.ENOMEM
    lost = isinstance(error, SystemError) and "without" in str(error) and "exception" in str(error)
    return unmapped or refused or lost or isinstance(error, MemoryError)


class Refused(ThunderusError):
    """Refused: a secret in the text, a path outside the store, or a symbolic link instead of a file."""

    code = "Refused"
    exit_code = 5


class TooLarge(Refused):
    """A file is larger than the limit."""

    code = "TooLarge"


class Degraded(ThunderusError):
    """Damage was found; intact data can still be read.

    ``newer`` is set if the data is of a newer version of the program, and therefore not damaged.
    """

    code = "Degraded"
    exit_code = 6
    newer: ClassVar[bool] = False


class Busy(ThunderusError):
    """Another process holds the lock and did not release it in time."""

    code = "Busy"
    exit_code = 75


_SPACE: Final = "free some space, then run the command again"
_PERMISSIONS: Final = "check its owner and permissions, then run the command again"
_MEMORY: Final = "free some memory, or raise its limit (`ulimit -v`), then run the command again"
_NO_LOCKS: Final = "use a local disk, or a file system with a lock service"
_MESSAGES: Final[dict[int, tuple[type[ThunderusError], str, str]]] = {
    errno.ENOENT: (NotFound, "{} does not exist", "check the path"),
    errno.EEXIST: (Conflict, "{} already exists", "run the command again"),
    errno.ENOSPC: (NotWritable, "cannot write {}: no space left on the disk", _SPACE),
    errno.EDQUOT: (NotWritable, "cannot write {}: disk quota exceeded", _SPACE),
    errno.EFBIG: (NotWritable, "cannot write {}: file size limit exceeded", _SPACE),
    errno.ENOMEM: (OutOfMemory, "cannot read or write {}: out of memory", _MEMORY),
    errno.EROFS: (NotWritable, "cannot write {}: read-only file system", "mount it read-write"),
    errno.EACCES: (NotWritable, "cannot open {}: permission denied", _PERMISSIONS),
    errno.EPERM: (NotWritable, "cannot change {}: operation not permitted", _PERMISSIONS),
    errno.EMFILE: (
        NotWritable,
        "cannot open {}: too many open files",
        "raise `ulimit -n`, or close some files",
    ),
    errno.ENFILE: (
        NotWritable,
        "cannot open {}: too many open files in the system",
        "close some programs",
    ),
    errno.ENAMETOOLONG: (NotWritable, "{}: file name too long for this file system", "choose a shorter id"),
    errno.ELOOP: (Refused, "{} is a symbolic link", "replace it with a regular file or folder"),
    errno.EISDIR: (Refused, "{} is a folder, expected a file", "move the folder away"),
    errno.ENOTDIR: (Refused, "part of {} is a file, expected a folder", "move that file away"),
    errno.ESTALE: (
        NotWritable,
        "{} is no longer on the network file system",
        "open the folder again, then run the command again",
    ),
    errno.EIO: (
        NotWritable,
        "cannot read or write {}: input/output error",
        "check the disk; data already written can still be read",
    ),
    errno.EBUSY: (Busy, "{} is in use by another program", "close it there, then run the command again"),
    errno.EAGAIN: (Busy, "{} is in use by another program", "run the command again"),
    errno.ENOLCK: (Busy, "cannot lock {} on this file system", _NO_LOCKS),
    errno.ENOSYS: (Busy, "cannot lock {} on this file system", _NO_LOCKS),
}


def explain(error: OSError, path: str) -> ThunderusError:
    """Return the `ThunderusError` for an ``OSError`` on the file ``path``."""
    known = _MESSAGES.get(error.errno or 0)
    if known is None:
        message = f"cannot read or write {path}: {error.strerror or error}"
        return NotWritable(message, hint="fix the cause, then run the command again")
    kind, message, hint = known
    return kind(message.replace("{}", path), hint=hint)
