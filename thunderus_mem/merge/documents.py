"""Three-way merge of a document: resolve what can be resolved, put conflict markers around the rest. Pure.

The frontmatter is merged by key, applying their changes to our text. A key that only one side changed is
taken from that side; lists are sets; `updated`, `created` and `verification` have their own rules. Keys that
both sides changed are left. The lines of a body are merged by a function that is passed in and returns a text
with git's markers, which `parse` finds; `merge_cleanly` uses no markers and no git.
"""

from __future__ import annotations

import re
from collections import deque
from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from thunderus_mem.document.anchors import place_of
from thunderus_mem.document.diff import raw_lines, three_way
from thunderus_mem.document.document import read_document
from thunderus_mem.document.frontmatter.edit import (
    copy_key,
    insert_item,
    remove_item,
    remove_key,
    set_key,
    with_line_ends,
)
from thunderus_mem.document.frontmatter.nodes import Key, Mapping, Node, Scalar, Sequence, is_null, plain_data
from thunderus_mem.document.frontmatter.read import Opened, open_header
from thunderus_mem.document.timestamp import utc_key
from thunderus_mem.document.unicode import BOM
from thunderus_mem.errors import InvalidDocument
from thunderus_mem.startup import NamedTuple, lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Callable, Container

    from thunderus_mem.document.document import Document

# Conflict markers
#
# A marker is seven or more of one sign at the start of a line, then nothing or a space and a label; git makes
# them longer for nested conflicts. See git-merge(1), "How conflicts are presented".

_FEW = 3
_LONG = 3_000
_WORD = lazy_pattern(r"\w")
_SIGNS = frozenset("<|=>")
_MARK = lazy_pattern(r"(<{7,99}|\|{7,99}|={7,99}|>{7,99})(?: ([^\r\n]*))?\r?\n?$")


class Block(NamedTuple):
    """A conflict: the text of each side, with line ends; ``base`` if the marker style includes it.

    ``labels`` are the names of the sides. ``lines`` are those of the three markers, from 1. ``doubtful``: a
    line of the text looks like the middle marker, so the end of our side is ambiguous.
    """

    ours: str
    theirs: str
    base: str | None
    labels: tuple[str, str]
    lines: tuple[int, int, int]
    doubtful: bool = False


Parts = tuple[str | Block, ...]
"""A text split into plain text and conflicts, in order."""


class Sides(NamedTuple):
    """The whole text of each side; ``base`` is ``None`` unless every conflict includes it."""

    base: str | None
    ours: str
    theirs: str


class _Mark(NamedTuple):
    line: int
    sign: str
    label: str


def parse(text: str, examples: Container[tuple[str, str]] = ()) -> Parts:
    """Find every complete conflict; other markers are text. Never raises; linear time.

    A conflict whose sides are in ``examples`` is text, too.
    """
    if "<<<<<<<" not in text:
        return (text,) if text else ()
    lines = raw_lines(text)
    by_size = _marks(lines)
    openings = sorted((one.line, size) for size, marks in by_size.items() for one in marks if one.sign == "<")
    parts: list[str | Block] = []
    done = 0
    for line, size in openings:
        if line < done or not by_size[size]:
            continue
        marks = by_size[size]
        while marks[0].line < line:
            marks.popleft()
        block = _block(lines, marks)
        if block is None:
            marks.clear()  # no later one of this length is complete either
            continue
        if (block.ours, block.theirs) in examples:
            continue
        parts += ["".join(lines[done:line])] if done < line else []
        parts.append(block)
        done = block.lines[2]
    return (*parts, *(["".join(lines[done:])] if done < len(lines) else []))


def _marks(lines: list[str]) -> dict[int, deque[_Mark]]:
    """Possible markers, by length."""
    found: dict[int, deque[_Mark]] = {}
    for number, line in enumerate(lines):
        match = _MARK.match(line) if line[:1] in _SIGNS else None
        if match is not None:
            found.setdefault(len(match[1]), deque()).append(_Mark(number, line[0], match[2] or ""))
    return found


def _block(lines: list[str], marks: deque[_Mark]) -> Block | None:
    """The conflict opened by the first of these markers, all of one length."""
    first, base, middle = marks[0], 0, 0
    doubtful = False
    for mark in islice(marks, 1, None):
        if mark.sign == "|" and not (base or middle):
            base = mark.line
        elif mark.sign == "=" and not mark.label:
            doubtful = doubtful or middle > 0
            middle = middle or mark.line
        elif mark.sign == ">" and middle:
            return Block(
                "".join(lines[first.line + 1 : base or middle]),
                "".join(lines[middle + 1 : mark.line]),
                "".join(lines[base + 1 : middle]) if base else None,
                (first.label, mark.label),
                (first.line + 1, middle + 1, mark.line + 1),
                doubtful,
            )
    return None


