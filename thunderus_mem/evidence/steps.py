"""The steps the log knows of one document: which text each event started from and which it left."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from thunderus_mem.model.document import content_hash
from thunderus_mem.model.event import changes_of, is_hand_edit
from thunderus_mem.model.patch import apply_diff, reversed_diff

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from thunderus_mem.model.document import Document
    from thunderus_mem.model.event import Change, Event

__all__ = ["Past", "Step", "known_texts", "never_happened", "past_of"]

NOTHING = ""


class Step(NamedTuple):
    """One event's change of the document, as hashes of its texts ("" for none).

    ``number`` orders the steps. ``base`` is the text that ``diff`` starts from: ``before``, or nothing where
    the file was new and the document was not. ``merged`` are ids of documents whose texts the event took in.
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
    """What the log knows of a document: its steps in order, the paths it has had (the present one first), its
    ids and those of what it took in."""

    steps: tuple[Step, ...]
    paths: tuple[str, ...]
    ids: frozenset[str]

    @property
    def sources(self) -> frozenset[str]:
        """Texts that steps started from and no step here left."""
        return frozenset(step.before for step in self.steps) - {step.after for step in self.steps}


class _Names(NamedTuple):
    ids: set[str]
    paths: list[str]
    also: frozenset[str]


def never_happened(events: Iterable[Event]) -> frozenset[tuple[str, str]]:
    """``(event id, path)`` of logged changes that found another text in their place and were given up."""
    return frozenset(
        (event.why.partition(" ")[0], change.path)
        for event in events
        if event.body.get("op") == "aborted"
        for change in changes_of(event)
    )


def past_of(doc: Document, events: Sequence[Event]) -> Past:
    """The steps of a document and of what was merged into it, through new names of file and id."""
    patches = [(event, changes) for event in events if (changes := changes_of(event))]
    names = _names(doc, patches)
    aborted = never_happened(events)
    steps: list[Step] = []
    removed_by_hand: dict[tuple[str, str], str] = {
        (event.session_id, change.doc_id): change.before
        for event, changes in patches
        if is_hand_edit(event)
        for change in changes
        if not change.after
    }
    for event, changes in patches:
        kept = [one for one in changes if one.op != "aborted" and (event.id, one.path) not in aborted]
        for change in kept:
            own = change.doc_id in names.ids or change.path in names.paths
            if not change.after or not (own or change.doc_id in names.also):
                continue
            gone = [one for one in kept if one.before and not one.after and one is not change]
            before = change.before or _moved_from(change, gone)
            if not before and is_hand_edit(event):
                before = removed_by_hand.get((event.session_id, change.doc_id), NOTHING)
            merged = tuple(one.doc_id for one in gone if one.doc_id in names.also and change.before)
            steps.append(
                Step(
                    event.id, len(steps), change.doc_id, change.path, before, change.after,
                    change.before, change.diff, merged, own,
                )
            )  # fmt: skip
    return Past(tuple(steps), tuple(names.paths), names.also | names.ids)


def _names(doc: Document, patches: Iterable[tuple[Event, Sequence[Change]]]) -> _Names:
    """Ids and paths of the document through all renames, newest first; and the ids of what it took in."""
    ids, paths = {doc.id}, [doc.path]
    newest_first = [changes for _, changes in patches][::-1]
    before = 0
    while before != len(ids) + len(paths):
        before = len(ids) + len(paths)
        for changes in newest_first:
            for change in changes:
                if change.doc_id in ids and change.path not in paths:
                    paths.append(change.path)
                if change.op == "rename" and change.after and (change.doc_id in ids or change.path in paths):
                    ids.update(one.doc_id for one in _partners(change, changes) if one.doc_id)
    return _Names(ids, paths, frozenset(doc.aliases) - ids)


def _partners(change: Change, changes: Iterable[Change]) -> list[Change]:
    """The changes of one event that took away what a renamed document was before."""
    gone = [one for one in changes if one.op == "rename" and one.before and not one.after]
    near = [one for one in gone if one.doc_id == change.doc_id or one.before == change.after]
    return near or (gone if len(gone) == 1 else [])


def _moved_from(change: Change, gone: Sequence[Change]) -> str:
    """The text a new file was made from, when its event took the old file away."""
    same = [one for one in gone if one.doc_id == change.doc_id]
    found = _partners(change, gone) if change.op == "rename" else same
    return found[0].before if found else NOTHING


def known_texts(steps: Sequence[Step], texts: Mapping[str, str]) -> dict[str, str]:
    """Every text by its hash that the diffs of the steps lead to, from nothing or from ``texts``; both ways.

    A text that has not the hash the log says is none.
    """
    known = {NOTHING: "", **texts}
    ahead: dict[str, list[tuple[str, str]]] = {}
    back: dict[str, list[tuple[str, str]]] = {}
    for step in steps:
        if step.diff is not None:
            for base in {step.base, step.before}:
                ahead.setdefault(base, []).append((step.after, step.diff))
                back.setdefault(step.after, []).append((base, step.diff))
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
