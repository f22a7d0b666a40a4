"""Look up documents by name during an import or export, in a temporary file, so that memory use is bounded.

Names have kinds and are stored as digests. SQLite creates the file without a name; it disappears with the
process.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Final

from thunderus_mem.errors import NotWritable
from thunderus_mem.index.database import SqliteError, scratch
from thunderus_mem.startup import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from sqlite3 import Cursor

_TABLES: Final = """
PRAGMA journal_mode = OFF;
PRAGMA synchronous = OFF;
PRAGMA cache_size = -8192;
CREATE TABLE documents (number INTEGER PRIMARY KEY, id TEXT, path TEXT, digest TEXT);
CREATE TABLE names (name BLOB PRIMARY KEY, document INTEGER) WITHOUT ROWID;
BEGIN;
"""


class KnownDocument(NamedTuple):
    """A document: its id and path, and the digest of the record it was imported from ("" in an export)."""

    id: str
    path: str
    digest: str


class KnownDocuments:
    """The known documents; raises `NotWritable` if the temporary file cannot be written."""

    def __init__(self) -> None:
        self._connection = scratch(_TABLES, on_disk=True)

    def add(self, document: KnownDocument) -> int:
        """Add a document; return its number for `Names`."""
        added = self.run("INSERT INTO documents (id, path, digest) VALUES (?, ?, ?)", document)
        return added.lastrowid or 0

    def names(self, kind: str) -> Names:
        """The names of one kind."""
        return Names(self, kind)

    def run(self, sql: str, values: Sequence[Any]) -> Cursor:
        """Run a statement."""
        try:
            return self._connection.execute(sql, values)
        except SqliteError as error:
            raise NotWritable(
                f"cannot write a temporary file: {error}",
                hint="free some space where temporary files are, or set TMPDIR to another folder",
            ) from None


class Names:
    """The names of one kind, each with the number of its document, or with none (0)."""

    def __init__(self, known: KnownDocuments, kind: str) -> None:
        self._known = known
        self._kind = kind.encode()

    def _digest(self, name: str) -> bytes:
        return blake2b(name.encode("utf-8", "surrogatepass"), digest_size=16, person=self._kind).digest()

    def __contains__(self, name: object) -> bool:
        found = self._known.run("SELECT 1 FROM names WHERE name = ?", (self._digest(str(name)),))
        return found.fetchone() is not None

    def get(self, name: str) -> KnownDocument | None:
        """The document with this name."""
        row = self._known.run(
            "SELECT id, path, digest FROM names JOIN documents ON number = document WHERE name = ?",
            (self._digest(name),),
        ).fetchone()
        return KnownDocument(*row) if row else None

    def update(self, names: Iterable[str]) -> None:
        """Add names without a document."""
        for name in names:
            self[name] = 0

    def __setitem__(self, name: str, document: int) -> None:
        self._known.run("INSERT OR REPLACE INTO names VALUES (?, ?)", (self._digest(name), document))

    def setdefault(self, name: str, document: int) -> bool:
        """Add a name, unless it is there; return whether it was added."""
        added = self._known.run("INSERT OR IGNORE INTO names VALUES (?, ?)", (self._digest(name), document))
        return added.rowcount == 1
