"""Which changes of the log `undo` is to take back: the last ones of this working tree, or those named."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from thunderus_mem.model.errors import Conflict, InvalidDocument, NotFound
from thunderus_mem.model.undo import UNDO, can_be_taken_back, origin, steps, turns
from thunderus_mem.store.layout import SHARD_FOLDERS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from thunderus_mem.memory import Memory
    from thunderus_mem.model.event import Event
    from thunderus_mem.model.shard import LoggedEvent

__all__ = ["Choice", "chosen", "committed_shards"]


@dataclass(frozen=True, slots=True)
class Choice:
    """What was asked for: an event or patch by its id, or the last ``number`` changes.

    ``redo`` chooses undos instead, ``anywhere`` also what other working trees did. ``committed`` are the
    shards that git has: what is in another one was written here.
    """

    event: str | None = None
    number: int = 1
    redo: bool = False
    anywhere: bool = False
    committed: frozenset[str] = frozenset()


def committed_shards(memory: Memory) -> frozenset[str]:
    """The shards in git's index; none outside git, where everything was written here."""
    return frozenset(memory.git.tracked(SHARD_FOLDERS)) if memory.git is not None else frozenset()


def chosen(
    memory: Memory, logged: Sequence[LoggedEvent], taken: Mapping[str, str], choice: Choice
) -> list[tuple[Event, ...]]:
    """The changes meant, newest first; each is the events one command wrote, newest first.

    Raises `NotFound` when there are not so many, `Conflict` for one that is taken back already.
    """
    if choice.event is not None:
        return [_named([entry.event for entry in logged], taken, choice.event)]
    by_id = {entry.event.id: entry.event for entry in logged}
    own = memory.sessions.own()
    candidates = [
        entry.event
        for entry in logged
        if can_be_taken_back(entry.event, taken, undos=choice.redo)
        and origin(entry.event, by_id)[1] is choice.redo
        and (choice.anywhere or entry.event.session_id in own or entry.shard not in choice.committed)
    ]
    found = list(steps(candidates))
    if len(found) < choice.number:
        raise _too_few(len(found), choice)
    return found[: choice.number]


def _too_few(found: int, choice: Choice) -> NotFound:
    what = "undo" if choice.redo else "change"
    place = "" if choice.anywhere else " of this working tree"
    if found:
        said = f"only {found} {what}{'s' if found > 1 else ''}{place} can be taken back"
    else:
        said = f"there is no {what}{place} to take back"
    hint = "`thunderus-mem log` shows what happened"
    return NotFound(said, hint=hint if choice.anywhere else f"{hint}; --any reaches what was done elsewhere")


def _named(events: Sequence[Event], taken: Mapping[str, str], given: str) -> tuple[Event, ...]:
    """The event with an id, or the only one whose id begins so; or the events of the patch with that id."""
    wanted = given.lower()
    found = [event for event in events if event.id.lower().startswith((wanted, f"evt_{wanted}"))]
    if len(found) > 1:
        names = ", ".join(event.id for event in found[:5])
        raise InvalidDocument(f"{given!r} is the beginning of {len(found)} ids", hint=f"one of: {names}")
    found = found or [event for event in events if str(event.refs.get("patch_id", "")).lower() == wanted]
    if not found:
        raise NotFound(f"no event has the id {given!r}", hint="`thunderus-mem events list` shows them")
    left = tuple(event for event in reversed(found) if event.id not in taken)
    if not left:
        by = taken[found[0].id]
        hint = f"to have it again: thunderus-mem undo {by}"
        raise Conflict(f"{given} is taken back already, by {by}", hint=hint)
    if not any(turns(event) or event.body.get("op") == UNDO for event in left):
        raise InvalidDocument(f"{given} changed no document, so there is nothing to take back")
    return left
