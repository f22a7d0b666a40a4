"""`Memory`: an open store and the parts that commands share; it has no commands itself.

Clock, random bits and environment are parameters of `open_memory`; other modules do not read them.
"""

from __future__ import annotations

import os
from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

from thunderus_mem.errors import Busy, Degraded, InvalidConfig, NotWritable, ThunderusError
from thunderus_mem.index.refresh import Refreshed, in_memory, most_lost, open_index, refresh, reopened, silent
from thunderus_mem.store.config import Config
from thunderus_mem.store.config_reader import load
from thunderus_mem.store.layout import MEMORY, Layout, find_root

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping

    from thunderus_mem.document.timestamp import UlidSource
    from thunderus_mem.git.repository import Git, GitState
    from thunderus_mem.index.log import LogIndex
    from thunderus_mem.index.questions import Index
    from thunderus_mem.index.sqlite_index import SqliteIndex
    from thunderus_mem.index.writer import Tell
    from thunderus_mem.log.line import Event
    from thunderus_mem.log.reader import EventLog
    from thunderus_mem.log.sessions import Sessions
    from thunderus_mem.memory.journal import Journal
    from thunderus_mem.memory.past_texts import UndoTexts

Answer = TypeVar("Answer")
_TRIES = 10


class Memory:
    """An open store: its layout, configuration, index, log and git repository.

    Parts are opened on first use, so that a search never loads what only writing needs.
    """

    def __init__(
        self,
        layout: Layout,
        config: Config,
        *,
        clock: Callable[[], datetime],
        random_bits: Callable[[int], int],
        environ: Mapping[str, str],
        also: tuple[str, ...] = (),
        troubles: tuple[ThunderusError, ...] = (),
    ) -> None:
        self.layout = layout
        self.config = config
        self.environ = environ
        self.also = also
        self.troubles = troubles
        """Errors that prevent every command but `doctor` from opening the store."""
        self.tell: Tell = silent
        """Callback for progress; a terminal displays it."""
        self.say: Callable[[str], None] = _ignore
        """Callback for notices to the user."""
        self.terminal = False
        """Whether a person reads these notices."""
        self._clock = clock
        self._index: SqliteIndex | None = None
        self._random_bits = random_bits

    @property
    def root(self) -> str:
        """The absolute folder that contains ``.thunderus``."""
        return self.layout.root

    @cached_property
    def actor(self) -> str:
        """Who acts: user, agent or tool; a front end that knows it sets it, for each call if need be."""
        from thunderus_mem.log.actor import actor_of

        return actor_of(self.environ, terminal=self.terminal)

    def now(self) -> datetime:
        """Return the current time, with its zone."""
        return self._clock()

    def new_id(self, prefix: str) -> str:
        """Return a new ULID with a ``prefix`` (``evt``, ``patch``, ``snap``, ``sess``)."""
        return self._ulids.new(prefix)

    @cached_property
    def _ulids(self) -> UlidSource:
        from thunderus_mem.document.timestamp import UlidSource

        return UlidSource(self._clock, self._random_bits)

    @property
    def index(self) -> Index:
        """The search index, as of the last `refresh` or its opening."""
        if self._index is None:
            self.refresh()
        assert self._index is not None
        return self._index

    def refresh(self, changed: Collection[str] | None = None) -> Refreshed:
        """Update index and manifest from the files; cheap if nothing changed.

        A damaged index is rebuilt; ``Refreshed.rebuilt`` is the reason. After a write, ``changed`` are the
        paths written: unchanged files are not looked at again.
        """
        refreshed = self._refreshed(changed)
        most = most_lost(refreshed.before)
        if refreshed.removed > most and (lost := self._count_unexplained(refreshed.gone)) > most:
            self.say(
                f"{lost:,} of {refreshed.before:,} documents have disappeared since the last command, and no "
                "event removed them; run `thunderus-mem status` to see whether a commit did"
            )
        return refreshed

    def _count_unexplained(self, gone: Collection[str]) -> int:
        """The number of missing documents that no event removed; an interrupted command may have."""
        index = self.log_index()
        return sum(not index.removed(doc_id) for doc_id in gone)

    def _refreshed(self, changed: Collection[str] | None) -> Refreshed:
        if self._index is not None:
            try:
                return refresh(self.layout, self._index, self.tell, changed=changed)
            except (Degraded, NotWritable):
                self._index.close()
        self._index, refreshed = open_index(self.layout, self.tell)
        return refreshed

    def close(self) -> None:
        """Close the index; the next use opens it again."""
        if self._index is not None:
            self._index.close()
            self._index = None

    def judge(self) -> None:
        """Use an index in memory from now on, so that the one on disk stays unchanged."""
        self._index, _ = in_memory(self.layout, "to check the one on disk", self.tell)

    def apart(self, generation: str) -> Memory:
        """Return this store for a forked process, which must not use the connection of this one.

        Raises ``IndexDamaged`` or ``FileNotFoundError`` if the index on disk is not of this ``generation``.
        """
        other = Memory(
            self.layout,
            self.config,
            clock=self._clock,
            random_bits=self._random_bits,
            environ=self.environ,
            also=self.also,
        )
        other._index = reopened(self.layout, generation)
        return other

    def ask(self, question: Callable[[Index], Answer]) -> Answer:
        """Run a short read-only query on one snapshot of the index.

        If the index turns out to be damaged, rebuild it and run the query again.
        """
        try:
            with self.index.moment():
                return question(self.index)
        except Degraded:
            self.refresh()
            with self.index.moment():
                return question(self.index)

    @cached_property
    def log(self) -> EventLog:
        """The event log: committed and local shards."""
        from thunderus_mem.log.reader import EventLog

        return EventLog(
            self.root,
            self.layout.sessions_dir,
            self.layout.local_sessions_dir,
            self.layout.legacy_events_file,
        )

    @cached_property
    def git(self) -> Git | None:
        """The git repository of the store; ``None`` outside git, or if git cannot be run."""
        from thunderus_mem.git.repository import Git

        return Git.find(self.root, self.environ)

    @cached_property
    def sessions(self) -> Sessions:
        """The session of this working tree, i.e. the shard it writes."""
        from thunderus_mem.log.sessions import Sessions

        return Sessions(self.root, self.layout.sessions_dir, self.layout.local_dir)

    @cached_property
    def undo_texts(self) -> UndoTexts:
        """Texts that the log cannot restore."""
        from thunderus_mem.memory.past_texts import UndoTexts

        return UndoTexts(self.layout.kept_dir)

    @cached_property
    def journal(self) -> Journal:
        """The journal: the only way to change documents and log."""
        from thunderus_mem.memory.journal import Journal
        from thunderus_mem.store.paths import is_private_shard, is_shard, may_stage

        return Journal(
            self.root,
            self.layout.staging_dir,
            self.layout.quarantine_dir,
            is_log=is_shard,
            is_private=is_private_shard,
            is_document=may_stage,
        )

    def log_index(self) -> LogIndex:
        """Return the index of the log, up to date."""

        def refreshed(index: Index) -> LogIndex:
            projected = index.log()
            projected.refresh(self.log, self.tell)
            return projected

        return self.updated(refreshed)

    def updated(self, update: Callable[[Index], Answer]) -> Answer:
        """Update a part of the index; if the index is damaged, replaced or cannot be written, again on
        another one."""
        for _ in range(_TRIES):
            try:
                return update(self.index)
            except Degraded:
                # Damaged, or replaced by another process: open it again.
                self.index.close()
                self._index = None
            except NotWritable as error:  # reading must work on a full disk
                self.index.close()
                self._index, _ = in_memory(self.layout, str(error), self.tell)
        raise Busy(
            "other processes keep replacing the index", hint="run the command again when they are done"
        )

    def events_about(self, paths: Iterable[str], doc_ids: Iterable[str]) -> list[Event]:
        """Return the events about paths and documents, in the order of the log; reads only their lines."""
        from thunderus_mem.index.log import read

        return [logged.event for logged in read(self.log, self.log_index().about(paths, doc_ids))]

    def git_state(self) -> GitState | None:
        """Ask git once for HEAD, whether it knows this tree's shard, and the changed documents."""
        return self.sessions.ask(self.git, MEMORY)

    def origin(self) -> dict[str, str]:
        """Return author and client for the ``origin`` of events; empty if disabled by the settings."""
        if not self.config.events_origin:
            return {}
        from thunderus_mem.log.actor import agent_in

        found = {
            "author": (self.git.user_name() if self.git else None) or "",
            "client": self.environ.get("THUNDERUS_MEM_CLIENT") or agent_in(self.environ) or "cli",
            "session": self.environ.get("THUNDERUS_MEM_CLIENT_SESSION", ""),
            "model": self.environ.get("THUNDERUS_MEM_MODEL", ""),
        }
        from thunderus_mem.safety.redaction import redacted

        return {key: redacted(value) for key, value in found.items() if value}


