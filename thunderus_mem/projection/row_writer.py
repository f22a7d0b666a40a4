"""Writes and drops the rows of documents. The words of many go into the full-text tables in a thread.

Tokenising takes a third of a rebuild and needs nothing of Python: SQLite does it while the next documents
are being read. Whoever uses the connection meanwhile waits first (``wait``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from thunderus_mem.projection.rows import PASSAGES_PER_DOCUMENT
from thunderus_mem.store.meanwhile import meanwhile

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from thunderus_mem.projection.database import Database
    from thunderus_mem.projection.entry import Entry

_MANY: Final = 100
"""Documents from which on a thread is worth starting."""
_WORDS = "doc_id, title, headings, tags, body, names, parts"
_INDEX_WORDS = f"INSERT INTO docs_fts (rowid, {_WORDS}) SELECT id, {_WORDS} FROM temp.words ORDER BY id"
_INDEX_PASSAGES = (
    "INSERT INTO passages_fts (rowid, title, heading, body, parts) "
    "SELECT id, title, heading, body, parts FROM passages WHERE id BETWEEN ? AND ?"
)


class RowWriter:
    """Writes within a transaction that its caller holds."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._indexing: Callable[[], None] | None = None

    def wait(self) -> None:
        """Return once the connection is free. Raises what went wrong in the thread."""
        if self._indexing is not None:
            self._indexing()
            self._indexing = None

    def next_row(self) -> int:
        """The first row id behind all documents."""
        return int((self._database.row("SELECT coalesce(max(rowid), 0) FROM docs") or (0,))[0]) + 1

    def drop(self, row_id: int, doc_id: str) -> None:
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
        run("DELETE FROM anchors WHERE doc_id = ?", (doc_id,))
        run("DELETE FROM docs WHERE rowid = ?", (row_id,))

    def insert(self, entries: Sequence[tuple[int, Entry]]) -> None:
        """Write the rows of documents that have none, each with its row id."""
        if not entries:
            return
        many = self._database.run_many
        many(
            "INSERT INTO docs (rowid, doc_id, kind, title, path, tags_json, updated, provenance_json, "
            "created, updated_key, status, confirmed_by, aliases_json, anchors_json, hash, size, tokens, "
            f"archived) VALUES ({', '.join('?' * 18)})",
            [(row_id, *entry.doc) for row_id, entry in entries],
        )
        listed = [(entry.doc_id, entry.manifest) for _, entry in entries if entry.manifest]
        many("INSERT INTO manifest VALUES (?, ?)", listed)
        many("INSERT INTO names VALUES (?, ?)", [name for _, entry in entries for name in entry.names])
        many("INSERT INTO doc_edges VALUES (?, ?, ?)", [edge for _, entry in entries for edge in entry.edges])
        many(
            "INSERT INTO anchors VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            [anchor for _, entry in entries for anchor in entry.anchors],
        )
        many(
            "INSERT INTO passages VALUES (?, ?, ?, ?, ?, ?, ?)",
            [
                (row_id * PASSAGES_PER_DOCUMENT + place, *passage)
                for row_id, entry in entries
                for place, passage in enumerate(entry.passages)
            ],
        )
        self._index_words(entries)

    def _index_words(self, entries: Sequence[tuple[int, Entry]]) -> None:
        rows = [(row_id, *entry.words) for row_id, entry in entries]
        if len(entries) < _MANY:
            sql = f"INSERT INTO docs_fts (rowid, {_WORDS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
            self._database.run_many(sql, rows)
            for row_id, _ in entries:
                self._index_passages(row_id, row_id)
            return
        run = self._database.run
        run(f"CREATE TEMP TABLE IF NOT EXISTS words (id INTEGER PRIMARY KEY, {_WORDS})")
        run("DELETE FROM temp.words")
        self._database.run_many("INSERT INTO temp.words VALUES (?, ?, ?, ?, ?, ?, ?, ?)", rows)
        ids = [row_id for row_id, _ in entries]
        runs = _runs(sorted(ids))

        def index() -> None:
            run(_INDEX_WORDS)
            for first, last in runs:
                self._index_passages(first, last)

        self._indexing = meanwhile(index)

    def _index_passages(self, first: int, last: int) -> None:
        """Put the words of the passages of a run of documents into the full-text table."""
        span = (first * PASSAGES_PER_DOCUMENT, (last + 1) * PASSAGES_PER_DOCUMENT - 1)
        self._database.run(_INDEX_PASSAGES, span)


def _runs(ids: Sequence[int]) -> list[tuple[int, int]]:
    """Sorted numbers as first and last of each run without a gap."""
    runs: list[tuple[int, int]] = []
    for number in ids:
        if runs and runs[-1][1] == number - 1:
            runs[-1] = (runs[-1][0], number)
        else:
            runs.append((number, number))
    return runs
