"""The transitions the log knows of one document: which text each event started from and which it left."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from thunderus_mem.model.document import content_hash
from thunderus_mem.model.event import changes_of, is_hand_edit
from thunderus_mem.model.patch import apply_diff, reversed_diff
from thunderus_mem.store.layout import kind_of
from thunderus_mem.store.paths import is_safe

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from thunderus_mem.model.document import Document
    from thunderus_mem.model.event import Change, Event

__all__ = ["NOTHING", "RENAME", "Past", "Transition", "happened", "known_texts", "moved_from", "past_of"]

NOTHING: Final = ""
RENAME: Final = "rename"
ABORTED: Final = "aborted"


class Transition(NamedTuple):
    """One event's change of the document, as hashes of its texts ("" for none).

    ``number`` orders them. ``base`` is the text that ``diff`` starts from: ``before``, or nothing where the
    file was new and the document was not. ``merged`` are ids of documents whose texts the event took in.
    ``own``: the event names the document by its present id or an earlier one, or one of its paths.
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


class Past(NamedTuple):
    """What the log knows of a document: transitions in order, paths (the present one first), ids.

    The ids are those it has had and those of documents it took in.
    """

    transitions: tuple[Transition, ...]
    paths: tuple[str, ...]
    ids: frozenset[str]

    @property
    def sources(self) -> frozenset[str]:
        """Texts that transitions started from and no transition here left."""
        return frozenset(transition.before for transition in self.transitions) - {
            transition.after for transition in self.transitions
        }


class _Names(NamedTuple):
    ids: set[str]
    paths: list[str]
    also: frozenset[str]


def given_up(events: Iterable[Event]) -> frozenset[tuple[str, str]]:
    """``(event id, path)`` of logged changes that found another text in their place and were not made."""
    return frozenset(
        (event.why.partition(" ")[0], change.path)
        for event in events
        if event.body.get("op") == ABORTED
        for change in changes_of(event)
    )


def happened(events: Sequence[Event]) -> list[tuple[Event, list[Change]]]:
    """Events in order with the changes they made; those that were given up are left out."""
    told = [(event, changes) for event in events if (changes := changes_of(event))]
    not_made = given_up(events)
    return [
        (event, [one for one in changes if one.op != ABORTED and (event.id, one.path) not in not_made])
        for event, changes in told
    ]


def past_of(doc: Document, events: Sequence[Event]) -> Past:
    """The transitions of a document and of what was merged into it, through new names of file and id."""
    patches = happened(events)
    names = _names(doc, patches)
    origins = _Origins(patches)
    found: list[Transition] = []
    for event, changes in patches:
        for change in changes:
            own = change.doc_id in names.ids or change.path in names.paths
            if change.after and (own or change.doc_id in names.also):
                merged = _taken_away(changes) if change.before else []
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
    return Past(tuple(found), tuple(names.paths), names.also | names.ids)


class _Origins:
    """Which text each change started from; that of a file that moved is the one of its old place."""

    def __init__(self, patches: Iterable[tuple[Event, Sequence[Change]]]) -> None:
        # A move by hand is recorded as two edits by hand, in the same session.
        self._removed_by_hand = {
            (event.session_id, change.doc_id): change.before
            for event, changes in patches
            if is_hand_edit(event)
            for change in _taken_away(changes)
        }

    def of(self, event: Event, changes: Sequence[Change], change: Change) -> str:
        """The hash of the text before; "" where there was none."""
        if change.before:
            return change.before
        if is_hand_edit(event):
            return self._removed_by_hand.get((event.session_id, change.doc_id), NOTHING)
        return moved_from(change, changes)


def _taken_away(changes: Iterable[Change]) -> list[Change]:
    return [one for one in changes if one.before and not one.after]


def moved_from(change: Change, changes: Sequence[Change]) -> str:
    """The text a new file was made from, when the same event took its old file away; else ""."""
    if change.op == RENAME:
        found = _partners(change, changes)
    else:
        found = [one for one in _taken_away(changes) if one.doc_id == change.doc_id]
    return found[0].before if found and not change.before else NOTHING


def _names(doc: Document, patches: Iterable[tuple[Event, Sequence[Change]]]) -> _Names:
    """Ids and paths of the document through all renames, newest first; and the ids of what it took in."""
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
    # Anybody can write a line of the log; its paths are asked of git.
    return kind_of(path) is not None and is_safe(path)


def _partners(change: Change, changes: Iterable[Change]) -> list[Change]:
    """The changes of one event that took away what a renamed document was before."""
    gone = [one for one in _taken_away(changes) if one.op == RENAME]
    near = [one for one in gone if one.doc_id == change.doc_id or one.before == change.after]
    return near or (gone if len(gone) == 1 else [])


def known_texts(transitions: Sequence[Transition], texts: Mapping[str, str]) -> dict[str, str]:
    """Every text by its hash that the diffs lead to, from nothing or from ``texts``, forward and back.

    A text that has not the hash the log says is none.
    """
    known = {NOTHING: "", **texts}
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
