"""Three texts of one document become one: what can be decided is, conflict markers stand around the rest.

Pure. How lines of a body are merged comes from outside (git does it best), as a text with git's markers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from thunderus_mem.model.conflict import Block, examples_in, marked, parse, refined
from thunderus_mem.model.errors import InvalidDocument
from thunderus_mem.model.merge_header import HeaderMerge, Left, Settled, merge_headers
from thunderus_mem.model.splice import Opened, open_header
from thunderus_mem.model.textdiff import raw_lines

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["LABELS", "Left", "Lines", "Merged", "Settled", "merge"]

LABELS: Final = ("ours", "theirs")
_BOM: Final = "\ufeff"

Lines: TypeAlias = "Callable[[str, str, str, tuple[str, str]], str]"
"""Merges base, ours and theirs line by line; where both changed the same lines, git's markers say so, with
the names of the two sides."""


class Merged(NamedTuple):
    """One text of two. With nothing ``left`` it is a document; what is left stands between markers in it."""

    text: str
    settled: tuple[Settled, ...] = ()
    left: tuple[Left, ...] = ()


def merge(
    base: str | None,
    ours: str,
    theirs: str,
    lines: Lines,
    labels: tuple[str, str] = LABELS,
) -> Merged:
    """Merge two changes of ``base`` (``None``: both are new). ``lines`` merges three texts line by line.

    Line ends and a byte order mark are ours, unless only theirs changed them. Raises `InvalidDocument` when
    the frontmatter of a side cannot be read: that is for people, as a whole.
    """
    if ours == theirs or theirs == base:
        return Merged(ours)
    if ours == base:
        return Merged(theirs)
    base, ours, theirs, settled = _alike(base, ours, theirs)
    mine, other = open_header(ours), open_header(theirs)
    before = _opened(base)
    header = merge_headers(before, mine, other)
    head = _marked_header(header, labels, mine.eol)
    body = _body(before, mine, other, lambda was, one, two: lines(was, one, two, labels))
    left = _left_in(body, head.count("\n"), examples_in(_body_of(mine), _body_of(other)))
    return Merged(head + body, (*settled, *header.settled), (*header.left, *left))


def _opened(base: str | None) -> Opened | None:
    """The base, if it reads: one that does not tells nothing about its keys."""
    try:
        return None if base is None else open_header(base)
    except InvalidDocument:
        return None


def _eol(text: str | None) -> str:
    """The one line end of a text; "" when it has several kinds, or there is none to tell."""
    if text is None:
        return ""
    crlf = text.count("\r\n")
    if crlf == text.count("\r") and crlf in (0, text.count("\n")):
        return "\r\n" if crlf else "\n"
    return ""


def _alike(base: str | None, ours: str, theirs: str) -> tuple[str | None, str, str, tuple[Settled, ...]]:
    """The three texts with the line ends and the mark at the start that the merged one gets."""
    ends, settled = (_eol(base), _eol(ours), _eol(theirs)), []
    if ends[1] and ends[2]:
        eol = ends[2] if ends[0] == ends[1] else ends[1]
        if ends[1] != ends[2]:
            settled.append(Settled("line ends", "CRLF" if eol == "\r\n" else "LF"))
        base, ours, theirs = base and _ended(base, eol), _ended(ours, eol), _ended(theirs, eol)
    marks = [text.startswith(_BOM) for text in (base or "", ours, theirs)]
    mark = _BOM if (marks[2] if marks[0] == marks[1] else marks[1]) else ""
    ours, theirs = (mark + text.removeprefix(_BOM) for text in (ours, theirs))
    return base and mark + base.removeprefix(_BOM), ours, theirs, tuple(settled)


def _ended(text: str, eol: str) -> str:
    return text.replace("\r\n", "\n").replace("\n", eol)


def _marked_header(header: HeaderMerge, labels: tuple[str, str], eol: str) -> str:
    """Everything before the body, ended; markers stand around the lines that people must look at."""
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


def _left_in(body: str, above: int, examples: frozenset[tuple[str, str]]) -> tuple[Left, ...]:
    """The conflicts of the merged body, which begins below line ``above``."""
    return tuple(
        Left("text", f"lines {above + part.lines[0]} to {above + part.lines[2]}: both sides wrote them")
        for part in parse(body, examples)
        if isinstance(part, Block)
    )
