"""Number, title, status, date and relations of a foreign decision record (adr-tools, MADR, log4brains). Pure.

They are read from a numbered heading (``# 7. Use JWT``), a ``Date:`` or ``Status:`` line under it, a
``## Status`` section, or frontmatter keys. The text is not changed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Any, Final

from thunderus_mem.authoring.sources import file_number
from thunderus_mem.document.markdown import headings
from thunderus_mem.document.state import PARTLY, is_choice, status_texts
from thunderus_mem.startup import NamedTuple, lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

_MONTHS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH: Final = rf"({'|'.join(_MONTHS)})[a-z]{{0,6}}\.?"
_YEAR_FIRST = lazy_pattern(r"\b(\d{4})([-/.])(\d{1,2})\2(\d{1,2})\b", re.ASCII)
_YEAR_LAST = lazy_pattern(r"\b(\d{1,2})([/.-])(\d{1,2})\2(\d{4})\b", re.ASCII)
_DAY_NAMED = lazy_pattern(
    rf"\b(\d{{1,2}})(?:st|nd|rd|th)?\.? {_MONTH},? (\d{{4}})\b", re.ASCII | re.IGNORECASE
)
_MONTH_NAMED = lazy_pattern(
    rf"\b{_MONTH} (\d{{1,2}})(?:st|nd|rd|th)?,? (\d{{4}})\b", re.ASCII | re.IGNORECASE
)


def day_in(text: str, *, day_first: bool | None = None) -> str:
    """The first date in a text, or "".

    ``04/07/2019`` is two days in two countries: it counts when only one of them exists, or when ``day_first``
    says how its neighbours write.
    """
    if found := _YEAR_FIRST.search(text):
        return _day(found[1], found[3], found[4])
    if found := _DAY_NAMED.search(text):
        return _day(found[3], _month(found[2]), found[1])
    if found := _MONTH_NAMED.search(text):
        return _day(found[3], _month(found[1]), found[2])
    if found := _YEAR_LAST.search(text):
        first, second = int(found[1]), int(found[3])
        if first > 12 or (day_first and second <= 12):
            return _day(found[4], second, first)
        if second > 12 or day_first is False or first == second:
            return _day(found[4], first, second)
    return ""


def writes_day_first(texts: Iterable[str]) -> bool | None:
    """Whether dates that end with the year begin with the day; ``None`` if undecided."""
    seen = set()
    for text in texts:
        for found in _YEAR_LAST.finditer(text):
            first, second = int(found[1]), int(found[3])
            if (first > 12) != (second > 12):
                seen.add(first > 12)
    return seen.pop() if len(seen) == 1 else None


def _month(name: str) -> int:
    return _MONTHS.index(name.lower()) + 1


def _day(year: str | int, month: str | int, day: str | int) -> str:
    try:
        return date(int(year), int(month), int(day)).isoformat()
    except ValueError:
        return ""


_BY = lazy_pattern(r"\b(?:super[sc]eded|replaced|obsoleted)\b.*?\bby\b(.*)", re.IGNORECASE)
_BY_LINK = lazy_pattern(r"\b(?:super[sc]eded|replaced|obsoleted)\b[\s:\u2013\u2014-]*(\[.*)", re.IGNORECASE)
_OVER = lazy_pattern(r"\b(?:super[sc]edes?|replaces|obsoletes)\b(.*)", re.IGNORECASE)
_OPENING = r"[\s>*+_-]*\[?(?:\*\*|__)?"
_REFERS = lazy_pattern(
    rf"{_OPENING}(amends|extends|refines|clarifies|complements|depends on|builds on|relate[sd] to)\b(.*)",
    re.IGNORECASE,
)
_REFERRED = lazy_pattern(
    rf"{_OPENING}(amended|extended|refined|clarified|complemented)\b[^\[\]]{{0,40}}?\bby\b(.*)", re.IGNORECASE
)
_BEGINS = lazy_pattern(
    rf"{_OPENING}(?:super[sc]ede[sd]?|replace[sd]|obsolete[sd]|amend|extend|refine|clarif|complement|depends|builds|relate)",
    re.IGNORECASE,
)
_LINK = lazy_pattern(r"\]\(<?([^()\s<>\[\]]+)(?:[\s>][^()\[\]]*)?\)|\[\[([^\[\]|]+)")
_NAMED = lazy_pattern(r"\b(?:adr|rfc|decision)[\s#_-]*(\d{1,5})\b", re.ASCII | re.IGNORECASE)
_FILE = lazy_pattern(r"(?<![\w./-])(\d{3,8}-[a-zA-Z][\w.-]*|[\w.-]+\.md)(?![\w/])", re.ASCII)
_LABELLED = lazy_pattern(
    rf"{_OPENING}(?:super[sc]ede[sd]?|replaced?s?|amend(?:s|ed)|extend(?:s|ed)|refine[sd]|relate[sd])"
    r"(?: (?:by|to))?[*_]{0,2}:",
    re.IGNORECASE,
)
_MAX_LINE = 2_000

SUPERSEDES, REFERS = "supersedes", "refers_to"
_KEYS: Final = {
    **dict.fromkeys(("supersedes", "replaces"), (SUPERSEDES, False)),
    **dict.fromkeys(("superseded by", "replaced by"), (SUPERSEDES, True)),
    **dict.fromkeys(("amends", "extends", "refines", "depends on"), (REFERS, False)),
    **dict.fromkeys(("related", "related to", "relates to"), (REFERS, False)),
    **dict.fromkeys(("amended by", "extended by", "refined by"), (REFERS, True)),
}
"""Frontmatter keys of relations, and whether the relation points from the other record to this one."""


class RelationMention(NamedTuple):
    """One relation: this record to ``target``, or with ``backwards`` the target to this one.

    ``word`` is how it was said. ``partial`` is a whole line about a part: no relation follows from it.
    """

    rel: str
    target: str
    backwards: bool = False
    word: str = ""
    partial: str = ""


def mentions(line: str, *, strict: bool = False) -> list[RelationMention]:
    """The relations in a line; with ``strict`` only if the line begins with one, as a list item does."""
    if len(line) > _MAX_LINE or is_choice(line) or (strict and not _BEGINS.match(line)):
        return []
    referred = _REFERRED.match(line)
    if refers := referred or _REFERS.match(line):
        backwards = referred is not None
        return [
            RelationMention(REFERS, target, backwards, refers[1].lower()) for target in targets(refers[2])
        ]
    by = _BY.search(line) or _BY_LINK.search(line)
    found = by or _OVER.search(line)
    if found is None:
        return []
    found_targets = targets(found[1])
    if found_targets and PARTLY.search(line):
        return [RelationMention(SUPERSEDES, "", partial=" ".join(line.split()))]
    return [RelationMention(SUPERSEDES, target, by is not None) for target in found_targets]


def key_mentions(key: str, value: object) -> list[RelationMention]:
    """The relations of a frontmatter key such as ``supersedes``, ``superseded-by`` or ``amends``."""
    phrase = " ".join(re.split(r"[_\s-]+", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", key))).lower()
    rel = _KEYS.get(phrase)
    return value_mentions(value, rel[0], phrase, backwards=rel[1]) if rel is not None else []


def value_mentions(value: object, rel: str, word: str, *, backwards: bool) -> list[RelationMention]:
    """The relations of one kind to the records in the value of a field, or in each item of a list."""
    items = value if isinstance(value, list) else [value]
    return [
        RelationMention(rel, target, backwards, word) for item in items for target in _value_targets(item)
    ]


def _value_targets(item: object) -> list[str]:
    """The records in one value of a field: a number, a link or a name."""
    text = str(item).strip() if isinstance(item, (str, int)) and not isinstance(item, bool) else ""
    if text.isdigit():
        return [f"#{int(text[:9])}"]
    return targets(text) or ([f"?{text}"] if text and not any(char.isspace() for char in text) else [])


def targets(text: str) -> list[str]:
    """The records in a piece of text: its links, else its numbers, else words that could be file names."""
    links = [first or second for first, second in _LINK.findall(text)]
    if links:
        return links
    named = [f"#{int(number)}" for number in _NAMED.findall(text)]
    return named or [f"?{name.rstrip('.')}" for name in _FILE.findall(text)]


_TITLE_NUMBER = lazy_pattern(
    r"(?:adr|rfc|decision)?[\s#_-]*(\d{1,5})\s*(?:\.(?!\d)|[:)]|[-–—](?=\s))\s*(?=\S)",
    re.ASCII | re.IGNORECASE,
)
_TITLE_BARE = lazy_pattern(r"(?:adr[\s#_-]*)?(\d{1,5})\s+(?=\S)", re.ASCII | re.IGNORECASE)
_TITLE_LABEL = lazy_pattern(
    r"(?:architectur(?:e|al) decision record|decision record|adr)\s*[:–—-]\s*(?=\S)", re.IGNORECASE
)
_LINE_FIELD = lazy_pattern(
    r"\s{0,3}(?:[-*+]\s+)?(?:\*\*|__)?(status|date)(?:\*\*|__)?\s*:\s*(?:\*\*|__)?\s*(.*)", re.IGNORECASE
)
_COMMENT = lazy_pattern(r"<!--(?:(?!-->).)*(?:-->|\Z)", re.DOTALL)
_HALF_COMMENT = lazy_pattern(r"<--.*")
_LINK_SECTIONS = frozenset(
    ["links", "related", "related decisions", "related adrs", "relations", "more information", "references"]
)
_MARKUP = lazy_pattern(r"!?\[([^\[\]]*)\]\([^()\[\]]*\)|[`*]+")
_HEAD_LINES = 40


@dataclass(frozen=True, slots=True)
class DecisionRecord:
    """The facts of one record. Missing ones are ``None`` or empty.

    ``number`` is the file name's, else the heading's (headings are copied from other records and keep a
    wrong one). ``mentions`` are its relations, targets as written.
    """

    number: int | None = None
    status: str = ""
    date: str = ""
    unread_date: str = ""
    mentions: tuple[RelationMention, ...] = ()


def plain_title(heading: str) -> str:
    """A heading without links, code marks and emphasis, on one line."""
    return " ".join(_MARKUP.sub(lambda match: match.group(1) or "", heading).split())


def split_title(heading: str, file_number: int | None) -> tuple[int | None, str]:
    """Part ``7. Use JWT``, ``ADR-007: Use JWT`` or ``0007 Use JWT`` into number and title.

    A bare number before words (``3 reasons``) counts only when the file carries the same number; parts of one
    with a dot (``802.11 radios``) never do.
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


