"""What the checks of `doctor` ask of a store, and what they answer, as values; and the upkeep of projections.

Each thing is asked once. Looks at the disk, at index and manifest, and at git. Only `index_rebuild` and
`manifest` write, index and manifest.
"""

from __future__ import annotations

import json
import os
import shlex
import stat
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from thunderus_mem.document import schema
from thunderus_mem.errors import Degraded, ThunderusError
from thunderus_mem.index.manifest import check_manifest, manifest_stamp, take_inventory
from thunderus_mem.index.refresh import Refreshed, in_memory, peek, rebuild
from thunderus_mem.index.scan import visible_name
from thunderus_mem.index.sqlite_index import SqliteIndex
from thunderus_mem.store.files import read_file
from thunderus_mem.store.layout import linked_places

if TYPE_CHECKING:
    from thunderus_mem.diagnostic import Diagnostic
    from thunderus_mem.git.repository import GitState
    from thunderus_mem.memory.memory import Memory
    from thunderus_mem.store.layout import Layout

_MANIFEST_LIMIT: Final = 256 << 20
_CONFIG_LIMIT: Final = 1 << 20

ACTIONS: Final = {
    "set-aside": "set {} aside",
    "recover": "finish or undo what a killed command left in {}",
    "end": "set the torn end of {} aside",
    "write": "write {} as it should be, and keep the old text",
    "rebuild": "make index and manifest anew in {}",
}
"""What a fix can be, in the order in which fixes are made, with what it says of its path."""


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
        order = list(ACTIONS)
        wanted = dict.fromkeys(fix for check in self.checks for fix in check.mends)
        return tuple(sorted(wanted, key=lambda fix: (order.index(fix.action), fix.path)))


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
class FixReport:
    """What ``doctor --fix`` did, or with ``--plan`` would do, and the checks that need a person."""

    steps: tuple[FixStep, ...]
    left: tuple[Check, ...]
    applied: bool


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

    @cached_property
    def linked(self) -> tuple[str, ...]:
        """Folders of the store that are symbolic links."""
        return linked_places(self.layout.root)

    @cached_property
    def status(self) -> IndexStatus:
        """How the index stood before anybody touched it."""
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
        if self.status.state != "fresh":
            return False
        try:
            index = SqliteIndex.open(self.layout.index_file)
        except (Degraded, OSError):
            return False
        with closing(index):
            known = index.manifest_stamp()
        return bool(known) and known == manifest_stamp(self.layout.manifest_file)

    @cached_property
    def is_manifest(self) -> bool:
        """Whether the file at the manifest's place has a manifest's shape."""
        try:
            data: Any = json.loads(read_file(self.layout.manifest_file, _MANIFEST_LIMIT))
        except (ThunderusError, ValueError, RecursionError):
            return False
        return not schema.check(schema.MANIFEST, data)

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
        return visible_name(self.layout.relative(path))

    def restore_command(self, path: str) -> str:
        """The command that brings a file back from git, or sets it aside where git has no other text."""
        git = self.memory.git
        committed = git.head_bytes(path) if git is not None else None
        try:
            present = read_file(self.layout.at(path), _CONFIG_LIMIT)
        except ThunderusError:
            present = None
        quoted = shlex.quote(path)
        if committed is not None and committed != present:
            return f"git checkout HEAD -- {quoted}"
        return f"mv {quoted} {shlex.quote(path + '.old')} && thunderus-mem init"


# Upkeep of index and manifest


@dataclass(frozen=True, slots=True)
class IndexStatus:
    """How the index stands to the files. ``state``: fresh, behind, missing, damaged, or newer when a later
    version of the program wrote it; ``size`` in bytes; ``generation`` names the files it agrees with."""

    path: str
    state: str
    fresh: bool
    documents: int
    problems: int
    size: int
    generation: str = ""


def index_status(memory: Memory) -> IndexStatus:
    """Compare index and files. Writes nothing, not even a refresh."""
    layout = memory.layout
    path = layout.relative(layout.index_file)
    try:
        index = SqliteIndex.open(layout.index_file)
    except (FileNotFoundError, NotADirectoryError):
        return IndexStatus(path, "missing", False, 0, 0, 0)
    except Degraded as error:
        state = "newer" if error.code == "Newer" else "damaged"
        return IndexStatus(path, state, False, 0, 0, os.lstat(layout.index_file).st_size)
    try:
        fresh = peek(layout, index)
        unreadable = sum(not doc_id for _, _, doc_id in index.files())
        size = os.path.getsize(layout.index_file)
        state = "fresh" if fresh else "behind"
        return IndexStatus(path, state, fresh, index.count(), unreadable, size, index.generation())
    except Degraded:
        return IndexStatus(path, "damaged", False, 0, 0, os.path.getsize(layout.index_file))
    finally:
        index.close()


def index_rebuild(memory: Memory) -> Refreshed:
    """Make index and manifest anew from the documents alone."""
    return rebuild(memory.layout, tell=memory.tell)


@dataclass(frozen=True, slots=True)
class IndexProof:
    """Whether the index is whole; ``problem`` says what is wrong with it, "" when nothing is."""

    path: str
    documents: int
    problem: str


def index_verify(memory: Memory) -> IndexProof:
    """Prove the index: every page, every word, and every row against the files and the log read anew.

    One that is found wanting is built anew by the next command.
    """
    layout = memory.layout
    path = layout.relative(layout.index_file)
    memory.log_index()
    if memory.index.in_memory:
        return IndexProof(path, memory.index.count(), "it cannot be used here; answers come from memory")
    fresh, _ = in_memory(layout, "to judge by")
    documents = fresh.count()
    try:
        fresh.log().refresh(memory.log)
        problem = memory.index.problem(fresh)
    except Degraded as error:
        problem = str(error)
    finally:
        fresh.close()
    if problem:
        memory.index.distrust()
    return IndexProof(path, documents, problem)


@dataclass(frozen=True, slots=True)
class ManifestReport:
    """The manifest and, with ``--check``, what is wrong with it."""

    path: str
    documents: int
    tokens: int
    diagnostics: tuple[Diagnostic, ...]


def manifest(memory: Memory, *, check: bool = False) -> ManifestReport:
    """Write the manifest when it is out of date; with ``check`` judge the file as it is, writing nothing.

    Where nothing can be written it is judged as well.
    """
    layout = memory.layout
    path = layout.relative(layout.manifest_file)
    if not check:
        memory.refresh()
    if check or memory.index.in_memory:
        inventory = take_inventory(layout.root)
        findings = check_manifest(layout.manifest_file, path, inventory.manifest)
        return ManifestReport(path, inventory.documents, inventory.tokens, tuple(findings))
    rows = memory.index.documents()
    return ManifestReport(path, len(rows), sum(row.tokens for row in rows), ())
