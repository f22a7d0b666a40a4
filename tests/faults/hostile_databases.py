# ruff: noqa: E501
"""SQLite files made to do harm, or to be mistaken for an index."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING

from thunderus_mem.index.database import APPLICATION_ID, VERSION, schema_sql

if TYPE_CHECKING:
    import random
    from collections.abc import Callable

_TRAPS = (
    "CREATE VIEW docs AS SELECT * FROM (WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x FROM n)",
    "CREATE TABLE meta (key, value); CREATE VIEW walk AS SELECT randomblob(900000000) AS names, 1 AS stamps",
    "CREATE TABLE meta (key, value GENERATED ALWAYS AS (zeroblob(900000000)) VIRTUAL); INSERT INTO meta (key) VALUES ('counts')",
    "CREATE TABLE files (path, hash); CREATE TRIGGER t AFTER DELETE ON files BEGIN INSERT INTO files VALUES (1, 2); END",
    "CREATE TABLE docs (doc_id, title); CREATE INDEX i ON docs (upper(title)) WHERE length(doc_id) > 1",
    "CREATE VIRTUAL TABLE docs_fts USING fts5(doc_id, title); INSERT INTO docs_fts_config VALUES ('rank', 'bm25(1e999)')",
    "CREATE VIRTUAL TABLE docs_fts USING fts5(x); UPDATE docs_fts_data SET block = randomblob(5000)",
    "CREATE TABLE a (x); CREATE TABLE b (x REFERENCES a (x) ON DELETE CASCADE); PRAGMA foreign_keys = ON",
)  # fmt: skip
_SCHEMA_ROWS = (
    "('table', 'docs', 'docs', 2, 'CREATE TABLE docs (x, y, z')",
    "('view', 'meta', 'meta', 0, 'CREATE VIEW meta AS SELECT load_extension(''/tmp/x'')')",
    "('trigger', 't', 'docs', 0, 'CREATE TRIGGER t AFTER SELECT ON docs BEGIN SELECT 1; END')",
    "('table', 'x', 'x', 999999, 'CREATE TABLE x (y)')",
    "('table', 'sqlite_stat1', 'sqlite_stat1', 1, 'CREATE TABLE sqlite_stat1 (tbl, idx, stat)')",
)


def make_hostile(path: str, chance: random.Random) -> bool:
    """Put one of many in the place of an index (the seal stays); whether it claims to be of a newer version."""
    os.unlink(path)
    newer = chance.random() < 0.1
    version = VERSION + chance.randrange(1, 9) if newer else chance.choice([VERSION, VERSION, 0, 1])
    application = APPLICATION_ID if newer or chance.random() < 0.7 else chance.choice([0, 1, 0x7FFFFFFF])
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute(f"PRAGMA page_size = {2 ** chance.randrange(9, 17)}")
    connection.execute(f"PRAGMA auto_vacuum = {chance.randrange(3)}")
    connection.execute(f"PRAGMA encoding = '{chance.choice(['UTF-8', 'UTF-16le', 'UTF-16be'])}'")
    connection.execute(f"PRAGMA application_id = {application}")
    connection.execute(f"PRAGMA user_version = {version}")
    if chance.random() < 0.5:
        connection.executescript(schema_sql())
        connection.execute("CREATE VIEW v AS SELECT 1")
    else:
        connection.executescript(chance.choice(_TRAPS))
    if chance.random() < 0.3:
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute(f"INSERT INTO sqlite_master VALUES {chance.choice(_SCHEMA_ROWS)}")
    connection.close()
    if not newer and chance.random() < 0.2:
        _torn_header(path, chance)
    chance.choice(_TOUCHES)(path)
    return newer


def _as_it_is(path: str) -> None:
    """Nothing more."""


def _in_wal_mode(path: str) -> None:
    """The header says that there is a write-ahead log."""
    data = bytearray(Path(path).read_bytes())
    data[18:20] = b"\2\2"
    Path(path).write_bytes(data)


def _with_a_log(path: str) -> None:
    """A write-ahead log beside it, with rows of its own."""
    connection = sqlite3.connect(path, isolation_level=None)
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("CREATE TABLE IF NOT EXISTS planted (x)")
        kept = Path(f"{path}-wal").read_bytes()
    except (sqlite3.Error, FileNotFoundError):
        return
    finally:
        connection.close()
    Path(f"{path}-wal").write_bytes(kept)


def _with_a_journal(path: str) -> None:
    """A hot journal that names a super-journal, which SQLite deletes when it plays the journal back."""
    victim = os.path.join(os.path.dirname(path), "manifest.json")
    name = victim.encode()
    checksum = sum(name)
    trailer = (0x40000000 // 512 + 1).to_bytes(4, "big") + name + len(name).to_bytes(4, "big")
    trailer += checksum.to_bytes(4, "big") + bytes.fromhex("d9d505f920a163d7")
    Path(f"{path}-journal").write_bytes(bytes.fromhex("d9d505f920a163d7") + bytes(504) + trailer)


def _torn_header(path: str, chance: random.Random) -> None:
    """Sizes and pointers of the header that cannot be."""
    data = bytearray(Path(path).read_bytes())
    for _ in range(4):
        data[chance.choice([16, 17, 20, 21, 28, 31, 36, 52, 56])] = chance.randrange(256)
    Path(path).write_bytes(data)


_TOUCHES: tuple[Callable[[str], None], ...] = (
    _as_it_is,
    _as_it_is,
    _in_wal_mode,
    _with_a_log,
    _with_a_journal,
)
