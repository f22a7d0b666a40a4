"""Edits of a document's text that change only the lines of one key.

Each edit finds the key in the parsed header, replaces the text there, and parses the result again: a text
that does not read as intended is never returned.
"""

from __future__ import annotations

import re
from itertools import takewhile
from typing import TYPE_CHECKING, Any, TypeAlias

from thunderus_mem.document.frontmatter import nodes, write
from thunderus_mem.document.frontmatter.read import Opened, open_header
from thunderus_mem.errors import InvalidDocument
from thunderus_mem.startup import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

Value: TypeAlias = str | int | float | bool | list[Any] | dict[str, Any] | None
Item: TypeAlias = str | dict[str, str]
"""An item of a list: a string, or, among anchors, a mapping of strings."""


def set_key(text: str, key: nodes.Key, value: Value) -> str:
    """Set ``key`` (a path such as ``("verification", "status")``) to a value.

    A missing key is added at its fixed place, with the parents it needs. The text does not change if the key
    has that value. Raises `InvalidDocument` when the header cannot be parsed or a parent is not a mapping.
    """
    opened = open_header(text)
    before = nodes.plain_data(opened.root)
    mapping, parent = opened.root, ""
    for depth, name in enumerate(key):
        entry = mapping.entry(name)
        rest = key[depth + 1 :]
        if entry is None:
            wrapped = _wrapped(rest, value)
            header = write.with_new_key(opened, mapping, name, wrapped, parent)
            return write.checked(opened, header, _data_with(before, key, value))
        if not rest:
            if nodes.plain_data(entry.value) == write.as_read(value) and _same_type(entry.value, value):
                return text
            header = write.with_value(opened, mapping, entry, value)
            return write.checked(opened, header, _data_with(before, key, value))
        if isinstance(entry.value, nodes.Mapping) and entry.value.entries:
            mapping, parent = entry.value, name
            continue
        if not (nodes.is_null(entry.value) or isinstance(entry.value, nodes.Mapping)):
            message = f"the key '{'.'.join(key[: depth + 1])}' is not a mapping"
            raise InvalidDocument(message, hint=f"make '{name}' a mapping, or remove it")
        header = write.with_value(opened, mapping, entry, _wrapped(rest, value))
        return write.checked(opened, header, _data_with(before, key, value))
    raise InvalidDocument("no key given", hint="give the key to set")


def _same_type(node: nodes.Node, value: Value) -> bool:
    """Whether a scalar with the right text also has the right type: quoted scalars are strings."""
    if not isinstance(node, nodes.Scalar) or isinstance(value, str):
        return True
    return node.plain


def _wrapped(rest: nodes.Key, value: Any) -> Any:
    for name in reversed(rest):
        value = {name: value}
    return value


def _data_with(data: Any, key: nodes.Key, value: Any) -> Any:
    """The plain data of a header after ``key`` is set."""
    copy = dict(data) if isinstance(data, dict) else {}
    head, rest = key[0], key[1:]
    copy[head] = _data_with(copy.get(head), rest, value) if rest else write.as_read(value)
    return copy


def _without(data: Any, key: nodes.Key, emptied: Any) -> Any:
    """The plain data of a header without ``key``; ``emptied`` is the value of a mapping without keys."""
    copy = dict(data)
    if len(key) > 1:
        copy[key[0]] = _without(copy[key[0]], key[1:], emptied) or emptied
    else:
        del copy[key[0]]
    return copy


