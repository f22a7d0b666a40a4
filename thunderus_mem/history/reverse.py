"""Choose the events that `undo` reverts, and compute the texts that revert them. A redo reverts an undo.

The texts are computed from the event and the current documents. Later changes to a document are kept if they
do not overlap; otherwise `Conflict` says which change conflicts. Reads the log and git's index; writes
nothing.
"""

from __future__ import annotations

from datetime import timedelta
from itertools import islice
from typing import TYPE_CHECKING, Final

from thunderus_mem.document.diff import three_way
from thunderus_mem.document.document import content_hash, read_document
from thunderus_mem.document.timestamp import ulid_time
from thunderus_mem.errors import Conflict, InvalidDocument, NotFound
from thunderus_mem.history.log import event_named
from thunderus_mem.index.log import read
from thunderus_mem.log.event import (
    ABORTED,
    HAND_EDIT,
    Change,
    changes_of,
    is_own_patch,
    text_in,
    undone_by,
)
from thunderus_mem.log.transitions import RENAME, given_up
from thunderus_mem.memory.journal import FileChange
from thunderus_mem.memory.past_texts import PastTexts, as_lf, text_before
from thunderus_mem.merge.documents import merge_cleanly
from thunderus_mem.startup import NamedTuple
from thunderus_mem.store.files import ABSENT
from thunderus_mem.store.layout import SHARD_FOLDERS

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from thunderus_mem.index.log import EventRow
    from thunderus_mem.log.line import Event
    from thunderus_mem.log.reader import EventLog
    from thunderus_mem.log.shard import LoggedEvent
    from thunderus_mem.memory.memory import Memory
    from thunderus_mem.memory.past_texts import UndoTexts

UNDO: Final = "undo"
REDO: Final = "redo"
_UNDOS: Final = frozenset((UNDO, REDO))
"""Earlier versions logged a redo as ``undo``."""


def is_undo(event: Event) -> bool:
    """Whether the event reverted another one: an undo or a redo."""
    return text_in(event.body, "op") in _UNDOS


