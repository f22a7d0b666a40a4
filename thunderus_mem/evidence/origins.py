"""Which of the events, patches and commits that documents name can be found from here.

What all documents name is looked up at once, the first time one is asked about.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from thunderus_mem.model.event import private_to
from thunderus_mem.projection.log_index import read

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from thunderus_mem.model.document import Document
    from thunderus_mem.projection.log_index import LogIndex
    from thunderus_mem.store.events import EventLog
    from thunderus_mem.store.git import Git


class Origins:
    """Answers ``lint.Origins`` from the log's projection and from git, with one question to git for all.

    ``named`` gives what the documents of the index name under ``events`` or ``commits``.
    """

    def __init__(
        self, log: EventLog, log_index: LogIndex, git: Git | None, named: Callable[[str], list[str]]
    ) -> None:
        self._log = log
        self._log_index = log_index
        self._git = git
        self._named = named

    def missing_events(self, names: Sequence[str]) -> tuple[str, ...]:
        """Those of the events that no shard here holds, this tree's private ones included."""
        there, asked = self._events
        unasked = [name for name in names if name not in asked]
        if unasked:
            there |= self._log_index.known(unasked)
            asked |= set(unasked)
        return tuple(name for name in names if name not in there)

    def private_events(self, document: Document) -> frozenset[str]:
        """The events that a change of the document calls private to the tree that wrote it."""
        names = (document.id, *document.aliases)
        if self._told.isdisjoint(names):
            return frozenset()
        rows = self._log_index.naming(names)
        return frozenset(id for logged in read(self._log, rows) for id in private_to(logged.event))

    def missing_patches(self, document: Document) -> tuple[str, ...]:
        """Those of a document's patches that no event about it here belongs to."""
        rows = self._log_index.naming((document.id, *document.aliases), document.events)
        there = {logged.event.refs.get("patch_id") for logged in read(self._log, rows)}
        return tuple(name for name in document.patches if name not in there)

    def lost_commits(self, names: Sequence[str]) -> tuple[tuple[str, bool], ...]:
        """Those of the commits that no branch or tag of this clone reaches, and whether it has them at all.

        Nothing is lost where that cannot be told: outside git, and in a shallow clone.
        """
        if self._git is None or self._git.is_shallow():
            return ()
        unasked = [name for name in names if name not in self._commits]
        if unasked:
            self._commits.update(self._git.reached(unasked))
        found = ((name, self._commits[name]) for name in names)
        return tuple((name, state is False) for name, state in found if state is not True)

    @cached_property
    def _told(self) -> set[str]:
        """The documents that the log tells of: of the others it need not be asked one by one."""
        return self._log_index.documents()

    @cached_property
    def _events(self) -> tuple[set[str], set[str]]:
        asked = set(self._named("events"))
        return self._log_index.known(asked), asked

    @cached_property
    def _commits(self) -> dict[str, bool | None]:
        return self._git.reached(self._named("commits")) if self._git is not None else {}
