"""The rows of the index for the events of shards. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from thunderus_mem.log.event import changes_of, document_ids, text_in
from thunderus_mem.log.imported import is_imported, origin_of
from thunderus_mem.log.transitions import RENAME, former_id, given_up
from thunderus_mem.startup import NamedTuple

if TYPE_CHECKING:
    from thunderus_mem.log.event import Change
    from thunderus_mem.log.line import Event
    from thunderus_mem.log.shard import LoggedEvent


class ShardRows(NamedTuple):
    """Rows for the tables ``shards``, ``events``, ``event_docs``, ``heads`` and ``aborted``, and the lines,
    with their shard, on either side of a broken link."""

    shards: list[tuple[Any, ...]]
    events: list[tuple[Any, ...]]
    documents: list[tuple[Any, ...]]
    heads: list[tuple[Any, ...]]
    aborted: list[tuple[Any, ...]]
    broken: list[tuple[int, int]]

    def add(self, shard: int, logged: LoggedEvent, place: str) -> None:
        """Add the rows of an event."""
        event, _, line = logged
        origin = (part or None for part in origin_of(event))
        self.events.append((shard, line, event.id, event.kind, place, day_of(event.ts), 0, *origin))
        self.documents.extend((shard, line, *one) for one in named(event))
        self.heads.extend((shard, *head) for head in event.heads.items())
        self.aborted.extend((shard, *one) for one in given_up([event]))


def day_of(ts: str) -> str:
    """Return the day of a timestamp in UTC."""
    from thunderus_mem.document.timestamp import utc_key

    return ts[:10] if ts[-1:] == "Z" else utc_key(ts)[:10]


_TEXT_KEPT: Final = frozenset(
    ("anchor", "archive", "link", "migrate", "rename", "supersede", "unarchive", "verify")
)
"""Operations that change no title, and in a body at most references."""


def named(event: Event) -> set[tuple[str, str, str | None, str, str]]:
    """Return ``(document id, path, hash after, who wrote the text, former id)`` of everything an event names,
    as in the table ``event_docs``."""
    changes = changes_of(event)
    rows = {
        (
            change.doc_id,
            change.path,
            change.after if change.before or change.after else None,
            _text_by(event, change),
            former_id(change, changes),
        )
        for change in changes
    }
    changed = {change.doc_id for change in changes}
    confirmed = event.actor if _is_confirmation(event) else ""
    return rows | {
        (doc_id, "", None, confirmed, "") for doc_id in document_ids(event) if doc_id not in changed
    }


def _text_by(event: Event, change: Change) -> str:
    kept = change.text_kept or change.op == RENAME or text_in(event.body, "op") in _TEXT_KEPT
    return event.actor if change.after and not kept else ""


def _is_confirmation(event: Event) -> bool:
    """Whether a user verified the documents that the event names."""
    body = event.body
    is_verification = (
        event.kind == "approval" and body.get("action") == "verify" and body.get("approved") is True
    )
    return is_verification and event.actor == "user" and not is_imported(event)