def remove_key(text: str, key: nodes.Key) -> str:
    """Remove a key and its value; a missing key changes nothing.

    A mapping that loses its last key is kept, without a value. Raises `InvalidDocument` like `set_key`.
    """
    opened = open_header(text)
    mapping, entry = _found(opened.root, key) if key else (None, None)
    if mapping is None or entry is None:
        return text
    expected = _without(nodes.plain_data(opened.root), key, {} if mapping.flow else "")
    header = opened.header
    if mapping.flow:
        places = [(one.key.start, one.value.end) for one in mapping.entries]
        gone = {mapping.entries.index(entry)}
        return write.checked(opened, write.without_flow(header, places, gone), expected)
    start, end = write.entry_lines(header, entry)
    try:
        return write.checked(opened, header[:start] + header[end:], expected)
    except InvalidDocument:
        # A literal above that keeps its trailing lines (`+`) would take the blank lines that follow.
        blank = re.compile(r"(?:[ \t]*\r?\n)*").match(header, end)
        end = blank.end() if blank is not None else end
        return write.checked(opened, header[:start] + header[end:], expected)


class _List(NamedTuple):
    """A list in a text: its node, and its items as plain data."""

    opened: Opened
    key: nodes.Key
    node: nodes.Sequence
    items: list[Any]

    def written(self, header: str, items: list[Any]) -> str:
        """The text with a new header, in which the list has these items."""
        return write.checked(
            self.opened, header, _data_with(nodes.plain_data(self.opened.root), self.key, items)
        )

    def with_one(self, place: int, item: Item) -> str:
        """The text with one more item, at index ``place``."""
        header = write.with_item(self.opened, self.node, place, item, self.key[-1])
        return self.written(header, [*self.items[:place], item, *self.items[place:]])

    def without(self, gone: set[int]) -> str:
        """The text without the items at these indexes."""
        kept = [item for place, item in enumerate(self.items) if place not in gone]
        return self.written(write.without_items(self.opened.header, self.node, gone), kept)


def _list(text: str, key: nodes.Key) -> _List | None:
    """The list at ``key``; ``None`` when it is missing or not a list."""
    opened = open_header(text)
    node = opened.root.at(key)
    return _List(opened, key, node, nodes.plain_data(node)) if isinstance(node, nodes.Sequence) else None


def insert_item(text: str, key: nodes.Key, item: Item) -> str:
    """Add ``item`` to the list at ``key``: in order if the list is sorted, else last.

    A block list gets one more line in its own style (one per key for a mapping), a flow list stays on its
    line, a missing or empty list becomes a block list. An existing item changes nothing. Raises
    `InvalidDocument` when ``key`` is not a list.
    """
    found = _list(text, key)
    if found is not None and found.items:
        return text if item in found.items else found.with_one(_sorted_place(found.items, item), item)
    if found is None and not nodes.is_null(open_header(text).root.at(key)):
        raise InvalidDocument(f"the key '{'.'.join(key)}' is not a list", hint="make it a list")
    return set_key(text, key, [item])


def _sorted_place(items: list[Any], item: Item) -> int:
    keys = [_order(one) for one in items]
    return len([key for key in keys if key < _order(item)]) if keys == sorted(keys) else len(items)


def _order(item: Any) -> tuple[str, ...]:
    """The sort key of an item: a string itself, a mapping by path, symbol and lines."""
    if isinstance(item, dict):
        return tuple(str(item.get(name, "")) for name in ("path", "symbol", "lines"))
    return (str(item),)


def remove_item(text: str, key: nodes.Key, item: Item) -> str:
    """Remove every ``item`` from the list at ``key``; an empty list becomes ``[]``. A missing item changes
    nothing."""
    found = _list(text, key)
    if found is None or item not in found.items:
        return text
    gone = {at for at, one in enumerate(found.items) if one == item}
    return set_key(text, key, []) if len(gone) == len(found.items) else found.without(gone)


def rename_item(text: str, key: nodes.Key, old: str, new: str) -> str:
    """Replace the first string ``old`` in the list at ``key`` by ``new``; quotes, comments and order are
    kept. If ``new`` is already in the list, ``old`` is removed. A missing ``old`` changes nothing.

    Raises `InvalidDocument` when the header cannot be parsed or its style cannot be preserved.
    """
    found = _list(text, key)
    if found is None or old not in found.items or old == new:
        return text
    if new in found.items:
        return remove_item(text, key, old)
    place = found.items.index(old)
    item, header = found.node.items[place], found.opened.header
    items = [*found.items[:place], new, *found.items[place + 1 :]]
    written = header[item.start : item.end]
    for renamed in (written.replace(old, new), write.scalar(new, flow=found.node.flow)):
        try:
            if renamed != written:
                return found.written(header[: item.start] + renamed + header[item.end :], items)
        except InvalidDocument:
            continue
    return update_item(text, key, old, new)


