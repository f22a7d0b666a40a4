"""The words of a text as the index finds them: parts of camel-case names, pieces of Asian scripts. Pure."""

from __future__ import annotations

import re
from functools import cache
from typing import Final

_CJK_CLASS: Final = (
    "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003134f"
)
# Patterns are compiled when a text first needs them: most words are plain, and every search feels the start.
_ALNUM_RUN: Final = r"[^\W_]+"
_HUMP: Final = r"[a-z0-9][A-Z]|[A-Z]{2}[a-z]|[A-Za-z][0-9]"
_CAMEL_WORD: Final = r"\b(?=[A-Za-z0-9_]*(?:[a-z0-9][A-Z]|[A-Z]{2}[a-z]))[A-Za-z0-9_]+"
# What each byte of a text is to a hump: a capital, a small letter or a digit, anything else.
_SHAPES: Final = bytes(
    65 if 65 <= byte <= 90 else 97 if 97 <= byte <= 122 or 48 <= byte <= 57 else 32 for byte in range(256)
)
_CAMEL_PART: Final = r"[A-Z]+(?![a-z])[0-9]*|[A-Z]?[a-z]+[0-9]*|[0-9]+"
_SCRIPT_RUN: Final = f"[{_CJK_CLASS}]+|[^{_CJK_CLASS}]+"


def identifier_parts(text: str) -> list[str]:
    """Words that plain tokenising would miss in ``text``, in order, for an index column of their own.

    Parts of camel-case names (``parseHTTPFrame`` → parse, http, frame), two-character grams of Chinese,
    Japanese and Korean runs, and the Latin words glued to such a run.
    """
    found: list[str] = []
    if _may_have_humps(text):
        mixed = [word for word in text.split() if not (word.islower() or word.istitle())]
        camel_part = pattern(_CAMEL_PART)
        for word in pattern(_CAMEL_WORD).findall(" ".join(mixed)):
            found += [part.lower() for part in camel_part.findall(word)]
    if not text.isascii():
        for run in filter(is_cjk, scripts(text)):
            found += grams(run)
            if len(run) > 1:
                found.append(run[-1])
        found += [
            piece
            for word in pattern(_ALNUM_RUN).findall(text)
            if not word.isascii() and len(pieces := scripts(word)) > 1
            for piece in pieces
            if not is_cjk(piece)
        ]
    return found


def _may_have_humps(text: str) -> bool:
    """Whether a capital follows a small letter or a digit, or two capitals come before one, anywhere: most
    texts have none, and telling so is much cheaper than to look at every word."""
    shape = text.encode("utf-8", "surrogatepass").translate(_SHAPES)
    return b"aA" in shape or b"AAa" in shape


@cache
def pattern(text: str) -> re.Pattern[str]:
    """The compiled pattern of a text."""
    return re.compile(text)


def has_word(text: str) -> bool:
    """Whether anything in the text is a letter or a digit."""
    return any(char.isalnum() for char in text)


def words_of(text: str) -> list[str]:
    """The runs of letters and digits of a text."""
    return [text] if text.isalnum() else pattern(_ALNUM_RUN).findall(text)


def has_hump(text: str) -> bool:
    """Whether a name in the text changes case inside: ``parseHTTPFrame``."""
    plain = text.isalpha() and (text.islower() or text.istitle())
    return not plain and pattern(_HUMP).search(text) is not None


def scripts(text: str) -> list[str]:
    """The text cut where Chinese, Japanese or Korean begins and ends."""
    return [text] if text.isascii() else pattern(_SCRIPT_RUN).findall(text)


def is_cjk(piece: str) -> bool:
    """Whether a piece of `scripts` is Chinese, Japanese or Korean."""
    first = piece[:1]
    return first >= "\u3040" and any(
        low <= first <= high for low, high in zip(_CJK_CLASS[0::3], _CJK_CLASS[2::3], strict=True)
    )


def grams(run: str) -> list[str]:
    """Every two neighbouring characters of a run; the run itself when it has one."""
    return [run[at : at + 2] for at in range(len(run) - 1)] or [run]


def latin_parts(text: str) -> list[str]:
    """The words of a text, names with humps as their parts, in small letters."""
    return [
        part.lower()
        for word in words_of(text)
        for part in (pattern(_CAMEL_PART).findall(word) if word.isascii() and has_hump(word) else [word])
    ]


def fold_name(text: str) -> str:
    """How aliases compare: case and runs of blanks do not matter."""
    return " ".join(text.casefold().split())
