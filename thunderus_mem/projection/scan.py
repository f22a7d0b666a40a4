"""One walk over the memory folders: which files there are, their stamps, and one fingerprint of all.

A stamp is (size, mtime, ctime, inode): ctime moves with every write, so restoring an old mtime hides nothing.
"""

from __future__ import annotations

import os
import stat
from array import array
from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

RACY_NS: Final = 2_000_000_000
"""A file that changed this shortly before it was read may change again without a new stamp (FAT counts in 2 s)."""

_MAX_DEPTH = 24


@dataclass(frozen=True, slots=True)
class FileStamp:
    """One file as the walk saw it. ``path`` is POSIX, relative to root. ``regular`` is false for links and devices."""

    path: str
    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int
    regular: bool = True

    @property
    def values(self) -> tuple[int, int, int, int]:
        """What must stay the same while the file does."""
        return (self.size, self.mtime_ns, self.ctime_ns, self.inode)

    def racy_at(self, moment_ns: int) -> bool:
        """Whether a change right after ``moment_ns`` could leave this same stamp."""
        return max(self.mtime_ns, self.ctime_ns) > moment_ns - RACY_NS


@dataclass(slots=True)
class Scan:
    """All Markdown files below the folders. ``unlisted`` folders exist but could not be read: what lies in them is
    unknown, not gone. ``listed`` counts the folders that could."""

    names: list[str]
    values: array[int]
    special: frozenset[str]
    unlisted: tuple[str, ...]
    listed: int
    fingerprint: str

    def __len__(self) -> int:
        return len(self.names)

    def tuples(self) -> Iterator[tuple[str, int, int, int, int]]:
        """``(path, size, mtime_ns, ctime_ns, inode)`` of every file, in no order."""
        values = self.values
        return zip(self.names, values[0::4], values[1::4], values[2::4], values[3::4], strict=True)


def scan(root: str, folders: tuple[str, ...]) -> Scan:
    """Walk the POSIX ``folders`` below ``root`` for ``*.md``. Hidden files and folders are skipped; links are
    listed as special, never followed. The order is the file system's: the fingerprint of an unchanged tree is
    stable, and a spurious difference costs one comparison."""
    names: list[str] = []
    values: list[int] = []
    special: list[str] = []
    unlisted: list[str] = []
    listed = 0
    waiting = [(folder, 0) for folder in reversed(folders)]
    while waiting:
        folder, depth = waiting.pop()
        try:
            below = _list_folder(root, folder, names, values, special)
            listed += 1
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError:
            unlisted.append(folder)
            continue
        if depth < _MAX_DEPTH:
            waiting += [(child, depth + 1) for child in below]
    packed = array("q", values)
    digest = blake2b(packed, digest_size=16)
    try:
        joined = "\0".join([*names, "", *special, "", *unlisted]).encode("utf-8")
    except UnicodeEncodeError:  # a name that is not UTF-8: shown escaped, reported, never opened
        special += [name for name in names if visible_name(name) != name]
        names, special = [visible_name(name) for name in names], [visible_name(name) for name in special]
        joined = "\0".join([*names, "", *special, "", *map(visible_name, unlisted)]).encode("utf-8")
    digest.update(joined)
    return Scan(names, packed, frozenset(special), tuple(unlisted), listed, digest.hexdigest())


def _list_folder(
    root: str, folder: str, names: list[str], values: list[int], special: list[str]
) -> list[str]:
    """Add the files of one folder; return its folders. An error in the middle takes back what was added."""
    below: list[str] = []
    kept = (len(names), len(values), len(special))
    prefix = folder + "/"
    is_regular = stat.S_ISREG
    try:
        if os.path.islink(os.path.join(root, folder)):
            return below
        with os.scandir(os.path.join(root, folder)) as entries:
            for entry in entries:
                name = entry.name
                if name[0] == ".":
                    continue
                if not name.endswith(".md"):
                    if entry.is_dir(follow_symlinks=False):
                        below.append(prefix + name)
                    continue
                try:
                    info = entry.stat(follow_symlinks=False)
                except FileNotFoundError:
                    continue
                if not is_regular(info.st_mode):
                    if stat.S_ISDIR(info.st_mode):
                        below.append(prefix + name)
                        continue
                    special.append(prefix + name)
                names.append(prefix + name)
                values += (info.st_size, info.st_mtime_ns, info.st_ctime_ns, info.st_ino & 0x7FFFFFFFFFFFFFFF)
    except OSError:
        del names[kept[0] :], values[kept[1] :], special[kept[2] :]
        raise
    return below


def visible_name(name: str) -> str:
    """A file name as text that any encoder takes: bytes that are not UTF-8 become ``\\xff``."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def stamp_of(root: str, path: str) -> FileStamp | None:
    """The stamp of one file now; ``None`` when it is not there."""
    try:
        info = os.lstat(os.path.join(root, path))
    except OSError:
        return None
    return FileStamp(
        path,
        info.st_size,
        info.st_mtime_ns,
        info.st_ctime_ns,
        info.st_ino & 0x7FFFFFFFFFFFFFFF,
        stat.S_ISREG(info.st_mode),
    )
