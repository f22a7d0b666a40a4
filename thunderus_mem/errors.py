"""The one tree of errors. A message for people, an optional hint, and the exit code on the class.

::

    ThunderusError              2   wrong usage or invalid input
    ├── InvalidDocument         2   carries its diagnostics
    ├── InvalidConfig           2   file, key, "did you mean"
    ├── InvalidQuery            2   too long, too many terms
    ├── Conflict                3   the text moved under us
    │   └── DocumentExists      3   an id or a path is taken
    ├── NotFound                4   nothing has that id, path or name
    │   └── NoStore             4   no .thunderus here or above
    ├── NotWritable             4   the disk refused: permission, space, read-only
    ├── Refused                 5   a secret, a path outside the store, an untrusted file
    │   └── TooLarge            5   a file beyond the limit of what is read
    ├── Degraded                6   damage found; what is whole is still served
    └── Busy                    75  another process holds the lock

A finding is a value (`Diagnostic`), a failure is one of these. They are caught in one place, ``cli/app.py``.
``code`` is what ``--json`` calls an error: part of the output's shape, whatever the class is named.
"""

from __future__ import annotations

import errno
from typing import TYPE_CHECKING, ClassVar, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

    from thunderus_mem.diagnostic import Diagnostic


class ThunderusError(Exception):
    """Something could not be done. ``str()`` is the message; ``hint`` says what to do next.

    ``diagnostics`` are the findings it is about, where there are any.
    """

    code: ClassVar[str] = "ThunderusError"
    exit_code: ClassVar[int] = 2

    def __init__(
        self, message: str, *, hint: str | None = None, diagnostics: Sequence[Diagnostic] = ()
    ) -> None:
        super().__init__(message)
        self.hint = hint
        self.diagnostics = tuple(diagnostics)


class InvalidDocument(ThunderusError):
    """A document that would be written does not hold what its kind asks for."""

    code = "InvalidDocument"


class InvalidConfig(ThunderusError):
    """A configuration file has an unknown key or a value of the wrong type."""

    code = "InvalidConfig"


class InvalidQuery(ThunderusError):
    """A query is longer than the limits allow, or a filter has an impossible value."""

    code = "InvalidQuery"


class Conflict(ThunderusError):
    """The text on disk is not the text this change was made from."""

    code = "Conflict"
    exit_code = 3


class DocumentExists(Conflict):
    """An id or a file name is already taken."""

    code = "DocumentExists"


class NotFound(ThunderusError):
    """Nothing has that id, path or name."""

    code = "NotFound"
    exit_code = 4


class NoStore(NotFound):
    """There is no ``.thunderus`` in this folder or above it."""

    code = "NoStore"


class NotWritable(ThunderusError):
    """The disk refused: permission, space, a read-only file system."""

    code = "NotWritable"
    exit_code = 4


class Refused(ThunderusError):
    """We will not: a secret in the text, a path that leaves the store, a link where a file must be."""

    code = "Refused"
    exit_code = 5


class TooLarge(Refused):
    """A file is larger than what is read."""

    code = "TooLarge"


class Degraded(ThunderusError):
    """Damage was found; what is whole is still served."""

    code = "Degraded"
    exit_code = 6


class Busy(ThunderusError):
    """Another process holds the lock and did not let go in time."""

    code = "Busy"
    exit_code = 75


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