def examples_in(*texts: str | None) -> frozenset[tuple[str, str]]:
    """The conflicts that are part of these texts as examples: the text of each side."""
    blocks = (part for text in texts for part in parse(text or "") if isinstance(part, Block))
    return frozenset((block.ours, block.theirs) for block in blocks)


def find_conflict(text: str) -> tuple[int, ...]:
    """Lines (from 1) of the markers of every complete conflict, three each: opening, middle, closing."""
    return tuple([line for part in parse(text) if isinstance(part, Block) for line in part.lines])


def sides(parts: Parts) -> Sides:
    """Reconstruct the text of each side."""
    blocks = [part for part in parts if isinstance(part, Block)]
    ours = "".join([part.ours if isinstance(part, Block) else part for part in parts])
    theirs = "".join([part.theirs if isinstance(part, Block) else part for part in parts])
    if any(block.base is None for block in blocks):
        return Sides(None, ours, theirs)
    base = "".join([(part.base or "") if isinstance(part, Block) else part for part in parts])
    return Sides(base, ours, theirs)


def marked(ours: str, theirs: str, labels: tuple[str, str], eol: str = "\n") -> str:
    """Format a conflict; each side ends in a line end or is empty."""
    opening, closing = (f" {label}" if label else "" for label in labels)
    return f"<<<<<<<{opening}{eol}{ours}======={eol}{theirs}>>>>>>>{closing}{eol}"


def two_way(ours: str, theirs: str, labels: tuple[str, str]) -> str:
    """Two texts as one conflict, when git is not available to merge them."""
    eol = "\r\n" if "\r\n" in ours + theirs else "\n"
    mine, other = (text if text.endswith("\n") or not text else text + eol for text in (ours, theirs))
    return marked(mine, other, labels, eol)


def refined(text: str, eol: str = "\n", examples: Container[tuple[str, str]] = ()) -> str:
    """The text with its conflicts reduced to the lines that differ.

    As in git, a few lines without letters or digits do not split a conflict. A conflict that includes its
    base, or is very long, stays as it is.
    """
    lines = raw_lines(text)
    parts: list[str] = []
    for part in parse(text, examples):
        if isinstance(part, str):
            parts.append(part)
            continue
        ours, theirs = raw_lines(part.ours), raw_lines(part.theirs)
        if part.base is not None or max(len(ours), len(theirs)) > _LONG:
            parts += lines[part.lines[0] - 1 : part.lines[2]]
        else:
            parts += _cut(ours, theirs, part.labels, eol)
    return "".join(parts)


def _cut(ours: list[str], theirs: list[str], labels: tuple[str, str], eol: str) -> list[str]:
    from difflib import SequenceMatcher

    parts: list[str] = []
    mine = other = ""
    for tag, i1, i2, j1, j2 in SequenceMatcher(None, ours, theirs, autojunk=False).get_opcodes():
        same = "".join(ours[i1:i2])
        at_edge = 0 in (i1, j1) or i2 == len(ours) or j2 == len(theirs)
        if tag == "equal" and (at_edge or i2 - i1 > _FEW or _WORD.search(same)):
            parts += [marked(mine, other, labels, eol)] if mine or other else []
            parts.append(same)
            mine = other = ""
        else:
            mine, other = mine + same, other + "".join(theirs[j1:j2])
    return [*parts, *([marked(mine, other, labels, eol)] if mine or other else [])]


# Keys and bodies

_MISSING: Final = object()
_LISTS: Final = frozenset([("tags",), ("aliases",), ("anchors",)])
_LISTS_BELOW: Final = frozenset(["links", "provenance"])
_ANCHORS: Final = ("anchors",)
_VERIFICATION: Final = ("verification",)
_VERDICT: Final = ("status", "last_verified_commit", "by", "committed")
_TRUST: Final = {"stale": 0, "unknown": 1, "verified": 2}


class MergedKey(NamedTuple):
    """A resolved difference: its ``key`` ("text" for the body), and how it was resolved."""

    key: str
    how: str


class UnmergedKey(NamedTuple):
    """A difference left to the user: its ``key`` ("text" for the body), and why."""

    key: str
    why: str


