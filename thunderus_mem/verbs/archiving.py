"""The verbs `archive` and `unarchive`: documents are set aside, and brought back, byte for byte."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from thunderus_mem.model.archive import archived_path, is_archived, live_path
from thunderus_mem.model.document import MAX_DOCUMENT, Document, read_document
from thunderus_mem.model.errors import DocumentExists, InvalidDocument
from thunderus_mem.model.ids import fold_key
from thunderus_mem.store.edits import Edit
from thunderus_mem.store.files import read_file
from thunderus_mem.store.paths import inside
from thunderus_mem.verbs.locating import find_row, stored_path

if TYPE_CHECKING:
    from collections.abc import Sequence

    from thunderus_mem.memory import Memory

__all__ = ["Archived", "MovedDocument", "archive", "unarchive"]

_ARCHIVE, _UNARCHIVE = "archive", "unarchive"


@dataclass(frozen=True, slots=True)
class MovedDocument:
    """A document that was moved, and from where; its bytes are as they were."""

    id: str
    path: str
    old_path: str


@dataclass(frozen=True, slots=True)
class Archived:
    """What `archive` or `unarchive` (``op``) did, as one event; ``kept`` are ids that were there already.

    ``published`` is false when the event is on disk but a file is not yet: the next command puts it there.
    """

    op: str
    documents: tuple[MovedDocument, ...]
    kept: tuple[str, ...] = ()
    event_id: str = ""
    recorded: tuple[str, ...] = ()
    published: bool = True


class _Plan(NamedTuple):
    edits: tuple[Edit, ...]
    value: Archived


def archive(memory: Memory, ids: Sequence[str], *, why: str = "", actor: str = "user") -> Archived:
    """Set documents aside: each file moves into the archive, its text as it is; all in one event.

    They keep their ids: links to them hold, `show` finds them, search and list do with ``archived``. Raises
    `InvalidDocument` for a core document, `DocumentExists` when the archive has a file of that name or
    another document of that id.
    """
    return _move(memory, _ARCHIVE, ids, why, actor)


def unarchive(memory: Memory, ids: Sequence[str], *, why: str = "", actor: str = "user") -> Archived:
    """Bring archived documents back to where they came from, all in one event.

    Raises `DocumentExists` when a document in use has the id, or a file its name.
    """
    return _move(memory, _UNARCHIVE, ids, why, actor)


def _move(memory: Memory, op: str, ids: Sequence[str], why: str, actor: str) -> Archived:
    with memory.writing(op) as transaction:
        plan = _plan(memory, op, ids)
        if not plan.edits:
            return plan.value
        event = transaction.commit(op, plan.edits, why=why, actor=actor)
    return replace(
        plan.value,
        event_id=event.id,
        recorded=transaction.recorded,
        published=not transaction.pending,
    )


def _plan(memory: Memory, op: str, ids: Sequence[str]) -> _Plan:
    edits: list[Edit] = []
    moved: dict[str, MovedDocument] = {}
    kept: list[str] = []
    for given in ids:
        doc_id, path = _chosen(memory, given, op)
        target = archived_path(path) if op == _ARCHIVE else live_path(path)
        if target == path:
            kept.append(doc_id)
        elif path not in moved:
            document = _document(memory, path, doc_id)
            _refuse(memory, document, target)
            moved[path] = MovedDocument(doc_id, target, path)
            edits.append(Edit(doc_id, path, document.text, None, renames=True))
            edits.append(Edit(doc_id, target, None, document.text, renames=True))
    return _Plan(tuple(edits), Archived(op, tuple(moved.values()), tuple(dict.fromkeys(kept))))


def _chosen(memory: Memory, given: str, op: str) -> tuple[str, str]:
    """The id and the file that are meant: of two files with one id the one named, else the one to move."""
    row = find_row(memory, given, itself=True)
    paths = memory.index.paths_of(row.id)
    named = stored_path(memory, given)
    if named in paths:
        return row.id, named
    movable = [path for path in paths if is_archived(path) == (op == _UNARCHIVE)]
    if len(movable) > 1:
        raise InvalidDocument(
            f"{len(movable)} files have the id {row.id}", hint=f"name the one to move: {', '.join(movable)}"
        )
    return row.id, movable[0] if movable else row.path


def _document(memory: Memory, path: str, doc_id: str) -> Document:
    document = read_document(path, read_file(inside(memory.root, path), MAX_DOCUMENT)).document
    if document is None or document.id != doc_id:
        raise InvalidDocument(f"{path} cannot be read as a document", hint=f"see `thunderus-mem lint {path}`")
    return document


def _refuse(memory: Memory, document: Document, target: str) -> None:
    """Raise when the document may not go there."""
    if archived_path(document.path) == target and memory.layout.kind_of(target) is None:
        raise InvalidDocument(
            f"{document.id} is core memory, which is always in use",
            hint="take out of it what is no longer needed, or move that into a fact",
        )
    others = [path for path in memory.index.paths_of(document.id) if path != document.path]
    taken = [path for path in others if is_archived(path) == is_archived(target)]
    if taken:
        raise DocumentExists(
            f"{taken[0]} has the id {document.id} already",
            hint="give one of the two another id (`thunderus-mem rename`), or remove it",
        )
    folder, _, name = inside(memory.root, target).rpartition(os.sep)
    there = _names(folder)
    alike = next((one for one in there if fold_key(one) == fold_key(name)), "")
    if alike:
        place = f"{target.rpartition('/')[0]}/{alike}"
        raise DocumentExists(f"there is a file {place} already", hint="rename or remove that file first")


def _names(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except FileNotFoundError:
        return []
