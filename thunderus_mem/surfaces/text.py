"""Text in columns and lines: widths as a terminal counts them, plurals, times a person reads."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

from thunderus_mem.surfaces.style import is_mark, pieces, unmarked

if TYPE_CHECKING:
    from collections.abc import Sequence

ELLIPSIS = "…"


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
