"""Find a document by id, unique prefix, alias or path; and answer lint's questions about other documents from
the index, each asked once.
"""

from __future__ import annotations

import json
import os
import re
from functools import cached_property
from typing import TYPE_CHECKING

from thunderus_mem.diagnostic import Diagnostic, Severity
from thunderus_mem.document.document import MAX_DOCUMENT, Document, read_document
from thunderus_mem.document.ids import closest, fold_key, resolve_prefix
from thunderus_mem.document.paths import is_archived
from thunderus_mem.document.references import linked_path
from thunderus_mem.errors import DocumentExists, InvalidDocument, NotFound, Refused
from thunderus_mem.index.log import read
from thunderus_mem.index.refresh import refuse_unlisted
from thunderus_mem.index.words import fold_name
from thunderus_mem.log.event import changes_of
from thunderus_mem.startup import lazy_pattern
from thunderus_mem.store.files import read_below, read_file
from thunderus_mem.store.paths import inside

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from thunderus_mem.index.log import EventRow
    from thunderus_mem.index.questions import DocRow, Index
    from thunderus_mem.memory.memory import Memory

_NUMBER = lazy_pattern(r"(?:adr[-_ .]?)?0*([0-9]{1,6})", re.ASCII | re.IGNORECASE)


def find_row(memory: Memory, given: str, *, itself: bool = False) -> DocRow:
    """Return the index row of the document ``given``: an id or a unique prefix of one, an alias, a path, the
    file it was imported from, or the number of a decision.

    For an archived document that was merged into another one, return the latter with a notice, unless
    ``itself`` is set or its path was given. Raises `NotFound` with "did you mean" if nothing matches,
    `InvalidDocument` if ``given`` is ambiguous or empty.
    """
    row = _named(memory, given)
    by_path = row.path == given or row.path == stored_path(memory, given)
    survivor = None if itself or by_path else _survivor(memory, row)
    if survivor is not None:
        memory.say(f"{row.id} was merged into {survivor.id}; its own text is in {row.path}")
        return survivor
    if row.id != given and (row.id, "duplicates", given) in memory.index.edges_of(row.id):
        memory.say(f"{given} was merged into {row.id}")
    return row


def _survivor(memory: Memory, row: DocRow) -> DocRow | None:
    """Return the active document that has the id of an archived one as an alias."""
    if not is_archived(row.path):
        return None
    heir = memory.index.heir(row.id)
    return memory.index.get(heir) if heir else None


def _named(memory: Memory, given: str) -> DocRow:
    index = memory.index
    if not given.strip():
        raise InvalidDocument("the id is empty", hint="run `thunderus-mem list` for all ids")
    if not _is_text(given):
        raise NotFound("invalid id: not UTF-8 text")
    row = index.get(given)
    if row is not None:
        return row
    resolved = IndexCorpus(index).resolve(given)
    row = index.get(resolved) if resolved else None
    if row is not None:
        return row
    ids = list(index.ids())
    matches = resolve_prefix(given, ids) or _numbered(memory, given)
    if len(matches) == 1 and (row := index.get(matches[0])) is not None:
        return row
    if matches:
        raise InvalidDocument(
            f"ambiguous id {given!r}: {len(matches)} ids match", hint=f"use one of: {', '.join(matches[:8])}"
        )
    raise NotFound(f"no document has the id {given!r}", hint=_hint(memory, given, ids))


def _numbered(memory: Memory, given: str) -> list[str]:
    """Return the ids of decisions with a number such as ``7``, ``0007`` or ``ADR-7``."""
    match = _NUMBER.fullmatch(given)
    paths = IndexCorpus(memory.index).adr_numbers().get(int(match[1]), ()) if match else ()
    return [row.id for path in paths if (row := memory.index.by_path(path)) is not None]


def _hint(memory: Memory, given: str, ids: list[str]) -> str:
    rows = memory.log_index().naming([given])
    if rows:
        path = _unreadable_file(memory, given, rows)
        if path:
            return f"its file is not a valid document: run `thunderus-mem lint {path}`"
        return f"it was removed; run `thunderus-mem log {given}` for when and why"
    near = closest(given, ids)
    return f"did you mean {', '.join(near)}?" if near else "run `thunderus-mem list` for all ids"


