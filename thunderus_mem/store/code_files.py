"""Reads the code that documents talk about. Nothing here writes, follows a link or leaves the root."""

from __future__ import annotations

import os
import stat
from typing import Final, NamedTuple

__all__ = ["MAX_CODE", "CodeFile", "CodeFolder"]

MAX_CODE: Final = 2 << 20
"""Bytes of the largest file whose code is looked at."""
_MOST_FILES: Final = 50_000
_FLAGS: Final = (
    os.O_RDONLY
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NOCTTY", 0)
)


class CodeFile(NamedTuple):
    """A file's bytes, or the ``trouble`` that keeps them from being read, as a phrase."""

    data: bytes
    trouble: str = ""


class CodeFolder:
    """The files below a root. Folders are looked at once, so one is for a single command."""

    def __init__(self, root: str) -> None:
        self.root = root
        self._real = os.path.realpath(root)
        self._inside: dict[str, bool] = {"": True}

    def _leads_out(self, folder: str) -> bool:
        inside = self._inside.get(folder)
        if inside is None:
            real = os.path.realpath(os.path.join(self.root, *folder.split("/")))
            inside = self._inside[folder] = real == self._real or real.startswith(self._real + os.sep)
        return not inside

    def _place(self, path: str) -> str:
        return os.path.join(self.root, *path.split("/"))

    def stamp(self, path: str) -> tuple[int, int, int, int] | None:
        """Size, mtime, ctime (ns) and inode of a regular file; ``None`` for anything else."""
        try:
            found = os.lstat(self._place(path))
        except (OSError, ValueError):
            return None
        if not stat.S_ISREG(found.st_mode):
            return None
        return (found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino)

    def walk(self) -> list[str]:
        """Files below the root, sorted; hidden ones and what stands in hidden folders left out. At most
        50,000: where no git says what belongs to the code, a larger tree is not looked through."""
        found: list[str] = []
        waiting = [""]
        while waiting and len(found) < _MOST_FILES:
            folder = waiting.pop()
            try:
                with os.scandir(os.path.join(self.root, *folder.split("/"))) as entries:
                    for entry in entries:
                        path = f"{folder}/{entry.name}" if folder else entry.name
                        if entry.name.startswith("."):
                            continue
                        if entry.is_dir(follow_symlinks=False):
                            waiting.append(path)
                        elif entry.is_file(follow_symlinks=False):
                            found.append(path)
            except OSError:  # a folder that cannot be listed holds nothing that can be judged
                continue
        return sorted(found)

    def read(self, path: str) -> CodeFile | None:
        """A file below the root; ``None`` when there is none. Never raises for what a tree can hold."""
        if "\0" in path or path.startswith("/") or ".." in path.split("/"):
            return None
        folder = path.rpartition("/")[0]
        if self._leads_out(folder):
            return CodeFile(b"", "its folder is a link that leads out of the repository")
        place = self._place(path)
        try:
            descriptor = os.open(place, _FLAGS)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            return CodeFile(b"", _reason(place, error))
        try:
            found = os.fstat(descriptor)
            if stat.S_ISDIR(found.st_mode):
                return CodeFile(b"", "it is a folder: anchor the files in it, or write a / behind it")
            if not stat.S_ISREG(found.st_mode):
                return CodeFile(b"", "it is no regular file")
            if found.st_size > MAX_CODE:
                return CodeFile(b"", f"it has {found.st_size / (1 << 20):.1f} MiB, more than 2 MiB")
            return CodeFile(_read(descriptor, found.st_size))
        except OSError as error:
            return CodeFile(b"", _reason(place, error))
        finally:
            os.close(descriptor)


def _read(descriptor: int, size: int) -> bytes:
    pieces, have = [], 0
    while have <= MAX_CODE:
        piece = os.read(descriptor, max(size - have, 0) + 1)
        if not piece:
            break
        pieces.append(piece)
        have += len(piece)
    return b"".join(pieces)


def _reason(place: str, error: OSError) -> str:
    if os.path.islink(place):
        return "it is a link: anchor the file it leads to"
    return f"it cannot be read ({(error.strerror or 'unknown error').lower()})"
