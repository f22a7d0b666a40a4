"""What the log alone says of the documents: which text each should have, and whether its diffs rebuild it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from thunderus_mem.evidence.transitions import RENAME, Transition, happened, known_texts, moved_from

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
    last: dict[str, Change] = {}
    found: dict[str, list[Transition]] = {}
    groups = _Groups()
    for number, (event, changes) in enumerate(happened(events)):
        # Of a file that moved, the place it went to counts, in whatever order the event lists them.
        for change in sorted(changes, key=lambda one: bool(one.after)):
            if not change.doc_id:
                continue
            last[change.doc_id] = change
            found.setdefault(change.doc_id, []).append(
                Transition(
                    event_id=event.id,
                    number=number,
                    doc_id=change.doc_id,
                    path=change.path,
                    before=change.before or moved_from(change, changes),
                    after=change.after,
                    base=change.before,
                    diff=change.diff,
                )
            )
        groups.join([one.doc_id for one in changes if one.op == RENAME and one.doc_id])
    return _rebuilt(last, found, groups)


def _rebuilt(
    last: Mapping[str, Change], transitions: Mapping[str, Sequence[Transition]], groups: _Groups
) -> dict[str, Reached]:
    found: dict[str, Reached] = {}
    for ids in groups.of(last):
        texts = known_texts([transition for id in ids for transition in transitions[id]], {})
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
