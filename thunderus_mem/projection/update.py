"""Applies what the walk saw to the index: one pass over changed files, then over the ids they touch.

Of several files with one id the lowest path is the document, and one in use before one in the archive. When
it goes, the next takes its place.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias, TypeVar

from thunderus_mem.projection.generation import Drift
from thunderus_mem.projection.reading import KnownFile, ReadFile, entry_in, read_file
from thunderus_mem.projection.row_writer import RowWriter
from thunderus_mem.projection.rows import first_path
from thunderus_mem.projection.scan import FileStamp, Stamp
from thunderus_mem.store.unlinked import Folders

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from thunderus_mem.projection.database import Database
    from thunderus_mem.projection.entry import Entry
    from thunderus_mem.projection.scan import Scan, Walk

_Item = TypeVar("_Item")
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


class _Changed(NamedTuple):
    """A file that may have changed: as the walk saw it, and as the index knows it."""

    stamp: FileStamp
    before: KnownFile | None


class Update:
    """One update within a transaction that its caller holds. ``added``, ``modified``, ``removed`` count
    documents; ``unsettled`` are files that have to be read again next time, whatever their stamps say;
    ``drift`` is what it does to the generation."""

    def __init__(self, root: str, database: Database, tell: Tell) -> None:
        self._tell = tell
        self._root = root
        self._database = database
        self._writer = RowWriter(database)
        self._touched: set[str] = set()
        self._doubted: set[str] = set()
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
        known = self._known(list(changed))
        files = [
            _Changed(FileStamp(path, *stamp, path not in special), known.get(path))
            for path, stamp in changed.items()
        ]
        batches = list(_batches(files))
        for at, batch in enumerate(batches):
            self._tell("Reading documents:", at * _BATCH, len(changed))
            self._put_down(batch)
        self._settle({})

    def _put_down(self, batch: Sequence[_Changed]) -> None:
        """Read some files and write their rows."""
        read: list[ReadFile] = []
        with Folders() as folders:
            for one in batch:
                found = self._read(one, folders)
                read.append(found)
                (self.unsettled.add if found.unsettled else self.unsettled.discard)(one.stamp.path)
                self._touched.update(found.touched)
                if found.row is not None:
                    self._drifted(found.row.path, found.row.hash, one.before)
        self._writer.wait()
        self._database.run_many(_INSERT_FILE, [found.row for found in read if found.row is not None])
        self._settle({found.row.path: found.entry for found in read if found.row and found.entry})

    def _read(self, one: _Changed, folders: Folders) -> ReadFile:
        """Read a file; what the index knew of it is no help where it has come to doubt that."""
        before = one.before
        if before is not None and one.stamp.path in self._doubted:
            before = before._replace(hash="")
        return read_file(self._root, one.stamp, before, folders)

    def _forget(self, gone: list[str]) -> None:
        """Take out the files that are no more; their ids are settled with the first batch."""
        for batch in _batches(gone):
            known = self._known(batch)
            self._touched.update(row.doc_id for row in known.values())
            for path, row in known.items():
                self.drift.went(path, row.hash)
            self._database.run_many("DELETE FROM files WHERE path = ?", [(path,) for path in batch])

    def _drifted(self, path: str, text_hash: str, before: KnownFile | None) -> None:
        """Note that a file's text is another now."""
        old = None if before is None else "" if path in self._doubted else before.hash
        if old != text_hash:
            self.drift.came(path, text_hash)
            if old is not None:
                self.drift.went(path, old)

    def problem_count(self) -> int:
        """How many files have findings of the reader."""
        row = self._database.row("SELECT count(*) FROM files WHERE problems_json <> '[]'")
        return int(row[0]) if row else 0

    def _known(self, paths: Sequence[str]) -> dict[str, KnownFile]:
        sql = "SELECT path, size, hash, doc_id, problems_json FROM files WHERE path IN ({})"
        return {path: KnownFile(*row) for path, row in self._rows_of(paths, sql).items()}

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
        self._touched.clear()
        self._writer.insert(entries)

    def _rows_of(self, keys: Sequence[str], sql: str) -> dict[str, tuple[Any, ...]]:
        """The rest of the rows by their first column; ``{}`` in the statement stands for the keys wanted."""
        found: dict[str, tuple[Any, ...]] = {}
        for batch in _batches(keys):
            rows = self._database.rows(sql.format(", ".join("?" * len(batch))), batch)
            found.update((row[0], row[1:]) for row in rows)
        return found

    def _entry_in(self, path: str, doc_id: str) -> Entry | None:
        """What a file holds that takes the place of another: read now."""
        with suppress(OSError):
            found = entry_in(self._root, FileStamp(path, 0, 0, 0, 0), doc_id)
            if found is not None:
                return found
        # It changed since the walk. The next refresh reads it and settles the id.
        self.unsettled.add(path)
        self._drifted(path, "", self._known([path]).get(path))
        self._doubted.add(path)
        self._database.run("UPDATE files SET hash = '' WHERE path = ?", (path,))
        return None


def _batches(items: Sequence[_Item]) -> Iterator[Sequence[_Item]]:
    return (items[start : start + _BATCH] for start in range(0, len(items), _BATCH))
