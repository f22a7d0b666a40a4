"""The state of a decision (proposed, accepted …), read and written where the document has it. Pure.

That is the frontmatter key ``status`` (MADR 3 and later), a line ``Status: …`` below the title (MADR 2,
log4brains), or a Status section (adr-tools), as words, in the heading or as checkboxes.
"""

from __future__ import annotations

import re
from itertools import accumulate
from typing import TYPE_CHECKING, Final

from thunderus_mem.document.document import STATES, Document
from thunderus_mem.document.frontmatter.nodes import Scalar
from thunderus_mem.document.markdown import headings
from thunderus_mem.errors import InvalidDocument
from thunderus_mem.startup import NamedTuple, lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from thunderus_mem.document.markdown import Heading

_MEANING: Final = {
    word: state
    for state, words in {
        "proposed": "proposed proposal draft drafted pending open suggested wip review discussion progress",
        "accepted": "accepted approved adopted agreed decided ratified active implemented done final",
        "rejected": "rejected declined denied dismissed withdrawn abandoned cancelled canceled",
        "deprecated": "deprecated obsolete retired revoked discontinued",
        "superseded": "superseded superceded replaced obsoleted",
    }.items()
    for word in words.split()
}
_FIRST_WORD = lazy_pattern(r"[^a-z]*(?:(?:in|under)\s+)?([a-z]+)")
_REPLACED = lazy_pattern(r"\b(?:super[sc]eded|replaced|obsoleted)\b", re.IGNORECASE)
PARTLY = lazy_pattern(r"§|\b(?:in part|partly|partial(?:ly)?|aspects?|parts? of|sections?)\b", re.IGNORECASE)

_COMMENT = lazy_pattern(r"<!--(?:(?!-->).)*(?:-->|\Z)|<--[^\n]*", re.DOTALL)
_NOT_END = lazy_pattern(r"[^\n]")
_FIELD = lazy_pattern(
    r"\s{0,3}(?:[-*+]\s+)?(?:\*\*|__)?status(?:\*\*|__)?\s*:\s*(?:\*\*|__)?\s*(.*)", re.IGNORECASE
)
_NEXT_FIELD = lazy_pattern(r"[ \t]{0,8}\|[ \t]{0,8}(?:\*\*|__)?[A-Za-z][\w ]{0,40}(?:\*\*|__)?[ \t]{0,8}:")
_CHECKED = lazy_pattern(r"\s*[-*+]\s+\[([ xX])\]\s*(.*)")
_DECORATION: Final = ("**", "__", "*", "_", "`", '"', "'")
_HEAD_LINES = 40
_SECTION_LINES = 12


class StatusText(NamedTuple):
    """What a body says of its state: the words, and their range in the body.

    ``boxes`` are checkboxes: the offset of the mark, and the words next to it.
    """

    text: str
    start: int
    end: int
    boxes: tuple[tuple[int, str], ...] = ()


def check_state(text: str) -> str:
    """The state itself, in lower case; raises `InvalidDocument` with the five states for any other."""
    state = text.strip().lower()
    if state not in STATES:
        raise InvalidDocument(f"unknown state {text!r}", hint=f"use one of: {', '.join(STATES)}")
    return state


def state_in(text: str) -> str:
    """The state that words such as ``Approved`` or ``Superseded by ADR-7`` mean; "" if unknown."""
    if is_choice(text):
        return ""
    if _REPLACED.search(text) and not PARTLY.search(text):
        return "superseded"
    found = _FIRST_WORD.match(text.lower())
    return _MEANING.get(found[1], "") if found else ""


def is_choice(line: str) -> bool:
    """Whether a line lists values to choose from, as templates do."""
    return line.count("|") > 1


def document_state(document: Document, marks: Sequence[Heading] | None = None) -> str:
    """The state of a decision; "" for other kinds, and if it says none. ``marks`` are its headings."""
    if document.kind != "adr":
        return ""
    if state := state_in(_key(document)):
        return state
    found = _chosen(document.body, marks)
    return state_in(found.text) if found is not None else ""


def with_state(document: Document, state: str) -> str:
    """The text of a decision with this state, in place of the one it has; else with a new Status section."""
    from thunderus_mem.document.frontmatter.edit import replace_body, set_key

    state, key = check_state(state), _key(document)
    found = _chosen(document.body)
    if key and (state_in(key) or found is None or not state_in(found.text)):
        return set_key(document.text, ("status",), _spelled(key, state))
    body = body_with_state(document.body, state)
    if not document.body:
        return replace_body(document.text, body)
    return document.text[: document.body_start] + body


def body_with_state(body: str, state: str) -> str:
    """The body of a decision with this state."""
    state, found = check_state(state), _chosen(body)
    if found is None:
        return _with_section(body, state.capitalize())
    if not found.boxes:
        return body[: found.start] + _spelled(found.text, state) + body[found.end :]
    if not any(state_in(words) == state for _, words in found.boxes):
        raise InvalidDocument(f"there is no checkbox for {state!r}", hint="edit the Status section")
    for mark, words in found.boxes:
        body = body[:mark] + ("x" if state_in(words) == state else " ") + body[mark + 1 :]
    return body


def _key(document: Document) -> str:
    node = document.header.get("status")
    return node.text.strip() if isinstance(node, Scalar) else ""


def _chosen(body: str, marks: Sequence[Heading] | None = None) -> StatusText | None:
    """What the body says: the first words with a known meaning, else the first words."""
    found = status_texts(body, marks)
    return next((one for one in found if state_in(one.text)), found[0] if found else None)


