"""How an anchor stands to a place in the code that somebody asks about. Pure.

Names settle most of it. A file is parsed only where a symbol has to be related to lines, or to a symbol whose
name tells nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from thunderus_mem.model.path_glob import fits

if TYPE_CHECKING:
    from collections.abc import Callable

    from thunderus_mem.evidence.code.source import Source
    from thunderus_mem.model.anchor import Anchor

__all__ = ["MENTIONS", "Relation", "relate"]

SAME: Final = "same"
AROUND: Final = "around"
INSIDE: Final = "inside"
OVERLAPS: Final = "overlaps"
NEARBY: Final = "nearby"
FILE: Final = "file"
FOLDER: Final = "folder"
MENTIONS: Final = "mentions"
_RANK: Final = {SAME: 0, AROUND: 1, INSIDE: 1, OVERLAPS: 2, NEARBY: 3, FILE: 4, FOLDER: 5, MENTIONS: 6}


class Relation(NamedTuple):
    """``how`` the anchor stands to the place, and how far it is from it: the smaller, the closer.

    same: that place; around, inside: code that encloses it, or that it encloses; overlaps: lines in common;
    nearby: in the same file, and where cannot be told; file: the whole file; folder: a folder or a pattern
    that the file fits.
    """

    how: str
    distance: int = 0

    @property
    def rank(self) -> tuple[int, int]:
        """For sorting, the most specific first."""
        return _RANK[self.how], self.distance


def relate(asked: Anchor, anchor: Anchor, read: Callable[[], Source | None]) -> Relation | None:
    """How an anchor stands to what is asked about; ``None`` when it speaks of other code.

    ``asked`` names a file, or a folder by a path that ends in ``/`` ("" for everything). ``read`` gives the
    file that both are in; it is called only where names do not settle it.
    """
    if not asked.path or asked.path.endswith("/"):
        return _below(asked.path, anchor)
    if anchor.is_glob:
        return Relation(FOLDER, -len(anchor.path)) if fits(anchor.path, asked.path) else None
    if anchor.path != asked.path:
        return None
    if anchor.is_weak:
        return Relation(FILE)
    if asked.is_weak:
        return Relation(INSIDE, 0 if anchor.symbol else 1)
    if asked.lines is not None and anchor.lines is not None:
        return _of_lines(asked.lines, anchor.lines)
    if asked.symbol and anchor.symbol:
        told = _of_names(_dotted(asked.symbol), _dotted(anchor.symbol))
        if told is not None:
            return told
    return _of_code(asked, anchor, read())


def _below(folder: str, anchor: Anchor) -> Relation | None:
    if not anchor.path.startswith(folder):
        return Relation(FOLDER, -len(anchor.path)) if fits(anchor.path, f"{folder}x") else None
    if anchor.is_glob:
        return Relation(FOLDER, -len(anchor.path))
    return Relation(FILE if anchor.is_weak else INSIDE)


def _dotted(symbol: str) -> str:
    return symbol.replace("::", ".").replace("#", ".").strip(".")


def _of_names(asked: str, anchored: str) -> Relation | None:
    """What two names tell without the code: one may leave out classes that the other names."""
    if asked == anchored or asked.endswith(f".{anchored}") or anchored.endswith(f".{asked}"):
        return Relation(SAME)
    if asked.startswith(f"{anchored}."):
        return Relation(AROUND, asked.count(".") - anchored.count("."))
    if anchored.startswith(f"{asked}."):
        return Relation(INSIDE, anchored.count(".") - asked.count("."))
    return None


def _of_lines(asked: tuple[int, int], anchored: tuple[int, int]) -> Relation | None:
    if asked == anchored:
        return Relation(SAME)
    return Relation(OVERLAPS, anchored[1] - anchored[0]) if _meet(asked, anchored) else None


def _of_code(asked: Anchor, anchor: Anchor, source: Source | None) -> Relation | None:
    if source is None or source.trouble or not source.language:
        # Two symbols have different names. Of lines and a symbol nobody can say whether they meet.
        return None if asked.symbol and anchor.symbol else Relation(NEARBY)
    places = [_closest(one, other) for one in _spans(asked, source) for other in _spans(anchor, source)]
    return min((found for found in places if found is not None), key=lambda found: found.rank, default=None)


def _spans(anchor: Anchor, source: Source) -> list[tuple[int, int]]:
    if anchor.lines is not None:
        return [anchor.lines]
    return [(one.first, one.last) for one in source.find(anchor.symbol)]


def _closest(asked: tuple[int, int], anchored: tuple[int, int]) -> Relation | None:
    distance = abs((anchored[1] - anchored[0]) - (asked[1] - asked[0]))
    if asked == anchored:
        return Relation(AROUND)
    if anchored[0] <= asked[0] and asked[1] <= anchored[1]:
        return Relation(AROUND, distance)
    if asked[0] <= anchored[0] and anchored[1] <= asked[1]:
        return Relation(INSIDE, distance)
    return Relation(OVERLAPS, distance) if _meet(asked, anchored) else None


def _meet(one: tuple[int, int], other: tuple[int, int]) -> bool:
    return one[0] <= other[1] and other[0] <= one[1]
