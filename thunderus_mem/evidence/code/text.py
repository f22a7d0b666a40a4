"""The text of a file's bytes, and reasons, found cheaply, why there is none that could be read."""

from __future__ import annotations

from typing import Final

from thunderus_mem.evidence.code.outline import depth, indents, marks

__all__ = ["MAX_CODE", "conflicts", "read_text", "trouble_of"]

MAX_CODE: Final = 2_000_000
"""Bytes. A parser takes about 0.2 s for a million."""
_MAX_DEPTH: Final = 200
_MAX_INDENTS: Final = 100
_LONG: Final = 10_000
_MEAN_LINE: Final = 1_000
_PACKED: Final = ("javascript", "typescript", "tsx", "css", "html")
"""Languages that are shipped without line ends."""
_MOST_MARKS: Final = 40
"""Scanners of lists and quotes keep what is open in 1,024 bytes, and end the process when more is."""
_MARKS: Final = ((b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))


def trouble_of(data: bytes, language: str) -> str:
    """Why nothing can be said of these bytes, "" when something can."""
    if len(data) > MAX_CODE:
        return f"{len(data) / 1e6:.1f} MB, more than {MAX_CODE / 1e6:.0f} MB"
    if b"\x00" in data and not data.startswith(tuple(mark for mark, _ in _MARKS)):
        return "binary"
    if not language:
        return ""
    if (
        language in _PACKED
        and len(data) > _LONG
        and len(data) / (data.count(b"\n") + data.count(b"\r") + 1) > _MEAN_LINE
    ):
        return "minified"
    if depth(data) > _MAX_DEPTH:
        return f"brackets nested more than {_MAX_DEPTH} deep"
    lines = data.split(b"\n")
    if marks(lines, language) > _MOST_MARKS:
        return f"more than {_MOST_MARKS} lists or quotes in each other"
    if indents(lines) > _MAX_INDENTS:
        return f"more than {_MAX_INDENTS} different indents"
    return ""


def read_text(data: bytes) -> str:
    """The text, its lines ended by LF. Bytes that are not UTF-8 are read as Latin-1, which never fails."""
    encoding = next((name for mark, name in _MARKS if data.startswith(mark)), "utf-8")
    try:
        text = data.removeprefix(b"\xef\xbb\xbf").decode(encoding)
    except UnicodeDecodeError:
        text = data.decode("latin-1")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def conflicts(text: str) -> tuple[tuple[int, int], ...]:
    """Lines (first and last, from 1) that a merge left to be settled; only when all marks are there."""
    if "<<<<<<< " not in text or ">>>>>>> " not in text:
        return ()
    found: list[tuple[int, int]] = []
    start = middle = 0
    for number, line in enumerate(text.split("\n"), 1):
        if line.startswith("<<<<<<< "):
            start, middle = number, 0
        elif start and line == "=======":
            middle = number
        elif middle and line.startswith(">>>>>>> "):
            found.append((start, number))
            start = middle = 0
    return tuple(found)