def _unreadable_file(memory: Memory, doc_id: str, rows: Sequence[EventRow]) -> str:
    """Return the last path of a document in the log if its file exists but is unreadable; else ""."""
    bad = {path for path, _, found in memory.index.files() if not found}
    if not bad:
        return ""
    changes = [change for logged in read(memory.log, rows) for change in changes_of(logged.event)]
    paths = [change.path for change in changes if change.doc_id == doc_id and change.path in bad]
    return paths[-1] if paths else ""


def _is_text(given: str) -> bool:
    # Bytes of a command line that are not UTF-8 arrive as lone surrogates.
    try:
        given.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def find_document(memory: Memory, given: str, *, itself: bool = False) -> Document:
    """Return the document ``given``, found like in `find_row`, read from its file."""
    row = find_row(memory, given, itself=itself)
    document = read_row(memory, row)
    if document is None:
        raise InvalidDocument(
            f"{row.path} is no longer a valid document", hint=f"run `thunderus-mem lint {row.path}`"
        )
    return document


def read_row(memory: Memory, row: DocRow) -> Document | None:
    """Read the document of an index row from its file; ``None`` if the file is no longer valid."""
    return read_document(row.path, read_file(inside(memory.root, row.path), MAX_DOCUMENT)).document


def stored_path(memory: Memory, given: str) -> str:
    """Return the root-relative path for one relative to the current folder or to the root."""
    for base in (os.getcwd(), memory.root):
        path = os.path.normpath(os.path.join(base, given))
        if os.path.lexists(path):
            try:
                return memory.layout.relative(
                    os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path))
                )
            except ValueError:
                continue
    return given.replace(os.sep, "/")


def document_in(memory: Memory, path: str, doc_id: str) -> Document:
    """Read the document with this id from the file at ``path``. Raises `InvalidDocument` if it has another or
    none."""
    document = read_document(path, read_file(inside(memory.root, path), MAX_DOCUMENT)).document
    if document is None or document.id != doc_id:
        raise InvalidDocument(f"{path} is not a valid document", hint=f"run `thunderus-mem lint {path}`")
    return document


def document_at(memory: Memory, path: str) -> Document | None:
    """Read the document in the file at root-relative ``path``, or ``None`` if there is none.

    Raises `NotWritable` if the file cannot be read: unknown is not missing.
    """
    try:
        data = read_below(memory.root, path, MAX_DOCUMENT)
    except (NotFound, Refused):
        return None
    return read_document(path, data).document


def documents(memory: Memory, *, prefix: str = "", archived: bool = False) -> list[Document]:
    """Read all active documents, with ``archived`` also those in the archive, including duplicate ids; only
    those whose id begins with ``prefix``.

    For callers that need every document: raises `NotWritable` if a file or folder cannot be read.
    """
    refuse_unlisted(memory.index.unlisted())
    # A file without a hash was not read; it may still be a document.
    paths = [
        path
        for path, text_hash, doc_id in memory.index.files()
        if (doc_id.startswith(prefix) if doc_id else not text_hash) and (archived or not is_archived(path))
    ]
    found: list[Document] = []
    for done, path in enumerate(paths):
        memory.tell("Reading documents:", done, len(paths))
        if (document := document_at(memory, path)) is not None:
            found.append(document)
    return found


def file_names(folder: str) -> list[str]:
    """Return the names in an absolute folder, empty if it does not exist."""
    try:
        return os.listdir(folder)
    except FileNotFoundError:
        return []


def check_free(memory: Memory, path: str, hint: str) -> None:
    """Raise `DocumentExists` if ``path`` exists, or a name that some systems treat as the same."""
    folder, _, name = path.rpartition("/")
    for one in file_names(inside(memory.root, folder)):
        if fold_key(one) == fold_key(name):
            raise DocumentExists(f"{folder}/{one} already exists", hint=hint)


