"""Invisible characters: found for lint, and escaped by one filter before anything is printed.

Sources: Unicode Standard 15 (general category Cf, UAX #9 for direction, UTS #51 for emoji sequences).
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from thunderus_mem.startup import NamedTuple

ZWNJ: Final = "\u200c"
ZWJ: Final = "\u200d"
BOM: Final = "\ufeff"

_CONTROLS = "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f"
_MARKS = "\u061c\u200e\u200f"
_BIDI = "\u202a-\u202e\u2066-\u206f"
_ZERO = "\u00ad\u034f\u180e\u200b-\u200d\u2060-\u2065\ufeff\u115f\u1160\u17b4\u17b5\u3164\uffa0"
_OTHER = "\ufff9-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
_TAGS = "\U000e0000-\U000e007f"
_SELECTORS = "\ufe00-\ufe0f\U000e0100-\U000e01ef"

# Wide ranges take milliseconds to compile, and most texts are plain: each is compiled on first use.
_SUSPECT = f"[{_CONTROLS}{_MARKS}{_BIDI}{_ZERO}{_OTHER}{_TAGS}{_SELECTORS}]"
_SUSPECT_ASCII = "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]"
_UNPRINTABLE = f"[\r{_CONTROLS}{_MARKS}{_BIDI}{_ZERO}{_OTHER}{_TAGS}{_SELECTORS}\u2028\u2029\ud800-\udfff]"
_RTL = "[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]"
_JOINING = "[\u0600-\u08ff\u0900-\u0dff\u1000-\u109f\u1780-\u18af\ufb50-\ufdff\ufe70-\ufefc]"
_EMOJI = "[\u00a9\u00ae\u203c-\u3299\U0001f000-\U0001faff]"
_IDEOGRAPH = "[\u3400-\u9fff\uf900-\ufaff\U00020000-\U000323af]"
_FLAG = "\U0001f3f4[\U000e0020-\U000e007e]{1,6}\U000e007f"

_NAMES = {
    "\u00ad": "SOFT HYPHEN",
    "\u034f": "COMBINING GRAPHEME JOINER",
    "\u061c": "ARABIC LETTER MARK",
    "\u115f": "HANGUL CHOSEONG FILLER",
    "\u1160": "HANGUL JUNGSEONG FILLER",
    "\u180e": "MONGOLIAN VOWEL SEPARATOR",
    "\u200b": "ZERO WIDTH SPACE",
    ZWNJ: "ZERO WIDTH NON-JOINER",
    ZWJ: "ZERO WIDTH JOINER",
    "\u200e": "LEFT-TO-RIGHT MARK",
    "\u200f": "RIGHT-TO-LEFT MARK",
    "\u2060": "WORD JOINER",
    "\u3164": "HANGUL FILLER",
    "\uffa0": "HALFWIDTH HANGUL FILLER",
    BOM: "ZERO WIDTH NO-BREAK SPACE",
}


class Invisible(NamedTuple):
    """An invisible character, its Unicode name (or a description) and its offset in the text."""

    char: str
    name: str
    start: int


@cache
def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(text)


def _name(char: str) -> str:
    known = _NAMES.get(char)
    if known:
        return known
    code = ord(char)
    if code < 0xA0:
        return "CONTROL CHARACTER"
    if 0xE0000 <= code <= 0xE007F:
        return "TAG CHARACTER"
    if 0xFE00 <= code <= 0xFE0F or 0xE0100 <= code <= 0xE01EF:
        return "VARIATION SELECTOR"
    import unicodedata

    return unicodedata.name(char, "FORMAT CHARACTER")


def _joins_emoji(text: str, at: int) -> bool:
    before = text[at - 1 : at]
    if before == "\ufe0f" or "\U0001f3fb" <= before <= "\U0001f3ff":
        before = text[at - 2 : at - 1] if before == "\ufe0f" else before
    return bool(_pattern(_EMOJI).match(before) and _pattern(_EMOJI).match(text, at + 1))


def _joins_letters(text: str, at: int) -> bool:
    return (
        bool(_pattern(_JOINING).match(text[at - 1 : at]) or _pattern(_JOINING).match(text, at + 1)) and at > 0
    )


def _in_flag(text: str, at: int) -> bool:
    return any(
        found.start() < at < found.end() for found in _pattern(_FLAG).finditer(text, max(at - 7, 0), at + 8)
    )


def _line_around(text: str, at: int) -> str:
    # A window is enough to detect the script of a line, and keeps the search linear.
    return text[max(at - 80, 0) : at + 80]


def _is_legitimate(text: str, at: int) -> bool:
    """Whether this character has its intended use: emoji, Persian, Indic, ideograph variants."""
    char = text[at]
    if char == BOM:
        return at == 0
    if char == ZWJ:
        return _joins_emoji(text, at) or _joins_letters(text, at)
    if char == ZWNJ:
        return _joins_letters(text, at)
    if char in "\u200e\u200f\u061c":
        return _pattern(_RTL).search(_line_around(text, at)) is not None
    if "\ufe00" <= char <= "\ufe0f":
        return not "\ufe00" <= text[at - 1 : at] <= "\ufe0f"
    if "\U000e0100" <= char <= "\U000e01ef":
        return _pattern(_IDEOGRAPH).match(text[at - 1 : at]) is not None
    return "\U000e0020" <= char <= "\U000e007f" and _in_flag(text, at)


def find_invisible(text: str) -> list[Invisible]:
    """Characters that hide or reorder text, in order: zero width, direction, tags, C0/C1 and others.

    Newline, tab, carriage return, a leading byte order mark, joiners inside emoji and in scripts that need
    them, and flags made of tags are not reported.
    """
    pattern = _pattern(_SUSPECT_ASCII if text.isascii() else _SUSPECT)
    return [
        Invisible(match.group(), _name(match.group()), match.start())
        for match in pattern.finditer(text)
        if not _is_legitimate(text, match.start())
    ]


def _may_be_shown(char: str) -> bool:
    """Whether this character may be printed in its intended use: joiners and single variation selectors."""
    return char in (ZWJ, ZWNJ) or "\ufe00" <= char <= "\ufe0f"


def _shown(match: re.Match[str]) -> str:
    char, text, at = match.group(), match.string, match.start()
    if _may_be_shown(char) and _is_legitimate(text, at):
        return char
    code = ord(char)
    return f"\\x{code:02x}" if code < 0xA0 else f"<U+{code:04X}>"


def visible(text: str) -> str:
    """The text with every control, direction, tag and zero-width character escaped.

    Escapes look like ``\\x1b`` or ``<U+202E>``; newline, tab, joiners and single variation
    selectors are kept. All printed output passes through here once.
    """
    if text.isascii() and text.isprintable():
        return text
    return _pattern(_UNPRINTABLE).sub(_shown, text)


def token_count(text: str) -> int:
    """Return about how many tokens a language model makes of a text: characters / 4."""
    return len(text) // 4


def escaped(text: str) -> str:
    """The text on one line, escaped like a Python string: without tabs, line ends and control characters.

    The characters that `visible` escapes, backslash, newline and tab become escapes; unescaping restores the
    text.
    """
    if text.isascii() and text.isprintable() and "\\" not in text:
        return text
    return _pattern(f"[\\\\\t\n{_UNPRINTABLE[1:]}").sub(_escape, text)


_ESCAPES = {"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"}


def _escape(match: re.Match[str]) -> str:
    char = match.group()
    if _may_be_shown(char) and _is_legitimate(match.string, match.start()):
        return char
    code = ord(char)
    return _ESCAPES.get(char) or (
        f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
    )
