"""Events: what happened to the memory. Makes them and reads what they say; the line is `event_line`'s."""

from __future__ import annotations

import hashlib
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from thunderus_mem.document.ulid import encode_ulid
from thunderus_mem.log.line import ACTORS, KINDS, Event, encode, encoded_size

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

HAND_EDIT: Final = "hand-edit"
PATCH_OPS: Final = (
    *("add", "edit", "remove", "rename", "supersede", "link", "import", "garden", "recap"),
    *("archive", "unarchive"),
    *("undo", "migrate", "resolve", "anchor", "verify", HAND_EDIT, "aborted"),
)
MAX_RECORD: Final = 64 * 1024
"""Bytes a patch event should stay under; diffs are left out, longest first, until it does."""


class Change(NamedTuple):
    """What an event did to one document.

    ``op`` is create, update, remove, rename or aborted. ``before`` and ``after`` are content hashes, "" where
    there was no file.
    ``diff`` is a unified diff; ``None`` when there is nothing to show or, with ``diff_omitted``, when it
    was too long to log. ``mode`` are the permissions of a file that went away, in octal digits; "" for the
    usual ones.
    """

    op: str
    doc_id: str
    path: str
    before: str
    after: str
    diff: str | None = None
    diff_omitted: bool = False
    mode: str = ""


class EventContext(NamedTuple):
    """What all events of a transaction share: when and in which session they are made, and who makes them.

    ``prev`` is the hash of the line before, ``head`` of the newest line when the session began.
    """

    ts: str
    session_id: str
    prev: str | None = None
    head: str | None = None
    origin: Mapping[str, Any] = MappingProxyType({})


class Ids(NamedTuple):
    """Ids of an event to come, known before it is written so that a document can cite it."""

    event: str
    patch: str


class PatchLinks(NamedTuple):
    """What a patch speaks of besides its changes: the events it takes back, further documents, private events
    that its documents were made from, and the snapshot that it follows."""

    undoes: Sequence[str] = ()
    about: Sequence[str] = ()
    private: Sequence[str] = ()
    snapshot: str = ""


NO_LINKS: Final = PatchLinks()


def make_event(
    context: EventContext,
    kind: str,
    body: dict[str, Any],
    *,
    id: str,
    actor: str,
    refs: Mapping[str, Any] | None = None,
    why: str = "",
) -> Event:
    """An event of any kind. ``refs``: ``paths``, ``patch_id``, ``snapshot_id``, ``memory_doc_ids``."""
    if actor not in ACTORS:
        raise ValueError(f'"{actor}" is not an actor ({", ".join(ACTORS)})')
    if kind not in KINDS:
        raise ValueError(f'"{kind}" is not a kind of event ({", ".join(KINDS)})')
    return Event(
        id=id,
        ts=context.ts,
        session_id=context.session_id,
        actor=actor,
        kind=kind,
        refs={"paths": [], "memory_doc_ids": [], **(refs or {})},
        body=body,
        prev=context.prev,
        head=context.head,
        origin=dict(context.origin),
        why=why,
    )


def _change_data(change: Change) -> dict[str, Any]:
    return {
        "op": change.op,
        "doc_id": change.doc_id,
        "path": change.path,
        "before": change.before,
        "after": change.after,
        "diff": change.diff,
        "diff_omitted": change.diff_omitted,
        **({"mode": change.mode} if change.mode else {}),
    }


def _distinct(values: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(value for value in values if value))


def _without_longest_diffs(changes: Sequence[Change], room: int) -> list[Change]:
    """The changes with so many diffs left out, the longest first, that the others fit into ``room``."""
    sizes = {at: encoded_size(change.diff) for at, change in enumerate(changes) if change.diff}
    kept, total = list(changes), sum(sizes.values())
    for at in sorted(sizes, key=lambda at: (-sizes[at], at)):
        if total <= room:
            break
        kept[at] = changes[at]._replace(diff=None, diff_omitted=True)
        total -= sizes[at]
    return kept