def open_memory(
    start: str | None = None,
    *,
    environ: Mapping[str, str] | None = None,
    now: Callable[[], datetime] | None = None,
    random_bits: Callable[[int], int] | None = None,
    lenient: bool = False,
) -> Memory:
    """Find the store of a folder (by default the current one) and open it.

    Raises `NoStore` if there is none, `InvalidConfig` if its configuration is invalid, `Refused` if one of
    its folders is a link. ``lenient`` opens it anyway, with default settings: see `Memory.troubles`.
    """
    surroundings = os.environ if environ is None else environ
    found = find_root(os.getcwd() if start is None else start, surroundings, linked=lenient)
    layout = Layout(found.root)
    troubles: list[ThunderusError] = []
    try:
        config = load(layout, surroundings)
    except InvalidConfig as error:
        if not lenient:
            raise
        config = Config()
        troubles.append(error)
    return Memory(
        layout,
        config,
        clock=now or _system_clock,
        random_bits=random_bits or _system_random_bits,
        environ=surroundings,
        also=found.also,
        troubles=tuple(troubles),
    )


def is_interrupted(layout: Layout) -> bool:
    """Whether a change was interrupted, so that documents may be incomplete until the next write.

    A change in progress in a running process does not count. Reads one folder, which is usually empty.
    """
    try:
        if not os.listdir(layout.staging_dir):
            return False
    except OSError:
        return False
    from thunderus_mem.memory.journal import staged_ids
    from thunderus_mem.store.lock import is_held

    return not is_held(layout.lock_file) and bool(staged_ids(layout.staging_dir))


def _ignore(text: str) -> None:
    """Discard a notice."""


def _system_clock() -> datetime:
    return datetime.now(UTC)


def _system_random_bits(bits: int) -> int:
    return int.from_bytes(os.urandom((bits + 7) // 8), "big") >> (-bits % 8)
