"""Imported events: lines logged by another program. They are kept, but changed nothing in this store."""

from __future__ import annotations

from typing import TYPE_CHECKING

from thunderus_mem.document.timestamp import derived_ulid

if TYPE_CHECKING:
    from thunderus_mem.log.line import Event


def is_imported(event: Event) -> bool:
    """Whether the event was logged by another program."""
    return event.origin.get("imported") is True


def origin_of(event: Event) -> tuple[str, str]:
    """Return the session and the id of an imported event in the log it came from; "" where it had none."""
    session, id = event.origin.get("session"), event.origin.get("id")
    if not is_imported(event):
        return "", ""
    return session if isinstance(session, str) else "", id if isinstance(id, str) else ""


def imported_id(session: str, id: str) -> str:
    """Return the id here of an event of another log: the same wherever it is imported."""
    return "evt_" + derived_ulid("imported", str(len(session)), session, id)
