"""Applies what the walk saw to the index: one pass over changed files, then over the ids they touch.

Of several files with one id the lowest path is the document. When it goes, the next takes its place.
"""

from __future__ import annotations

import os
import stat
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

from thunderus_mem.model.diagnostic import Diagnostic, Severity
from thunderus_mem.model.document import content_hash, read_document
from thunderus_mem.projection.entry import Entry, entry_of
from thunderus_mem.projection.index import encode_problems
from thunderus_mem.projection.rows import PASSAGES_PER_DOCUMENT
from thunderus_mem.projection.scan import FileStamp

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from thunderus_mem.model.document import Document
    from thunderus_mem.projection.database import Database
    from thunderus_mem.projection.scan import Scan, Walk

_LIMIT: Final = 1024 * 1024 + 1
_OPEN_FLAGS: Final = (
    os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
)
_INSERT_FILE = (
    "INSERT INTO files VALUES (?, ?, ?, ?, ?, ?, ?, ?) "
    "ON CONFLICT (path) DO UPDATE SET size = excluded.size, "
    "mtime_ns = excluded.mtime_ns, ctime_ns = excluded.ctime_ns, inode = excluded.inode, "
    "hash = excluded.hash, doc_id = excluded.doc_id, problems_json = excluded.problems_json"
)

_TOLD: Final = 200
"""How many files are read between two words about progress."""

Tell: TypeAlias = "Callable[[str, int, int], None]"
"""Who hears how far the work is: what is done, to how many files, of how many."""


class _FileRow(NamedTuple):
    """What the index holds of a file before the update."""

    size: int
    hash: str
    doc_id: str