def undone_events(events: Sequence[Event]) -> dict[str, str]:
    """Ids of undone events, each with the event that undid it.

    An undo that was itself undone does not count. The order of the events does not matter: clocks differ.
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
        if len(later) == len(waiting):  # a cycle, only possible in a forged log
            holds.update(dict.fromkeys(later, False))
            break
        waiting = later
    return {target: undo for undo, targets in undos.items() if holds[undo] for target in targets}


def permissions_in(mode: str) -> int | None:
    """Parse permissions from the log (three octal digits), with read access for the owner added; ``None`` for
    any other text."""
    return int(mode, 8) | 0o400 if len(mode) == 3 and set(mode) <= set("01234567") else None


class DocumentStep(NamedTuple):
    """What an event did to one document: its id, path and hash before and after, and the diff."""

    old_id: str
    new_id: str
    old_path: str
    new_path: str
    before: str
    after: str
    diff: str | None

    @property
    def name(self) -> str:
        """The name of the document in messages."""
        return self.new_id or self.old_id or self.new_path


def steps_of(event: Event, not_made: Collection[tuple[str, str]] = ()) -> list[DocumentStep]:
    """The steps of an event, one per document: the two halves of a rename are one step.

    ``not_made`` are ``(event id, path)`` of changes that never reached their file. The other half of such a
    rename only created or removed a file.
    """
    listed = [
        (at, one)
        for at, one in enumerate(changes_of(event))
        if one.op != ABORTED and (event.id, one.path) not in not_made
    ]
    targets = [(at, one) for at, one in listed if one.op == RENAME and one.before == ""]
    found, paired = [], set[int]()
    for at, one in listed:
        if targets and one.op == RENAME and one.after == "":
            pair = min(targets, key=lambda pair: _distance(one, pair[1]))
            targets.remove(pair)
            paired |= {at, pair[0]}
            ids, paths = (one.doc_id, pair[1].doc_id), (one.path, pair[1].path)
            diff = pair[1].diff or one.diff
            found.append(DocumentStep(*ids, *paths, one.before, pair[1].after, diff))
    for at, one in listed:
        if at not in paired:
            ids, paths = (one.doc_id, one.doc_id), (one.path, one.path)
            found.append(DocumentStep(*ids, *paths, one.before, one.after, one.diff))
    return found


def _distance(source: Change, target: Change) -> tuple[bool, bool]:
    return source.before != target.after, source.doc_id != target.doc_id


class DocumentTree:
    """The current documents, with the reversals computed so far applied.

    ``read`` returns the text of a path (``None`` if there is no file), ``find`` the path of an id.
    """

    def __init__(self, read: Callable[[str], str | None], find: Callable[[str], str | None]) -> None:
        self._read = read
        self._find = find
        self._changed: dict[str, str | None] = {}
        self._texts: dict[str, str | None] = {}
        self._moved: dict[str, str] = {}

    def text(self, path: str) -> str | None:
        """The text at a path."""
        if path in self._changed:
            return self._changed[path]
        if path not in self._texts:
            self._texts[path] = self._read(path)
        return self._texts[path]

    def place(self, doc_id: str, path: str) -> str | None:
        """The current path of the document: ``path``, or where its id is now."""
        text = self.text(path)
        if text is not None and (not doc_id or _id(path, text) in (doc_id, "")):
            return path
        elsewhere = self._moved.get(doc_id) or (self._find(doc_id) if doc_id else None)
        if elsewhere is not None and self.text(elsewhere) is not None:
            return elsewhere
        return path if text is not None else None

    def change(self, reversals: Iterable[FileChange]) -> None:
        """Apply reversals to the texts, and forget those that were only read."""
        self._texts.clear()
        for one in reversals:
            self._changed[one.path] = one.after
            if one.after is not None:
                self._moved[one.doc_id] = one.path


def _id(path: str, text: str) -> str:
    document = read_document(path, text.encode("utf-8", "surrogatepass")).document
    return document.id if document is not None else ""


class DocumentHistory:
    """The log's events about some documents, in its order, and unrecorded hand edits since.

    ``waiting`` are ``(event id, path)`` of changes not written yet.
    """

    def __init__(
        self, events: Sequence[Event], by_hand: Sequence[Change], waiting: Collection[tuple[str, str]]
    ) -> None:
        self.not_made = given_up(events).union(waiting)
        self.taken = undone_events(events)
        self._by_hand = by_hand
        self._about: dict[str, list[tuple[int, Event, Change]]] = {}
        every = ((event, change) for event in events for change in changes_of(event))
        for at, (event, change) in enumerate(every):
            for name in {change.doc_id, change.path} - {""}:
                self._about.setdefault(name, []).append((at, event, change))

    def of(self, step: DocumentStep) -> list[tuple[Event, Change]]:
        """The events that changed a document, in the order of the log, each with its change."""
        names = dict.fromkeys((step.old_id, step.new_id, step.old_path, step.new_path))
        found = {
            (at, id(change)): (event, change) for name in names for at, event, change in self._named(name)
        }
        return [found[key] for key in sorted(found, key=lambda key: key[0])]

    def _named(self, name: str) -> list[tuple[int, Event, Change]]:
        return self._about.get(name, [])

    def by_hand(self, step: DocumentStep) -> list[Change]:
        """Unrecorded hand edits of a document."""
        return [one for one in self._by_hand if one.path in (step.old_path, step.new_path)]


class Sources(NamedTuple):
    """The history of the documents and the sources of their past texts.

    ``kept`` are the texts that this working tree kept, ``committed`` returns those that git has of some
    paths, by hash. ``now`` is the time for ``updated``.
    """

    history: DocumentHistory
    kept: UndoTexts
    committed: Callable[[Iterable[str]], Mapping[str, str]]
    now: str


class Blocked(NamedTuple):
    """A document that an event changed and that cannot be reverted: a later change conflicts, or its past
    text cannot be found."""

    step: DocumentStep
    error: Conflict | NotFound


class Reverser:
    """Reverts events on one tree, one after the other."""

    def __init__(self, tree: DocumentTree) -> None:
        self._tree = tree
        self._done: set[str] = set()
        self._blocked: dict[str, Conflict | NotFound] = {}

    def reverse(self, event: Event, sources: Sources) -> tuple[list[FileChange], list[Blocked]]:
        """The changes that revert an event, none where its changes are already gone; and the documents that
        cannot be reverted, also because the reversal of a later event is blocked."""
        paths = {path for step in steps_of(event) for path in (step.old_path, step.new_path)}
        reversal_of = _EventReversal(event, paths, self._tree, sources, frozenset(self._done))
        made: list[FileChange] = []
        blocked: list[Blocked] = []
        for step in reversed(steps_of(event, sources.history.not_made)):
            names = {step.old_id, step.new_id, step.old_path, step.new_path} - {""}
            try:
                for name in sorted(names & self._blocked.keys()):
                    raise self._blocked[name]
                made += reversal_of.reversals(step)
            except (Conflict, NotFound) as error:
                blocked.append(Blocked(step, error))
                self._blocked |= dict.fromkeys(names, error)
        self._tree.change(made)
        self._done.add(event.id)
        return made, blocked


class _EventReversal(NamedTuple):
    """Reverts one event, document by document. ``done`` are events reverted before it."""

    event: Event
    paths: set[str]
    tree: DocumentTree
    sources: Sources
    done: frozenset[str]

    @property
    def history(self) -> DocumentHistory:
        return self.sources.history

    def reversals(self, step: DocumentStep) -> list[FileChange]:
        if step.after == ABSENT:
            return self._restored(step)
        path: str | None = step.new_path
        now = self.tree.text(step.new_path)
        if now is None or content_hash(now) != step.after:  # else its id is known, too
            path = self.tree.place(step.new_id, step.new_path)
            now = self.tree.text(path) if path is not None else None
        if step.before == ABSENT:
            if path is None or now is None:
                if (new_id := self._renamed_to(step)) is not None:
                    raise self._conflict(step, f"renamed to {new_id}")
                return []
            if content_hash(now) != step.after:
                raise self._conflict(step)
            return [FileChange(step.new_id, path, now, None)]
        if path is None or now is None:
            return self._gone(step)
        text = self._text(step, path, now)
        if step.old_path == step.new_path or path == step.old_path:
            return [FileChange(step.old_id, path, now, text)] if text != now else []
        return self._moved_back(step, path, now, text)

    def _renamed_to(self, step: DocumentStep) -> str | None:
        """The id that a later event gave to the document, if that still exists."""
        for event, change in reversed(self.history.of(step)):
            if event.id == self.event.id:
                break
            for other in steps_of(event, self.history.not_made) if change.op == RENAME else ():
                is_same = other.old_id == step.new_id != other.new_id and other.after != ABSENT
                if is_same and self.tree.text(other.new_path) is not None:
                    return other.new_id
        return None

    def _gone(self, step: DocumentStep) -> list[FileChange]:
        old = self.tree.text(step.old_path)
        if old is not None and content_hash(old) == step.before:
            return []
        raise self._conflict(step, "removed")

    def _restored(self, step: DocumentStep) -> list[FileChange]:
        path = self.tree.place(step.old_id, step.old_path)
        if path is not None:
            if content_hash(self.tree.text(path) or "") == step.before:
                return []
            raise self._taken(step, path)
        return [FileChange(step.old_id, step.old_path, None, self._exact(step, None))]

    def _taken(self, step: DocumentStep, path: str) -> Conflict:
        """The error for another text in the file of a document to be restored."""
        taken = _id(path, self.tree.text(path) or "")
        what, hint = taken, f"remove or rename that one first; see `thunderus-mem show {taken}`"
        if taken in ("", step.old_id):
            what = "a different version of it" if taken else "text that is not a document"
            hint = f"move or delete {path} first"
        return Conflict(
            f"cannot restore {step.name!r} to {step.old_path}: {path} now contains {what}", hint=hint
        )

    def _moved_back(self, step: DocumentStep, path: str, now: str, text: str) -> list[FileChange]:
        if path != step.new_path:
            raise self._conflict(step, f"moved to {path}")
        if self.tree.text(step.old_path) is not None:
            raise Conflict(
                f"cannot move {step.name!r} back to {step.old_path}: the file already exists",
                hint=f"move that file first; the document is in {path}",
            )
        return FileChange.move(step.new_id, path, now, step.old_path, new_text=text, new_id=step.old_id)

    def _text(self, step: DocumentStep, path: str, now: str) -> str:
        """The document's text without what the event did to it."""
        found = content_hash(now)
        if found == step.after:
            return self._exact(step, now)
        if found == step.before:
            return now
        if step.before == step.after:
            return now
        past = self._past(step, now)
        base, before = past.text(step.after), past.text(step.before)
        if base is None or before is None:
            raise self._conflict(step, overlaps=True)
        text = merge_cleanly(path, base, now, before, self.sources.now)
        if text is None:
            raise self._conflict(step, overlaps=True)
        return text

    def _exact(self, step: DocumentStep, now: str | None) -> str:
        """The text before the event, for a document unchanged since the event."""
        kept = self.sources.kept.texts(self.event.id).get(step.before)
        if kept is not None and not (step.before == step.after and step.old_path != step.new_path):
            return kept
        if step.before == step.after and now is not None:
            return now
        text = text_before(now, step.diff) if step.diff is not None else None
        if text is not None and content_hash(text) == step.before:
            return text
        text = self._past(step, now).text(step.before)
        if text is None:
            raise NotFound(
                f"cannot find the text of {step.name!r} before {self.event.id}: its diff is not in the log "
                "(too long, or with a secret), this working tree has no copy, and it is in no commit",
                hint="write the document again; `thunderus-mem undo EVENT` can still undo other events",
            )
        return text if now is None else three_way(as_lf(now), now, text) or text

    def _past(self, step: DocumentStep, now: str | None) -> PastTexts:
        made = self.history.of(step)
        own = [*(change for _, change in made), *self.history.by_hand(step)]
        paths = self.paths.union(change.path for change in own)
        return PastTexts(
            own, now, lambda: self.sources.kept.of_changes(made), lambda: self.sources.committed(paths)
        )

    def _conflict(self, step: DocumentStep, what: str = "changed", *, overlaps: bool = False) -> Conflict:
        """The error for a later change that prevents reverting this one."""
        lines = "the same lines of " if overlaps else ""
        verb = "were" if overlaps else "was"
        done = "edited" if what == "changed" else what
        this = f"{self.event.id} ({self.event.body.get('op', '')})"
        by_hand = Conflict(
            f"{lines}{step.name!r} {verb} {done} by hand after {this}",
            hint="nothing was written; "
            f"see `thunderus-mem events show {self.event.id}`, then edit {step.new_path}",
        )
        if self.history.by_hand(step):
            return by_hand
        for later, change in reversed(self.history.of(step)):
            op = str(later.body.get("op", ""))
            if later.id == self.event.id:
                break
            undone = later.id in self.done or later.id in self.history.taken
            if undone or (later.id, change.path) in self.history.not_made or is_undo(later) or op == ABORTED:
                continue
            if op == HAND_EDIT:
                return by_hand
            return Conflict(
                f"{lines}{step.name!r} {verb} {what} after {this}, by {later.id} ({op})",
                hint=f"undo that first: `thunderus-mem undo {later.id}`",
            )
        return Conflict(
            f"{lines}{step.name!r} {verb} {what} after {this}, by git or by hand",
            hint=f"change it with `thunderus-mem edit`; see `thunderus-mem events show {self.event.id}`",
        )


