"""Where an item goes into a list that is there, and how items leave it: whole lines where they have lines."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from thunderus_mem.model.splice import insert_lines, line_after, line_start
from thunderus_mem.model.yaml_text import flow_value, scalar, value_lines

if TYPE_CHECKING:
    from thunderus_mem.model.header import Sequence
    from thunderus_mem.model.splice import Opened

# The comma behind an item, and the blanks before the next one if that follows in the line.
_COMMA: Final = re.compile(r"[ \t]*,(?:[ \t]+(?![ \t#\r\n]))?")
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
    if node.flow:
        return without_flow(header, [(one.start, one.end) for one in node.items], gone)
    return _cut(header, [_line_cut(header, node, first, last) for first, last in _runs(gone)])


def without_flow(header: str, places: list[tuple[int, int]], gone: set[int]) -> str:
    """The header without some of what stands, at these places, between one pair of brackets or braces."""
    if len(gone) == len(places):
        comma = re.compile(r"[ \t]*,").match(header, places[-1][1])
        return _cut(header, [(places[0][0], comma.end() if comma is not None else places[-1][1])])
    return _cut(header, [_flow_cut(header, places, first, last) for first, last in _runs(gone)])


def _runs(numbers: set[int]) -> list[tuple[int, int]]:
    """First and last of each run of numbers without a gap."""
    firsts = sorted(number for number in numbers if number - 1 not in numbers)
    return list(zip(firsts, sorted(n for n in numbers if n + 1 not in numbers), strict=True))


def _cut(header: str, cuts: list[tuple[int, int]]) -> str:
    for start, end in reversed(cuts):
        header = header[:start] + header[end:]
    return header


def _line_cut(header: str, node: Sequence, first: int, last: int) -> tuple[int, int]:
    dash = "\n" + " " * (node.column - 1) + "-"
    start = header.rfind(dash, 0, node.items[first].start) + 1
    return start, line_after(header, node.items[last].end)


def _flow_cut(header: str, places: list[tuple[int, int]], first: int, last: int) -> tuple[int, int]:
    """What goes with a run of items: its lines when they are its own, else the comma behind or before it."""
    start, end = places[first][0], places[last][1]
    is_last = last + 1 == len(places)
    tail = _TAIL.match(header, end)
    own = _own_indent(header, start) is not None
    if own and tail is not None and (tail[1] or is_last):
        return line_start(header, start), tail.end()
    comma = _COMMA.match(header, end)
    if not is_last:
        return start, comma.end() if comma is not None else places[last + 1][0]
    if own:
        return start, comma.end() if comma is not None else end
    return places[first - 1][1], end