def status_texts(body: str, marks: Sequence[Heading] | None = None) -> list[StatusText]:
    """Every place where a body says its state, in their order: ``Status:`` lines and Status sections."""
    return sorted(_status_texts(_Lines(body, marks)), key=lambda found: found.start)


def _status_texts(lines: _Lines) -> Iterator[StatusText]:
    for number in lines.head_and_status():
        if field := _FIELD.match(line := lines.text[number]):
            # `**Status:** Accepted | **Date:** 2025-03-26` has several fields in one line.
            after = _NEXT_FIELD.search(line, field.start(1))
            yield from lines.words(number, field.start(1), after.start() if after else None)
    for position, mark in enumerate(lines.marks):
        name, colon, value = mark.text.partition(":")
        if name.strip().lower() != "status":
            continue
        if colon and value.strip():
            title = lines.text[mark.line - 1].rstrip(" \t#")
            yield from lines.words(mark.line - 1, title.find(":") + 1, len(title))
        else:
            yield from lines.section_words(position)


class _Lines:
    """The lines of a body, without comments and carriage returns, and their offsets."""

    def __init__(self, body: str, marks: Sequence[Heading] | None) -> None:
        clean = body
        if "<!--" in body or "<--" in body:
            clean = _COMMENT.sub(lambda found: _NOT_END.sub(" ", found[0]), body)
        lines = clean.split("\n")
        self._starts = [0, *accumulate(len(line) + 1 for line in lines)]
        self.text = [line.rstrip("\r") for line in lines]
        self.marks = headings(clean) if marks is None else marks

    def head_and_status(self) -> Iterator[int]:
        """The lines below the title and of every section named Status, as indexes."""
        first = self.marks[0].line if self.marks else 0
        end = self._section(0)[1] if self.marks else len(self.text)
        yield from range(first, min(end, first + _HEAD_LINES))
        for position, mark in enumerate(self.marks):
            if position and mark.text.strip().lower().startswith("status"):
                yield from range(*self._section(position))

    def _section(self, position: int) -> tuple[int, int]:
        marks = self.marks
        end = marks[position + 1].line - 1 if position + 1 < len(marks) else len(self.text)
        return marks[position].line, end

    def section_words(self, position: int) -> Iterator[StatusText]:
        """The first words of a section; else, of several checkboxes, the ticked one."""
        first, end = self._section(position)
        numbers = range(first, min(end, first + _SECTION_LINES))
        boxes = [(number, box) for number in numbers if (box := _CHECKED.match(self.text[number]))]
        lines = (self.words(number, _words_start(self.text[number])) for number in numbers)
        words = next((found for line in lines for found in line), None)
        if words is not None and (not boxes or (words.text[0] != "[" and state_in(words.text))):
            yield words
        elif boxes:
            marks = tuple((self._starts[number] + box.start(1), box[2]) for number, box in boxes)
            ticked = next((box[2].strip() for _, box in boxes if box[1] != " "), "")
            yield StatusText(ticked, marks[0][0], marks[0][0], marks)

    def words(self, number: int, start: int, end: int | None = None) -> Iterator[StatusText]:
        """The words in a part of a line, without emphasis and quotes around them."""
        line = self.text[number][:end].rstrip()
        text = line[start:].lstrip()
        start, end = len(line) - len(text), len(line)
        for mark in _DECORATION:
            if len(text) > 2 * len(mark) and text.startswith(mark) and text.endswith(mark):
                start, end = start + len(mark), end - len(mark)
            elif text.endswith(mark) and text.count(mark) == 1 and len(mark) == 2:
                end -= len(mark)  # opened before the label
            text = line[start:end]
        if text:
            at = self._starts[number]
            yield StatusText(text, at + start, at + end)


def _words_start(line: str) -> int:
    """Where the words of a line begin, after a bullet or label; its end if it has none."""
    if field := _FIELD.match(line):
        return field.start(1)
    rest = line.lstrip(" \t>")
    if not rest.strip("-*=+ \t"):
        return len(line)
    return len(line) - len(rest[2:] if rest[:2] in ("- ", "* ", "+ ") else rest)


def _spelled(given: str, state: str) -> str:
    """The state in the letter case of the words it replaces."""
    letters = [char for char in given if char.isalpha()]
    if len(letters) > 1 and all(char.isupper() for char in letters):
        return state.upper()
    return state.capitalize() if not letters or letters[0].isupper() else state


def _with_section(body: str, words: str) -> str:
    """The body with the words in its empty Status section, or in a new one below the title."""
    end = "\r\n" if "\r\n" in body else "\n"
    lines = body.split(end)
    marks = headings(body)
    empty = next((mark.line for mark in marks if mark.text.strip(" :").lower() == "status"), 0)
    if empty:
        if not lines[empty - 1].lstrip().startswith("#"):
            empty += 1  # the underline of the heading
        apart = [""] if empty < len(lines) and lines[empty].strip() else []
        return end.join([*lines[:empty], "", words, *apart, *lines[empty:]])
    title = marks[0].line if marks and marks[0].level == 1 and not "".join(lines[: marks[0].line - 1]) else 0
    rest = end.join(lines[title:]).lstrip("\r\n")
    lead = end.join([*lines[:title], "", ""]) if title else "\n" * (len(body) - len(body.lstrip("\n")))
    return f"{lead}## Status{end}{end}{words}{end}{end}{rest}"
