"""The verb `undo`: takes back changes made through the tool, each as a new event; the log only grows."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from thunderus_mem.evidence.reversing import Reversal, Reverser, Sources, Tree
from thunderus_mem.model.document import MAX_DOCUMENT, content_hash
from thunderus_mem.model.errors import Conflict, NotFound, Refused
from thunderus_mem.model.event import changes_of, document_ids
from thunderus_mem.model.timestamp import format_timestamp
from thunderus_mem.model.undo import UNDO, patch_of, permissions_in, turns
from thunderus_mem.store.edits import Edit, Ids
from thunderus_mem.store.places import may_change
from thunderus_mem.transaction.by_hand import hand_edits
from thunderus_mem.verbs.asking_git import Committed, asking
from thunderus_mem.verbs.choosing import Choice, Chosen, chosen, committed_shards, told

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from thunderus_mem.memory import Memory
    from thunderus_mem.model.diagnostic import Diagnostic
    from thunderus_mem.model.event import Change, Event
    from thunderus_mem.transaction.writing import Writing


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


class _Planned(NamedTuple):
    """One event to take back, how, and the patch its undo belongs to."""

    chosen: Chosen
    patch: str
    reversals: tuple[Reversal, ...]

    @property
    def why(self) -> str:
        """The reason, when nobody gives one."""
        first = self.chosen.origin
        reason = f": {first.why}" if first.why else ""
        return f"{'brings back' if self.chosen.again else 'takes back'} {first.body.get('op')}{reason}"


def undo(
    memory: Memory,
    event: str | None = None,
    *,
    number: int = 1,
    redo: bool = False,
    anywhere: bool = False,
    why: str = "",
    dry_run: bool = False,
    actor: str = "user",
    exact: bool = False,
    modes: Mapping[str, int] = MappingProxyType({}),
) -> Undone:
    """Take back the last ``number`` changes made in this working tree, or the ``event`` (or patch) named.

    A change is what one command wrote. ``anywhere`` counts those of other working trees too; ``redo`` takes
    back the last undo instead. ``exact`` keeps no later change, in whatever place of a text: it is in the
    way. ``modes`` are permissions of files that come back, by path; else they get those the log has.

    All or nothing: raises `Conflict` when a later change is in the way,
    `NotFound` when there is nothing to take back or a text is nowhere any more, `Refused` for a secret.
    """
    choice = Choice(event, number, redo, anywhere, committed_shards(memory))
    committed = Committed(memory.git)
    if dry_run:
        memory.refresh()
        by_hand = [edit.change for edit in hand_edits(memory, memory.git_state())]
        planned = asking(committed, lambda: _plan(memory, choice, committed, by_hand, exact=exact))
        return _undone(planned, ["" for _ in planned])._replace(dry_run=True)
    recorded: list[str] = []

    def attempt() -> tuple[list[_Planned], Undone]:
        with memory.writing(UNDO) as transaction:
            recorded.extend(transaction.recorded)
            planned = _plan(memory, choice, committed, (), exact=exact)
            written: list[str] = []
            for one in planned:
                written.append(_commit(transaction, memory, one, why, actor, modes))
                if transaction.pending:  # the disk refuses: what comes next may need that file
                    break
        undone = _undone(planned, written)
        return planned, undone._replace(published=not transaction.pending)

    planned, undone = asking(committed, attempt)
    return undone._replace(warnings=_left_behind(memory, planned), recorded=tuple(recorded))


def _plan(
    memory: Memory, choice: Choice, committed: Committed, by_hand: Sequence[Change], *, exact: bool = False
) -> list[_Planned]:
    sources = Sources(
        told=lambda ids, paths: told(memory, ids, paths),
        by_hand=by_hand,
        kept=memory.kept.read,
        committed=committed.texts,
        now=format_timestamp(memory.now()),
    )
    tree = Tree(_reader(memory), _finder(memory))
    reverser = Reverser(tree, sources)
    planned = []
    for step in chosen(memory, choice):
        patch = memory.new_id("patch")
        for one in step:
            _check_places(one.event)
            if exact:
                _check_unchanged(tree, one.event)
            reversals = tuple(reverser.reverse(one.event))
            _check_secrets(reversals)
            planned.append(_Planned(one, patch, reversals))
    return planned


def _reader(memory: Memory) -> Callable[[str], str | None]:
    from thunderus_mem.store.files import read_file
    from thunderus_mem.store.paths import inside

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
    for turn in turns(event):
        for path in (turn.old_path, turn.new_path):
            if not may_change(path):
                raise Refused(
                    f"{event.id} speaks of {path}, where no document lives",
                    hint="it was not written by this tool; look at it with `thunderus-mem events show`",
                )


def _check_unchanged(tree: Tree, event: Event) -> None:
    """Raise for a document that is not as the event left it."""
    for turn in turns(event):
        now = tree.text(turn.new_path)
        if ("" if now is None else content_hash(now)) != turn.after:
            raise Conflict(
                f"{turn.name} ({turn.new_path}) was changed since",
                hint="nothing is written; to keep that change and take back the rest: "
                f"thunderus-mem undo {patch_of(event)[1]}",
            )


def _check_secrets(reversals: Iterable[Reversal]) -> None:
    from thunderus_mem.model.secrets import holds_secret

    moved = {one.before for one in reversals if one.renames}
    for one in reversals:
        if one.after is not None and one.after not in moved and holds_secret(one.after):
            raise Refused(
                f"nothing written: {one.path} would hold what looks like a secret again",
                hint="name where the secret is kept instead of the secret",
            )


def _commit(
    transaction: Writing, memory: Memory, one: _Planned, why: str, actor: str, modes: Mapping[str, int]
) -> str:
    event = one.chosen.event
    logged = {change.path: permissions_in(change.mode) for change in changes_of(event)}
    known = {**logged, **modes}
    return transaction.commit(
        UNDO,
        [Edit(*reversal, mode=known.get(reversal.path)) for reversal in one.reversals],
        undoes=[event.id],
        about=document_ids(event),
        why=why or one.why,
        actor=actor,
        ids=Ids(memory.new_id("evt"), one.patch),
    ).id


def _left_behind(memory: Memory, planned: Iterable[_Planned]) -> tuple[Diagnostic, ...]:
    """Warnings for documents that still link to one that is gone now."""
    from thunderus_mem.verbs.writing import left_behind

    last = {one.path: one for step in planned for one in step.reversals}
    gone = [one for one in last.values() if one.after is None and not one.renames and one.doc_id]
    return tuple(finding for one in gone for finding in left_behind(memory, one.doc_id, one.path))


def _undone(planned: Sequence[_Planned], written: Sequence[str]) -> Undone:
    return Undone(tuple(_told(one, undo_id) for one, undo_id in zip(planned, written, strict=False)))


def _told(one: _Planned, undo_id: str) -> UndoneEvent:
    first = one.chosen.origin
    return UndoneEvent(
        first.id,
        first.ts,
        str(first.body.get("op", "")),
        str(first.origin.get("author", "")) or first.actor,
        first.why,
        one.chosen.again,
        undo_id,
        tuple(_documents(one.reversals)),
    )


def _documents(reversals: Sequence[Reversal]) -> Iterator[UndoneDocument]:
    """What became of each document; the two halves of a rename, which follow each other, are one."""
    moved_from = ""
    for reversal in reversals:
        if reversal.renames and reversal.after is None:
            moved_from = reversal.path
            continue
        change = Edit(*reversal).as_change()
        yield UndoneDocument(
            change.doc_id, change.path, change.op, change.diff, moved_from if reversal.renames else ""
        )
