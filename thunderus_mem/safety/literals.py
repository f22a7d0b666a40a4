"""Find many literals at once in lower-cased text, so that patterns are tried only where they can match.

The automaton of Aho and Corasick finds all of them in one pass. Loading and building it takes longer than
searching a short text for each literal, so it is built when a process has searched more than a few pages.
"""

from __future__ import annotations

from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

_ONE_BY_ONE: Final = 40_000
_PLAIN: Final = bytes(
    ord(chr(code).lower()) if chr(code).isalnum() and code < 128 else 32 for code in range(256)
)
"""For each byte, the letter in lower case or the digit, and a space for other characters."""


@lru_cache(maxsize=1)
def plain(text: str) -> bytes:
    """The words of a text in lower case, between spaces: every character that is not of a word is one, and
    one is added at both ends. The space before a word has the offset of the word in the text."""
    return b" %b " % text.encode("ascii", "replace").translate(_PLAIN)


@lru_cache(maxsize=1)
def lower(text: str) -> bytes:
    """The text with capitals in lower case, and "?" for characters outside ASCII."""
    return text.encode("ascii", "replace").lower()


class Literals:
    """The literals that the rows of a table need; ``rows`` has the rows that need each literal."""

    def __init__(self, needs: Iterable[tuple[bytes, int]]) -> None:
        rows: dict[bytes, list[int]] = {}
        for literal, row in needs:
            rows.setdefault(literal, []).append(row)
        self.rows: Final = tuple(rows.values())
        self._literals = tuple(rows)
        self._numbers = dict(zip(rows, range(len(rows)), strict=True))
        self._left = _ONE_BY_ONE

    def number_of(self, literal: bytes) -> int:
        """The number of a literal."""
        return self._numbers[literal]

    def find(self, known: bytes) -> Sequence[tuple[int, int, int]]:
        """Number, start and end of every literal in a text of `lower` or `plain`, by its end.

        Literals may overlap.
        """
        self._left -= len(known)
        return self._automaton(known) if self._left < 0 else self._one_by_one(known)

    def _one_by_one(self, known: bytes) -> list[tuple[int, int, int]]:
        found: list[tuple[int, int, int]] = []
        for number, literal in enumerate(self._literals):
            at = known.find(literal)
            while at >= 0:
                found.append((number, at, at + len(literal)))
                at = known.find(literal, at + 1)
        return sorted(found, key=lambda place: place[2])

    @cached_property
    def _automaton(self) -> Callable[[bytes], Sequence[tuple[int, int, int]]]:
        from ahocorasick_rs import BytesAhoCorasick, Implementation

        automaton = BytesAhoCorasick(self._literals, implementation=Implementation.DFA)
        return lambda known: automaton.find_matches_as_indexes(known, overlapping=True)
