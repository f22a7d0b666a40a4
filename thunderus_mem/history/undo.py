"""Undo: revert changes made through the tool, each as a new event, so that the log only grows; redo, which
reverts an undo; and restore, which reverts everything after a snapshot.
"""

from __future__ import annotations

import json
import os
from contextlib import nullcontext, suppress
from functools import lru_cache
from itertools import islice
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from thunderus_mem.document.document import content_hash, read_document
from thunderus_mem.document.timestamp import format_timestamp
from thunderus_mem.errors import Conflict, InvalidDocument, NotFound, Refused, resumable
from thunderus_mem.history import reverse
from thunderus_mem.index.log import read
from thunderus_mem.log.event import ABORTED, changes_of, document_ids, text_in, texts_in
from thunderus_mem.log.new_event import MOST_WITH_DIFFS, Ids, PatchLinks
from thunderus_mem.memory.hand_edits import hand_edits
from thunderus_mem.memory.locate import left_behind
from thunderus_mem.memory.past_texts import CommittedTexts, text_at
from thunderus_mem.memory.transaction import open_transaction, settle
from thunderus_mem.safety.secrets import holds_secret
from thunderus_mem.startup import NamedTuple
from thunderus_mem.store import disk
from thunderus_mem.store.files import read_file, replace_file
from thunderus_mem.store.paths import may_change

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from thunderus_mem.diagnostic import Diagnostic
    from thunderus_mem.index.log import EventRow
    from thunderus_mem.log.event import Change
    from thunderus_mem.log.line import Event
    from thunderus_mem.memory.journal import FileChange
    from thunderus_mem.memory.memory import Memory
    from thunderus_mem.memory.transaction import Transaction

_LAST: Final = reverse.UndoChoice()
_RUNNING_LIMIT: Final = 16 << 20


class UndoneDocument(NamedTuple):
    """The change to one file: ``op`` is create, update, remove or rename, with its ``diff``, which is omitted
    as in the log if the event changes very many; not in a dry run.

    ``moved_from`` is the old path of a renamed file. ``op`` is aborted if the undone change had not been
    written to the file yet: then the file is unchanged, and the text is ``kept`` in the quarantine.
    """

    id: str
    path: str
    op: str
    diff: str | None
    moved_from: str = ""
    kept: str = ""


class SkippedDocument(NamedTuple):
    """A document that a partial undo left as it is, and why."""

    id: str
    path: str
    reason: str


class UndoneEvent(NamedTuple):
    """An undone event or, with ``again``, one redone by undoing its undo; and the new event.

    ``documents`` is empty if none of its changes was left. ``undo_id`` is empty in a dry run, and if all its
    documents were skipped.
    """

    id: str
    ts: str
    op: str
    author: str
    why: str
    again: bool
    undo_id: str
    documents: tuple[UndoneDocument, ...]
    skipped: tuple[SkippedDocument, ...] = ()

    @property
    def is_aborted(self) -> bool:
        """Whether the change had not been written to any file yet."""
        return bool(self.documents) and all(one.op == ABORTED for one in self.documents)


class Undone(NamedTuple):
    """The result of `undo`, newest change first.

    ``dry_run``: nothing was written. ``published`` is false if an event is on disk but a file is not yet; the
    next command writes it. ``resumed``: these are the rest of an interrupted undo.
    """

    events: tuple[UndoneEvent, ...]
    warnings: tuple[Diagnostic, ...] = ()
    recorded: tuple[str, ...] = ()
    dry_run: bool = False
    published: bool = True
    resumed: bool = False


class _Reversal(NamedTuple):
    """One event to revert, the changes that do it, and the patch of the undo.

    ``waiting`` are the paths that the event has not been written to yet: these writes are aborted.
    ``blocked`` are its documents that stay as they are.
    """

    event: Event
    chosen: reverse.Chosen
    patch: str
    changes: tuple[FileChange, ...]
    waiting: frozenset[str]
    blocked: tuple[reverse.Blocked, ...] = ()

    @property
    def is_skipped(self) -> bool:
        """Whether nothing of the event can be reverted."""
        return bool(self.blocked) and not (self.changes or self.waiting)

    @property
    def digest(self) -> int:
        """A number that differs if one of the texts does."""
        return hash((self.changes, tuple(one.step for one in self.blocked)))

    @property
    def why(self) -> str:
        """The default reason."""
        first = self.chosen.origin
        reason = f": {first.why}" if first.why else ""
        return f"{'redo' if self.chosen.again else 'undo'} {first.body.get('op')}{reason}"


