"""The store that `doctor` examines: what several checks ask of it, asked once."""

from __future__ import annotations

import os
import shlex
import stat
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from thunderus_mem.model.errors import Degraded, ThunderusError
from thunderus_mem.store.layout import linked_places

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import TypeAlias

    from thunderus_mem.memory import Memory
    from thunderus_mem.store.git import GitState
    from thunderus_mem.store.layout import Layout
    from thunderus_mem.verbs.health import Check
    from thunderus_mem.verbs.upkeep import IndexStatus

    Look: TypeAlias = Callable[["Patient"], Iterator[Check]]

_MANIFEST_LIMIT = 256 << 20


class Seen(NamedTuple):
    """An entry of the store as the walk saw it; ``trouble`` says why it cannot be looked into."""

    path: str
    mode: int
    mtime: float
    trouble: str = ""


class Patient:
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
        from thunderus_mem.verbs.upkeep import index_status

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
        from thunderus_mem.projection.index import Index
        from thunderus_mem.projection.manifest import manifest_stamp

        if self.status.state != "fresh":
            return False
        try:
            index = Index.open(self.layout.index_file)
        except (Degraded, OSError):
            return False
        try:
            known = index.database.meta("manifest")
        finally:
            index.close()
        return bool(known) and known == manifest_stamp(self.layout.manifest_file)

    @cached_property
    def is_manifest(self) -> bool:
        """Whether the file at the manifest's place has a manifest's shape."""
        import json

        from thunderus_mem.model.schema import MANIFEST, check
        from thunderus_mem.store.files import read_file

        try:
            data: Any = json.loads(read_file(self.layout.manifest_file, _MANIFEST_LIMIT))
        except (ThunderusError, ValueError, RecursionError):
            return False
        return not check(MANIFEST, data)

    @cached_property
    def entries(self) -> tuple[Seen, ...]:
        """Everything in the store but the quarantine and its own folder of git, links not followed."""
        found: list[Seen] = []
        waiting = [self.layout.store]
        while waiting:
            folder = waiting.pop()
            try:
                names = sorted(os.listdir(folder))
            except OSError as error:
                found.append(Seen(self._relative(folder), stat.S_IFDIR, 0, error.strerror or "refused"))
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
                found.append(Seen(self._relative(path), info.st_mode, info.st_mtime, trouble))
        return tuple(found)

    def _relative(self, path: str) -> str:
        from thunderus_mem.projection.scan import visible_name

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
