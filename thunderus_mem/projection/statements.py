"""What an index file is made of: the statements of ``memory_store.sql``, its application id and version."""

from __future__ import annotations

import os
from typing import Final

APPLICATION_ID: Final = 0x54484D45
VERSION: Final = 8
"""Raised when the meaning of a column changes: an older index is rebuilt, a newer one is left alone."""

FULL_TEXT_TABLES: Final = ("docs_fts", "passages_fts")
_SCHEMA_FILE: Final = os.path.join(
    os.path.dirname(os.path.dirname(__file__)), "model", "schemas", "memory_store.sql"
)


def schema_sql() -> str:
    """The text of ``memory_store.sql``."""
    with open(_SCHEMA_FILE, encoding="utf-8") as handle:
        return handle.read()


def schema_statements() -> set[str]:
    """Every statement of it, as SQLite keeps them."""
    return {
        part[part.index("CREATE") :].strip()
        for part in f"\n{schema_sql()}".split(";\n")
        if "\nCREATE" in f"\n{part}"
    }


def is_shadow_table(name: str, sql: str) -> bool:
    """Whether a table was made by SQLite itself to hold the words of a full-text table."""
    return sql.startswith("CREATE TABLE '") and name.startswith(
        tuple(f"{table}_" for table in FULL_TEXT_TABLES)
    )
