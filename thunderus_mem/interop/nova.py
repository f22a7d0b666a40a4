"""Memories of Nova Fusion Memory: the payload of `bulk_upsert_memory` as JSON, and the contract of its tools.

A file holds an object with the list under ``items``, the list alone, or one item. An item without an id gets
the MD5 of its text as its id, as in Nova, and is exported without one.

The tools accept what an import rejects: a value of the wrong type for its key is kept, so that a memory is
returned as it was given. In the tools, a memory is always a fact, and its time is that of its last change.
Pure.
"""

from __future__ import annotations

import hashlib
import math
from datetime import date, datetime
from typing import IO, TYPE_CHECKING, Any, Final

from thunderus_mem.document.frontmatter.edit import remove_key, replace_body, set_key
from thunderus_mem.document.timestamp import parse_timestamp, utc_key
from thunderus_mem.interop import values as by
from thunderus_mem.interop.streams import JsonList
from thunderus_mem.interop.table import (
    BODY,
    EXTENSION,
    As,
    Field,
    FieldTable,
    kept_of,
    remove,
    same,
    stored_kept,
    write_record,
)
from thunderus_mem.lint.rules.profiles import NOVA_CATEGORIES, NOVA_REQUIRED, NOVA_SOURCES
from thunderus_mem.startup import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from thunderus_mem.document.document import Document
    from thunderus_mem.interop.table import ForeignRecord
    from thunderus_mem.log.new_event import Ids

_TYPES: Final = {
    "core": "constraint",
    "fact": "finding",
    "adr": "decision",
    "playbook": "artifact",
    "recap": "checkpoint",
}
_KINDS: Final = {name: kind for kind, name in _TYPES.items()}
_MEMORY_TYPE: Final = by.Conversion(
    "kind",
    {"type": ["string", "null"]},
    lambda value: _KINDS.get(by.LABEL.read(value), by.DEFAULT_KIND),
    _TYPES.__getitem__,
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
        Field("metadata.source", "source", by.enum(NOVA_SOURCES), "file", required=True),
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


# The contract of the tools

REQUIRED: Final = (*NOVA_REQUIRED, "timestamp")
OPTIONAL: Final = ("symbol", "timeframe", "market")
MOST_ITEMS: Final = 500
MOST_VECTOR: Final = 500
MOST_FINAL: Final = 200
_DEEPEST: Final = 20
KIND: Final = "fact"
ORIGIN: Final = "nova:"
"""What the origin of a memory begins with; its id follows."""


def _label(value: Any) -> Any:
    return by.LABEL.read(value) if isinstance(value, str) and "\0" not in value else by.ABSENT


def _time(value: Any) -> Any:
    """A time as it is; one without a zone or a time of day in UTC; nothing for any other value."""
    if not isinstance(value, str) or parse_timestamp(value) is not None:
        return value if isinstance(value, str) else by.ABSENT
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        return by.ABSENT
    return f"{moment.replace(tzinfo=None).isoformat()}Z" if moment.tzinfo is None else moment.isoformat()


def _tags(value: Any) -> Any:
    """Tags; the default one for what is no list of strings."""
    try:
        return by.TAGS.read(value)
    except ValueError:
        return by.DEFAULT_TAGS


# A value that a conversion does not take is kept as it is.
LABEL: Final = by.LABEL._replace(read=_label)
TIME: Final = by.TIME._replace(read=_time)
TAGS: Final = by.TAGS._replace(read=_tags)

CONTRACT: Final = TABLE._replace(
    fields=(
        *(row for row in TABLE.fields if row.theirs == "content"),
        *(Field(f"metadata.{name}", name, LABEL) for name in REQUIRED[:-1]),
        Field("metadata.timestamp", "updated", TIME),
        Field("metadata.timestamp", "created", TIME),
        *(Field(f"metadata.{name}", name, LABEL) for name in OPTIONAL),
        Field("metadata.tags", "tags", TAGS, otherwise=by.DEFAULT_TAGS),
    )
)
"""The table for the tools."""


def record_of(item: Any) -> dict[str, Any]:
    """The record of an item of an upsert: with an id, and metadata that JSON can hold.

    Metadata whose name begins with ``_`` is internal and omitted, as is our own. Raises `ValueError` with the
    reason.
    """
    if not isinstance(item, dict):
        raise ValueError("the item must be an object")  # noqa: TRY004
    content, id, metadata = item.get("content"), item.get("id"), item.get("metadata")
    if not isinstance(content, str) or not content.strip():
        raise ValueError("`content` must be a string that is not empty")
    if id is not None and not isinstance(id, str):
        raise ValueError("`id` must be a string")
    if metadata is not None and not isinstance(metadata, dict):
        raise ValueError("`metadata` must be an object")
    try:
        key = id if id and id.strip() else new_id("", content)
    except UnicodeEncodeError:
        raise ValueError("`content` is not valid Unicode") from None
    if not key.isprintable():
        raise ValueError("`id` contains control characters")
    inner = {name: one for name, one in (metadata or {}).items() if name[:1] != "_" and name != EXTENSION}
    plain = {name: _plain(name, one) for name, one in inner.items()}
    return {"id": key, "content": content.replace("\r\n", "\n"), "metadata": plain}


def _plain(name: str, value: Any, depth: int = 0) -> Any:
    """A value as JSON holds it: dates as text. Raises `ValueError` for NaN and what JSON has no form for."""
    if depth > _DEEPEST:
        raise ValueError(f"`metadata.{name}` is nested too deeply")
    if isinstance(value, dict):
        return {_plain(name, str(key)): _plain(name, one, depth + 1) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(name, one, depth + 1) for one in value]
    if isinstance(value, datetime | date):
        return value.isoformat()
    if isinstance(value, str) and any("\ud800" <= one <= "\udfff" for one in value):
        raise ValueError(f"`metadata.{name}` is not valid Unicode")
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"`metadata.{name}` is not a number that JSON can hold")
    if value is not None and not isinstance(value, str | int | float | bool):
        raise ValueError(f"`metadata.{name}` is a {type(value).__name__}, which JSON cannot hold")
    return value


