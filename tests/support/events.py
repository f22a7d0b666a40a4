"""Build events from their fields."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from thunderus_mem.interop.events import events_add, given_event
from thunderus_mem.log import new_event
from thunderus_mem.log.new_event import EventContext, Ids, PatchLinks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from thunderus_mem.log.event import Change
    from thunderus_mem.log.line import Event
    from thunderus_mem.memory.memory import Memory


def _context(fields: dict[str, Any]) -> EventContext:
    return EventContext(**{name: fields.pop(name) for name in EventContext._fields if name in fields})


def make_event(kind: str, body: dict[str, Any], **fields: Any) -> Event:
    """An event of any kind."""
    return new_event.make_event(_context(fields), kind, body, **fields)


def note_event(*, text: str, doc_ids: Sequence[str] = (), **fields: Any) -> Event:
    """A note."""
    refs = {"paths": [], "memory_doc_ids": list(doc_ids)}
    return new_event.make_event(_context(fields), "note", {"text": text}, refs=refs, **fields)


def note(memory: Memory, text: str, *about: str) -> str:
    """Add a note to the log; return its id."""
    return events_add(memory, given_event("note", text, about=about)).added[0]


def patch_event(*, id: str, patch_id: str, op: str, changes: Sequence[Change], **fields: Any) -> Event:
    """A patch."""
    context = _context(fields)
    links = PatchLinks(**{name: fields.pop(name) for name in PatchLinks._fields if name in fields})
    return new_event.patch_event(context, Ids(id, patch_id), op, changes, links=links, **fields)
