"""The log in the index: the stamp of each shard, and the day, documents and paths of each event."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Final

from thunderus_mem.index.database import BATCH, LISTED
from thunderus_mem.index.scan import is_racy
from thunderus_mem.startup import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    from thunderus_mem.index.database import Database
    from thunderus_mem.index.log_rows import ShardRows
    from thunderus_mem.log.line import Event
    from thunderus_mem.log.reader import EventLog
    from thunderus_mem.log.shard import LoggedEvent


def stamp_of(path: str) -> str:
    """Return the stamp of a shard; unique if it changed just now, so that it is read again."""
    import time

    try:
        info = os.lstat(path)
    except OSError:
        return ""
    now = time.time_ns()
    racy = f" {now}" if is_racy(info.st_mtime_ns, info.st_ctime_ns, now) else ""
    return f"{info.st_size} {info.st_mtime_ns} {info.st_ctime_ns} {info.st_ino}{racy}"


def _is_shared(shard: str) -> bool:
    from thunderus_mem.store.paths import is_private_shard, is_shard

    return is_shard(shard) and not is_private_shard(shard)


def is_regular(path: str) -> bool:
    """Whether the log reads this file: it is regular, and neither it nor its folder is a link."""
    return os.path.isfile(path) and not os.path.islink(path) and not os.path.islink(os.path.dirname(path))


_SHARDS: Final = 64
_MOST_ROWS: Final = 2_000
_CACHE_KIB: Final = 12 * 1024
"""A larger cache is not faster, and readers wait less than 3 s for the events of 100,000 documents."""
_FEW: Final = 64
_MOST_HEADS: Final = 64
"""Keeps the line of an event short; sessions that follow name the rest."""
_AFTER_ALL: Final = "\U0010ffff"
_ROWS: Final = "SELECT id, kind, place, path, line FROM events JOIN shards USING (shard)"
# Starts from the few wanted lines; their events are found by key.
_AT: Final = (
    "SELECT id, kind, place, path, line FROM ({}) "
    "CROSS JOIN events USING (shard, line) CROSS JOIN shards USING (shard)"
)
_NEWEST_FIRST: Final = "ORDER BY place DESC, shards.path DESC, line DESC"
_NAMING: Final = f"SELECT shard, line FROM event_docs WHERE doc_id {LISTED}"
_ABORTED: Final = (
    "EXISTS (SELECT 1 FROM aborted JOIN events AS made ON made.id = aborted.event_id "
    "WHERE aborted.path = event_docs.path AND made.shard = event_docs.shard AND made.line = event_docs.line)"
)
"""Whether a change in ``event_docs`` was never written to its file."""


_WRITES: Final = (
    "INSERT INTO shards VALUES (?, ?, ?, ?, ?, ?)",
    "INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
    "INSERT INTO event_docs VALUES (?, ?, ?, ?, ?, ?, ?)",
    "INSERT INTO heads VALUES (?, ?, ?)",
    "INSERT INTO aborted VALUES (?, ?, ?)",
    "UPDATE events SET broken = 1 WHERE shard = ? AND line = ?",
)
"""Statements for the parts of `ShardRows`."""


class EventRow(NamedTuple):
    """An event and its location: ``place`` is its sort key in the log, ``line`` that of its shard."""

    id: str
    kind: str
    place: str
    shard: str
    line: int

    @property
    def order(self) -> tuple[str, str, int]:
        """The sort key for the order of the log."""
        return (self.place, self.shard, self.line)


class TextEvent(NamedTuple):
    """An event about a document: ``text_by`` is the user, agent or tool that changed title or body, or "";
    ``after`` the hash of the file then. If that is ``None``, the event changed nothing, and ``text_by`` is
    the user who verified the document."""

    text_by: str
    after: str | None


class SettledFile(NamedTuple):
    """The hash and document id of a file, and whether its text is the result of an event."""

    hash: str
    doc_id: str
    explained: bool


class Suspects(NamedTuple):
    """What speaks against lines of some shards: ``broken`` are lines on either side of a broken link,
    ``unchained`` shards without links, ``named`` hashes by shard that are not that of its last line."""

    broken: frozenset[tuple[str, int]]
    unchained: frozenset[str]
    named: dict[str, frozenset[str]]


_UNREAD: Final = "unread"
"""The stamp of a shard that could not be read: it matches no file, so that it is read again."""


class LogIndex:
    """Queries on the log in the index. Call ``refresh`` first."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def refresh(self, log: EventLog, tell: Callable[[str, int, int], None] | None = None) -> int:
        """Read new and changed shards, drop removed ones; return how many were read."""
        known: dict[str, str] = dict(self._database.rows("SELECT path, stamp FROM shards"))
        now = {shard: stamp_of(os.path.join(log.root, shard)) for shard in log.shards()}
        changed = [shard for shard, stamp in now.items() if known.get(shard) != stamp]
        gone = [shard for shard in known if shard not in now]
        if not changed and not gone:
            return 0
        with self._database.transaction(_CACHE_KIB):
            for shard in {*gone, *changed} & known.keys():
                self._forget(shard)
            self._add(log, changed, tell)
        return len(changed)

    def newest(
        self, limit: int, *, kinds: Collection[str] = (), doc_ids: Collection[str] = ()
    ) -> list[EventRow]:
        """Return the last events, newest first; optionally of some kinds, or about some document ids."""
        where, values = _filters(kinds, doc_ids)
        sql = f"{_ROWS} {where} {_NEWEST_FIRST} LIMIT ? OFFSET ?"
        found: list[EventRow] = []
        offset = 0
        with self._database.snapshot():
            while len(found) < limit:
                rows = self._rows(sql, (*values, limit, offset))
                found += self._first_copies(rows)
                if len(rows) < limit:
                    break
                offset += limit
        return found[:limit]

    def in_order(
        self, *, kinds: Collection[str] = (), doc_ids: Collection[str] = (), since: str = ""
    ) -> Iterator[list[EventRow]]:
        """Yield all events in batches, oldest first; filtered as in `newest`, or from a `utc_key` on."""
        return self._pages(_filters(kinds, doc_ids), ">", (since, "", 0), "ORDER BY place, path, line")

    def backwards(
        self, *, kinds: Collection[str] = (), shards: Collection[str] | None = None
    ) -> Iterator[list[EventRow]]:
        """Yield all events in batches, newest first; optionally of some kinds, or in some shards."""
        return self._pages(_filters(kinds, (), shards), "<", (_AFTER_ALL, "", 0), _NEWEST_FIRST)

    def _pages(
        self, chosen: tuple[str, tuple[str, ...]], side: str, start: tuple[str, str, int], order: str
    ) -> Iterator[list[EventRow]]:
        where, values = chosen
        # The first comparison is redundant, but uses the SQL index on place.
        beyond = f"place {side}= ? AND (place, path, line) {side} (?, ?, ?)"
        sql = f"{_ROWS} {where} {'AND' if where else 'WHERE'} {beyond} {order} LIMIT"
        last, size = start, _FEW
        while True:
            with self._database.snapshot():
                rows = self._rows(f"{sql} {size}", (*values, last[0], *last))
                first = list(self._first_copies(rows))
            if not rows:
                return
            last, size = rows[-1].order, BATCH
            yield first

    def total(self, *, kinds: Collection[str] = (), doc_ids: Collection[str] = ()) -> int:
        """Return the number of events; duplicates count once."""
        where, values = _filters(kinds, doc_ids)
        row = self._database.row(f"SELECT count(DISTINCT id) FROM events {where}", values)
        return int(row[0]) if row else 0

    def patches(self, start: str, limit: int) -> list[tuple[str, str]]:
        """Return ``(id, day)`` of the last patches with this id prefix, newest first, for completion."""
        rows = self._database.rows(
            "SELECT id, day FROM events WHERE kind = 'patch' AND substr(id, 1, ?) = ? "
            "ORDER BY place DESC, line DESC, id DESC LIMIT ?",
            (len(start), start, limit),
        )
        return list(dict(rows).items())

    def beginning_with(self, start: str) -> list[EventRow]:
        """Return the events with this id prefix, ignoring case, in the order of the log."""
        pattern = start.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_") + "%"
        return self._in_order(f"{_ROWS} WHERE id LIKE ? ESCAPE '\\'", (pattern,))

    def naming(self, doc_ids: Iterable[str], cited: Iterable[str] = ()) -> list[EventRow]:
        """Return the events that name one of the documents, and those cited (see `cited`); oldest first."""
        lines = f"{_NAMING} UNION SELECT shard, line FROM events WHERE id {LISTED}"
        with self._database.snapshot():
            found = {id for ids in self.cited(cited).values() for id in ids}
            return self._in_order(_AT.format(lines), (_json(doc_ids), _json(found)))

    def cited(self, names: Iterable[str]) -> dict[str, set[str]]:
        """Return the events that documents mean by these names, by name; several are ambiguous.

        A name is the id of an event or, for an imported one, its original id, alone or as ``SESSION/ID``.
        """
        names = set(names)
        found = {name: {name} for name in self.known(names)}
        # A session may contain a slash too.
        last = {name[at + 1 :] for name in names for at, char in enumerate(name) if char == "/"}
        rows = self._database.rows(
            f"SELECT id, origin_session, origin_id FROM events WHERE origin_id {LISTED}",
            (_json(last | names),),
        )
        for id, session, original in rows:
            for name in names.intersection((original, f"{session or ''}/{original}")):
                found.setdefault(name, set()).add(id)
        return found

    def documents(self) -> set[str]:
        """Return the ids of all documents named by events."""
        return {row[0] for row in self._database.rows("SELECT DISTINCT doc_id FROM event_docs")}

    def changes_in_order(self) -> list[tuple[str, str]]:
        """Return ``(event id, document id)`` of all changes of documents, in the order of the log."""
        rows = self._database.rows(
            "SELECT id, doc_id FROM event_docs JOIN events USING (shard, line) JOIN shards USING (shard) "
            "WHERE doc_id <> '' AND after_hash IS NOT NULL ORDER BY place, shards.path, line, doc_id"
        )
        return [(row[0], row[1]) for row in rows]

    def single_paths(self) -> dict[str, str]:
        """Return the document id of each path at which the log knows exactly one document."""
        rows = self._database.rows(
            "SELECT path, min(doc_id) FROM event_docs WHERE path <> '' AND doc_id <> '' AND after_hash <> '' "
            "GROUP BY path HAVING min(doc_id) = max(doc_id)"
        )
        return {row[0]: row[1] for row in rows}

    def about(self, paths: Iterable[str], doc_ids: Iterable[str]) -> list[EventRow]:
        """Return the events that changed these paths or name these documents; oldest first."""
        lines = f"SELECT shard, line FROM event_docs WHERE path {LISTED} UNION {_NAMING}"
        return self._in_order(_AT.format(lines), (_json(paths), _json(doc_ids)))

    def beside(self, event_ids: Iterable[str]) -> list[EventRow]:
        """Return these events and those about the same paths or documents; oldest first."""
        asked = _json(event_ids)
        own = f"SELECT shard, line FROM events WHERE id {LISTED}"
        of_own = f"FROM ({own}) CROSS JOIN event_docs USING (shard, line)"
        lines = (
            f"{own} UNION SELECT shard, line FROM event_docs WHERE path IN (SELECT path {of_own} "
            f"WHERE path <> '') UNION SELECT shard, line FROM event_docs WHERE doc_id IN "
            f"(SELECT doc_id {of_own} WHERE doc_id <> '')"
        )
        return self._in_order(_AT.format(lines), (asked,) * 3)

    def sizes(self, event_ids: Iterable[str]) -> dict[str, int]:
        """Return how many documents each of these events names."""
        rows = self._database.rows(
            "SELECT id, count(*) FROM events JOIN event_docs USING (shard, line) "
            f"WHERE id {LISTED} GROUP BY id",
            (_json(event_ids),),
        )
        return dict(rows)

    def of_day(self, day: str) -> list[EventRow]:
        """Return the events of a day in UTC (``2026-01-21``), oldest first."""
        return self._in_order(f"{_ROWS} WHERE day = ?", (day,))

    def leaving(self, hashes: Iterable[str]) -> list[EventRow]:
        """Return the events after which a document had one of these hashes; oldest first."""
        lines = f"SELECT DISTINCT shard, line FROM event_docs WHERE after_hash {LISTED}"
        return self._in_order(_AT.format(lines), (_json(filter(None, hashes)),))

    def known(self, event_ids: Iterable[str]) -> set[str]:
        """Return the given events that are in any shard."""
        rows = self._database.rows(f"SELECT id FROM events WHERE id {LISTED}", (_json(event_ids),))
        return {row[0] for row in rows}

    def explains(self, content_hash: str) -> bool:
        """Whether this hash is the result of some event."""
        sql = f"SELECT 1 FROM event_docs WHERE after_hash = ? AND NOT {_ABORTED} LIMIT 1"
        row = self._database.row(sql, (content_hash,))
        return bool(content_hash) and row is not None

    def unexplained_files(self, *, unsettled: bool = False) -> list[str]:
        """Return the files whose text is not the result of an event, including unreadable ones, by path; also
        those that may have changed since they were read, if ``unsettled``."""
        also = "OR NOT settled " if unsettled else ""
        rows = self._database.rows(
            f"SELECT path FROM files WHERE hash = '' {also}OR NOT EXISTS "
            f"(SELECT 1 FROM event_docs WHERE after_hash = files.hash AND NOT {_ABORTED}) ORDER BY path"
        )
        return [row[0] for row in rows]

    def settled_files(self, paths: Iterable[str]) -> dict[str, SettledFile]:
        """Return the given files whose stamp proves that they are unchanged since the last refresh read
        them."""
        explained = f"EXISTS (SELECT 1 FROM event_docs WHERE after_hash = files.hash AND NOT {_ABORTED})"
        rows = self._database.rows(
            f"SELECT path, hash, doc_id, {explained} FROM files "
            f"WHERE path {LISTED} AND settled AND hash <> ''",
            (_json(paths),),
        )
        return {row[0]: SettledFile(*row[1:]) for row in rows}

    def text_events(self, doc_id: str) -> Iterator[TextEvent]:
        """Yield what events say about the text of a document, newest first, also under its former ids."""
        before = _AFTER_ALL
        while doc_id:
            rows = self._database.rows(
                "SELECT text_by, after_hash, former_id, place FROM event_docs "
                "JOIN events USING (shard, line) JOIN shards USING (shard) "
                f"WHERE doc_id = ? AND place < ? AND NOT {_ABORTED} {_NEWEST_FIRST}",
                (doc_id, before),
            )
            doc_id = ""
            for text_by, after, former, place in rows:
                yield TextEvent(text_by, after)
                if former:
                    doc_id, before = former, place
                    break

    def removed(self, doc_id: str) -> bool:
        """Whether the last change of a document removed it."""
        row = self._database.row(
            "SELECT after_hash FROM event_docs JOIN events USING (shard, line) JOIN shards USING (shard) "
            f"WHERE doc_id = ? AND after_hash IS NOT NULL AND NOT {_ABORTED} {_NEWEST_FIRST} LIMIT 1",
            (doc_id,),
        )
        return row is not None and row[0] == ""

    def vanished(self, shard: str | None = None) -> list[str]:
        """Return documents in the log without a file; optionally only those last changed in ``shard``."""
        within = ""
        if shard is not None:
            mine = "SELECT shard FROM shards WHERE path = ?"
            within = f"AND doc_id IN (SELECT doc_id FROM event_docs WHERE shard = ({mine}))"
        rows = self._database.rows(
            "WITH last AS (SELECT doc_id, after_hash, shards.path AS shard, row_number() OVER ("
            "PARTITION BY doc_id ORDER BY place DESC, shards.path DESC, line DESC, after_hash DESC) AS age "
            "FROM event_docs JOIN events USING (shard, line) JOIN shards USING (shard) "
            f"WHERE doc_id <> '' AND after_hash IS NOT NULL AND NOT {_ABORTED} "
            f"AND doc_id NOT IN (SELECT doc_id FROM files) {within}) "
            "SELECT doc_id, shard FROM last WHERE age = 1 AND after_hash <> '' ORDER BY doc_id",
            (shard,) if shard is not None else (),
        )
        return [row[0] for row in rows if shard is None or row[1] == shard]

    def unnamed_heads(self, known: Callable[[str], bool]) -> dict[str, str]:
        """Return the last line hashes, by session, that no shard names yet: of the newest `_MOST_HEADS`.

        Only shards that are ``known`` count, on both sides; private ones never do.
        """
        naming = self._database.rows("SELECT path, session_id, hash FROM heads JOIN shards USING (shard)")
        done = {(session_id, digest) for path, session_id, digest in naming if known(path)}
        from thunderus_mem.log.line import is_session_id

        rows = self._database.rows("SELECT path, last_hash FROM shards WHERE last_hash <> ''")
        last = {path.split("/")[-2]: digest for path, digest in rows if _is_shared(path) and known(path)}
        open_ends = [one for one in last.items() if one not in done and is_session_id(one[0])]
        return dict(sorted(sorted(open_ends)[-_MOST_HEADS:]))

    def suspects(self, shards: Collection[str]) -> Suspects:
        """Return what speaks against lines of these shards; reads none of them."""
        asked = (_json(shards),)
        found = f"JOIN shards USING (shard) WHERE shards.path {LISTED}"
        broken = self._database.rows(f"SELECT path, line FROM events {found} AND broken", asked)
        rows = self._database.rows(f"SELECT path, last_hash, chained FROM shards WHERE path {LISTED}", asked)
        last = {path.split("/")[-2]: (path, digest) for path, digest, _ in rows if _is_shared(path)}
        sql = f"SELECT DISTINCT session_id, hash FROM heads WHERE session_id {LISTED}"
        named: dict[str, frozenset[str]] = {}
        for session_id, digest in self._database.rows(sql, (_json(last),)):
            path, newest = last[session_id]
            if digest != newest:
                named[path] = named.get(path, frozenset()) | {digest}
        unchained = frozenset(path for path, _, chained in rows if not chained)
        return Suspects(frozenset((path, line) for path, line in broken), unchained, named)

    def explaining(self) -> list[tuple[str, str, int]]:
        """Return each file whose text is the result of an event, with shard and line of the event."""
        rows = self._database.rows(
            "SELECT files.path, shards.path, line FROM files JOIN event_docs ON after_hash = files.hash "
            f"JOIN shards USING (shard) WHERE files.hash <> '' AND NOT {_ABORTED} "
            "ORDER BY files.path, shards.path, line"
        )
        return [(row[0], row[1], row[2]) for row in rows]

    def damages(self) -> int:
        """Return the number of damaged lines, without unfinished last ones."""
        row = self._database.row("SELECT coalesce(sum(damages), 0) FROM shards")
        return int(row[0]) if row else 0

    def unread(self) -> list[str]:
        """Return the shards that are regular files but could not be read."""
        return [row[0] for row in self._database.rows("SELECT path FROM shards WHERE stamp = ?", (_UNREAD,))]

    def _rows(self, sql: str, values: Sequence[Any]) -> list[EventRow]:
        return [EventRow(*row) for row in self._database.rows(sql, values)]

    def _in_order(self, sql: str, values: Sequence[Any]) -> list[EventRow]:
        with self._database.snapshot():
            return sorted(self._first_copies(self._rows(sql, values)), key=lambda row: row.order)

    def _first_copies(self, rows: list[EventRow]) -> Iterator[EventRow]:
        """Drop copies of an event in several shards, except the first one in the log."""
        first: dict[str, tuple[str, str, int]] = {}
        for batch in _batches(sorted({row.id for row in rows})):
            for row in self._rows(f"{_ROWS} WHERE id {LISTED}", (_json(batch),)):
                first[row.id] = min(first.get(row.id, row.order), row.order)
        return (row for row in rows if first[row.id] == row.order)

    def _forget(self, path: str) -> None:
        for table in ("aborted", "event_docs", "events", "heads", "shards"):
            sql = f"DELETE FROM {table} WHERE shard = (SELECT shard FROM shards WHERE path = ?)"
            self._database.run(sql, (path,))

    def _add(self, log: EventLog, paths: list[str], tell: Callable[[str, int, int], None] | None) -> None:
        from thunderus_mem.index.log_rows import ShardRows
        from thunderus_mem.log.shard import TORN, placed

        rows = ShardRows([], [], [], [], [], [])
        last = self._database.row("SELECT coalesce(max(shard), 0) FROM shards") or (0,)
        for done, path in enumerate(paths):
            if tell is not None and done % _SHARDS == 0:
                tell("Reading the log:", done, len(paths))
            shard = int(last[0]) + 1 + done
            stamp = stamp_of(os.path.join(log.root, path))
            reader = log.reader(path)
            for logged, place in placed(reader):
                rows.add(shard, logged, place)
                if len(rows.events) + len(rows.documents) > _MOST_ROWS:
                    self._write(rows)
            if not reader.readable and is_regular(os.path.join(log.root, path)):
                stamp = _UNREAD
            # An unfinished last line may be one being written.
            damages = sum(damage.code != TORN for damage in reader.damages)
            rows.shards.append((shard, path, stamp, damages, reader.last_hash, reader.chained))
            rows.broken.extend((shard, line) for line in reader.broken)
        self._write(rows)

    def _write(self, rows: ShardRows) -> None:
        """Write rows, and empty their lists."""
        for statement, values in zip(_WRITES, rows, strict=True):
            self._database.run_many(statement, values)
            values.clear()