def update_item(text: str, key: nodes.Key, old: Any, new: Item) -> str:
    """Replace the first item equal to ``old`` in the list at ``key`` by ``new``.

    For a mapping only the lines of changed values change. A missing ``old`` changes nothing. Raises
    `InvalidDocument` when the header cannot be parsed or its style cannot be preserved.
    """
    found = _list(text, key)
    if found is None or old not in found.items or old == new:
        return text
    place = found.items.index(old)
    if isinstance(old, dict) and isinstance(new, dict) and old.keys() <= new.keys():
        try:
            return _with_values(text, key, place, new)
        except InvalidDocument:
            pass  # unusual style: replace the whole item
    grown = _list(found.with_one(place + 1, new), key)
    assert grown is not None
    return grown.without({place})


def _with_values(text: str, key: nodes.Key, place: int, new: dict[str, str]) -> str:
    for name, value in new.items():
        found = _list(text, key)
        assert found is not None
        mapping, items = found.node.items[place], found.items
        assert isinstance(mapping, nodes.Mapping)
        if items[place].get(name) == value:
            continue
        entry = mapping.entry(name)
        if entry is None:
            header = write.with_new_key(found.opened, mapping, name, value, key[-1])
        else:
            header = write.with_value(found.opened, mapping, entry, value)
        items[place] = {**items[place], name: value}
        text = found.written(header, items)
    return text


def nest_keys(text: str, parent: str, names: Iterable[str]) -> str:
    """Move top-level keys under ``parent``, which has no value, by indenting their lines.

    Only keys in ``names`` that directly follow ``parent`` are moved; without any nothing changes.
    """
    opened = open_header(text)
    known, entries = frozenset(names), list(opened.root.entries)
    place = next((at for at, entry in enumerate(entries) if entry.key.text == parent), None)
    if place is None or opened.root.flow or not nodes.is_null(entries[place].value):
        return text
    below = list(takewhile(lambda entry: entry.key.text in known, entries[place + 1 :]))
    if not below:
        return text
    header = opened.header
    start, end = write.line_start(header, below[0].key.start), write.line_after(header, below[-1].value.end)
    lines = header[start:end].splitlines(keepends=True)
    moved = "".join(f"  {line}" if line.strip() else line for line in lines)
    inner = {entry.key.text: nodes.plain_data(entry.value) for entry in below}
    expected = {key: value for key, value in nodes.plain_data(opened.root).items() if key not in inner}
    expected[parent] = inner
    return write.checked(opened, header[:start] + moved + header[end:], expected)


def quote_values(text: str, values: Iterable[nodes.Scalar]) -> str:
    """Put unquoted values of the header in double quotes, without changing their text."""
    opened = open_header(text)
    header = opened.header
    for value in sorted(values, key=lambda value: value.start, reverse=True):
        header = header[: value.start] + write.quoted(value.text) + header[value.end :]
    return write.checked(opened, header, nodes.plain_data(opened.root))


def replace_body(text: str, body: str) -> str:
    """Replace the body of a document: header bytes are kept, line ends become those of the file."""
    opened = open_header(text)
    eol = "\r\n" if text[: opened.fences.start].endswith("\r\n") else "\n"
    head = text[: opened.fences.body_start]
    if body and not head.endswith("\n"):
        head += eol
    return head + with_line_ends(body, eol)