# Choosing: the last changes of this working tree, or the given ones

_LINES: Final = 64
_DAY: Final = timedelta(days=1)
NOT_BY_THE_TOOL: Final = frozenset((HAND_EDIT, ABORTED))
"""Ops of patches that record changes made outside the tool, or aborted ones."""


def origin(event: Event, find: Callable[[str], Event | None]) -> tuple[Event, bool]:
    """The original change behind an event, and whether reverting the event redoes it.

    For an undo (or an undo of an undo, …) this is the change it reverted. ``find`` returns an event by its
    id; if the original event is missing, the undo itself is returned.
    """
    again, seen = False, {event.id}
    while is_undo(event):
        again = not again
        known = [found for id in undone_by(event) if id not in seen and (found := find(id)) is not None]
        if not known:
            break
        event = known[0]
        seen.add(event.id)
    return event, again


def patch_of(event: Event) -> tuple[str, str]:
    """The session and patch of an event, which all events of one command share."""
    return event.session_id, text_in(event.refs, "patch_id") or event.id


def is_by_the_tool(event: Event) -> bool:
    """Whether a command made the event's changes, undo included."""
    return is_own_patch(event) and text_in(event.body, "op") not in NOT_BY_THE_TOOL


def can_be_undone(event: Event, taken: Mapping[str, str], *, undos: bool) -> bool:
    """Whether plain `undo` (or, with ``undos``, its reverse) may choose the event."""
    if event.id in taken or not is_by_the_tool(event):
        return False
    return is_undo(event) is undos and (undos or bool(changes_of(event)))


