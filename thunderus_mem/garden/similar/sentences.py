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
        return frozenset(
            token.lower() for span in _CODE.findall(self.text) for token in _TOKEN.findall(span)
        )


def _key(text: str) -> re.Match[str] | None:
    found = _KEY.match(text)
    return found if found and len(found[1].split()) <= _WORDS_OF_A_KEY else None


def _slot(heading: str, text: str) -> tuple[str, str]:
    """The slot a line fills and what fills it: ``Owner: Ana`` fills "owner" with "Ana"."""
    found = _key(text)
    return (f"{heading}/{found[1].strip().lower()}", text[found.end() :]) if found else (heading, text)


def sentences(document: Document) -> list[Sentence]:
    """The title and everything the body says, in order, at most `MOST`."""
    found = [Sentence(document.title, 1, TITLE)]
    heading = ""
    running: list[str] = []
    start = 0
    fence = ""

    def flush() -> None:
        if running:
            for part in _END.split(" ".join(running)):
                slot, text = _slot(heading, part)
                if text.strip():
                    found.append(Sentence(text, start, slot))
            running.clear()

    comment = False
    for number, raw in enumerate(document.body.splitlines(), document.body_line):
        line = raw.strip()
        if len(found) > MOST:
            break
        if comment or line.startswith("<!--"):
            comment = "-->" not in line
            continue
        if line.startswith(("```", "~~~")) or fence:
            flush()
            if fence:
                fence = "" if line.startswith(fence) else fence
            else:
                fence = line[:3]
            if line.strip("`~") and fence and not line.startswith(fence):
                found.append(Sentence(line, number, heading))
            continue
        if not line or line.startswith("#"):
            flush()
            if line:
                heading = line.strip("# ").lower()
            continue
        item = _ITEM.match(line)
        if item or line[0] in "|>" or _key(line):
            flush()
            line = line[item.end() :] if item else line
        if not running:
            start = number
        running.append(line)
        if line.startswith("|"):
            flush()
    flush()
    return _placed(found[: MOST + 1], document)


def _placed(found: list[Sentence], document: Document) -> list[Sentence]:
    """Without a first heading or sentence that repeats the title; the title with its own line."""
    title = document.header.get("title")
    if title is not None:
        found[0].line = document.header_line + title.line - 1
    return [one for one in found if one.words] or found[:1]
