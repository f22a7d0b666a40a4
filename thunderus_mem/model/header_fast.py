"""The quick reader of ordinary headers: block mappings and lists of one-line scalars, flow lists of scalars.

It answers ``None`` (declines) on everything else, valid or not; it never judges.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from thunderus_mem.model.header import MAX_DEPTH, MAX_NODES, Entry, Mapping, Node, Scalar, Sequence

_LINE = re.compile(
    r"( *)(- +)?(?:([A-Za-z_][A-Za-z0-9_.-]{0,99}):(?: +|$))?(.*)", re.ASCII
)
# A plain scalar on one line: starts with no indicator, holds no ": " and no " #", does not end in ":".
_PLAIN = re.compile(r"[A-Za-z0-9_./(<~+$^;=\\\u00a1-\u2027\u202a-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]")
_QUOTED = re.compile(r"""(?:"([^"\\]*)"|'((?:[^']|'')*)')(?: +#.*| *)""")
_FLOW_PLAIN = re.compile(r"[A-Za-z0-9_./][A-Za-z0-9_./@+ -]*", re.ASCII)
_FLOW_QUOTED = re.compile(r""""[^"\\]*"|'[^']*'""")


class _Line(NamedTuple):
    offset: int  # of the line in the text
    number: int
    indent: int
    dash: int  # width of "- " and what follows it up to the content; 0 without a dash
    key: str
    rest: str
    rest_column: int


class _Decline(Exception):
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
    if lines[0].indent or lines[0].dash or len(lines) * 4 + text.count(",") > MAX_NODES:
        return None
    try:
        root, after = _mapping(lines, 0, 0, 1)
    except _Decline:
        return None
    return root if after == len(lines) else None


def _lines(text: str) -> list[_Line] | None:
    found = []
    offset = 0
    match = _LINE.match
    carriage = "\r" in text
    for number, raw in enumerate(text.split("\n"), 1):
        line = raw[:-1] if carriage and raw.endswith("\r") else raw
        parts = match(line)
        if parts is None:
            return None
        indent, dash, key, rest = parts.groups()
        if (key is None and not rest) or (not dash and not key and rest.startswith("#")):
            if dash:
                return None
        elif not dash and not key:
            return None
        else:
            found.append(
                _Line(offset, number, len(indent), len(dash or ""), key or "", rest, parts.start(4))
            )
        offset += len(raw) + 1
    return found


def _mapping(lines: list[_Line], index: int, indent: int, depth: int) -> tuple[Mapping, int]:
    if depth > MAX_DEPTH:
        raise _Decline
    entries: list[Entry] = []
    seen: set[str] = set()
    first = lines[index]
    while index < len(lines):
        line = lines[index]
        if line.indent != indent or line.dash or not line.key:
            break
        if line.key in seen:
            raise _Decline
        seen.add(line.key)
        start = line.offset + indent
        end = start + len(line.key)
        key = Scalar(line.key, start, end, line.number, indent + 1, True)
        index += 1
        value: Node
        if line.rest and line.rest[0] != "#":
            value = _value(line)
        else:
            below = lines[index] if index < len(lines) else None
            if below is None or below.indent < indent or (below.indent == indent and not below.dash):
                value = Scalar("", end + 1, end + 1, line.number, indent + len(line.key) + 2, True)
            elif below.dash:
                value, index = _sequence(lines, index, below.indent, depth + 1)
            else:
                value, index = _mapping(lines, index, below.indent, depth + 1)
        entries.append(Entry(key, value))
        if index < len(lines) and lines[index].indent > indent:
            raise _Decline
    if not entries:
        raise _Decline
    return (
        Mapping(
            tuple(entries), first.offset + indent, entries[-1].value.end, first.number, indent + 1, False
        ),
        index,
    )


def _sequence(lines: list[_Line], index: int, indent: int, depth: int) -> tuple[Sequence, int]:
    if depth > MAX_DEPTH:
        raise _Decline
    first = lines[index]
    items: list[Node] = []
    while index < len(lines):
        line = lines[index]
        if line.indent != indent or not line.dash:
            break
        if line.key:
            column = indent + line.dash
            lines[index] = line._replace(indent=column, dash=0)
            item: Node
            item, index = _mapping(lines, index, column, depth + 1)
        else:
            item = _value(line)
            index += 1
        items.append(item)
        if index < len(lines) and lines[index].indent > indent:
            raise _Decline
    return Sequence(tuple(items), first.offset + indent, items[-1].end, first.number, indent + 1, False), index


def _value(line: _Line) -> Node:
    rest = line.rest
    column = line.rest_column
    start = line.offset + column
    mark = rest[0]
    if mark == '"' or mark == "'":
        quoted = _QUOTED.fullmatch(rest)
        if quoted is None:
            raise _Decline
        double, single = quoted.groups()
        if double is not None:
            return Scalar(double, start, start + len(double) + 2, line.number, column + 1, False)
        return Scalar(
            single.replace("''", "'"), start, start + len(single) + 2, line.number, column + 1, False
        )
    if mark == "[":
        return _flow(rest, start, line.number, column)
    if not _PLAIN.match(rest):
        raise _Decline
    comment = rest.find(" #")
    if comment >= 0:
        rest = rest[:comment]
    rest = rest.rstrip(" ")
    if rest[-1] == ":" or ": " in rest:
        raise _Decline
    return Scalar(rest, start, start + len(rest), line.number, column + 1, True)


def _flow(rest: str, start: int, number: int, column: int) -> Sequence:
    rest = rest.rstrip(" ")
    if not rest.endswith("]"):
        raise _Decline
    items: list[Node] = []
    inner = rest[1:-1]
    position = 1
    for part in inner.split(",") if inner.strip(" ") else ():
        item = part.strip(" ")
        lead = position + len(part) - len(part.lstrip(" "))
        place = (start + lead, start + lead + len(item), number, column + lead + 1)
        if _FLOW_PLAIN.fullmatch(item):
            items.append(Scalar(item, *place, True))
        elif _FLOW_QUOTED.fullmatch(item):
            items.append(Scalar(item[1:-1], *place, False))
        else:
            raise _Decline
        position += len(part) + 1
    return Sequence(tuple(items), start, start + len(rest), number, column + 1, True)
