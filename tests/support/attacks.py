"""Inputs that make regular expressions slow: long texts built from parts of the pattern."""

from __future__ import annotations

import re
import re._parser as parser
import time
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

USES: Final[dict[str, Callable[[re.Pattern[str], str], object]]] = {
    "match": lambda pattern, text: pattern.match(text),
    "fullmatch": lambda pattern, text: pattern.fullmatch(text),
    "search": lambda pattern, text: pattern.search(text),
    "finditer": lambda pattern, text: sum(1 for _ in pattern.finditer(text)),
}


def _sample(node: Any, least: int = 1) -> str:
    """Some text that a parsed pattern matches, roughly."""
    text = ""
    for kind, value in node:
        kind = str(kind)
        if kind == "LITERAL":
            text += chr(value)
        elif kind == "IN":
            text += _member(value)
        elif kind == "NOT_LITERAL":
            text += "q"
        elif kind in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
            text += _sample(value[2]) * max(least, min(value[0], 300))
        elif kind == "SUBPATTERN":
            text += _sample(value[3])
        elif kind == "BRANCH":
            text += _sample(value[1][0])
        elif kind == "ANY":
            text += "a"
    return text


def _member(value: Any) -> str:
    for kind, what in value:
        if str(kind) == "LITERAL":
            return chr(what)
        if str(kind) == "RANGE":
            return chr(what[0])
        if str(kind) == "CATEGORY":
            name = str(what)
            return "a" if "NOT" in name else " " if "SPACE" in name else "1" if "DIGIT" in name else "a"
        if str(kind) == "NEGATE":
            return "q"
    return "a"


def _repeated(node: Any) -> Iterator[str]:
    """What the repeats of a pattern are made of, at any depth."""
    for kind, value in node:
        kind = str(kind)
        if kind in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
            yield _sample(value[2])
            yield from _repeated(value[2])
        elif kind == "SUBPATTERN":
            yield from _repeated(value[3])
        elif kind == "BRANCH":
            for branch in value[1]:
                yield _sample(branch)
                yield from _repeated(branch)


def attacks(pattern: re.Pattern[str], size: int) -> Iterator[tuple[str, str]]:
    """Texts of at least this many characters, each with what it is made of."""
    tree = parser.parse(pattern.pattern, pattern.flags & ~re.UNICODE)
    whole = _sample(tree)
    pieces = [whole, whole[:-1], whole[: len(whole) // 2], *_repeated(tree), "a", " ", "\n", "a ", "a\n"]
    for piece in dict.fromkeys(piece for piece in pieces if piece):
        repeated = piece * (size // len(piece) + 1)
        yield repr(piece[:40]), repeated
        yield repr(whole[:20] + "…" + piece[:40]), whole[: max(len(whole) // 2, 1)] + repeated


def seconds(use: str, pattern: re.Pattern[str], text: str, tries: int = 1) -> float:
    """Of the processor, the best of so many tries."""
    best = float("inf")
    for _ in range(tries):
        start = time.process_time()
        USES[use](pattern, text)
        best = min(best, time.process_time() - start)
    return best
