"""Events that stay in this working tree: the private shard of a session."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from thunderus_mem.model.event import encode, line_hash
from thunderus_mem.model.event_secrets import refuse_secrets
from thunderus_mem.store.events import last_line
from thunderus_mem.store.paths import inside

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from thunderus_mem.memory import Memory
    from thunderus_mem.model.event import Event
    from thunderus_mem.store.sessions import Session

__all__ = ["append_private"]


def append_private(
    memory: Memory,
    session: Session,
    common: Mapping[str, Any],
    makers: Sequence[Callable[[dict[str, Any]], Event]],
) -> list[Event]:
    """Append events to the private shard of ``session``, in one write that is synced before it returns.

    Each of ``makers`` gets what the events have in ``common`` and the hash of the line before. Raises
    `Refused` for an event that holds a secret; nothing is written then.
    """
    memory.journal.repair(session.local_shard)
    last = last_line(inside(memory.root, session.local_shard))
    follows = prev = line_hash(last) if last else None
    lines, events = [], []
    for make in makers:
        event = make({**common, "prev": prev, "head": None})
        refuse_secrets(event)
        line = encode(event)
        prev = line_hash(line)
        lines.append(line)
        events.append(event)
    memory.sessions.begin(session)
    if lines:
        memory.journal.append(events[0].id, session.local_shard, lines, follows=follows or "")
        memory.sessions.wrote(session, lines[-1], private=True)
    return events
