"""Ground truth of a file: its named definitions, each with a hash of its tree from another parser.

Nothing here knows the product or the parsers it uses. A ``content`` leaves out comments, docstrings,
positions and redundant parentheses; a ``shape`` is the same with the definition's own name blanked.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Reader", "Reading", "Symbol", "digest"]


class Symbol(NamedTuple):
    """A definition: dotted ``name``, lines from 1 with its decorators, and its two hashes."""

    name: str
    kind: str
    first: int
    last: int
    content: str
    shape: str


class Reading(NamedTuple):
    """What a parser saw in a file; ``trouble`` says why it saw nothing."""

    symbols: tuple[Symbol, ...]
    trouble: str = ""

    def named(self, name: str) -> tuple[Symbol, ...]:
        """Every definition with that dotted name."""
        return tuple(symbol for symbol in self.symbols if symbol.name == name)


class Reader(Protocol):
    """A parser of one language family; ``made_of`` is its source, so that what it read can be kept."""

    suffixes: tuple[str, ...]
    made_of: str

    def read(self, files: Sequence[tuple[str, bytes]]) -> list[Reading]:
        """One reading for every (path, bytes), in the same order."""


def digest(text: str) -> str:
    """A short hash of a dump."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:20]