class UndoChoice(NamedTuple):
    """The options of `undo`: an event or patch by its id, or the last ``number`` changes.

    ``redo`` chooses undos instead.
    """

    event: str | None = None
    number: int = 1
    redo: bool = False


def outline(event: Event) -> Event:
    """The event with only the first of its changes, and without the names of its documents: enough to choose
    it. A large event takes 1 KB for each document."""
    first = [one._replace(diff=None)._asdict() for one in changes_of(event)[:1]]
    body = {key: value for key, value in event.body.items() if key != "changes"}
    refs = {key: value for key, value in event.refs.items() if isinstance(value, str)}
    return event._replace(body={**body, "changes": first}, refs=refs, raw=b"")


class Chosen(NamedTuple):
    """The outlines of an event to revert and of the original change behind it, and whether reverting redoes
    that."""

    event: Event
    origin: Event
    again: bool


def committed_shards(memory: Memory) -> frozenset[str]:
    """The shards in git's index; other shards were written here. Empty outside git."""
    return frozenset(memory.git.tracked(SHARD_FOLDERS)) if memory.git is not None else frozenset()


def chosen(memory: Memory, choice: UndoChoice, committed: frozenset[str]) -> list[tuple[Chosen, ...]]:
    """The chosen changes, newest first; each one is the events of one command, newest first.

    ``committed`` are the shards in git. Raises `NotFound` if there are fewer changes, `Conflict` for one that
    is already undone.
    """
    if choice.event is not None:
        find = _finder(memory, ())
        return [tuple(Chosen(event, *origin(event, find)) for event in _named(memory, choice.event))]
    found = _last(memory, choice, committed)
    if len(found) < choice.number:
        raise _too_few(len(found), choice)
    return found


