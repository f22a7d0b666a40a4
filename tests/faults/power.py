"""Power loss as a model: what a disk may hold after a trace of operations, of which only some were synced.

Bytes of a file are sure up to its last sync; of what was written after it nothing, a part, other blocks or
all may be there. A name is sure once its folder was synced. Operations on the names of one folder keep their
order, a rename happens whole or not at all, and otherwise any of the unsure ones may be missing.
"""

from __future__ import annotations

import base64
import itertools
import math
import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from random import Random

Tree = tuple[tuple[str, bytes | None], ...]
"""Paths in order with their bytes, ``None`` for a folder."""

_ROOT: Final = 0
_MOST: Final = 256
"""Choices of one kind at one moment; of more than these a sample is taken."""

_PROJECTED: Final = ("indexes",)
_UNHEARD: Final = (".lock", "lock-owner.json")
"""Files of no consequence that are written without the modules of the store."""


def record(root: str) -> Callable[[], dict[str, Any]]:
    """In a process that is about to run one command: note every operation below ``root``."""
    from tests.support import failpoints

    heard: list[tuple[str, str, str]] = []

    def hear(operation: str, path: str, detail: bytes) -> None:
        heard.append((operation, os.path.relpath(path, root), base64.b64encode(detail).decode()))

    failpoints.record(hear)
    return lambda: {"operations": heard}


@dataclass(frozen=True)
class _Name:
    """An operation on names: what it puts (folder, name) to; ``None`` takes a name away."""

    puts: tuple[tuple[int, str, int | None], ...]

    @property
    def folders(self) -> frozenset[int]:
        """The folders whose names it changes."""
        return frozenset(folder for folder, _, _ in self.puts)


@dataclass
class _File:
    """A file: the bytes that are sure, and what it held after each operation since, the sure ones first."""

    sure: bytes
    since: list[bytes] = field(default_factory=list)

    @property
    def now(self) -> bytes:
        """What a reader sees before the power fails."""
        return self.since[-1] if self.since else self.sure


class Disk:
    """A disk that follows a trace, and tells every state that the power may leave behind."""

    def __init__(self, base: str, root: str, *, block: int = 256) -> None:
        """``base`` holds the store as the trace found it; the trace was taken at ``root``.

        ``block`` is what the disk writes at once: the smaller, the more parts of a write may be left.
        """
        self._root = root
        self._block = block
        self._files: dict[int, _File] = {}
        self._sure: dict[int, dict[str, int]] = {_ROOT: {}}
        self._now: dict[int, dict[str, int]] = {_ROOT: {}}
        self._pending: list[_Name] = []
        self._numbers = iter(range(1, 1 << 30))
        for path, data in read_tree(base):
            folder, name = self._split(path)
            number = self._new(data)
            self._sure[folder][name] = self._now[folder][name] = number

    def _new(self, data: bytes | None) -> int:
        number = next(self._numbers)
        if data is None:
            self._sure[number], self._now[number] = {}, {}
        else:
            self._files[number] = _File(data)
        return number

    def _split(self, path: str) -> tuple[int, str]:
        above, name = os.path.split(os.path.normpath(path))
        return self._at(above), name

    def _at(self, path: str) -> int:
        number = _ROOT
        for name in path.split(os.sep) if path not in ("", ".") else ():
            number = self._now[number][name]
        return number

    def follow(self, operation: str, path: str, detail: bytes) -> None:
        """Do one operation of a trace; what projections are is worked out again."""
        if not set(_PROJECTED).isdisjoint(path.split(os.sep)):
            return
        getattr(self, "_" + operation.replace("-", "_"))(path, detail)

    def _names(self, *puts: tuple[int, str, int | None]) -> None:
        for folder, name, number in puts:
            if number is None:
                del self._now[folder][name]
            else:
                self._now[folder][name] = number
        self._pending.append(_Name(puts))

    def _create(self, path: str, detail: bytes) -> None:
        self._names((*self._split(path), self._new(b"")))

    def _mkdir(self, path: str, detail: bytes) -> None:
        self._names((*self._split(path), self._new(None)))

    def _link(self, path: str, detail: bytes) -> None:
        self._names((*self._split(self._beside(path, detail)), self._at(path)))

    def _unlink(self, path: str, detail: bytes) -> None:
        self._names((*self._split(path), None))

    _rmdir = _unlink

    def _rename(self, path: str, detail: bytes) -> None:
        number = self._at(path)
        self._names((*self._split(path), None), (*self._split(self._beside(path, detail)), number))

    def _beside(self, path: str, detail: bytes) -> str:
        return os.path.relpath(os.fsdecode(detail), self._root)

    def _write(self, path: str, data: bytes) -> None:
        found = self._files[self._at(path)]
        found.since.append(found.now + data)

    def _truncate(self, path: str, detail: bytes) -> None:
        found = self._files[self._at(path)]
        found.since.append(found.now[: int(detail)])

    def _sync(self, path: str, detail: bytes) -> None:
        found = self._files[self._at(path)]
        found.sure, found.since = found.now, []

    def _sync_folder(self, path: str, detail: bytes) -> None:
        wanted = {self._at(path)}
        synced: list[_Name] = []
        kept: list[_Name] = []
        # Syncing a name also writes the earlier names in its folders.
        for one in reversed(self._pending):
            if one.folders & wanted:
                wanted |= one.folders
                synced.append(one)
            else:
                kept.append(one)
        for one in reversed(synced):
            _apply(self._sure, one)
        self._pending = kept[::-1]

    def states(self, dice: Random) -> Iterator[Tree]:
        """The states the power may leave now: all, or where they are too many a sample that ``dice`` choose.

        The same tree may come twice.
        """
        for chosen in _in_order(self._pending, dice):
            folders = {number: dict(names) for number, names in self._sure.items()}
            for one in chosen:
                _apply(folders, one)
            reached = list(_walk(folders, _ROOT, ""))
            unsure = sorted({number for _, number in reached if self._is_unsure(number)})
            for contents in _each([self._survivals(number, dice) for number in unsure], dice):
                by_number = dict(zip(unsure, contents, strict=True))
                yield tuple(
                    (path, None if number in folders else by_number.get(number, self._files[number].sure))
                    for path, number in reached
                )

    def _is_unsure(self, number: int) -> bool:
        return number in self._files and bool(self._files[number].since)

    def _survivals(self, number: int, dice: Random) -> list[bytes]:
        """What may be left of a file with bytes that were not synced."""
        found = self._files[number]
        left, before = [found.sure], found.sure
        for after in found.since:
            left += _between(before, after, self._block, dice)
            before = after
        return list(dict.fromkeys(left))

    def settled(self) -> Tree:
        """What is there when the power does not fail."""
        return tuple(
            (path, None if number in self._now else self._files[number].now)
            for path, number in _walk(self._now, _ROOT, "")
        )