class HeaderMerge(NamedTuple):
    """The merged text, twice: for unresolved keys ``ours`` has our value and ``theirs`` has theirs. If
    nothing is left, the two are equal."""

    ours: str
    theirs: str
    settled: tuple[MergedKey, ...]
    left: tuple[UnmergedKey, ...]


def merge_headers(base: Opened | None, ours: Opened, theirs: Opened) -> HeaderMerge:
    """Merge the frontmatter of two valid texts; ``base`` is ``None`` if there was no document.

    Body, fences and line ends of the result are ours.
    """
    work = _Work(base, ours, theirs)
    work.mapping((), base.root if base else None, ours.root, theirs.root)
    if work.other_id:
        work.text = insert_item(work.text, ("aliases",), work.other_id)
    text = work.text
    for change in work.unresolved:
        text = change(text)
    work.report_lost_comments(text)
    return HeaderMerge(work.text, text, tuple(work.settled), tuple(work.left))


class _Work:
    """The state of a merge: our text with the resolved changes, and the unresolved ones."""

    def __init__(self, base: Opened | None, ours: Opened, theirs: Opened) -> None:
        self.base = base
        self.theirs = theirs
        self.text = ours.text
        self.other_id = ""
        self.settled: list[MergedKey] = []
        self.left: list[UnmergedKey] = []
        self.unresolved: list[Callable[[str], str]] = []

    def settle(self, key: Key, how: str) -> None:
        self.settled.append(MergedKey(".".join(key), how))

    def take(self, key: Key, how: str) -> None:
        """Take their value."""
        self.text = copy_key(self.text, key, self.theirs, self.base)
        self.settle(key, how)

    def leave(self, key: Key) -> None:
        """Leave a key that both sides changed."""
        self.left.append(UnmergedKey(".".join(key), "both sides changed it"))
        self.unresolved.append(lambda text: copy_key(text, key, self.theirs, self.base, over=True))

    def mapping(self, key: Key, base: Mapping | None, ours: Mapping, theirs: Mapping) -> None:
        """Merge the entries of a mapping: first ours in order, then those only in theirs."""
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
        """Merge a key that both sides changed differently."""
        if key in (("updated",), ("created",)) and self.time(key, ours, theirs):
            return
        if _is_set(key) and all(map(_is_listed, (base, ours, theirs))):
            self.items(key, _items(base), _items(ours), _items(theirs))
            if theirs is None and not _items(open_header(self.text).root.at(key)):
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
            self.settle(key, f"ours; theirs, {theirs.text}, is now an alias")
        else:
            self.leave(key)

    def time(self, key: Key, ours: Node | None, theirs: Node | None) -> bool:
        """Take the newer ``updated`` or the older ``created``; false when a side has no valid time."""
        if not isinstance(ours, Scalar) or not isinstance(theirs, Scalar):
            return False
        mine, other = utc_key(ours.text), utc_key(theirs.text)
        if not mine or not other:
            return False
        newer = key == ("updated",)
        word = "the newer time" if newer else "the older time"
        if mine != other and (other > mine) == newer:
            self.take(key, f"{word} (theirs)")
        else:
            self.settle(key, f"{word} (ours)")
        return True

    def items(self, key: Key, base: list[Any], ours: list[Any], theirs: list[Any]) -> None:
        """Merge a list as a set: with the additions and removals of both sides."""
        gone = [item for item in ours if item in base and item not in theirs]
        new = [item for item in theirs if item not in base and item not in ours]
        if key == _ANCHORS:
            # Keep our fingerprint of a place: the user must verify it in any case.
            kept = {place_of(item) for item in ours if item not in gone}
            new = [item for item in new if place_of(item) not in kept]
        if ours and theirs and len(gone) == len(ours) and not new:
            # Each side removed what the other kept: neither wanted an empty list.
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
        added = f"theirs added: {', '.join(map(_short, new))}" if new else ""
        removed = f"theirs removed: {', '.join(map(_short, gone))}" if gone else ""
        changes = "; ".join(filter(None, (added, removed)))
        self.settle(key, f"items from both sides ({changes})" if changes else "items from both sides")

    def verdict(self, base: Mapping, ours: Mapping, theirs: Mapping) -> None:
        """Merge status and commit together; if both sides changed them, take the less trusted status."""
        was, mine, other = (_verdict(side) for side in (base, ours, theirs))
        if mine == other:
            return
        if was in (mine, other):
            chosen, how = (other, "only theirs changed it") if was == mine else (mine, "only ours changed it")
        else:
            chosen = _less_trusted(mine, other)
            how = f"{chosen[0] or 'none'}: both sides changed it; the less trusted status is used"
        for name, value, now in zip(_VERDICT, chosen, mine, strict=True):
            place = (*_VERIFICATION, name)
            if value != now and name in ("by", "committed") and value is None:
                self.text = remove_key(self.text, place)
            elif value != now:
                self.text = set_key(self.text, place, value)
        self.settle(_VERIFICATION, how)

    def report_lost_comments(self, text: str) -> None:
        """Report comments of their frontmatter that are not in the merged one."""
        old = _comments(self.base.header) if self.base else []
        kept = f"{self.text}\n{text}"
        for comment in _comments(self.theirs.header):
            if comment not in old and comment not in kept:
                self.settled.append(MergedKey("comment", f"omitted from theirs: {comment}"))