def _last(memory: Memory, choice: UndoChoice, committed: frozenset[str]) -> list[tuple[Chosen, ...]]:
    """The last changes; reads only as much of the log as needed, and the events about them together."""
    found: list[tuple[Chosen, ...]] = []
    commands, seen = _commands(memory, choice, committed), 0
    while len(found) < choice.number and (some := list(islice(commands, seen or choice.number))):
        seen += len(some)
        events = around(memory, [event for command in some for event in command])
        taken, find = undone_events(events), _finder(memory, events)
        for command in some:
            known = (Chosen(event, *origin(event, find)) for event in command if event.id not in taken)
            if left := tuple(one for one in known if one.again is choice.redo):
                found.append(left)
    return found[: choice.number]


def _commands(memory: Memory, choice: UndoChoice, committed: frozenset[str]) -> Iterator[tuple[Event, ...]]:
    """The events of each candidate command, newest first, undone or not."""
    own = memory.sessions.own()
    index, lines, done = memory.log_index(), _Lines(memory.log), set[tuple[str, int]]()
    resumed = set[str]()

    def is_candidate(entry: LoggedEvent) -> bool:
        return can_be_undone(entry.event, {}, undos=choice.redo) and (
            entry.event.session_id in own or entry.shard not in committed
        )

    shards = None
    if committed:
        sessions = {shard: memory.log.session_of(shard) for shard in memory.log.shards()}
        shards = [
            shard
            for shard, session in sessions.items()
            if shard not in committed or session is None or session in own
        ]
    for rows in index.backwards(kinds=("patch",), shards=shards):
        for entry in read(memory.log, rows, outline):
            if (entry.shard, entry.line) not in done and is_candidate(entry):
                command = list(_same_command(lines, entry, is_candidate))
                done.update((one.shard, one.line) for one in command)
                events = [one.event for one in command]
                if "import" in entry.event.origin or choice.redo:  # it may have been interrupted and resumed
                    same = {one.id: one for one in of_patch(memory, patch_of(entry.event)[1])}
                    rest = [one for one in events if one.id not in same]
                    events = [one for one in (*rest, *reversed(same.values())) if one.id not in resumed]
                    resumed.update(one.id for one in events)
                if events:
                    yield tuple(events)


