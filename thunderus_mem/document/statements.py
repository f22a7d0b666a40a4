"""A body as statements, to decide whether two bodies say exactly the same. Pure.

Layout is ignored: line breaks inside a paragraph, blank lines, the bullet character, a capital first letter,
punctuation at the end. Anything that may carry meaning counts: the headings and lead-in of a statement, code
and its case, capitalized names, numbers, the order of numbered steps, table rows, nested items. A sentence is
never split; when in doubt, two sentences stay together. A heading without text below it is a statement.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from thunderus_mem.startup import NamedTuple, lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Iterable

    from thunderus_mem.document.document import Document

_MAY_END = lazy_pattern(r"[.!?] (?=[A-Z\u00c0-\u00de`\"(\[])")
_DOTTED_NUMBER = lazy_pattern(r"\d\.\d{1,9}$")
_TWO_LETTERS = lazy_pattern(r"[^\W\d_]{2}")
_ABBREVIATED = lazy_pattern(
    r"\b(?:al|ca|cf|dr|eg|ie|jr|mr|ms|no|nr|pp|st|vs|etc|fig|sec|sect|chap|vol|ver|mrs|max|min|incl|excl"
    r"|approx|resp|dept|inc|ltd|esp)\.$",
    re.IGNORECASE,
)
_SHORTEST_SENTENCE = 3
_LETTERS = 2
_LONGEST_ABBREVIATION = 12
_LONGEST_NUMBER = 12


def _pieces(text: str) -> list[str]:
    """The text split after a full stop that follows two letters, a bracket, code or a decimal number, before
    a capital. Other numbers may number steps or days: ``1. Install``, ``on 4. August``."""
    pieces = []
    start = 0
    for stop in _MAY_END.finditer(text):
        at = stop.start()
        if (
            text[at - 1 : at] in ("`", ")")
            or (at >= _LETTERS and _TWO_LETTERS.match(text, at - _LETTERS))
            or _DOTTED_NUMBER.search(text, max(0, at - _LONGEST_NUMBER), at)
        ):
            pieces.append(text[start : at + 1])
            start = stop.end()
    pieces.append(text[start:])
    return pieces


def split_sentences(text: str) -> list[str]:
    """The sentences of a paragraph; the whole paragraph when a piece may not be a sentence (too short, or
    ending in ``approx.``)."""
    pieces = _pieces(" ".join(text.split()))
    for piece in pieces[:-1]:
        # Only the end of a piece matters; searching all of it would take most of the time.
        if len(piece.split(None, _SHORTEST_SENTENCE)) < _SHORTEST_SENTENCE:
            return [text]
        if _ABBREVIATED.search(piece, max(0, len(piece) - _LONGEST_ABBREVIATION)):
            return [text]
    return pieces


ORDERED_KINDS: Final = frozenset({"playbook"})
"""In a playbook the order of the sentences is the procedure."""

FEWEST_WORDS: Final = 3
"""Shorter texts never count as the same."""

_FENCE = lazy_pattern(r" {0,3}(`{3,}|~{3,})(.*)")
_HEADING = lazy_pattern(r" {0,3}(#{1,6})(?:[ \t]+(.*))?$")
_UNDERLINE = lazy_pattern(r" {0,3}(=+|-+)$")
_THEMATIC_BREAK = lazy_pattern(r" {0,3}([-*_])(?:[ \t]*\1){2,}$")
_BULLET = lazy_pattern(r" {0,3}[-*+](?:[ \t]+|$)")
_NUMBER = lazy_pattern(r" {0,3}(\d{1,9})[.)](?:[ \t]+|$)")
_NESTED = lazy_pattern(r"[ \t]+(?:[-*+]|\d{1,9}[.)]|`{3,}|~{3,})")
_CODE_SPAN = lazy_pattern(r"((?<!`)`+[^`]+`+)")
_PLAIN_WORD = lazy_pattern(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_AROUND = "\"'“”‘’()*_,;:.!?…"
_END_MARKS = ".,;:!… "


class Statement(NamedTuple):
    """One statement of a body: ``text``, under the headings ``under``, introduced by the sentence
    ``lead``."""

    under: tuple[str, ...]
    lead: str
    text: str


@lru_cache(maxsize=16384)
def _fold_word(token: str) -> str:
    core = token.strip(_AROUND)
    if _PLAIN_WORD.fullmatch(core) and core[1:] == core[1:].lower():
        return token.lower()
    return token


def fold(text: str) -> str:
    """Normalize a text: one space between words, plain words in lower case, no punctuation at the end.

    Code spans, words with an inner capital, and anything with a digit or symbol stay as written.
    """
    text = " ".join((text if text.isascii() else unicodedata.normalize("NFC", text)).split())
    if "`" not in text:
        return " ".join(map(_fold_word, text.split(" "))).rstrip(_END_MARKS)
    parts = _CODE_SPAN.split(text)
    for at in range(0, len(parts), 2):
        parts[at] = " ".join(_fold_word(token) for token in parts[at].split(" "))
    return "".join(parts).rstrip(_END_MARKS)


def _item(lines: list[str]) -> str:
    """A list item: one line, or all lines as they are when something is nested in it."""
    if any(_NESTED.match(line) for line in lines[1:]):
        return "\n".join([fold(lines[0]), *(line for line in lines[1:] if line)])
    return fold(" ".join(lines))


class _Reader:
    """Reads the lines once and collects statements."""

    def __init__(self, lines: list[str], title: str) -> None:
        self.lines = lines
        self.title = title
        self.at = 0
        self.lead = ""
        self.headings: list[tuple[int, str]] = []
        self.paragraph: list[str] = []
        self.found: list[Statement] = []
        self.begun = False
        self.bare = False  # nothing is below the last heading so far

    def emit(self, text: str, lead: str = "") -> None:
        if text:
            self.bare = False
            self.found.append(Statement(tuple(name for _, name in self.headings), lead, text))
        self.begun = True

    def flush(self) -> None:
        if self.paragraph:
            for sentence in split_sentences("\n".join(self.paragraph)):
                self.lead = fold(sentence)
                self.emit(self.lead)
            self.paragraph = []

    def heading(self, level: int, text: str) -> None:
        name = fold(text)
        self.end_sections(level)
        self.lead = ""
        # A heading that repeats the title adds nothing.
        if self.begun or level > 1 or name != self.title:
            self.headings.append((level, name))
            self.bare = True
        self.begun = True

    def end_sections(self, level: int) -> None:
        """End the sections of a level and of deeper ones. A heading without text below it is a statement."""
        if self.bare and self.headings[-1][0] >= level:
            _, name = self.headings.pop()
            self.emit(f"# {name}" if name else "")
            self.bare = False
        self.headings = [entry for entry in self.headings if entry[0] < level]

    def take_while_filled(self) -> list[str]:
        start = self.at
        while self.at < len(self.lines) and self.lines[self.at]:
            self.at += 1
        return self.lines[start : self.at]

    def fence(self, mark: str) -> None:
        start = self.at
        self.at += 1
        while self.at < len(self.lines):
            closing = _FENCE.match(self.lines[self.at])
            self.at += 1
            if closing and closing[1].startswith(mark) and not closing[2].strip():
                break
        self.emit("\n".join(self.lines[start : self.at]), self.lead)

    def comment(self) -> None:
        start = self.at
        while self.at < len(self.lines) and "-->" not in self.lines[self.at]:
            self.at += 1
        self.at += 1
        self.emit("\n".join(self.lines[start : self.at]), self.lead)

    def item_lines(self, marker: re.Match[str]) -> list[str]:
        lines = [self.lines[self.at][marker.end() :]]
        self.at += 1
        while self.at < len(self.lines):
            line = self.lines[self.at]
            following = self.lines[self.at + 1] if self.at + 1 < len(self.lines) else ""
            if not line and not following.startswith((" ", "\t")):
                break
            if line and line[0] not in " \t" and (_starts_block(line) or not self.lines[self.at - 1]):
                break
            if _BULLET.match(line) and _indent(line) < 2:
                break
            lines.append(line)
            self.at += 1
        return lines

    def bullets(self, marker: re.Match[str]) -> None:
        self.emit("- " + _item(self.item_lines(marker)), self.lead)

    def numbered(self, marker: re.Match[str]) -> None:
        first = int(marker[1])
        steps: list[str] = []
        following: re.Match[str] | None = marker
        while following:
            steps.append(f"{first + len(steps)}. {_item(self.item_lines(following))}")
            while self.at < len(self.lines) and not self.lines[self.at]:
                self.at += 1
            following = _NUMBER.match(self.lines[self.at]) if self.at < len(self.lines) else None
        self.emit("\n".join(steps), self.lead)

    def block(self, line: str) -> bool:
        """Read the block that begins at ``line``; false for ordinary text."""
        if line[0].isalpha():
            return False
        if fence := _FENCE.match(line):
            self.flush()
            self.fence(fence[1])
        elif heading := _HEADING.match(line):
            self.flush()
            self.heading(len(heading[1]), (heading[2] or "").rstrip("# "))
            self.at += 1
        elif self.paragraph and (underline := _UNDERLINE.match(line)):
            text, self.paragraph = " ".join(self.paragraph), []
            self.heading(1 if underline[1][0] == "=" else 2, text)
            self.at += 1
        elif _THEMATIC_BREAK.match(line):
            self.flush()
            self.at += 1
        elif bullet := _BULLET.match(line):
            self.flush()
            self.bullets(bullet)
        elif number := _NUMBER.match(line):
            self.flush()
            self.numbered(number)
        else:
            return self.verbatim(line)
        return True

    def verbatim(self, line: str) -> bool:
        """Comments, quotes, tables, markup and indented code count line by line."""
        if line.lstrip().startswith("<!--"):
            self.flush()
            self.comment()
        elif line.lstrip().startswith(("|", ">", "<")) or (
            not self.paragraph and line.startswith(("    ", "\t"))
        ):
            self.flush()
            self.emit("\n".join(self.take_while_filled()), self.lead)
        else:
            return False
        return True

    def read(self) -> list[Statement]:
        while self.at < len(self.lines):
            line = self.lines[self.at]
            if not line:
                self.flush()
                self.at += 1
            elif not self.block(line):
                self.paragraph.append(line)
                self.at += 1
        self.flush()
        self.end_sections(0)
        return self.found


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _starts_block(line: str) -> bool:
    return any(pattern.match(line) for pattern in (_FENCE, _HEADING, _BULLET, _NUMBER, _THEMATIC_BREAK))


def statements(body: str, title: str = "") -> tuple[Statement, ...]:
    """The statements of ``body`` (Markdown), in order; a first heading equal to ``title`` is skipped."""
    lines = [line.rstrip() for line in body.replace("\r\n", "\n").replace("\r", "\n").split("\n")]
    return tuple(_Reader(lines, fold(title)).read())


def digest(found: Iterable[Statement]) -> str:
    """A hash of statements, in order."""
    return hashlib.sha256(repr([(s.under, s.lead, s.text) for s in found]).encode()).hexdigest()


def text_digest(title: str, found: Iterable[Statement]) -> str:
    """A hash of a title and its statements, in order; decisions about a text are stored under it."""
    return hashlib.sha256(repr((fold(title), digest(found))).encode("utf-8", "surrogatepass")).hexdigest()


def gist(found: Iterable[Statement]) -> str:
    """The `digest` of statements regardless of order and repetition; "" when there are too few words."""
    distinct = sorted(set(found))
    enough = sum(len(statement.text.split()) for statement in distinct) >= FEWEST_WORDS
    return digest(distinct) if enough else ""


def same_text(one: Document, other: Document) -> bool:
    """Whether two documents have the same kind and say exactly the same."""
    if one.kind != other.kind:
        return False
    left, right = statements(one.body, one.title), statements(other.body, other.title)
    if one.kind in ORDERED_KINDS and digest(left) != digest(right):
        return False
    left_gist = gist(left)
    return bool(left_gist) and left_gist == gist(right)
