"""The sections of a long document, and which of them can stand alone. Pure."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Final, NamedTuple

from thunderus_mem.model.outline import Heading, headings, scan

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["Cut", "Section", "cut", "movable", "too_few"]

_DEFINITION: Final = re.compile(r" {0,3}\[([^\[\]\n]+)\]:")
_LABEL: Final = re.compile(r"\[([^\[\]\n]+)\]")
_PAIRED: Final = ("details", "div", "table")


class Section(NamedTuple):
    """A run of lines (from 0, half-open) that begins with a heading; ``first`` and ``after`` are the numbers
    of its headings among all of the body."""

    heading: Heading
    start: int
    end: int
    first: int
    after: int


class Cut(NamedTuple):
    """A body in lines, with their ends but for LF, cut at the headings of one level: what stands before the
    first of them, in lines, and the sections."""

    lines: tuple[str, ...]
    intro: int
    sections: tuple[Section, ...]
    headings: tuple[Heading, ...]

    def text(self, section: Section) -> str:
        """A section as it stands."""
        return "\n".join(self.lines[section.start : section.end])

    def size(self, section: Section) -> int:
        """About how many tokens it has."""
        return len(self.text(section)) // 4


def cut(body: str) -> Cut:
    """Cut a body at the highest level of which it has two headings; no sections when there is none."""
    scanned = scan(body)
    found = headings(body, scanned)
    lines = tuple(body.split("\n"))
    counts = Counter(heading.level for heading in found)
    level = min((level for level, count in counts.items() if count > 1), default=0)
    starts = [
        number for number, one in enumerate(found) if one.level <= level and (number or one.level == level)
    ]
    sections = []
    for place, number in enumerate(starts):
        after = starts[place + 1] if place + 1 < len(starts) else len(found)
        end = found[after].line - 1 if after < len(found) else len(lines)
        sections.append(Section(found[number], found[number].line - 1, end, number, after))
    return Cut(lines, sections[0].start if sections else len(lines), tuple(sections), found)


def movable(whole: Cut) -> tuple[Section, ...]:
    """The sections that lose nothing, and take nothing from the rest, when they stand in another document.

    Those stay whose link definitions or footnotes are used elsewhere, who use such from elsewhere, or who
    hold one half of a pair of HTML tags.
    """
    pieces = ["\n".join(whole.lines[: whole.intro]), *(whole.text(section) for section in whole.sections)]
    defined: dict[str, set[int]] = {}
    for place, piece in enumerate(pieces):
        for label in _labels(piece, _DEFINITION):
            defined.setdefault(label, set()).add(place)
    tied: set[int] = set()
    for place, piece in enumerate(pieces):
        for label in _labels(piece, _LABEL) & defined.keys():
            if defined[label] != {place}:
                tied |= {place, *defined[label]}
    return tuple(
        section
        for place, section in enumerate(whole.sections, 1)
        if place not in tied and not _is_torn(pieces[place])
    )


def _labels(piece: str, pattern: re.Pattern[str]) -> set[str]:
    if "]" not in piece:
        return set()
    lines: Iterable[str] = piece.split("\n")
    found = (pattern.match(line) for line in lines) if pattern is _DEFINITION else pattern.finditer(piece)
    return {" ".join(match[1].casefold().split()) for match in found if match is not None}


def _is_torn(piece: str) -> bool:
    lowered = piece.lower() if "<" in piece else ""
    return any(lowered.count(f"<{tag}") != lowered.count(f"</{tag}") for tag in _PAIRED)


def too_few(whole: Cut, sections: tuple[Section, ...]) -> str:
    """Why a body cannot be split at its headings; "" when it can."""
    if not whole.sections:
        return "it has no two headings of one level to split it at"
    if not sections:
        return "its sections share link definitions, footnotes or HTML, so that none can stand alone"
    return ""
