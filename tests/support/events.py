"""Build events from their fields."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from thunderus_mem.log import new_event
from thunderus_mem.log.new_event import EventContext, Ids, PatchLinks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from thunderus_mem.log.event import Change
    from thunderus_mem.log.line import Event


def _context(fields: dict[str, Any]) -> EventContext:
    return EventContext(**{name: fields.pop(name) for name in EventContext._fields if name in fields})


def make_event(kind: str, body: dict[str, Any], **fields: Any) -> Event:
    """An event of any kind."""
    return new_event.make_event(_context(fields), kind, body, **fields)


def note_event(*, text: str, **fields: Any) -> Event:
    """A note."""
    return new_event.note_event(_context(fields), text, **fields)


def patch_event(*, id: str, patch_id: str, op: str, changes: Sequence[Change], **fields: Any) -> Event:
    """A patch."""
    context = _context(fields)
    links = PatchLinks(**{name: fields.pop(name) for name in PatchLinks._fields if name in fields})
    return new_event.patch_event(context, Ids(id, patch_id), op, changes, links=links, **fields)
