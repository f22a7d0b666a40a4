"""Ground truth from other parsers and git: what happened to a symbol between two commits."""

from __future__ import annotations

import hashlib
import os
import pickle
from typing import TYPE_CHECKING, Final, NamedTuple

from benchmarks.replay.symbols import Reading, joined

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from benchmarks.replay.clone import Clone
    from benchmarks.replay.symbols import Reader, Symbol

__all__ = ["FOLLOWED", "HELD", "STALE", "Expected", "Library", "Span", "expected"]

HELD: Final = ("untouched", "file touched", "cosmetic", "reverted")
"""Still true, at the same location."""
FOLLOWED: Final = ("file renamed", "moved", "symbol renamed")
"""Still true, at another location."""
STALE: Final = ("edited", "renamed and edited", "deleted")
"""Changed or removed: the claim is stale."""
_NOT_SCORED: Final = ("unclear", "unreadable")
CLASSES: Final = (*HELD, *FOLLOWED, *STALE, *_NOT_SCORED)


class Expected(NamedTuple):
    """``kind`` is one of `CLASSES`; ``places`` are the (path, symbol) where the code is, if anywhere."""

    kind: str
    places: tuple[tuple[str, str], ...] = ()
    why: str = ""


class Library:
    """Readings of one clone's files, kept by reader and blob; between runs in the file ``kept``."""

    def __init__(self, clone: Clone, readers: Iterable[Reader], kept: str = "") -> None:
        self.clone = clone
        self._readers = list(readers)
        self._versions = [_version(reader.made_of) for reader in self._readers]
        self._known: dict[tuple[str, str, str], Reading] = {}
        self._kept = kept
        if self._kept and os.path.exists(self._kept):
            with open(self._kept, "rb") as file:
                self._known = pickle.load(file)

    def save(self) -> None:
        """Save the readings for the next run."""
        if self._kept:
            with open(self._kept, "wb") as file:
                pickle.dump(self._known, file)

    def reads(self, path: str) -> bool:
        """Whether there is a parser for such a file."""
        return self._reader(path) is not None

    def _reader(self, path: str) -> int | None:
        return next((at for at, one in enumerate(self._readers) if path.endswith(one.suffixes)), None)

    def read(self, files: Mapping[str, str]) -> dict[str, Reading]:
        """Path → reading, for path → blob; files in unknown languages are skipped."""
        keys: dict[str, tuple[str, str, str]] = {}
        wanted: dict[int, list[str]] = {}
        for path, blob in files.items():
            at = self._reader(path)
            if at is not None:
                keys[path] = (self._versions[at], _suffix(path), blob)
                if keys[path] not in self._known:
                    wanted.setdefault(at, []).append(path)
        for at, asked in wanted.items():
            rows = [(path, self.clone.blob(files[path])) for path in asked]
            for path, reading in zip(asked, self._readers[at].read(rows), strict=True):
                self._known[keys[path]] = reading._replace(symbols=joined(reading.symbols))
        return {path: self._known[key] for path, key in keys.items()}

    def one(self, path: str, blob: str) -> Reading:
        """The reading of one file; trouble if there is no parser for it."""
        return self.read({path: blob}).get(path, Reading((), "no parser"))


def _suffix(path: str) -> str:
    return os.path.splitext(path)[1]


def _version(path: str) -> str:
    """Changes whenever the source of a reader does."""
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()[:12]


