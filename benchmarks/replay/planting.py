"""Anchors on random symbols of a commit: chosen from truth, measured by the product."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from thunderus_mem.authoring.anchor import fingerprinted
from thunderus_mem.document.anchors import Anchor
from thunderus_mem.errors import ThunderusError
from thunderus_mem.fingerprint.source import parse_fingerprint

if TYPE_CHECKING:
    from collections.abc import Sequence
    from random import Random

    from benchmarks.replay.symbols import Symbol
    from benchmarks.replay.truth import Library
    from thunderus_mem.fingerprint.source import CodeSource, Definition

SMALL = 40
"""Tokens below which the product follows a body only by its name."""


class Planted(NamedTuple):
    """An anchor and the symbol it was put on; ``changing`` when its file was touched before B."""

    anchor: Anchor
    symbol: Symbol
    changing: bool

    @property
    def small(self) -> bool:
        """Whether the body is too small to be known again by itself."""
        measured = parse_fingerprint(self.anchor.fingerprint)
        return measured is None or measured.size < SMALL


def choose(
    library: Library, tree: dict[str, str], touched: set[str], dice: Random, count: int
) -> list[tuple[str, Symbol, bool]]:
    """Up to ``count`` symbols of a tree, half of them from files that will be touched; fewer where a language
    has fewer. Files are drawn first, so that one large file does not fill the sample."""
    readable = sorted(path for path in tree if library.reads(path))
    chosen: dict[tuple[str, str, int], tuple[str, Symbol, bool]] = {}
    for pool, changing in (([p for p in readable if p in touched], True), (readable, False)):
        want = count // 2
        for _ in range(4 * want):
            if not pool or want <= 0:
                break
            path = dice.choice(pool)
            symbols = library.one(path, tree[path]).symbols
            if not symbols:
                continue
            symbol = dice.choice(symbols)
            key = (path, symbol.name, symbol.first)
            if key not in chosen:
                chosen[key] = (path, symbol, changing)
                want -= 1
    return list(chosen.values())


class _Alone(NamedTuple):
    """A tree of one file."""

    file: CodeSource

    def source(self, path: str) -> CodeSource | None:
        """The file, if it is the one."""
        return self.file if path == self.file.path else None

    def paths(self) -> Sequence[str]:
        """Its path."""
        return (self.file.path,)

    def naming(self, _word: str) -> Sequence[str]:
        """Its path: it may contain any word."""
        return self.paths()


def plant(source: CodeSource, path: str, symbol: Symbol, *, changing: bool) -> Planted | None:
    """The anchor that ``verify`` would write on a symbol; ``None`` when the product does not see it so."""
    definition = defined(source, symbol)
    if definition is None:
        return None
    try:
        anchor = fingerprinted(Anchor(path, definition.name), _Alone(source))
    except ThunderusError:
        return None
    return Planted(anchor, symbol, changing)


def defined(source: CodeSource, symbol: Symbol) -> Definition | None:
    """The product's definition of the symbol that truth names: by name, or by its last line and name."""
    if source.trouble:
        return None
    found = [one for one in source.definitions() if one.name == symbol.name]
    exact = [one for one in found if one.last == symbol.last]
    if exact or len(found) == 1:
        return (exact or found)[0]
    own = symbol.name.rpartition(".")[2]
    ends = [one for one in source.definitions() if one.last == symbol.last and one.first <= symbol.last]
    return next((one for one in ends if one.name.rpartition(".")[2] == own), None)