def warnings_of(metadata: Mapping[str, Any]) -> list[str]:
    """What the contract advises against in the metadata of a memory."""
    found = [f"`metadata.{name}` is missing" for name in REQUIRED if metadata.get(name) in (None, "")]
    texts = [name for name in (*REQUIRED, *OPTIONAL) if metadata.get(name) is not None]
    found += [f"`metadata.{name}` is not a string" for name in texts if not isinstance(metadata[name], str)]
    for name, known in (("category", NOVA_CATEGORIES), ("source", NOVA_SOURCES)):
        value = metadata.get(name)
        if isinstance(value, str) and value and value not in known:
            found.append(f"`metadata.{name}` {value[:80]!r} is not one of: {', '.join(known)}")
    time = metadata.get("timestamp")
    if isinstance(time, str) and time and (parse_timestamp(time) is None or not time.endswith("Z")):
        found.append("`metadata.timestamp` is not an ISO 8601 time in UTC, such as 2026-02-22T10:30:00Z")
    tags = metadata.get("tags")
    if tags is not None and not (isinstance(tags, list) and all(isinstance(tag, str) for tag in tags)):
        found.append("`metadata.tags` is not a list of strings")
    elif any(tag != tag.lower() for tag in tags or ()):
        found.append("`metadata.tags` are not in lower case")
    return found


def memory_of(document: Document) -> dict[str, Any]:
    """The record of a document: what a query returns of it."""
    from thunderus_mem.interop.transfer import values_of

    values = values_of(document)
    found = write_record(CONTRACT, values).data
    remove(found, f"metadata.{EXTENSION}")
    metadata = found.get("metadata") or {}
    given = kept_of(CONTRACT, values).get("fields", {}).get("metadata.timestamp")
    if given is not None and _time(given) in (by.ABSENT, values["updated"]):
        metadata["timestamp"] = given
    return {**found, "id": id_of(document), "metadata": metadata}


