"""The verbs that change what is there: edit, remove, supersede, link; and note."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from thunderus_mem.document.document import MAX_DOCUMENT, Document, read_document
from thunderus_mem.document.frontmatter.edit import insert_item, remove_item, replace_body, set_key
from thunderus_mem.document.ids import fold_key
from thunderus_mem.document.paths import archived_path, is_archived, live_path
from thunderus_mem.document.templates import check_relation, parse_field
from thunderus_mem.document.timestamp import format_timestamp, utc_key
from thunderus_mem.errors import Conflict, DocumentExists, InvalidDocument
from thunderus_mem.lint.validate import validate
from thunderus_mem.memory.journal import FileChange
from thunderus_mem.memory.locate import find_document, find_row, left_behind, stored_path
from thunderus_mem.memory.transaction import Written, done, open_transaction, unchanged
from thunderus_mem.store.files import read_file
from thunderus_mem.store.paths import inside

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from thunderus_mem.document.anchors import Anchor
    from thunderus_mem.memory.memory import Memory


class Noted(NamedTuple):
    """A note in the log."""

    event_id: str
    refs: tuple[str, ...]


def edit(
    memory: Memory,
    id: str,
    *,
    sets: Mapping[str, Any] | None = None,
    add_tags: Iterable[str] = (),
    remove_tags: Iterable[str] = (),
    anchors: Iterable[str] = (),
    body: str | None = None,
    text: str | None = None,
    expecting: str | None = None,
    why: str = "",
    actor: str = "user",
) -> Written:
    """Change a document: keys, tags, its body, or the whole ``text`` as an editor left it.

    ``anchors`` are places in the code it talks about from now on; their fingerprints are taken.
    ``expecting`` is the hash the caller read; `Conflict` when the file has another by now. ``updated`` moves
    only when title or body do.
    """
    places = _given(memory, anchors)
    with open_transaction(memory, "edit") as transaction:
        document = find_document(memory, id)
        if expecting is not None and document.hash != expecting:
            read, found = (one.removeprefix("sha256:")[:8] for one in (expecting, document.hash))
            raise Conflict(
                f"{document.id} was changed meanwhile: {read} was read, {found} is there",
                hint="read it again and repeat the edit",
            )
        edited = text if text is not None else _edited(document, sets or {}, add_tags, remove_tags, body)
        if places:
            from thunderus_mem.authoring.anchor import cited_of, text_with_anchors

            edited = text_with_anchors(edited, cited_of(document), places)
        edited = _touched(document, edited, format_timestamp(memory.now()))
        if edited == document.text:
            return unchanged(document, "edit")
        after, warnings = validate(memory, document.path, edited, before=document.text)
        _keep_identity(document, after)
        change = FileChange(document.id, document.path, document.text, after.text)
        event = transaction.commit("edit", [change], why=why, actor=actor)
    return done(transaction, after, event, op="edit", warnings=warnings)


def _given(memory: Memory, places: Iterable[str]) -> list[Anchor]:
    wanted = tuple(places)
    if not wanted:
        return []
    from thunderus_mem.authoring.anchor import given_anchors

    memory.refresh()
    return given_anchors(memory, wanted)


def _edited(
    document: Document,
    sets: Mapping[str, Any],
    add_tags: Iterable[str],
    remove_tags: Iterable[str],
    body: str | None,
) -> str:
    text = document.text
    for key, value in sets.items():
        path, typed = parse_field(key, value)
        text = set_key(text, path, typed)
    for tag in add_tags:
        text = insert_item(text, ("tags",), tag)
    for tag in remove_tags:
        text = remove_item(text, ("tags",), tag)
    if body is not None:
        text = replace_body(text, _framed(document, body))
    return text


def _framed(document: Document, body: str) -> str:
    """A new body with the blank lead of the old one and a final newline."""
    lead = document.body[: len(document.body) - len(document.body.lstrip("\r\n"))]
    content = body.lstrip("\n")
    return lead + (content if content.endswith("\n") or not content else content + "\n")


def _touched(document: Document, text: str, now: str) -> str:
    """The text with ``updated`` moved to now, when title or body changed and the author left it alone. It
    never moves back, whatever the clock says."""
    after = read_document(document.path, text.encode("utf-8", "surrogateescape")).document
    if after is None or after.updated != document.updated:
        return text
    if after.title == document.title and after.body == document.body:
        return text
    if utc_key(now) < utc_key(document.updated):
        return text
    return set_key(text, ("updated",), now)


def _keep_identity(before: Document, after: Document) -> None:
    if (before.id, before.kind) != (after.id, after.kind):
        raise InvalidDocument(
            f"an edit cannot change id or kind ({before.id}, {before.kind})",
            hint="add a new document and `supersede` this one",
        )


def remove(memory: Memory, id: str, *, why: str, actor: str = "user") -> Written:
    """Remove a document; git and the log keep its text. Says which documents still link to it."""
    with open_transaction(memory, "remove") as transaction:
        document = find_document(memory, id, itself=True)
        warnings = left_behind(memory, document.id, document.path)
        change = FileChange(document.id, document.path, document.text, None)
        event = transaction.commit("remove", [change], why=why, actor=actor)
    return done(transaction, document, event, op="remove", warnings=warnings, removed=True)


def supersede(memory: Memory, old: str, new: str, *, why: str, actor: str = "user") -> Written:
    """Say that ``new`` replaces ``old``: the new document gets the link, the old one stays as it is."""
    return _add_link(memory, new, "supersedes", old, why=why, actor=actor, op="supersede")


def link(memory: Memory, a: str, rel: str, b: str, *, why: str = "", actor: str = "user") -> Written:
    """Add a relation from ``a`` to ``b``: derives_from, refers_to, supersedes or duplicates."""
    return _add_link(memory, a, check_relation(rel), b, why=why, actor=actor, op="link")


def _add_link(
    memory: Memory, source: str, relation: str, target: str, *, why: str, actor: str, op: str
) -> Written:
    with open_transaction(memory, op) as transaction:
        document, other = find_document(memory, source), find_document(memory, target)
        if document.id == other.id:
            raise InvalidDocument(f"{document.id} cannot point to itself")
        if relation == "supersedes" and _reaches(memory, other.id, document.id):
            raise InvalidDocument(f"{other.id} already supersedes {document.id}; a circle would follow")
        text = insert_item(document.text, ("links", relation), other.id)
        if text == document.text:
            return unchanged(document, op)
        after, warnings = validate(memory, document.path, text, before=document.text)
        change = FileChange(document.id, document.path, document.text, after.text)
        event = transaction.commit(op, [change], why=why, actor=actor)
    return done(transaction, after, event, op=op, warnings=warnings)


def _reaches(memory: Memory, start: str, goal: str) -> bool:
    """Whether a chain of ``supersedes`` leads from one document to another."""
    replaces: dict[str, list[str]] = {}
    for source, relation, target in memory.index.edges():
        if relation == "supersedes":
            replaces.setdefault(source, []).append(target)
    seen, open_ids = set(), [start]
    while open_ids:
        current = open_ids.pop()
        if current == goal:
            return True
        if current not in seen:
            seen.add(current)
            open_ids.extend(replaces.get(current, ()))
    return False


def note(memory: Memory, text: str, *, refs: Sequence[str] = (), actor: str = "user") -> Noted:
    """Append a note to the log: what happened, without a document. Raises `Refused` for a secret."""
    if not text.strip():
        raise InvalidDocument("an empty note says nothing")
    with open_transaction(memory, "note") as transaction:
        doc_ids = tuple(find_row(memory, ref).id for ref in refs)
        event = transaction.note(text, doc_ids=doc_ids, actor=actor)
    return Noted(event.id, doc_ids)


# The verb `record`: log what people edited by hand now, without waiting for the next command that writes.


class Recorded(NamedTuple):
    """The documents whose edits were recorded, by id, or by path where a file has none."""

    recorded: tuple[str, ...]


def record(memory: Memory, *, accept_loss: bool = False, why: str = "") -> Recorded:
    """Log every edit made by hand that neither an event nor a commit explains; ``why`` is their reason.

    Raises `Refused` when more documents are gone than anybody takes away by hand, unless ``accept_loss``.
    """
    with open_transaction(memory, "record", accept_loss=accept_loss, edited_for=why) as transaction:
        return Recorded(transaction.recorded)


# The verbs `archive` and `unarchive`: documents are set aside, and brought back, byte for byte.

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
    edits: tuple[FileChange, ...]
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
    with open_transaction(memory, op) as transaction:
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
    edits: list[FileChange] = []
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
            edits.append(FileChange(doc_id, path, document.text, None, renames=True))
            edits.append(FileChange(doc_id, target, None, document.text, renames=True))
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
