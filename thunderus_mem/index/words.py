"""Split a text into words for the index: parts of camel-case names, bigrams of CJK scripts."""

from __future__ import annotations

from operator import add
from typing import Final

from thunderus_mem.startup import lazy_pattern

_CJK_CLASS: Final = (
    "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003134f"
)
_ALNUM_RUN: Final = lazy_pattern(r"[^\W_]+")
_HUMP: Final = lazy_pattern(r"[a-z0-9][A-Z]|[A-Z]{2}[a-z]|[A-Za-z][0-9]")
# Maps each byte to A (upper case), a (lower case), 0 (digit), _ or space.
_SHAPES: Final = bytes.maketrans(
    bytes(range(256)),
    b" " * 48 + b"0" * 10 + b" " * 7 + b"A" * 26 + b" " * 4 + b"_ " + b"a" * 26 + b" " * 133,
)
# Bytes that begin no character of these scripts in UTF-8: from U+3000 on, three bytes from 0xE3 on.
_NO_CJK: Final = bytes(byte for byte in range(256) if byte < 0xE3)
_CAMEL_PART: Final = lazy_pattern(r"[A-Z]+(?![a-z])[0-9]*|[A-Z]?[a-z]+[0-9]*|[0-9]+")
_CJK_RUN: Final = lazy_pattern(f"[{_CJK_CLASS}]+")
_SCRIPT_RUN: Final = lazy_pattern(f"[{_CJK_CLASS}]+|[^{_CJK_CLASS}]+")


def identifier_parts(text: str) -> list[str]:
    """Return the words in ``text`` that the tokenizer misses, in order, for a separate index column.

    Parts of camel-case names (``parseHTTPFrame`` → parse, http, frame), bigrams of Chinese, Japanese and
    Korean runs, and Latin words adjacent to such a run.
    """
    found: list[str] = []
    for word in _camel_words(text):
        found += [part.lower() for part in _CAMEL_PART.findall(word)]
    if not text.isascii() and _may_have_cjk(text):
        others = " ".join([word for word in text.split() if not word.isascii()])
        for run in _CJK_RUN.findall(others):
            found += grams(run)
            if len(run) > 1:
                found.append(run[-1])
        found += [
            piece
            for word in _ALNUM_RUN.findall(others)
            if not word.isascii() and len(pieces := scripts(word)) > 1
            for piece in pieces
            if not is_cjk(piece)
        ]
    return found


def _camel_words(text: str) -> list[str]:
    """Return the ASCII words with a capital inside, except in titles such as "3D". Most words have none."""
    shape = text.encode("ascii", "replace").translate(_SHAPES)
    if b"0A" in shape:
        text = " ".join([word for word in text.split() if not word.istitle()])
        shape = text.encode("ascii", "replace").translate(_SHAPES).replace(b"0A", b"aA")
    found: list[str] = []
    low, high = shape.find(b"aA"), shape.find(b"AAa")
    while low >= 0 or high >= 0:
        at = max(low, high) if low < 0 or high < 0 else min(low, high)
        start, end = shape.rfind(b" ", 0, at) + 1, shape.find(b" ", at)
        end = end if end >= 0 else len(shape)
        if not text[start - 1 : start].isalnum():  # not a part of a word in another script
            found.append(text[start:end])
        low = shape.find(b"aA", end) if 0 <= low < end else low
        high = shape.find(b"AAa", end) if 0 <= high < end else high
    return found


def _may_have_cjk(text: str) -> bool:
    """Whether the text may contain Chinese, Japanese or Korean: by the first bytes of characters in UTF-8."""
    return len(text.encode("utf-8", "surrogatepass").translate(None, _NO_CJK)) > 0


def has_word(text: str) -> bool:
    """Whether the text contains a letter or digit."""
    return any(char.isalnum() for char in text)


def words_of(text: str) -> list[str]:
    """Return the runs of letters and digits in a text."""
    return [text] if text.isalnum() else _ALNUM_RUN.findall(text)


def has_hump(text: str) -> bool:
    """Whether the text contains a name that changes case inside: ``parseHTTPFrame``."""
    plain = text.isalpha() and (text.islower() or text.istitle())
    return not plain and _HUMP.search(text) is not None


def scripts(text: str) -> list[str]:
    """Split the text where Chinese, Japanese or Korean starts and ends."""
    return [text] if text.isascii() else _SCRIPT_RUN.findall(text)


def is_cjk(piece: str) -> bool:
    """Whether a piece of `scripts` is Chinese, Japanese or Korean."""
    first = piece[:1]
    return first >= "\u3040" and any(
        low <= first <= high for low, high in zip(_CJK_CLASS[0::3], _CJK_CLASS[2::3], strict=True)
    )


def grams(run: str) -> list[str]:
    """Return the bigrams of a run, or the run if it has one character."""
    return list(map(add, run, run[1:])) or [run]


def latin_parts(text: str) -> list[str]:
    """Return the words of a text in lower case, camel-case names split into their parts."""
    return [
        part.lower()
        for word in words_of(text)
        for part in (_CAMEL_PART.findall(word) if word.isascii() and has_hump(word) else [word])
    ]


def fold_name(text: str) -> str:
    """Normalise an alias for comparison: case and runs of spaces do not matter."""
    return " ".join(text.casefold().split())
