"""Dump the content of the index and the caches of a store as lines, without file stamps."""

from __future__ import annotations

import hashlib
import json
import re
import sqlite3
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_STAMP = re.compile(r'\["([^"]*)",(\d+),\d+,\d+,\d+\]')

_TABLES = {
    "meta": "SELECT key, value FROM meta WHERE key <> 'manifest' ORDER BY key",
    "files": "SELECT path, size, hash, doc_id, problems_json FROM files ORDER BY path",
    "docs": "SELECT * FROM docs ORDER BY doc_id",
    "manifest": "SELECT doc_id, entry FROM manifest ORDER BY doc_id",
    "names": "SELECT name, doc_id FROM names ORDER BY name, doc_id",
    "doc_edges": "SELECT * FROM doc_edges ORDER BY src_doc_id, rel, dst_doc_id",
    "anchors": "SELECT * FROM anchors ORDER BY doc_id, place",
    "docs_fts": "SELECT * FROM docs_fts ORDER BY doc_id",
    "passages": (
        "SELECT docs.doc_id, passages.id % 4096, anchor, line, passages.title, heading, body, parts "
        "FROM passages JOIN docs ON docs.rowid = passages.id / 4096 ORDER BY 1, 2"
    ),
    "shards": "SELECT path, damages FROM shards ORDER BY path",
    "events": (
        "SELECT path, line, id, kind, place, day FROM events JOIN shards USING (shard) ORDER BY path, line"
    ),
    "event_docs": (
        "SELECT shards.path, line, doc_id, event_docs.path, after_hash FROM event_docs "
        "JOIN shards USING (shard) ORDER BY 1, 2, 3, 4, 5"
    ),
}
_WORDS = (
    "SELECT term, docs.doc_id, doc % 4096, col, offset FROM temp.words "
    "JOIN docs ON docs.rowid = doc / 4096 ORDER BY 1, 2, 3, 4, 5"
)


def index_lines(path: Path) -> Iterator[str]:
    """The statements of the index, its rows, and a digest of the words that full-text search has."""
    if not path.is_file():
        yield "(no index)"
        return
    database = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    try:
        yield from _rows(database)
    finally:
        database.close()


def _rows(database: sqlite3.Connection) -> Iterator[str]:
    schema = database.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY name").fetchall()
    yield f"schema: {len(schema)} statements, sha256 {_digest(schema)}"
    pragmas = {name: database.execute(f"PRAGMA {name}").fetchone()[0] for name in _PRAGMAS}
    yield f"pragmas: {pragmas}"
    (names,) = database.execute("SELECT names FROM walk").fetchone() or (b"",)
    yield f"walk: {sorted(filter(None, names.split(bytes(1))))}"
    for table, query in _TABLES.items():
        rows = database.execute(query).fetchall()
        yield f"{table}: {len(rows)} rows, sha256 {_digest(rows)}"
        if table in _DIGEST_ONLY:
            continue
        for row in rows:
            text = json.dumps(row, ensure_ascii=False)
            yield f"  {text}" if len(text) <= 600 else f"  {text[:600]}… sha256 {_digest(row)}"
    database.execute("CREATE VIRTUAL TABLE temp.words USING fts5vocab(main, 'passages_fts', 'instance')")
    rows = database.execute(_WORDS).fetchall()
    yield f"words: {len(rows)} places, {len({row[0] for row in rows})} words, sha256 {_digest(rows)}"


_PRAGMAS = ("application_id", "user_version", "page_size", "journal_mode", "encoding")
_DIGEST_ONLY = ("passages", "docs_fts", "manifest", "event_docs")


def _digest(value: object) -> str:
    return hashlib.sha256(json.dumps(value, ensure_ascii=False).encode()).hexdigest()[:20]


def verdict_lines(path: Path) -> Iterator[str]:
    """The verdicts kept from earlier checks."""
    if not path.is_file():
        yield "(no verdicts)"
        return
    text = _STAMP.sub(r'["\1",\2,"…"]', path.read_text(encoding="utf-8"))
    value = json.loads(text)
    yield f"verdicts: measure {value.get('measure')}"
    for key, verdict in sorted(value.get("verdicts", {}).items()):
        yield f"  {key} {json.dumps(verdict, ensure_ascii=False)}"


def similar_lines(path: Path) -> list[str]:
    """The kept comparisons: a digest, as nobody reads them."""
    if not path.is_file():
        return ["(no comparisons)"]
    data = path.read_bytes()
    return [f"similar.bin: {len(data)} bytes, sha256 {hashlib.sha256(data).hexdigest()[:20]}"]