class _Planned(NamedTuple):
    """What is kept of a reversal until it is written: not its texts, which take several KB a document."""

    event_id: str
    patch: str
    steps: int
    blocked: tuple[reverse.Blocked, ...]
    is_skipped: bool
    digest: int


class _Reverted(NamedTuple):
    """The event that reverted another, "" in a dry run, and where texts that were not written yet are kept,
    by path."""

    id: str = ""
    kept: Mapping[str, str] = {}


def undo(
    memory: Memory,
    choice: reverse.UndoChoice = _LAST,
    *,
    why: str = "",
    dry_run: bool = False,
    exact: bool = False,
    partial: bool = False,
    modes: Mapping[str, int] = MappingProxyType({}),
) -> Undone:
    """Revert the chosen changes, each as a new event, all or nothing.

    A change that could not be written to its files yet is aborted instead. With ``exact``, any later change
    to one of the documents is a conflict. With ``partial``, documents in conflict are skipped, unless all
    are. ``modes`` are permissions of restored files by path; the default is those in the log. Called again
    after an interruption, it reverts the rest.

    Raises `Conflict` if a later change conflicts, `NotFound` if there is nothing to undo or a past text
    cannot be found, `Refused` for a secret.
    """
    planner = _Planner(memory, choice, exact=exact, partial=partial)
    if dry_run:
        memory.refresh()
        by_hand = [edit.change for edit in hand_edits(memory, memory.git_state())]

        def planned_only() -> list[UndoneEvent]:
            planner.plan(by_hand)
            return [_undone_event(one, _Reverted(), diffs=True) for one in planner.reversals()]

        events = planner.committed.fetching(planned_only)
        return Undone(tuple(events), planner.left_behind(), dry_run=True, resumed=planner.resumed)
    recorded: list[str] = []

    def attempt() -> Undone:
        with open_transaction(memory, reverse.UNDO) as transaction:
            recorded.extend(transaction.outcome.recorded)
            planned = planner.plan()
            warnings = planner.left_behind()
            undone: list[UndoneEvent] = []
            with resumable() if len(planned) > 1 else nullcontext():
                planner.running.begin(planned)
                for one in planner.unchanged(planned):
                    by = _Reverted() if one.is_skipped else _revert(transaction, memory, one, why, modes)
                    undone.append(_undone_event(one, by, diffs=len(one.changes) <= MOST_WITH_DIFFS))
                    if not transaction.outcome.published:  # the next step may need the file not written
                        break
                else:
                    planner.running.end()
        return Undone(
            tuple(undone),
            warnings,
            tuple(recorded),
            published=transaction.outcome.published,
            resumed=planner.resumed,
        )

    return planner.committed.fetching(attempt)


class _RunningUndo:
    """The plan of an undo of several events, in a file while it runs: ``-n 2``, repeated after an
    interruption, would otherwise select other events."""

    def __init__(self, memory: Memory, choice: reverse.UndoChoice) -> None:
        self._memory = memory
        self._choice = choice
        self._file = os.path.join(memory.layout.local_dir, "undo.json")

    def begin(self, planned: Sequence[_Planned]) -> None:
        """Write the plan before the first event."""
        if len(planned) > 1:
            events = [[one.event_id, one.patch] for one in planned if not one.is_skipped]
            replace_file(self._file, json.dumps({"choice": self._choice, "events": events}).encode())

    def end(self) -> None:
        """Remove the file."""
        with suppress(OSError):
            disk.unlink(self._file)

    def left(self) -> list[tuple[str, tuple[reverse.Chosen, ...]]] | None:
        """The events that the interrupted command has not reverted yet, by the patch id of their undo.

        ``None`` if no such command was interrupted, or another command changed documents since.
        """
        try:
            noted = json.loads(read_file(self._file, _RUNNING_LIMIT))
            patches = dict(map(tuple, noted["events"]))
            is_same = noted["choice"] == list(self._choice)
        except (NotFound, ValueError, KeyError, TypeError):
            return None
        if not is_same or reverse.last_patch(self._memory) not in patches.values():
            return None
        found: dict[str, list[reverse.Chosen]] = {}
        for one in reverse.not_undone(self._memory, patches):
            found.setdefault(patches[one.event.id], []).append(one)
        return [(patch, tuple(command)) for patch, command in found.items()]


