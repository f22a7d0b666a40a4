"""Where documents stand that are set aside: a folder that mirrors the memory's own folders. Pure."""

from __future__ import annotations

from typing import Final

__all__ = ["ARCHIVE", "archived_path", "is_archived", "live_path"]

_MEMORY: Final = ".thunderus/memory/"
ARCHIVE: Final = ".thunderus/memory/archive"
"""The folder of the archive, POSIX and relative to root."""
_INSIDE: Final = f"{ARCHIVE}/"


def is_archived(path: str) -> bool:
    """Whether a root-relative POSIX path lies in the archive."""
    return path.startswith(_INSIDE)


def archived_path(path: str) -> str:
    """Where a document of the memory folders goes when it is set aside: ``episodic/2026-01-21.md`` to
    ``archive/episodic/2026-01-21.md``. A path in the archive, or outside the memory, is given back."""
    if is_archived(path) or not path.startswith(_MEMORY):
        return path
    return _INSIDE + path.removeprefix(_MEMORY)


def live_path(path: str) -> str:
    """Where an archived document came from, and goes when it is brought back; other paths as they are."""
    return _MEMORY + path.removeprefix(_INSIDE) if is_archived(path) else path
