"""Planted renames and moves as real commits, because real histories have too few of them."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from benchmarks.replay.truth import Span
from benchmarks.replay.walking import Seen, cases_of, sown

if TYPE_CHECKING:
    from random import Random

    from benchmarks.replay.symbols import Symbol
    from benchmarks.replay.truth import Library

_NO_LOOSE_TEXT = (".java", ".cs")
"""Languages in which a definition cannot be appended to another file."""


class _Edits:
    """The files of a commit while they are edited."""

    def __init__(self, library: Library, tree: dict[str, str]) -> None:
        self.clone = library.clone
        self.tree = tree
        self.files: dict[str, bytes | None] = {}

    def data(self, path: str) -> bytes:
        found = self.files.get(path)
        return found if found is not None else self.clone.blob(self.tree[path])


def moves(library: Library, at: str, dice: Random, count: int, situations: tuple[str, ...]) -> Seen:
    """A commit behind ``at`` in which about ``count`` symbols were moved or renamed, one to a file."""
    clone = library.clone
    tree = clone.tree(at)
    readable = sorted(path for path in tree if library.reads(path) and library.one(path, tree[path]).symbols)
    dice.shuffle(readable)
    edits, chosen = _Edits(library, tree), []
    for turn, path in enumerate(readable[:count]):
        symbol = dice.choice(library.one(path, tree[path]).symbols)
        if turn % 3 == 0:
            _rename_file(edits, path, dice)
            chosen.append((path, symbol, True))
        elif turn % 3 == 1:
            chosen.append((path, symbol, True))
            _rename_symbol(edits, path, symbol)
        else:
            loose = [one for one in library.one(path, tree[path]).symbols if _stands_alone(edits, path, one)]
            if loose and not path.endswith(_NO_LOOSE_TEXT):
                symbol = dice.choice(loose)
                chosen.append((path, symbol, True))
                _move_symbol(edits, path, symbol)
    after = clone.commit(at, edits.files, parents=[at])
    planted, not_seen = sown(library, tree, chosen)
    return Seen(cases_of("moves", Span(library, at, after), planted, 1, situations), not_seen)


def _rename_file(edits: _Edits, path: str, dice: Random) -> None:
    """Move a file to another folder or name, without other changes."""
    folder, name = os.path.split(path)
    stem, suffix = os.path.splitext(name)
    new = (
        os.path.join(folder, "inner", name)
        if dice.random() < 0.5
        else os.path.join(folder, f"{stem}_new{suffix}")
    )
    edits.files[new] = edits.data(path)
    edits.files[path] = None


def _rename_symbol(edits: _Edits, path: str, symbol: Symbol) -> None:
    """The name as a word in the lines of its own definition, the way an editor's replace does it."""
    own = re.escape(symbol.name.rpartition(".")[2].encode())
    lines = edits.data(path).splitlines(keepends=True)
    for row in (row for first, last in symbol.spans for row in range(first - 1, last)):
        lines[row] = re.sub(rb"(?<![\w.$])" + own + rb"(?![\w$])", b"renamedHere", lines[row])
    edits.files[path] = b"".join(lines)


def _stands_alone(edits: _Edits, path: str, symbol: Symbol) -> bool:
    """Whether its lines are not shared and start at column 0."""
    lines = edits.data(path).splitlines()
    if "." in symbol.name or symbol.members or symbol.kind == "const" or symbol.last > len(lines):
        return False
    first, last = lines[symbol.first - 1], lines[symbol.last - 1]
    return (first[:1].strip() != b"" and last.strip()[-1:] in (b"}", b";", b")", b"")) or path.endswith(".py")


def _move_symbol(edits: _Edits, path: str, symbol: Symbol) -> None:
    """Move it to a new file in the same folder, as when a module is split."""
    folder, name = os.path.split(path)
    stem, suffix = os.path.splitext(name)
    lines = edits.data(path).splitlines(keepends=True)
    cut = lines[symbol.first - 1 : symbol.last]
    head = [line for line in lines[:40] if line.startswith((b"package ", b"<?php"))][:1]
    edits.files[os.path.join(folder, f"{stem}_split{suffix}")] = b"".join([*head, b"\n", *cut, b"\n"])
    edits.files[path] = b"".join([*lines[: symbol.first - 1], *lines[symbol.last :]])
