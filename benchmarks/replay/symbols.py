"""Ground truth of a file: its named definitions, each with a hash of its tree from another parser.

Nothing here knows the product or the parsers it uses. A ``content`` leaves out comments, docstrings,
positions and redundant parentheses; a ``shape`` is the same with the definition's own name blanked.

A symbol is all definitions of one name in one scope of a file that have a body, in any order; those without
one (prototypes, overload signatures, abstract methods) are the symbol only where none has a body. Constants,
fields and types count as having one, except what C only declares, and fields of Java and PHP, where a method
may have the same name. Which constructs define a name, and what
their content leaves out, is written at the head of each reader.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Reader", "Reading", "Symbol", "digest", "joined"]


class Symbol(NamedTuple):
    """A definition: dotted ``name``, lines from 1 with its decorators, and its two hashes; or several of one
    name, ``members`` being the lines of each, ``first`` and ``last`` those of the first."""

    name: str
    kind: str
    first: int
    last: int
    content: str
    shape: str
    bodied: bool = True
    members: tuple[tuple[int, int], ...] = ()

    @property
    def spans(self) -> tuple[tuple[int, int], ...]:
        """The lines of its definitions, in the order of the file."""
        return self.members or ((self.first, self.last),)


class Reading(NamedTuple):
    """What a parser saw in a file; ``trouble`` says why it saw nothing."""

    symbols: tuple[Symbol, ...]
    trouble: str = ""

    def named(self, name: str) -> tuple[Symbol, ...]:
        """Every definition with that dotted name."""
        return tuple(symbol for symbol in self.symbols if symbol.name == name)


def joined(symbols: Sequence[Symbol]) -> tuple[Symbol, ...]:
    """Definitions as symbols: those of one name as one."""
    named: dict[str, list[Symbol]] = {}
    for one in symbols:
        named.setdefault(one.name, []).append(one)
    return tuple(_one(some) for some in named.values())


def _one(some: list[Symbol]) -> Symbol:
    kept = [one for one in some if one.bodied] or some
    if len(kept) == 1:
        return kept[0]
    content = digest("\0".join(sorted(one.content for one in kept)))
    shape = digest("\0".join(sorted(one.shape for one in kept)))
    spans = tuple((one.first, one.last) for one in kept)
    return kept[0]._replace(content=content, shape=shape, members=spans)


class Reader(Protocol):
    """A parser of one language family; ``made_of`` is its source, so that what it read can be kept."""

    suffixes: tuple[str, ...]
    made_of: str

    def read(self, files: Sequence[tuple[str, bytes]]) -> list[Reading]:
        """One reading for every (path, bytes), in the same order."""


def digest(text: str) -> str:
    """A short hash of a dump."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:20]
