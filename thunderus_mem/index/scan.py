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
    from collections.abc import Callable, Collection, Iterator

RACY_NS: Final = 2_000_000_000
"""A file that changed this recently before it was read may change again without a new stamp (2 s on FAT)."""

Stamp: TypeAlias = tuple[int, int, int, int]
UNSETTLED: Final[Stamp] = (0, 0, 0, 0)
"""Stored instead of an unreliable stamp: no file has it, so the file is read again."""

_MAX_DEPTH = 24
_TOGETHER: Final = 256  # files whose stamps are compared at once
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


class FolderWalk(NamedTuple):
    """A walk as names and stamps in the same order. Stored in the index, so that the next walk can be
    compared with it quickly."""

    names: bytes
    stamps: bytes

    def files(self) -> dict[str, Stamp]:
        """Return the stamp of each file."""
        return dict(self.unpacked().files())

    def unlisted(self) -> tuple[str, ...]:
        """Return the folders that could not be read."""
        return self.unpacked().unlisted

    def unpacked(self) -> FolderScan:
        """Return the walk; the stamps of unsettled files are lost."""
        parts = self.names.decode("utf-8").split("\0")
        special = parts.index("") + 1
        unlisted = parts.index("", special) + 1
        names, stamps = parts[: special - 1], array("q")
        stamps.frombytes(self.stamps)
        links = frozenset(parts[special : unlisted - 1])
        return FolderScan(names, stamps, links, tuple(parts[unlisted:]), self.names)


class FolderScan(NamedTuple):
    """All Markdown files below the folders. ``unlisted`` folders exist but could not be read: their contents
    are unknown, not missing."""

    names: list[str]
    stamps: array[int]
    special: frozenset[str]
    unlisted: tuple[str, ...]
    packed_names: bytes

    def files(self) -> Iterator[tuple[str, Stamp]]:
        """Yield path and stamp of every file, in the order of the walk."""
        return zip(self.names, _by_four(self.stamps), strict=True)

    def changes(self, before: FolderScan) -> tuple[array[int], set[str]]:
        """Return the places of new and changed files (see `at`), and the names of files that are gone."""
        head, tail = _equal_ends(before.names, self.names)
        was, now = len(before.names) - tail, len(self.names) - tail
        old = dict(before._between(head, was))
        places = array("q", self._unequal(before, range(head), 0))
        places.extend(
            place
            for place, (name, stamp) in enumerate(self._between(head, now), head)
            if old.pop(name, None) != stamp
        )
        places.extend(self._unequal(before, range(now, now + tail), was - now))
        return places, set(old)

    def at(self, place: int) -> FileStamp:
        """Return the file at a place, as found by the walk."""
        name = self.names[place]
        size, mtime, ctime, inode = self.stamps[place * 4 : place * 4 + 4]
        return FileStamp(name, size, mtime, ctime, inode, name not in self.special)

    def _between(self, first: int, last: int) -> Iterator[tuple[str, Stamp]]:
        return zip(self.names[first:last], _by_four(self.stamps[first * 4 : last * 4]), strict=True)

    def _unequal(self, before: FolderScan, places: range, shift: int) -> Iterator[int]:
        """The places whose stamps differ from those ``shift`` places on in the other walk."""
        for first in range(places.start, places.stop, _TOGETHER):
            last = min(first + _TOGETHER, places.stop)
            was = before.stamps[(first + shift) * 4 : (last + shift) * 4]
            now = self.stamps[first * 4 : last * 4]
            if was != now:
                pairs = zip(_by_four(was), _by_four(now), strict=True)
                yield from (place for place, (old, new) in enumerate(pairs, first) if old != new)

    def packed(self, unsettled: Collection[str] = ()) -> FolderWalk:
        """Return the walk to store; ``unsettled`` files are read again next time."""
        stamps = self.stamps
        if unsettled:
            stamps = array("q", stamps)
            for at, name in enumerate(self.names):
                if name in unsettled:
                    stamps[at * 4 : at * 4 + 4] = array("q", UNSETTLED)
        return FolderWalk(self.packed_names, stamps.tobytes())


NO_FILES: Final = FolderScan([], array("q"), frozenset(), (), b"")
"""A walk that found nothing."""


