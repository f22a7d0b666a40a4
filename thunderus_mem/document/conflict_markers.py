"""Git's conflict markers in a text: where they stand, and what each side wrote. Pure; knows no documents.

A marker is seven or more of one sign at the start of a line, then nothing or a blank and a label; git makes
them longer where one conflict stands inside another. See git-merge(1), "How conflicts are presented".
"""

from __future__ import annotations

import re
from collections import deque
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from thunderus_mem.document.diff import raw_lines

if TYPE_CHECKING:
    from collections.abc import Container

_FEW = 3
_LONG = 3_000
_WORD = re.compile(r"\w")
_SIGNS = frozenset("<|=>")
_MARK = re.compile(r"(<{7,99}|\|{7,99}|={7,99}|>{7,99})(?: ([^\r\n]*))?\r?\n?$")


class Block(NamedTuple):
    """One conflict: what each side has, with line ends; ``base`` where the style of the markers shows it.

    ``labels`` name the sides. ``lines`` are those of the three marks, from 1. ``doubtful`` says that a line
    of the text looks like the mark in the middle, so that nobody can tell where one side ends.
    """

    ours: str
    theirs: str
    base: str | None
    labels: tuple[str, str]
    lines: tuple[int, int, int]
    doubtful: bool = False


Parts = tuple[str | Block, ...]
"""A text cut where conflicts begin and end: plain stretches and blocks, in order."""


class Sides(NamedTuple):
    """The whole text as each side had it; ``base`` is ``None`` unless every block shows one."""

    base: str | None
    ours: str
    theirs: str


class _Mark(NamedTuple):
    line: int
    sign: str
    label: str


def parse(text: str, examples: Container[tuple[str, str]] = ()) -> Parts:
    """Find every conflict that is whole; marks that do not make one are text. Never raises, linear.

    A conflict of two sides that are among the ``examples`` is text, too.
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
            marks.clear()  # no later one of this length is whole either
            continue
        if (block.ours, block.theirs) in examples:
            continue
        parts += ["".join(lines[done:line])] if done < line else []
        parts.append(block)
        done = block.lines[2]
    return (*parts, *(["".join(lines[done:])] if done < len(lines) else []))


def _marks(lines: list[str]) -> dict[int, deque[_Mark]]:
    """What may be a marker, by its length."""
    found: dict[int, deque[_Mark]] = {}
    for number, line in enumerate(lines):
        match = _MARK.match(line) if line[:1] in _SIGNS else None
        if match is not None:
            found.setdefault(len(match[1]), deque()).append(_Mark(number, line[0], match[2] or ""))
    return found


def _block(lines: list[str], marks: deque[_Mark]) -> Block | None:
    """The conflict that the first of these marks, all of one length, opens."""
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
    """The conflicts that stand in texts as an example: what each side has in them."""
    blocks = (part for text in texts for part in parse(text or "") if isinstance(part, Block))
    return frozenset((block.ours, block.theirs) for block in blocks)


def find_conflict(text: str) -> tuple[int, ...]:
    """Lines (from 1) of the marks of every whole conflict, three each: opening, middle, closing."""
    return tuple([line for part in parse(text) if isinstance(part, Block) for line in part.lines])


def sides(parts: Parts) -> Sides:
    """Put the texts of both sides together again."""
    blocks = [part for part in parts if isinstance(part, Block)]
    ours = "".join([part.ours if isinstance(part, Block) else part for part in parts])
    theirs = "".join([part.theirs if isinstance(part, Block) else part for part in parts])
    if any(block.base is None for block in blocks):
        return Sides(None, ours, theirs)
    base = "".join([(part.base or "") if isinstance(part, Block) else part for part in parts])
    return Sides(base, ours, theirs)


def marked(ours: str, theirs: str, labels: tuple[str, str], eol: str = "\n") -> str:
    """One conflict as text; both sides end in a line end or are empty."""
    opening, closing = (f" {label}" if label else "" for label in labels)
    return f"<<<<<<<{opening}{eol}{ours}======={eol}{theirs}>>>>>>>{closing}{eol}"


def two_way(ours: str, theirs: str, labels: tuple[str, str]) -> str:
    """Two texts as one conflict, for want of anything that knows what was before."""
    eol = "\r\n" if "\r\n" in ours + theirs else "\n"
    mine, other = (text if text.endswith("\n") or not text else text + eol for text in (ours, theirs))
    return marked(mine, other, labels, eol)


def refined(text: str, eol: str = "\n", examples: Container[tuple[str, str]] = ()) -> str:
    """The text with conflicts that hold only what the sides do not have in common.

    A few lines without a letter or digit do not cut a conflict in two, as with git. A block that shows its
    base stays whole, and so does a very long one.
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