def _apply(folders: dict[int, dict[str, int]], one: _Name) -> None:
    for folder, name, number in one.puts:
        if number is None:
            folders[folder].pop(name, None)
        else:
            folders[folder][name] = number


def _in_order(pending: list[_Name], dice: Random) -> list[list[_Name]]:
    """The choices of the pending operations that keep the order within each folder."""
    choices: list[tuple[list[_Name], frozenset[int]]] = [([], frozenset())]
    for one in pending:
        further = []
        for chosen, missing in choices:
            # A folder in which an operation is missing takes no later one.
            further.append((chosen, missing | one.folders))
            if not one.folders & missing:
                further.append(([*chosen, one], missing))
        choices = (
            further if len(further) <= _MOST else [further[0], further[-1], *dice.sample(further, _MOST - 2)]
        )
    return [chosen for chosen, _ in choices]


def _between(before: bytes, after: bytes, block: int, dice: Random) -> list[bytes]:
    """What a file may hold while ``after`` is written: a beginning, or the size and some of the blocks."""
    if len(after) <= len(before):
        return [after]
    new = after[len(before) :]
    cuts = sorted({1, len(new) // 2, len(new) - 1, *range(block, len(new), block)})
    left = [new[:cut] for cut in cuts if 0 < cut < len(new)]
    blocks = [new[at : at + block] for at in range(0, len(new), block)]
    lost = [{0}, {len(blocks) - 1}, set(range(len(blocks)))]
    lost += [{at for at in range(len(blocks)) if dice.random() < 0.5} for _ in range(len(blocks))]
    left += [
        b"".join(bytes(len(one)) if at in gone else one for at, one in enumerate(blocks)) for gone in lost
    ]
    return [*(before + one for one in left), after]


def _each(options: list[list[bytes]], dice: Random) -> Iterator[tuple[bytes, ...]]:
    """Every combination, or where they are too many the outermost ones and a sample."""
    if math.prod(map(len, options)) <= _MOST:
        yield from itertools.product(*options)
        return
    yield tuple(one[0] for one in options)
    yield tuple(one[-1] for one in options)
    for _ in range(_MOST):
        yield tuple(dice.choice(one) for one in options)


def _walk(folders: dict[int, dict[str, int]], number: int, above: str) -> Iterator[tuple[str, int]]:
    for name, below in sorted(folders[number].items()):
        path = f"{above}{name}"
        yield path, below
        if below in folders:
            yield from _walk(folders, below, f"{path}/")


def read_tree(root: str) -> Tree:
    """The store below ``root`` without its projections, as a tree."""
    found: list[tuple[str, bytes | None]] = []
    for folder, folders, names in os.walk(os.path.join(root, ".thunderus")):
        folders[:] = sorted(name for name in folders if name not in _PROJECTED)
        found.append((os.path.relpath(folder, root), None))
        for name in sorted(names):
            if name not in _UNHEARD:
                path = os.path.join(folder, name)
                with open(path, "rb") as stream:
                    found.append((os.path.relpath(path, root), stream.read()))
    return tuple(sorted(found, key=lambda one: one[0].split("/")))


def write_tree(root: str, tree: Tree) -> None:
    """Make the store below ``root`` (which must not have one) as the tree says."""
    for path, data in tree:
        place = os.path.join(root, path)
        if data is None:
            os.makedirs(place)
        else:
            with open(place, "wb") as stream:
                stream.write(data)
