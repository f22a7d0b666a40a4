"""Tokens of languages with braces, read without a parser: what `read_c` and `read_csharp` have in common."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from benchmarks.replay.symbols import Symbol, digest

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

BLANK: Final = "·"
OPENING: Final = {"(": ")", "[": "]", "{": "}"}
_CLOSING: Final = frozenset(OPENING.values())
_NAME: Final = re.compile(r"@?[A-Za-z_]\w*")


class Unclosed(Exception):
    """The brackets of a file do not fit together."""


class Token(NamedTuple):
    """A word or mark; ``line`` and ``end`` are its first and last line, from 1."""

    text: str
    line: int
    end: int

    @property
    def is_name(self) -> bool:
        """Whether it is an identifier or a keyword."""
        return _NAME.fullmatch(self.text) is not None


def content(tokens: Iterable[Token], own: str = "") -> str:
    """A hash of tokens, without the commas behind a last element, and with the name ``own`` blanked, except
    behind the dot of another object."""
    kept: list[str] = []
    for token in tokens:
        if token.text in _CLOSING and kept and kept[-1] == ",":
            kept.pop()
        other = kept[-1:] in (["."], ["->"], ["?."]) and kept[-2:-1] != ["this"]
        kept.append(BLANK if own and token.text == own and not other else token.text)
    return digest("\0".join(kept))


def symbol(
    name: str, kind: str, tokens: Sequence[Token], *, bodied: bool, shared: Sequence[Token] = ()
) -> Symbol:
    """The definition that these tokens are; ``shared`` belongs to it and stands elsewhere."""
    own = name.rpartition(".")[2]
    whole = [*shared, *tokens]
    first, last = min(token.line for token in tokens), max(token.end for token in tokens)
    return Symbol(name, kind, first, last, content(whole), content(whole, own), bodied)


def closing(tokens: Sequence[Token], at: int) -> int:
    """The place of the bracket that closes the one at ``at``; others inside are skipped."""
    open_ones: list[str] = []
    for place in range(at, len(tokens)):
        text = tokens[place].text
        if text in OPENING:
            open_ones.append(OPENING[text])
        elif text in _CLOSING:
            if not open_ones or open_ones.pop() != text:
                break
            if not open_ones:
                return place
    raise Unclosed(f"a bracket of line {tokens[at].line} is not closed")
