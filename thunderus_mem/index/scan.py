"""Walk the folders of documents: list files and their stamps, and read a file.

A stamp is (size, mtime, ctime, inode): ctime changes with every write, so restoring an old mtime hides
nothing. Read only.
"""

from __future__ import annotations

import os
import stat
from array import array
from typing import TYPE_CHECKING, Final, TypeAlias

from thunderus_mem.startup import NamedTuple
from thunderus_mem.store.safe_open import Folders, open_file, open_folder

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

RACY_NS: Final = 2_000_000_000
"""A file that changed this recently before it was read may change again without a new stamp (2 s on FAT)."""

Stamp: TypeAlias = tuple[int, int, int, int]

_MAX_DEPTH = 24
_PART_BITS: Final = 0xFF
_MOST_IN_PART: Final = 2_048
_STAMP_BYTES: Final = 4 * 8
_INODE_BITS: Final = 0x7FFFFFFFFFFFFFFF
_BY_DESCRIPTOR: Final = os.scandir in os.supports_fd


class FileStamp(NamedTuple):
    """A file in a walk. ``path`` is POSIX, relative to root. ``regular`` is false for links and devices."""

    path: str
    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int
    regular: bool = True

    @property
    def values(self) -> Stamp:
        """The stamp: unchanged while the file is unchanged."""
        return (self.size, self.mtime_ns, self.ctime_ns, self.inode)

    def racy_at(self, moment_ns: int) -> bool:
        """Whether a change right after ``moment_ns`` could keep this stamp."""
        return is_racy(self.mtime_ns, self.ctime_ns, moment_ns)


class FolderPart(NamedTuple):
    """Some files of a folder, in the order of its listing: their names, joined by ``/``, those of them that
    are no regular files, and their stamps, four numbers for each. The index stores it as it is."""

    folder: str
    names: str
    special: str
    stamps: bytes

    @property
    def size(self) -> int:
        """The number of files."""
        return len(self.stamps) // _STAMP_BYTES

    def paths(self) -> Iterator[str]:
        """Yield the path of each file."""
        prefix = self.folder + "/"
        return (prefix + name for name in self.names.split("/"))

    def files(self) -> Iterator[FileStamp]:
        """Yield the files."""
        special = set(self.special.split("/"))
        each = array("q", self.stamps)
        stamps = zip(each[0::4], each[1::4], each[2::4], each[3::4], strict=True)
        for name, (size, mtime, ctime, inode) in zip(self.names.split("/"), stamps, strict=True):
            yield FileStamp(f"{self.folder}/{name}", size, mtime, ctime, inode, name not in special)


class FolderScan(NamedTuple):
    """All Markdown files below the folders. ``unlisted`` folders exist but could not be read: their contents
    are unknown, not missing."""

    parts: tuple[FolderPart, ...]
    unlisted: tuple[str, ...] = ()

    @property
    def size(self) -> int:
        """The number of files."""
        return sum(part.size for part in self.parts)

    def paths(self) -> Iterator[str]:
        """Yield the path of every file."""
        return (path for part in self.parts for path in part.paths())

    def files(self) -> Iterator[FileStamp]:
        """Yield every file, in the order of the walk."""
        return (file for part in self.parts for file in part.files())


def is_racy(mtime_ns: int, ctime_ns: int, moment_ns: int) -> bool:
    """Whether a file with these times, read at ``moment_ns``, could have changed since with the same times.

    An mtime far in the future was set explicitly and is harmless: the next change resets it. A ctime cannot
    be set; one in the future comes from another clock.
    """
    begins = moment_ns - RACY_NS
    return ctime_ns > begins or begins < mtime_ns <= moment_ns + RACY_NS


def scan(root: str, folders: tuple[str, ...]) -> FolderScan:
    """Walk the POSIX ``folders`` below ``root`` for ``*.md``. Hidden files and folders are skipped; links are
    listed as special, never followed. The order is that of the file system: it is stable for an unchanged
    tree."""
    parts: list[FolderPart] = []
    unlisted: list[str] = []
    waiting = [(folder, 0) for folder in reversed(folders)]
    while waiting:
        folder, depth = waiting.pop()
        try:
            listed, below = _list_folder(root, folder)
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError:
            unlisted.append(visible_name(folder))
            continue
        parts += listed
        if depth < _MAX_DEPTH:
            waiting += [(child, depth + 1) for child in below]
    return FolderScan(tuple(parts), tuple(unlisted))


