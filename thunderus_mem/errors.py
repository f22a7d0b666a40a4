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

from typing import TYPE_CHECKING, ClassVar

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