def left_behind(
    memory: Memory, gone: Mapping[str, str], aliases: Collection[str] = ()
) -> tuple[Diagnostic, ...]:
    """Return warnings about links to documents that are going to be removed, ids with their paths, in the
    relations and texts of others. Call it while the index still has them. Ids that will be ``aliases`` of
    other documents still resolve, but not links to the files."""
    corpus, ids = IndexCorpus(memory.index), {path: doc_id for doc_id, path in gone.items()}
    found = []
    for one in memory.index.profiles(gone):
        if is_archived(one.path):
            continue
        named = [
            *(link.target for link in one.links),
            *(link.partition("#")[0] for link in one.traits.wiki_links),
        ]
        targets = {corpus.resolve(name.strip()) for name in named}.difference(aliases)
        targets |= {ids.get(linked_path(one.path, link)) for link in one.traits.file_links}
        found += [
            Diagnostic("TM201", Severity.WARNING, one.path, 0, 0, f"{one.id} still links to {doc_id}")
            for doc_id in sorted(gone.keys() & targets)
        ]
    return tuple(found)


_ADR_NUMBER = lazy_pattern(r"/DECISIONS/(?:.*/)?ADR-(\d+)[^/]*$", re.IGNORECASE)


class IndexCorpus:
    """Implements ``lint.Corpus`` with an index."""

    def __init__(self, index: Index) -> None:
        self._index = index

    def paths_of(self, doc_id: str) -> tuple[str, ...]:
        """Return every file with that id."""
        return self._index.paths_of(doc_id)

    def paths_like(self, path: str) -> tuple[str, ...]:
        """Return every file whose path differs only in case or Unicode normalization."""
        return self._index.paths_like(path)

    def ids_like(self, doc_id: str) -> tuple[str, ...]:
        """Return every id that differs only in case or Unicode normalization."""
        return self._index.ids_like(doc_id)

    def resolve(self, target: str) -> str | None:
        """Return the id for an id, alias, file stem or path; for a merged document, that of the other one."""
        if target in self._docs:
            return self._merged_into(target) or target
        named = self._by_path.get(target) or self._names.get(fold_name(target.removesuffix(".md")))
        return named or next(iter(self.ids_like(target)), None)

    def _merged_into(self, doc_id: str) -> str | None:
        return self._index.heir(doc_id) if is_archived(self._docs[doc_id][0]) else None

    def superseded_by(self, doc_id: str) -> str | None:
        """Return the existing document that supersedes this one."""
        return self._superseded.get(doc_id)

    def ids(self) -> Sequence[str]:
        """Return all document ids, sorted."""
        return self._ids

    def anchors(self, doc_id: str) -> frozenset[str]:
        """Return the heading anchors of a document."""
        return frozenset(json.loads(self._docs.get(doc_id, ("", "[]"))[1]))

    def adr_numbers(self) -> Mapping[int, tuple[str, ...]]:
        """Return the files of each decision number."""
        return self._adr_numbers

    def episode_length(self, name: str) -> int:
        """Return the number of active documents of an episode, without recaps of it."""
        return self._episodes.get(name, 0)

    @cached_property
    def _episodes(self) -> dict[str, int]:
        return self._index.episodes()

    @cached_property
    def _adr_numbers(self) -> dict[int, tuple[str, ...]]:
        numbers: dict[int, list[str]] = {}
        for path, _, _ in self._files:
            if match := _ADR_NUMBER.search(path):
                numbers.setdefault(int(match[1]), []).append(path)
        return {number: tuple(paths) for number, paths in sorted(numbers.items())}

    def named(self, key: str) -> list[str]:
        """Return everything in the documents' provenance under ``events`` or ``commits``."""
        return self._index.named(key)

    @cached_property
    def _files(self) -> list[tuple[str, str, str]]:
        return self._index.files()

    @cached_property
    def _docs(self) -> dict[str, tuple[str, str]]:
        return self._index.headings()

    @cached_property
    def _by_path(self) -> dict[str, str]:
        return {path: doc_id for path, _, doc_id in self._files if doc_id}

    @cached_property
    def _ids(self) -> list[str]:
        return sorted(self._docs)

    @cached_property
    def _names(self) -> dict[str, str]:
        return self._index.names()

    @cached_property
    def _superseded(self) -> dict[str, str]:
        return self._index.superseded_by()
