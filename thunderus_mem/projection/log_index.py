"""The event log as the index knows it: which events name a document, which hashes it has had, what came last.

Shards are read only when their stamp moved. A shard that is gone takes its events along.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from thunderus_mem.model.shard import places
from thunderus_mem.projection.scan import RACY_NS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from thunderus_mem.model.event import Event
    from thunderus_mem.projection.database import Database
    from thunderus_mem.store.events import EventLog

_COLUMNS: Final = "id, ts, session_id, actor, kind, shard, line"


class EventRow(NamedTuple):
    """An event and the place of its line."""

    id: str
    ts: str
    session_id: str
    actor: str
    kind: str
    shard: str
    line: int


class LogIndex:
    """Answers about the log from the index. Call ``refresh`` first."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def refresh(self, log: EventLog) -> int:
        """Read the shards that came or changed, forget those that went; returns how many were read."""
        known: dict[str, str] = dict(self._database.rows("SELECT path, stamp FROM shards"))
        now = {shard: _stamp(os.path.join(log.root, shard)) for shard in log.shards()}
        changed = [shard for shard, stamp in now.items() if known.get(shard) != stamp]
        gone = [shard for shard in known if shard not in now]
        if not changed and not gone:
            return 0
        with self._database.transaction():
            for shard in (*gone, *changed):
                for table in ("shards", "events", "event_docs"):
                    column = "path" if table == "shards" else "shard"
                    self._database.run(f"DELETE FROM {table} WHERE {column} = ?", (shard,))
            for shard in changed:
                self._add(log, shard)
        return len(changed)

    def events_of(self, doc_id: str) -> list[EventRow]:
        """The events that name a document, oldest first."""
        return self._events(
            "WHERE (shard, line) IN (SELECT shard, line FROM event_docs WHERE doc_id = ?) "
            "GROUP BY id ORDER BY min(place), shard, line",
            (doc_id,),
        )

    def shards_about(self, doc_ids: Iterable[str], hashes: Iterable[str] = ()) -> set[str]:
        """The shards that name one of the documents or left one of the texts."""
        import json

        rows = self._database.rows(
            "SELECT shard FROM event_docs WHERE doc_id IN (SELECT value FROM json_each(?)) "
            "UNION SELECT shard FROM event_docs WHERE after_hash IN (SELECT value FROM json_each(?))",
            (json.dumps(sorted(doc_ids)), json.dumps(sorted(filter(None, hashes)))),
        )
        return {row[0] for row in rows}

    def shards_with(self, event_ids: Iterable[str]) -> set[str]:
        """The shards that hold one of the events."""
        import json

        rows = self._database.rows(
            "SELECT DISTINCT shard FROM events WHERE id IN (SELECT value FROM json_each(?))",
            (json.dumps(sorted(event_ids)),),
        )
        return {row[0] for row in rows}

    def explains(self, content_hash: str) -> bool:
        """Whether some event says that it left a document with this hash."""
        row = self._database.row("SELECT 1 FROM event_docs WHERE after_hash = ? LIMIT 1", (content_hash,))
        return bool(content_hash) and row is not None

    def unexplained_files(self) -> list[str]:
        """Files whose text no event left, by path; those that cannot be read are among them."""
        rows = self._database.rows(
            "SELECT path FROM files WHERE hash = '' "
            "OR NOT EXISTS (SELECT 1 FROM event_docs WHERE after_hash = files.hash) ORDER BY path"
        )
        return [row[0] for row in rows]

    def vanished(self, shard: str | None = None) -> list[str]:
        """Documents the log last saw with a text and no file holds any more; only by ``shard`` when given."""
        rows = self._database.rows(
            "WITH last AS (SELECT doc_id, after_hash, shard, row_number() OVER ("
            "PARTITION BY doc_id ORDER BY place DESC, shard DESC, line DESC, after_hash DESC) AS age "
            "FROM event_docs JOIN events USING (shard, line) "
            "WHERE doc_id <> '' AND after_hash || before_hash <> '' "
            "AND doc_id NOT IN (SELECT doc_id FROM files)) "
            "SELECT doc_id, shard FROM last WHERE age = 1 AND after_hash <> '' ORDER BY doc_id"
        )
        return [row[0] for row in rows if shard is None or row[1] == shard]

    def count(self) -> int:
        """How many events there are; a repeated line counts once."""
        row = self._database.row("SELECT count(DISTINCT id) FROM events")
        return int(row[0]) if row else 0

    def damages(self) -> int:
        """How many lines could not be read."""
        row = self._database.row("SELECT coalesce(sum(damages), 0) FROM shards")
        return int(row[0]) if row else 0

    def _events(self, tail: str, values: tuple[Any, ...]) -> list[EventRow]:
        rows = self._database.rows(f"SELECT {_COLUMNS} FROM events {tail}", values)
        return [EventRow(*row) for row in rows]

    def _add(self, log: EventLog, shard: str) -> None:
        stamp = _stamp(os.path.join(log.root, shard))
        reading = log.read_shard(shard)
        self._database.run("INSERT INTO shards VALUES (?, ?, ?)", (shard, stamp, len(reading.damages)))
        events = [(logged.event, logged.line) for logged in reading.events]
        self._database.run_many(
            "INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            [
                (shard, line, e.id, e.ts, e.session_id, e.actor, e.kind, place)
                for (e, line), place in zip(events, places(reading), strict=True)
            ],
        )
        self._database.run_many(
            "INSERT OR IGNORE INTO event_docs VALUES (?, ?, ?, ?, ?)",
            [(shard, line, *change) for event, line in events for change in _changes(event)],
        )


def _changes(event: Event) -> list[tuple[str, str, str]]:
    """``(document id, hash before, hash after)`` of everything the event names."""
    from thunderus_mem.model.event import changes_of, document_ids

    changes = [(change.doc_id, change.before, change.after) for change in changes_of(event)]
    named = {change[0] for change in changes}
    return [*changes, *((doc_id, "", "") for doc_id in document_ids(event) if doc_id not in named)]


def _stamp(path: str) -> str:
    """Stamp of a shard. One that changed just now gets a stamp that never repeats, so it is read again."""
    import time

    try:
        info = os.lstat(path)
    except OSError:
        return ""
    newest = max(info.st_mtime_ns, info.st_ctime_ns)
    racy = f" {time.time_ns()}" if newest > time.time_ns() - RACY_NS else ""
    return f"{info.st_size} {info.st_mtime_ns} {info.st_ctime_ns} {info.st_ino}{racy}"
