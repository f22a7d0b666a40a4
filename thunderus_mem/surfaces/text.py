"""Text in columns and lines: widths as a terminal counts them, plurals, times a person reads."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

from thunderus_mem.surfaces.style import is_mark, pieces, unmarked

if TYPE_CHECKING:
    from collections.abc import Sequence

ELLIPSIS = "…"
_LEAST_BESIDE = 24
"""Columns that a text needs to stand beside others; in fewer it stands below them."""


def width(text: str) -> int:
    """Columns a text takes: wide East Asian characters two, combining ones none, style marks none."""
    bare = unmarked(text)
    if bare.isascii():
        return len(bare)
    return sum(_char_width(char) for char in bare)


def _char_width(char: str) -> int:
    if unicodedata.combining(char):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def cut(text: str, limit: int) -> str:
    """A text in at most ``limit`` columns; a cut one ends in an ellipsis. Its marks stay."""
    if width(text) <= limit:
        return text
    kept, used, ended = [], 0, False
    for piece in pieces(text):
        if len(piece) > 1 or is_mark(piece):
            kept.append(piece)
            continue
        used += _char_width(piece)
        if used <= limit - 1:
            kept.append(piece)
        elif not ended:
            kept.append(ELLIPSIS)
            ended = True
    return "".join(kept)


def wrapped(text: str, limit: int) -> list[str]:
    """A text in lines of at most ``limit`` columns, broken between words; a longer word has its own line."""
    lines: list[str] = []
    used = 0
    for word in text.split(" "):
        size = width(word)
        if lines and used + 1 + size <= limit:
            lines[-1] += f" {word}"
            used += 1 + size
        else:
            lines.append(word)
            used = size
    return lines


def folded(text: str, limit: int) -> str:
    """A text whose lines of more than ``limit`` columns go on below, broken between words and as far from the
    margin as they began; the others stay as they are, and so does a word that is longer than a line."""
    return "\n".join(part for line in text.split("\n") for part in _folded(line, limit))


def _folded(line: str, limit: int) -> list[str]:
    if width(line) <= limit:
        return [line]
    words = line.lstrip(" ")
    margin = " " * min(len(line) - len(words), limit // 2)
    parts = (part.strip(" ") for part in wrapped(words, limit - len(margin)))
    return [margin + part for part in parts if part]


def aligned(rows: Sequence[Sequence[str]], gap: int = 2) -> list[str]:
    """Rows as lines with aligned columns; no blanks at line ends."""
    if not rows:
        return []
    count = max(len(row) for row in rows)
    widths = [max((width(row[at]) for row in rows if at < len(row)), default=0) for at in range(count)]
    lines = []
    for row in rows:
        cells = [cell + " " * (widths[at] - width(cell)) for at, cell in enumerate(row)]
        lines.append((" " * gap).join(cells).rstrip())
    return lines


def flowing(rows: Sequence[Sequence[str]], room: int | None, gap: int = 2) -> list[str]:
    """Rows of one length as `aligned`, in at most ``room`` columns where that is a number: the last cell goes
    on below itself, or below the row where its words have no room beside the others."""
    lines = aligned(rows, gap)
    if room is None or all(width(line) <= room for line in lines):
        return lines
    lead = aligned([row[:-1] for row in rows], gap)
    start = max(map(width, lead)) + gap
    found: list[str] = []
    for row, first, line in zip(rows, lead, lines, strict=True):
        if width(line) <= room:
            found.append(line)
        elif room - start >= max(_LEAST_BESIDE, *map(width, row[-1].split(" "))):
            head, *rest = wrapped(row[-1], room - start)
            found += [first + " " * (start - width(first)) + head, *(" " * start + one for one in rest)]
        else:
            found += [first.rstrip()] if width(first) <= room else wrapped(" ".join(first.split()), room)
            found += [" " * gap + one for one in wrapped(row[-1], room - gap)]
    return found


def indented(text: str, room: int | None, indent: str = "") -> list[str]:
    """A text behind ``indent``, in lines of at most ``room`` columns where that is a number."""
    return [indent + line for line in ([text] if room is None else wrapped(text, room - len(indent)))]


def counted(number: int, noun: str, plural: str = "") -> str:
    """``1 document``, ``3 documents``."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def one_line(text: str) -> str:
    """A text in one line: every run of blanks is one space."""
    return " ".join(text.split())


def day(timestamp: str) -> str:
    """The date of an RFC 3339 text."""
    return timestamp[:10]


def minute(timestamp: str) -> str:
    """Date and time to the minute of an RFC 3339 text: ``2026-01-21 09:00``."""
    return timestamp[:16].replace("T", " ")


def size(count: int) -> str:
    """Bytes as people read them."""
    if count < 1024:
        return f"{count} B"
    return f"{count / 1024:.0f} KiB" if count < 1 << 20 else f"{count / (1 << 20):.1f} MiB"
