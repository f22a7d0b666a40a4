"""Marks of events whose lines cannot be relied on: altered, not chained, or logged by another program.

Reads the index, git, and only those shards that git or another shard contradicts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from thunderus_mem.git.history import bytes_before
from thunderus_mem.log.imported import is_imported
from thunderus_mem.log.shard import first_change
from thunderus_mem.store.layout import SHARD_FOLDERS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from thunderus_mem.log.shard import LoggedEvent
    from thunderus_mem.memory.memory import Memory

COMMITTED_LOG: Final = (SHARD_FOLDERS[0], ".thunderus/events.jsonl")
ALTERED: Final = "altered"
"""The line failed a check, or one next to it or in its shard did, so that nothing vouches for it."""
UNCHAINED: Final = "unchained"
"""No line of its shard has a hash of the one before."""
IMPORTED: Final = "imported"
"""Another program logged it; author and time are what that one said."""


class Marks:
    """The marks of events in some shards. The index of the log must be up to date."""

    def __init__(self, memory: Memory, shards: Iterable[str]) -> None:
        self._memory = memory
        asked = set(shards)
        suspects = memory.log_index().suspects(asked)
        self._altered = set(suspects.broken)
        self._unchained = suspects.unchained
        for shard, named in suspects.named.items():
            self._check_named(shard, named)
        git = memory.git
        # Naming each shard could exceed the longest command line.
        changed = bytes_before(git, COMMITTED_LOG) if git is not None else {}
        for shard in changed.keys() & asked:
            self._check_growth(shard, changed[shard].data)

    def _check_named(self, shard: str, named: frozenset[str]) -> None:
        lines = self._memory.log.read_shard(shard).lines
        if not named <= {digest for _, digest in lines}:
            self._altered.update((shard, number) for number, _ in lines)

    def _check_growth(self, shard: str, data: bytes) -> None:
        reading = self._memory.log.read_shard(shard)
        first = first_change(reading, data)
        if first:
            self._altered.update((shard, number) for number, _ in reading.lines if number >= first)

    def at(self, shard: str, line: int) -> str:
        """Return the mark of a line, "" if it has none."""
        if (shard, line) in self._altered:
            return ALTERED
        return UNCHAINED if shard in self._unchained else ""

    def of(self, logged: LoggedEvent) -> str:
        """Return the mark of an event, "" if it has none."""
        return self.at(logged.shard, logged.line) or (IMPORTED if is_imported(logged.event) else "")


def marks_of(memory: Memory, events: Iterable[LoggedEvent]) -> dict[str, str]:
    """Return the marks of the events that have one, by event id."""
    listed = list(events)
    if not listed:
        return {}
    marks = Marks(memory, (logged.shard for logged in listed))
    return {logged.event.id: mark for logged in listed if (mark := marks.of(logged))}