def read_decision(
    stem: str, heading: str, data: Mapping[str, Any], body: str, *, day_first: bool | None = None
) -> DecisionRecord:
    """Gather the facts from file name, first heading, frontmatter ``data`` and ``body``."""
    named = file_number(stem)
    number, _ = split_title(heading, named)
    sections = _Sections(_without_comments(body))
    key, date = _text(data.get("status")), _text(data.get("date"))
    found = [mention for key, value in data.items() for mention in key_mentions(key, value)]
    found += mentions(key)
    status = key or next((one.text for one in status_texts(body) if not is_choice(one.text)), "")
    for line in sections.head_and_status():
        field = _LINE_FIELD.match(line)
        if field and field.group(1).lower() == "date":
            date = date or field.group(2).strip()
            continue
        found += mentions(line)
    for line in sections.links():
        found += mentions(line, strict=True)
    for line in sections.labelled():
        found += mentions(line)
    day = day_in(date, day_first=day_first)
    return DecisionRecord(
        number=named if named is not None else number,
        status=_plain_status(status),
        date=day,
        unread_date="" if day or not any(map(str.isdigit, date)) else date,
        mentions=tuple(dict.fromkeys(found)),
    )


def _without_comments(body: str) -> str:
    """The text without HTML comments; line numbers stay the same."""
    if "<!--" in body:
        body = _COMMENT.sub(lambda found: "\n" * found.group().count("\n"), body)
    return _HALF_COMMENT.sub("", body) if "<--" in body else body


