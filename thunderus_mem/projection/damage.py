"""What can be wrong with the index file, and how each is said. None of it is the caller's to mend."""

from __future__ import annotations

from thunderus_mem.model.errors import Busy, Degraded


class Damaged(Degraded):
    """The index file cannot be believed; the message says why. Never leaves the projection: it is rebuilt."""


class Newer(Damaged):
    """A later version of the program wrote the index: it is not ours to replace."""


class Moved(Damaged):
    """Another file stands in the place of the one that is open: not damage, open that one."""


def busy(path: str) -> Busy:
    """What to say when another process does not let go."""
    return Busy(
        f"Another process is writing the index {path}.",
        hint="Try again; it is rebuilt whenever it is deleted.",
    )
