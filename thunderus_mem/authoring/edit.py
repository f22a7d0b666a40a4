"""Change what is there: edit, remove, supersede, link, archive; and what only the log gets: note, record.

Archived documents are set aside, and brought back, byte for byte. All is written through a transaction.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from thunderus_mem.authoring.anchor import cited_of, given_anchors, text_with_anchors
from thunderus_mem.document.document import Document, read_document
from thunderus_mem.document.frontmatter.edit import insert_item, remove_item, replace_body, set_key
from thunderus_mem.document.paths import archived_path, is_archived, live_path
from thunderus_mem.document.templates import check_relation, parse_field
from thunderus_mem.document.timestamp import format_timestamp, utc_key
from thunderus_mem.errors import Conflict, DocumentExists, InvalidDocument
from thunderus_mem.lint.runner import validate
from thunderus_mem.memory import locate
from thunderus_mem.memory.journal import FileChange
from thunderus_mem.memory.transaction import Written, open_transaction, unchanged
from thunderus_mem.store.paths import kind_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from thunderus_mem.memory.memory import Memory


class DocumentEdits(NamedTuple):
    """What to change in a document: keys, tags, its body, or the whole ``text`` as an editor left it.

    ``anchors`` are places in the code it talks about from now on. ``expecting`` is the hash that whoever
    edits has read.
    """

    sets: Mapping[str, Any] = {}
    add_tags: Sequence[str] = ()
    remove_tags: Sequence[str] = ()
    anchors: Sequence[str] = ()
    body: str | None = None
    text: str | None = None
    expecting: str | None = None


def edit(memory: Memory, id: str, edits: DocumentEdits, *, why: str = "", actor: str = "user") -> Written:
    """Change a document; the fingerprints of new anchors are taken.

    ``updated`` moves only when title or body do. Raises `Conflict` when the file has another hash than the
    one expected.
    """
    places = []
    if edits.anchors:
        memory.refresh()
        places = given_anchors(memory, edits.anchors)
    with open_transaction(memory, "edit") as transaction:
        document = locate.find_document(memory, id)
        if edits.expecting is not None and document.hash != edits.expecting:
            read, found = (one.removeprefix("sha256:")[:8] for one in (edits.expecting, document.hash))
            raise Conflict(
                f"{document.id} was changed meanwhile: {read} was read, {found} is there",
                hint="read it again and repeat the edit",
            )
        text = edits.text if edits.text is not None else _edited(document, edits)
        if places:
            text = text_with_anchors(text, cited_of(document), places)
        text = _touched(document, text, format_timestamp(memory.now()))
        if text == document.text:
            return unchanged(document, "edit")
        after, warnings = validate(memory, document.path, text, before=document.text)
        _check_identity(document, after)
        return transaction.write("edit", document, after, why=why, actor=actor, warnings=warnings)


def _edited(document: Document, edits: DocumentEdits) -> str:
    text = document.text
    for key, value in edits.sets.items():
        path, typed = parse_field(key, value)
        text = set_key(text, path, typed)
    for tag in edits.add_tags:
        text = insert_item(text, ("tags",), tag)
    for tag in edits.remove_tags:
        text = remove_item(text, ("tags",), tag)
    if edits.body is not None:
        text = replace_body(text, _framed(document, edits.body))
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


def _check_identity(before: Document, after: Document) -> None:
    if (before.id, before.kind) != (after.id, after.kind):
        raise InvalidDocument(
            f"an edit cannot change id or kind ({before.id}, {before.kind})",
            hint="add a new document and `supersede` this one",
        )


def remove(memory: Memory, id: str, *, why: str, actor: str = "user") -> Written:
    """Remove a document; git and the log keep its text. Says which documents still link to it."""
    with open_transaction(memory, "remove") as transaction:
        document = locate.find_document(memory, id, itself=True)
        warnings = locate.left_behind(memory, document.id, document.path)
        return transaction.write("remove", document, None, why=why, actor=actor, warnings=warnings)


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
        document, other = locate.find_document(memory, source), locate.find_document(memory, target)
        if document.id == other.id:
            raise InvalidDocument(f"{document.id} cannot point to itself")
        if relation == "supersedes" and _reaches(memory, other.id, document.id):
            raise InvalidDocument(f"{other.id} already supersedes {document.id}; a circle would follow")
        text = insert_item(document.text, ("links", relation), other.id)
        if text == document.text:
            return unchanged(document, op)
        after, warnings = validate(memory, document.path, text, before=document.text)
        return transaction.write(op, document, after, why=why, actor=actor, warnings=warnings)


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


class Noted(NamedTuple):
    """A note in the log."""

    event_id: str
    refs: tuple[str, ...]


def note(memory: Memory, text: str, *, refs: Sequence[str] = (), actor: str = "user") -> Noted:
    """Append a note to the log: what happened, without a document. Raises `Refused` for a secret."""
    if not text.strip():
        raise InvalidDocument("an empty note says nothing")
    with open_transaction(memory, "note") as transaction:
        doc_ids = tuple(locate.find_row(memory, ref).id for ref in refs)
        return Noted(transaction.note(text, doc_ids, actor=actor), doc_ids)


class Recorded(NamedTuple):
    """The documents whose edits were recorded, by id, or by path where a file has none."""

    recorded: tuple[str, ...]


def record(memory: Memory, *, accept_loss: bool = False, why: str = "") -> Recorded:
    """Log every edit made by hand that neither an event nor a commit explains; ``why`` is their reason.

    Raises `Refused` when more documents are gone than anybody takes away by hand, unless ``accept_loss``.
    """
    with open_transaction(memory, "record", accept_loss=accept_loss, edited_for=why) as transaction:
        return Recorded(transaction.outcome.recorded)


# Archive and unarchive


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
            document = locate.document_in(memory, path, doc_id)
            _check_target(memory, document, target)
            moved[path] = MovedDocument(doc_id, target, path)
            changes += FileChange.move(doc_id, path, document.text, target)
    return changes, Archived(op, tuple(moved.values()), tuple(dict.fromkeys(kept)))


def _chosen(memory: Memory, given: str, op: str) -> tuple[str, str]:
    """The id and the file that are meant: of two files with one id the one named, else the one to move."""
    row = locate.find_row(memory, given, itself=True)
    paths = memory.index.paths_of(row.id)
    named = locate.stored_path(memory, given)
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
    if archived_path(document.path) == target and kind_of(target) is None:
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
    locate.check_free(memory, target, "rename or remove that file first")
