"""What a foreign decision record says of itself: number, title, status, date, what it supersedes.

Read from what people write by hand or with a generator: a numbered heading (``# 7. Use JWT``), a ``Date:`` or
``Status:`` line under it, a ``## Status`` section, keys of a frontmatter. Nothing here changes a text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from thunderus_mem.model.markdown import headings

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

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
_DATE = re.compile(r"\b\d{4}-\d\d-\d\d\b", re.ASCII)
_BY = re.compile(r"\b(?:super[sc]eded|replaced|obsoleted)\b.*?\bby\b(.*)", re.IGNORECASE)
_OVER = re.compile(r"\b(?:super[sc]edes?|replaces|obsoletes)\b(.*)", re.IGNORECASE)
_PARTLY = re.compile(r"\b(?:in part|partly|partial(?:ly)?|aspects?|parts? of)\b", re.IGNORECASE)
_LINK = re.compile(r"\]\(<?([^()\s<>\[\]]+)(?:[\s>][^()\[\]]*)?\)|\[\[([^\[\]|]+)")
_NAMED = re.compile(r"\b(?:adr|rfc|decision)[\s#_-]*(\d{1,5})\b", re.ASCII | re.IGNORECASE)
_MARKUP = re.compile(r"!?\[([^\[\]]*)\]\([^()\[\]]*\)|[`*]+")
_HEAD_LINES = 40
_MAX_LINE = 2_000


@dataclass(frozen=True, slots=True)
class Decision:
    """The facts of one record. Missing ones are ``None`` or empty.

    ``number`` is the file name's, else the heading's (headings are copied from other records and keep a
    wrong one). ``supersedes`` and ``superseded_by`` hold targets as written: a relative link, or ``#7`` for a
    record named by number. ``partial`` holds lines on superseding a part: no relation follows from them.
    """

    number: int | None = None
    status: str = ""
    status_in_body: bool = False
    date: str = ""
    supersedes: tuple[str, ...] = ()
    superseded_by: tuple[str, ...] = ()
    partial: tuple[str, ...] = ()


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


def read_decision(stem: str, heading: str, data: Mapping[str, Any], body: str) -> Decision:
    """Gather the facts from file name, first heading, frontmatter ``data`` and ``body``."""
    named = file_number(stem)
    number, _ = split_title(heading, named)
    status, date, in_body = _text(data.get("status")), _text(data.get("date")), False
    over: list[str] = []
    under: list[str] = []
    partial: list[str] = []
    for line in (*_relation_keys(data), *_status_lines(body)):
        field = _LINE_FIELD.match(line)
        if field and field.group(1).lower() == "date":
            found = _DATE.search(field.group(2))
            date = date or (found.group() if found else "")
            continue
        if field and not _is_choice(line):
            status, in_body = status or field.group(2).strip(), True
        _relations(line, over, under, partial)
    section = _section_status(body)
    if section:
        status, in_body = status or section, True
    found = _DATE.match(date)
    return Decision(
        number=named if named is not None else number,
        status=plain_title(status),
        status_in_body=in_body,
        date=found.group() if found else "",
        supersedes=tuple(dict.fromkeys(over)),
        superseded_by=tuple(dict.fromkeys(under)),
        partial=tuple(dict.fromkeys(partial)),
    )


def _relation_keys(data: Mapping[str, Any]) -> Iterator[str]:
    status = _text(data.get("status"))
    if status:
        yield status
    for key, value in data.items():
        phrase = key.replace("_", " ").replace("-", " ").lower()
        if phrase in ("superseded by", "supersedes", "replaces", "replaced by"):
            values = value if isinstance(value, list) else [value]
            for item in values:
                text = _text(item)
                yield f"{phrase} {f'ADR {text}' if text.isdigit() else f'[it]({text})' if text else ''}"


def _relations(line: str, over: list[str], under: list[str], partial: list[str]) -> None:
    """Sort the targets one line names into ``over``, ``under`` or ``partial``."""
    if len(line) > _MAX_LINE or _is_choice(line):
        return
    by, new = _BY.search(line), _OVER.search(line)
    match = by or new
    if match is None:
        return
    targets = _targets(match.group(1))
    if not targets:
        return
    if _PARTLY.search(line):
        partial.append(" ".join(line.split()))
    elif by:
        under.extend(targets)
    else:
        over.extend(targets)


def _targets(text: str) -> list[str]:
    links = [first or second for first, second in _LINK.findall(text)]
    return links or [f"#{int(number)}" for number in _NAMED.findall(text)]


def _is_choice(line: str) -> bool:
    """Whether a line offers values to choose from, as templates do."""
    return line.count("|") > 1


def _status_lines(body: str) -> Iterator[str]:
    """Lines of the first section's head and of every section named Status, headings left out."""
    lines = body.splitlines()
    marks = headings(body)
    starts = [mark.line for mark in marks]
    first = starts[0] if starts else 0
    second = starts[1] if len(starts) > 1 else len(lines) + 1
    yield from lines[first : min(second - 1, first + _HEAD_LINES)]
    for position, mark in enumerate(marks):
        if position and mark.text.strip().lower().startswith("status"):
            end = starts[position + 1] if position + 1 < len(starts) else len(lines) + 1
            yield from lines[mark.line : end - 1]


def _section_status(body: str) -> str:
    """The first words under a ``Status`` heading, or after the colon of ``## Status: Accepted``."""
    lines = body.splitlines()
    marks = headings(body)
    for position, mark in enumerate(marks):
        name, colon, value = mark.text.partition(":")
        if name.strip().lower() != "status":
            continue
        if colon and value.strip():
            return value.strip()
        end = marks[position + 1].line if position + 1 < len(marks) else len(lines) + 1
        for line in lines[mark.line : end - 1]:
            words = line.strip().lstrip("-*=").strip()
            if words and not words.startswith("<!--"):
                return words
    return ""


def _text(value: Any) -> str:
    return value.strip() if isinstance(value, str) else str(value) if isinstance(value, int) else ""