_TOGETHER: Final = 1_000
"""Events of so many documents are read together, since each reading starts at the first line of a log."""


class _Batch(NamedTuple):
    """Chosen events, each with the patch of its undo, and the lines of all events about their documents."""

    chosen: tuple[tuple[str, reverse.Chosen], ...]
    rows: tuple[EventRow, ...]


class _Planner:
    """Plans what `undo` writes, again for each attempt; texts are fetched from git between attempts."""

    def __init__(self, memory: Memory, choice: reverse.UndoChoice, *, exact: bool, partial: bool) -> None:
        self._memory = memory
        self._choice = choice
        self._exact = exact
        self._partial = partial
        self._shards = reverse.committed_shards(memory)
        self._batches: list[_Batch] = []
        self._events = lru_cache(maxsize=1)(self._read)
        self._removed: dict[str, str] = {}
        self._aliases: dict[str, tuple[str, ...]] = {}
        self.running = _RunningUndo(memory, choice)
        self.resumed = False
        self.committed = CommittedTexts(memory.git)

    def plan(self, by_hand: Sequence[Change] = ()) -> list[_Planned]:
        """Choose the events and check that they can be reverted; ``by_hand`` are unrecorded hand edits."""
        self._by_hand = by_hand
        self._waiting = self._memory.journal.waiting()
        self._now = format_timestamp(self._memory.now())
        left = self.running.left()
        self.resumed = left is not None
        commands = left if left is not None else self._chosen()
        self._batches = self._batched([(patch, one) for patch, command in commands for one in command])
        self._events.cache_clear()
        self._removed.clear()
        self._aliases.clear()
        planned = []
        for one in self.reversals():
            _check_secrets(one.changes)
            steps = len(reverse.steps_of(one.event))
            planned.append(_Planned(one.event.id, one.patch, steps, one.blocked, one.is_skipped, one.digest))
            for change in one.changes:
                if change.after is None and not change.renames and change.doc_id:
                    self._removed[change.path] = change.doc_id
                else:
                    self._removed.pop(change.path, None)
                self._aliases[change.path] = _aliases(change)
        conflicts = [one for reversal in planned for one in reversal.blocked]
        if conflicts and (not self._partial or all(one.is_skipped for one in planned)):
            steps = sum(one.steps for one in planned)
            raise _conflict(conflicts, self._choice, is_all=len(conflicts) == steps)
        return planned

    def _batched(self, chosen: Sequence[tuple[str, reverse.Chosen]]) -> list[_Batch]:
        """The chosen events in their order, about `_TOGETHER` documents in each batch."""
        index = self._memory.log_index()
        sizes = index.sizes(one.event.id for _, one in chosen)
        batches: list[list[tuple[str, reverse.Chosen]]] = []
        size = 0
        for patch, one in chosen:
            own = sizes.get(one.event.id, 0)
            if not batches or size + own > _TOGETHER:
                batches.append([])
                size = 0
            batches[-1].append((patch, one))
            size += own
        return [
            _Batch(tuple(batch), tuple(index.beside(one.event.id for _, one in batch))) for batch in batches
        ]

    def _read(self, rows: tuple[EventRow, ...]) -> list[Event]:
        return [one.event for one in read(self._memory.log, rows)]

    def reversals(self) -> Iterator[_Reversal]:
        """Yield the planned reversals, one at a time, each computed as if those before it were written."""
        memory, waiting = self._memory, self._waiting
        tree = reverse.DocumentTree(lambda path: text_at(memory.root, path), _finder(memory))
        reverser = reverse.Reverser(tree)
        for batch, rows in self._batches:
            events = self._events(rows)
            sources = reverse.Sources(
                history=reverse.DocumentHistory(events, self._by_hand, waiting),
                kept=memory.undo_texts,
                committed=self.committed.texts,
                now=self._now,
            )
            whole = {event.id: event for event in events}
            for patch, one in batch:
                event = whole.get(one.event.id)
                if event is None:
                    raise Conflict(f"{one.event.id} is no longer in the log", hint="run the command again")
                _check_places(event)
                if self._exact:
                    _check_unchanged(tree, event, waiting)
                changes, blocked = reverser.reverse(event, sources)
                unwritten = frozenset(path for event_id, path in waiting if event_id == event.id)
                yield _Reversal(event, one, patch, tuple(changes), unwritten, tuple(blocked))

    def unchanged(self, planned: Sequence[_Planned]) -> Iterator[_Reversal]:
        """Yield the reversals again, to be written; raise `Conflict` at the first that is not as planned."""
        for one, expected in zip(self.reversals(), planned, strict=True):
            if one.digest != expected.digest:
                raise Conflict(
                    f"a document of {one.event.id} was changed while `undo` was running",
                    hint="run the same command again",
                )
            yield one

    def left_behind(self) -> tuple[Diagnostic, ...]:
        """Warnings about documents that still link to a removed one."""
        gone = {doc_id: path for path, doc_id in self._removed.items()}
        aliases = {alias for given in self._aliases.values() for alias in given}
        return left_behind(self._memory, gone, aliases) if gone else ()

    def _chosen(self) -> list[tuple[str, tuple[reverse.Chosen, ...]]]:
        chosen = reverse.chosen(self._memory, self._choice, self._shards)
        return [(self._memory.new_id("patch"), command) for command in chosen]


