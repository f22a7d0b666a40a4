"""Which changes of the log `undo` takes back: the last ones of this working tree, or those named.

Reads the log and git's index.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from thunderus_mem.document.ulid import ulid_time
from thunderus_mem.errors import Conflict, InvalidDocument, NotFound
from thunderus_mem.history.log import event_named
from thunderus_mem.history.reverse import UNDO, steps_of, taken_back
from thunderus_mem.index.log import read
from thunderus_mem.log.event import HAND_EDIT, changes_of, document_ids, undone_by
from thunderus_mem.store.layout import SHARD_FOLDERS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from thunderus_mem.log.line import Event
    from thunderus_mem.log.shard import LoggedEvent
    from thunderus_mem.memory.memory import Memory

_LINES: Final = 64
_DAY: Final = timedelta(days=1)
NOT_BY_THE_TOOL: Final = frozenset((HAND_EDIT, "aborted"))
"""Kinds of patches that record what happened outside the tool, or what did not happen."""


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


@dataclass(frozen=True, slots=True)
class UndoChoice:
    """What was asked for: an event or patch by its id, or the last ``number`` changes.

    ``redo`` chooses undos instead, ``anywhere`` also what other working trees did.
    """

    event: str | None = None
    number: int = 1
    redo: bool = False
    anywhere: bool = False


@dataclass(frozen=True, slots=True)
class Chosen:
    """An event to take back, the change that is about in the end, and whether that brings it back."""

    event: Event
    origin: Event
    again: bool


def committed_shards(memory: Memory) -> frozenset[str]:
    """The shards in git's index: what is in another one was written here; none outside git."""
    return frozenset(memory.git.tracked(SHARD_FOLDERS)) if memory.git is not None else frozenset()


def chosen(memory: Memory, choice: UndoChoice, committed: frozenset[str]) -> list[tuple[Chosen, ...]]:
    """The changes meant, newest first; each is the events one command wrote, newest first.

    ``committed`` are the shards that git has. Raises `NotFound` when there are not so many, `Conflict` for
    one that is taken back already.
    """
    if choice.event is not None:
        return [tuple(_chosen(memory, event) for event in _named(memory, choice.event))]
    found = _last(memory, choice, committed)
    if len(found) < choice.number:
        raise _too_few(len(found), choice)
    return [tuple(_chosen(memory, event) for event in step) for step in found]


def _last(memory: Memory, choice: UndoChoice, committed: frozenset[str]) -> list[tuple[Event, ...]]:
    """The last changes; no more of the log is read than it takes to find them."""
    found: list[tuple[Event, ...]] = []
    for command in _commands(memory, choice, committed):
        taken = taken_back(_around(memory, command))
        left = tuple(
            event
            for event in command
            if event.id not in taken
            and origin(event, lambda event_id: _event(memory, event_id))[1] is choice.redo
        )
        if left:
            found.append(left)
        if len(found) == choice.number:
            break
    return found


def _commands(memory: Memory, choice: UndoChoice, committed: frozenset[str]) -> Iterator[tuple[Event, ...]]:
    """What may be taken back of each command that is meant, newest first, taken back already or not."""
    own = memory.sessions.own()
    index, done = memory.log_index(), set[tuple[str, int]]()

    def may_be_meant(entry: LoggedEvent) -> bool:
        return can_be_taken_back(entry.event, {}, undos=choice.redo) and (
            choice.anywhere or entry.event.session_id in own or entry.shard not in committed
        )

    shards = None
    if committed and not choice.anywhere:
        sessions = {shard: memory.log.session_of(shard) for shard in memory.log.shards()}
        shards = [
            shard
            for shard, session in sessions.items()
            if shard not in committed or session is None or session in own
        ]
    for rows in index.backwards(kinds=("patch",), shards=shards):
        for entry in read(memory.log, rows):
            if (entry.shard, entry.line) not in done and may_be_meant(entry):
                command = list(_same_command(memory, entry, may_be_meant))
                done.update((one.shard, one.line) for one in command)
                yield tuple([one.event for one in command])


def _same_command(
    memory: Memory, last: LoggedEvent, may_be_meant: Callable[[LoggedEvent], bool]
) -> Iterator[LoggedEvent]:
    """What the command of an event wrote, newest first: its line and those before it, up to another one's.

    A command writes its lines one after the other, as it holds the lock.
    """
    yield last
    patch, end, lines = patch_of(last.event), last.line, _LINES
    while end > 1:
        start = max(end - lines, 1)
        for entry in reversed(memory.log.read_lines(last.shard, range(start, end))):
            if patch_of(entry.event) == patch and may_be_meant(entry):
                yield entry
            elif is_by_the_tool(entry.event):
                return
        end, lines = start, lines * 4


def _event(memory: Memory, event_id: str) -> Event | None:
    found = read(memory.log, memory.log_index().naming((), (event_id,)))
    return found[0].event if found else None


def _chosen(memory: Memory, event: Event) -> Chosen:
    return Chosen(event, *origin(event, lambda event_id: _event(memory, event_id)))


def _too_few(found: int, choice: UndoChoice) -> NotFound:
    what = "undo" if choice.redo else "change"
    place = "" if choice.anywhere else " of this working tree"
    if found:
        said = f"only {found} {what}{'s' if found > 1 else ''}{place} can be taken back"
    else:
        said = f"there is no {what}{place} to take back"
    hint = "`thunderus-mem log` shows what happened"
    return NotFound(said, hint=hint if choice.anywhere else f"{hint}; --any reaches what was done elsewhere")


def _named(memory: Memory, given: str) -> tuple[Event, ...]:
    """The event with an id, or the only one whose id begins so; or the events of the patch with that id."""
    named = event_named(memory, given)
    found = [named.event] if named is not None else of_patch(memory, given)
    if not found:
        raise NotFound(f"no event has the id {given!r}", hint="`thunderus-mem events list` shows them")
    taken = taken_back(_around(memory, found))
    left = tuple(event for event in reversed(found) if event.id not in taken)
    if not left:
        by = taken[found[0].id]
        hint = f"to have it again: thunderus-mem undo {by}"
        raise Conflict(f"{given} is taken back already, by {by}", hint=hint)
    if not any(steps_of(event) or event.body.get("op") == UNDO for event in left):
        raise InvalidDocument(f"{given} changed no document, so there is nothing to take back")
    return left


def _around(memory: Memory, events: Sequence[Event]) -> list[Event]:
    """The events about the same documents, the undos among them."""
    paths = {change.path for event in events for change in changes_of(event)}
    return memory.events_about(paths, {id for event in events for id in document_ids(event)})


def of_patch(memory: Memory, patch_id: str) -> list[Event]:
    """The patch events of a patch, oldest first: looked for on the day its id was made and the one after,
    then, for a proposal that waited, later."""
    wanted = patch_id.upper().replace("PATCH_", "patch_")
    made = ulid_time(wanted.removeprefix("patch_"))
    if made is None or not wanted.startswith("patch_"):
        return []
    index = memory.log_index()
    days = (f"{made:%Y-%m-%d}", f"{made + _DAY:%Y-%m-%d}")
    found = _belonging(wanted, read(memory.log, [row for day in days for row in index.of_day(day)]))
    if not found:
        for rows in index.in_order(kinds=("patch",), since=f"{made + _DAY:%Y-%m-%d}"):
            found = _belonging(wanted, read(memory.log, rows))
            if found:
                break
    return found


def _belonging(patch_id: str, logged: Iterable[LoggedEvent]) -> list[Event]:
    events = (entry.event for entry in logged)
    return [one for one in events if one.kind == "patch" and one.refs.get("patch_id") == patch_id]
