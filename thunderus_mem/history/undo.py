"""Undo: take back changes made through the tool, each as a new event, the log only grows; and restore, which
undoes everything that was done after a snapshot.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from thunderus_mem.document.document import MAX_DOCUMENT, content_hash
from thunderus_mem.document.secrets import holds_secret
from thunderus_mem.document.timestamp import format_timestamp
from thunderus_mem.errors import Conflict, InvalidDocument, NotFound, Refused
from thunderus_mem.history import reverse
from thunderus_mem.index.log import read
from thunderus_mem.log.event import changes_of, document_ids
from thunderus_mem.log.new_event import Ids, PatchLinks
from thunderus_mem.memory.hand_edits import hand_edits
from thunderus_mem.memory.locate import left_behind
from thunderus_mem.memory.past_texts import CommittedTexts
from thunderus_mem.memory.transaction import open_transaction, settle
from thunderus_mem.store.files import read_file
from thunderus_mem.store.paths import inside, may_change

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from thunderus_mem.diagnostic import Diagnostic
    from thunderus_mem.log.event import Change
    from thunderus_mem.log.line import Event
    from thunderus_mem.memory.journal import FileChange
    from thunderus_mem.memory.memory import Memory
    from thunderus_mem.memory.transaction import Transaction

_LAST: Final = reverse.UndoChoice()


class UndoneDocument(NamedTuple):
    """What became of one file: ``op`` is create, update, remove or rename; ``diff`` shows it.

    ``moved_from`` is the path a renamed one had before.
    """

    id: str
    path: str
    op: str
    diff: str | None
    moved_from: str = ""


class UndoneEvent(NamedTuple):
    """An event that was taken back or, with ``again``, is back because its undo was; and the new event.

    ``documents`` is empty when nothing of its changes was left.
    """

    id: str
    ts: str
    op: str
    author: str
    why: str
    again: bool
    undo_id: str
    documents: tuple[UndoneDocument, ...]


class Undone(NamedTuple):
    """What `undo` did, newest change first.

    ``dry_run``: nothing was written on purpose. ``published`` is false when an event is on disk but a file is
    not yet: the next command puts it there.
    """

    events: tuple[UndoneEvent, ...]
    warnings: tuple[Diagnostic, ...] = ()
    recorded: tuple[str, ...] = ()
    dry_run: bool = False
    published: bool = True


class _Reversal(NamedTuple):
    """One event to take back, how, and the patch its undo belongs to."""

    chosen: reverse.Chosen
    patch: str
    changes: tuple[FileChange, ...]

    @property
    def why(self) -> str:
        """The reason, when nobody gives one."""
        first = self.chosen.origin
        reason = f": {first.why}" if first.why else ""
        return f"{'brings back' if self.chosen.again else 'takes back'} {first.body.get('op')}{reason}"


def undo(
    memory: Memory,
    choice: reverse.UndoChoice = _LAST,
    *,
    why: str = "",
    dry_run: bool = False,
    actor: str = "user",
    exact: bool = False,
    modes: Mapping[str, int] = MappingProxyType({}),
) -> Undone:
    """Take back the changes chosen, each as a new event.

    ``exact`` keeps no later change, in whatever place of a text: it is in the way. ``modes`` are permissions
    of files that come back, by path; else they get those the log has.

    All or nothing: raises `Conflict` when a later change is in the way,
    `NotFound` when there is nothing to take back or a text is nowhere any more, `Refused` for a secret.
    """
    planner = _Planner(memory, choice, exact=exact)
    if dry_run:
        memory.refresh()
        by_hand = [edit.change for edit in hand_edits(memory, memory.git_state())]
        planned = planner.committed.fetching(lambda: planner.plan(by_hand))
        return _undone(planned, ["" for _ in planned])._replace(dry_run=True)
    recorded: list[str] = []

    def attempt() -> tuple[list[_Reversal], Undone]:
        with open_transaction(memory, reverse.UNDO) as transaction:
            recorded.extend(transaction.outcome.recorded)
            planned = planner.plan()
            written: list[str] = []
            for one in planned:
                written.append(_commit(transaction, memory, one, why, actor, modes))
                if not transaction.outcome.published:  # the disk refuses: what comes next may need that file
                    break
        return planned, _undone(planned, written)._replace(published=transaction.outcome.published)

    planned, undone = planner.committed.fetching(attempt)
    return undone._replace(warnings=_left_behind(memory, planned), recorded=tuple(recorded))


class _Planner:
    """Works out what `undo` writes, again for each attempt; git is asked between two of them."""

    def __init__(self, memory: Memory, choice: reverse.UndoChoice, *, exact: bool) -> None:
        self._memory = memory
        self._choice = choice
        self._exact = exact
        self._shards = reverse.committed_shards(memory)
        self.committed = CommittedTexts(memory.git)

    def plan(self, by_hand: Sequence[Change] = ()) -> list[_Reversal]:
        """The events to take back and how; ``by_hand`` is what people changed and nobody has recorded yet."""
        memory = self._memory
        sources = reverse.Sources(
            events=memory.events_about,
            by_hand=by_hand,
            kept=memory.undo_texts.read,
            committed=self.committed.texts,
            now=format_timestamp(memory.now()),
        )
        tree = reverse.DocumentTree(_reader(memory), _finder(memory))
        reverser = reverse.Reverser(tree, sources)
        planned = []
        for command in reverse.chosen(memory, self._choice, self._shards):
            patch = memory.new_id("patch")
            for one in command:
                _check_places(one.event)
                if self._exact:
                    _check_unchanged(tree, one.event)
                changes = tuple(reverser.reverse(one.event))
                _check_secrets(changes)
                planned.append(_Reversal(one, patch, changes))
        return planned


def _reader(memory: Memory) -> Callable[[str], str | None]:
    def read(path: str) -> str | None:
        try:
            return read_file(inside(memory.root, path), MAX_DOCUMENT).decode("utf-8")
        except NotFound:
            return None
        except UnicodeDecodeError as error:
            raise Conflict(
                f"{path} is not UTF-8 text any more", hint=f"mend it first: thunderus-mem lint {path}"
            ) from error

    return read


def _finder(memory: Memory) -> Callable[[str], str | None]:
    def find(doc_id: str) -> str | None:
        row = memory.index.get(doc_id)
        return row.path if row is not None else None

    return find


def _check_places(event: Event) -> None:
    """A log can come from anybody: only documents are written."""
    for step in reverse.steps_of(event):
        for path in (step.old_path, step.new_path):
            if not may_change(path):
                raise Refused(
                    f"{event.id} speaks of {path}, where no document lives",
                    hint="it was not written by this tool; look at it with `thunderus-mem events show`",
                )


def _check_unchanged(tree: reverse.DocumentTree, event: Event) -> None:
    """Raise for a document that is not as the event left it."""
    for step in reverse.steps_of(event):
        now = tree.text(step.new_path)
        if ("" if now is None else content_hash(now)) != step.after:
            raise Conflict(
                f"{step.name} ({step.new_path}) was changed since",
                hint="nothing is written; to keep that change and take back the rest: "
                f"thunderus-mem undo {reverse.patch_of(event)[1]}",
            )


def _check_secrets(reversals: Iterable[FileChange]) -> None:
    moved = {one.before for one in reversals if one.renames}
    for one in reversals:
        if one.after is not None and one.after not in moved and holds_secret(one.after):
            raise Refused(
                f"nothing written: {one.path} would hold what looks like a secret again",
                hint="name where the secret is kept instead of the secret",
            )


def _commit(
    transaction: Transaction, memory: Memory, one: _Reversal, why: str, actor: str, modes: Mapping[str, int]
) -> str:
    event = one.chosen.event
    logged = {change.path: reverse.permissions_in(change.mode) for change in changes_of(event)}
    known = {**logged, **modes}
    return transaction.commit(
        reverse.UNDO,
        [reversal._replace(mode=known.get(reversal.path)) for reversal in one.changes],
        why=why or one.why,
        actor=actor,
        links=PatchLinks(undoes=[event.id], about=document_ids(event)),
        ids=Ids(memory.new_id("evt"), one.patch),
    )


def _left_behind(memory: Memory, planned: Iterable[_Reversal]) -> tuple[Diagnostic, ...]:
    """Warnings for documents that still link to one that is gone now."""
    last = {one.path: one for step in planned for one in step.changes}
    gone = [one for one in last.values() if one.after is None and not one.renames and one.doc_id]
    return tuple(finding for one in gone for finding in left_behind(memory, one.doc_id, one.path))


def _undone(planned: Sequence[_Reversal], written: Sequence[str]) -> Undone:
    return Undone(tuple(_told(one, undo_id) for one, undo_id in zip(planned, written, strict=False)))


def _told(one: _Reversal, undo_id: str) -> UndoneEvent:
    first = one.chosen.origin
    return UndoneEvent(
        first.id,
        first.ts,
        str(first.body.get("op", "")),
        str(first.origin.get("author", "")) or first.actor,
        first.why,
        one.chosen.again,
        undo_id,
        tuple(_documents(one.changes)),
    )


def _documents(reversals: Sequence[FileChange]) -> Iterator[UndoneDocument]:
    """What became of each document; the two halves of a rename, which follow each other, are one."""
    moved_from = ""
    for reversal in reversals:
        if reversal.renames and reversal.after is None:
            moved_from = reversal.path
            continue
        change = reversal.for_log()
        yield UndoneDocument(
            change.doc_id, change.path, change.op, change.diff, moved_from if reversal.renames else ""
        )


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
    if not reverse.of_patch(memory, patch):
        raise Conflict(f"nothing was done after {_id(event)}", hint="`thunderus-mem log` shows what happened")
    reason = why or f"restores {_id(event)}"
    choice = reverse.UndoChoice(patch)
    return undo(memory, choice, why=reason, dry_run=dry_run, actor=actor, exact=True, modes=_modes(event))


def _events(memory: Memory) -> Iterator[tuple[Event, bool]]:
    """The snapshots of the log, newest first, and whether each was made in this working tree."""
    own, committed = memory.sessions.own(), reverse.committed_shards(memory)
    for rows in memory.log_index().backwards(kinds=("snapshot",)):
        for entry in read(memory.log, rows):
            if _id(entry.event) and _patch(entry.event):
                yield entry.event, entry.event.session_id in own or entry.shard not in committed


def _snapshot(memory: Memory, event: Event, *, here: bool) -> Snapshot:
    steps = reverse.of_patch(memory, _patch(event))
    paths = {path for step in steps for path in step.refs.get("paths", ()) if isinstance(path, str)}
    ids = {name for step in steps for name in step.refs.get("memory_doc_ids", ()) if isinstance(name, str)}
    taken = reverse.taken_back(memory.events_about(paths, ids)) if steps else {}
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
        path, mode = _text(one.get("path")), reverse.permissions_in(_text(one.get("mode")))
        if path and mode is not None:
            found[path] = mode
    return found
