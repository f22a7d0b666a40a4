"""Taking an event back: from what it did and from the documents as they are now to the texts that undo it.

Nothing is written here. A document that was changed since keeps those changes where they are elsewhere in the
text; where they are not, `Conflict` names what is in the way.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from thunderus_mem.evidence.former import Former, as_lf, text_before
from thunderus_mem.evidence.transitions import never_happened
from thunderus_mem.model.document import content_hash, read_document
from thunderus_mem.model.errors import Conflict, NotFound
from thunderus_mem.model.event import HAND_EDIT, changes_of
from thunderus_mem.model.joining import joined
from thunderus_mem.model.three_way import three_way
from thunderus_mem.model.undo import UNDO, Turn, taken_back, turns
from thunderus_mem.store.files import ABSENT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from thunderus_mem.model.event import Change, Event

__all__ = ["Reversal", "Reverser", "Sources", "Tree"]


class Reversal(NamedTuple):
    """One file of what takes an event back: its text now and afterwards, ``None`` for no file.

    A document that moves back is two of them, with ``renames``.
    """

    doc_id: str
    path: str
    before: str | None
    after: str | None
    renames: bool = False


class Tree:
    """The documents as they are, and as the reversals made so far would leave them.

    ``read`` gives the text of a path (``None``: no file), ``find`` the path of an id.
    """

    def __init__(self, read: Callable[[str], str | None], find: Callable[[str], str | None]) -> None:
        self._read = read
        self._find = find
        self._texts: dict[str, str | None] = {}

    def text(self, path: str) -> str | None:
        """The text at a path."""
        if path not in self._texts:
            self._texts[path] = self._read(path)
        return self._texts[path]

    def place(self, doc_id: str, path: str) -> str | None:
        """Where the document is: at ``path``, or where its id is found now."""
        text = self.text(path)
        if text is not None and (not doc_id or _id(path, text) in (doc_id, "")):
            return path
        elsewhere = next((at for at, now in self._texts.items() if now and _id(at, now) == doc_id), None)
        elsewhere = elsewhere or (self._find(doc_id) if doc_id else None)
        if elsewhere is not None and self.text(elsewhere) is not None:
            return elsewhere
        return path if text is not None else None

    def change(self, reversals: Iterable[Reversal]) -> None:
        """Have the texts be as the reversals leave them."""
        self._texts.update({one.path: one.after for one in reversals})


def _id(path: str, text: str) -> str:
    document = read_document(path, text.encode("utf-8", "surrogatepass")).document
    return document.id if document is not None else ""


class Sources(NamedTuple):
    """Where the story of a document and its former texts come from.

    ``told`` gives the events about some ids and paths, in the order of the log; ``by_hand`` is what people
    changed and nobody has recorded yet. ``kept`` gives the text this tree kept for a place in an event,
    ``committed`` all texts that git has of some paths. ``now`` is the time for ``updated``.
    """

    told: Callable[[Iterable[str], Iterable[str]], Sequence[Event]]
    by_hand: Sequence[Change]
    kept: Callable[[str, int], str | None]
    committed: Callable[[Sequence[str]], Iterable[str]]
    now: str


class Reverser:
    """Takes events back on one tree, one after the other."""

    def __init__(self, tree: Tree, sources: Sources) -> None:
        self._tree = tree
        self._sources = sources
        self._done: set[str] = set()

    def reverse(self, event: Event) -> list[Reversal]:
        """What takes the event back; nothing where its changes are gone already.

        Raises `Conflict` where a later change is in the way, `NotFound` where a text is nowhere any more.
        """
        made: list[Reversal] = []
        for turn in reversed(turns(event)):
            if turn.new_path not in self._given_up(event, turn):
                made += self._turned(event, turn)
        self._tree.change(made)
        self._done.add(event.id)
        return made

    def _told(self, turn: Turn) -> Sequence[Event]:
        return self._sources.told({turn.old_id, turn.new_id} - {""}, {turn.old_path, turn.new_path})

    def _given_up(self, event: Event, turn: Turn) -> set[str]:
        """Paths at which the event found another text and never changed it."""
        return {path for id, path in never_happened(self._told(turn)) if id == event.id}

    def _turned(self, event: Event, turn: Turn) -> list[Reversal]:
        if turn.after == ABSENT:
            return self._brought_back(event, turn)
        path = self._tree.place(turn.new_id, turn.new_path)
        now = self._tree.text(path) if path is not None else None
        if turn.before == ABSENT:
            if path is None or now is None:
                return []
            if content_hash(now) != turn.after:
                raise self._in_the_way(event, turn, where="")
            return [Reversal(turn.new_id, path, now, None)]
        if path is None or now is None:
            return self._gone(event, turn)
        text = self._text(event, turn, path, now)
        if turn.old_path == turn.new_path or path == turn.old_path:
            return [Reversal(turn.old_id, path, now, text)] if text != now else []
        return self._moved_back(event, turn, path, now, text)

    def _gone(self, event: Event, turn: Turn) -> list[Reversal]:
        old = self._tree.text(turn.old_path)
        if old is not None and content_hash(old) == turn.before:
            return []
        raise self._in_the_way(event, turn, "removed", where="")

    def _brought_back(self, event: Event, turn: Turn) -> list[Reversal]:
        there = self._tree.place(turn.old_id, turn.old_path)
        if there is not None:
            if content_hash(self._tree.text(there) or "") == turn.before:
                return []
            taken = _id(there, self._tree.text(there) or "") or "another file"
            raise Conflict(
                f"{turn.name} cannot come back to {turn.old_path}: {taken} is in {there} now",
                hint=f"remove or rename that one first: thunderus-mem show {taken}",
            )
        return [Reversal(turn.old_id, turn.old_path, None, self._exact(event, turn, None))]

    def _moved_back(self, event: Event, turn: Turn, path: str, now: str, text: str) -> list[Reversal]:
        if path != turn.new_path:
            raise self._in_the_way(event, turn, f"moved to {path}", where="")
        if self._tree.text(turn.old_path) is not None:
            raise Conflict(
                f"{turn.name} cannot go back to {turn.old_path}: a file is there now",
                hint=f"move that file away first; the document is in {path}",
            )
        return [
            Reversal(turn.new_id, path, now, None, renames=True),
            Reversal(turn.old_id, turn.old_path, None, text, renames=True),
        ]

    def _text(self, event: Event, turn: Turn, path: str, now: str) -> str:
        """The document's text without what the event did to it."""
        found = content_hash(now)
        if found == turn.after:
            return self._exact(event, turn, now)
        if found == turn.before:
            return now
        if turn.before == turn.after:
            return now
        former = self._former(turn, now)
        base, before = former.text(turn.after), former.text(turn.before)
        if base is None or before is None:
            raise self._in_the_way(event, turn)
        text = joined(path, base, now, before, self._sources.now)
        if text is None:
            raise self._in_the_way(event, turn)
        return text

    def _exact(self, event: Event, turn: Turn, now: str | None) -> str:
        """The text before the event, where the document is as the event left it."""
        kept = self._sources.kept(event.id, turn.place)
        if kept is not None and content_hash(kept) == turn.before:
            return kept
        if turn.before == turn.after and now is not None:
            return now
        text = text_before(now, turn.diff) if turn.diff is not None else None
        if text is not None and content_hash(text) == turn.before:
            return text
        text = self._former(turn, now).text(turn.before)
        if text is None:
            raise NotFound(
                f"the text of {turn.name} before {event.id} is nowhere any more: the log left its diff out "
                "(it was too long, or showed a secret), this working tree kept no copy, and no commit has it",
                hint="write the document anew; `thunderus-mem undo EVENT` still takes back other events",
            )
        return text if now is None else three_way(as_lf(now), now, text) or text

    def _former(self, turn: Turn, now: str | None) -> Former:
        ids, paths = {turn.old_id, turn.new_id} - {""}, {turn.old_path, turn.new_path}
        listed = [change for event in self._told(turn) for change in changes_of(event)]
        own = [one for one in (*listed, *self._sources.by_hand) if one.doc_id in ids or one.path in paths]
        names = sorted({one.path for one in own} | paths)
        return Former(own, now, lambda: self._sources.committed(names))

    def _in_the_way(
        self, event: Event, turn: Turn, what: str = "changed", *, where: str = " in the same place"
    ) -> Conflict:
        """What to say when a later change does not let this one be taken back."""
        by_hand = Conflict(
            f"{turn.name} was {what} by hand since{where}",
            hint=f"nothing is lost: look at {turn.new_path}, and change or remove by hand what should go",
        )
        if any(one.path in (turn.new_path, turn.old_path) for one in self._sources.by_hand):
            return by_hand
        told = self._told(turn)
        taken = taken_back(told)
        for later in reversed(told):
            if later.id == event.id:
                break
            op = str(later.body.get("op", ""))
            named = any(one.doc_id == turn.new_id or one.path == turn.new_path for one in changes_of(later))
            done = later.id in self._done or later.id in taken
            if not named or done or op in (UNDO, "aborted"):
                continue
            if op == HAND_EDIT:
                return by_hand
            return Conflict(
                f"{turn.name} was {what} since{where}, by {later.id} ({op})",
                hint=f"take that back first: thunderus-mem undo {later.id}",
            )
        return Conflict(
            f"{turn.name} was {what} since{where}, by git or by hand",
            hint=f"change it with `thunderus-mem edit`; see `thunderus-mem events show {event.id}`",
        )
