"""A document as sentences to compare: each with its line, the place it fills, and what it is about."""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING, Final

from thunderus_mem.garden.similar.words import concepts_of, stem

if TYPE_CHECKING:
    from thunderus_mem.model.document import Document

TITLE: Final = "title"
MOST: Final = 300
"""Sentences of one document that are looked at; no restatement is longer."""

_ITEM: Final = re.compile(r"(?:[-*+]|\d{1,9}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?")
_END: Final = re.compile(r"(?<=[.!?])\s+(?=[A-Z`\"(\[])")
_KEY: Final = re.compile(r"[*_|]{0,3}([^\W\d_][\w -]{0,30}?)[*_]{0,3}(?::[*_]{0,3}(?=\s|$)|[*_]{0,3}\s*\|)")
_TOKEN: Final = re.compile(r"[^\W_]+(?:[-.:/'’_@][^\W_]+)*%?")
_CODE: Final = re.compile(r"`([^`\n]+)`")
_THOUSANDS: Final = re.compile(r"(?<=\d),(?=\d{3})")
_WORDS_OF_A_KEY = 4
SAYING: Final = frozenset(
    (
        *("is", "are", "was", "were", "be", "been", "has", "have"),
        *("can", "cannot", "may", "must", "should", "will"),
    )
)
"""With one of these a few words say something: "Migrations cannot be reversed" is neither key nor name."""


class Sentence:
    """One sentence, list item, table row or line of code. ``line`` is that of the file, ``slot`` names the
    heading or key it stands under ("" for none)."""

    def __init__(self, text: str, line: int, slot: str) -> None:
        self.text = " ".join(text.split())
        self.line = line
        self.slot = slot

    @cached_property
    def plain(self) -> str:
        """The text for comparing: small letters, words only."""
        return " ".join(self.words)

    @cached_property
    def tokens(self) -> list[str]:
        """Words, numbers, names and paths as written, in order."""
        return _TOKEN.findall(_THOUSANDS.sub("", self.text.replace("’", "'")))

    @cached_property
    def words(self) -> list[str]:
        """The tokens in small letters."""
        return [token.lower() for token in self.tokens]

    @cached_property
    def stems(self) -> list[str]:
        """The stem of each word."""
        return [stem(word) for word in self.words]

    @cached_property
    def concepts(self) -> frozenset[str]:
        """What it speaks of."""
        return frozenset(concepts_of(self.text))

    @cached_property
    def code(self) -> frozenset[str]:
        """The tokens inside code spans, in small letters."""
        if "`" not in self.text:
            return frozenset()
        return frozenset(token.lower() for span in _CODE.findall(self.text) for token in _TOKEN.findall(span))


def _key(text: str) -> re.Match[str] | None:
    found = _KEY.match(text)
    if not found:
        return None
    words = found[1].lower().split()
    return found if len(words) <= _WORDS_OF_A_KEY and SAYING.isdisjoint(words) else None


def _slot(heading: str, text: str) -> tuple[str, str]:
    """The slot a line fills and what fills it: ``Owner: Ana`` fills "owner" with "Ana"."""
    found = _key(text)
    return (f"{heading}/{found[1].strip().lower()}", text[found.end() :]) if found else (heading, text)


class _Reader:
    """Walks the lines of a body once."""

    def __init__(self) -> None:
        self.found: list[Sentence] = []
        self.heading = ""
        self.fence = ""
        self.comment = False
        self._running: list[str] = []
        self._start = 0

    def flush(self) -> None:
        """The running paragraph or item ends: cut it into sentences."""
        if self._running:
            for part in _END.split(" ".join(self._running)):
                slot, text = _slot(self.heading, part)
                self.emit(text, self._start, slot)
            self._running.clear()

    def emit(self, text: str, number: int, slot: str) -> None:
        sentence = Sentence(text, number, slot)
        if sentence.words:
            self.found.append(sentence)

    def read(self, line: str, number: int) -> None:
        """One line without outer blanks."""
        if self.comment or (line.startswith("<!--") and not self.fence):
            self.comment = "-->" not in line
        elif self.fence or line.startswith(("```", "~~~")):
            self.flush()
            if not self.fence:
                self.fence = line[:3]
            elif line.startswith(self.fence):
                self.fence = ""
            else:
                self.emit(line, number, self.heading)
        elif not line or line[0] == "#":
            self.flush()
            self.heading = line.strip("# ").lower() if line else self.heading
        else:
            self.text(line, number)

    def text(self, line: str, number: int) -> None:
        item = _ITEM.match(line)
        if item or line[0] in "|>" or _key(line):
            self.flush()
            line = line[item.end() :] if item else line
        if not self._running:
            self._start = number
        self._running.append(line)
        if line.startswith("|"):
            self.flush()


def sentences_of(body: str, first_line: int = 1, most: int | None = None) -> list[Sentence]:
    """Everything a Markdown text says, in order; ``first_line`` is the number of its first line."""
    reader = _Reader()
    for number, line in enumerate(body.splitlines(), first_line):
        if most is not None and len(reader.found) >= most:
            break
        reader.read(line.strip(), number)
    reader.flush()
    return reader.found[:most]


def sentences(document: Document) -> list[Sentence]:
    """The title, and what the body says, at most `MOST` sentences of it."""
    title = document.header.get("title")
    line = document.header_line + (title.line if title is not None else 1) - 1
    return [Sentence(document.title, line, TITLE), *sentences_of(document.body, document.body_line, MOST)]
