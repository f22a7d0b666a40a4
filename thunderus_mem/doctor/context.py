"""The store that `doctor` examines: what several checks ask of it, asked once."""

from __future__ import annotations

import errno
import os
import shlex
import stat
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

from thunderus_mem.errors import Degraded, ThunderusError
from thunderus_mem.store import disk
from thunderus_mem.store.disk import explain
from thunderus_mem.store.files import replace_file
from thunderus_mem.store.layout import STORE, linked_places

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from thunderus_mem.doctor.upkeep import IndexStatus
    from thunderus_mem.git.status import GitState
    from thunderus_mem.memory.memory import Memory
    from thunderus_mem.store.layout import Layout

_MANIFEST_LIMIT = 256 << 20
Look: TypeAlias = "Callable[[DoctorContext], Iterator[Check]]"


class StoreEntry(NamedTuple):
    """An entry of the store as the walk saw it; ``trouble`` says why it cannot be looked into."""

    path: str
    mode: int
    mtime: float
    trouble: str = ""


class DoctorContext:
    """One examination. ``alone`` when the lock is held: then nobody else writes."""

    def __init__(self, memory: Memory, *, alone: bool = False) -> None:
        self.memory = memory
        self.alone = alone

    @property
    def layout(self) -> Layout:
        """Where everything is."""
        return self.memory.layout

    @property
    def config_files(self) -> tuple[str, str]:
        """The two files that people configure the store with."""
        return self.layout.config_file, self.layout.gardener_file

    @cached_property
    def linked(self) -> tuple[str, ...]:
        """Folders of the store that are symbolic links."""
        return linked_places(self.layout.root)

    @cached_property
    def status(self) -> IndexStatus:
        """How the index stood before anybody touched it."""
        from thunderus_mem.doctor.upkeep import index_status

        return index_status(self.memory)

    @cached_property
    def git_state(self) -> GitState | None:
        """What git says of the store."""
        return self.memory.git_state()

    @cached_property
    def judging(self) -> Memory:
        """The memory with an index that agrees with the files; one that does not is left as it is, and so is
        a manifest that somebody else wrote."""
        if not self.manifest_is_ours:
            self.memory.judge()
        return self.memory

    @cached_property
    def manifest_is_ours(self) -> bool:
        """Whether the index is fresh and knows the manifest as the file it wrote."""
        from thunderus_mem.index.manifest import manifest_stamp
        from thunderus_mem.index.sqlite_index import SqliteIndex

        if self.status.state != "fresh":
            return False
        try:
            index = SqliteIndex.open(self.layout.index_file)
        except (Degraded, OSError):
            return False
        try:
            known = index.manifest_stamp()
        finally:
            index.close()
        return bool(known) and known == manifest_stamp(self.layout.manifest_file)

    @cached_property
    def is_manifest(self) -> bool:
        """Whether the file at the manifest's place has a manifest's shape."""
        import json

        from thunderus_mem.document.schema import MANIFEST, check
        from thunderus_mem.store.files import read_file

        try:
            data: Any = json.loads(read_file(self.layout.manifest_file, _MANIFEST_LIMIT))
        except (ThunderusError, ValueError, RecursionError):
            return False
        return not check(MANIFEST, data)

    @cached_property
    def entries(self) -> tuple[StoreEntry, ...]:
        """Everything in the store but the quarantine and its own folder of git, links not followed."""
        found: list[StoreEntry] = []
        waiting = [self.layout.store]
        while waiting:
            folder = waiting.pop()
            try:
                names = sorted(os.listdir(folder))
            except OSError as error:
                found.append(StoreEntry(self._relative(folder), stat.S_IFDIR, 0, error.strerror or "refused"))
                continue
            for name in names:
                path = os.path.join(folder, name)
                try:
                    info = os.lstat(path)
                except OSError:
                    continue
                if stat.S_ISDIR(info.st_mode) and path != self.layout.quarantine_dir:
                    waiting.append(path)
                readable = not stat.S_ISREG(info.st_mode) or os.access(path, os.R_OK)
                trouble = "" if readable else "permission denied"
                found.append(StoreEntry(self._relative(path), info.st_mode, info.st_mtime, trouble))
        return tuple(found)

    def _relative(self, path: str) -> str:
        from thunderus_mem.index.scan import visible_name

        return visible_name(self.layout.relative(path))

    def restore(self, path: str) -> str:
        """The command that brings a file back from git, or sets it aside where git has no other text."""
        git = self.memory.git
        committed = git.head_bytes(path) if git is not None else None
        quoted = shlex.quote(path)
        if committed is not None and committed != self._bytes(path):
            return f"git checkout HEAD -- {quoted}"
        return f"mv {quoted} {shlex.quote(path + '.old')} && thunderus-mem init"

    def _bytes(self, path: str) -> bytes | None:
        from thunderus_mem.store.files import read_file

        try:
            return read_file(self.layout.at(path), 1 << 20)
        except ThunderusError:
            return None


