"""A memory as the watcher sees it, opened anew for every look: the store may have been exchanged."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from thunderus_mem.store.layout import ARCHIVE_FOLDERS, DOCUMENT_FOLDERS
from thunderus_mem.surfaces.watch import git_at_work

if TYPE_CHECKING:
    from collections.abc import Callable

    from thunderus_mem.memory import Memory
    from thunderus_mem.model.diagnostic import Diagnostic


class WatchedMemory:
    """What `watch` needs, through the verbs. ``open_again`` gives a fresh `Memory` of the same store."""

    def __init__(self, open_again: Callable[[], Memory]) -> None:
        self._open = open_again
        memory = open_again()
        self._root, self._git, self.config = memory.root, memory.git, memory.config
        self._folders = (*DOCUMENT_FOLDERS.values(), *ARCHIVE_FOLDERS)

    @property
    def store(self) -> str:
        """The absolute path of ``.thunderus``."""
        return os.path.join(self._root, ".thunderus")

    def under_way(self) -> str:
        """What git is in the middle of, empty when nothing is."""
        return git_at_work(self._git, time.time())

    def stamps(self) -> dict[str, object]:
        """Each document's path with what changes when its file does."""
        from thunderus_mem.projection.scan import scan

        return dict(scan(self._root, self._folders).files())

    def refresh(self) -> None:
        """Bring the index up to date."""
        memory = self._open()
        memory.refresh()
        memory.index.close()

    def lint(self, paths: tuple[str, ...]) -> tuple[Diagnostic, ...]:
        """The findings of those of these documents that are still there."""
        from thunderus_mem.verbs.linting import lint

        there = [path for path in (os.path.join(self._root, path) for path in paths) if os.path.lexists(path)]
        if not there:
            return ()
        memory = self._open()
        try:
            return lint(memory, there).diagnostics
        finally:
            memory.index.close()
