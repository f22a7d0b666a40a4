"""The verbs that change what is there: edit, remove, supersede, link; and note."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from thunderus_mem.model.composing import check_relation, parse_field
from thunderus_mem.model.document import Document, read_document
from thunderus_mem.model.edit import insert_item, remove_item, replace_body, set_key
from thunderus_mem.model.errors import Conflict, InvalidDocument
from thunderus_mem.model.timestamp import format_timestamp, utc_key
from thunderus_mem.store.edits import Edit
from thunderus_mem.verbs.checking import checked
from thunderus_mem.verbs.locating import find_document, find_row
from thunderus_mem.verbs.written import Written, done, unchanged

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from thunderus_mem.memory import Memory
    from thunderus_mem.model.anchor import Anchor
    from thunderus_mem.model.diagnostic import Diagnostic


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
    with memory.writing("edit") as transaction:
        document = find_document(memory, id)
        if expecting is not None and document.hash != expecting:
            read, found = (one.removeprefix("sha256:")[:8] for one in (expecting, document.hash))
            raise Conflict(
                f"{document.id} was changed meanwhile: {read} was read, {found} is there",
                hint="read it again and repeat the edit",
            )
        edited = text if text is not None else _edited(document, sets or {}, add_tags, remove_tags, body)
        if places:
            from thunderus_mem.verbs.anchoring import cited_of, text_with_anchors

            edited = text_with_anchors(edited, cited_of(document), places)
        edited = _touched(document, edited, format_timestamp(memory.now()))
        if edited == document.text:
            return unchanged(document, "edit")
        after, warnings = checked(memory, document.path, edited, before=document.text)
        _keep_identity(document, after)
        change = Edit(document.id, document.path, document.text, after.text)
        event = transaction.commit("edit", [change], why=why, actor=actor)
    return done(transaction, after, event, op="edit", warnings=warnings)


def _given(memory: Memory, places: Iterable[str]) -> list[Anchor]:
    wanted = tuple(places)
    if not wanted:
        return []
    from thunderus_mem.verbs.anchoring import given_anchors

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
    with memory.writing("remove") as transaction:
        document = find_document(memory, id, itself=True)
        warnings = left_behind(memory, document.id, document.path)
        change = Edit(document.id, document.path, document.text, None)
        event = transaction.commit("remove", [change], why=why, actor=actor)
    return done(transaction, document, event, op="remove", warnings=warnings, removed=True)


def left_behind(memory: Memory, doc_id: str, path: str) -> tuple[Diagnostic, ...]:
    """Warnings for documents that link to the one of this id and path, which goes away."""
    from thunderus_mem.model.diagnostic import Diagnostic, Severity

    sources = [source for source, _, target in memory.index.edges_of(doc_id) if target == doc_id]
    return tuple(
        Diagnostic("TM201", Severity.WARNING, path, 0, 0, f"{source} still links to {doc_id}.")
        for source in sorted(set(sources))
    )


def supersede(memory: Memory, old: str, new: str, *, why: str, actor: str = "user") -> Written:
    """Say that ``new`` replaces ``old``: the new document gets the link, the old one stays as it is."""
    return _add_link(memory, new, "supersedes", old, why=why, actor=actor, op="supersede")


def link(memory: Memory, a: str, rel: str, b: str, *, why: str = "", actor: str = "user") -> Written:
    """Add a relation from ``a`` to ``b``: derives_from, refers_to, supersedes or duplicates."""
    return _add_link(memory, a, check_relation(rel), b, why=why, actor=actor, op="link")


def _add_link(
    memory: Memory, source: str, relation: str, target: str, *, why: str, actor: str, op: str
) -> Written:
    with memory.writing(op) as transaction:
        document, other = find_document(memory, source), find_document(memory, target)
        if document.id == other.id:
            raise InvalidDocument(f"{document.id} cannot point to itself")
        if relation == "supersedes" and _reaches(memory, other.id, document.id):
            raise InvalidDocument(f"{other.id} already supersedes {document.id}; a circle would follow")
        text = insert_item(document.text, ("links", relation), other.id)
        if text == document.text:
            return unchanged(document, op)
        after, warnings = checked(memory, document.path, text, before=document.text)
        change = Edit(document.id, document.path, document.text, after.text)
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
    with memory.writing("note") as transaction:
        doc_ids = tuple(find_row(memory, ref).id for ref in refs)
        event = transaction.note(text, doc_ids=doc_ids, actor=actor)
    return Noted(event.id, doc_ids)
