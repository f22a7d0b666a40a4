"""Memories of Nova Fusion Memory: the payload of `bulk_upsert_memory`, as JSON.

A file holds an object with the list under ``items``, the list alone, or one item. An item without an id has
the MD5 of its text as id, as Nova gives it; it is written without one again.
"""

from __future__ import annotations

import hashlib
from typing import IO, TYPE_CHECKING, Any, Final

from thunderus_mem.interop import values as by
from thunderus_mem.interop.streams import JsonList
from thunderus_mem.interop.table import BODY, As, Field, FieldTable
from thunderus_mem.startup import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

SOURCES: Final = ("url", "file", "manual", "agent")
_TYPES: Final = {
    "core": "constraint",
    "fact": "finding",
    "adr": "decision",
    "playbook": "artifact",
    "recap": "checkpoint",
}
_KINDS: Final = {name: kind for kind, name in _TYPES.items()}
_MEMORY_TYPE: Final = by.Conversion(
    "kind", {"type": ["string", "null"]}, lambda value: _KINDS.get(value, by.DEFAULT_KIND), _TYPES.__getitem__
)


def new_id(id: str, text: str) -> str:
    """The id of an item: that of the document, else the MD5 of the text."""
    return id or hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()


class Items(NamedTuple):
    """A file of items, whose ids may be missing."""

    listed: JsonList = JsonList("items")

    def read(self, file: IO[bytes]) -> Iterator[dict[str, Any] | ValueError]:
        """Yield the items, each with an id."""
        for item in self.listed.read(file):
            text = item.get("content") if isinstance(item, dict) else None
            if isinstance(item, dict) and isinstance(text, str) and item.get("id") is None:
                yield {**item, "id": new_id("", text)}
            else:
                yield item

    def write(self, records: Iterable[dict[str, Any]], context: Mapping[str, Any]) -> Iterator[str]:
        """Yield the text of a payload."""
        return self.listed.write(map(_without_own_id, records), context)


def _without_own_id(record: dict[str, Any]) -> dict[str, Any]:
    if record["id"] != new_id("", record["content"]):
        return record
    return {key: value for key, value in record.items() if key != "id"}


TABLE: Final = FieldTable(
    name="nova",
    fields=(
        Field("content", BODY, by.CONTENT, required=True),
        Field("content", "title", by.TITLE),
        Field("metadata.memory_type", "kind", _MEMORY_TYPE, otherwise=by.DEFAULT_KIND),
        Field("metadata.category", "category", by.LABEL, "research_note", required=True),
        Field("metadata.run_id", "run_id", by.LABEL, "thunderus-mem", required=True),
        Field("metadata.agent", "agent", by.LABEL, "thunderus-mem", required=True),
        Field("metadata.source", "source", by.enum(SOURCES), "file", required=True),
        Field("metadata.timestamp", "created", by.TIME, required=True),
        Field("metadata.timestamp", "updated", by.TIME, otherwise=As("created")),
        Field("metadata.symbol", "symbol", by.LABEL),
        Field("metadata.timeframe", "timeframe", by.LABEL),
        Field("metadata.tags", "tags", by.TAGS, otherwise=by.DEFAULT_TAGS),
        Field("metadata.market", "market", by.LABEL),
    ),
    identity="id",
    new_id=new_id,
    metadata="metadata",
)
FILE: Final = Items()