_MOST_NAMED: Final = 5


def _conflict(
    blocked: Sequence[reverse.Blocked], choice: reverse.UndoChoice, *, is_all: bool
) -> Conflict | NotFound:
    """The error of the first document, with the names of the others and, if not all are blocked, the command
    that reverts the rest."""
    names = list(dict.fromkeys(one.step.name for one in blocked))
    error = blocked[0].error
    message, hint = str(error), error.hint or ""
    if others := names[1:_MOST_NAMED]:
        more = f" and {len(names) - _MOST_NAMED:,} more" if len(names) > _MOST_NAMED else ""
        message += f"; also in conflict: {', '.join(map(repr, others))}{more}"
    if not is_all:
        hint += f"; to {'redo' if choice.redo else 'undo'} the rest, run `thunderus-mem undo"
        hint += f" {choice.event}" if choice.event else ""
        hint += f" -n {choice.number}" if choice.number > 1 else ""
        hint += f"{' --redo' if choice.redo else ''} --partial`"
    return type(error)(message, hint=hint)


def _finder(memory: Memory) -> Callable[[str], str | None]:
    def find(doc_id: str) -> str | None:
        row = memory.index.get(doc_id)
        return row.path if row is not None else None

    return find


def _aliases(change: FileChange) -> tuple[str, ...]:
    """The aliases in the new text of a document."""
    if change.after is None or "aliases" not in change.after:
        return ()
    document = read_document(change.path, change.after.encode("utf-8", "surrogatepass")).document
    return document.aliases if document is not None else ()


def _check_places(event: Event) -> None:
    """Raise if an event contains a path outside the documents: a log can come from anyone."""
    for step in reverse.steps_of(event):
        for path in (step.old_path, step.new_path):
            if not may_change(path):
                raise Refused(
                    f"{event.id} contains {path}, which is outside the document folders",
                    hint="it was not written by this tool; see `thunderus-mem events show`",
                )