class _Lines:
    """The events in shards, read once, from the last ones asked for backwards in pieces that grow."""

    def __init__(self, log: EventLog) -> None:
        self._log = log
        self._known: dict[tuple[str, int], LoggedEvent | None] = {}
        self._sizes: dict[str, int] = {}

    def before(self, shard: str, line: int) -> Iterator[LoggedEvent]:
        """Yield the events before a line, newest first."""
        for number in range(line - 1, 0, -1):
            if (shard, number) not in self._known:
                self._read(shard, number)
            entry = self._known[shard, number]
            if entry is not None:
                yield entry

    def _read(self, shard: str, last: int) -> None:
        size = self._sizes.get(shard, _LINES)
        self._sizes[shard] = size * 4
        numbers = range(max(last - size, 0) + 1, last + 1)
        self._known.update(((shard, number), None) for number in numbers)
        for entry in self._log.read_lines(shard, numbers):
            self._known[shard, entry.line] = entry._replace(event=outline(entry.event))


def _same_command(
    lines: _Lines, last: LoggedEvent, is_candidate: Callable[[LoggedEvent], bool]
) -> Iterator[LoggedEvent]:
    """The events of the same command, newest first: the given line and those before it, up to another
    command's.

    The lines of a command are consecutive, because it holds the lock.
    """
    yield last
    for entry in lines.before(last.shard, last.line):
        if patch_of(entry.event) == patch_of(last.event) and is_candidate(entry):
            yield entry
        elif is_by_the_tool(entry.event):
            return


def last_patch(memory: Memory) -> str:
    """The patch of the last change that a command made."""
    for rows in memory.log_index().backwards(kinds=("patch",)):
        for entry in read(memory.log, rows, outline):
            if is_by_the_tool(entry.event):
                return patch_of(entry.event)[1]
    return ""


def not_undone(memory: Memory, event_ids: Iterable[str]) -> list[Chosen]:
    """Those of these events that are in the log and not undone, in the given order."""
    find = _finder(memory, ())
    events = [event for event_id in event_ids if (event := find(event_id)) is not None]
    taken = undone_events(around(memory, events))
    return [Chosen(event, *origin(event, find)) for event in events if event.id not in taken]


