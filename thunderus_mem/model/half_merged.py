"""What a file in conflict holds: git's markers, and maybe already some of a person's work on them. Pure."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from thunderus_mem.model.conflict import Block, examples_in, parse, sides
from thunderus_mem.model.errors import InvalidDocument
from thunderus_mem.model.header import find_fences
from thunderus_mem.model.merge import LABELS
from thunderus_mem.model.splice import open_header
from thunderus_mem.model.textdiff import raw_lines

if TYPE_CHECKING:
    from thunderus_mem.model.conflict import Sides

__all__ = ["Three", "is_untouched", "three_of"]


class Three(NamedTuple):
    """What is to be merged, taken from a file with markers, and the names the markers give the sides."""

    base: str | None
    ours: str
    theirs: str
    labels: tuple[str, str]


def three_of(found: str, base: str | None, ours: str | None, theirs: str | None) -> Three | None:
    """The versions of a file that git left in conflict; ``None`` when no marker is in it (any more).

    The text between the markers counts: what a person has decided in the file stands on both sides of it.
    Only a header that is still as git left it is taken from the versions in git's index (where given), as
    merging line by line can spoil it. Raises `InvalidDocument` when the sides cannot be told apart.
    """
    base, ours, theirs = (text and _like(found, text) for text in (base, ours, theirs))
    parts = parse(found, examples_in(ours, theirs))
    blocks = [part for part in parts if isinstance(part, Block)]
    if not blocks:
        return None
    now = sides(parts)
    labels = blocks[0].labels if all(blocks[0].labels) else LABELS
    if base is None and ours is None:
        base = now.base
    if ours is None or theirs is None:
        _sure(blocks)
        return Three(base, now.ours, now.theirs, labels)
    mine, other = _heads(now)
    if any(block.doubtful for block in blocks) or not (mine and other):
        if _as_git_left((base, ours, theirs), (now.ours, now.theirs)):
            return Three(base, ours, theirs, labels)
        _sure(blocks)
        return Three(base, now.ours, now.theirs, labels)
    was = tuple(None if text is None else _head(text) for text in (base, ours, theirs))
    if _reads(ours) and _reads(theirs) and _as_git_left(was, (mine, other)):
        now = now._replace(
            ours=_head(ours) + now.ours[len(mine) :], theirs=_head(theirs) + now.theirs[len(other) :]
        )
    return Three(base, now.ours, now.theirs, labels)


def is_untouched(found: str, base: str | None, ours: str, theirs: str) -> bool:
    """Whether a file in conflict is still as git left it, as far as its lines tell."""
    base, ours, theirs = base and _like(found, base), _like(found, ours), _like(found, theirs)
    now = sides(parse(found, examples_in(ours, theirs)))
    return found in (ours, theirs) or _as_git_left((base, ours, theirs), (now.ours, now.theirs))


def _sure(blocks: list[Block]) -> None:
    doubtful = next((block for block in blocks if block.doubtful), None)
    if doubtful is not None:
        raise InvalidDocument(
            f"a line between the conflict markers of line {doubtful.lines[0]} looks like a marker itself",
            hint="settle this conflict by hand",
        )


def _like(found: str, text: str) -> str:
    """A text of git's index with the line ends it has in the working tree."""
    converted = "\r\n" in found and found.count("\n") == found.count("\r\n") and "\r" not in text
    return text.replace("\n", "\r\n") if converted else text


def _head(text: str) -> str:
    """Everything before the body; "" when there is no frontmatter that ends."""
    fences = find_fences(text)
    return text[: fences.body_start] if fences is not None and fences.closed else ""


def _heads(now: Sides) -> tuple[str, str]:
    return _head(now.ours), _head(now.theirs)


def _reads(text: str) -> bool:
    try:
        return bool(open_header(text))
    except InvalidDocument:
        return False


def _as_git_left(was: tuple[str | None, ...], now: tuple[str, str]) -> bool:
    """Whether two sides of a conflict may be what merging line by line made: nobody took a line out or in.

    What no side changed is there as often as before, and what a side added is there on its side.
    """
    base, ours, theirs = (Counter(_lines(text or "")) for text in was)
    mine, other = (Counter(_lines(text)) for text in now)
    for line in ours.keys() | theirs.keys() | base.keys() | mine.keys() | other.keys():
        before = base[line]
        if ours[line] == theirs[line] == before:
            if not mine[line] == other[line] == before:
                return False
        elif (ours[line] > before and mine[line] < ours[line]) or (
            theirs[line] > before and other[line] < theirs[line]
        ):
            return False
    return True


def _lines(text: str) -> list[str]:
    return [line.rstrip("\r\n") for line in raw_lines(text)]
