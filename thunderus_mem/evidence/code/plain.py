"""Files without a grammar: tokens of a lexer when one is known, else lines without the space around them."""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import TYPE_CHECKING, Final, NamedTuple

from thunderus_mem.evidence.code.lexed import MAX_LEXED, lexed, lexer_name, version
from thunderus_mem.evidence.code.outline import well_formed
from thunderus_mem.model.fingerprint import measure

if TYPE_CHECKING:
    from thunderus_mem.model.fingerprint import Fingerprint

__all__ = ["Keyed", "Plain", "keys"]

_SECTION: Final = re.compile(r"\[{1,2}([^\]\[]+)\]{1,2}(?:\s+|\s*[#;].*)?")
_KEY: Final = re.compile(r"([\w.\"'-]+)\s*[=:]")
_TARGET: Final = re.compile(r"([\w./%-]+)\s*(?:::?(?!=)|[:?+]?=)")


class Keyed(NamedTuple):
    """A named part of a plain file: its dotted name, what it is, its lines from 1."""

    name: str
    kind: str
    first: int
    last: int


class Plain:
    """A file without a grammar, read once: its tokens or lines, each with the line (from 1) it begins in."""

    def __init__(self, path: str, text: str) -> None:
        alias = _alias(path, text)
        self._scheme, self._grammar = (f"text-{alias}", version()) if alias else ("lines", "")
        rows = enumerate(text.split("\n"), 1)
        parts = lexed(alias, text) if alias else [(at, " ".join(row.split())) for at, row in rows]
        self._lines = [line for line, word in parts if word]
        self._words = [word for _, word in parts if word]

    def lines(self, first: int, last: int) -> Fingerprint | None:
        """The measure of these lines; ``None`` when nothing stands in them."""
        words = self._words[bisect_left(self._lines, first) : bisect_left(self._lines, last + 1)]
        return self._measured(words) if words else None

    def whole(self) -> Fingerprint:
        """The measure of the whole text."""
        return self._measured(self._words)

    def _measured(self, words: list[str]) -> Fingerprint:
        return measure(self._scheme, self._grammar, words, len(words))


def _alias(path: str, text: str) -> str:
    # Lexers are patterns that look far ahead: over one line of 100,000 brackets some take minutes.
    alias = lexer_name(path) if len(text) <= MAX_LEXED else ""
    return alias if alias and well_formed(text.encode()) else ""


def keys(path: str, text: str) -> list[Keyed]:
    """Sections and keys of TOML and INI, targets and variables of makefiles; of other files none."""
    alias = _alias(path, text)
    if alias not in ("toml", "ini", "make"):
        return []
    lines = text.split("\n")
    starts = _targets(lines) if alias == "make" else _settings(lines)
    found: list[Keyed] = []
    following = section = len(lines)
    for line, name, kind in reversed(starts):
        stop = section if kind == "section" else following
        following = line - 1
        section = following if kind == "section" else section
        while stop > line and not lines[stop - 1].strip(" \t#;"):
            stop -= 1
        found.append(Keyed(name, kind, line, stop))
    return found[::-1]


def _settings(lines: list[str]) -> list[tuple[int, str, str]]:
    starts: list[tuple[int, str, str]] = []
    section = ""
    for number, line in enumerate(lines, 1):
        if (header := _SECTION.fullmatch(line.strip()[:500])) and header[1].strip():
            section = header[1].replace('"', "").strip()
            starts.append((number, section, "section"))
        elif line[:1].strip() and (key := _KEY.match(line[:500])):
            name = key[1].strip("\"'")
            starts.append((number, f"{section}.{name}" if section else name, "key"))
    return starts


def _targets(lines: list[str]) -> list[tuple[int, str, str]]:
    found = [(number, _TARGET.match(line[:500])) for number, line in enumerate(lines, 1)]
    return [(number, match[1], "target") for number, match in found if match is not None]
