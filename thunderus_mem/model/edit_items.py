"""Changes one item of a list in the frontmatter, and only the lines of what differs in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from thunderus_mem.model.edit import data_with, list_at, remove_item
from thunderus_mem.model.errors import InvalidDocument
from thunderus_mem.model.header import Mapping, Scalar, Sequence, plain_data
from thunderus_mem.model.splice import checked, open_header, with_new_key, with_value
from thunderus_mem.model.splice_items import with_item, without_items
from thunderus_mem.model.yaml_text import scalar

if TYPE_CHECKING:
    from thunderus_mem.model.edit import Item

__all__ = ["rename_item", "update_item"]


def rename_item(text: str, key: tuple[str, ...], old: str, new: str) -> str:
    """Write the first text ``old`` in the list at ``key`` as ``new``, in its place: quotes, comments and the
    order stay. Where ``new`` is in the list already, ``old`` leaves it. Not there: the text as it is.

    Raises `InvalidDocument` when the header cannot be read or is written in a way that cannot be kept.
    """
    opened = open_header(text)
    node = list_at(opened.root, key)
    items = plain_data(node) if isinstance(node, Sequence) else []
    if not isinstance(node, Sequence) or old not in items or old == new:
        return text
    if new in items:
        return remove_item(text, key, old)
    place = items.index(old)
    item = node.items[place]
    assert isinstance(item, Scalar)
    expected = data_with(plain_data(opened.root), key, [*items[:place], new, *items[place + 1 :]])
    written = opened.header[item.start : item.end]
    before, after = opened.header[: item.start], opened.header[item.end :]
    for led in (written.replace(old, new), scalar(new, flow=node.flow)):
        try:
            if led != written:
                return checked(opened, before + led + after, expected)
        except InvalidDocument:
            continue
    return update_item(text, key, old, new)


def update_item(text: str, key: tuple[str, ...], old: Any, new: Item) -> str:
    """Make the first item that reads as ``old``, in the list at ``key``, into ``new``.

    Of a mapping only the lines of the values that differ change. Not there: the text as it is. Raises
    `InvalidDocument` when the header cannot be read or is written in a way that such an edit cannot keep.
    """
    opened = open_header(text)
    node = list_at(opened.root, key)
    items = plain_data(node) if isinstance(node, Sequence) else []
    if not isinstance(node, Sequence) or old not in items or old == new:
        return text
    place = items.index(old)
    if isinstance(node.items[place], Mapping) and isinstance(new, dict) and old.keys() <= new.keys():
        try:
            return _with_values(text, key, place, new)
        except InvalidDocument:
            pass  # written in an unusual way: the item as a whole is replaced
    return _replaced(text, key, place, new)


def _with_values(text: str, key: tuple[str, ...], place: int, new: dict[str, str]) -> str:
    for name, value in new.items():
        opened = open_header(text)
        node = list_at(opened.root, key)
        assert isinstance(node, Sequence)
        mapping = node.items[place]
        assert isinstance(mapping, Mapping)
        items = plain_data(node)
        if items[place].get(name) == value:
            continue
        entry = next((entry for entry in mapping.entries if entry.key.text == name), None)
        if entry is None:
            header = with_new_key(opened, mapping, name, value, key[-1])
        else:
            header = with_value(opened, mapping, entry, value)
        items[place] = {**items[place], name: value}
        text = checked(opened, header, data_with(plain_data(opened.root), key, items))
    return text


def _replaced(text: str, key: tuple[str, ...], place: int, new: Item) -> str:
    opened = open_header(text)
    node = list_at(opened.root, key)
    assert isinstance(node, Sequence)
    items = plain_data(node)
    grown = [*items[: place + 1], new, *items[place + 1 :]]
    header = with_item(opened, node, place + 1, new, key[-1])
    text = checked(opened, header, data_with(plain_data(opened.root), key, grown))
    opened = open_header(text)
    node = list_at(opened.root, key)
    assert isinstance(node, Sequence)
    kept = [*items[:place], new, *items[place + 1 :]]
    return checked(
        opened, without_items(opened.header, node, {place}), data_with(plain_data(opened.root), key, kept)
    )