def _event(memory: Memory, event_id: str) -> Event | None:
    found = read(memory.log, memory.log_index().naming((), (event_id,)), outline)
    return next((one.event for one in found if one.event.id == event_id), None)


def _finder(memory: Memory, events: Iterable[Event]) -> Callable[[str], Event | None]:
    """Find events by id: in ``events``, else in the log."""
    known = {event.id: event for event in events}
    return lambda event_id: known.get(event_id) or _event(memory, event_id)


def _too_few(found: int, choice: UndoChoice) -> NotFound:
    verb = "redo" if choice.redo else "undo"
    if found:
        message = f"only {found} {'change' if found == 1 else 'changes'} to {verb} in this working tree"
    else:
        message = f"nothing to {verb} in this working tree"
    others = "for another change, pass its id (see `thunderus-mem log --all`)"
    return NotFound(message, hint=f"use -n {found}, or {others}" if found else others)


def _named(memory: Memory, given: str) -> tuple[Event, ...]:
    """The event with an id or a unique prefix of one, or the events of the patch with that id."""
    named = event_named(memory, given)
    found = [outline(named.event)] if named is not None else of_patch(memory, given)
    if not found:
        raise NotFound(f"no event has the id {given!r}", hint="run `thunderus-mem log --all` to list them")
    taken = undone_events(around(memory, found))
    left = tuple(event for event in reversed(found) if event.id not in taken)
    if not left:
        by = taken[found[0].id]
        undo = _event(memory, by)
        aborted = undo is not None and undo.body.get("op") == ABORTED
        hint = "repeat the command to redo it" if aborted else f"to redo it, run `thunderus-mem undo {by}`"
        raise Conflict(f"{given} is already undone by {by}", hint=hint)
    if not any(steps_of(event) or is_undo(event) for event in left):
        raise InvalidDocument(f"{given} changed no document, so there is nothing to undo")
    return left


def around(memory: Memory, events: Iterable[Event]) -> list[Event]:
    """The outlines of the events about the same documents, including undos."""
    rows = memory.log_index().beside(event.id for event in events)
    return [one.event for one in read(memory.log, rows, outline)]


def of_patch(memory: Memory, patch_id: str) -> list[Event]:
    """The outlines of the patch events of a patch, oldest first."""
    return of_patches(memory, [patch_id], outline)[patch_id]


def of_patches(
    memory: Memory, patch_ids: Iterable[str], part: Callable[[Event], Event] | None = None
) -> dict[str, list[Event]]:
    """The patch events of each patch, oldest first: searched on the day its id was made and the next day,
    then (for a proposal approved later) on all later days."""
    found: dict[str, list[Event]] = {patch_id: [] for patch_id in patch_ids}
    asked = {one.upper().replace("PATCH_", "patch_"): one for one in found}
    made = {
        name: time
        for name in asked
        if name.startswith("patch_") and (time := ulid_time(name.removeprefix("patch_"))) is not None
    }

    def take(rows: Iterable[EventRow]) -> bool:
        """Whether one of the events belongs to a patch."""
        events = [one.event for one in read(memory.log, rows, part)]
        named = [(text_in(one.refs, "patch_id"), one) for one in events if is_own_patch(one)]
        belonging = [(name, one) for name, one in named if name in made]
        for name, one in belonging:
            found[asked[name]].append(one)
        return bool(belonging)

    index = memory.log_index()
    days = {f"{time:%Y-%m-%d}" for first in made.values() for time in (first, first + _DAY)}
    take(row for day in sorted(days) for row in index.of_day(day))
    made = {name: time for name, time in made.items() if not found[asked[name]]}
    if made:
        for rows in index.in_order(kinds=("patch",), since=f"{min(made.values()) + _DAY:%Y-%m-%d}"):
            taken = take(rows)
            if not taken and all(found[asked[name]] for name in made):
                break
    return found
