"""The quarantine: files that are moved aside, never deleted, below the path where they stood.

One run of `doctor --fix` has a folder of its own there, so that what was moved can be moved back. Other
commands leave torn ends of logs there, and texts of changes that found another text in their place.
"""

from __future__ import annotations

import errno
import hashlib
import os
import shlex
import stat
from typing import TYPE_CHECKING, Final, NamedTuple

from thunderus_mem.errors import explain
from thunderus_mem.store import disk
from thunderus_mem.store.files import replace_file
from thunderus_mem.store.layout import STORE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from thunderus_mem.store.layout import Layout

_RUN: Final = "doctor-"
"""How the folder of a run begins; what follows is its time."""
_MOST_LISTED: Final = 1000


class QuarantinedFile(NamedTuple):
    """A file in the quarantine: where it is and where it was (both root-relative), bytes, last change.

    ``was`` is "" for bytes that had no file of their own: the torn end of a log, the text of a change that
    found another text in its place.
    """

    path: str
    was: str
    size: int
    mtime: float


class Quarantine:
    """The folder of one run, named after its ``time``; made when the first thing is moved."""

    def __init__(self, layout: Layout, time: str) -> None:
        self._layout = layout
        self._name = f"{_RUN}{time}"
        self._folder = ""

    def _place(self, path: str) -> str:
        """Where ``path`` goes; makes the folders above."""
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
        """Move what has this root-relative path, whatever it is; returns where it is now, root-relative.

        Raises ``NotWritable`` and its like when the disk refuses: then it is where it was.
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
        """Keep ``data``, the text that ``path`` has now; returns where, root-relative. Raises as ``move``."""
        try:
            target = self._place(path)
        except OSError as error:
            raise explain(error, path) from error
        replace_file(target, data)
        return self._layout.relative(target)


def way_back(kept: str, was: str) -> str:
    """The command that puts a kept file back where it was; to be run in the root."""
    return f"mv {shlex.quote(kept)} {shlex.quote(was)}"


def kept_files(layout: Layout) -> list[QuarantinedFile]:
    """What stands in the quarantine, by path; of a great many the first."""
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
    """Everything below a folder but folders, by name; what cannot be listed or goes meanwhile is left out."""
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
    """A name or path as one plain file name, under which its bytes are kept."""
    plain = "".join(
        letter if letter.isascii() and (letter.isalnum() or letter in "._-") else "_" for letter in name
    )
    return plain[-80:]


def quarantine(directory: str, name: str, data: bytes) -> str:
    """Keep ``data`` under ``<hash>-<name>`` in ``directory`` for good; the same bytes are kept once.

    Returns the path. Raises ``NotWritable`` when the disk refuses.
    """
    path = os.path.join(directory, f"{hashlib.sha256(data).hexdigest()[:16]}-{plain_name(name)}")
    if not os.path.isfile(path):
        replace_file(path, data)
    return path
