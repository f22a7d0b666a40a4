"""Taking an event back: from what it did and from the documents as they are now to the texts that undo it.

Nothing is written here. A document that was changed since keeps those changes where they are elsewhere in the
text; where they are not, `Conflict` names what is in the way.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from thunderus_mem.evidence.former import Former, as_lf, text_before
from thunderus_mem.evidence.transitions import given_up
from thunderus_mem.model.document import content_hash, read_document
from thunderus_mem.model.errors import Conflict, NotFound
from thunderus_mem.model.event import HAND_EDIT, changes_of
from thunderus_mem.model.joining import joined
from thunderus_mem.model.three_way import three_way
from thunderus_mem.model.undo import UNDO, Turn, taken_back, turns
from thunderus_mem.store.files import ABSENT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

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
        self._moved: dict[str, str] = {}

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
        elsewhere = self._moved.get(doc_id) or (self._find(doc_id) if doc_id else None)
        if elsewhere is not None and self.text(elsewhere) is not None:
            return elsewhere
        return path if text is not None else None

    def change(self, reversals: Iterable[Reversal]) -> None:
        """Have the texts be as the reversals leave them."""
        for one in reversals:
            self._texts[one.path] = one.after
            if one.after is not None:
                self._moved[one.doc_id] = one.path


def _id(path: str, text: str) -> str:
    document = read_document(path, text.encode("utf-8", "surrogatepass")).document
    return document.id if document is not None else ""


class Story:
    """What the log tells of the documents of one event, and what people did since that nobody recorded."""

    def __init__(self, told: Sequence[Event], by_hand: Sequence[Change]) -> None:
        self.given_up = given_up(told)
        self.taken = taken_back(told)
        self._by_hand = by_hand
        self._about: dict[str, list[tuple[int, Event, Change]]] = {}
        every = ((event, change) for event in told for change in changes_of(event))
        for at, (event, change) in enumerate(every):
            for name in {change.doc_id, change.path} - {""}:
                self._about.setdefault(name, []).append((at, event, change))

    def of(self, turn: Turn) -> list[tuple[Event, Change]]:
        """The events that changed a document, in the order of the log, each with what it did."""
        names = dict.fromkeys((turn.old_id, turn.new_id, turn.old_path, turn.new_path))
        found = {
            (at, id(change)): (event, change) for name in names for at, event, change in self._named(name)
        }
        return [found[key] for key in sorted(found, key=lambda key: key[0])]

    def _named(self, name: str) -> list[tuple[int, Event, Change]]:
        return self._about.get(name, [])

    def by_hand(self, turn: Turn) -> list[Change]:
        """What people changed in a document since."""
        return [one for one in self._by_hand if one.path in (turn.old_path, turn.new_path)]


class Sources(NamedTuple):
    """Where the story of documents and their former texts come from.

    ``told`` gives the events about some ids and paths, in the order of the log; ``by_hand`` is what people
    changed and nobody has recorded yet. ``kept`` gives the text this tree kept for a place in an event,
    ``committed`` the texts that git has of some paths, by hash. ``now`` is the time for ``updated``.
    """

    told: Callable[[Iterable[str], Iterable[str]], Sequence[Event]]
    by_hand: Sequence[Change]
    kept: Callable[[str, int], str | None]
    committed: Callable[[Iterable[str]], Mapping[str, str]]
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
        listed = turns(event)
        paths = {path for turn in listed for path in (turn.old_path, turn.new_path)}
        ids = {name for turn in listed for name in (turn.old_id, turn.new_id)} - {""}
        story = Story(self._sources.told(ids, paths), self._sources.by_hand)
        back = _Back(event, story, paths, self._tree, self._sources, frozenset(self._done))
        made = [
            reversal
            for turn in reversed(listed)
            if (event.id, turn.new_path) not in story.given_up
            for reversal in back.turned(turn)
        ]
        self._tree.change(made)
        self._done.add(event.id)
        return made


class _Back(NamedTuple):
    """One event on its way back, document by document. ``done`` are events taken back before it."""

    event: Event
    story: Story
    paths: set[str]
    tree: Tree
    sources: Sources
    done: frozenset[str]

    def turned(self, turn: Turn) -> list[Reversal]:
        if turn.after == ABSENT:
            return self._brought_back(turn)
        path = self.tree.place(turn.new_id, turn.new_path)
        now = self.tree.text(path) if path is not None else None
        if turn.before == ABSENT:
            if path is None or now is None:
                return []
            if content_hash(now) != turn.after:
                raise self._in_the_way(turn, where="")
            return [Reversal(turn.new_id, path, now, None)]
        if path is None or now is None:
            return self._gone(turn)
        text = self._text(turn, path, now)
        if turn.old_path == turn.new_path or path == turn.old_path:
            return [Reversal(turn.old_id, path, now, text)] if text != now else []
        return self._moved_back(turn, path, now, text)

    def _gone(self, turn: Turn) -> list[Reversal]:
        old = self.tree.text(turn.old_path)
        if old is not None and content_hash(old) == turn.before:
            return []
        raise self._in_the_way(turn, "removed", where="")

    def _brought_back(self, turn: Turn) -> list[Reversal]:
        there = self.tree.place(turn.old_id, turn.old_path)
        if there is not None:
            if content_hash(self.tree.text(there) or "") == turn.before:
                return []
            taken = _id(there, self.tree.text(there) or "") or "another file"
            raise Conflict(
                f"{turn.name} cannot come back to {turn.old_path}: {taken} is in {there} now",
                hint=f"remove or rename that one first: thunderus-mem show {taken}",
            )
        return [Reversal(turn.old_id, turn.old_path, None, self._exact(turn, None))]

    def _moved_back(self, turn: Turn, path: str, now: str, text: str) -> list[Reversal]:
        if path != turn.new_path:
            raise self._in_the_way(turn, f"moved to {path}", where="")
        if self.tree.text(turn.old_path) is not None:
            raise Conflict(
                f"{turn.name} cannot go back to {turn.old_path}: a file is there now",
                hint=f"move that file away first; the document is in {path}",
            )
        return [
            Reversal(turn.new_id, path, now, None, renames=True),
            Reversal(turn.old_id, turn.old_path, None, text, renames=True),
        ]

    def _text(self, turn: Turn, path: str, now: str) -> str:
        """The document's text without what the event did to it."""
        found = content_hash(now)
        if found == turn.after:
            return self._exact(turn, now)
        if found == turn.before:
            return now
        if turn.before == turn.after:
            return now
        former = self._former(turn, now)
        base, before = former.text(turn.after), former.text(turn.before)
        if base is None or before is None:
            raise self._in_the_way(turn)
        text = joined(path, base, now, before, self.sources.now)
        if text is None:
            raise self._in_the_way(turn)
        return text

    def _exact(self, turn: Turn, now: str | None) -> str:
        """The text before the event, where the document is as the event left it."""
        kept = self.sources.kept(self.event.id, turn.place)
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
                f"the text of {turn.name} before {self.event.id} is nowhere any more: the log left its diff "
                "out (it was too long, or showed a secret), this tree kept no copy, and no commit has it",
                hint="write the document anew; `thunderus-mem undo EVENT` still takes back other events",
            )
        return text if now is None else three_way(as_lf(now), now, text) or text

    def _former(self, turn: Turn, now: str | None) -> Former:
        own = [*(change for _, change in self.story.of(turn)), *self.story.by_hand(turn)]
        paths = self.paths.union(change.path for change in own)
        return Former(own, now, lambda: self.sources.committed(paths))

    def _in_the_way(
        self, turn: Turn, what: str = "changed", *, where: str = " in the same place"
    ) -> Conflict:
        """What to say when a later change does not let this one be taken back."""
        by_hand = Conflict(
            f"{turn.name} was {what} by hand since{where}",
            hint=f"nothing is lost: look at {turn.new_path}, and change or remove by hand what should go",
        )
        if self.story.by_hand(turn):
            return by_hand
        for later, _ in reversed(self.story.of(turn)):
            op = str(later.body.get("op", ""))
            if later.id == self.event.id:
                break
            if later.id in self.done or later.id in self.story.taken or op in (UNDO, "aborted"):
                continue
            if op == HAND_EDIT:
                return by_hand
            return Conflict(
                f"{turn.name} was {what} since{where}, by {later.id} ({op})",
                hint=f"take that back first: thunderus-mem undo {later.id}",
            )
        return Conflict(
            f"{turn.name} was {what} since{where}, by git or by hand",
            hint=f"change it with `thunderus-mem edit`; see `thunderus-mem events show {self.event.id}`",
        )
