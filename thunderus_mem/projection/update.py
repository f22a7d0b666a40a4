"""Applies what the walk saw to the index: one pass over changed files, then over the ids they touch.

Of several files with one id the lowest path is the document, and one in use before one in the archive. When
it goes, the next takes its place.
"""

from __future__ import annotations

import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

from thunderus_mem.model.document import content_hash, read_document
from thunderus_mem.projection.entry import Entry, entry_of
from thunderus_mem.projection.generation import Drift
from thunderus_mem.projection.index import encode_problems
from thunderus_mem.projection.refused import failed, irregular, openable
from thunderus_mem.projection.row_writer import RowWriter
from thunderus_mem.projection.rows import first_path
from thunderus_mem.projection.scan import FileStamp, Stamp
from thunderus_mem.projection.source import read_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from thunderus_mem.model.diagnostic import Diagnostic
    from thunderus_mem.model.document import Document
    from thunderus_mem.projection.database import Database
    from thunderus_mem.projection.scan import Scan, Walk

_INSERT_FILE = (
    "INSERT INTO files VALUES (?, ?, ?, ?, ?, ?, ?, ?) "
    "ON CONFLICT (path) DO UPDATE SET size = excluded.size, "
    "mtime_ns = excluded.mtime_ns, ctime_ns = excluded.ctime_ns, inode = excluded.inode, "
    "hash = excluded.hash, doc_id = excluded.doc_id, problems_json = excluded.problems_json"
)

_BATCH: Final = 500
"""How many changed files are read before their rows are written: what bounds memory."""

Tell: TypeAlias = "Callable[[str, int, int], None]"
"""Who hears how far the work is: what is done, to how many files, of how many."""


class _FileRow(NamedTuple):
    """What the index holds of a file before the update."""

    size: int
    hash: str
    doc_id: str
    problems_json: str