class Span:
    """Two commits of a clone and everything between them that truth needs."""

    def __init__(self, library: Library, a: str, b: str) -> None:
        clone = library.clone
        self.library, self.a, self.b = library, a, b
        self.before, self.after = clone.tree(a), clone.tree(b)
        self.renamed = clone.renames_on_the_way(a, b) | clone.renames(a, b)
        self.versions: dict[str, set[str]] = {}
        for change in clone.changes(a, b):
            self.versions.setdefault(change.path, set()).add(change.blob)
        changed = {path: blob for path, blob in self.after.items() if self.before.get(path) != blob}
        self.new: dict[str, list[tuple[str, Symbol]]] = {}
        """Content or shape → the places at B that did not hold it at A."""
        readings = library.read(changed)
        former = library.read({path: self.before[path] for path in changed if path in self.before})
        self.doubtful: set[str] = set()
        """Contents and shapes in files that could not be parsed at A: unknown whether they are new."""
        for path, reading in readings.items():
            old = former.get(path, Reading(()))
            if old.trouble:
                self.doubtful.update(*((one.content, one.shape) for one in reading.symbols))
                continue
            known = {(one.name, one.content) for one in old.symbols}
            known_shapes = {(one.name, one.shape) for one in old.symbols}
            for symbol in reading.symbols:
                if (symbol.name, symbol.content) not in known:
                    self.new.setdefault(symbol.content, []).append((path, symbol))
                if (symbol.name, symbol.shape) not in known_shapes and symbol.shape != symbol.content:
                    self.new.setdefault(symbol.shape, []).append((path, symbol))

    def target(self, path: str) -> str:
        """The path of the file at B: the same, or the rename according to git; "" if it was removed."""
        if path in self.after:
            return path
        renamed = self.renamed.get(path, "")
        return renamed if renamed in self.after else ""

    def stood_elsewhere(self, path: str, symbol: Symbol) -> bool:
        """Whether another file of A has the same code under the same name: boilerplate, not a move."""
        own = symbol.name.rpartition(".")[2].encode()
        for other, blob in self.before.items():
            if other == path or _suffix(other) != _suffix(path) or own not in self.library.clone.blob(blob):
                continue
            if symbol.content in [one.content for one in self.library.one(other, blob).named(symbol.name)]:
                return True
        return False

    def changed_between(self, path: str, symbol: Symbol) -> bool:
        """Whether some version between held the symbol otherwise, or not at all.

        A version that holds its very lines is not parsed.
        """
        lines = _text(self.library.clone.blob(self.before[path]), symbol)
        for blob in sorted(self.versions.get(path, ())):
            if not blob:
                return True
            if not symbol.members and lines in self.library.clone.blob(blob):
                continue
            reading = self.library.one(path, blob)
            if not reading.trouble and not any(
                one.content == symbol.content for one in reading.named(symbol.name)
            ):
                return True
        return False


def expected(span: Span, path: str, symbol: Symbol, *, small: bool) -> Expected:
    """What happened to a symbol of A. A ``small`` body alone does not prove a move; its name must match
    too."""
    target = span.target(path)
    if target:
        reading = span.library.one(target, span.after[target])
        if reading.trouble:
            return Expected("unreadable", why=reading.trouble)
        named = reading.named(symbol.name)
        if any(one.content == symbol.content for one in named):
            return Expected(_how_held(span, path, target, symbol, named), ((target, symbol.name),))
        if named:
            kind = "edited" if target == path else "renamed and edited"
            return Expected(kind, ((target, symbol.name),))
    return _searched(span, path, target, symbol, small=small)


def _how_held(span: Span, path: str, target: str, symbol: Symbol, named: Sequence[Symbol]) -> str:
    if target != path:
        return "file renamed"
    if span.before[path] == span.after[path] and not span.versions.get(path):
        return "untouched"
    if span.changed_between(path, symbol):
        return "reverted"
    if span.before[path] == span.after[path]:
        return "untouched"
    old = _text(span.library.clone.blob(span.before[path]), symbol)
    new = span.library.clone.blob(span.after[path])
    return "file touched" if any(_text(new, one) == old for one in named) else "cosmetic"


def _text(data: bytes, symbol: Symbol) -> bytes:
    lines = data.splitlines()
    return b"\n".join(b"\n".join(lines[first - 1 : last]) for first, last in symbol.spans)


def _searched(span: Span, path: str, target: str, symbol: Symbol, *, small: bool) -> Expected:
    """Handle a symbol whose name is no longer in its file."""
    if symbol.content in span.doubtful or symbol.shape in span.doubtful:
        return Expected("unclear", why="it is in a file that could not be read before")
    same = _places(span.new.get(symbol.content, ()), symbol.name if small else "")
    if same and small and span.stood_elsewhere(path, symbol):
        return Expected("unclear", same, "the same small body stood in several places before")
    if len(same) == 1:
        kind = "symbol renamed" if same[0][0] == target else "moved"
        return Expected(kind, same)
    if len(same) > 1:
        return Expected("unclear", same, "the same content in several new places")
    if symbol.shape != symbol.content:
        alike = [(place, one) for place, one in span.new.get(symbol.shape, ()) if one.kind == symbol.kind]
        renamed = _places(alike, "")
        if renamed and small:
            return Expected("unclear", renamed, "a small body under another name")
        if len(renamed) == 1:
            return Expected("symbol renamed" if renamed[0][0] == target else "moved", renamed)
        if renamed:
            return Expected("unclear", renamed, "the same body under several new names")
    if small and _places(span.new.get(symbol.content, ()), ""):
        return Expected("unclear", (), "a small body under another name")
    return Expected("deleted")


def _places(found: Collection[tuple[str, Symbol]], name: str) -> tuple[tuple[str, str], ...]:
    return tuple(dict.fromkeys((path, one.name) for path, one in found if not name or one.name == name))
