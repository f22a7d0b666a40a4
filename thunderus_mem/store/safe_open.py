"""Open files in a store without following symbolic links, even if a folder is replaced meanwhile.

Each system call resolves a path again, and a folder may have become a link since the last one. So each folder
is opened relative to its parent, and the file relative to its folder. Folders above the store, and files
outside any store, may be links.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

READ: Final = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
"""Flags to open a file for reading; without blocking, in case it is a pipe."""
CREATE: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0)
"""Flags to create a file that must not exist."""

_STORE: Final = f"{os.sep}.thunderus"
_BY_DESCRIPTOR: Final = os.open in os.supports_dir_fd
# Traversing a folder does not need permission to list it.
_THROUGH: Final = (
    getattr(os, "O_PATH", os.O_RDONLY) | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0)
)
_NO_LINK: Final = getattr(os, "O_NOFOLLOW", 0)


@contextmanager
def folder_of(path: str) -> Iterator[tuple[str, int | None]]:
    """Yield the file name and the descriptor of its folder, for calls that take ``dir_fd``.

    Yields the path and ``None`` if it is outside a store, or if the system has no ``dir_fd``. Raises
    ``OSError`` if a folder is missing or not a folder (``ENOTDIR`` or ``ELOOP`` for a link).
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
    """Open a file like `os.open`; neither it nor its folders in the store may be links."""
    with folder_of(path) as (name, at):
        return os.open(name, flags | _NO_LINK, mode, dir_fd=at)


class Folders:
    """A context manager that opens many files, and each folder once for files in a row.

    All these files are looked up in the folder as it was when the first of them was opened.
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
        """Open a file like the function `open_file`."""
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
    """Open a folder for reading, to sync or list its entries, like `open_file`."""
    return open_file(path, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0))