def look_at(root: str, paths: Collection[str]) -> FolderScan:
    """Return a scan of some Markdown files alone; missing ones are left out, and the folders of files that
    cannot be looked at are unlisted."""
    parts: list[FolderPart] = []
    unlisted: dict[str, None] = {}
    for path in sorted(paths):
        folder, _, name = path.rpartition("/")
        try:
            file = _stamp_of(root, path)
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError:
            unlisted[visible_name(folder)] = None
            continue
        parts.append(_part(folder, [name], array("q", file.values), [] if file.regular else [name]))
    return FolderScan(tuple(parts), tuple(unlisted))


def _part(folder: str, names: list[str], stamps: array[int], special: list[str]) -> FolderPart:
    part = FolderPart(folder, "/".join(names), "/".join(special), stamps.tobytes())
    if _is_utf8(folder) and _is_utf8(part.names):
        return part
    # Names that are not UTF-8 are escaped, reported, and never opened.
    special += [name for name in names if not (_is_utf8(folder) and _is_utf8(name))]
    folder, joined, others = map(visible_name, (folder, part.names, "/".join(special)))
    return FolderPart(folder, joined, others, part.stamps)


def _is_utf8(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _list_folder(root: str, folder: str) -> tuple[list[FolderPart], list[str]]:
    """Return the files of one folder, in parts, and its folders.

    A part ends with a file whose inode has certain bits: so a file that is added or removed changes one part.
    """
    parts: list[FolderPart] = []
    below: list[str] = []
    names: list[str] = []
    special: list[str] = []
    values = array("q")
    is_regular = stat.S_ISREG
    path = os.path.join(root, folder)
    if os.path.islink(path):
        return parts, below
    # Relative to the open folder, lookups are faster, and the folder cannot be replaced meanwhile.
    descriptor = open_folder(path) if _BY_DESCRIPTOR else -1
    try:
        with os.scandir(path if descriptor < 0 else descriptor) as entries:
            for entry in entries:
                name = entry.name
                if name[0] == ".":
                    continue
                if not name.endswith(".md"):
                    if entry.is_dir(follow_symlinks=False):
                        below.append(f"{folder}/{name}")
                    continue
                try:
                    info = entry.stat(follow_symlinks=False)
                except FileNotFoundError:
                    continue
                if not is_regular(info.st_mode):
                    if stat.S_ISDIR(info.st_mode):
                        below.append(f"{folder}/{name}")
                        continue
                    special.append(name)
                names.append(name)
                inode = info.st_ino & _INODE_BITS
                values.extend((info.st_size, info.st_mtime_ns, info.st_ctime_ns, inode))
                if inode & _PART_BITS == 0 or len(names) == _MOST_IN_PART:
                    parts.append(_part(folder, names, values, special))
                    names, values, special = [], array("q"), []
    finally:
        if descriptor >= 0:
            os.close(descriptor)
    if names:
        parts.append(_part(folder, names, values, special))
    return parts, below


def visible_name(name: str) -> str:
    """Return a file name as valid text: bytes that are not UTF-8 become ``\\xff``."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def stamp_of(root: str, path: str) -> FileStamp | None:
    """Return the current stamp of one file, ``None`` if it is missing or cannot be looked at."""
    try:
        return _stamp_of(root, path)
    except OSError:
        return None


def _stamp_of(root: str, path: str) -> FileStamp:
    info = os.lstat(os.path.join(root, path))
    return FileStamp(
        path,
        info.st_size,
        info.st_mtime_ns,
        info.st_ctime_ns,
        info.st_ino & _INODE_BITS,
        stat.S_ISREG(info.st_mode),
    )


_LIMIT: Final = 1024 * 1024 + 1
_OPEN_FLAGS: Final = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


def read_bytes(root: str, stamp: FileStamp, folders: Folders | None = None) -> tuple[bytes, FileStamp]:
    """Read a regular file up to the limit plus one byte; return the stamp of the open file.

    Pass ``folders`` to read many files.
    """
    open_it = folders.open_file if folders is not None else open_file
    descriptor = open_it(os.path.join(root, stamp.path), _OPEN_FLAGS)
    try:
        info = os.fstat(descriptor)
        if not stat.S_ISREG(info.st_mode):
            raise OSError(0, "not a regular file")
        wanted = min(info.st_size + 1, _LIMIT)
        data = os.read(descriptor, wanted)
        while len(data) < wanted and (more := os.read(descriptor, wanted - len(data))):
            data += more
    finally:
        os.close(descriptor)
    inode = info.st_ino & _INODE_BITS
    return data, FileStamp(stamp.path, info.st_size, info.st_mtime_ns, info.st_ctime_ns, inode)
