"""One walk over the memory folders: which files there are, and their stamps; reads one of them.

A stamp is (size, mtime, ctime, inode): ctime moves with every write, so restoring an old mtime hides nothing.
Lists folders and reads files; writes nothing.
"""

from __future__ import annotations

import os
import stat
from array import array
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from thunderus_mem.store.safe_open import Folders, open_file, open_folder

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

RACY_NS: Final = 2_000_000_000
"""A file that changed this shortly before it was read may change again without a new stamp (FAT counts in 2
s)."""

Stamp: TypeAlias = tuple[int, int, int, int]
UNSETTLED: Final[Stamp] = (0, 0, 0, 0)
"""Remembered instead of a stamp that proves nothing: no file has it, so the file is read again."""

_MAX_DEPTH = 24
_INODE_BITS: Final = 0x7FFFFFFFFFFFFFFF
_BY_DESCRIPTOR: Final = os.scandir in os.supports_fd


class FileStamp(NamedTuple):
    """One file as the walk saw it. ``path`` is POSIX, relative to root. ``regular`` is false for links and
    devices."""

    path: str
    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int
    regular: bool = True

    @property
    def values(self) -> Stamp:
        """What must stay the same while the file does."""
        return (self.size, self.mtime_ns, self.ctime_ns, self.inode)

    def racy_at(self, moment_ns: int) -> bool:
        """Whether a change right after ``moment_ns`` could leave this same stamp."""
        return is_racy(self.mtime_ns, self.ctime_ns, moment_ns)


class FolderWalk(NamedTuple):
    """What a walk saw, in two pieces: names and stamps in the same order. Kept in the index, so that the next
    walk can be compared with it at a glance."""

    names: bytes
    stamps: bytes

    def files(self) -> dict[str, Stamp]:
        """The stamp of each file."""
        names = self.names.partition(b"\0\0")[0].decode("utf-8").split("\0")
        stamps = array("q")
        stamps.frombytes(self.stamps)
        return dict(zip(names, _by_four(stamps), strict=False))

    def unlisted(self) -> tuple[str, ...]:
        """The folders that could not be looked into."""
        parts = self.names.decode("utf-8").split("\0")
        special = parts.index("") + 1
        return tuple(parts[parts.index("", special) + 1 :])


class FolderScan(NamedTuple):
    """All Markdown files below the folders. ``unlisted`` folders exist but could not be read: what lies in
    them is unknown, not gone."""

    names: list[str]
    stamps: array[int]
    special: frozenset[str]
    unlisted: tuple[str, ...]
    packed_names: bytes

    def files(self) -> Iterator[tuple[str, Stamp]]:
        """Path and stamp of every file, in the order of the walk."""
        return zip(self.names, _by_four(self.stamps), strict=True)

    def packed(self, unsettled: Collection[str] = ()) -> FolderWalk:
        """What to remember of this walk; ``unsettled`` are files to be read again at the next."""
        stamps = self.stamps
        if unsettled:
            stamps = array("q", stamps)
            for at, name in enumerate(self.names):
                if name in unsettled:
                    stamps[at * 4 : at * 4 + 4] = array("q", UNSETTLED)
        return FolderWalk(self.packed_names, stamps.tobytes())


def is_racy(mtime_ns: int, ctime_ns: int, moment_ns: int) -> bool:
    """Whether a file with these times, read at ``moment_ns``, could have changed since without other times.

    An mtime of far in the future was set by hand and says nothing: the next change brings it back. A ctime
    cannot be set; one in the future is that of a clock other than ours.
    """
    begins = moment_ns - RACY_NS
    return ctime_ns > begins or begins < mtime_ns <= moment_ns + RACY_NS


def _by_four(stamps: array[int]) -> Iterator[Stamp]:
    return zip(stamps[0::4], stamps[1::4], stamps[2::4], stamps[3::4], strict=True)


def scan(root: str, folders: tuple[str, ...]) -> FolderScan:
    """Walk the POSIX ``folders`` below ``root`` for ``*.md``. Hidden files and folders are skipped; links are
    listed as special, never followed. The order is the file system's: that of an unchanged tree is stable,
    and a spurious difference costs one comparison."""
    names: list[str] = []
    values: list[int] = []
    special: list[str] = []
    unlisted: list[str] = []
    waiting = [(folder, 0) for folder in reversed(folders)]
    while waiting:
        folder, depth = waiting.pop()
        try:
            below = _list_folder(root, folder, names, values, special)
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError:
            unlisted.append(folder)
            continue
        if depth < _MAX_DEPTH:
            waiting += [(child, depth + 1) for child in below]
    try:
        packed = _pack(names, special, unlisted)
    except UnicodeEncodeError:  # a name that is not UTF-8: shown escaped, reported, never opened
        special += [name for name in names if visible_name(name) != name]
        names, special = [visible_name(name) for name in names], [visible_name(name) for name in special]
        unlisted = [visible_name(name) for name in unlisted]
        packed = _pack(names, special, unlisted)
    return FolderScan(names, array("q", values), frozenset(special), tuple(unlisted), packed)


def _pack(names: list[str], special: list[str], unlisted: list[str]) -> bytes:
    return "\0".join([*names, "", *special, "", *unlisted]).encode("utf-8")


def _list_folder(
    root: str, folder: str, names: list[str], values: list[int], special: list[str]
) -> list[str]:
    """Add the files of one folder; return its folders. An error in the middle takes back what was added."""
    below: list[str] = []
    kept = (len(names), len(values), len(special))
    prefix = folder + "/"
    is_regular = stat.S_ISREG
    path = os.path.join(root, folder)
    if os.path.islink(path):
        return below
    # Looked up from the open folder, names are found sooner than whole paths, and nobody can exchange it.
    descriptor = open_folder(path) if _BY_DESCRIPTOR else -1
    try:
        with os.scandir(path if descriptor < 0 else descriptor) as entries:
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
                values += (info.st_size, info.st_mtime_ns, info.st_ctime_ns, info.st_ino & _INODE_BITS)
    except OSError:
        del names[kept[0] :], values[kept[1] :], special[kept[2] :]
        raise
    finally:
        if descriptor >= 0:
            os.close(descriptor)
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
        info.st_ino & _INODE_BITS,
        stat.S_ISREG(info.st_mode),
    )


_LIMIT: Final = 1024 * 1024 + 1
_OPEN_FLAGS: Final = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


def read_bytes(root: str, stamp: FileStamp, folders: Folders | None = None) -> tuple[bytes, FileStamp]:
    """Read a regular file, no more than the limit and a byte; the stamp is that of the open file.

    ``folders`` opens it, when many are read.
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
    inode = info.st_ino & 0x7FFFFFFFFFFFFFFF
    return data, FileStamp(stamp.path, info.st_size, info.st_mtime_ns, info.st_ctime_ns, inode)
