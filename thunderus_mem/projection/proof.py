"""Proves an index against a new one of the same files: what both say, row by row, without stamps and ids."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from thunderus_mem.projection.database import Database

_EVENT: Final = "SELECT path, line, id, kind, place, day FROM events JOIN shards USING (shard)"
_NAMED: Final = (
    "SELECT shards.path, line, doc_id, event_docs.path, after_hash FROM event_docs JOIN shards USING (shard)"
)
DOCUMENT_TABLES: Final = {
    "generation": "SELECT value FROM meta WHERE key = 'generation'",
    "files": "SELECT path, hash, doc_id, problems_json FROM files ORDER BY path",
    "docs": "SELECT * FROM docs ORDER BY doc_id",
    "manifest": "SELECT * FROM manifest ORDER BY doc_id",
    "words": "SELECT * FROM docs_fts ORDER BY doc_id",
    "passages": (
        "SELECT doc_id, p.id % 4096, anchor, line, p.title, heading, body, parts FROM passages p "
        "JOIN docs ON docs.rowid = p.id / 4096 ORDER BY 1, 2"
    ),
    "names": "SELECT * FROM names ORDER BY 1, 2",
    "edges": "SELECT * FROM doc_edges ORDER BY 1, 2, 3",
    "anchors": "SELECT * FROM anchors ORDER BY 1, 2",
    "orphans": "SELECT id FROM passages WHERE id / 4096 NOT IN (SELECT rowid FROM docs)",
}
"""What is known of documents, by a name for people; each a query whose rows follow from the files alone."""

LOG_TABLES: Final = {
    "shards": "SELECT path, damages FROM shards ORDER BY path",
    "events": f"{_EVENT} ORDER BY path, line",
    "changes": f"{_NAMED} ORDER BY 1, 2, 3, 4, 5",
}
"""The same for the log."""


def first_difference(one: Database, other: Database) -> str:
    """The name of the first thing that two indexes say differently; "" when they say the same."""
    for name, sql in (DOCUMENT_TABLES | LOG_TABLES).items():
        if _digest(one, sql) != _digest(other, sql):
            return name
    return ""


def _digest(database: Database, sql: str) -> bytes:
    total = sha256()
    for row in database.each(sql):
        total.update(repr(row).encode("utf-8", "surrogatepass"))
    return total.digest()
