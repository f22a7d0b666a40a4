"""What events did to documents: the transitions between their texts, across renames. No disk access."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from thunderus_mem.document.diff import apply_diff, reversed_diff
from thunderus_mem.document.document import content_hash
from thunderus_mem.log.event import ABORTED, changes_of, is_hand_edit
from thunderus_mem.startup import NamedTuple
from thunderus_mem.store.paths import is_safe, kind_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from thunderus_mem.document.document import Document
    from thunderus_mem.log.event import Change
    from thunderus_mem.log.line import Event

_NO_TEXT: Final = ""
RENAME: Final = "rename"


class Transition(NamedTuple):
    """A change of the document by one event, as hashes of its texts ("" for none).

    ``number`` orders them. ``base`` is the text that ``diff`` applies to: ``before``, or "" if the document
    moved to a new file. ``merged`` are ids of documents merged into it by the event. ``own``: the event names
    the document by a current or former id or path.
    """

    event_id: str
    number: int
    doc_id: str
    path: str
    before: str
    after: str
    base: str
    diff: str | None
    merged: tuple[str, ...] = ()
    own: bool = True


class DocumentPast(NamedTuple):
    """The history of a document in the log: transitions in order, paths (the current one first), ids.

    The ids are its current and former ones, and those of documents merged into it.
    """

    transitions: tuple[Transition, ...]
    paths: tuple[str, ...]
    ids: frozenset[str]

    @property
    def sources(self) -> frozenset[str]:
        """Hashes of texts that a transition starts from and none leads to."""
        return frozenset(transition.before for transition in self.transitions) - {
            transition.after for transition in self.transitions
        }


class _Names(NamedTuple):
    ids: set[str]
    paths: list[str]
    also: frozenset[str]


def given_up(events: Iterable[Event]) -> frozenset[tuple[str, str]]:
    """Return ``(event id, path)`` of aborted changes: logged, but never written to their file."""
    return frozenset(
        (event.why.partition(" ")[0], change.path)
        for event in events
        if event.body.get("op") == ABORTED
        for change in changes_of(event)
    )


def happened(events: Sequence[Event]) -> list[tuple[Event, list[Change]]]:
    """Return events in order with the changes they made, without aborted ones."""
    changing = [(event, changes) for event in events if (changes := changes_of(event))]
    not_made = given_up(events)
    return [
        (event, [one for one in changes if one.op != ABORTED and (event.id, one.path) not in not_made])
        for event, changes in changing
    ]


def past_of(doc: Document, events: Sequence[Event]) -> DocumentPast:
    """Return the history of a document and of documents merged into it, across renames of file and id."""
    patches = happened(events)
    names = _names(doc, patches)
    origins = _Origins(patches)
    found: list[Transition] = []
    for event, changes in patches:
        for change in changes:
            own = change.doc_id in names.ids or change.path in names.paths
            if change.after and (own or change.doc_id in names.also):
                merged = _removals(changes) if change.before else []
                found.append(
                    Transition(
                        event_id=event.id,
                        number=len(found),
                        doc_id=change.doc_id,
                        path=change.path,
                        before=origins.of(event, changes, change),
                        after=change.after,
                        base=change.before,
                        diff=change.diff,
                        merged=tuple(one.doc_id for one in merged if one.doc_id in names.also),
                        own=own,
                    )
                )
    return DocumentPast(tuple(found), tuple(names.paths), names.also | names.ids)


class _Origins:
    """Finds the text each change started from; for a moved file, that of its old path."""

    def __init__(self, patches: Iterable[tuple[Event, Sequence[Change]]]) -> None:
        # A manual move is recorded as two hand edits in the same session.
        self._removed_by_hand = {
            (event.session_id, change.doc_id): change.before
            for event, changes in patches
            if is_hand_edit(event)
            for change in _removals(changes)
        }

    def of(self, event: Event, changes: Sequence[Change], change: Change) -> str:
        """Return the hash of the text before, "" if there was none."""
        if change.before:
            return change.before
        if is_hand_edit(event):
            return self._removed_by_hand.get((event.session_id, change.doc_id), _NO_TEXT)
        return moved_from(change, changes)


def _removals(changes: Iterable[Change]) -> list[Change]:
    return [one for one in changes if one.before and not one.after]


def moved_from(change: Change, changes: Sequence[Change]) -> str:
    """Return the hash of the file that the same event removed for a new file; else ""."""
    if change.op == RENAME:
        found = _partners(change, changes)
    else:
        found = [one for one in _removals(changes) if one.doc_id == change.doc_id]
    return found[0].before if found and not change.before else _NO_TEXT


def former_id(change: Change, changes: Sequence[Change]) -> str:
    """Return the id before a rename or move for the new side of it; "" for other changes."""
    partners = _partners(change, changes) if change.op == RENAME and change.after else []
    return partners[0].doc_id if partners else ""


def _names(doc: Document, patches: Iterable[tuple[Event, Sequence[Change]]]) -> _Names:
    """Return the ids and paths of a document across renames, newest first, and the ids merged into it."""
    ids, paths = {doc.id}, [doc.path]
    newest_first = [changes for _, changes in patches][::-1]
    before = 0
    while before != len(ids) + len(paths):
        before = len(ids) + len(paths)
        for changes in newest_first:
            for change in changes:
                if change.doc_id in ids and change.path not in paths and _may_be_a_document(change.path):
                    paths.append(change.path)
                if change.op == RENAME and change.after and (change.doc_id in ids or change.path in paths):
                    ids.update(one.doc_id for one in _partners(change, changes) if one.doc_id)
    return _Names(ids, paths, frozenset(doc.aliases) - ids)


def _may_be_a_document(path: str) -> bool:
    # Log lines are untrusted, and their paths are passed to git.
    return kind_of(path) is not None and is_safe(path)


def _partners(change: Change, changes: Iterable[Change]) -> list[Change]:
    """Return the removals in one event that are the old side of a renamed document."""
    gone = [one for one in _removals(changes) if one.op == RENAME]
    near = [one for one in gone if one.doc_id == change.doc_id or one.before == change.after]
    return near or (gone if len(gone) == 1 else [])


def known_texts(transitions: Sequence[Transition], texts: Mapping[str, str]) -> dict[str, str]:
    """Return every text, by hash, that applying diffs forward and backward to ``texts`` or "" gives.

    Texts that do not match the hash in the log are dropped.
    """
    known = {_NO_TEXT: "", **texts}
    ahead: dict[str, list[tuple[str, str]]] = {}
    back: dict[str, list[tuple[str, str]]] = {}
    for transition in transitions:
        if transition.diff is not None:
            for base in {transition.base, transition.before}:
                ahead.setdefault(base, []).append((transition.after, transition.diff))
                back.setdefault(transition.after, []).append((base, transition.diff))
    waiting = list(known)
    while waiting:
        start = waiting.pop()
        ways = [*ahead.get(start, ()), *((base, reversed_diff(diff)) for base, diff in back.get(start, ()))]
        for goal, diff in ways:
            if goal not in known:
                text = apply_diff(known[start], diff)
                if text is not None and content_hash(text) == goal:
                    known[goal] = text
                    waiting.append(goal)
    return known
