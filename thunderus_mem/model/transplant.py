"""Puts the value one document has for a key into another document, as its author wrote it where that fits.

Decides nothing about what should be there; every result is read again before it is given back.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from thunderus_mem.model.edit import data_with, remove_key, set_key
from thunderus_mem.model.errors import InvalidDocument
from thunderus_mem.model.header import Entry, Mapping, Node, Scalar, plain_data, typed_data
from thunderus_mem.model.splice import checked, entry_lines, line_start, open_header

if TYPE_CHECKING:
    from collections.abc import Iterator

    from thunderus_mem.model.splice import Opened

__all__ = ["transplanted"]

Key = tuple[str, ...]


def transplanted(text: str, key: Key, source: Opened, base: Opened | None, *, over: bool = False) -> str:
    """``text`` with the value that ``source`` has for ``key``; without the key when it has none.

    Lines that are still as in ``base`` (any lines, with ``over``) give way to those of ``source``, comments
    and quotes included; elsewhere only the value goes in. Raises `InvalidDocument` where nothing fits.
    """
    _, entry = _found(source.root, key)
    if entry is None:
        return remove_key(text, key)
    opened = open_header(text)
    expected = data_with(plain_data(opened.root), key, plain_data(entry.value))
    for header in _ways(opened, key, source, base, over=over):
        try:
            return checked(opened, header, expected)
        except InvalidDocument:
            continue
    value: Any = typed_data(source.root)
    for name in key:
        value = value[name]
    return set_key(text, key, value)


def _found(root: Mapping, key: Key) -> tuple[Mapping | None, Entry | None]:
    """The entry at ``key`` and the mapping that has it, or would."""
    node: Node | None = root
    for name in key[:-1]:
        node = node.get(name) if isinstance(node, Mapping) else None
    if not isinstance(node, Mapping):
        return None, None
    return node, next((entry for entry in node.entries if entry.key.text == key[-1]), None)


def _ways(opened: Opened, key: Key, source: Opened, base: Opened | None, *, over: bool) -> Iterator[str]:
    """Headers to try: with the author's lines, then with the author's scalar."""
    place, old = _found(opened.root, key)
    origin, new = _found(source.root, key)
    if place is None or origin is None or new is None:
        return
    header = opened.header
    if not place.flow and not origin.flow and place.column == origin.column:
        first, last = entry_lines(source.header, new)
        lines = _with_ends(source.header[first:last], opened.eol)
        if old is None:
            above = _with_ends(source.header[_first_comment(source.header, new) : first], opened.eol)
            at = _place_for(header, place, origin, key[-1])
            yield header[:at] + above + lines + header[at:]
        elif over or _is_untouched(header, old, key, base):
            start, end = entry_lines(header, old)
            yield header[:start] + lines + header[end:]
    written = source.header[new.value.start : new.value.end]
    scalars = old is not None and isinstance(old.value, Scalar) and isinstance(new.value, Scalar)
    if old is not None and scalars and "\n" not in written and written[:1] not in ("|", ">"):
        lead = "" if old.value.start < old.value.end or not written else " "
        yield header[: old.value.start] + lead + written + header[old.value.end :]


def _with_ends(lines: str, eol: str) -> str:
    return lines.replace("\r\n", "\n").replace("\n", eol)


def _is_untouched(header: str, entry: Entry, key: Key, base: Opened | None) -> bool:
    """Whether nobody wrote anything on an entry's lines since the base."""
    was = _found(base.root, key)[1] if base is not None else None
    if base is None or was is None:
        return False
    start, end = entry_lines(header, entry)
    first, last = entry_lines(base.header, was)
    return _with_ends(header[start:end], "\n") == _with_ends(base.header[first:last], "\n")


def _first_comment(header: str, entry: Entry) -> int:
    """Where the comments begin that stand directly above a key, as deep as it."""
    start = line_start(header, entry.key.start)
    comment = re.compile(rf" {{{entry.key.column - 1}}}#")
    while start and comment.match(header, above := line_start(header, start - 1)):
        start = above
    return start


def _place_for(header: str, place: Mapping, origin: Mapping, name: str) -> int:
    """Where a new key goes: behind the nearest of the keys that stand before it where it comes from."""
    before = []
    for entry in origin.entries:
        if entry.key.text == name:
            break
        before.append(entry.key.text)
    known = {entry.key.text: entry for entry in place.entries}
    for neighbour in reversed(before):
        if neighbour in known:
            return entry_lines(header, known[neighbour])[1]
    return _first_comment(header, place.entries[0]) if place.entries else len(header)
