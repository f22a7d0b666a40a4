"""SQLite files of other programs, opened for reading only: the one module of this package with SQL."""

from __future__ import annotations

import json
import os
import sqlite3
from typing import IO, TYPE_CHECKING, Any
from urllib.parse import quote

from thunderus_mem.errors import InvalidDocument

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
    try:
        known = {row[1] for row in database.execute("PRAGMA table_info(memories)")}
        alive = "WHERE deleted_at IS NULL" if "deleted_at" in known else ""
        rows = database.execute(
            "SELECT content, content_hash, tags, memory_type, metadata, created_at, updated_at "
            f"FROM memories {alive} ORDER BY id"
        )
        for row in rows:
            yield _record(*row)
    except sqlite3.Error as error:
        raise InvalidDocument(f"the database cannot be read: {error}") from None
    finally:
        database.close()


def _record(
    content: Any, hash: Any, tags: Any, type: Any, metadata: Any, created: Any, updated: Any
) -> dict[str, Any] | ValueError:
    try:
        about = json.loads(metadata) if metadata else {}
    except (ValueError, RecursionError) as error:
        return ValueError(f"`metadata` is not valid JSON: {error}")
    listed = [tag.strip() for tag in str(tags or "").split(",") if tag.strip()]
    record = {"content": content, "content_hash": hash, "tags": listed, "metadata": about}
    more = {"memory_type": type, "created_at": created, "updated_at": updated}
    return {**record, **{key: value for key, value in more.items() if value is not None}}
