"""SQLite files of other programs, opened for reading only: the one module of this package with SQL."""

from __future__ import annotations

import os
import sqlite3
from typing import IO, TYPE_CHECKING, Any, Final
from urllib.parse import quote

from thunderus_mem.errors import InvalidDocument
from thunderus_mem.interop.values import json_value

if TYPE_CHECKING:
    from collections.abc import Iterator


def memories(file: IO[bytes]) -> Iterator[dict[str, Any] | ValueError]:
    """The memories in a file of mcp-memory-service, as its export has them.

    Raises `InvalidDocument` if it is no such file, or is not a file on disk.
    """
    name = getattr(file, "name", None)
    if not isinstance(name, str):
        raise InvalidDocument("a database cannot be read from stdin", hint="pass its path")
    path = os.path.abspath(name)
    # Even for reading SQLite makes files beside a database with a write-ahead log.
    mode = "mode=ro" if os.path.exists(f"{path}-wal") else "immutable=1"
    database = sqlite3.connect(f"file:{quote(path)}?{mode}", uri=True)
    database.text_factory = _text
    try:
        if not database.execute(_IS_TABLE).fetchone():
            raise InvalidDocument("the database has no table `memories`")
        known = {row[1] for row in database.execute("PRAGMA table_info(memories)")}
        alive = "WHERE deleted_at IS NULL" if "deleted_at" in known else ""
        for row in database.execute(f"SELECT {', '.join(_COLUMNS)} FROM memories {alive} ORDER BY id"):
            yield _record(dict(zip(_COLUMNS, row, strict=True)))
    except sqlite3.Error as error:
        raise InvalidDocument(f"the database cannot be read: {error}") from None
    finally:
        database.close()


_IS_TABLE: Final = "SELECT 1 FROM sqlite_master WHERE name = 'memories' AND type = 'table' AND rootpage > 0"
"""Neither a view nor a virtual table, which could compute rows for ever."""
_COLUMNS: Final = ("content", "content_hash", "tags", "metadata", "memory_type", "created_at", "updated_at")


def _text(data: bytes) -> str | bytes:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data


def _record(row: dict[str, Any]) -> dict[str, Any] | ValueError:
    for name, value in row.items():
        if isinstance(value, bytes):
            return ValueError(f"`{name}` is not text in UTF-8")
    try:
        row["metadata"] = json_value(str(row["metadata"])) if row["metadata"] else {}
    except ValueError as reason:
        return ValueError(f"`metadata` {reason}")
    row["tags"] = [tag.strip() for tag in str(row["tags"] or "").split(",") if tag.strip()]
    return {key: value for key, value in row.items() if value is not None}
