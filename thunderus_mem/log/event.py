"""The contents of an event: its changes, the events it undoes, the documents it names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from thunderus_mem.document.timestamp import derived_ulid
from thunderus_mem.log.imported import is_imported
from thunderus_mem.startup import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from thunderus_mem.log.line import Event

HAND_EDIT: Final = "hand-edit"
ABORTED: Final = "aborted"


class Change(NamedTuple):
    """What an event did to one document.

    ``op`` is create, update, remove, rename or aborted. ``before`` and ``after`` are content hashes, ""
    for no file. ``diff`` is a unified diff; ``None`` if it is empty or, with ``diff_omitted``, too long to
    log. ``mode`` are the permissions of a removed file in octal digits; "" for the default ones.
    ``text_kept``: title and body are known to be unchanged.
    """

    op: str
    doc_id: str
    path: str
    before: str
    after: str
    diff: str | None = None
    diff_omitted: bool = False
    mode: str = ""
    text_kept: bool = False


def distinct(values: Iterable[str]) -> list[str]:
    """Return the distinct non-empty values in their order."""
    return list(dict.fromkeys(value for value in values if value))


def hand_edit_id(doc_id: str, path: str, before: str, after: str) -> str:
    """Return the id of a hand edit; the same edit of the same file has the same id in every working tree."""
    return "evt_" + derived_ulid("hand-edit", doc_id, path, before, after)


def text_in(table: Mapping[str, Any], key: str) -> str:
    """Return the text of a key of an event's refs, body or origin; "" if it is missing or not text."""
    value = table.get(key)
    return value if isinstance(value, str) else ""


def texts_in(table: Mapping[str, Any], key: str) -> list[str]:
    """Return the texts in the list of a key; what is not text is skipped."""
    listed = table.get(key)
    return [value for value in listed if isinstance(value, str)] if isinstance(listed, list) else []


def is_own_patch(event: Event) -> bool:
    """Whether the event is a change that was made here."""
    return event.kind == "patch" and not is_imported(event)


def changes_of(event: Event) -> tuple[Change, ...]:
    """Return the changes of a ``patch`` event; malformed ones are skipped, other kinds have none.

    An imported patch has none: what another program says it changed explains no text here.
    """
    listed = event.body.get("changes") if is_own_patch(event) else None
    found = []
    for data in listed if isinstance(listed, list) else ():
        if not isinstance(data, dict):
            continue
        op, doc_id, path, before, after = (
            data.get(key) or "" for key in ("op", "doc_id", "path", "before", "after")
        )
        if all(isinstance(text, str) for text in (op, doc_id, path, before, after)):
            diff, omitted = data.get("diff"), data.get("diff_omitted") is True
            kept = diff if isinstance(diff, str) else None
            mode, text_kept = text_in(data, "mode"), data.get("text_kept") is True
            found.append(Change(op, doc_id, path, before, after, kept, omitted, mode, text_kept))
    return tuple(found)


def undone_by(event: Event) -> tuple[str, ...]:
    """Return the ids of the events that this event undid; those of a redo are undos."""
    return tuple(texts_in(event.body, "undoes")) if is_own_patch(event) else ()


def private_to(event: Event) -> tuple[str, ...]:
    """Return the ids of private events that the documents of this patch cite."""
    return tuple(texts_in(event.body, "private")) if is_own_patch(event) else ()


def is_hand_edit(event: Event) -> bool:
    """Whether the event records a hand edit."""
    return is_own_patch(event) and event.body.get("op") == HAND_EDIT


def same_recording(first: Event, second: Event) -> bool:
    """Whether two lines with one id record the same thing, e.g. a hand edit found on two branches.

    They may differ in time, session, author and reason, hand edits in the actor too. A diff does not count:
    its hashes do, and it is omitted where the text before is unknown.
    """
    return _content(first) == _content(second)


def _content(event: Event) -> tuple[str, str, dict[str, Any], dict[str, Any]]:
    body = event.body
    if changes := changes_of(event):
        body = body | {"changes": [change._replace(diff=None, diff_omitted=False) for change in changes]}
    return event.kind, "" if is_hand_edit(event) else event.actor, event.refs, body


def named_ids(event: Event) -> list[str]:
    """Return the ids of the documents in the event's refs, not those in its changes."""
    return [one for one in texts_in(event.refs, "memory_doc_ids") if one.strip()]


def document_ids(event: Event) -> tuple[str, ...]:
    """Return the ids of all documents an event names."""
    return tuple(distinct([*named_ids(event), *(change.doc_id for change in changes_of(event))]))
