"""Small conventions of the index's rows that writers and readers share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from thunderus_mem.model.archive import ARCHIVE

if TYPE_CHECKING:
    from thunderus_mem.projection.database import Database

PASSAGES_PER_DOCUMENT: Final = 4096
"""Row id of a passage = row id of its document times this, plus its place."""


def decode_list(text: str) -> tuple[str, ...]:
    """A JSON array of strings as the index keeps it."""
    import json

    return tuple(json.loads(text)) if text != "[]" else ()


def has_anchors(database: Database) -> bool:
    """Whether any document talks about code in a way that can be checked."""
    return database.row("SELECT 1 FROM anchors LIMIT 1") is not None


def first_path(column: str) -> str:
    """The SQL of the path, among a group, whose file is the document: in use first, then archived."""
    return f"substr(min(({column} GLOB '{ARCHIVE}/*') || {column}), 2)"


def fold_name(text: str) -> str:
    """How aliases compare: case and runs of blanks do not matter."""
    return " ".join(text.casefold().split())
