"""Where an item goes into a list that is there, and how items leave it: whole lines where they have lines."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from thunderus_mem.model.splice import insert_lines, line_after, line_start
from thunderus_mem.model.yaml_text import flow_value, scalar, value_lines

if TYPE_CHECKING:
    from thunderus_mem.model.header import Sequence
    from thunderus_mem.model.splice import Opened

# What may stand between an item in brackets and the end of its line.
_TAIL: Final = re.compile(r"([ \t]*,)?(?:[ \t]+#[^\n]*|[ \t\r]*)(?:\n|\Z)")


def with_item(opened: Opened, node: Sequence, place: int, item: Any, name: str = "") -> str:
    """The header with ``item`` as number ``place`` (from 0) of the list ``name``, which has others."""
    if not node.flow:
        return _with_line(opened, node, place, item, name)
    broken_up = _with_flow_line(opened, node, place, flow_value(item))
    return broken_up or _within_line(opened.header, node, place, flow_value(item))


def _with_line(opened: Opened, node: Sequence, place: int, item: Any, name: str) -> str:
    header = opened.header
    sibling = node.items[min(place, len(node.items) - 1)]
    between = re.match(r"-( *)", header[line_start(header, sibling.start) + node.column - 1 :])
    blanks = between[1] if between is not None and between[1] else " "
    lines = [" " * (node.column - 1) + "-" + blanks + scalar(item)] if isinstance(item, str) else []
    lines = lines or value_lines(name, [item], node.column - 1)
    if place == 0:
        return insert_lines(opened, line_start(header, node.start), lines)
    return insert_lines(opened, line_after(header, node.items[place - 1].end), lines)


def _within_line(header: str, node: Sequence, place: int, written: str) -> str:
    if place:
        end = node.items[place - 1].end
        return header[:end] + ", " + written + header[end:]
    start = node.items[0].start
    return header[:start] + written + ", " + header[start:]


def _with_flow_line(opened: Opened, node: Sequence, place: int, written: str) -> str:
    """A line of its own between brackets, when the neighbour has one; else ""."""
    header = opened.header
    neighbour = node.items[max(place - 1, 0)]
    indent = _own_indent(header, neighbour.start)
    if indent is None:
        return ""
    if place == 0:
        return insert_lines(opened, line_start(header, neighbour.start), [indent + written + ","])
    tail = _TAIL.match(header, neighbour.end)
    if tail is None:
        return ""
    if tail[1]:
        return insert_lines(opened, tail.end(), [indent + written + ","])
    if place < len(node.items):
        return ""
    lined = insert_lines(opened, tail.end(), [indent + written])
    return lined[: neighbour.end] + "," + lined[neighbour.end :]


def _own_indent(header: str, start: int) -> str | None:
    """The blanks before an item that is the first thing in its line."""
    blanks = header[line_start(header, start) : start]
    return None if blanks.strip(" ") else blanks


def without_items(header: str, node: Sequence, gone: set[int]) -> str:
    """The header without the items of these numbers, of which at least one other stays."""
    cuts: list[tuple[int, int]] = []
    for first in sorted(gone):
        if first - 1 in gone:
            continue
        last = first
        while last + 1 in gone:
            last += 1
        cuts.append(
            _flow_cut(header, node, first, last) if node.flow else _line_cut(header, node, first, last)
        )
    for start, end in reversed(cuts):
        header = header[:start] + header[end:]
    return header


def _line_cut(header: str, node: Sequence, first: int, last: int) -> tuple[int, int]:
    dash = "\n" + " " * (node.column - 1) + "-"
    start = header.rfind(dash, 0, node.items[first].start) + 1
    return start, line_after(header, node.items[last].end)


def _flow_cut(header: str, node: Sequence, first: int, last: int) -> tuple[int, int]:
    start, end = node.items[first].start, node.items[last].end
    tail = _TAIL.match(header, end)
    ends_list = last + 1 == len(node.items)
    if tail is not None and (tail[1] or ends_list) and _own_indent(header, start) is not None:
        return line_start(header, start), tail.end()
    if first:
        return node.items[first - 1].end, end
    return start, node.items[last + 1].start