class Update:
    """One update within a transaction that its caller holds. ``added``, ``modified``, ``removed`` count
    documents; ``unsettled`` are files that have to be read again next time, whatever their stamps say."""

    def __init__(self, root: str, database: Database, tell: Tell) -> None:
        self._tell = tell
        self._root = root
        self._database = database
        self._fresh: dict[str, tuple[Document, str, int]] = {}
        self._touched: set[str] = set()
        self.unsettled: set[str] = set()
        self.added = self.modified = self.removed = self.held = 0

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
        known = self._known([*changed, *gone])
        for path in gone:
            self._touched.add(known[path].doc_id)
        self._database.run_many("DELETE FROM files WHERE path = ?", [(path,) for path in gone])
        rows = []
        for done, (path, stamp) in enumerate(changed.items()):
            if done % _TOLD == 0:
                self._tell("Reading documents:", done, len(changed))
            read = self._read(FileStamp(path, *stamp, path not in seen.special), known.get(path))
            if read is not None:
                rows.append(read)
        self._database.run_many(_INSERT_FILE, rows)
        self._touched.discard("")
        self._settle()

    def problem_count(self) -> int:
        """How many files have findings of the reader."""
        row = self._database.row("SELECT count(*) FROM files WHERE problems_json <> '[]'")
        return int(row[0]) if row else 0

    def _known(self, paths: list[str]) -> dict[str, _FileRow]:
        sql = "SELECT path, size, hash, doc_id FROM files"
        if len(paths) > 200:
            rows = self._database.rows(sql)
        else:
            rows = self._database.rows(f"{sql} WHERE path IN ({', '.join('?' * len(paths))})", paths)
        return {row[0]: _FileRow(*row[1:]) for row in rows}

    def _read(self, stamp: FileStamp, before: _FileRow | None) -> tuple[Any, ...] | None:
        """The new row of a file that may have changed; ``None`` leaves the old one."""
        path = stamp.path
        if not stamp.regular:
            return self._not_a_document(stamp, before, (_irregular(path),))
        moment = time.time_ns()
        try:
            data, stamp = _read_bytes(self._root, stamp)
        except FileNotFoundError:  # it went after the walk
            self.unsettled.add(path)
            return None
        except OSError as error:
            return self._unreadable(stamp, before, error)
        text_hash = content_hash(data)
        if stamp.racy_at(moment):
            self.unsettled.add(path)
        if before and before.hash == text_hash and before.size == stamp.size and b"\r" not in data:
            problems = self._database.row("SELECT problems_json FROM files WHERE path = ?", (path,))
            kept = problems[0] if problems else "[]"
            return (path, *stamp.values, text_hash, before.doc_id, kept)
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
        return self._not_a_document(stamp, before, (_failed(stamp.path, error),))

    def _not_a_document(
        self, stamp: FileStamp, before: _FileRow | None, problems: tuple[Diagnostic, ...]
    ) -> tuple[Any, ...]:
        if before:
            self._touched.add(before.doc_id)
        return (stamp.path, *stamp.values, "", "", encode_problems(problems))

    def _settle(self) -> None:
        """For each id that was touched: find its file, and make its rows those of that file."""
        entries: list[tuple[int, Entry]] = []
        next_row = (self._database.row("SELECT coalesce(max(rowid), 0) FROM docs") or (0,))[0] + 1
        old = self._old_rows()
        winners = self._winners()
        for doc_id in sorted(self._touched):
            row_id, old_path = old.get(doc_id, (0, ""))
            winner = winners.get(doc_id, "")
            if winner and winner == old_path and winner not in self._fresh:
                continue
            found = self._document_in(winner, doc_id) if winner else None
            if row_id:
                self._drop(row_id, doc_id)
            if found is None:
                self.removed += bool(row_id)
                continue
            self.modified += bool(row_id)
            self.added += not row_id
            entries.append((row_id or next_row, entry_of(*found)))
            next_row += not row_id
        self._insert(entries)

    def _old_rows(self) -> dict[str, tuple[int, str]]:
        sql = "SELECT doc_id, rowid, path FROM docs"
        return {row[0]: (row[1], row[2]) for row in self._for_touched(sql, "")}

    def _winners(self) -> dict[str, str]:
        sql = "SELECT doc_id, min(path) FROM files"
        return {row[0]: row[1] for row in self._for_touched(sql, " GROUP BY doc_id")}

    def _for_touched(self, sql: str, tail: str) -> Iterable[tuple[Any, ...]]:
        """The rows of the touched ids: one by one when they are few, the whole table when they are many."""
        if len(self._touched) > 200:
            return self._database.rows(f"{sql}{tail}")
        return [
            row
            for doc_id in self._touched
            for row in self._database.rows(f"{sql} WHERE doc_id = ?{tail}", (doc_id,))
        ]

    def _document_in(self, path: str, doc_id: str) -> tuple[Document, str, int] | None:
        """The document in a file: read in this update, or read now because it takes the place of another."""
        if path in self._fresh:
            return self._fresh[path]
        with suppress(OSError):
            data, stamp = _read_bytes(self._root, FileStamp(path, 0, 0, 0, 0))
            document = read_document(path, data).document
            if document and document.id == doc_id:
                return document, content_hash(data), stamp.size
        # It changed since the walk. The next refresh reads it and settles the id.
        self.unsettled.add(path)
        self._database.run("UPDATE files SET hash = '' WHERE path = ?", (path,))
        return None

    def _drop(self, row_id: int, doc_id: str) -> None:
        """Remove every row of a document but those of its files."""
        span = (row_id * PASSAGES_PER_DOCUMENT, (row_id + 1) * PASSAGES_PER_DOCUMENT - 1)
        run = self._database.run
        run("DELETE FROM docs_fts WHERE rowid = ?", (row_id,))
        # An external-content table must be told the very words it indexed.
        run(
            "INSERT INTO passages_fts (passages_fts, rowid, title, heading, body, parts) "
            "SELECT 'delete', id, title, heading, body, parts FROM passages WHERE id BETWEEN ? AND ?",
            span,
        )
        run("DELETE FROM passages WHERE id BETWEEN ? AND ?", span)
        run("DELETE FROM names WHERE doc_id = ?", (doc_id,))
        run("DELETE FROM manifest WHERE doc_id = ?", (doc_id,))
        run("DELETE FROM doc_edges WHERE src_doc_id = ?", (doc_id,))
        run("DELETE FROM docs WHERE rowid = ?", (row_id,))

    def _insert(self, entries: list[tuple[int, Entry]]) -> None:
        many = self._database.run_many
        many(
            "INSERT INTO docs (rowid, doc_id, kind, title, path, tags_json, updated, provenance_json, "
            "created, updated_key, status, aliases_json, anchors_json, hash, size, tokens) "
            f"VALUES ({', '.join('?' * 16)})",
            [(row_id, *entry.doc) for row_id, entry in entries],
        )
        many("INSERT INTO manifest VALUES (?, ?)", [(entry.doc_id, entry.manifest) for _, entry in entries])
        many(
            "INSERT INTO docs_fts (rowid, doc_id, title, headings, tags, body, names, parts) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            [(row_id, *entry.words) for row_id, entry in entries],
        )
        rows = [
            (row_id * PASSAGES_PER_DOCUMENT + place, *passage)
            for row_id, entry in entries
            for place, passage in enumerate(entry.passages)
        ]
        many("INSERT INTO passages VALUES (?, ?, ?, ?, ?, ?, ?)", rows)
        many(
            "INSERT INTO passages_fts (rowid, title, heading, body, parts) VALUES (?, ?, ?, ?, ?)",
            [(row[0], *row[3:]) for row in rows],
        )
        many("INSERT INTO names VALUES (?, ?)", [name for _, entry in entries for name in entry.names])
        many("INSERT INTO doc_edges VALUES (?, ?, ?)", [edge for _, entry in entries for edge in entry.edges])


def _read_bytes(root: str, stamp: FileStamp) -> tuple[bytes, FileStamp]:
    """Read a regular file, no more than the limit and a byte; the stamp is that of the open file."""
    descriptor = os.open(os.path.join(root, stamp.path), _OPEN_FLAGS)
    try:
        info = os.fstat(descriptor)
        if not stat.S_ISREG(info.st_mode):
            raise OSError(0, "not a regular file")
        wanted = min(info.st_size + 1, _LIMIT)
        data = os.read(descriptor, wanted)
        while len(data) < wanted and (more := os.read(descriptor, wanted - len(data))):
            data += more
    finally:
        os.close(descriptor)
    inode = info.st_ino & 0x7FFFFFFFFFFFFFFF
    return data, FileStamp(stamp.path, info.st_size, info.st_mtime_ns, info.st_ctime_ns, inode)


def _irregular(path: str) -> Diagnostic:
    return Diagnostic(
        "TM002",
        Severity.ERROR,
        path,
        0,
        0,
        "This is a link, a device, or a file whose name is not UTF-8.",
        expected="a regular file with a plain name",
        hint="Put the text itself here, or move the file out of the memory.",
    )


def _failed(path: str, error: OSError) -> Diagnostic:
    return Diagnostic(
        "TM002",
        Severity.ERROR,
        path,
        0,
        0,
        f"This file cannot be read: {error.strerror or error}.",
        expected="a file that can be read",
        hint="Mend its permissions.",
    )
