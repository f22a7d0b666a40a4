"""What of the log can be taken back: which changes belong together, and which are taken back already."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from thunderus_mem.model.event import HAND_EDIT, Change, Event, changes_of, undone_by

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

__all__ = [
    "NOT_BY_THE_TOOL",
    "UNDO",
    "Turn",
    "can_be_taken_back",
    "is_by_the_tool",
    "origin",
    "patch_of",
    "permissions_in",
    "taken_back",
    "turns",
]

UNDO: Final = "undo"
NOT_BY_THE_TOOL: Final = frozenset((HAND_EDIT, "aborted"))
"""Kinds of patches that record what happened outside the tool, or what did not happen."""


def taken_back(events: Sequence[Event]) -> dict[str, str]:
    """Ids of events whose changes are taken back, each with the event that did it.

    An undo that was itself taken back counts no more. The order of the events plays no part: clocks differ.
    """
    by_target: dict[str, list[str]] = {}
    undos = {event.id: undone_by(event) for event in events if undone_by(event)}
    for undo, targets in undos.items():
        for target in targets:
            by_target.setdefault(target, []).append(undo)
    holds: dict[str, bool] = {}
    waiting = list(reversed(undos))
    while waiting:
        later = []
        for undo in waiting:
            above = [holds.get(other) for other in by_target.get(undo, ())]
            if True in above:
                holds[undo] = False
            elif None in above:
                later.append(undo)
            else:
                holds[undo] = True
        if len(later) == len(waiting):  # a circle, which only a forged log has
            holds.update(dict.fromkeys(later, False))
            break
        waiting = later
    return {target: undo for undo, targets in undos.items() if holds[undo] for target in targets}


def origin(event: Event, find: Callable[[str], Event | None]) -> tuple[Event, bool]:
    """The change that taking the event back is about, and whether that brings it back.

    An undo is about what it took back, and so is the undo of an undo. ``find`` gives an event by its id; of
    one that is not here only the undo is known.
    """
    again, seen = False, {event.id}
    while event.body.get("op") == UNDO:
        again = not again
        known = [found for id in undone_by(event) if id not in seen and (found := find(id)) is not None]
        if not known:
            break
        event = known[0]
        seen.add(event.id)
    return event, again


def patch_of(event: Event) -> tuple[str, str]:
    """What the events of one command share: their session and their patch."""
    patch_id = event.refs.get("patch_id")
    return event.session_id, patch_id if isinstance(patch_id, str) else event.id


def is_by_the_tool(event: Event) -> bool:
    """Whether a command made the event's changes, undos among them."""
    return event.kind == "patch" and event.body.get("op") not in NOT_BY_THE_TOOL


def can_be_taken_back(event: Event, taken: Mapping[str, str], *, undos: bool) -> bool:
    """Whether plain `undo` (or, with ``undos``, its reverse) may choose the event."""
    if event.id in taken or not is_by_the_tool(event):
        return False
    return (event.body.get("op") == UNDO) is undos and (undos or bool(changes_of(event)))


def permissions_in(mode: str) -> int | None:
    """Permissions as the log has them, three octal digits, and readable for their owner; ``None`` for any
    other text."""
    return int(mode, 8) | 0o400 if len(mode) == 3 and set(mode) <= set("01234567") else None


class Turn(NamedTuple):
    """What an event did to one document: its id, path and hash before and after, and the diff.

    ``place`` is that of the change in the event which knows the text before.
    """

    place: int
    old_id: str
    new_id: str
    old_path: str
    new_path: str
    before: str
    after: str
    diff: str | None

    @property
    def name(self) -> str:
        """What to call the document in a message."""
        return self.new_id or self.old_id or self.new_path


def turns(event: Event) -> list[Turn]:
    """What an event did, by document: the two halves of a rename are one turn."""
    listed = list(enumerate(changes_of(event)))
    gone = [(at, one) for at, one in listed if one.op == "rename" and one.after == ""]
    come = [(at, one) for at, one in listed if one.op == "rename" and one.before == ""]
    found = []
    for at, one in gone:
        _, other = min(come, key=lambda pair: _distance(one, pair[1]), default=(at, None))
        if other is None:
            continue
        come = [pair for pair in come if pair[1] is not other]
        ids, paths = (one.doc_id, other.doc_id), (one.path, other.path)
        found.append(Turn(at, *ids, *paths, one.before, other.after, other.diff or one.diff))
    for at, one in listed:
        if one.op not in ("rename", "aborted"):
            ids, paths = (one.doc_id, one.doc_id), (one.path, one.path)
            found.append(Turn(at, *ids, *paths, one.before, one.after, one.diff))
    return found


def _distance(gone: Change, come: Change) -> tuple[bool, bool]:
    return gone.before != come.after, gone.doc_id != come.doc_id