def patch_event(
    context: EventContext,
    ids: Ids,
    op: str,
    changes: Sequence[Change],
    *,
    actor: str,
    why: str = "",
    links: PatchLinks = NO_LINKS,
) -> Event:
    """A ``patch`` event: ``op`` is one of `PATCH_OPS`; its body lists the changes in the order given.

    When the line would be longer than `MAX_RECORD`, diffs are left out, the longest first; hashes stay.
    """
    if op not in PATCH_OPS:
        raise ValueError(f'"{op}" is not a kind of patch ({", ".join(PATCH_OPS)})')
    taken_back = {"undoes": list(links.undoes)} if links.undoes else {}
    not_shared = {"private": list(links.private)} if links.private else {}
    refs = {
        "paths": _distinct(change.path for change in changes),
        "patch_id": ids.patch,
        **({"snapshot_id": links.snapshot} if links.snapshot else {}),
        "memory_doc_ids": _distinct([*(change.doc_id for change in changes), *links.about]),
    }

    def made(kept: Iterable[Change]) -> Event:
        listed = [_change_data(change) for change in kept]
        body = {"op": op, **taken_back, **not_shared, "changes": listed}
        return make_event(context, "patch", body, id=ids.event, actor=actor, refs=refs, why=why)

    bare = len(encode(made(change._replace(diff=None) for change in changes)))
    return made(_without_longest_diffs(changes, MAX_RECORD - bare))


def note_event(
    context: EventContext, text: str, *, id: str, actor: str, doc_ids: Sequence[str] = (), why: str = ""
) -> Event:
    """A ``note`` event: a remark, maybe about documents."""
    refs = {"paths": [], "memory_doc_ids": _distinct(doc_ids)}
    return make_event(context, "note", {"text": text}, id=id, actor=actor, refs=refs, why=why)


def hand_edit_id(doc_id: str, before: str, after: str) -> str:
    """The id of an edit made by hand: the same document and hashes give the same id in every working tree."""
    digest = hashlib.sha256("\0".join(("hand-edit", doc_id, before, after)).encode()).digest()
    return "evt_" + encode_ulid(int.from_bytes(digest[:6]), int.from_bytes(digest[6:16]))


def changes_of(event: Event) -> tuple[Change, ...]:
    """The changes a ``patch`` event lists; malformed ones are left out, other kinds have none."""
    listed = event.body.get("changes") if event.kind == "patch" else None
    found = []
    for data in listed if isinstance(listed, list) else ():
        if not isinstance(data, dict):
            continue
        op, doc_id, path, before, after = (
            data.get(key) or "" for key in ("op", "doc_id", "path", "before", "after")
        )
        if all(isinstance(text, str) for text in (op, doc_id, path, before, after)):
            diff, mode = (data.get(key) for key in ("diff", "mode"))
            omitted = data.get("diff_omitted") is True
            kept = diff if isinstance(diff, str) else None
            known = mode if isinstance(mode, str) else ""
            found.append(Change(op, doc_id, path, before, after, kept, omitted, known))
    return tuple(found)


def undone_by(event: Event) -> tuple[str, ...]:
    """Ids of the events whose changes this event took back; none for any other event."""
    named = event.body.get("undoes") if event.kind == "patch" else None
    return tuple(id for id in named if isinstance(id, str)) if isinstance(named, list) else ()


def private_to(event: Event) -> tuple[str, ...]:
    """Ids of private events that the documents of this change name; none for most events."""
    named = event.body.get("private") if event.kind == "patch" else None
    return tuple(id for id in named if isinstance(id, str)) if isinstance(named, list) else ()


def is_hand_edit(event: Event) -> bool:
    """Whether the event records an edit made by hand under its derived id, so that repeats of it collapse."""
    changes = changes_of(event)
    if event.body.get("op") != HAND_EDIT or len(changes) != 1:
        return False
    change = changes[0]
    return event.id == hand_edit_id(change.doc_id, change.before, change.after)


def named_ids(event: Event) -> list[str]:
    """Ids of documents that the event's refs name, whatever its changes say."""
    ids = event.refs.get("memory_doc_ids")
    return [value for value in ids if isinstance(value, str)] if isinstance(ids, list) else []


def document_ids(event: Event) -> tuple[str, ...]:
    """Ids of the documents an event names."""
    return tuple(_distinct([*named_ids(event), *(change.doc_id for change in changes_of(event))]))