class Update:
    """One update within a transaction that its caller holds. ``added``, ``modified``, ``removed`` count
    documents; ``unsettled`` are files that have to be read again next time, whatever their stamps say;
    ``drift`` is what it does to the generation."""

    def __init__(self, root: str, database: Database, tell: Tell) -> None:
        self._tell = tell
        self._root = root
        self._database = database
        self._writer = RowWriter(database)
        self._fresh: dict[str, tuple[Document, str, int]] = {}
        self._touched: set[str] = set()
        self._was: dict[str, bool] = {}
        self._written: dict[str, bool] = {}
        self.unsettled: set[str] = set()
        self.drift = Drift()
        self.held = 0

    @property
    def added(self) -> int:
        """How many documents were not there before and are now."""
        return sum(written and not self._was[doc_id] for doc_id, written in self._written.items())

    @property
    def modified(self) -> int:
        """How many were there before, and have new rows."""
        return sum(written and self._was[doc_id] for doc_id, written in self._written.items())

    @property
    def removed(self) -> int:
        """How many were there before, and no file has them any more."""
        return sum(self._was[doc_id] and not written for doc_id, written in self._written.items())

    @property
    def changed(self) -> bool:
        """Whether any document did."""
        return bool(self.added or self.modified or self.removed)

    def run(self, seen: Scan, before: Walk | None) -> None:
        """Apply everything; ``before`` is what the index remembers of the walk it agrees with."""
        stamps = before.files() if before else {}
        changed = {path: stamp for path, stamp in seen.files() if stamps.get(path) != stamp}
        gone: list[str] = []
        if before is None or before.names != seen.packed_names:
            left = {row[0] for row in self._database.rows("SELECT path FROM files")}.difference(seen.names)
            hidden = tuple(f"{folder}/" for folder in seen.unlisted)
            gone = sorted(path for path in left if not path.startswith(hidden or "//"))
            self.held = len(left) - len(gone)
        try:
            self._forget(gone)
            self._take_in(changed, seen.special)
        finally:
            self._writer.wait()

    def _take_in(self, changed: dict[str, Stamp], special: frozenset[str]) -> None:
        """Read the changed files, a batch at a time; each leaves its rows behind."""
        batches = [list(batch) for batch in _batches(list(changed))]
        known = self._known(batches[0]) if batches else {}
        for at, batch in enumerate(batches):
            self._tell("Reading documents:", at * _BATCH, len(changed))
            read = [
                self._read(FileStamp(path, *changed[path], path not in special), known.get(path))
                for path in batch
            ]
            entries = {path: entry_of(*found) for path, found in self._fresh.items()}
            rows = [row for row in read if row is not None]
            self._drifted(rows, known)
            self._writer.wait()
            known = self._known(batches[at + 1]) if at + 1 < len(batches) else {}
            self._database.run_many(_INSERT_FILE, rows)
            self._settle(entries)
        self._settle({})

    def _forget(self, gone: list[str]) -> None:
        """Take out the files that are no more; their ids are settled with the first batch."""
        for batch in _batches(gone):
            known = self._known(batch)
            self._touched.update(row.doc_id for row in known.values())
            for path, row in known.items():
                self.drift.went(path, row.hash)
            self._database.run_many("DELETE FROM files WHERE path = ?", [(path,) for path in batch])

    def _drifted(self, rows: list[tuple[Any, ...]], known: dict[str, _FileRow]) -> None:
        for path, *_, text_hash, _, _ in rows:
            before = known.get(path)
            if before is None or before.hash != text_hash:
                self.drift.came(path, text_hash)
                if before is not None:
                    self.drift.went(path, before.hash)

    def problem_count(self) -> int:
        """How many files have findings of the reader."""
        row = self._database.row("SELECT count(*) FROM files WHERE problems_json <> '[]'")
        return int(row[0]) if row else 0

    def _known(self, paths: list[str]) -> dict[str, _FileRow]:
        marks = ", ".join("?" * len(paths))
        sql = f"SELECT path, size, hash, doc_id, problems_json FROM files WHERE path IN ({marks})"
        return {row[0]: _FileRow(*row[1:]) for row in self._database.rows(sql, paths)}

    def _read(self, stamp: FileStamp, before: _FileRow | None) -> tuple[Any, ...] | None:
        """The new row of a file that may have changed; ``None`` leaves the old one."""
        path = stamp.path
        self.unsettled.discard(path)
        if not (stamp.regular and openable(path)):
            return self._not_a_document(stamp, before, (irregular(path),))
        moment = time.time_ns()
        try:
            data, stamp = read_bytes(self._root, stamp)
        except FileNotFoundError:  # it went after the walk
            self.unsettled.add(path)
            return None
        except OSError as error:
            return self._unreadable(stamp, before, error)
        text_hash = content_hash(data)
        if stamp.racy_at(moment):
            self.unsettled.add(path)
        if before and before.hash == text_hash and before.size == stamp.size and b"\r" not in data:
            return (path, *stamp.values, text_hash, before.doc_id, before.problems_json)
        reading = read_document(path, data)
        document = reading.document
        doc_id = document.id if document else ""
        self._touched.update({doc_id, before.doc_id if before else ""})
        if document:
            self._fresh[path] = (document, text_hash, stamp.size)
        return (path, *stamp.values, text_hash, doc_id, encode_problems(reading.problems))

    def _unreadable(
        self, stamp: FileStamp, before: _FileRow | None, error: OSError
    ) -> tuple[Any, ...] | None:
        """A read that failed proves nothing about the text: what was known stays, and it is tried again."""
        self.unsettled.add(stamp.path)
        if before and before.doc_id:
            return None
        return self._not_a_document(stamp, before, (failed(stamp.path, error),))

    def _not_a_document(
        self, stamp: FileStamp, before: _FileRow | None, problems: tuple[Diagnostic, ...]
    ) -> tuple[Any, ...]:
        if before:
            self._touched.add(before.doc_id)
        return (stamp.path, *stamp.values, "", "", encode_problems(problems))

    def _settle(self, read: dict[str, Entry]) -> None:
        """For each id that was touched: find its file, and make its rows those of that file.

        ``read`` are the entries of files read just now. A later batch may touch an id again, when another of
        its files comes or goes.
        """
        self._touched.discard("")
        entries: list[tuple[int, Entry]] = []
        next_row = self._writer.next_row()
        touched = sorted(self._touched)
        old = self._rows_of(touched, "SELECT doc_id, rowid, path FROM docs WHERE doc_id IN ({})")
        winners = self._rows_of(
            touched, f"SELECT doc_id, {first_path('path')} FROM files WHERE doc_id IN ({{}}) GROUP BY doc_id"
        )
        for doc_id in touched:
            row_id, old_path = old.get(doc_id, (0, ""))
            self._was.setdefault(doc_id, bool(row_id))
            (winner,) = winners.get(doc_id, ("",))
            if winner and winner == old_path and winner not in read:
                continue
            found = (read.get(winner) or self._entry_in(winner, doc_id)) if winner else None
            if row_id:
                self._writer.drop(row_id, doc_id)
            self._written[doc_id] = found is not None
            if found is not None:
                entries.append((row_id or next_row, found))
                next_row += not row_id
        self._fresh.clear()
        self._touched.clear()
        self._writer.insert(entries)

    def _rows_of(self, doc_ids: list[str], sql: str) -> dict[str, tuple[Any, ...]]:
        """The rest of the rows by their first column, an id; ``{}`` in the statement stands for the ids."""
        found: dict[str, tuple[Any, ...]] = {}
        for batch in _batches(doc_ids):
            rows = self._database.rows(sql.format(", ".join("?" * len(batch))), batch)
            found.update((row[0], row[1:]) for row in rows)
        return found

    def _entry_in(self, path: str, doc_id: str) -> Entry | None:
        """What a file holds that takes the place of another: read now."""
        with suppress(OSError):
            data, stamp = read_bytes(self._root, FileStamp(path, 0, 0, 0, 0))
            document = read_document(path, data).document
            if document and document.id == doc_id:
                return entry_of(document, content_hash(data), stamp.size)
        # It changed since the walk. The next refresh reads it and settles the id.
        self.unsettled.add(path)
        self._drifted([(path, "", "", "")], self._known([path]))
        self._database.run("UPDATE files SET hash = '' WHERE path = ?", (path,))
        return None


def _batches(items: list[str]) -> Iterator[list[str]]:
    return (items[start : start + _BATCH] for start in range(0, len(items), _BATCH))
