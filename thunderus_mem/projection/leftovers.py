"""What a killed process left beside the index: half a new index, half a manifest. Found, and swept away."""

from __future__ import annotations

import os
import re
import time
from typing import Final, NamedTuple

QUIET_SECONDS: Final = 60.0
"""A file somebody still writes has changed since."""

_NAMES: Final = re.compile(
    r"(memory\.db(\.seal)?|manifest\.json|verdicts\.json|similar\.bin)\.[0-9a-f]{12}\.tmp(-journal)?",
    re.ASCII,
)
_FLAGS: Final = (
    os.O_RDWR | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
)


class Leftover(NamedTuple):
    """A temporary file in the folder of the index. ``in_use``: written lately, or held by a process."""

    path: str
    size: int
    in_use: bool


def leftovers(folder: str) -> list[Leftover]:
    """The temporary files in a folder of projections, by name; none when it cannot be listed."""
    found = []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if _NAMES.fullmatch(entry.name):
                    info = entry.stat(follow_symlinks=False)
                    lately = info.st_mtime > time.time() - QUIET_SECONDS
                    found.append(Leftover(entry.path, info.st_size, lately or _is_held(entry.path)))
    except OSError:
        return []
    return sorted(found)


def sweep(folder: str) -> None:
    """Remove those that nobody writes any more."""
    for leftover in leftovers(folder):
        if not leftover.in_use:
            try:
                os.unlink(leftover.path)
            except OSError:
                continue


def _is_held(path: str) -> bool:
    """Whether another process holds SQLite's lock on the file; it dies with that process."""
    try:
        import fcntl

        descriptor = os.open(path, _FLAGS)
    except (ImportError, OSError):
        return False
    try:
        fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(descriptor)
    return False