# What `doctor` finds and does, as values.


def many(number: int, one: str, more: str) -> str:
    """The sentence for one thing, or for so many (``{}`` in ``more``)."""
    return one if number == 1 else more.format(f"{number:,}")


class Fix(NamedTuple):
    """A safe way to mend a finding. ``action`` is one of:

    ``set-aside``: move ``path`` into the quarantine. ``recover``: finish or undo what a killed command left.
    ``end``: set the torn end of the log ``path`` aside. ``write``: write ``path`` as it should be, keeping
    the old text. ``rebuild``: make index and manifest anew.
    """

    action: str
    path: str


@dataclass(frozen=True, slots=True)
class Check:
    """One thing `doctor` looked at. ``state`` is ok, note, warning or error; ``hint`` says what mends it.

    ``affects`` are root-relative paths (``path:line`` in a log). ``lost`` says what is gone for good,
    ``command`` what to run next; ``mends`` is what ``doctor --fix`` would do.
    """

    name: str
    state: str
    message: str
    hint: str = ""
    affects: tuple[str, ...] = ()
    lost: str = ""
    command: str = ""
    mends: tuple[Fix, ...] = ()

    @property
    def is_trouble(self) -> bool:
        """Whether somebody has to do something."""
        return self.state in ("warning", "error")


class KeptFile(NamedTuple):
    """A file in the quarantine: where it is, where it was ("" when it is a part of something), its size and
    time, and the command that puts it back or compares it."""

    path: str
    was: str
    size: int
    time: str
    what: str
    back: str


@dataclass(frozen=True, slots=True)
class DoctorReport:
    """All checks, in the order they were made, and what the quarantine holds."""

    checks: tuple[Check, ...]
    kept: tuple[KeptFile, ...] = ()

    @property
    def mends(self) -> tuple[Fix, ...]:
        """Everything that ``doctor --fix`` would do, in its order."""
        order = ("set-aside", "recover", "end", "write", "rebuild")
        wanted = dict.fromkeys(mend for check in self.checks for mend in check.mends)
        return tuple(sorted(wanted, key=lambda mend: (order.index(mend.action), mend.path)))


class FixStep(NamedTuple):
    """One step of ``doctor --fix``. ``state`` is planned, done or failed (``problem`` says why).

    ``kept`` is where the old file is now, ``back`` the command that puts it back.
    """

    action: str
    path: str
    says: str
    state: str = "planned"
    kept: str = ""
    back: str = ""
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Treatment:
    """What ``doctor --fix`` did, or with ``--plan`` would do, and the checks that need a person."""

    steps: tuple[FixStep, ...]
    left: tuple[Check, ...]
    applied: bool


# Setting things aside: moved, never deleted, into the quarantine, below the path where they stood.
#
# One run of `doctor --fix` has a folder of its own there, so that what was moved can be moved back.

RUN: Final = "doctor-"
"""How the folder of a run begins; what follows is its time."""

_MOST_LISTED: Final = 1000


class Kept(NamedTuple):
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
        self._name = f"{RUN}{time}"
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


def kept_files(layout: Layout) -> list[Kept]:
    """What stands in the quarantine, by path; of a great many the first."""
    found = []
    for path in _below(layout.quarantine_dir):
        info = os.lstat(path)
        below = os.path.relpath(path, layout.quarantine_dir).replace(os.sep, "/")
        run, _, rest = below.partition("/")
        was = f"{STORE}/{rest}" if run.startswith(RUN) and rest else ""
        found.append(Kept(layout.relative(path), was, info.st_size, info.st_mtime))
        if len(found) == _MOST_LISTED:
            break
    return found


def _below(folder: str) -> Iterator[str]:
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
