"""Memories of mcp-memory-service: its export in JSON, and its SQLite file, which is only read.

The id of a memory is the hash of its text, trimmed and in lower case. The fields of the SHODH schema are in
its metadata.
"""

from __future__ import annotations

from typing import IO, TYPE_CHECKING, Any, Final

from thunderus_mem.document.templates import SOURCE_TYPES
from thunderus_mem.interop import values as by
from thunderus_mem.interop.streams import JsonList, written_list
from thunderus_mem.interop.table import BODY, As, Field, FieldTable
from thunderus_mem.startup import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

_SQLITE: Final = b"SQLite format 3\0"
_MACHINE: Final = "thunderus-mem"
_ALWAYS: Final = {"metadata": dict[str, str](), "export_source": _MACHINE}
"""Fields that each record of an export has."""

# The types of its ontology are lower case; any other becomes `observation` there.
_TYPE_OF_KIND: Final = {
    "core": "reference",
    "fact": "learning",
    "adr": "architecture",
    "playbook": "workflow",
    "recap": "session",
}
_KIND_OF_TYPE: Final = {
    **dict.fromkeys(("architecture", "decision", "tool_choice", "approach", "configuration"), "adr"),
    **dict.fromkeys(("workflow", "pattern"), "playbook"),
    **dict.fromkeys(("session", "conversation"), "recap"),
}
_OTHERS: Final = {"Discovery": "finding", "Context": "reference", "Task": "planning"}
_KIND: Final = by.Conversion(
    "kind", {}, lambda value: _KIND_OF_TYPE.get(value, by.DEFAULT_KIND), _TYPE_OF_KIND.__getitem__
)
_TYPE: Final = by.types(lambda name: _OTHERS.get(name, by.snake(name)), ())._replace(
    schema={"type": ["string", "null"]}
)

TABLE: Final = FieldTable(
    name="mcp-memory-service",
    fields=(
        Field("content", BODY, by.CONTENT, required=True),
        Field("content", "title", by.TITLE),
        Field("tags", "tags", by.COMMA_TAGS, otherwise=by.DEFAULT_TAGS),
        Field("created_at", "created", by.SECONDS, required=True),
        Field("updated_at", "updated", by.SECONDS, otherwise=As("created")),
        Field("memory_type", "type", _TYPE),
        Field("memory_type", "kind", _KIND, otherwise=by.DEFAULT_KIND),
        Field("metadata.source_type", "source_type", by.enum(SOURCE_TYPES)),
        Field("metadata.credibility", "credibility", by.UNIT),
        Field("metadata.quality_score", "quality_score", by.UNIT),
        Field("metadata.emotion", "emotion", by.LABEL),
        Field("metadata.emotional_valence", "emotional_valence", by.BALANCE),
        Field("metadata.emotional_arousal", "emotional_arousal", by.UNIT),
        Field("metadata.episode_id", "episode_id", by.LABEL),
        Field("metadata.sequence_number", "sequence_number", by.COUNT),
        Field("embedding", "", by.DROPPED, note="compute it again in the target"),
    ),
    identity="content_hash",
    new_id=lambda given, text: by.folded_hash(text),
    hash="content_hash",
    hash_of=by.folded_hash,
    metadata="metadata",
)


class ServiceFile(NamedTuple):
    """The export of the service, or its database."""

    listed: JsonList = JsonList("memories", strict=True)

    def read(self, file: IO[bytes]) -> Iterator[dict[str, Any] | ValueError]:
        """Yield the memories; of a database those that are not deleted."""
        file.seek(0)
        begins = file.read(len(_SQLITE))
        file.seek(0)
        if begins == _SQLITE:
            from thunderus_mem.interop.foreign_database import memories

            yield from memories(file)
            return
        for record in self.listed.read(file):
            if isinstance(record, dict) and record.get("export_source") == _MACHINE:
                record = {key: value for key, value in record.items() if key != "export_source"}
            yield record

    def write(self, records: Iterable[dict[str, Any]], context: Mapping[str, Any]) -> Iterator[str]:
        """Yield the text of an export."""
        count = 0

        def memories() -> Iterator[dict[str, Any]]:
            nonlocal count
            for record in records:
                count += 1
                yield {**record, **{key: record.get(key, value) for key, value in _ALWAYS.items()}}

        def rest() -> dict[str, Any]:
            about = {
                "source_machine": _MACHINE,
                "export_timestamp": context["now"],
                "total_memories": count,
                "database_path": "",
                "platform": "",
                "python_version": "",
                "include_embeddings": False,
                "filter_tags": None,
                "exporter_version": f"thunderus-mem {context['version']}",
            }
            return {"export_metadata": about}

        yield from written_list({}, "memories", memories(), rest)


FILE: Final = ServiceFile()
