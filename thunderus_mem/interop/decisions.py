"""What a foreign decision record says of itself: number, title, status, date, what it supersedes.

Read from what people write by hand or with a generator: a numbered heading (``# 7. Use JWT``), a ``Date:`` or
``Status:`` line under it, a ``## Status`` section, keys of a frontmatter. Nothing here changes a text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from thunderus_mem.interop.days import day_in
from thunderus_mem.interop.relations import Mention, is_choice, is_labelled, key_mentions, mentions
from thunderus_mem.model.markdown import headings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

_FILE_NUMBER = re.compile(r"(?:adr|rfc|decision)?[-_ ]?(\d{1,5})(?!\d)(?:[-_. ]|$)", re.ASCII | re.IGNORECASE)
_FILE_DATE = re.compile(r"(\d{4})-?(\d\d)-?(\d\d)(?!\d)", re.ASCII)
_TITLE_NUMBER = re.compile(
    r"(?:adr|rfc|decision)?[\s#_-]*(\d{1,5})\s*(?:[.:)]|[-–—](?=\s))\s*(?=\S)", re.ASCII | re.IGNORECASE
)
_TITLE_BARE = re.compile(r"(?:adr[\s#_-]*)?(\d{1,5})\s+(?=\S)", re.ASCII | re.IGNORECASE)
_TITLE_LABEL = re.compile(
    r"(?:architectur(?:e|al) decision record|decision record|adr)\s*[:–—-]\s*(?=\S)", re.IGNORECASE
)
_LINE_FIELD = re.compile(
    r"\s{0,3}(?:[-*+]\s+)?(?:\*\*|__)?(status|date)(?:\*\*|__)?\s*:\s*(?:\*\*|__)?\s*(.*)", re.IGNORECASE
)
_COMMENT = re.compile(r"<!--(?:(?!-->).)*(?:-->|\Z)", re.DOTALL)
_HALF_COMMENT = re.compile(r"<--.*")
_CHECKED = re.compile(r"\s*[-*+]\s+\[([ xX])\]\s*(.*)")
_LINK_SECTIONS = frozenset(
    ["links", "related", "related decisions", "related adrs", "relations", "more information", "references"]
)
_MARKUP = re.compile(r"!?\[([^\[\]]*)\]\([^()\[\]]*\)|[`*]+")
_HEAD_LINES = 40
_SECTION_LINES = 12


@dataclass(frozen=True, slots=True)
class Decision:
    """The facts of one record. Missing ones are ``None`` or empty.

    ``number`` is the file name's, else the heading's (headings are copied from other records and keep a
    wrong one). ``mentions`` are its relations, targets as written.
    """

    number: int | None = None
    status: str = ""
    date: str = ""
    unread_date: str = ""
    mentions: tuple[Mention, ...] = ()


def plain_title(heading: str) -> str:
    """A heading without links, code marks and emphasis, on one line."""
    return " ".join(_MARKUP.sub(lambda match: match.group(1) or "", heading).split())


def split_title(heading: str, file_number: int | None) -> tuple[int | None, str]:
    """Part ``7. Use JWT``, ``ADR-007: Use JWT`` or ``0007 Use JWT`` into number and title.

    A bare number before words (``3 reasons``) counts only when the file carries the same number.
    """
    title = plain_title(heading)
    title = _TITLE_LABEL.sub("", title, count=1) if _TITLE_LABEL.match(title) else title
    match = _TITLE_NUMBER.match(title)
    if match is None:
        match = _TITLE_BARE.match(title)
        if match is not None and int(match.group(1)) != file_number:
            match = None
    if match is None:
        return None, title
    return int(match.group(1)), title[match.end() :].strip()


def file_number(stem: str) -> int | None:
    """The number a file name begins with (``0007-use-jwt``, ``adr-7``); a date is not a number."""
    if _FILE_DATE.match(stem):
        return None
    match = _FILE_NUMBER.match(stem)
    return int(match.group(1)) if match else None


def without_number(stem: str) -> str:
    """A file name without the number it begins with."""
    match = None if _FILE_DATE.match(stem) else _FILE_NUMBER.match(stem)
    return (stem[match.end() :] or stem) if match else stem


def file_date(stem: str) -> str:
    """The day a file name begins with (``2024-05-01-notes``, ``20240501-notes``), as ``YYYY-MM-DD``."""
    match = _FILE_DATE.match(stem)
    return "-".join(match.groups()) if match else ""


def read_decision(
    stem: str, heading: str, data: Mapping[str, Any], body: str, *, day_first: bool | None = None
) -> Decision:
    """Gather the facts from file name, first heading, frontmatter ``data`` and ``body``."""
    named = file_number(stem)
    number, _ = split_title(heading, named)
    sections = _Sections(_without_comments(body))
    status, date = _text(data.get("status")), _text(data.get("date"))
    told = [mention for key, value in data.items() for mention in key_mentions(key, value)]
    told += mentions(status)
    for line in sections.head_and_status():
        field = _LINE_FIELD.match(line)
        if field and field.group(1).lower() == "date":
            date = date or field.group(2).strip()
            continue
        if field and not is_choice(line):
            status = status or field.group(2).strip()
        told += mentions(line)
    for line in sections.links():
        told += mentions(line, strict=True)
    for line in sections.labelled():
        told += mentions(line)
    if section := sections.status():
        status = status or section
    day = day_in(date, day_first=day_first)
    return Decision(
        number=named if named is not None else number,
        status=_plain_status(status),
        date=day,
        unread_date="" if day or not any(map(str.isdigit, date)) else date,
        mentions=tuple(dict.fromkeys(told)),
    )


def _without_comments(body: str) -> str:
    """The text without HTML comments; every line stays in its place."""
    if "<!--" in body:
        body = _COMMENT.sub(lambda found: "\n" * found.group().count("\n"), body)
    return _HALF_COMMENT.sub("", body) if "<--" in body else body


class _Sections:
    """The lines of a record that tell of itself: its head, its Status section, its links."""

    def __init__(self, body: str) -> None:
        self._lines = body.splitlines()
        self._marks = headings(body)

    def head_and_status(self) -> Iterator[str]:
        """Lines below the title and of every section named Status, headings left out."""
        first = self._marks[0].line if self._marks else 0
        second = self._marks[1].line if len(self._marks) > 1 else len(self._lines) + 1
        yield from self._lines[first : min(second - 1, first + _HEAD_LINES)]
        yield from self._below(lambda name: name.startswith("status"), 1)

    def links(self) -> Iterator[str]:
        """Lines of the sections that tell of links."""
        return self._below(lambda name: name.rstrip(":") in _LINK_SECTIONS, 0)

    def labelled(self) -> Iterator[str]:
        """Lines anywhere that are a field of a relation."""
        return (line for line in self._lines if is_labelled(line))

    def status(self) -> str:
        """The first words under a Status heading, or after the colon of ``## Status: Accepted``."""
        for position, mark in enumerate(self._marks):
            name, colon, value = mark.text.partition(":")
            if name.strip().lower() != "status":
                continue
            if colon and value.strip():
                return value.strip()
            found = _first_words(self._section(position)[:_SECTION_LINES])
            if found:
                return found
        return ""

    def _below(self, wanted: Callable[[str], bool], start: int) -> Iterator[str]:
        for position, mark in enumerate(self._marks):
            if position >= start and wanted(mark.text.strip().lower()):
                yield from self._section(position)

    def _section(self, position: int) -> list[str]:
        marks = self._marks
        end = marks[position + 1].line - 1 if position + 1 < len(marks) else len(self._lines)
        return self._lines[marks[position].line : end]


def _first_words(lines: Sequence[str]) -> str:
    """The first line with words; of boxes to tick the ticked one."""
    boxes = [found for line in lines if (found := _CHECKED.match(line))]
    if boxes:
        return next((box[2].strip() for box in boxes if box[1] != " "), "")
    return next((words for line in lines if (words := line.strip().lstrip("-*=").strip())), "")


def _plain_status(text: str) -> str:
    """A status without its label, comments and the values it was chosen from."""
    field = _LINE_FIELD.match(text)
    bare = _HALF_COMMENT.sub("", _COMMENT.sub("", field.group(2) if field else text)).strip()
    at = bare.rfind("[")
    if at > 0 and bare.endswith("]") and bare.count(",", at) > 1:
        bare = bare[:at]
    if bare.startswith("[") and bare.endswith("]"):
        bare = bare[1:-1]
    return plain_title(bare).strip("\"' ")


def _text(value: Any) -> str:
    return value.strip() if isinstance(value, str) else str(value) if isinstance(value, int) else ""
