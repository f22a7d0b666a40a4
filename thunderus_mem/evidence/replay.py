"""What the log alone says of the documents: which text each should have, and whether its diffs rebuild it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from thunderus_mem.evidence.steps import Step, known_texts, never_happened
from thunderus_mem.model.event import changes_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from thunderus_mem.model.event import Change, Event

__all__ = ["Reached", "replay"]


class Reached(NamedTuple):
    """Where the log leaves a document: its path, the hash of its text ("" when it was removed).

    ``rebuilt``: the diffs lead from nothing to that text.
    """

    path: str
    hash: str
    rebuilt: bool


def replay(events: Sequence[Event]) -> dict[str, Reached]:
    """Carry out all events in order, from an empty memory: documents by id.

    A change that was given up, as its file held another text, did not happen.
    """
    aborted = never_happened(events)
    last: dict[str, Change] = {}
    steps: dict[str, list[Step]] = {}
    groups = _Groups()
    number = 0
    for event in events:
        kept = [one for one in changes_of(event) if one.doc_id and (event.id, one.path) not in aborted]
        # Of a file that moved, the place it went to counts, in whatever order the event lists them.
        for change in sorted(kept, key=lambda one: bool(one.after)):
            last[change.doc_id] = change
            before = change.before or next((one.before for one in kept if _moved(one, change)), "")
            number += 1
            steps.setdefault(change.doc_id, []).append(
                Step(event.id, number, change.doc_id, change.path, before, change.after, change.before,
                     change.diff)
            )  # fmt: skip
        groups.join([one.doc_id for one in kept if one.op == "rename"])
    return _rebuilt(last, steps, groups)


def _moved(gone: Change, made: Change) -> bool:
    """Whether one change took a document from its old place and the other put it into a new one."""
    same = gone.doc_id == made.doc_id or gone.op == made.op == "rename"
    return same and bool(made.after) and not made.before and bool(gone.before) and not gone.after


def _rebuilt(
    last: Mapping[str, Change], steps: Mapping[str, Sequence[Step]], groups: _Groups
) -> dict[str, Reached]:
    found: dict[str, Reached] = {}
    for ids in groups.of(last):
        texts = known_texts([step for id in ids for step in steps[id]], {})
        for id in ids:
            found[id] = Reached(last[id].path, last[id].after, last[id].after in texts)
    return found


class _Groups:
    """Ids that one document has had, put together."""

    def __init__(self) -> None:
        self._of: dict[str, set[str]] = {}

    def join(self, ids: Sequence[str]) -> None:
        """Say that these are of one document."""
        if len(set(ids)) < 2:
            return
        together = set(ids).union(*(self._of.get(id, ()) for id in ids))
        for id in together:
            self._of[id] = together

    def of(self, ids: Iterable[str]) -> Iterable[Sequence[str]]:
        """The groups of all these ids, each once."""
        done: set[str] = set()
        for id in ids:
            if id not in done:
                group = sorted(self._of.get(id, {id}))
                done.update(group)
                yield group