def id_of(document: Document) -> str:
    """The id of a document in Nova: the one that it was given there, else its own."""
    origin = document.imported_from
    return origin.removeprefix(ORIGIN) if origin.startswith(ORIGIN) else document.id


def new_text(found: ForeignRecord, id: str, digest: str, ids: Ids, now: str) -> str:
    """The text of a new document with this id, made by the event with these ids."""
    from thunderus_mem.interop.transfer import Placed, document_text, header_of

    placed = Placed(id, KIND, ORIGIN + found.key, digest, ids)
    return document_text(header_of(CONTRACT, found, placed, now), found.values)


def changed_text(known: Document, found: ForeignRecord, digest: str, now: str) -> str:
    """The text of a document with the content and metadata of a record instead of its own.

    It keeps links, anchors, its creation time, and a title that is not that of its text.
    """
    from thunderus_mem.interop.transfer import values_of

    had, text = values_of(known), known.text
    wanted = {
        key: value for key, value in found.values.items() if key not in (BODY, "kind", "title", "metadata")
    }
    if known.title == by.title_of(had[BODY]):
        wanted["title"] = found.values["title"]
    stored = known.imported_from.startswith(ORIGIN)
    origin = {"imported_from": known.imported_from, "imported_sha256": digest} if stored else {}
    kept = {CONTRACT.name: stored_kept(found.kept)} if found.kept else {}
    metadata = {**(found.values.get("metadata") or {}), **origin, **kept}
    changed = found.values[BODY] != had[BODY]
    wanted.setdefault("updated", now if changed else known.updated)
    wanted["created"] = min(known.created, wanted["updated"], key=utc_key)
    gone = {row.ours for row in CONTRACT.fields} - {*wanted, "title", BODY}
    for key in gone & had.keys():
        text = remove_key(text, (key,))
    if not same(had.get("metadata"), metadata):  # written anew: an edit of each key may not keep its style
        text = remove_key(text, ("metadata",))
        text = set_key(text, ("metadata",), metadata) if metadata else text
    for key, value in wanted.items():
        text = set_key(text, (key,), value)
    return replace_body(text, f"\n{found.values[BODY]}\n") if changed else text


# Tools

NOT_USED: Final = "not used"
HEALTH_KEYS: Final = ("pinecone", "graph", "reranker", "redis", "redis_timeline")
"""The services that ``check_health`` reports on; none of them exists here."""

_METADATA: Final = {
    "type": ["object", "null"],
    "properties": {
        "category": {**by.STRING, "examples": [*NOVA_CATEGORIES]},
        "run_id": {**by.STRING, "description": "The run that made it."},
        "agent": {**by.STRING, "description": "The agent that made it."},
        "source": {**by.STRING, "examples": [*NOVA_SOURCES]},
        "timestamp": {**by.STRING, "description": "ISO 8601 in UTC, e.g. 2026-02-22T10:30:00Z."},
        **dict.fromkeys(OPTIONAL, by.STRING),
        "tags": {"type": "array", "items": by.STRING, "description": "Lower case."},
    },
}
_ITEM: Final = {"content": by.STRING, "id": by.STRING_OR_NULL, "metadata": _METADATA}


def _tool(
    name: str, description: str, properties: dict[str, Any], *required: str, **hints: bool
) -> dict[str, Any]:
    schema = {"type": "object", "properties": properties, "required": [*required]}
    return {
        "name": name, "description": description, "inputSchema": schema,
        "annotations": {**hints, "openWorldHint": False},
    }  # fmt: skip


