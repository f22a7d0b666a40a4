"""Finds the header of a document's text and reads it: the fences, ordinary headers in a fast way. Pure.

Two readers stand behind `read_header`: the fast one here, which declines whatever it does not know for sure,
and `full`, over the events of ruamel.yaml's pure parser. They never disagree.
"""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from thunderus_mem.document.frontmatter.nodes import (
    MAX_BYTES,
    MAX_DEPTH,
    MAX_NODES,
    Entry,
    HeaderProblem,
    Mapping,
    Node,
    Scalar,
    Sequence,
)
from thunderus_mem.errors import InvalidDocument

if TYPE_CHECKING:
    from collections.abc import Callable


class Fences(NamedTuple):
    """Where a header stands in a file's text (offsets; lines from 1).

    ``start``/``line`` are the header's first line, ``end`` the offset of the closing fence, ``body_start``
    and ``body_line`` what follows it. Not ``closed``: the offsets are the text's end.
    """

    closed: bool
    start: int
    line: int
    end: int
    body_start: int
    body_line: int


def find_fences(text: str) -> Fences | None:
    """Find the header: a first line ``---`` (after a BOM, if any), closed by a line ``---`` or ``...``.

    Blanks may follow the marks. ``None`` when the first line is no fence. One pass, no backtracking.
    """
    opening = 1 if text.startswith("\ufeff") else 0
    if not text.startswith("---", opening):
        return None
    line_end = text.find("\n", opening)
    if line_end < 0:
        line_end = len(text)
    if text[opening + 3 : line_end].strip(" \t\r"):
        return None
    start = min(line_end + 1, len(text))
    best = _closing(text, line_end, "\n---", len(text))
    best = _closing(text, line_end, "\n...", best)
    if best >= len(text):
        return Fences(False, start, 2, len(text), len(text), 2)
    after = text.find("\n", best)
    body_start = len(text) if after < 0 else after + 1
    body_line = 3 + text.count("\n", start, best)
    return Fences(True, start, 2, best, body_start, body_line)


def _closing(text: str, position: int, mark: str, limit: int) -> int:
    """Offset of the first line before ``limit`` that holds nothing but ``mark``; ``limit`` when none does."""
    while True:
        position = text.find(mark, position, limit)
        if position < 0:
            return limit
        line_end = text.find("\n", position + 1)
        rest = text[position + 4 : len(text) if line_end < 0 else line_end]
        if not rest.strip(" \t\r"):
            return position + 1
        position += 4


# What no YAML reader treats alike: controls, a carriage return alone, line and paragraph separators, a BOM
# that is not at the file's start, and what is no character at all.
_FORBIDDEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff]|\r(?!\n)"
)


def read_header(text: str) -> tuple[Mapping | None, tuple[HeaderProblem, ...]]:
    """Read the text between the fences. Either a mapping and no problem, or ``None`` and why.

    Offsets, lines and columns are relative to ``text``; its first line is 1. An empty header is an empty
    mapping. Never raises, and takes linear time.
    """
    if len(text) * 4 > MAX_BYTES and len(text.encode("utf-8", "surrogatepass")) > MAX_BYTES:
        return None, (
            HeaderProblem(
                "size", "The frontmatter is larger than 32 KiB.", 1, 1, hint="Move text to the body."
            ),
        )
    if not text.replace("\n", "").isprintable():
        bad = _FORBIDDEN.search(text)
        if bad is not None:
            return None, (_control_character(text, bad.start()),)

    fast = read_fast(text)
    if fast is not None:
        return fast, ()
    from thunderus_mem.document.frontmatter.full import read_full

    return read_full(text)


def _control_character(text: str, offset: int) -> HeaderProblem:
    line = text.count("\n", 0, offset) + 1
    column = offset - text.rfind("\n", 0, offset)
    name = f"U+{ord(text[offset]):04X}"
    return HeaderProblem(
        "control-character",
        f"The frontmatter holds the invisible character {name}.",
        line,
        column,
        hint="Delete it, or write it as an escape inside double quotes.",
    )


class Opened(NamedTuple):
    """A text whose header reads."""

    text: str
    fences: Fences
    header: str
    root: Mapping
    eol: str

    def with_header(self, header: str) -> str:
        """The text with another header."""
        return self.text[: self.fences.start] + header + self.text[self.fences.end :]