def _is_set(key: Key) -> bool:
    return key in _LISTS or (len(key) == 2 and key[0] in _LISTS_BELOW)


def _is_listed(node: Node | None) -> bool:
    return isinstance(node, Sequence) or is_null(node)


def _items(node: Node | None) -> list[Any]:
    return plain_data(node) if isinstance(node, Sequence) else []


def _short(item: Any) -> str:
    return str(item.get("path", item) if isinstance(item, dict) else item)


_Verified: TypeAlias = "tuple[str, str | None, str | None, str | None]"
"""Status, commit, actor and proof that the code was committed."""


def _verdict(node: Mapping) -> _Verified:
    """The values of one side."""
    status, *others = (node.get(name) for name in _VERDICT)
    known = [one.text if isinstance(one, Scalar) and not is_null(one) else None for one in others]
    return (status.text if isinstance(status, Scalar) else "", known[0], known[1], known[2])


def _less_trusted(one: _Verified, other: _Verified) -> _Verified:
    if one[0] != other[0]:
        return min(one, other, key=lambda verdict: _TRUST.get(verdict[0], len(_TRUST)))
    # Verified at two commits, neither of which had both changes.
    return "unknown" if one[0] == "verified" else one[0], None, one[2] if one[2] == other[2] else None, None


def _without_verdict(node: Mapping) -> Mapping:
    return node._replace(entries=tuple([one for one in node.entries if one.key.text not in _VERDICT]))


def _comments(header: str) -> list[str]:
    return [match[1].strip() for match in re.finditer(r"(?m)(?:^|[ \t])(#[^\r\n]*)", header)]


LABELS: Final = ("ours", "theirs")

Lines: TypeAlias = "Callable[[str, str, str, tuple[str, str]], str]"
"""Merges base, ours and theirs by line, with conflict markers and the given labels where both changed the
same lines."""


class Merged(NamedTuple):
    """The merged text. If nothing is ``left`` it is a document; otherwise it has conflict markers."""

    text: str
    settled: tuple[MergedKey, ...] = ()
    left: tuple[UnmergedKey, ...] = ()


def merge(
    base: str | None,
    ours: str,
    theirs: str,
    lines: Lines,
    labels: tuple[str, str] = LABELS,
) -> Merged:
    """Merge two changes of ``base`` (``None``: both are new). ``lines`` merges three texts by line.

    Line ends and a byte order mark are ours, unless only theirs changed them. Raises `InvalidDocument` when
    the frontmatter of a side is invalid: the user must resolve the whole document.
    """
    if ours == theirs or theirs == base:
        return Merged(ours)
    if ours == base:
        return Merged(theirs)
    base, ours, theirs, settled = _normalized(base, ours, theirs)
    mine, other = open_header(ours), open_header(theirs)
    before = _opened(base)
    header = merge_headers(before, mine, other)
    head = _marked_header(header, labels, mine.eol)
    body = _body(before, mine, other, lambda was, one, two: lines(was, one, two, labels))
    left = _left_in(body, head.count("\n"), examples_in(_body_of(mine), _body_of(other)))
    return Merged(head + body, (*settled, *header.settled), (*header.left, *left))


def _opened(base: str | None) -> Opened | None:
    """The base, if it is valid; the keys of an invalid one are unknown."""
    try:
        return None if base is None else open_header(base)
    except InvalidDocument:
        return None


def _eol(text: str | None) -> str:
    """The line end of a text; "" when they are mixed, or there is no text."""
    if text is None:
        return ""
    crlf = text.count("\r\n")
    if crlf == text.count("\r") and crlf in (0, text.count("\n")):
        return "\r\n" if crlf else "\n"
    return ""


