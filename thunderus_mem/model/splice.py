"""Where an edit cuts a header and what it puts there. `edit` decides what to change, this knows how."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

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
from thunderus_mem.model.yaml_text import block_lines, flow_value, order_of, scalar, value_lines


class Opened(NamedTuple):
    """A text whose header reads."""

    text: str
    fences: Fences
    header: str
    root: Mapping
    eol: str

    def with_header(self, header: str) -> str:
        return self.text[: self.fences.start] + header + self.text[self.fences.end :]


def open_header(text: str) -> Opened:
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


def checked(opened: Opened, header: str, expected: Any) -> str:
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


def line_start(text: str, offset: int) -> int:
    return text.rfind("\n", 0, offset) + 1


def line_after(text: str, offset: int) -> int:
    """Offset behind the end of the line that holds ``offset``."""
    end = text.find("\n", offset)
    return len(text) if end < 0 else end + 1


def entry_lines(header: str, entry: Entry) -> tuple[int, int]:
    """The lines a block entry covers, half-open; comments that stand deeper than its key are its own.

    Left alone when the entry goes, they could join the value above.
    """
    own = re.compile(rf"(?: {{{entry.key.column},}}#[^\n]*\n?|[ \t]*\r?\n(?= {{{entry.key.column},}}#))*")
    end = line_after(header, entry.value.end)
    match = own.match(header, end)
    return line_start(header, entry.key.start), end if match is None else match.end()


def _colon_end(header: str, entry: Entry) -> int:
    return header.index(":", entry.key.end) + 1


def joined(lines: list[str], eol: str) -> str:
    return "".join([line + eol for line in lines])


def insert_lines(opened: Opened, offset: int, lines: list[str]) -> str:
    """The header with lines put in at an offset where a line begins or the text ends."""
    header = opened.header
    lead = "" if offset == 0 or header[offset - 1] == "\n" else opened.eol
    return header[:offset] + lead + joined(lines, opened.eol) + header[offset:]


def with_new_key(opened: Opened, mapping: Mapping, name: str, value: Any, parent: str) -> str:
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
        return insert_lines(opened, len(header), lines)
    before = _predecessor(mapping, name, parent)
    if before is None:
        return insert_lines(opened, line_start(header, mapping.start), lines)
    return insert_lines(opened, line_after(header, before.value.end), lines)


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


_MARK = re.compile(r"[|>][-+0-9]*([ \t]+#[^\r\n]*)?")


def _mark_comment(header: str, old: Node) -> str:
    """The comment behind the mark of a literal or folded text, with the blanks before it."""
    if not isinstance(old, Scalar) or old.plain:
        return ""
    mark = _MARK.match(header, old.start)
    return mark[1] or "" if mark is not None else ""


def with_value(opened: Opened, mapping: Mapping, entry: Entry, value: Any) -> str:
    """The header with another value for an entry that is there."""
    header, old = opened.header, entry.value
    colon = _colon_end(header, entry)
    if mapping.flow or _stays_flow(old, value):
        return _spliced(header, old.start, old.end, flow_value(value))
    below = value_lines(entry.key.text, value, entry.key.column + 1)
    comment = _mark_comment(header, old)
    if not below:
        one_line = _single(value) + comment
        if (isinstance(old, Scalar) or old.flow) and old.column > entry.key.column:
            return _spliced(header, old.start, old.end, one_line)
        cut = _without_lines(header, old)
        return cut[:colon] + " " + one_line + cut[colon:]
    if old.line == entry.key.line:
        gap = comment or (" " if header[old.end : old.end + 1] == "#" else "")
        cut = header[:colon] + gap + header[old.end :]
        at = line_after(cut, colon)
    elif isinstance(old, Scalar) or old.flow:
        first = line_start(header, old.start)
        cut = header[:first] + header[line_after(header, old.end) :]
        at = first
    else:
        cut = _without_lines(header, old)
        at = line_start(header, old.start)
    lead = "" if at == 0 or cut[at - 1] == "\n" else opened.eol
    return cut[:at] + lead + joined(below, opened.eol) + cut[at:]


def _stays_flow(old: Node, value: Any) -> bool:
    if isinstance(old, Sequence):
        return old.flow and bool(old.items) and isinstance(value, list | tuple)
    return isinstance(old, Mapping) and old.flow and bool(old.entries) and isinstance(value, dict)


def _single(value: Any) -> str:
    if isinstance(value, dict | list | tuple):
        return flow_value(value)
    return scalar(value)


def _spliced(header: str, start: int, end: int, new: str) -> str:
    """Put ``new`` in place of a value, with blanks that part it from a mark before and a comment behind."""
    lead = " " if start and header[start - 1] in ":-" else ""
    tail = " " if header[end : end + 1] == "#" else ""
    return header[:start] + lead + new + tail + header[end:]


def _without_lines(header: str, node: Node) -> str:
    """The header without the lines that a block value covers."""
    return header[: line_start(header, node.start)] + header[line_after(header, node.end) :]