def read(
    log: EventLog, rows: Iterable[EventRow], part: Callable[[Event], Event] | None = None
) -> list[LoggedEvent]:
    """Read the events of these rows, in their order; skip lines that no longer exist. Of each event, only
    ``part`` is held in memory."""
    wanted = list(rows)
    lines: dict[str, set[int]] = {}
    for row in wanted:
        lines.setdefault(row.shard, set()).add(row.line)
    found = {
        (logged.shard, logged.line): logged if part is None else logged._replace(event=part(logged.event))
        for shard, numbers in lines.items()
        for logged in log.read_lines(shard, numbers)
    }
    return [found[row.shard, row.line] for row in wanted if (row.shard, row.line) in found]


def _filters(
    kinds: Collection[str], doc_ids: Collection[str], shards: Collection[str] | None = None
) -> tuple[str, tuple[str, ...]]:
    conditions: list[str] = []
    values: list[str] = []
    if kinds:
        conditions.append(f"kind {LISTED}")
        values.append(_json(kinds))
    if doc_ids:
        conditions.append(f"(shard, line) IN ({_NAMING})")
        values.append(_json(doc_ids))
    if shards is not None:
        conditions.append(f"shards.path {LISTED}")
        values.append(_json(shards))
    return (f"WHERE {' AND '.join(conditions)}" if conditions else "", tuple(values))


def _json(texts: Iterable[str]) -> str:
    from json import dumps

    return dumps(sorted(texts))


def _batches(items: list[str]) -> Iterator[list[str]]:
    return (items[start : start + BATCH] for start in range(0, len(items), BATCH))
