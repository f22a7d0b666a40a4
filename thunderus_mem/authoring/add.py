"""Add a document: validate the given text completely, then write it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from thunderus_mem.document import templates
from thunderus_mem.document.frontmatter.write import compose
from thunderus_mem.document.ids import file_name
from thunderus_mem.document.paths import archived_path
from thunderus_mem.document.timestamp import format_timestamp
from thunderus_mem.errors import DocumentExists, InvalidDocument
from thunderus_mem.lint.draft import find_duplicates, unknown_fields, validate
from thunderus_mem.log.new_event import Ids
from thunderus_mem.memory.locate import file_names, find_row
from thunderus_mem.memory.transaction import Written, open_transaction, settle
from thunderus_mem.startup import NamedTuple
from thunderus_mem.store.layout import DOCUMENT_FOLDERS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from thunderus_mem.diagnostic import Diagnostic
    from thunderus_mem.document.document import Document
    from thunderus_mem.memory.memory import Memory


class NewDocument(NamedTuple):
    """A document to add, as given by the user.

    ``id`` is derived from the title by default; without ``tags`` the tag is the kind. ``links`` are pairs of
    a relation and a document; ``fields`` are more frontmatter keys; ``state`` is that of a decision;
    ``anchors`` are places in the code.
    """

    kind: str
    title: str
    body: str = ""
    tags: Sequence[str] = ()
    id: str | None = None
    links: Sequence[tuple[str, str]] = ()
    fields: Mapping[str, Any] = {}
    aliases: Sequence[str] = ()
    state: str | None = None
    anchors: Sequence[str] = ()


def add(memory: Memory, new: NewDocument, *, why: str = "", dry_run: bool = False) -> Written:
    """Write a new document and the fingerprints of its anchors.

    Raises `InvalidDocument` (schema, empty body), `Refused` (secret), `DocumentExists` (the id or the same
    text already exists).
    """
    new = _complete(new)
    if not dry_run:
        settle(memory, "add")
    new = _resolved(memory, new)
    if dry_run:
        memory.refresh()
        ids = Ids(memory.new_id("evt"), memory.new_id("patch"))
        document, warnings = _compose(memory, new, ids)
        return Written(document.id, document.path, "add", text=document.text, warnings=warnings, dry_run=True)
    with open_transaction(memory, "add") as transaction:
        ids = transaction.ids()
        document, warnings = _compose(memory, new, ids)
        return transaction.write("add", None, document, why=why, ids=ids, warnings=warnings)


def _complete(new: NewDocument) -> NewDocument:
    """Normalize the input and add the section that a decision needs. Raises `InvalidDocument`."""
    templates.check_kind(new.kind)
    title, body = " ".join(new.title.split()), new.body
    tags = tuple(tag for tag in new.tags if tag.strip()) or (new.kind,)
    if not title:
        raise InvalidDocument("the title is empty")
    if new.kind == "adr":
        new, body = _with_state(new)
    elif new.state is not None:
        raise InvalidDocument(f"kind {new.kind!r} has no state; only 'adr' does")
    if not body.strip():
        raise InvalidDocument("the body is empty", hint="use --body TEXT, --body - (stdin) or --body @FILE")
    return new._replace(title=title, tags=tags, body=body)


def _with_state(new: NewDocument) -> tuple[NewDocument, str]:
    """A decision without the field ``state``, and its body with the state, unless its frontmatter has it."""
    from thunderus_mem.document.state import body_with_state, check_state, status_texts

    fields = {key: value for key, value in new.fields.items() if key != "state"}
    state = new.state or new.fields.get("state")
    if state is not None and "status" in fields:
        fields["status"] = check_state(state)
    if "status" in fields or (state is None and status_texts(new.body)):
        return new._replace(fields=fields), new.body
    return new._replace(fields=fields), body_with_state(new.body, state or "accepted")


def _resolved(memory: Memory, new: NewDocument) -> NewDocument:
    """Choose the id, resolve the linked documents, and compute the fingerprints of the anchors."""
    id = templates.choose_id(new.kind, new.title, new.id)
    links = [(relation, find_row(memory, target).id) for relation, target in new.links]
    fields = _nested(new.fields)
    if new.anchors:
        from thunderus_mem.authoring.anchor import given_anchors

        found = {anchor.place: anchor for anchor in given_anchors(memory, new.anchors)}
        fields["anchors"] = [anchor.item for anchor in sorted(found.values())]
    return new._replace(id=id, links=links, fields=fields)


def _compose(memory: Memory, new: NewDocument, ids: Ids) -> tuple[Document, tuple[Diagnostic, ...]]:
    folder = DOCUMENT_FOLDERS[new.kind]
    id = new.id or ""
    taken = next(filter(None, map(memory.index.get, (id, *memory.index.ids_like(id)))), None)
    if taken is not None:
        raise DocumentExists(
            f"{taken.id!r} already exists in {taken.path}",
            hint=f"change it with `thunderus-mem edit {taken.id}`, or choose another id with --id",
        )
    # Numbers of archived decisions are not reused.
    places = [os.path.join(memory.root, one) for one in (folder, archived_path(folder))]
    names = [name for place in places for name in file_names(place)]
    path = f"{folder}/{file_name(id, new.kind, names)}"
    optional = {"links": templates.link_map(new.links), "aliases": list(dict.fromkeys(new.aliases))}
    header = templates.new_header(
        id,
        new.title,
        new.kind,
        tags=new.tags,
        now=format_timestamp(memory.now()),
        event_id=ids.event,
        patch_id=ids.patch,
        fields={**{key: value for key, value in optional.items() if value}, **new.fields},
    )
    body = new.body if new.body.endswith("\n") else new.body + "\n"
    document, warnings = validate(memory, path, compose(header, "\n" + body.lstrip("\n")))
    unknown = unknown_fields(document)
    return document, (*warnings, *unknown, *find_duplicates(memory, document))


def _nested(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Nest fields as in the frontmatter: ``metadata.a`` and ``metadata.b`` share one mapping."""
    found: dict[str, Any] = {}
    for key, given in fields.items():
        path, value = templates.parse_field(key, given)
        place = found
        for part in path[:-1]:
            place = place.setdefault(part, {})
            if not isinstance(place, dict):
                raise InvalidDocument(f"cannot set {key!r}: its parent key already has a value")
        place[path[-1]] = value
    return found


def template(kind: str, title: str, *, state: str | None = None) -> str:
    """The initial body in the editor for a new document of ``kind``."""
    if state is None:
        return templates.skeleton(kind, title)
    from thunderus_mem.document.state import check_state

    return templates.skeleton(kind, title, state=check_state(state))
