"""The private records of users in the index: conversations and executions, and their words.

Every query names the user whose records it asks for.
"""

from __future__ import annotations

import os
from json import dumps, loads
from typing import TYPE_CHECKING, Any

from thunderus_mem.document.timestamp import utc_key
from thunderus_mem.index.database import LISTED
from thunderus_mem.index.log import is_regular, stamp_of
from thunderus_mem.index.words import identifier_parts
from thunderus_mem.log.records import records_in, words_in
from thunderus_mem.startup import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from thunderus_mem.index.database import Database
    from thunderus_mem.log.reader import EventLog


class RecordRow(NamedTuple):
    """A record, and where its events are: shard and lines. Lines, tools and errors (types) are JSON text."""

    row: int
    kind: str
    message_id: str
    time: str
    success: bool
    duration_ms: int | None
    tools: str
    errors: str
    shard: str
    lines: str


class RecordFilter(NamedTuple):
    """Selects records that match all given criteria. ``since`` ≤ time ≤ ``until`` are `utc_key` times; tools
    and errors are names in any case, all of which must occur."""

    message_id: str = ""
    since: str = ""
    until: str = ""
    tools: Collection[str] = ()
    errors: Collection[str] = ()
    success: bool | None = None

    @property
    def selects(self) -> bool:
        """Whether there is any criterion."""
        texts = (self.message_id, self.since, self.until, self.tools, self.errors)
        return any(texts) or self.success is not None


class RecordIndex:
    """Queries on the records of users. Call ``refresh`` first."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def refresh(self, user: str, log: EventLog, tell: Callable[[str, int, int], None] | None = None) -> None:
        """Read new and changed shards of a user, drop removed ones."""
        known: dict[str, str] = dict(
            self._database.rows("SELECT path, stamp FROM user_shards WHERE user = ?", (user,))
        )
        now = {shard: stamp_of(os.path.join(log.root, shard)) for shard in log.shards()}
        changed = [shard for shard, stamp in now.items() if known.get(shard) != stamp]
        gone = known.keys() - now.keys()
        if not changed and not gone:
            return
        with self._database.transaction():
            for shard in sorted({*gone, *changed} & known.keys()):
                self._forget(shard)
            for done, shard in enumerate(changed):
                if tell is not None:
                    tell("Reading the log:", done, len(changed))
                self._add(user, log, shard)

    def _forget(self, path: str) -> None:
        rows = "SELECT record FROM records JOIN user_shards USING (shard) WHERE path = ?"
        self._database.run(f"DELETE FROM records_fts WHERE rowid IN ({rows})", (path,))
        mine = "shard = (SELECT shard FROM user_shards WHERE path = ?)"
        self._database.run(f"DELETE FROM records WHERE {mine}", (path,))
        self._database.run("DELETE FROM user_shards WHERE path = ?", (path,))

    def _add(self, user: str, log: EventLog, path: str) -> None:
        stamp = stamp_of(os.path.join(log.root, path))
        reading = log.read_shard(path)
        if not reading.readable and is_regular(os.path.join(log.root, path)):
            stamp = ""  # matches no file: read it again
        run = self._database.run
        run("INSERT INTO user_shards (user, path, stamp) VALUES (?, ?, ?)", (user, path, stamp))
        shard = self._number("SELECT shard FROM user_shards WHERE path = ?", path)
        last = self._number("SELECT coalesce(max(record), 0) FROM records")
        rows: list[tuple[Any, ...]] = []
        texts: list[tuple[Any, ...]] = []
        for row, (_, record, lines) in enumerate(records_in(reading.events, user), last + 1):
            types = [error.get("error_type") for error in record.errors]
            words = words_in(record)
            rows.append(
                (
                    *(row, shard, dumps(lines), record.kind, record.message_id, utc_key(record.ts)),
                    *(record.success, record.duration_ms, dumps(record.tools), dumps(types)),
                )
            )
            texts.append((row, words, " ".join(identifier_parts(words))))
        self._database.run_many("INSERT INTO records VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)
        self._database.run_many("INSERT INTO records_fts (rowid, text, parts) VALUES (?, ?, ?)", texts)

    def _number(self, sql: str, *values: str) -> int:
        row = self._database.row(sql, values)
        return int(row[0]) if row else 0

    def select(self, user: str, kinds: Iterable[str], wanted: RecordFilter) -> list[RecordRow]:
        """Return the records of some kinds that match, newest first."""
        conditions, values = ["user = ?", f"kind {LISTED}"], [user, dumps(list(kinds))]
        for condition, value in (
            ("message_id = ?", wanted.message_id),
            ("time >= ?", wanted.since),
            ("time <= ?", wanted.until),
        ):
            if value:
                conditions.append(condition)
                values.append(value)
        rows = self._database.rows(
            "SELECT record, kind, message_id, time, success, duration_ms, tools_json, errors_json, path, "
            f"lines_json FROM records JOIN user_shards USING (shard) WHERE {' AND '.join(conditions)} "
            "ORDER BY time DESC, path DESC, record DESC",
            values,
        )
        found = (RecordRow(*row)._replace(success=bool(row[4])) for row in rows)
        return [one for one in found if _fits(one, wanted)]

    def matching(self, user: str, expression: str) -> set[int]:
        """Return the rows of the records whose words match an FTS5 expression."""
        rows = self._database.rows(
            "SELECT record FROM records_fts JOIN records ON record = records_fts.rowid "
            "JOIN user_shards USING (shard) WHERE records_fts MATCH ? AND user = ?",
            (expression, user),
        )
        return {row[0] for row in rows}

    def message_ids(self, user: str, kind: str, among: Iterable[str]) -> set[str]:
        """Return the message ids, among these, of which a record of this kind is stored."""
        rows = self._database.rows(
            "SELECT DISTINCT message_id FROM records JOIN user_shards USING (shard) "
            f"WHERE user = ? AND kind = ? AND message_id {LISTED}",
            (user, kind, dumps(list(among))),
        )
        return {row[0] for row in rows}


def _fits(row: RecordRow, wanted: RecordFilter) -> bool:
    """Whether an execution has the wanted outcome, and all wanted tools and errors."""
    if wanted.success is not None and row.success is not wanted.success:
        return False
    return _folded(wanted.tools) <= _folded(names_in(row.tools) if wanted.tools else ()) and _folded(
        wanted.errors
    ) <= _folded(names_in(row.errors) if wanted.errors else ())


def _folded(names: Iterable[str]) -> set[str]:
    return {name.casefold() for name in names}


def names_in(text: str) -> list[str]:
    """Return the names in a column of `RecordRow`."""
    return [name for name in loads(text) if isinstance(name, str)]