def open_header(text: str) -> Opened:
    """Read the header of a text that is to be edited. Raises `InvalidDocument` when there is none, or it does
    not read."""
    fences = find_fences(text)
    if fences is None or not fences.closed:
        message = "The document has no frontmatter that begins in line 1 and is closed by a line ---."
        raise InvalidDocument(message, hint="Add the frontmatter by hand, then try again.")
    header = text[fences.start : fences.end]
    root, problems = read_header(header)
    if root is None:
        first = problems[0]
        message = f"The frontmatter cannot be read (line {fences.line + first.line - 1}): {first.message}"
        raise InvalidDocument(
            message, hint=first.hint or "Mend it by hand; it is never rewritten as it stands."
        )
    line = header[: header.find("\n") + 1] or text[: fences.start]
    eol = "\r\n" if line.endswith("\r\n") else "\n"
    return Opened(text, fences, header, root, eol)


# Ordinary headers

_LINE = re.compile(r"( *)(- +)?(?:([A-Za-z_][A-Za-z0-9_.-]{0,99}):(?: +|$))?(.*)", re.ASCII)
# A plain scalar on one line: begins with no indicator, holds no ": " and no " #", does not end in ":".
_STARTS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./(<~+$^;=\\")
_NO_START = frozenset("\u2028\u2029\ufeff\ufffe\uffff")
_QUOTED = re.compile(r"""(?:"([^"\\]*)"|'((?:[^']|'')*)')(?: +#.*| *)""")
_FLOW_PLAIN = re.compile(r"[A-Za-z0-9_./][A-Za-z0-9_./@+ -]*", re.ASCII)
_FLOW_QUOTED = re.compile(r""""[^"\\]*"|'[^']*'""")


# A line that says something: offset, number (from 1), indent, width of a dash with the blanks behind it (0
# without one), key ("" without one), the rest, and the rest's column (from 0).
_Line: TypeAlias = tuple[int, int, int, int, str, str, int]


# Named tuples made without the call of Python that their own way in is: a fifth of all reading here.
_scalar: Final[Callable[[tuple[str, int, int, int, int, bool]], Scalar]] = partial(tuple.__new__, Scalar)
_entry: Final[Callable[[tuple[Scalar, Node]], Entry]] = partial(tuple.__new__, Entry)


class _DeclineError(Exception):
    """Not ordinary: the full reader's case."""


def read_fast(text: str) -> Mapping | None:
    """Read an ordinary header, or answer ``None``. ``text`` holds no control character but line ends."""
    if "\t" in text:
        return None
    lines = _lines(text)
    if lines is None:
        return None
    if not lines:
        return Mapping((), 0, 0, 1, 1, False)
    if lines[0][2] or lines[0][3] or len(lines) * 4 + text.count(",") > MAX_NODES:
        return None
    try:
        root, after = _mapping(lines, 0, 0, 1)
    except _DeclineError:
        return None
    return root if after == len(lines) else None


def _lines(text: str) -> list[_Line] | None:
    """The lines that say something; ``None`` when one is neither a key nor an item nor a comment."""
    found: list[_Line] = []
    offset = 0
    match = _LINE.match
    carriage = "\r" in text
    for number, raw in enumerate(text.split("\n"), 1):
        line = raw[:-1] if carriage and raw.endswith("\r") else raw
        parts = match(line)
        if parts is None:
            return None
        indent, dash, key, rest = parts.groups("")
        if key:
            found.append((offset, number, len(indent), len(dash), key, rest, len(line) - len(rest)))
        elif dash:
            if not rest:
                return None
            found.append((offset, number, len(indent), len(dash), key, rest, len(line) - len(rest)))
        elif rest and rest[0] != "#":
            return None
        offset += len(raw) + 1
    return found


def _mapping(lines: list[_Line], index: int, indent: int, depth: int) -> tuple[Mapping, int]:
    """The block mapping that begins at a line, and the index of the line after it."""
    if depth > MAX_DEPTH:
        raise _DeclineError
    entries: list[Entry] = []
    seen: set[str] = set()
    first = index
    count = len(lines)
    while index < count:
        offset, number, column, dash, key, rest, rest_column = lines[index]
        if column != indent or dash or not key:
            break
        if key in seen:
            raise _DeclineError
        seen.add(key)
        start = offset + indent
        end = start + len(key)
        index += 1
        value: Node
        if rest and rest[0] != "#":
            value = _value(rest, offset + rest_column, number, rest_column + 1, depth)
        else:
            value, index = _below(lines, index, indent, depth) or (
                Scalar("", end + 1, end + 1, number, indent + len(key) + 2, True),
                index,
            )
        entries.append(_entry((_scalar((key, start, end, number, indent + 1, True)), value)))
        if index < count and lines[index][2] > indent:
            raise _DeclineError
    if not entries:
        raise _DeclineError
    start, number = lines[first][0] + indent, lines[first][1]
    return Mapping(tuple(entries), start, entries[-1].value.end, number, indent + 1, False), index


def _below(lines: list[_Line], index: int, indent: int, depth: int) -> tuple[Node, int] | None:
    """The block value below a key that stands ``indent`` columns in; ``None`` when there is none."""
    if index == len(lines):
        return None
    _, _, column, dash, _, _, _ = lines[index]
    if column < indent or (column == indent and not dash):
        return None
    if dash:
        return _sequence(lines, index, column, depth + 1)
    return _mapping(lines, index, column, depth + 1)


def _sequence(lines: list[_Line], index: int, indent: int, depth: int) -> tuple[Sequence, int]:
    """The block list that begins at a line, and the index of the line after it."""
    if depth > MAX_DEPTH:
        raise _DeclineError
    first = index
    items: list[Node] = []
    while index < len(lines):
        offset, number, column, dash, key, rest, rest_column = lines[index]
        if column != indent or not dash:
            break
        item: Node
        if key:
            lines[index] = (offset, number, indent + dash, 0, key, rest, rest_column)
            item, index = _mapping(lines, index, indent + dash, depth + 1)
        else:
            item = _value(rest, offset + rest_column, number, rest_column + 1, depth)
            index += 1
        items.append(item)
        if index < len(lines) and lines[index][2] > indent:
            raise _DeclineError
    start, number = lines[first][0] + indent, lines[first][1]
    return Sequence(tuple(items), start, items[-1].end, number, indent + 1, False), index


def _value(rest: str, start: int, line: int, column: int, depth: int) -> Node:
    """The scalar or flow list that the rest of a line is, in a value that stands ``depth`` deep."""
    mark = rest[0]
    if mark in _STARTS or (mark > "\xa0" and mark not in _NO_START):
        if " #" in rest:
            rest = rest[: rest.find(" #")]
        if rest[-1] == " ":
            rest = rest.rstrip(" ")
        if rest[-1] == ":" or ": " in rest:
            raise _DeclineError
        return _scalar((rest, start, start + len(rest), line, column, True))
    if mark == "[":
        if depth == MAX_DEPTH:
            raise _DeclineError
        return _flow(rest, start, line, column)
    quoted = _QUOTED.fullmatch(rest)
    if quoted is None:
        raise _DeclineError
    double, single = quoted.groups()
    if double is not None:
        return _scalar((double, start, start + len(double) + 2, line, column, False))
    return Scalar(single.replace("''", "'"), start, start + len(single) + 2, line, column, False)


def _flow(rest: str, start: int, line: int, column: int) -> Sequence:
    """A flow list of scalars without commas, colons and quotes inside."""
    rest = rest.rstrip(" ")
    if rest[-1] != "]":
        raise _DeclineError
    items: list[Node] = []
    inner = rest[1:-1]
    position = 1
    for part in inner.split(",") if inner.strip(" ") else ():
        item = part.strip(" ")
        lead = position + len(part) - len(part.lstrip(" "))
        if _FLOW_PLAIN.fullmatch(item):
            items.append(Scalar(item, start + lead, start + lead + len(item), line, column + lead, True))
        elif _FLOW_QUOTED.fullmatch(item):
            items.append(
                Scalar(item[1:-1], start + lead, start + lead + len(item), line, column + lead, False)
            )
        else:
            raise _DeclineError
        position += len(part) + 1
    return Sequence(tuple(items), start, start + len(rest), line, column, True)
