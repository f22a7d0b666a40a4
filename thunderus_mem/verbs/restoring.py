"""The verb `restore`: puts everything back to what a snapshot tells of, through `undo`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from thunderus_mem.model.errors import Conflict, InvalidDocument, NotFound
from thunderus_mem.model.undo import permissions_in, taken_back
from thunderus_mem.projection.log_index import read
from thunderus_mem.transaction.opening import settle
from thunderus_mem.verbs.choosing import committed_shards, of_patch, told
from thunderus_mem.verbs.undoing import undo

if TYPE_CHECKING:
    from collections.abc import Iterator

    from thunderus_mem.memory import Memory
    from thunderus_mem.model.event import Event
    from thunderus_mem.verbs.undoing import Undone

__all__ = ["Snapshot", "SnapshotList", "restore", "restore_last", "snapshots"]


class Snapshot(NamedTuple):
    """What a command was about to change: when, which command, whose, how many steps it took and how many of
    them are taken back, and how many documents it touched. ``here``: in this working tree."""

    id: str
    ts: str
    command: str
    author: str
    steps: int
    taken_back: int
    documents: int
    here: bool

    @property
    def is_restored(self) -> bool:
        """Whether there is nothing of it left to take back."""
        return self.taken_back == self.steps


class SnapshotList(NamedTuple):
    """Snapshots, newest first; ``left_out`` older ones are not shown."""

    snapshots: tuple[Snapshot, ...]
    left_out: int = 0


def snapshots(memory: Memory, *, limit: int = 0) -> SnapshotList:
    """What there is to go back to, newest first; all when ``limit`` is 0."""
    memory.refresh()
    found: list[Snapshot] = []
    for event, here in _events(memory):
        if limit and len(found) == limit:
            break
        found.append(_snapshot(memory, event, here=here))
    total = memory.log_index().total(kinds=("snapshot",))
    return SnapshotList(tuple(found), max(total - len(found), 0))


def restore(
    memory: Memory, snap: str, *, why: str = "", dry_run: bool = False, actor: str = "user"
) -> Undone:
    """Take back everything that was done after a snapshot, by its id or a unique beginning: exactly, all or
    nothing.

    Raises `NotFound`, `InvalidDocument` for an ambiguous beginning, and `Conflict` when it is taken back
    already or somebody has changed one of the documents since.
    """
    if not dry_run:
        settle(memory, "restore")
    memory.refresh()
    wanted = snap.strip().upper().removeprefix("SNAP_")
    ids: dict[str, Event] = {}
    for event, _ in _events(memory):
        if wanted and _id(event).startswith(f"snap_{wanted}"):
            ids.setdefault(_id(event), event)
    if not ids:
        raise NotFound(f"no snapshot has the id {snap!r}", hint="`thunderus-mem restore --list` shows them")
    if len(ids) > 1:
        names = ", ".join(list(ids)[:8])
        raise InvalidDocument(f"{snap!r} is the beginning of {len(ids)} ids", hint=f"one of: {names}")
    (event,) = ids.values()
    return _restored(memory, event, why=why, dry_run=dry_run, actor=actor)


def restore_last(
    memory: Memory, command: str = "garden", *, why: str = "", dry_run: bool = False, actor: str = "user"
) -> Undone:
    """Take back the last run of a command in this working tree that is not taken back yet.

    Raises `NotFound` when there is none, `Conflict` as `restore`.
    """
    if not dry_run:
        settle(memory, "restore")
    memory.refresh()
    for event, here in _events(memory):
        if here and event.body.get("command") == command:
            seen = _snapshot(memory, event, here=here)
            if not seen.is_restored:
                return _restored(memory, event, why=why, dry_run=dry_run, actor=actor)
    raise NotFound(
        f"there is no run of {command} in this working tree to take back",
        hint="`thunderus-mem restore --list` shows those of others, too",
    )


def _restored(memory: Memory, event: Event, *, why: str, dry_run: bool, actor: str) -> Undone:
    patch = _patch(event)
    if not of_patch(memory, patch):
        raise Conflict(f"nothing was done after {_id(event)}", hint="`thunderus-mem log` shows what happened")
    reason = why or f"restores {_id(event)}"
    return undo(memory, patch, why=reason, dry_run=dry_run, actor=actor, exact=True, modes=_modes(event))


def _events(memory: Memory) -> Iterator[tuple[Event, bool]]:
    """The snapshots of the log, newest first, and whether each was made in this working tree."""
    own, committed = memory.sessions.own(), committed_shards(memory)
    for rows in memory.log_index().backwards(kinds=("snapshot",)):
        for entry in read(memory.log, rows):
            if _id(entry.event) and _patch(entry.event):
                yield entry.event, entry.event.session_id in own or entry.shard not in committed


def _snapshot(memory: Memory, event: Event, *, here: bool) -> Snapshot:
    steps = of_patch(memory, _patch(event))
    paths = {path for step in steps for path in step.refs.get("paths", ()) if isinstance(path, str)}
    ids = {name for step in steps for name in step.refs.get("memory_doc_ids", ()) if isinstance(name, str)}
    taken = taken_back(told(memory, ids, paths)) if steps else {}
    return Snapshot(
        _id(event),
        event.ts,
        str(event.body.get("command", "")),
        str(event.origin.get("author", "")) or event.actor,
        len(steps),
        sum(step.id in taken for step in steps),
        len(paths),
        here,
    )


def _id(event: Event) -> str:
    return _text(event.refs.get("snapshot_id"))


def _patch(event: Event) -> str:
    return _text(event.refs.get("patch_id"))


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _modes(event: Event) -> dict[str, int]:
    """The permissions that documents had, where they were not the usual ones."""
    listed = event.body.get("documents")
    found: dict[str, int] = {}
    for one in listed if isinstance(listed, list) else ():
        if not isinstance(one, dict):
            continue
        path, mode = _text(one.get("path")), permissions_in(_text(one.get("mode")))
        if path and mode is not None:
            found[path] = mode
    return found
