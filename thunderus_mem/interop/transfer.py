"""Import records of another program as documents.

Records are read one at a time, and written to the store in events of at most `MOST_DOCUMENTS` documents. All
events of an import have its id in ``origin.import`` and one patch id, including those of a command that
resumes it after an interruption, so one `undo` reverts all. The id is derived from the format and the bytes
of the file. Reads foreign files, and writes through a transaction.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections import Counter
from dataclasses import dataclass, replace
from typing import IO, TYPE_CHECKING, Any, Final, TypeVar

from thunderus_mem.document import ids as names
from thunderus_mem.document.anchors import place_of
from thunderus_mem.document.document import KINDS, MAX_DOCUMENT, read_document
from thunderus_mem.document.frontmatter.edit import remove_key, replace_body, set_key
from thunderus_mem.document.frontmatter.write import KEY_ORDER, REQUIRED, header_text
from thunderus_mem.document.schema import DOCUMENT, check, is_valid_fast
from thunderus_mem.document.templates import is_core_skeleton
from thunderus_mem.document.timestamp import derived_ulid, format_timestamp, utc_key
from thunderus_mem.errors import InvalidDocument, NotFound, Refused, ThunderusError, resumable
from thunderus_mem.index.known import KnownDocument, KnownDocuments
from thunderus_mem.index.log import read
from thunderus_mem.interop.batches import ImportRun
from thunderus_mem.interop.fields import free_path
from thunderus_mem.interop.markdown import stored_documents
from thunderus_mem.interop.streams import Omitted
from thunderus_mem.interop.table import (
    BODY,
    CLAIMED,
    EDGES,
    EXTENSION,
    Field,
    ForeignRecord,
    copy_mark,
    get,
    read_record,
    remove,
    same,
    stored_kept,
    stored_key,
    text_field,
    with_text_field,
    write_record,
)
from thunderus_mem.interop.values import (
    ABSENT,
    DEFAULT_KIND,
    DEFAULT_TAGS,
    LABEL,
    TITLE,
    conflict_in,
    digest_of,
    raw_hash,
    title_of,
)
from thunderus_mem.log.event import texts_in
from thunderus_mem.log.new_event import MOST_DOCUMENTS, Ids
from thunderus_mem.memory.journal import FileChange
from thunderus_mem.memory.transaction import open_transaction
from thunderus_mem.safety.secrets import find_secrets
from thunderus_mem.startup import NamedTuple
from thunderus_mem.store.files import read_file
from thunderus_mem.store.layout import DOCUMENT_FOLDERS
from thunderus_mem.store.paths import inside

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from thunderus_mem.document.document import Document
    from thunderus_mem.index.log import LogIndex
    from thunderus_mem.interop.formats import Format
    from thunderus_mem.interop.table import FieldTable
    from thunderus_mem.memory.memory import Memory

ON_CONFLICT: Final = ("skip", "update", "new")
"""What becomes of a record whose document exists and says something else."""
_PIECE: Final = 1 << 20


class RefusedRecord(NamedTuple):
    """A record that was not imported or exported: its number in the file, from 0 (-1 for a document), its id
    and the reason. ``line`` is where it begins, from 1; 0 if the file is not read by lines."""

    number: int
    id: str
    reason: str
    line: int = 0


class RecordNote(NamedTuple):
    """A link or alias of an imported record that concerns another document: the record's number and id, and
    what it does. ``line`` is that of `RefusedRecord`."""

    number: int
    id: str
    text: str
    line: int = 0


_Record = TypeVar("_Record", RefusedRecord, RecordNote)


class WrittenDocument(NamedTuple):
    """A document that an import adds or changes: ``op`` is ``import`` or ``update``."""

    op: str
    id: str
    title: str


@dataclass(frozen=True, slots=True)
class TransferReport:
    """The result of an import, or of a ``dry_run``; ``documents`` are those that it adds or changes.

    ``unchanged`` records were imported before; ``skipped`` ones differ from their document, or repeat the
    text of another. ``dropped`` counts the fields that are not stored, ``kept`` those without a key of ours,
    which are kept in the metadata. ``import_id`` is in ``origin.import`` of all events, ``patch`` undoes
    them; both are empty if nothing was written.
    """

    format: str
    source: str
    imported: int
    updated: int
    unchanged: int
    skipped: tuple[RefusedRecord, ...]
    refused: tuple[RefusedRecord, ...]
    kept: dict[str, int]
    dropped: dict[str, int]
    dry_run: bool = False
    import_id: str = ""
    patch: str = ""
    events: int = 0
    proposed: str = ""
    published: bool = True
    notes: tuple[RecordNote, ...] = ()
    documents: tuple[WrittenDocument, ...] = ()


class ImportOptions(NamedTuple):
    """``kind`` is that of all documents instead of one by type; ``mapping`` are pairs of a field of theirs
    and a key of ours. The report lists at most ``listed`` documents."""

    kind: str = ""
    tags: tuple[str, ...] = ()
    mapping: tuple[tuple[str, str], ...] = ()
    on_conflict: str = "skip"
    dry_run: bool = False
    why: str = ""
    listed: int = sys.maxsize


def import_records(
    memory: Memory, form: Format, file: IO[bytes], source: str, options: ImportOptions
) -> TransferReport:
    """Import the records of a seekable ``file``; ``source`` is its name.

    Records that cannot be imported are reported, the others imported. Raises `InvalidDocument` if it is not a
    file of this format, `ThunderusError` for an unknown kind, key or ``on_conflict``.
    """
    table, mapping = _mapped(form.table, options)
    later = _later(form, file, table, mapping) if options.on_conflict == "update" else {}
    records = _read(form, file, memory)
    if options.dry_run:
        memory.refresh()
        planner = _Planner(memory, table, options, mapping, later)
        for _ in planner.batches(records, Ids(memory.new_id("evt"), memory.new_id("patch"))):
            pass
        return _with_lines(planner.report(form.name, source), form, file)
    import_id = f"import_{derived_ulid(form.name, _hash_of(file))}"
    with resumable(), open_transaction(memory, "import") as transaction:
        planner = _Planner(memory, table, options, mapping, later)
        run = ImportRun(memory, transaction, import_id, options.why or f"imported from {source}")
        for changes in planner.batches(records, run.ids):
            if not run.write(changes):
                break
            planner.ids = run.ids
        run.end()
    report = _with_lines(planner.report(form.name, source), form, file)
    if not (run.events or run.resumed):
        return report
    outcome = transaction.outcome
    return replace(
        report,
        import_id=import_id,
        patch=run.patch,
        events=run.events,
        proposed=outcome.proposed,
        published=outcome.published,
    )


def _with_lines(report: TransferReport, form: Format, file: IO[bytes]) -> TransferReport:
    return replace(
        report,
        skipped=with_lines(report.skipped, form, file),
        refused=with_lines(report.refused, form, file),
        notes=with_lines(report.notes, form, file),
    )


def with_lines(records: Sequence[_Record], form: Format, file: IO[bytes]) -> tuple[_Record, ...]:
    """The records with their lines, if the file is read by lines."""
    lines_of: Callable[[IO[bytes]], Iterator[int]] | None = getattr(form.file, "lines", None)
    if not records or lines_of is None:
        return tuple(records)
    numbers = {one.number for one in records}
    lines = {number: line for number, line in enumerate(lines_of(file)) if number in numbers}
    return tuple(one._replace(line=lines.get(one.number, 0)) for one in records)


def _hash_of(file: IO[bytes]) -> str:
    digest = hashlib.sha256()
    file.seek(0)
    while piece := file.read(_PIECE):
        digest.update(piece)
    return digest.hexdigest()


def _mapped(table: FieldTable, options: ImportOptions) -> tuple[FieldTable, list[Field]]:
    """The table, and the rows of ``--map``. Raises `ThunderusError` for a key that it cannot set, and for a
    wrong option."""
    if options.on_conflict not in ON_CONFLICT:
        raise ThunderusError(
            f"invalid value {options.on_conflict!r} for --on-conflict",
            hint=f"use one of: {', '.join(ON_CONFLICT)}",
        )
    if options.kind and options.kind not in KINDS:
        raise ThunderusError(f"unknown kind {options.kind!r}", hint=f"use one of: {', '.join(KINDS)}")
    keys = {"title", "tags", "created", "updated", *(key for key in KEY_ORDER if key not in REQUIRED)}
    keys -= {"anchors", "links", "metadata"}
    rows = []
    for theirs, ours in options.mapping:
        if ours == "text":
            table = with_text_field(table, theirs)
            continue
        if ours not in keys:
            raise ThunderusError(
                f"unknown field {ours!r}", hint=f"use one of: {', '.join(sorted({*keys, 'text'}))}"
            )
        known = next((row.by for row in table.fields if row.ours == ours), LABEL)
        rows.append(Field(theirs, ours, LABEL if known is TITLE else known))
    return table, rows


def _read(form: Format, file: IO[bytes], memory: Memory) -> Iterator[tuple[int, Any]]:
    """The records with their numbers; progress is that in the file."""
    size = file.seek(0, os.SEEK_END) or 1
    file.seek(0)
    for index, record in enumerate(form.file.read(file)):
        if index % MOST_DOCUMENTS == 0:
            memory.tell("Importing (KiB):", file.tell() >> 10, size >> 10)
        yield index, record


def _later(form: Format, file: IO[bytes], table: FieldTable, mapping: Sequence[Field]) -> dict[int, int]:
    """The records that have the same id as a later one, or none and the same title and text, each with the
    last one: to update a document to each of them would change it back and forth in every import."""
    text, last, later = text_field(table), dict[tuple[Any, ...], int](), dict[int, int]()
    titles = [row.theirs for row in (*reversed(mapping), *table.fields) if row.ours == "title"]
    for index, record in enumerate(form.file.read(file)):
        if not isinstance(record, dict):
            continue
        id, body = record.get(table.identity), get(record, text)
        given = [value for name in titles if isinstance(value := get(record, name), str)]
        title = (
            given[0]
            if _has_titles(table) and given and given[0] != body
            else title_of(body if isinstance(body, str) else "")
        )
        key = (str(id),) if isinstance(id, str | int) and id != "" else (title, body)
        if isinstance(key[-1], str | int):
            if key in last:
                later[last[key]] = index
            last[key] = index
    for index in sorted(later, reverse=True):
        later[index] = later.get(later[index], later[index])
    return later


def _has_titles(table: FieldTable) -> bool:
    """Whether the format has a field with the title; in others it is made from the text."""
    return any(row.ours == "title" and row.theirs != text_field(table) for row in table.fields)


class _Planner:
    """Converts records to changes of files, and counts; each planned document counts as stored. Records are
    skipped if a ``later`` one has the same id."""

    def __init__(
        self,
        memory: Memory,
        table: FieldTable,
        options: ImportOptions,
        mapping: Sequence[Field],
        later: Mapping[int, int],
    ) -> None:
        self._memory = memory
        self._table = table
        self._options = options
        self._mapping = mapping
        self._later = later
        self._now = format_timestamp(memory.now())
        self._known = KnownDocuments()
        self._by_key, self._by_id, self._by_text = map(self._known.names, ("key", "id", "text"))
        self._ids, self._paths, self._earlier = map(self._known.names, ("taken id", "path", "earlier"))
        self._last_number = 0
        self._counts: Counter[str] = Counter()
        self._skipped: list[RefusedRecord] = []
        self._refused: list[RefusedRecord] = []
        self._kept: Counter[str] = Counter()
        self._dropped: Counter[str] = Counter()
        self._batch: dict[str, FileChange] = {}
        self._notes: list[RecordNote] = []
        self._written: list[WrittenDocument] = []
        self._log: LogIndex | None = None
        self._ops: dict[str, Any] = {}
        self._claims = _Claims(memory)
        self.ids = Ids("", "")
        for document in stored_documents(memory):
            if not (document.id == "core" and is_core_skeleton(document.body, document.title)):
                self._store(document)
            self._take(document.id, document.aliases, document.path)
            self._earlier.update(map(names.fold_key, (document.id, document.title, *document.aliases)))

    def _take(self, id: str, aliases: Sequence[str], path: str) -> None:
        self._ids.update(map(names.fold_key, (id, *aliases)))
        self._paths.update((names.fold_key(path),))
        self._last_number = max(self._last_number, names.adr_number(path.rpartition("/")[2]))

    def _store(self, document: Document) -> None:
        known = self._known.add(KnownDocument(document.id, document.path, document.imported_sha256))
        text, _ = _without_edges(document.body)
        if document.imported_from.startswith(f"{self._table.name}:"):
            self._by_key[document.imported_from] = known
        else:
            self._by_key.setdefault(self._origin(self._table.new_id(document.id, text)), known)
        self._by_id[document.id] = known
        self._by_text.setdefault(_text_key(document.kind, document.title, text), known)

    def _origin(self, key: str) -> str:
        return f"{self._table.name}:{key}"

    def batches(self, records: Iterable[tuple[int, Any]], ids: Ids) -> Iterator[list[FileChange]]:
        """Yield the changes of up to 500 documents; `ids` are those of the event they are written with."""
        self.ids = ids
        for index, record in records:
            self._add(index, record)
            if len(self._batch) == MOST_DOCUMENTS:
                yield self._taken_batch()
        if self._batch:
            yield self._taken_batch()

    def _taken_batch(self) -> list[FileChange]:
        changes, self._batch = [*self._batch.values()], {}
        return changes

    def report(self, name: str, source: str) -> TransferReport:
        """The result so far."""
        return TransferReport(
            name,
            source,
            self._counts["imported"],
            self._counts["updated"],
            self._counts["unchanged"],
            tuple(self._skipped),
            tuple(self._refused),
            dict(sorted(self._kept.items())),
            dict(sorted(self._dropped.items())),
            self._options.dry_run,
            notes=tuple(self._notes),
            documents=tuple(self._written),
        )

    def _add(self, index: int, record: Any) -> None:
        name = ""
        if isinstance(record, Omitted):
            self._dropped[record.name] += record.entries
            return
        try:
            if isinstance(record, ValueError):
                raise record
            named = record.get(self._table.identity)
            name = named if isinstance(named, str) else ""
            if index in self._later:
                reason = f"record {self._later[index]} has the same id, and comes later"
                self._skipped.append(RefusedRecord(index, name, reason))
                return
            found = read_record(self._table, record)
            for row in self._mapping:
                if (value := get(record, row.theirs)) is not ABSENT and value is not None:
                    found.values[row.ours] = row.by.read(value)
            self._import(index, found, record)
        except RecursionError:
            self._refused.append(RefusedRecord(index, name, "it is nested too deeply"))
        except (ValueError, InvalidDocument, NotFound, Refused) as reason:
            self._refused.append(RefusedRecord(index, name, str(reason)))

    def _import(self, index: int, found: ForeignRecord, record: Mapping[str, Any]) -> None:
        digest = digest_of(record)
        if record.get(self._table.identity) in (None, ""):
            found = self._with_title(found, digest)
        copy = self._origin(found.key) + copy_mark(digest)
        if (
            found.own_id
            and found.own_id in self._by_id
            and self._table.new_id(found.own_id, found.values[BODY]) != found.key
        ):
            found = found._replace(own_id="")  # no export of that document has this record
        found = self._claims.settle(found)
        known = self._by_key.get(self._origin(found.key))
        if known is None and found.own_id:
            known = self._by_id.get(found.own_id)
        if copy in self._by_key or (known is not None and known.digest == digest):
            self._counts["unchanged"] += 1
            return
        if known is None:
            self._create(index, found, self._origin(found.key), digest)
            return
        document = self._read(known)
        if self._is_same(document, record):
            self._counts["unchanged"] += 1
        elif self._options.on_conflict == "new":
            self._create(index, found._replace(own_id=""), copy, digest)
        elif self._options.on_conflict == "update":
            self._update(index, document, found, record, digest)
        else:
            reason = f"differs from {known.id}; use --on-conflict update or new"
            self._skipped.append(RefusedRecord(index, found.key, reason))

    def _with_title(self, found: ForeignRecord, digest: str) -> ForeignRecord:
        """A record without an id: its title, unless made from its text, is part of its identity. Documents
        that were imported when the text alone counted keep theirs."""
        title, text = found.values["title"], found.values[BODY]
        if not _has_titles(self._table) or title == title_of(text):
            return found
        origin = self._origin(found.key)
        known = self._by_key.get(origin)
        if known is not None and (known.digest == digest or self._read(known).title == title):
            return found
        if origin + copy_mark(digest) in self._by_key:
            return found
        return found._replace(key=self._table.new_id("", f"{title}\0{text}"))

    def _read(self, known: KnownDocument) -> Document:
        pending = self._batch.get(known.path)
        if pending is not None and pending.after is not None:
            data = pending.after.encode()
        else:
            data = read_file(inside(self._memory.root, known.path), MAX_DOCUMENT)
        document = read_document(known.path, data).document
        if document is None:
            raise InvalidDocument(f"{known.path} cannot be read")
        return document

    def _is_same(self, document: Document, record: Mapping[str, Any]) -> bool:
        try:
            written = write_record(self._table, values_of(document)).data
        except ValueError:
            return False
        return same(self._bare(written), self._bare(record))

    def _bare(self, record: Mapping[str, Any]) -> dict[str, Any]:
        """A record without our extension and what is not stored."""
        data = {key: dict(value) if isinstance(value, dict) else value for key, value in record.items()}
        if self._table.metadata:
            remove(data, f"{self._table.metadata}.{EXTENSION}")
        for row in self._table.fields:
            if not row.ours:
                remove(data, row.theirs)
        for name in self._table.usage:
            data.pop(name, None)
        return data

    def _create(self, index: int, found: ForeignRecord, origin: str, digest: str) -> None:
        values = dict(found.values)
        own = bool(found.own_id)
        kind = (
            values.get("kind", DEFAULT_KIND)
            if own
            else self._options.kind or values.get("kind", DEFAULT_KIND)
        )
        if kind not in self._memory.config.kinds_allowed:
            raise ValueError(f"documents of kind {kind!r} are not allowed in this memory")
        title, text = values["title"], values[BODY]
        known = self._by_text.get(_text_key(kind, title, text))
        if known is not None and self._options.on_conflict != "new" and not found.own_id:
            self._skipped.append(RefusedRecord(index, found.key, f"duplicate of {known.id}"))
            return
        id = self._free_id(found.own_id, kind, title, origin.partition(":")[2])
        number = self._last_number + 1 if kind == "adr" else None
        path = free_path(DOCUMENT_FOLDERS[kind], id, kind, number, self._paths)
        placed = Placed(id, kind, "" if own else origin, digest, self.ids)
        header = header_of(self._table, found, placed, self._now, self._options.tags)
        document = checked(path, document_text(header, values), header)
        self._batch[path] = FileChange(id, path, None, document.text)
        self._take(id, document.aliases, path)
        self._store(document)
        self._count("imported", found, WrittenDocument("import", id, title))
        self._note(index, found.key, document)

    def _note(self, index: int, key: str, document: Document) -> None:
        """Note what a new document does to those before the import."""
        found = [
            f"supersedes {link.target}"
            for link in document.links
            if link.rel == "supersedes" and names.fold_key(link.target) in self._earlier
        ]
        found += [
            f"has the alias {alias!r}, which names another document"
            for alias in document.aliases
            if names.fold_key(alias) in self._earlier
        ]
        self._notes += [RecordNote(index, key, text) for text in found]

    def _count(self, what: str, found: ForeignRecord, written: WrittenDocument) -> None:
        self._counts[what] += 1
        if len(self._written) < self._options.listed:
            self._written.append(written)
        self._dropped.update(found.dropped)
        if found.kept:
            fields = found.kept.get("fields", {}).items()
            known = {name for name, value in fields if value is not None} - {self._table.hash}
            self._kept.update([*known, *found.kept.get("other", ())])

    def _free_id(self, own: str, kind: str, title: str, key: str) -> str:
        wanted = [own] if own and names.is_document_id(own) else []
        for id in (*wanted, *derived_ids(kind, title, key)):
            if names.fold_key(id) not in self._ids:
                return id
        raise ValueError("no id is free for it")

    def _update(
        self, index: int, document: Document, found: ForeignRecord, record: Mapping[str, Any], digest: str
    ) -> None:
        text = _updated_text(self._table, document, found, record, digest, self._now)
        after = checked(document.path, text)
        if text == document.text:
            self._counts["unchanged"] += 1
            return
        pending = self._batch.get(document.path)
        before = pending.before if pending is not None else document.text
        self._batch[document.path] = FileChange(document.id, document.path, before, text)
        self._store(after)
        self._count("updated", found, WrittenDocument("update", after.id, after.title))
        if self._is_edited(document.id):
            text = f"{document.id} was edited here since it was imported; its text is in the log"
            self._notes.append(RecordNote(index, found.key, text))

    def _is_edited(self, id: str) -> bool:
        """Whether the last change of a document before this import is an edit."""
        if self._log is None:
            self._log = self._memory.log_index()
        rows = self._log.newest(1, kinds=("patch",), doc_ids=(id,))
        if any(row.id not in self._ops for row in rows):  # the event of an import is large: read it once
            self._ops |= {one.event.id: one.event.body.get("op") for one in read(self._memory.log, rows)}
        return any(self._ops.get(row.id) == "edit" for row in rows)


_APPROVALS: Final = 8


class _Claims:
    """Checks what records say about this memory in our extension: provenance, verification and anchors.

    A file can come from anyone, so a claim counts only if log and git of this repository confirm it: the
    record is a document of this memory that comes back. Any other is kept for the export, as `CLAIMED`.
    """

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._log: LogIndex | None = None
        self._commits: dict[str, bool] = {}

    def settle(self, found: ForeignRecord) -> ForeignRecord:
        """Move the claims that nothing confirms to what is kept for the other program. Raises `ValueError`
        for an anchor that `add` refuses."""
        anchors = found.values.get("anchors")
        for item in anchors if isinstance(anchors, list) else ():
            if not place_of(item):
                raise ValueError(
                    f"`anchors` has an invalid anchor or one outside the repository: {item!r:.80}"
                )
        given: dict[str, Any] = {
            key: found.values[key] for key in ("provenance", "verification") if key in found.values
        }
        if not given:
            return found
        confirmed = self._confirmed(found.own_id, given)
        claimed = {key: value for key, value in given.items() if key not in confirmed}
        values = {key: value for key, value in found.values.items() if key not in claimed}
        kept = {**(found.kept or {}), CLAIMED: claimed} if claimed else found.kept
        return found._replace(values=values, kept=kept)

    def _confirmed(self, own_id: str, given: Mapping[str, Any]) -> set[str]:
        if not own_id:
            return set()
        if self._log is None:
            self._log = self._memory.log_index()
        confirmed = set()
        if self._is_past(own_id, given.get("provenance"), self._log):
            confirmed.add("provenance")
        state = given.get("verification")
        commit = state.get("last_verified_commit") if isinstance(state, dict) else None
        if isinstance(commit, str) and self._is_verified(own_id, self._log) and self._has(commit):
            confirmed.add("verification")
        return confirmed

    def _is_past(self, own_id: str, provenance: Any, log: LogIndex) -> bool:
        """Whether the log has all events of a provenance, one of them about the document, and git has its
        commits. Its patches are those of events."""
        if not isinstance(provenance, dict):
            return False
        events = texts_in(provenance, "events")
        about = {row.id for row in log.naming((own_id,))}
        known = about.intersection(events) and log.cited(events).keys() >= set(events)
        return bool(known) and all(map(self._has, texts_in(provenance, "commits")))

    def _is_verified(self, own_id: str, log: LogIndex) -> bool:
        """Whether the document was verified here."""
        rows = log.newest(_APPROVALS, kinds=("approval",), doc_ids=(own_id,))
        return any(one.event.body.get("action") == "verify" for one in read(self._memory.log, rows))

    def _has(self, commit: str) -> bool:
        """Whether a commit is in this repository."""
        if commit not in self._commits:
            git = self._memory.git
            self._commits[commit] = git is not None and git.reached([commit])[commit] is True
        return self._commits[commit]


class Placed(NamedTuple):
    """What a record becomes here: id, kind, where it comes from ("" from a store), its digest, and the ids of
    the event that writes it."""

    id: str
    kind: str
    origin: str
    digest: str
    ids: Ids


def header_of(
    table: FieldTable, found: ForeignRecord, placed: Placed, now: str, tags: Sequence[str] = ()
) -> dict[str, Any]:
    """The frontmatter of a new document. Raises `ValueError` for times that contradict each other."""
    values = found.values
    created = values.get("created", now)
    updated = values.get("updated", created)
    if utc_key(updated) < utc_key(created):
        raise ValueError("it was updated before it was created")
    given = values.get("provenance")
    before = given if isinstance(given, dict) else {}
    origin = {"imported_from": placed.origin, "imported_sha256": placed.digest} if placed.origin else {}
    kept = {table.name: stored_kept(found.kept)} if found.kept else {}
    metadata = {**(values.get("metadata") or {}), **origin, **kept}
    header = {
        **{key: value for key, value in values.items() if key not in (BODY, EDGES, "metadata")},
        "id": placed.id,
        "title": values["title"],
        "kind": placed.kind,
        "tags": list(dict.fromkeys([*values.get("tags", DEFAULT_TAGS), *tags])),
        "created": created,
        "updated": updated,
        "provenance": {
            **before,
            "events": [*texts_in(before, "events"), placed.ids.event],
            "patches": [*texts_in(before, "patches"), placed.ids.patch],
        },
        "verification": values.get("verification", {"last_verified_commit": None, "status": "unknown"}),
    }
    return {**header, "metadata": metadata} if metadata or "metadata" in values else header


def checked(path: str, text: str, header: Mapping[str, Any] | None = None) -> Document:
    """The document of a text that can be written. Raises `ValueError` with the reason if it cannot."""
    reading = read_document(path, text.encode())
    if reading.document is None:
        problem = reading.problems[0].message if reading.problems else "is not a valid document"
        raise ValueError(problem[:1].lower() + problem[1:])
    found = reading.document.data()
    if header is not None and not same(found, dict(header)):
        changed = next(key for key in header if not same(found.get(key, ABSENT), header[key]))
        raise ValueError(f"`{changed}` cannot be stored without changing it")
    if not is_valid_fast(DOCUMENT, found):
        for violation in check(DOCUMENT, found):
            raise ValueError(f"{violation.message[:1].lower()}{violation.message[1:].rstrip('.')}")
    if reason := conflict_in(text):
        raise ValueError(reason)
    for secret in find_secrets(text):  # a comment that suppresses it may come from the record itself
        raise ValueError(f"possible secret ({secret.kind}); remove it first")
    return reading.document


def _updated_text(
    table: FieldTable,
    document: Document,
    found: ForeignRecord,
    record: Mapping[str, Any],
    digest: str,
    now: str,
) -> str:
    """A document with the values of the fields in which the record differs from it."""
    had = values_of(document)
    written = write_record(table, had).data
    text, changed = document.text, False
    for row in _changed_rows(table, written, record):
        new = get(found.values, row.ours)
        if row.ours == BODY:
            text = replace_body(text, _with_edges(found.values[BODY], had.get(EDGES)))
            if document.title == title_of(had[BODY]) and found.values["title"] != document.title:
                text = set_key(text, ("title",), found.values["title"])
            changed = True
        elif row.ours in ("kind", "title") or (new is ABSENT and row.ours in _ALWAYS):
            continue
        elif new is ABSENT:
            text = remove_key(text, (row.ours,)) if row.ours in had else text
        elif not same(new, had.get(row.ours, ABSENT)):
            text = set_key(text, (row.ours,), new)
    for key, value in (found.values.get("metadata") or {}).items():
        text = set_key(text, ("metadata", key), value)
    if found.kept:
        text = set_key(text, ("metadata", table.name), stored_kept(found.kept))
    if stored_key(table, had):
        text = set_key(text, ("metadata", "imported_sha256"), digest)
    updated = get(found.values, "updated")
    same_time = updated is ABSENT or same(updated, had["updated"])
    return set_key(text, ("updated",), now) if changed and same_time else text


_ALWAYS: Final = frozenset(("created", "updated", "tags"))
"""Keys that every document has; it keeps its own where the record has none."""


def _changed_rows(table: FieldTable, written: Mapping[str, Any], record: Mapping[str, Any]) -> list[Field]:
    return [
        row
        for row in table.fields
        if row.ours and not same(get(written, row.theirs), get(record, row.theirs))
    ]


def derived_ids(kind: str, title: str, key: str) -> tuple[str, str]:
    """The ids that a record gets here: from its title, or if that is taken, with a hash of its own id."""
    base = names.new_document_id(kind, title)
    return base, f"{base}-{raw_hash(key)[:8]}"


def _text_key(kind: str, title: str, text: str) -> str:
    return f"{kind}\0{title}\0{text}"


# The text of a document, without the line ends around it

_STANDARD: Final = ["\n", "\n"]


def _without_edges(body: str) -> tuple[str, list[str]]:
    lead = next((one for one in ("\r\n", "\n") if body.startswith(one)), "")
    rest = body[len(lead) :]
    tail = next((one for one in ("\r\n", "\n") if rest.endswith(one)), "")
    return rest[: len(rest) - len(tail)], [lead, tail]


def _with_edges(text: str, edges: Any) -> str:
    lead, tail = edges if isinstance(edges, list) and len(edges) == 2 else _STANDARD
    return f"{lead}{text}{tail}"


def document_text(header: dict[str, Any], values: Mapping[str, Any]) -> str:
    """The text of a new document."""
    return header_text(header) + _with_edges(values[BODY], values.get(EDGES))


def values_of(document: Document) -> dict[str, Any]:
    """The frontmatter and text of a document as `write_record` takes them."""
    text, edges = _without_edges(document.body)
    values = {**document.data(), BODY: text}
    return values if edges == _STANDARD else {**values, EDGES: edges}