def _check_unchanged(tree: reverse.DocumentTree, event: Event, waiting: frozenset[tuple[str, str]]) -> None:
    """Raise if a document has changed since the event; ``waiting`` are changes not written yet."""
    for step in reverse.steps_of(event, waiting):
        now = tree.text(step.new_path)
        if ("" if now is None else content_hash(now)) != step.after:
            raise Conflict(
                f"{step.name!r} ({step.new_path}) has changed since the gardener ran",
                hint="nothing was written; to keep that change and revert the rest, run "
                f"`thunderus-mem undo {reverse.patch_of(event)[1]}`",
            )


def _check_secrets(reversals: Iterable[FileChange]) -> None:
    moved = {one.before for one in reversals if one.renames}
    for one in reversals:
        if one.after is not None and one.after not in moved and holds_secret(one.after):
            raise Refused(
                f"nothing written: this would restore a possible secret in {one.path}",
                hint="edit the document and write where the secret is stored instead of the secret",
            )


def _revert(
    transaction: Transaction, memory: Memory, one: _Reversal, why: str, modes: Mapping[str, int]
) -> _Reverted:
    """Abort what the event has not written yet, and write the changes that revert the rest."""
    event, kept = one.event, dict[str, str]()
    if one.waiting:
        aborts = Ids(memory.new_id("evt"), one.patch)
        # Only an event that is aborted as a whole is undone by that.
        links = PatchLinks(undoes=() if one.changes else [event.id], about=document_ids(event))
        lost = transaction.give_up(event.id, why=why, ids=aborts, links=links)
        kept = {file.path: memory.layout.relative(file.kept) for file in lost if file.kept}
        if not one.changes:
            return _Reverted(aborts.event, kept)
    return _Reverted(_commit(transaction, memory, one, why, modes), kept)


def _commit(
    transaction: Transaction, memory: Memory, one: _Reversal, why: str, modes: Mapping[str, int]
) -> str:
    event = one.event
    logged = {change.path: reverse.permissions_in(change.mode) for change in changes_of(event)}
    known = {**logged, **modes}
    return transaction.commit(
        reverse.REDO if one.chosen.again else reverse.UNDO,
        [reversal._replace(mode=known.get(reversal.path)) for reversal in one.changes],
        why=why or one.why,
        links=PatchLinks(undoes=[event.id], about=document_ids(event)),
        ids=Ids(memory.new_id("evt"), one.patch),
    )


def _undone_event(one: _Reversal, by: _Reverted, *, diffs: bool) -> UndoneEvent:
    first = one.chosen.origin
    return UndoneEvent(
        first.id,
        first.ts,
        text_in(first.body, "op"),
        text_in(first.origin, "author") or first.actor,
        first.why,
        one.chosen.again,
        by.id,
        (*_aborted(one, by.kept), *_documents(one.changes, diffs=diffs)),
        tuple(SkippedDocument(step.name, step.new_path, str(error)) for step, error in one.blocked),
    )


def _aborted(one: _Reversal, kept: Mapping[str, str]) -> Iterator[UndoneDocument]:
    for change in changes_of(one.event):
        if change.path in one.waiting:
            yield UndoneDocument(change.doc_id, change.path, ABORTED, None, kept=kept.get(change.path, ""))


def _documents(reversals: Sequence[FileChange], *, diffs: bool) -> Iterator[UndoneDocument]:
    """The change to each document; the two consecutive halves of a rename are merged into one."""
    moved_from = ""
    for reversal in reversals:
        if reversal.renames and reversal.after is None:
            moved_from = reversal.path
            continue
        change = reversal.for_log(diffs=diffs)
        yield UndoneDocument(
            change.doc_id, change.path, change.op, change.diff, moved_from if reversal.renames else ""
        )


class Snapshot(NamedTuple):
    """The state before a command: when, which command, by whom, the number of its steps and how many are
    undone, and the number of changed documents. ``here``: in this working tree."""

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
        """Whether all its steps are undone."""
        return self.taken_back == self.steps


class SnapshotList(NamedTuple):
    """Snapshots, newest first; ``left_out`` older ones are not shown."""

    snapshots: tuple[Snapshot, ...]
    left_out: int = 0


