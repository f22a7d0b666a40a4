"""The quarantine: damaged or conflicting files are moved here, never deleted.

Each run of `doctor --fix` has its own folder, where files keep their paths and can be moved back. Other
commands keep torn ends of logs here, and texts of changes that conflicted with another text.
"""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from typing import TYPE_CHECKING, Final

from thunderus_mem.errors import explain
from thunderus_mem.startup import NamedTuple
from thunderus_mem.store import disk
from thunderus_mem.store.files import replace_file
from thunderus_mem.store.layout import STORE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from thunderus_mem.store.layout import Layout

_RUN: Final = "doctor-"
"""Prefix of a run's folder name; its time follows."""
_MOST_LISTED: Final = 1000


class QuarantinedFile(NamedTuple):
    """A file in the quarantine: its path, its original path (both root-relative), size and modification time.

    ``was`` is "" for bytes that were not a file: the torn end of a log, or the text of a conflicting change.
    """

    path: str
    was: str
    size: int
    mtime: float


class Quarantine:
    """The folder of one run, named after its ``time``; created for the first file."""

    def __init__(self, layout: Layout, time: str) -> None:
        self._layout = layout
        self._name = f"{_RUN}{time}"
        self._folder = ""

    def _place(self, path: str) -> str:
        """Return the target for ``path``; create its parent folders."""
        quarantine = self._layout.quarantine_dir
        mode = disk.mode_of(quarantine)
        if mode and not stat.S_ISDIR(mode):
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), quarantine)
        if not self._folder:
            names = (self._name, *(f"{self._name}-{number}" for number in range(2, 1000)))
            self._folder = next(
                folder for name in names if not os.path.lexists(folder := os.path.join(quarantine, name))
            )
        target = os.path.join(self._folder, *path.removeprefix(f"{STORE}/").split("/"))
        disk.make_folders(os.path.dirname(target))
        return target

    def move(self, path: str) -> str:
        """Move a file or folder into the quarantine; return its new path. Both paths are root-relative.

        Raises `ThunderusError` for a system error; then nothing was moved.
        """
        source = self._layout.at(path)
        try:
            target = self._place(path)
            disk.rename(source, target)
            disk.sync_folder(os.path.dirname(target))
            disk.sync_folder(os.path.dirname(source))
        except OSError as error:
            raise explain(error, source) from error
        return self._layout.relative(target)

    def copy(self, path: str, data: bytes) -> str:
        """Copy ``data``, the current text of ``path``, into the quarantine; otherwise like ``move``."""
        try:
            target = self._place(path)
        except OSError as error:
            raise explain(error, path) from error
        replace_file(target, data)
        return self._layout.relative(target)


def way_back(kept: str, was: str) -> str:
    """Return the shell command that restores a quarantined file; to be run in the root."""
    import shlex

    return f"mv {shlex.quote(kept)} {shlex.quote(was)}"


def kept_files(layout: Layout) -> list[QuarantinedFile]:
    """Return the first 1,000 files in the quarantine, by path."""
    found = []
    for path in _below(layout.quarantine_dir):
        info = os.lstat(path)
        below = os.path.relpath(path, layout.quarantine_dir).replace(os.sep, "/")
        run, _, rest = below.partition("/")
        was = f"{STORE}/{rest}" if run.startswith(_RUN) and rest else ""
        found.append(QuarantinedFile(layout.relative(path), was, info.st_size, info.st_mtime))
        if len(found) == _MOST_LISTED:
            break
    return found


def _below(folder: str) -> Iterator[str]:
    """Yield all files below a folder, by name; skip what cannot be listed or disappears."""
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return
    for name in names:
        path = os.path.join(folder, name)
        try:
            is_folder = stat.S_ISDIR(os.lstat(path).st_mode)
        except OSError:
            continue
        if is_folder:
            yield from _below(path)
        else:
            yield path


def plain_name(name: str) -> str:
    """Turn a name or path into a plain file name."""
    plain = "".join(
        letter if letter.isascii() and (letter.isalnum() or letter in "._-") else "_" for letter in name
    )
    return plain[-80:]


def quarantine(directory: str, name: str, data: bytes) -> str:
    """Write ``data`` to ``<hash>-<name>`` in ``directory``; return the path. The same bytes are kept once.

    Raises ``NotWritable`` for a system error.
    """
    path = os.path.join(directory, f"{hashlib.sha256(data).hexdigest()[:16]}-{plain_name(name)}")
    if not os.path.isfile(path):
        replace_file(path, data)
    return path
