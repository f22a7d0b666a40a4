"""Colour as marks in the text: set while rendering, turned into escapes (or nothing) when printed. Pure.

`Style` marks what a text is (a title, an error, an id), `look` how drawn Markdown looks. The marks are two
private-use characters. They pass the filter that makes control characters visible, so that a document's own
escapes never reach the terminal while ours do. A document that holds these two characters changes a colour at
worst.
"""

from __future__ import annotations

import re
from typing import Final

# Private use area: U+F8E0 opens and names a style by the character that follows, U+F8E1 closes.
_OPEN, _CLOSE = "\uf8e0", "\uf8e1"
_CODES: Final = {
    "b": "1",  # bold
    "d": "2",  # dim
    "r": "1;31",  # error
    "y": "33",  # warning
    "g": "32",  # good
    "c": "36",  # an id or a path
    "m": "1;33",  # a match in a snippet
}
# Above them one character for each look that drawn Markdown may have: five switches and seventeen colours.
_FIRST_LOOK: Final = 0xF000
_SWITCHES: Final = ("1", "2", "3", "4", "9")  # bold, dim, italic, underlined, struck
_COLOURS: Final = ("", *(str(30 + at) for at in range(8)), *(str(90 + at) for at in range(8)))
_LAST_LOOK: Final = _FIRST_LOOK + len(_COLOURS) * (1 << len(_SWITCHES)) - 1
_MARK: Final = f"{_OPEN}([{''.join(_CODES)}{chr(_FIRST_LOOK)}-{chr(_LAST_LOOK)}])|{_CLOSE}"


def _marked(style: str, text: str) -> str:
    return f"{_OPEN}{style}{text}{_CLOSE}" if text else text


def _code(mark: str) -> str:
    """The numbers of the escape behind a mark."""
    if mark in _CODES:
        return _CODES[mark]
    switches, colour = divmod(ord(mark) - _FIRST_LOOK, len(_COLOURS))
    codes = [code for at, code in enumerate(_SWITCHES) if switches >> at & 1]
    return ";".join([*codes, *filter(None, [_COLOURS[colour]])])


def look(text: str, *, switches: tuple[bool, ...] = (), colour: int | None = None) -> str:
    """A text marked with any look: bold, dim, italic, underlined, struck, and one of sixteen colours."""
    bits = sum(1 << at for at, wanted in enumerate(switches) if wanted)
    number = bits * len(_COLOURS) + (0 if colour is None else colour + 1)
    return _marked(chr(_FIRST_LOOK + number), text) if number else text


class Style:
    """Marks text, and paints marked text. Without colour the marks vanish."""

    __slots__ = ("colored",)

    def __init__(self, *, colored: bool) -> None:
        self.colored = colored

    def bold(self, text: str) -> str:
        """A title."""
        return _marked("b", text)

    def dim(self, text: str) -> str:
        """What matters less."""
        return _marked("d", text)

    def error(self, text: str) -> str:
        """What is wrong."""
        return _marked("r", text)

    def warning(self, text: str) -> str:
        """What deserves a look."""
        return _marked("y", text)

    def good(self, text: str) -> str:
        """What is fine."""
        return _marked("g", text)

    def name(self, text: str) -> str:
        """An id or a path: something to copy."""
        return _marked("c", text)

    def match(self, text: str) -> str:
        """Words that were searched for."""
        return _marked("m", text)

    def paint(self, text: str) -> str:
        """Marks into escapes, or into nothing."""
        if _OPEN not in text and _CLOSE not in text:
            return text
        if not self.colored:
            return re.sub(_MARK, "", text)
        return re.sub(_MARK, lambda found: f"\x1b[{_code(found[1])}m" if found[1] else "\x1b[0m", text)


def unmarked(text: str) -> str:
    """The text without marks, for measuring its width."""
    if _OPEN not in text and _CLOSE not in text:
        return text
    return re.sub(_MARK, "", text)


def pieces(text: str) -> list[str]:
    """The text as its characters and its marks, each mark whole."""
    return re.findall(rf"{_MARK.replace('(', '(?:')}|.", text, re.DOTALL)


def is_mark(piece: str) -> bool:
    """Whether a piece is a mark."""
    return piece[:1] in (_OPEN, _CLOSE)