TOOLS: Final = (
    _tool(
        "query_memory",
        "Find memories about a text, best first, optionally only of a category, tags or run.",
        {
            "query": by.STRING,
            "top_k_vector": {"type": "integer", "minimum": 1, "default": 50},
            "top_k_final": {"type": "integer", "minimum": 1, "default": 15},
            "category": {**by.STRING_OR_NULL, "examples": [*NOVA_CATEGORIES]},
            "tags": {"type": ["array", "null"], "items": by.STRING, "description": "All must match."},
            "min_score": {"type": ["number", "null"]},
            "run_id": by.STRING_OR_NULL,
        },
        "query",
        readOnlyHint=True,
    ),
    _tool(
        "upsert_memory",
        "Add a memory, or replace the one with this id. Without an id it is the MD5 of the content.",
        _ITEM,
        "content",
        destructiveHint=True,
        idempotentHint=True,
    ),
    _tool(
        "bulk_upsert_memory",
        f"Add or replace up to {MOST_ITEMS} memories; errors are listed by index, the others are written.",
        {
            "items": {
                "type": "array", "minItems": 1, "maxItems": MOST_ITEMS,
                "items": {"type": "object", "properties": _ITEM, "required": ["content"]},
            }
        },
        "items",
        destructiveHint=True,
        idempotentHint=True,
    ),
    _tool(
        "delete_memory",
        "Delete a memory by its id; the log keeps its text.",
        {"memory_id": by.STRING},
        "memory_id",
        destructiveHint=True,
    ),
    _tool("check_health", "Whether the memory can be read.", {}, readOnlyHint=True),
)  # fmt: skip
"""The tools as the protocol lists them."""


def health(error: str = "") -> dict[str, Any]:
    """The reply of ``check_health``."""
    if error:
        return {"status": "error", "details": error}
    return {"status": "ok", **dict.fromkeys(HEALTH_KEYS, NOT_USED)}


def bulk_reply(ids: list[str], errors: list[dict[str, Any]], total: int) -> dict[str, Any]:
    """The reply of ``bulk_upsert_memory``."""
    status = "success" if not errors else "partial_success" if ids else "error"
    return {
        "status": status, "total": total, "succeeded": len(ids), "failed": len(errors), "ids": ids,
        "errors": errors,
    }  # fmt: skip


class MemoryQuery(NamedTuple):
    """The arguments of ``query_memory``; ``tags`` must all match."""

    text: str
    most: int
    category: str
    run_id: str
    tags: tuple[str, ...]
    min_score: float


def query_of(given: Mapping[str, Any]) -> MemoryQuery:
    """The arguments of ``query_memory``. Raises `ValueError` with the reason for an invalid one."""
    if not isinstance(text := given.get("query"), str):
        raise ValueError("`query` must be a string")  # noqa: TRY004
    _count("top_k_vector", given.get("top_k_vector", 50), MOST_VECTOR)
    most = _count("top_k_final", given.get("top_k_final", 15), MOST_FINAL)
    category, run_id = (_filter(name, given.get(name)) for name in ("category", "run_id"))
    tags = given.get("tags") or []
    if not isinstance(tags, list):
        raise ValueError("`tags` must be a list of strings")  # noqa: TRY004
    score = given.get("min_score")
    if isinstance(score, bool) or not isinstance(score, int | float | None):
        raise ValueError("`min_score` must be a number")  # noqa: TRY004
    return MemoryQuery(
        text, most, category, run_id, tuple(_filter("tags", tag) for tag in tags), score or 0.0
    )


def _count(name: str, value: Any, most: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError(f"`{name}` must be an integer")  # noqa: TRY004
    if value < 1:
        raise ValueError(f"`{name}` must be >= 1")
    return min(value, most)


def _filter(name: str, value: Any) -> str:
    """A value to select by, "" for none; the index takes a leading ``-`` as an exclusion."""
    if value is not None and not isinstance(value, str):
        raise ValueError(f"`{name}` must be a string")
    if value and value.startswith("-"):
        raise ValueError(f"`{name}` must not begin with `-`")
    return value or ""
