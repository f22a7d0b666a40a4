"""`Memory`: an open store, and what any command needs of it. It has no command of its own.

Clock, ids and environment come in through `open_memory`; nothing below reads them from the process.
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
    from collections.abc import Callable, Iterable, Mapping

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
    """An open store: where it is, how it is configured, and the parts that commands work with.

    Parts open when first asked for, so that a search never loads what only writing needs.
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
        """What keeps any command but `doctor` from opening the store."""
        self.tell: Tell = silent
        """Hears how far long work is; a terminal draws it."""
        self.say: Callable[[str], None] = _to_nobody
        """Hears what a person should know in passing."""
        self._clock = clock
        self._index: SqliteIndex | None = None
        self._random_bits = random_bits

    @property
    def root(self) -> str:
        """The absolute folder that holds ``.thunderus``."""
        return self.layout.root

    def now(self) -> datetime:
        """The time of this command, with its zone."""
        return self._clock()

    def new_id(self, prefix: str) -> str:
        """A new ULID behind ``prefix`` (``evt``, ``patch``, ``snap``, ``sess``)."""
        return self._ulids.new(prefix)

    @cached_property
    def _ulids(self) -> UlidSource:
        from thunderus_mem.document.timestamp import UlidSource

        return UlidSource(self._clock, self._random_bits)

    @property
    def index(self) -> Index:
        """The search index, as fresh as the last `refresh` (or as its opening) left it."""
        if self._index is None:
            self.refresh()
        assert self._index is not None
        return self._index

    def refresh(self) -> Refreshed:
        """Bring index and manifest up to date with the files; cheap when nothing changed.

        A damaged index is built anew; ``Refreshed.rebuilt`` says why.
        """
        refreshed = self._refreshed()
        if refreshed.removed > most_lost(refreshed.before):
            self.say(
                f"{refreshed.removed:,} of {refreshed.before:,} documents are gone since the last command; "
                "`thunderus-mem status` tells whether git or the log explains it."
            )
        return refreshed

    def _refreshed(self) -> Refreshed:
        if self._index is not None:
            try:
                return refresh(self.layout, self._index, self.tell)
            except (Degraded, NotWritable):
                self._index.close()
        self._index, refreshed = open_index(self.layout, self.tell)
        return refreshed

    def judge(self) -> None:
        """Answer from an index in memory from now on, so that the one on disk stays as it is."""
        self._index, _ = in_memory(self.layout, "to judge the one on disk", self.tell)

    def apart(self, generation: str) -> Memory:
        """This store for another process, which must not touch the connection of this one.

        Raises ``IndexDamaged`` or ``FileNotFoundError`` when the index on disk is not the one of this
        ``generation``.
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
        """The answer to a question about one moment of the index, which must be short and write nothing.

        When damage shows meanwhile, a new index is built and asked again.
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
        """The event log, shards of both this tree and the repository."""
        from thunderus_mem.log.reader import EventLog

        return EventLog(
            self.root,
            self.layout.sessions_dir,
            self.layout.local_sessions_dir,
            self.layout.legacy_events_file,
        )

    @cached_property
    def git(self) -> Git | None:
        """The repository around the store; ``None`` outside git, or when git cannot be asked."""
        from thunderus_mem.git.repository import Git

        return Git.find(self.root, self.environ)

    @cached_property
    def sessions(self) -> Sessions:
        """Which shard this working tree writes."""
        from thunderus_mem.log.sessions import Sessions

        return Sessions(self.root, self.layout.sessions_dir, self.layout.local_dir)

    @cached_property
    def undo_texts(self) -> UndoTexts:
        """Texts that the log has no way back to."""
        from thunderus_mem.memory.past_texts import UndoTexts

        return UndoTexts(self.layout.kept_dir)

    @cached_property
    def journal(self) -> Journal:
        """The one way in which documents and log change."""
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
        """The log as the index projects it, brought up to date."""
        for _ in range(_TRIES):
            projected = self.index.log()
            try:
                projected.refresh(self.log, self.tell)
            except Degraded:
                # Damaged, or another process has put a new one in its place: both are answered by opening it.
                self.index.close()
                self._index = None
            except NotWritable as error:  # a full disk is no reason not to answer
                self.index.close()
                self._index, _ = in_memory(self.layout, str(error), self.tell)
            else:
                return projected
        raise Busy("other processes keep replacing the index", hint="try again when they are done")

    def events_about(self, paths: Iterable[str], doc_ids: Iterable[str]) -> list[Event]:
        """The events about paths and documents, in the order of the log; no other lines are read."""
        from thunderus_mem.index.log import read

        return [logged.event for logged in read(self.log, self.log_index().about(paths, doc_ids))]

    def git_state(self) -> GitState | None:
        """One question to git: HEAD, whether it knows this tree's shard, which documents changed."""
        return self.sessions.ask(self.git, MEMORY)

    def origin(self) -> dict[str, str]:
        """Who writes, for the ``origin`` of an event; empty when the configuration leaves it out."""
        if not self.config.events_origin:
            return {}
        found = {
            "author": (self.git.user_name() if self.git else None) or "",
            "client": self.environ.get("THUNDERUS_MEM_CLIENT", "cli"),
            "session": self.environ.get("THUNDERUS_MEM_CLIENT_SESSION", ""),
            "model": self.environ.get("THUNDERUS_MEM_MODEL", ""),
        }
        from thunderus_mem.document.secrets import redacted

        return {key: redacted(value) for key, value in found.items() if value}


def open_memory(
    start: str | None = None,
    *,
    environ: Mapping[str, str] | None = None,
    now: Callable[[], datetime] | None = None,
    random_bits: Callable[[int], int] | None = None,
    lenient: bool = False,
) -> Memory:
    """Find the store for a folder (the current one by default) and open it.

    Raises `NoStore` when there is none, `InvalidConfig` when its configuration cannot be read, `Refused` when
    one of its folders is a link. ``lenient`` opens it all the same, with the defaults: see `Memory.troubles`.
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
    """Whether documents may show a part of a change until the next command that writes.

    A change that a living process makes is none. Costs one look into a folder that is nearly always empty.
    """
    try:
        if not os.listdir(layout.staging_dir):
            return False
    except OSError:
        return False
    from thunderus_mem.memory.journal import staged_ids
    from thunderus_mem.store.lock import is_held

    return not is_held(layout.lock_file) and bool(staged_ids(layout.staging_dir))


def _to_nobody(text: str) -> None:
    """Nobody listens."""


def _system_clock() -> datetime:
    return datetime.now(UTC)


def _system_random_bits(bits: int) -> int:
    return int.from_bytes(os.urandom((bits + 7) // 8), "big") >> (-bits % 8)
