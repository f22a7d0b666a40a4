"""The frontmatter of a three-way merge, key by key: starts from our text and puts in what they changed.

A key that only one side changed is taken from that side; lists are sets; `updated`, `created` and
`verification` have rules of their own. What is left then, both sides wrote.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from thunderus_mem.model.anchor import place_of
from thunderus_mem.model.edit import insert_item, remove_item, remove_key, set_key
from thunderus_mem.model.errors import InvalidDocument
from thunderus_mem.model.header import Mapping, Node, Scalar, Sequence, plain_data
from thunderus_mem.model.splice import open_header
from thunderus_mem.model.timestamp import utc_key
from thunderus_mem.model.transplant import Key, transplanted

if TYPE_CHECKING:
    from collections.abc import Callable

    from thunderus_mem.model.splice import Opened

__all__ = ["HeaderMerge", "Left", "Settled", "merge_headers"]

_MISSING: Final = object()
_NULLS: Final = frozenset(["", "~", "null", "Null", "NULL"])
_LISTS: Final = frozenset([("tags",), ("aliases",), ("anchors",)])
_LISTS_BELOW: Final = frozenset(["links", "provenance"])
_ANCHORS: Final = ("anchors",)
_VERIFICATION: Final = ("verification",)
_VERDICT: Final = ("status", "last_verified_commit", "by")
_TRUST: Final = {"stale": 0, "unknown": 1, "verified": 2}


class Settled(NamedTuple):
    """Something that differed and is decided: which ``key`` ("text" for the body), and how."""

    key: str
    how: str


class Left(NamedTuple):
    """Something that people must decide: which ``key`` ("text" for the body), and why."""

    key: str
    why: str


class HeaderMerge(NamedTuple):
    """Our text with everything that is decided, twice: where people must decide, ``ours`` has our value and
    ``theirs`` has theirs. Without anything left the two are equal."""

    ours: str
    theirs: str
    settled: tuple[Settled, ...]
    left: tuple[Left, ...]


def merge_headers(base: Opened | None, ours: Opened, theirs: Opened) -> HeaderMerge:
    """Merge the frontmatter of two texts that read; ``base`` is ``None`` where there was no document.

    Body, fences and line ends of the result are our own.
    """
    work = _Work(base, ours, theirs)
    work.mapping((), base.root if base else None, ours.root, theirs.root)
    if work.other_id:
        work.text = insert_item(work.text, ("aliases",), work.other_id)
    text = work.text
    for change in work.for_people:
        text = change(text)
    work.tell_lost_comments(text)
    return HeaderMerge(work.text, text, tuple(work.settled), tuple(work.left))


class _Work:
    """Our text as it becomes the merged one; what is decided is done, the rest waits for people."""

    def __init__(self, base: Opened | None, ours: Opened, theirs: Opened) -> None:
        self.base = base
        self.theirs = theirs
        self.text = ours.text
        self.other_id = ""
        self.settled: list[Settled] = []
        self.left: list[Left] = []
        self.for_people: list[Callable[[str], str]] = []

    def settle(self, key: Key, how: str) -> None:
        self.settled.append(Settled(".".join(key), how))

    def take(self, key: Key, how: str) -> None:
        """Their value is the one."""
        self.text = transplanted(self.text, key, self.theirs, self.base)
        self.settle(key, how)

    def leave(self, key: Key) -> None:
        """Both wrote it."""
        self.left.append(Left(".".join(key), "both sides changed it"))
        self.for_people.append(lambda text: transplanted(text, key, self.theirs, self.base, over=True))

    def mapping(self, key: Key, base: Mapping | None, ours: Mapping, theirs: Mapping) -> None:
        """Merge the entries of a mapping: first ours in their order, then those only theirs has."""
        for name in dict.fromkeys([entry.key.text for side in (ours, theirs) for entry in side.entries]):
            nodes = base.get(name) if base else None, ours.get(name), theirs.get(name)
            was, mine, other = (_MISSING if node is None else plain_data(node) for node in nodes)
            below = (*key, name)
            if mine == other:
                continue
            if was == mine:
                self.take(below, "only theirs changed it" if nodes[2] else "removed by theirs")
            elif was == other:
                self.settle(below, "only ours changed it" if nodes[1] else "removed by ours")
            else:
                self.both(below, *nodes)

    def both(self, key: Key, base: Node | None, ours: Node | None, theirs: Node | None) -> None:
        """A key that both sides changed, each in its own way."""
        if key in (("updated",), ("created",)) and self.time(key, ours, theirs):
            return
        if _is_set(key) and all(map(_is_listed, (base, ours, theirs))):
            self.items(key, _items(base), _items(ours), _items(theirs))
            if theirs is None and not _items(_node_at(open_header(self.text).root, key)):
                self.text = remove_key(self.text, key)
        elif isinstance(ours, Mapping) and isinstance(theirs, Mapping):
            was = base if isinstance(base, Mapping) else Mapping((), 0, 0, 1, 1, flow=False)
            if key == _VERIFICATION:
                self.verdict(was, ours, theirs)
                was, ours, theirs = map(_without_verdict, (was, ours, theirs))
            self.mapping(key, was, ours, theirs)
        elif theirs is None:
            self.settle(key, "kept: ours changed it, theirs removed it")
        elif ours is None:
            self.take(key, "kept: theirs changed it, ours removed it")
        elif key == ("id",) and isinstance(theirs, Scalar):
            self.other_id = theirs.text
            self.settle(key, f"ours; theirs, {theirs.text}, is an alias now")
        else:
            self.leave(key)

    def time(self, key: Key, ours: Node | None, theirs: Node | None) -> bool:
        """The newer ``updated``, the older ``created``; false when a side has no time there."""
        if not isinstance(ours, Scalar) or not isinstance(theirs, Scalar):
            return False
        mine, other = utc_key(ours.text), utc_key(theirs.text)
        if not mine or not other:
            return False
        newer = key == ("updated",)
        word = "the newer" if newer else "the older"
        if mine != other and (other > mine) == newer:
            self.take(key, f"{word}, theirs")
        else:
            self.settle(key, f"{word}, ours")
        return True

    def items(self, key: Key, base: list[Any], ours: list[Any], theirs: list[Any]) -> None:
        """A list as a set: what either side added is there, what either removed is not."""
        gone = [item for item in ours if item in base and item not in theirs]
        new = [item for item in theirs if item not in base and item not in ours]
        if key == _ANCHORS:
            # Of two fingerprints of one place ours stays: whichever it is, somebody has to look.
            kept = {place_of(item) for item in ours if item not in gone}
            new = [item for item in new if place_of(item) not in kept]
        if ours and theirs and len(gone) == len(ours) and not new:
            # Each side removed what the other kept: an empty list is nobody's wish.
            gone, new = [], [item for item in theirs if item not in ours]
        try:
            text = self.text
            for item in gone:
                text = remove_item(text, key, item)
            for item in new:
                text = insert_item(text, key, item)
        except InvalidDocument:
            text = set_key(self.text, key, [item for item in ours if item not in gone] + new)
        self.text = text
        said = [f"+ {_short(item)}" for item in new] + [f"− {_short(item)}" for item in gone]
        self.settle(key, f"both sides' items, from theirs {', '.join(said)}" if said else "both sides' items")

    def verdict(self, base: Mapping, ours: Mapping, theirs: Mapping) -> None:
        """Status and commit go together; where both sides changed them, the one with less trust is right."""
        was, mine, other = (_verdict(side) for side in (base, ours, theirs))
        if mine == other:
            return
        if was in (mine, other):
            chosen, how = (other, "only theirs changed it") if was == mine else (mine, "only ours changed it")
        else:
            chosen = _less_trusted(mine, other)
            how = f"{chosen[0] or 'nothing'}: both changed it, and the lesser trust is the safe one"
        for name, value, now in zip(_VERDICT, chosen, mine, strict=True):
            place = (*_VERIFICATION, name)
            if value != now and name == "by" and value is None:
                self.text = remove_key(self.text, place)
            elif value != now:
                self.text = set_key(self.text, place, value)
        self.settle(_VERIFICATION, how)

    def tell_lost_comments(self, text: str) -> None:
        """Name the comments of their frontmatter that found no place."""
        old = _comments(self.base.header) if self.base else []
        kept = f"{self.text}\n{text}"
        for comment in _comments(self.theirs.header):
            if comment not in old and comment not in kept:
                self.settled.append(Settled("comment", f"theirs is left out: {comment}"))


def _is_set(key: Key) -> bool:
    return key in _LISTS or (len(key) == 2 and key[0] in _LISTS_BELOW)


def _is_null(node: Node | None) -> bool:
    return node is None or (isinstance(node, Scalar) and node.plain and node.text in _NULLS)


def _is_listed(node: Node | None) -> bool:
    return isinstance(node, Sequence) or _is_null(node)


def _items(node: Node | None) -> list[Any]:
    return plain_data(node) if isinstance(node, Sequence) else []


def _node_at(root: Node | None, key: Key) -> Node | None:
    for name in key:
        root = root.get(name) if isinstance(root, Mapping) else None
    return root


def _short(item: Any) -> str:
    return str(item.get("path", item) if isinstance(item, dict) else item)


def _verdict(node: Mapping) -> tuple[str, str | None, str | None]:
    """Status and commit as one side has them."""
    status, commit, by = (node.get(name) for name in _VERDICT)
    known = commit.text if isinstance(commit, Scalar) and not _is_null(commit) else None
    who = by.text if isinstance(by, Scalar) and not _is_null(by) else None
    return status.text if isinstance(status, Scalar) else "", known, who


def _less_trusted(
    one: tuple[str, str | None, str | None], other: tuple[str, str | None, str | None]
) -> tuple[str, str | None, str | None]:
    if one[0] != other[0]:
        return min(one, other, key=lambda verdict: _TRUST.get(verdict[0], len(_TRUST)))
    # Two commits, and neither saw the text of both.
    return "unknown" if one[0] == "verified" else one[0], None, one[2] if one[2] == other[2] else None


def _without_verdict(node: Mapping) -> Mapping:
    return node._replace(entries=tuple([one for one in node.entries if one.key.text not in _VERDICT]))


def _comments(header: str) -> list[str]:
    return [match[1].strip() for match in re.finditer(r"(?m)(?:^|[ \t])(#[^\r\n]*)", header)]
