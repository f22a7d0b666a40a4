"""Archive and unarchive: documents are set aside, and brought back, byte for byte."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from thunderus_mem.document.paths import archived_path, is_archived, live_path
from thunderus_mem.errors import DocumentExists, InvalidDocument
from thunderus_mem.memory.journal import FileChange
from thunderus_mem.memory.locate import check_free, document_in, find_row, stored_path
from thunderus_mem.memory.transaction import open_transaction

if TYPE_CHECKING:
    from collections.abc import Sequence

    from thunderus_mem.document.document import Document
    from thunderus_mem.memory.memory import Memory

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
    with open_transaction(memory, op) as transaction:
        changes, archived = _planned(memory, op, ids)
        if not changes:
            return archived
        transaction.commit(op, changes, why=why, actor=actor)
        done = transaction.outcome
        return replace(archived, event_id=done.event_id, recorded=done.recorded, published=done.published)


def _planned(memory: Memory, op: str, ids: Sequence[str]) -> tuple[list[FileChange], Archived]:
    changes: list[FileChange] = []
    moved: dict[str, MovedDocument] = {}
    kept: list[str] = []
    for given in ids:
        doc_id, path = _chosen(memory, given, op)
        target = archived_path(path) if op == _ARCHIVE else live_path(path)
        if target == path:
            kept.append(doc_id)
        elif path not in moved:
            document = document_in(memory, path, doc_id)
            _check_target(memory, document, target)
            moved[path] = MovedDocument(doc_id, target, path)
            changes.append(FileChange(doc_id, path, document.text, None, renames=True))
            changes.append(FileChange(doc_id, target, None, document.text, renames=True))
    return changes, Archived(op, tuple(moved.values()), tuple(dict.fromkeys(kept)))


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


def _check_target(memory: Memory, document: Document, target: str) -> None:
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
    check_free(memory, target, "rename or remove that file first")
