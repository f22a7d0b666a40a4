"""Joining two changes of one document: the lines, and the little that documents know beyond lines."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from thunderus_mem.model.document import read_document
from thunderus_mem.model.edit import insert_item, remove_item, set_key
from thunderus_mem.model.errors import InvalidDocument
from thunderus_mem.model.three_way import three_way

if TYPE_CHECKING:
    from thunderus_mem.model.document import Document

__all__ = ["joined"]


def joined(path: str, base: str, ours: str, theirs: str, now: str) -> str | None:
    """``ours`` with what changed from ``base`` to ``theirs``; ``None`` when the two meet.

    Keys and list items of a frontmatter stand for themselves, also side by side. Where only ``updated`` was
    changed on both sides it becomes ``now``: the text is neither the one nor the other. What joins must
    still be the same document.
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
    """The text with each tag once: both sides may have come to one tag at different places of the list."""
    for tag in sorted({tag for tag in result.tags if result.tags.count(tag) > 1}):
        with suppress(InvalidDocument):
            text = insert_item(remove_item(text, ("tags",), tag), ("tags",), tag)
    return text


def _document(path: str, text: str) -> Document | None:
    return read_document(path, text.encode("utf-8", "surrogatepass")).document


def _but_for_updated(path: str, base: str, ours: Document, theirs: str, now: str) -> str | None:
    try:
        alike = [set_key(text, ("updated",), ours.updated) for text in (base, theirs)]
    except InvalidDocument:
        return None
    text = three_way(alike[0], ours.text, alike[1], apart=_header_lines(path, base))
    result = _document(path, text) if text is not None else None
    if text is None or result is None or (result.title, result.body) == (ours.title, ours.body):
        return text
    return set_key(text, ("updated",), now)


def _header_lines(path: str, text: str) -> int:
    document = _document(path, text)
    return document.body_line - 2 if document is not None else 0
