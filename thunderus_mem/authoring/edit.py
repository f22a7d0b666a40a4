"""Change documents: edit, remove, supersede, link, archive; and write only to the log: note, record.

Archiving and unarchiving keep documents byte for byte. Everything is written through a transaction.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from thunderus_mem.document.document import Document, read_document
from thunderus_mem.document.frontmatter.edit import insert_item, remove_item, replace_body, set_key
from thunderus_mem.document.ids import hash_prefix
from thunderus_mem.document.paths import archived_path, is_archived, live_path
from thunderus_mem.document.references import rebased_text
from thunderus_mem.document.templates import check_relation, parse_field
from thunderus_mem.document.timestamp import format_timestamp, utc_key
from thunderus_mem.errors import Conflict, DocumentExists, InvalidDocument
from thunderus_mem.lint.draft import unknown_fields, validate
from thunderus_mem.memory import locate
from thunderus_mem.memory.hand_edits import never_logged
from thunderus_mem.memory.journal import FileChange
from thunderus_mem.memory.transaction import Written, open_transaction, unchanged
from thunderus_mem.startup import NamedTuple
from thunderus_mem.store.paths import kind_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from thunderus_mem.memory.memory import Memory


class DocumentEdits(NamedTuple):
    """Changes to a document: keys, tags, its body, or the whole ``text`` from an editor.

    ``anchors`` are places in the code to add. ``expecting`` is the hash of the text that the editor has read.
    """

    sets: Mapping[str, Any] = {}
    add_tags: Sequence[str] = ()
    remove_tags: Sequence[str] = ()
    anchors: Sequence[str] = ()
    body: str | None = None
    text: str | None = None
    expecting: str | None = None


def edit(memory: Memory, id: str, edits: DocumentEdits, *, why: str = "") -> Written:
    """Change a document; new anchors get the fingerprints of the current code.

    ``updated`` changes only with title or body. Raises `Conflict` if the file does not have the expected
    hash.
    """
    places = []
    if edits.anchors:
        from thunderus_mem.authoring.anchor import cited_of, given_anchors, text_with_anchors

        memory.refresh()
        places = given_anchors(memory, edits.anchors)
    with open_transaction(memory, "edit") as transaction:
        document = locate.find_document(memory, id)
        # A prefix is enough, as for commits: `show --json` prints a short hash.
        if edits.expecting is not None and hash_prefix(edits.expecting) != hash_prefix(document.hash):
            read, found = hash_prefix(edits.expecting), hash_prefix(document.hash)
            raise Conflict(
                f"{document.id!r} has changed in the meantime: expected hash {read}, found {found}",
                hint=f"get the new hash with `thunderus-mem show --json {document.id}`, then retry",
            )
        text = edits.text if edits.text is not None else _edited(document, edits)
        if places:
            text = text_with_anchors(text, cited_of(document), places)
        text = _touched(document, text, format_timestamp(memory.now()))
        if text == document.text:
            return unchanged(document, "edit")
        after, warnings = validate(memory, document.path, text, before=document.text)
        _check_identity(document, after)
        warnings = (*warnings, *unknown_fields(after, document))
        return transaction.write("edit", document, after, why=why, warnings=warnings)


def _edited(document: Document, edits: DocumentEdits) -> str:
    text = document.text
    for key, value in edits.sets.items():
        if (key, document.kind) == ("state", "adr"):
            continue
        path, typed = parse_field(key, value)
        text = set_key(text, path, typed)
    for tag in edits.add_tags:
        text = insert_item(text, ("tags",), tag)
    for tag in edits.remove_tags:
        text = remove_item(text, ("tags",), tag)
    if edits.body is not None:
        text = replace_body(text, _framed(document, edits.body))
    return _with_state(document, text, edits.sets["state"]) if "state" in edits.sets else text


def _with_state(document: Document, text: str, state: str) -> str:
    """The edited text of a decision with another state; for other kinds ``state`` is a field like any."""
    if document.kind != "adr":
        return text
    from thunderus_mem.document.state import with_state

    edited = read_document(document.path, text.encode("utf-8", "surrogateescape")).document
    return with_state(edited, state) if edited is not None else text


def _framed(document: Document, body: str) -> str:
    """A new body with the leading blank lines of the old one and a final newline."""
    lead = document.body[: len(document.body) - len(document.body.lstrip("\r\n"))]
    content = body.lstrip("\n")
    return lead + (content if content.endswith("\n") or not content else content + "\n")


def _touched(document: Document, text: str, now: str) -> str:
    """Set ``updated`` to now if title or body changed and the author did not set it. It never moves back,
    whatever the clock says."""
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
            f"an edit cannot change the id or kind ({before.id}, {before.kind})",
            hint="change the id with `rename`; for another kind, add a new document and `supersede` this one",
        )


def remove(memory: Memory, id: str, *, why: str) -> Written:
    """Remove a document; git and the log keep its text. Warns about documents that still link to it."""
    with open_transaction(memory, "remove") as transaction:
        document = locate.find_document(memory, id, itself=True)
        warnings = locate.left_behind(memory, {document.id: document.path})
        return transaction.write("remove", document, None, why=why, warnings=warnings)


def supersede(memory: Memory, old: str, new: str, *, why: str) -> tuple[Written, str]:
    """Record that ``new`` supersedes ``old``: the new document gets the link, the old one is unchanged.

    The event names both. Return also the id of the old document.
    """
    return _add_link(memory, new, "supersedes", old, why=why, op="supersede")


def link(memory: Memory, a: str, rel: str, b: str, *, why: str = "") -> Written:
    """Add a relation from ``a`` to ``b``: derives_from, refers_to, supersedes or duplicates."""
    return _add_link(memory, a, check_relation(rel), b, why=why, op="link")[0]


def _add_link(
    memory: Memory, source: str, relation: str, target: str, *, why: str, op: str
) -> tuple[Written, str]:
    """Add a relation; return the result and the id of the target."""
    with open_transaction(memory, op) as transaction:
        document, other = locate.find_document(memory, source), locate.find_document(memory, target)
        if document.id == other.id:
            verb = "supersede" if op == "supersede" else "link to"
            raise InvalidDocument(
                f"{document.id!r} cannot {verb} itself", hint="pass two different documents"
            )
        if relation == "supersedes" and _reaches(memory, other.id, document.id):
            raise InvalidDocument(
                f"{other.id!r} already supersedes {document.id!r}; this would create a cycle"
            )
        text = insert_item(document.text, ("links", relation), other.id)
        if text == document.text:
            return unchanged(document, op), other.id
        after, warnings = validate(memory, document.path, text, before=document.text)
        about = (other.id,) if op == "supersede" else ()
        value = transaction.write(op, document, after, why=why, about=about, warnings=warnings)
        return value, other.id


def _reaches(memory: Memory, start: str, goal: str) -> bool:
    """Whether one document supersedes another, directly or through others."""
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


class Recorded(NamedTuple):
    """The documents whose edits were recorded, by id, or by path if a file has no id; and the files whose
    edits are never logged, because the name may contain a secret."""

    recorded: tuple[str, ...]
    not_logged: tuple[str, ...] = ()


def record(memory: Memory, *, accept_loss: bool = False, why: str = "") -> Recorded:
    """Record hand edits that are in no event and no commit; ``why`` is their reason.

    Raises `Refused` if suspiciously many documents were deleted, unless ``accept_loss``.
    """
    with open_transaction(memory, "events record", accept_loss=accept_loss, edited_for=why) as transaction:
        return Recorded(transaction.outcome.recorded, never_logged(memory))


# Archive and unarchive


_ARCHIVE, _UNARCHIVE = "archive", "unarchive"


class MovedDocument(NamedTuple):
    """A moved document and its old path."""

    id: str
    path: str
    old_path: str


class Archived(NamedTuple):
    """The result of archiving or unarchiving (``op``), one event; ``kept`` are ids that were already there.

    ``published`` is false if the event is on disk but a file is not yet; the next command writes it.
    """

    op: str
    documents: tuple[MovedDocument, ...]
    kept: tuple[str, ...] = ()
    event_id: str = ""
    recorded: tuple[str, ...] = ()
    published: bool = True


def archive(memory: Memory, ids: Sequence[str], *, why: str = "") -> Archived:
    """Move documents to the archive, all in one event; of their texts only links of imported ones change.

    They keep their ids: links still resolve and `show` finds them; search and list do with ``archived``.
    Raises `InvalidDocument` for a core document, `DocumentExists` if the archive already has a file of that
    name or another document with that id.
    """
    return _move(memory, _ARCHIVE, ids, why)


def unarchive(memory: Memory, ids: Sequence[str], *, why: str = "") -> Archived:
    """Move archived documents back to their original paths, all in one event.

    Raises `DocumentExists` if a document in use has the same id or path.
    """
    return _move(memory, _UNARCHIVE, ids, why)


def _move(memory: Memory, op: str, ids: Sequence[str], why: str) -> Archived:
    with open_transaction(memory, op) as transaction:
        changes, archived = _planned(memory, op, ids)
        if not changes:
            return archived
        transaction.commit(op, changes, why=why)
        done = transaction.outcome
        return archived._replace(event_id=done.event_id, recorded=done.recorded, published=done.published)


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
            changes += FileChange.move(
                doc_id, path, document.text, target, new_text=rebased_text(document, target)
            )
    return changes, Archived(op, tuple(moved.values()), tuple(dict.fromkeys(kept)))


def _chosen(memory: Memory, given: str, op: str) -> tuple[str, str]:
    """The id and file to move: of two files with the same id the given one, otherwise the movable one."""
    row = locate.find_row(memory, given, itself=True)
    paths = memory.index.paths_of(row.id)
    named = locate.stored_path(memory, given)
    if named in paths:
        return row.id, named
    movable = [path for path in paths if is_archived(path) == (op == _UNARCHIVE)]
    if len(movable) > 1:
        raise InvalidDocument(
            f"ambiguous: {len(movable)} files have the id {row.id!r}",
            hint=f"give the path of one: {', '.join(movable)}",
        )
    return row.id, movable[0] if movable else row.path


def _check_target(memory: Memory, document: Document, target: str) -> None:
    """Raise if the document cannot be moved to ``target``."""
    if archived_path(document.path) == target and kind_of(target) is None:
        raise InvalidDocument(
            f"{document.id!r} is a core document and cannot be archived",
            hint="shorten it, or move parts of it into a fact",
        )
    others = [path for path in memory.index.paths_of(document.id) if path != document.path]
    taken = [path for path in others if is_archived(path) == is_archived(target)]
    if taken:
        raise DocumentExists(
            f"{taken[0]} already has the id {document.id!r}",
            hint="change one of the ids (`thunderus-mem rename`), or remove one of the files",
        )
    locate.check_free(memory, target, "rename or remove that file first")
