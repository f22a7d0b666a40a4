"""Export documents as records of another program, and validate a file of records.

Records are read and written one at a time. Reads files, and writes one atomically.
"""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass, field
from typing import IO, TYPE_CHECKING, Any

from thunderus_mem import __version__
from thunderus_mem.authoring.show import document_rows
from thunderus_mem.document.document import MAX_DOCUMENT, read_document
from thunderus_mem.document.templates import is_core_skeleton
from thunderus_mem.document.timestamp import format_timestamp
from thunderus_mem.errors import NotFound
from thunderus_mem.index.database import BATCH
from thunderus_mem.index.known import KnownDocument, KnownDocuments
from thunderus_mem.interop.streams import Omitted
from thunderus_mem.interop.table import write_record
from thunderus_mem.interop.transfer import RefusedRecord, derived_ids, values_of, with_lines
from thunderus_mem.memory.usage import usage_of
from thunderus_mem.store.files import read_file, replace_file
from thunderus_mem.store.paths import inside

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from thunderus_mem.document.document import Document
    from thunderus_mem.index.questions import Filter
    from thunderus_mem.interop.formats import Format
    from thunderus_mem.interop.table import FieldTable
    from thunderus_mem.memory.memory import Memory
    from thunderus_mem.memory.usage import Usage


@dataclass(frozen=True, slots=True)
class ExportReport:
    """The result of an export: the ``file`` written, "" for stdout. ``lost`` counts the keys that the format
    cannot hold, ``refused`` are documents that it cannot hold, ``skipped`` those with nothing to export;
    ``text`` is the file for JSON output."""

    format: str
    file: str
    exported: int
    lost: dict[str, int]
    refused: tuple[RefusedRecord, ...]
    text: str = ""
    skipped: tuple[RefusedRecord, ...] = ()


@dataclass(slots=True)
class Tally:
    """What an export has written so far, and the kinds of events that the format cannot hold."""

    exported: int = 0
    lost: Counter[str] = field(default_factory=Counter)


class RecordExport:
    """An export of the documents that match ``wanted`` and the query ``filters``."""

    def __init__(self, memory: Memory, form: Format, wanted: Filter, filters: str = "") -> None:
        self._memory = memory
        self._form = form
        self._wanted = document_rows(memory, wanted, filters)
        self._lost: Counter[str] = Counter()
        self._refused: list[RefusedRecord] = []
        self._skipped: list[RefusedRecord] = []
        self._known = KnownDocuments()
        self._keys = self._known.names("key")
        self._count = 0

    def pieces(self) -> Iterator[str]:
        """The text of the file, piece by piece."""
        context = {"now": format_timestamp(self._memory.now()), "version": __version__}
        yield from self._form.file.write(self._records(), context)

    def _records(self) -> Iterator[dict[str, Any]]:
        usage = usage_of(self._memory) if self._form.table.usage else {}
        for id, path in self._documents():
            data = read_file(inside(self._memory.root, path), MAX_DOCUMENT)
            document = read_document(path, data).document
            if document is None:
                self._refused.append(RefusedRecord(-1, id, "cannot be read"))
                continue
            if document.id == "core" and is_core_skeleton(document.body, document.title):
                self._skipped.append(RefusedRecord(-1, id, "nothing filled in"))
                continue
            try:
                record = export_document(self._form.table, document)
            except ValueError as reason:
                self._refused.append(RefusedRecord(-1, id, str(reason)))
                continue
            key = record.data[self._form.table.identity]
            if not self._keys.setdefault(key, self._known.add(KnownDocument(id, path, ""))):
                first = self._keys.get(key)
                same_id = f"has the same `{self._form.table.identity}` there as {first and first.id}"
                self._refused.append(RefusedRecord(-1, id, same_id))
                continue
            self._count += 1
            self._lost.update(record.lost)
            if id in usage:
                _add_usage(self._form.table, record.data, usage[id])
            yield record.data

    def _documents(self) -> Iterator[tuple[str, str]]:
        """Ids and paths of the documents that have not been removed since."""
        for at in range(0, len(self._wanted), BATCH):
            self._memory.tell("Exporting:", at, len(self._wanted))
            rows = self._wanted[at : at + BATCH]
            found = self._memory.index.summaries(rows=rows)
            yield from ((found[row].id, found[row].path) for row in rows if row in found)

    def write(self, path: str) -> ExportReport:
        """Write the file ``path`` (absolute), atomically."""
        _write_file(path, self.pieces())
        return self.done(path)

    def done(self, path: str = "", text: str = "") -> ExportReport:
        """The result so far."""
        lost = dict(sorted(self._lost.items()))
        refused, skipped = tuple(self._refused), tuple(self._skipped)
        return ExportReport(self._form.name, path, self._count, lost, refused, text, skipped)


def _add_usage(table: FieldTable, record: dict[str, Any], usage: Usage) -> None:
    """Add the reads counted here to those that the record came with."""
    count, last = table.usage
    before = record.get(count)
    record[count] = usage.access_count + (before if isinstance(before, int) else 0)
    record[last] = usage.last_accessed_at or record.get(last)


def _write_file(path: str, pieces: Iterable[str]) -> None:
    if not os.path.isdir(os.path.dirname(path)):
        raise NotFound(f"folder {os.path.dirname(path)!r} does not exist", hint="create it first")
    replace_file(path, (piece.encode() for piece in pieces))


class LogExport:
    """An export of events by a ``LOG``, with the same methods as `RecordExport`."""

    def __init__(self, memory: Memory, name: str, log: Any) -> None:
        self._memory = memory
        self._name = name
        self._log = log
        self._tally = Tally()

    def pieces(self) -> Iterator[str]:
        """The text of the file, piece by piece."""
        yield from self._log.pieces(self._memory, self._tally)

    def write(self, path: str) -> ExportReport:
        """Write the file ``path`` (absolute), atomically."""
        _write_file(path, self.pieces())
        return self.done(path)

    def done(self, path: str = "", text: str = "") -> ExportReport:
        """The result so far."""
        lost = dict(sorted(self._tally.lost.items()))
        return ExportReport(self._name, path, self._tally.exported, lost, (), text)


def export_document(table: FieldTable, document: Document) -> Any:
    """The record of a document. Raises `ValueError` if the format cannot hold it."""
    values = values_of(document)
    derived = derived_ids(document.kind, document.title, document.imported_from.partition(":")[2])
    return write_record(table, values, derived)


# Validate


@dataclass(frozen=True, slots=True)
class ValidationReport:
    """The problems of a file, by record."""

    format: str
    source: str
    records: int
    problems: tuple[RefusedRecord, ...]


def validate_file(form: Format, file: IO[bytes], source: str) -> ValidationReport:
    """Check every record of a file against the schema of the format, and whether it can be read.

    Raises `InvalidDocument` if it is not a file of this format.
    """
    from thunderus_mem.interop.formats import record_problems

    problems, count = [], 0
    file.seek(0)
    for index, record in enumerate(form.file.read(file)):
        if isinstance(record, Omitted):
            continue
        count += 1
        found = [str(record)] if isinstance(record, ValueError) else record_problems(form.table, record)
        id = "" if isinstance(record, ValueError) else str(record.get(form.table.identity) or "")
        problems += [RefusedRecord(index, id, one) for one in found]
    return ValidationReport(form.name, source, count, with_lines(problems, form, file))
