"""Edits of a document's text that change only the lines of the key they name.

Each edit finds its place in the header as read, splices text there, and reads the result again before it
gives it back: a text that would not read as meant is never returned.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, TypeAlias

from thunderus_mem.model.errors import InvalidDocument
from thunderus_mem.model.header import (
    Entry,
    Fences,
    Mapping,
    Node,
    Scalar,
    Sequence,
    find_fences,
    plain_data,
    read_header,
)
from thunderus_mem.model.yaml_text import (
    KEY_ORDER,
    as_read,
    block_lines,
    flow_value,
    order_of,
    ordered,
    scalar,
    value_lines,
)

__all__ = [
    "KEY_ORDER",
    "Value",
    "compose",
    "insert_item",
    "remove_item",
    "remove_key",
    "replace_body",
    "set_key",
]

Value: TypeAlias = str | int | float | bool | None | list[str] | dict[str, Any]
_NULLS = frozenset(["", "~", "null", "Null", "NULL"])


@dataclass(frozen=True, slots=True)
class _Opened:
    """A text whose header reads."""

    text: str
    fences: Fences
    header: str
    root: Mapping
    eol: str

    def with_header(self, header: str) -> str:
        return self.text[: self.fences.start] + header + self.text[self.fences.end :]


def _open(text: str) -> _Opened:
    fences = find_fences(text)
    if fences is None or not fences.closed:
        message = "The document has no frontmatter that begins in line 1 and is closed by a line ---."
        raise InvalidDocument(message, hint="Add the frontmatter by hand, then try again.")
    header = text[fences.start : fences.end]
    root, problems = read_header(header)
    if root is None:
        first = problems[0]
        line = fences.line + first.line - 1
        message = f"The frontmatter cannot be read (line {line}): {first.message}"
        raise InvalidDocument(
            message, hint=first.hint or "Mend it by hand; it is never rewritten as it stands."
        )
    eol = "\r\n" if text[: fences.start].endswith("\r\n") else "\n"
    return _Opened(text, fences, header, root, eol)


def _checked(opened: _Opened, header: str, expected: Any) -> str:
    """The new text, if its header reads as ``expected``."""
    text = opened.with_header(header)
    fences = find_fences(text)
    if fences is not None and fences.closed and fences.end == opened.fences.start + len(header):
        root, _ = read_header(header)
        if root is not None and plain_data(root) == expected:
            return text
    raise InvalidDocument(
        "The frontmatter is written in a way that this edit cannot keep.",
        hint="Make this change by hand.",
    )


def _line_start(text: str, offset: int) -> int:
    return text.rfind("\n", 0, offset) + 1


def _line_after(text: str, offset: int) -> int:
    """Offset behind the end of the line that holds ``offset``."""
    end = text.find("\n", offset)
    return len(text) if end < 0 else end + 1


def _colon_end(header: str, entry: Entry) -> int:
    return header.index(":", entry.key.end) + 1


def _joined(lines: list[str], eol: str) -> str:
    return "".join([line + eol for line in lines])


def _insert_lines(opened: _Opened, offset: int, lines: list[str]) -> str:
    header = opened.header
    lead = "" if offset == 0 or header[offset - 1] == "\n" else opened.eol
    return header[:offset] + lead + _joined(lines, opened.eol) + header[offset:]


def _entry(mapping: Mapping, key: str) -> Entry | None:
    for entry in mapping.entries:
        if entry.key.text == key:
            return entry
    return None


def _is_null(node: Node) -> bool:
    return isinstance(node, Scalar) and node.plain and node.text in _NULLS


def _name(key: tuple[str, ...]) -> str:
    return ".".join(key)


def set_key(text: str, key: tuple[str, ...], value: Value) -> str:
    """Give ``key`` (a path such as ``("verification", "status")``) a value.

    A missing key is added at its fixed place, with the parents it needs. A value that is there already
    leaves the text as it is. Raises `InvalidDocument` when the header cannot be read, or a parent is no mapping.
    """
    opened = _open(text)
    before = plain_data(opened.root)
    mapping, parent = opened.root, ""
    for depth, name in enumerate(key):
        entry = _entry(mapping, name)
        rest = key[depth + 1 :]
        if entry is None:
            wrapped = _wrapped(rest, value)
            header = _added(opened, mapping, name, wrapped, parent)
            return _checked(opened, header, _with(before, key, value))
        if not rest:
            if plain_data(entry.value) == as_read(value) and _same_type(entry.value, value):
                return text
            header = _replaced(opened, mapping, entry, value)
            return _checked(opened, header, _with(before, key, value))
        if isinstance(entry.value, Mapping) and entry.value.entries:
            mapping, parent = entry.value, name
            continue
        if not (_is_null(entry.value) or isinstance(entry.value, Mapping)):
            message = f"The key '{_name(key[: depth + 1])}' holds no keys of its own."
            raise InvalidDocument(message, hint=f"Make '{name}' a mapping, or remove it, then try again.")
        header = _replaced(opened, mapping, entry, _wrapped(rest, value))
        return _checked(opened, header, _with(before, key, value))
    raise InvalidDocument("No key was named.", hint="Name the key to set.")


def _same_type(node: Node, value: Value) -> bool:
    """Whether a scalar that has the right text also has the right type: quoted or not is the difference."""
    if not isinstance(node, Scalar) or isinstance(value, str):
        return True
    return node.plain


def _wrapped(rest: tuple[str, ...], value: Any) -> Any:
    for name in reversed(rest):
        value = {name: value}
    return value


def _with(data: Any, key: tuple[str, ...], value: Value) -> Any:
    """The plain data of a header after ``key`` is set."""
    copy = dict(data) if isinstance(data, dict) else {}
    head, rest = key[0], key[1:]
    copy[head] = _with(copy.get(head), rest, value) if rest else as_read(value)
    return copy


def _without(data: Any, key: tuple[str, ...]) -> Any:
    copy = dict(data)
    if len(key) > 1:
        copy[key[0]] = _without(copy[key[0]], key[1:]) or ""
    else:
        del copy[key[0]]
    return copy


def _added(opened: _Opened, mapping: Mapping, name: str, value: Any, parent: str) -> str:
    """The header with a new key in ``mapping``, which has entries unless it is the root."""
    header = opened.header
    if mapping.flow:
        pair = f"{scalar(name, flow=True)}: {flow_value(value)}"
        return (
            header[: mapping.start + 1]
            + pair
            + (", " if mapping.entries else "")
            + header[mapping.start + 1 :]
        )
    lines = block_lines(name, value, mapping.column - 1)
    if not mapping.entries:
        return _insert_lines(opened, len(header), lines)
    before = _predecessor(mapping, name, parent)
    if before is None:
        return _insert_lines(opened, _line_start(header, mapping.start), lines)
    return _insert_lines(opened, _line_after(header, before.value.end), lines)


def _predecessor(mapping: Mapping, name: str, parent: str) -> Entry | None:
    """The entry a new key follows: the last one that its fixed order puts before it; unknown keys go last."""
    order = order_of(parent)
    if name not in order:
        return mapping.entries[-1]
    place = order.index(name)
    found = None
    for entry in mapping.entries:
        if entry.key.text in order[:place]:
            found = entry
    return found


def _replaced(opened: _Opened, mapping: Mapping, entry: Entry, value: Any) -> str:
    """The header with another value for an entry that is there."""
    header, old = opened.header, entry.value
    colon = _colon_end(header, entry)
    if mapping.flow or _stays_flow(old, value):
        return _spliced(header, old.start, old.end, flow_value(value))
    below = value_lines(entry.key.text, value, entry.key.column + 1)
    if not below:
        one_line = _single(value)
        if isinstance(old, Scalar) or old.flow:
            return _spliced(header, old.start, old.end, one_line)
        cut = _without_lines(header, old)
        return cut[:colon] + " " + one_line + cut[colon:]
    if old.line == entry.key.line:
        gap = " " if header[old.end : old.end + 1] == "#" else ""
        cut = header[:colon] + gap + header[old.end :]
        at = _line_after(cut, colon)
    elif isinstance(old, Scalar) or old.flow:
        first = _line_start(header, old.start)
        cut = header[:first] + header[_line_after(header, old.end) :]
        at = first
    else:
        cut = _without_lines(header, old)
        at = _line_start(header, old.start)
    lead = "" if at == 0 or cut[at - 1] == "\n" else opened.eol
    return cut[:at] + lead + _joined(below, opened.eol) + cut[at:]


def _stays_flow(old: Node, value: Any) -> bool:
    if isinstance(old, Sequence):
        return old.flow and bool(old.items) and isinstance(value, list | tuple)
    return isinstance(old, Mapping) and old.flow and bool(old.entries) and isinstance(value, dict)


def _single(value: Any) -> str:
    if isinstance(value, dict | list | tuple):
        return flow_value(value)
    return scalar(value)


def _spliced(header: str, start: int, end: int, new: str) -> str:
    """Put ``new`` in place of a value, with the blanks that tell it from a mark before and a comment behind."""
    lead = " " if start and header[start - 1] in ":-" else ""
    tail = " " if header[end : end + 1] == "#" else ""
    return header[:start] + lead + new + tail + header[end:]


def _without_lines(header: str, node: Node) -> str:
    """The header without the lines that a block value covers."""
    return header[: _line_start(header, node.start)] + header[_line_after(header, node.end) :]


def remove_key(text: str, key: tuple[str, ...]) -> str:
    """Take a key and its value out. Not there: the text as it is.

    A mapping that loses its last key stays, without a value. Raises `InvalidDocument` like `set_key`.
    """
    opened = _open(text)
    mapping = opened.root
    for name in key[:-1]:
        inner = mapping.get(name)
        if not isinstance(inner, Mapping):
            return text
        mapping = inner
    entry = _entry(mapping, key[-1]) if key else None
    if entry is None:
        return text
    expected = _without(plain_data(opened.root), key)
    header = opened.header
    if mapping.flow:
        return _checked(opened, _without_flow(header, list(mapping.entries), entry), expected)
    start = _line_start(header, entry.key.start)
    end = _line_after(header, entry.value.end)
    # Comments that stand deeper than the key are the key's own; left alone they could join the value above.
    own = re.compile(rf"(?: {{{entry.key.column},}}#[^\n]*\n?|[ \t]*\r?\n(?= {{{entry.key.column},}}#))*")
    match = own.match(header, end)
    end = match.end() if match is not None else end
    try:
        return _checked(opened, header[:start] + header[end:], expected)
    except InvalidDocument:
        # A kept literal above would take the blank lines that follow.
        blank = re.compile(r"(?:[ \t]*\r?\n)*").match(header, end)
        end = blank.end() if blank is not None else end
        return _checked(opened, header[:start] + header[end:], expected)


def _without_flow(header: str, siblings: list[Any], gone: Any) -> str:
    """Cut one entry or item, and one comma, out of brackets or braces."""
    index = siblings.index(gone)
    if index > 0:
        return header[: _end_of(siblings[index - 1])] + header[_end_of(gone) :]
    if len(siblings) > 1:
        return header[: _start_of(gone)] + header[_start_of(siblings[1]) :]
    rest = header[_end_of(gone) :]
    comma = re.match(r"\s*,", rest)
    return header[: _start_of(gone)] + (rest[comma.end() :] if comma else rest)


def _start_of(one: Entry | Node) -> int:
    return one.key.start if isinstance(one, Entry) else one.start


def _end_of(one: Entry | Node) -> int:
    return one.value.end if isinstance(one, Entry) else one.end


def _list_at(root: Mapping, key: tuple[str, ...]) -> Node | None:
    node: Node | None = root
    for name in key:
        if not isinstance(node, Mapping):
            return None
        node = node.get(name)
    return node


def insert_item(text: str, key: tuple[str, ...], item: str) -> str:
    """Put ``item`` into the list at ``key``, in order if the list is in order, else last.

    A block list gets one more line in its own style, a flow list stays on its line, a missing or empty list
    becomes a block list. An item that is there leaves the text as it is. Raises `InvalidDocument` when ``key``
    holds something else than a list.
    """
    opened = _open(text)
    node = _list_at(opened.root, key)
    if node is None or _is_null(node) or (isinstance(node, Sequence) and not node.items):
        return set_key(text, key, [item])
    if not isinstance(node, Sequence):
        raise InvalidDocument(
            f"The key '{_name(key)}' is not a list.", hint="Make it a list, then try again."
        )
    texts = [one.text if isinstance(one, Scalar) else None for one in node.items]
    if item in texts:
        return text
    place = _sorted_place(texts, item)
    items = plain_data(node)
    expected = _with(plain_data(opened.root), key, [*items[:place], item, *items[place:]])
    if node.flow:
        written = scalar(item, flow=True)
        if place:
            end = node.items[place - 1].end
            header = opened.header[:end] + ", " + written + opened.header[end:]
        else:
            start = node.items[0].start
            header = opened.header[:start] + written + ", " + opened.header[start:]
    else:
        header = _with_line(opened, node, place, item)
    return _checked(opened, header, expected)


def _sorted_place(texts: list[str | None], item: str) -> int:
    known = [one for one in texts if one is not None]
    if len(known) < len(texts) or known != sorted(known):
        return len(texts)
    return len([one for one in known if one < item])


def _with_line(opened: _Opened, node: Sequence, place: int, item: str) -> str:
    header = opened.header
    sibling = node.items[min(place, len(node.items) - 1)]
    between = re.match(r"-( *)", header[_line_start(header, sibling.start) + node.column - 1 :])
    blanks = between[1] if between is not None and between[1] else " "
    line = " " * (node.column - 1) + "-" + blanks + scalar(item)
    if place == 0:
        return _insert_lines(opened, _line_start(header, node.start), [line])
    return _insert_lines(opened, _line_after(header, node.items[place - 1].end), [line])


def remove_item(text: str, key: tuple[str, ...], item: str) -> str:
    """Take every ``item`` out of the list at ``key``; the last one leaves ``[]``. Not there: no change."""
    opened = _open(text)
    node = _list_at(opened.root, key)
    if not isinstance(node, Sequence):
        return text
    for one in node.items:
        if isinstance(one, Scalar) and one.text == item:
            break
    else:
        return text
    if len(node.items) == 1:
        return set_key(text, key, [])
    index = node.items.index(one)
    items = plain_data(node)
    expected = _with(plain_data(opened.root), key, [*items[:index], *items[index + 1 :]])
    header = opened.header
    if node.flow:
        header = _without_flow(header, list(node.items), one)
    else:
        dash = _line_start(header, one.start)
        header = header[:dash] + header[_line_after(header, one.end) :]
    return remove_item(_checked(opened, header, expected), key, item)


def replace_body(text: str, body: str) -> str:
    """Give the document another body: header bytes stay, line ends become the file's own."""
    opened = _open(text)
    body = body.replace("\r\n", "\n")
    if opened.eol == "\r\n":
        body = body.replace("\n", "\r\n")
    head = text[: opened.fences.body_start]
    if body and not head.endswith("\n"):
        head += opened.eol
    return head + body


def compose(header: dict[str, Any], body: str) -> str:
    """The text of a new document: keys in `KEY_ORDER`, one list item a line, then the body.

    One blank line parts header and body, and the text ends in a line end. For a body kept to the byte use
    ``replace_body(compose(header, ""), body)``. Raises `InvalidDocument` for values that cannot be written.
    """
    lines: list[str] = []
    for name in ordered(header):
        lines.extend(block_lines(name, header[name], 0))
    text = "---\n" + _joined(lines, "\n") + "---\n"
    if body:
        lead = "" if body[0] in "\r\n" else "\n"
        text += lead + body + ("" if body.endswith("\n") else "\n")
    opened = _open(text)
    if plain_data(opened.root) != as_read(dict(header)):
        raise InvalidDocument("The frontmatter would not read as it was given.", hint="Simplify its values.")
    return text
