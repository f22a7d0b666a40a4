"""Opens files below a store by way of its folders, none of which may be a link, also not for a moment.

A path is looked up anew by every call that takes one, and a folder may have become a link since the last.
So each folder is opened from the one above it, and the file from its folder. What stands above the store
is the user's own affair, and so are files that are in no store.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

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
