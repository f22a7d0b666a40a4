"""The verb `add`: a new document, looked at from all sides before it is written."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, NamedTuple

from thunderus_mem.document.frontmatter.write import compose
from thunderus_mem.document.paths import archived_path
from thunderus_mem.document.templates import (
    adr_status,
    check_kind,
    choose_id,
    file_name,
    link_map,
    new_header,
    parse_field,
    skeleton,
    with_status_section,
)
from thunderus_mem.document.timestamp import format_timestamp
from thunderus_mem.errors import DocumentExists, InvalidDocument
from thunderus_mem.lint.validate import find_duplicates, validate
from thunderus_mem.log.new_event import Ids
from thunderus_mem.memory.journal import FileChange
from thunderus_mem.memory.locate import find_row
from thunderus_mem.memory.transaction import Written, done, open_transaction, settle

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from thunderus_mem.diagnostic import Diagnostic
    from thunderus_mem.document.document import Document
    from thunderus_mem.memory.memory import Memory


def add(
    memory: Memory,
    kind: str,
    title: str,
    *,
    body: str,
    tags: Iterable[str] = (),
    id: str | None = None,
    links: Iterable[tuple[str, str]] = (),
    fields: Mapping[str, Any] | None = None,
    aliases: Iterable[str] = (),
    status: str | None = None,
    anchors: Iterable[str] = (),
    why: str = "",
    dry_run: bool = False,
    actor: str = "user",
) -> Written:
    """Write a new document.

    ``anchors`` are places in the code it talks about; their fingerprints are taken.
    Raises `InvalidDocument` (schema, no tag, empty body), `Refused` (secret), `DocumentExists` (id taken, or
    the same text is known already).
    """
    check_kind(kind)
    title, tag_list = " ".join(title.split()), given_tags(tags)
    if not title:
        raise InvalidDocument("a document needs a title")
    if kind == "adr":
        body = with_status_section(body, adr_status(status or "Accepted"))
    elif status is not None:
        raise InvalidDocument(f"only an adr has a status, not a {kind}")
    if not body.strip():
        raise InvalidDocument("the body is empty", hint="give --body TEXT, --body - (stdin) or --body @FILE")
    if not dry_run:
        settle(memory, "add")
    draft = _Draft(kind, title, choose_id(kind, title, id), tag_list, body, tuple(aliases))
    relations, extra = _resolved_links(memory, links), _fields(fields or {})
    if places := tuple(anchors):
        extra["anchors"] = _anchors(memory, places)

    def composed(ids: Ids) -> tuple[Document, tuple[Diagnostic, ...]]:
        return _compose(memory, draft, ids, relations, extra)

    if dry_run:
        memory.refresh()
        document, warnings = composed(Ids(memory.new_id("evt"), memory.new_id("patch")))
        return Written(document.id, document.path, "add", text=document.text, warnings=warnings, dry_run=True)
    with open_transaction(memory, "add") as transaction:
        ids = transaction.ids()
        document, warnings = composed(ids)
        edit = FileChange(document.id, document.path, None, document.text)
        event = transaction.commit("add", [edit], why=why, actor=actor, ids=ids)
    return done(transaction, document, event, op="add", warnings=warnings)


def _anchors(memory: Memory, places: tuple[str, ...]) -> list[dict[str, str]]:
    from thunderus_mem.authoring.anchor import given_anchors

    found = {anchor.place: anchor for anchor in given_anchors(memory, places)}
    return [anchor.item for anchor in sorted(found.values())]


def given_tags(tags: Iterable[str]) -> tuple[str, ...]:
    """The tags of a new document. Raises `InvalidDocument` when there is none."""
    found = tuple(tag for tag in tags if tag.strip())
    if not found:
        raise InvalidDocument(
            "a document needs at least one tag: Thunderus refuses documents without", hint="add --tag WORD"
        )
    return found


class _Draft(NamedTuple):
    kind: str
    title: str
    id: str
    tags: tuple[str, ...]
    body: str
    aliases: tuple[str, ...]


def _compose(
    memory: Memory, draft: _Draft, ids: Ids, links: dict[str, list[str]], fields: Mapping[str, Any]
) -> tuple[Document, tuple[Diagnostic, ...]]:
    folder = memory.layout.folder_of(draft.kind)
    taken = memory.index.get(draft.id)
    if taken is not None:
        raise DocumentExists(
            f"{draft.id} exists already, in {taken.path}",
            hint=f"`thunderus-mem edit {taken.id}` changes it; --id chooses another id",
        )
    # An archived decision keeps its number.
    places = [os.path.join(memory.root, one) for one in (folder, archived_path(folder))]
    names = [name for place in places for name in _names(place)]
    path = f"{folder}/{file_name(draft.id, draft.kind, names)}"
    aliases = list(dict.fromkeys(draft.aliases))
    header = new_header(
        draft.id,
        draft.title,
        draft.kind,
        tags=draft.tags,
        now=format_timestamp(memory.now()),
        event_id=ids.event,
        patch_id=ids.patch,
        fields={**({"links": links} if links else {}), **({"aliases": aliases} if aliases else {}), **fields},
    )
    body = draft.body if draft.body.endswith("\n") else draft.body + "\n"
    document, warnings = validate(memory, path, compose(header, "\n" + body.lstrip("\n")))
    return document, (*warnings, *find_duplicates(memory, document))


def _names(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except FileNotFoundError:
        return []


def _resolved_links(memory: Memory, links: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    return link_map([(relation, find_row(memory, target).id) for relation, target in links])


def _fields(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Fields as a header nests them: ``metadata.a`` and ``metadata.b`` share one mapping."""
    found: dict[str, Any] = {}
    for key, given in fields.items():
        path, value = parse_field(key, given)
        place = found
        for part in path[:-1]:
            place = place.setdefault(part, {})
            if not isinstance(place, dict):
                raise InvalidDocument(f"{key!r} stands below a key that has a value of its own")
        place[path[-1]] = value
    return found


def template(kind: str, title: str, *, status: str | None = None) -> str:
    """The body an editor opens with for a new document of ``kind``."""
    return skeleton(kind, title, status=adr_status(status or "Accepted"))