class _Sections:
    """The lines of a record about the record itself: its head, its Status section, its links."""

    def __init__(self, body: str) -> None:
        self._lines = body.splitlines()
        self._marks = headings(body)

    def head_and_status(self) -> Iterator[str]:
        """Lines below the title and of every section named Status, without headings."""
        first = self._marks[0].line if self._marks else 0
        second = self._marks[1].line if len(self._marks) > 1 else len(self._lines) + 1
        yield from self._lines[first : min(second - 1, first + _HEAD_LINES)]
        yield from self._below(lambda name: name.startswith("status"), 1)

    def links(self) -> Iterator[str]:
        """Lines of the sections about links."""
        return self._below(lambda name: name.rstrip(":") in _LINK_SECTIONS, 0)

    def labelled(self) -> Iterator[str]:
        """Lines anywhere that are a relation field, such as ``**Extends**: …``."""
        return filter(_LABELLED.match, self._lines)

    def _below(self, wanted: Callable[[str], bool], start: int) -> Iterator[str]:
        for position, mark in enumerate(self._marks):
            if position >= start and wanted(mark.text.strip().lower()):
                yield from self._section(position)

    def _section(self, position: int) -> list[str]:
        marks = self._marks
        end = marks[position + 1].line - 1 if position + 1 < len(marks) else len(self._lines)
        return self._lines[marks[position].line : end]


def _plain_status(text: str) -> str:
    """A status without label, comments and the list of possible values."""
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