def _normalized(
    base: str | None, ours: str, theirs: str
) -> tuple[str | None, str, str, tuple[MergedKey, ...]]:
    """The three texts with the line ends and the byte order mark of the merged text."""
    ends, settled = (_eol(base), _eol(ours), _eol(theirs)), []
    if ends[1] and ends[2]:
        eol = ends[2] if ends[0] == ends[1] else ends[1]
        if ends[1] != ends[2]:
            settled.append(MergedKey("line ends", "CRLF" if eol == "\r\n" else "LF"))
        base = base and with_line_ends(base, eol)
        ours, theirs = with_line_ends(ours, eol), with_line_ends(theirs, eol)
    marks = [text.startswith(BOM) for text in (base or "", ours, theirs)]
    mark = BOM if (marks[2] if marks[0] == marks[1] else marks[1]) else ""
    ours, theirs = (mark + text.removeprefix(BOM) for text in (ours, theirs))
    return base and mark + base.removeprefix(BOM), ours, theirs, tuple(settled)


def _marked_header(header: HeaderMerge, labels: tuple[str, str], eol: str) -> str:
    """Everything before the body, with a line end; with conflict markers around unresolved lines."""
    from difflib import SequenceMatcher

    mine, other = (text[: open_header(text).fences.body_start] for text in (header.ours, header.theirs))
    if not mine.endswith("\n"):
        mine, other = mine + eol, other + eol
    if mine == other:
        return mine
    ours, theirs = raw_lines(mine), raw_lines(other)
    parts: list[str] = []
    for tag, i1, i2, j1, j2 in SequenceMatcher(None, ours, theirs, autojunk=False).get_opcodes():
        lines = "".join(ours[i1:i2])
        parts.append(lines if tag == "equal" else marked(lines, "".join(theirs[j1:j2]), labels, eol))
    return "".join(parts)


def _body(base: Opened | None, ours: Opened, theirs: Opened, lines: Callable[[str, str, str], str]) -> str:
    was = _body_of(base) if base else ""
    mine, other = _body_of(ours), _body_of(theirs)
    if mine == other or (base is not None and was == other):
        return mine
    if base is not None and was == mine:
        return other
    return refined(lines(was, mine, other), ours.eol, examples_in(mine, other))


def _body_of(opened: Opened) -> str:
    return opened.text[opened.fences.body_start :]


def _left_in(body: str, above: int, examples: frozenset[tuple[str, str]]) -> tuple[UnmergedKey, ...]:
    """The conflicts in the merged body, which begins after line ``above``."""
    return tuple(
        UnmergedKey(
            "text", f"lines {above + part.lines[0]} to {above + part.lines[2]}: both sides changed them"
        )
        for part in parse(body, examples)
        if isinstance(part, Block)
    )


def merge_cleanly(path: str, base: str, ours: str, theirs: str, now: str) -> str | None:
    """``ours`` with the changes from ``base`` to ``theirs``; ``None`` when they conflict.

    Changes of adjacent keys and list items in a frontmatter do not conflict. If both sides changed
    ``updated`` it becomes ``now``, because the text is new. The result must still be the same document.
    """
    document = _document(path, ours)
    if document is None:
        return three_way(base, ours, theirs)
    text = three_way(base, ours, theirs, apart=_header_lines(path, base))
    if text is None:
        text = _but_for_updated(path, base, document, theirs, now)
    result = _document(path, text) if text is not None else None
    if text is None or result is None or (result.id, result.kind) != (document.id, document.kind):
        return None
    return _tags_once(text, result)


def _tags_once(text: str, result: Document) -> str:
    """The text without duplicate tags: both sides may have added a tag at different places of the list."""
    for tag in sorted({tag for tag in result.tags if result.tags.count(tag) > 1}):
        with suppress(InvalidDocument):
            text = insert_item(remove_item(text, ("tags",), tag), ("tags",), tag)
    return text


def _document(path: str, text: str) -> Document | None:
    return read_document(path, text.encode("utf-8", "surrogatepass")).document


def _but_for_updated(path: str, base: str, ours: Document, theirs: str, now: str) -> str | None:
    try:
        synced = [set_key(text, ("updated",), ours.updated) for text in (base, theirs)]
    except InvalidDocument:
        return None
    text = three_way(synced[0], ours.text, synced[1], apart=_header_lines(path, base))
    result = _document(path, text) if text is not None else None
    if text is None or result is None or (result.title, result.body) == (ours.title, ours.body):
        return text
    return set_key(text, ("updated",), now)


def _header_lines(path: str, text: str) -> int:
    document = _document(path, text)
    return document.body_line - 2 if document is not None else 0