def is_racy(mtime_ns: int, ctime_ns: int, moment_ns: int) -> bool:
    """Whether a file with these times, read at ``moment_ns``, could have changed since with the same times.

    An mtime far in the future was set explicitly and is harmless: the next change resets it. A ctime cannot
    be set; one in the future comes from another clock.
    """
    begins = moment_ns - RACY_NS
    return ctime_ns > begins or begins < mtime_ns <= moment_ns + RACY_NS


def _equal_ends(one: list[str], other: list[str]) -> tuple[int, int]:
    """Return how many names two walks share at the start, and how many of the others at the end.

    Most walks differ in a few names: slices are compared faster than names one by one.
    """
    ends = len(one), len(other)

    def equal(first: int, last: int) -> bool:
        mine, theirs = (slice(end - last, end - first) for end in ends)
        return one[mine] == other[theirs]

    head = _longest(min(ends), lambda first, last: one[first:last] == other[first:last])
    return head, _longest(min(ends) - head, equal)


def _longest(most: int, is_equal: Callable[[int, int], bool]) -> int:
    """Return the length, up to ``most``, to which all parts are equal."""
    done = 0
    while done < most:
        middle = (done + most + 1) // 2
        if is_equal(done, middle):
            done = middle
        else:
            most = middle - 1
    return done


def _by_four(stamps: array[int]) -> Iterator[Stamp]:
    return zip(stamps[0::4], stamps[1::4], stamps[2::4], stamps[3::4], strict=True)


def scan(root: str, folders: tuple[str, ...]) -> FolderScan:
    """Walk the POSIX ``folders`` below ``root`` for ``*.md``. Hidden files and folders are skipped; links are
    listed as special, never followed. The order is that of the file system: it is stable for an unchanged
    tree, and a spurious difference costs only one comparison."""
    names: list[str] = []
    values = array("q")
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
    except UnicodeEncodeError:  # names that are not UTF-8: escaped, reported, never opened
        special += [name for name in names if visible_name(name) != name]
        names, special = [visible_name(name) for name in names], [visible_name(name) for name in special]
        unlisted = [visible_name(name) for name in unlisted]
        packed = _pack(names, special, unlisted)
    return FolderScan(names, values, frozenset(special), tuple(unlisted), packed)


def scan_again(root: str, before: FolderScan, paths: Collection[str]) -> FolderScan:
    """Return a walk as it was ``before``, with a new look at some Markdown files only."""
    names, stamps, special = before.names[:], before.stamps[:], set(before.special)
    places = {name: at for at, name in enumerate(names)}
    gone = []
    for path in sorted(paths):
        found, at = stamp_of(root, path), places.get(path)
        special.discard(path)
        if found is not None:
            at = len(names) if at is None else at
            names[at : at + 1], stamps[at * 4 : at * 4 + 4] = [path], array("q", found.values)
            if not found.regular:
                special.add(path)
        elif at is not None:
            gone.append(at)
    for at in sorted(gone, reverse=True):
        del names[at], stamps[at * 4 : at * 4 + 4]
    packed = _pack(names, sorted(special), list(before.unlisted))
    return FolderScan(names, stamps, frozenset(special), before.unlisted, packed)


def _pack(names: list[str], special: list[str], unlisted: list[str]) -> bytes:
    return "\0".join([*names, "", *special, "", *unlisted]).encode("utf-8")


def _list_folder(
    root: str,
    folder: str,
    names: list[str],
    values: array[int],
    special: list[str],
) -> list[str]:
    """Add the files of one folder and return its folders. On an error, nothing is added."""
    below: list[str] = []
    kept = (len(names), len(values), len(special))
    prefix = folder + "/"
    is_regular = stat.S_ISREG
    path = os.path.join(root, folder)
    if os.path.islink(path):
        return below
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
                values.extend((info.st_size, info.st_mtime_ns, info.st_ctime_ns, info.st_ino & _INODE_BITS))
    except OSError:
        del names[kept[0] :], values[kept[1] :], special[kept[2] :]
        raise
    finally:
        if descriptor >= 0:
            os.close(descriptor)
    return below


def visible_name(name: str) -> str:
    """Return a file name as valid text: bytes that are not UTF-8 become ``\\xff``."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def stamp_of(root: str, path: str) -> FileStamp | None:
    """Return the current stamp of one file, ``None`` if it is missing."""
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
    inode = info.st_ino & 0x7FFFFFFFFFFFFFFF
    return data, FileStamp(stamp.path, info.st_size, info.st_mtime_ns, info.st_ctime_ns, inode)