def copy_key(text: str, key: nodes.Key, source: Opened, base: Opened | None, *, over: bool = False) -> str:
    """``text`` with the value of ``key`` in ``source``; without the key if ``source`` has none.

    Lines unchanged since ``base`` (any lines, with ``over``) are replaced by those of ``source``, including
    comments and quotes; elsewhere only the value is replaced. Raises `InvalidDocument` when that is not
    possible.
    """
    _, entry = _found(source.root, key)
    if entry is None:
        return remove_key(text, key)
    opened = open_header(text)
    expected = _data_with(nodes.plain_data(opened.root), key, nodes.plain_data(entry.value))
    for header in _ways(opened, key, source, base, over=over):
        try:
            return write.checked(opened, header, expected)
        except InvalidDocument:
            continue
    value: Any = nodes.typed_data(source.root)
    for name in key:
        value = value[name]
    return set_key(text, key, value)


def _found(root: nodes.Mapping, key: nodes.Key) -> tuple[nodes.Mapping | None, nodes.Entry | None]:
    """The entry at ``key``, and the mapping it is or would be in."""
    node = root.at(key[:-1])
    return (node, node.entry(key[-1])) if isinstance(node, nodes.Mapping) else (None, None)


def _ways(
    opened: Opened, key: nodes.Key, source: Opened, base: Opened | None, *, over: bool
) -> Iterator[str]:
    """Headers to try: with the lines of ``source``, then with its scalar."""
    place, old = _found(opened.root, key)
    origin, new = _found(source.root, key)
    if place is None or origin is None or new is None:
        return
    header = opened.header
    if not place.flow and not origin.flow and place.column == origin.column:
        first, last = write.entry_lines(source.header, new)
        lines = with_line_ends(source.header[first:last], opened.eol)
        if old is None:
            above = with_line_ends(source.header[_first_comment(source.header, new) : first], opened.eol)
            at = _place_for(header, place, origin, key[-1])
            yield header[:at] + above + lines + header[at:]
        elif over or _is_untouched(header, old, key, base):
            start, end = write.entry_lines(header, old)
            yield header[:start] + lines + header[end:]
    written = source.header[new.value.start : new.value.end]
    scalars = old is not None and isinstance(old.value, nodes.Scalar) and isinstance(new.value, nodes.Scalar)
    if old is not None and scalars and "\n" not in written and written[:1] not in ("|", ">"):
        lead = "" if old.value.start < old.value.end or not written else " "
        yield header[: old.value.start] + lead + written + header[old.value.end :]


def with_line_ends(lines: str, eol: str) -> str:
    """The text with ``eol`` at the end of each line, in place of LF and CRLF."""
    return lines.replace("\r\n", "\n").replace("\n", eol)


def _is_untouched(header: str, entry: nodes.Entry, key: nodes.Key, base: Opened | None) -> bool:
    """Whether an entry's lines are unchanged since the base."""
    was = _found(base.root, key)[1] if base is not None else None
    if base is None or was is None:
        return False
    start, end = write.entry_lines(header, entry)
    first, last = write.entry_lines(base.header, was)
    return with_line_ends(header[start:end], "\n") == with_line_ends(base.header[first:last], "\n")


def _first_comment(header: str, entry: nodes.Entry) -> int:
    """Where the comments directly above a key begin, at the same indent."""
    start = write.line_start(header, entry.key.start)
    comment = re.compile(rf" {{{entry.key.column - 1}}}#")
    while start and comment.match(header, above := write.line_start(header, start - 1)):
        start = above
    return start


def _place_for(header: str, place: nodes.Mapping, origin: nodes.Mapping, name: str) -> int:
    """Where a new key goes: after the nearest key that precedes it in its source."""
    before = []
    for entry in origin.entries:
        if entry.key.text == name:
            break
        before.append(entry.key.text)
    known = {entry.key.text: entry for entry in place.entries}
    for neighbour in reversed(before):
        if neighbour in known:
            return write.entry_lines(header, known[neighbour])[1]
    return _first_comment(header, place.entries[0]) if place.entries else len(header)