def snapshots(memory: Memory, *, limit: int = 0) -> SnapshotList:
    """List snapshots, newest first; all if ``limit`` is 0."""
    memory.refresh()
    found = _snapshots(memory, list(islice(_events(memory), limit or None)))
    total = memory.log_index().total(kinds=("snapshot",))
    return SnapshotList(tuple(found), max(total - len(found), 0))


def restore(memory: Memory, snap: str, *, why: str = "", dry_run: bool = False) -> Undone:
    """Revert everything done after a snapshot, given by its id or a unique prefix: byte for byte, all or
    nothing.

    Raises `NotFound`, `InvalidDocument` for an ambiguous prefix, and `Conflict` if it is already reverted or
    one of the documents has changed since.
    """
    if not dry_run:
        settle(memory, "undo")
    memory.refresh()
    wanted = snap.strip().upper().removeprefix("SNAP_")
    ids: dict[str, Event] = {}
    for event, _ in _events(memory):
        if wanted and _id(event).startswith(f"snap_{wanted}"):
            ids.setdefault(_id(event), event)
    if not ids:
        raise NotFound(
            f"no snapshot has the id {snap!r}", hint="run `thunderus-mem undo --list` to list them"
        )
    if len(ids) > 1:
        names = ", ".join(list(ids)[:8])
        raise InvalidDocument(
            f"{snap!r} is ambiguous: it matches {len(ids)} snapshots", hint=f"use one of: {names}"
        )
    (event,) = ids.values()
    return _restored(memory, event, why=why, dry_run=dry_run)


def _restored(memory: Memory, event: Event, *, why: str, dry_run: bool) -> Undone:
    patch = _patch(event)
    if not reverse.of_patch(memory, patch):
        raise Conflict(f"no changes after {_id(event)}", hint="run `thunderus-mem log` to list events")
    reason = why or f"restores {_id(event)}"
    choice = reverse.UndoChoice(patch)
    return undo(memory, choice, why=reason, dry_run=dry_run, exact=True, modes=_modes(event))


def _events(memory: Memory) -> Iterator[tuple[Event, bool]]:
    """The snapshots in the log, newest first, and whether each was made in this working tree."""
    own, committed = memory.sessions.own(), reverse.committed_shards(memory)
    for rows in memory.log_index().backwards(kinds=("snapshot",)):
        for entry in read(memory.log, rows):
            if _id(entry.event) and _patch(entry.event):
                yield entry.event, entry.event.session_id in own or entry.shard not in committed


def _snapshots(memory: Memory, events: Sequence[tuple[Event, bool]]) -> list[Snapshot]:
    """Describe snapshots, each given with whether it was made here; reads the log for all of them at once."""
    patches = reverse.of_patches(memory, {_patch(event) for event, _ in events})
    taken = reverse.undone_events(
        reverse.around(memory, [one for steps in patches.values() for one in steps])
    )
    return [_snapshot(event, patches[_patch(event)], taken, here=here) for event, here in events]


def _snapshot(event: Event, steps: Sequence[Event], taken: Mapping[str, str], *, here: bool) -> Snapshot:
    paths = {path for step in steps for path in texts_in(step.refs, "paths")}
    return Snapshot(
        _id(event),
        event.ts,
        text_in(event.body, "command"),
        text_in(event.origin, "author") or event.actor,
        len(steps),
        sum(step.id in taken for step in steps),
        len(paths),
        here,
    )


def _id(event: Event) -> str:
    return text_in(event.refs, "snapshot_id")


def _patch(event: Event) -> str:
    return text_in(event.refs, "patch_id")


def _modes(event: Event) -> dict[str, int]:
    """The file permissions of documents that had unusual ones."""
    listed = event.body.get("documents")
    found: dict[str, int] = {}
    for one in listed if isinstance(listed, list) else ():
        if not isinstance(one, dict):
            continue
        path, mode = text_in(one, "path"), reverse.permissions_in(text_in(one, "mode"))
        if path and mode is not None:
            found[path] = mode
    return found
