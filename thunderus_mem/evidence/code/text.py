"""The text of a file's bytes, and reasons, found cheaply, why there is none that could be read."""

from __future__ import annotations

from itertools import accumulate
from typing import Final

__all__ = ["conflicts", "read_text", "trouble_of"]

MAX_CODE: Final = 2_000_000
"""Bytes. A parser takes about 0.2 s for a million, and cannot be stopped."""
_MAX_DEPTH: Final = 200
_MAX_INDENTS: Final = 100
_LONG: Final = 10_000
_MEAN_LINE: Final = 1_000
_PACKED: Final = ("javascript", "typescript", "tsx", "css", "html")
"""Languages that are shipped without line ends."""
_MARKED: Final = ("yaml", "markdown")
_MOST_MARKS: Final = 40
"""Scanners of these keep what is open in 1,024 bytes, and end the process when that is not enough."""
_FULL_LINE: Final = 1_000
"""Tokens of one line, which people do not write: a parser of C++ takes minutes over some such lines."""
_DATA: Final = ("json", "yaml", "html", "css", "markdown")
_LONG_LINE: Final = 4_000
_MOST_TOKENS: Final = 150_000
_MOST_STEPS: Final = 200_000_000
_WORDS: Final = bytes(
    code for code in range(256) if chr(code).isalnum() or chr(code) in "_ \t\n\r" or code > 127
)
_MARKS: Final = ((b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))
_BRACKETS: Final = b"([{)]}"
_STEP: Final = {**dict.fromkeys(b"([{", 1), **dict.fromkeys(b")]}", -1)}
_OTHERS: Final = bytes(sorted(set(range(256)) - set(_BRACKETS)))


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
    if len(data) > _MOST_TOKENS and _tokens(data) > _MOST_TOKENS:
        return f"more than {_MOST_TOKENS:,} tokens"
    if _depth(data) > _MAX_DEPTH:
        return f"brackets nested more than {_MAX_DEPTH} deep"
    if language in _MARKED and any(
        _marks(line) > _MOST_MARKS for line in data.split(b"\n") if len(line) > _MOST_MARKS
    ):
        return f"more than {_MOST_MARKS} lists or quotes in each other"
    longest = _crowded(data, language)
    if longest:
        return f"a line of {longest:,} characters"
    if _indents(data) > _MAX_INDENTS:
        return f"more than {_MAX_INDENTS} different indents"
    return ""


def _tokens(data: bytes) -> int:
    """About how many tokens there are: words, and all characters that belong to none."""
    return len(data.split()) + len(data.translate(None, _WORDS))


def _crowded(data: bytes, language: str) -> int:
    """The length of the longest line, when lines are so long and full that reading them would take seconds.

    Each position in a tree is counted from the start of its line, so that a line costs its length times
    the number of its tokens.
    """
    if language not in _DATA and any(
        _tokens(line) > _FULL_LINE for line in data.split(b"\n") if len(line) > _FULL_LINE
    ):
        return max(map(len, data.split(b"\n")))
    long = [line for line in data.split(b"\n") if len(line) > _LONG_LINE]
    cost = sum(len(line) * _tokens(line) for line in long)
    return max(map(len, long)) if cost > _MOST_STEPS else 0


def _marks(line: bytes) -> int:
    """How many marks of lists and quotes begin a line, each inside the one before."""
    return len(line[: len(line) - len(line.lstrip(b" \t>-*+?:.)0123456789"))].replace(b">", b"> ").split())


def _indents(data: bytes) -> int:
    """How many different indents there are, when some are deep; scanners keep a stack of bounded size."""
    if b"\n" + b" " * 100 not in data and b"\n" + b"\t" * 50 not in data:
        return 0
    return len({len(line) - len(line.lstrip()) for line in data.split(b"\n")})


def _depth(data: bytes) -> int:
    brackets = data.translate(None, _OTHERS)
    return max(accumulate(map(_STEP.__getitem__, brackets)), default=0)


def read_text(data: bytes) -> str:
    """The text, its lines ended by LF. Bytes that are not UTF-8 are read as Latin-1, which never fails."""
    encoding = next((name for mark, name in _MARKS if data.startswith(mark)), "utf-8-sig")
    try:
        text = data.decode(encoding)
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
