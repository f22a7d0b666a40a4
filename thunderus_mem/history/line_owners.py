"""Who wrote each line of a text, from the versions it went through: `kept_lines` finds which stay.

Pure: versions in, owners out; never slow, whatever the texts are.
"""

from __future__ import annotations

from bisect import bisect_left
from itertools import pairwise
from typing import TYPE_CHECKING, Final, Generic, NamedTuple, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

NEW: Final = -1
"""Stands for the place of a line that was not there before."""
_MAX_PAIRS: Final = 40_000
"""Stretches without a line that occurs once are compared up to this many pairs, else taken as new."""
_MAX_DEPTH: Final = 40


def kept_lines(old: Sequence[str], new: Sequence[str]) -> list[int]:
    """For each line of ``new`` its place in ``old``, or `NEW`. Places only grow.

    Lines that occur once in both texts hold the others in place, so that a moved bracket or blank line does
    not drag its surroundings along. When lines are all different, every line that kept its order is found.
    """
    found = [NEW] * len(new)
    waiting = [(0, len(old), 0, len(new), 0)]
    while waiting:
        start, stop, begin, end, depth = waiting.pop()
        while start < stop and begin < end and old[start] == new[begin]:
            found[begin] = start
            start, begin = start + 1, begin + 1
        while start < stop and begin < end and old[stop - 1] == new[end - 1]:
            stop, end = stop - 1, end - 1
            found[end] = stop
        if start == stop or begin == end:
            continue
        anchors = _anchors(old[start:stop], new[begin:end]) if depth < _MAX_DEPTH else []
        if not anchors:
            found[begin:end] = _compared(old[start:stop], new[begin:end], start)
            continue
        for place, at in anchors:
            found[begin + at] = start + place
        edges = [(start - 1, begin - 1), *((start + i, begin + j) for i, j in anchors), (stop, end)]
        for (i, j), (next_i, next_j) in pairwise(edges):
            waiting.append((i + 1, next_i, j + 1, next_j, depth + 1))
    return found


def _anchors(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
    """Places of lines that occur once in each, as many as keep one order; lines with a word before others."""
    places = _once(old)
    common = [(line, places[line], at) for line, at in _once(new).items() if line in places]
    worded = [(place, at) for line, place, at in common if any(map(str.isalnum, line))]
    return list(_growing(worded or [(place, at) for _, place, at in common]))


def _once(lines: Sequence[str]) -> dict[str, int]:
    """The lines that occur once, with their places, in order."""
    places: dict[str, int] = {}
    for at, line in enumerate(lines):
        places[line] = NEW if line in places else at
    return {line: at for line, at in places.items() if at != NEW}


def _growing(pairs: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """A longest run of pairs (sorted by their second) in which the first grows too."""
    ends: list[int] = []
    last: list[int] = []
    before: list[int] = []
    for number, (place, _) in enumerate(pairs):
        at = bisect_left(ends, place)
        before.append(last[at - 1] if at else NEW)
        ends[at : at + 1] = [place]
        last[at : at + 1] = [number]
    chosen: list[tuple[int, int]] = []
    number = last[-1] if last else NEW
    while number != NEW:
        chosen.append(pairs[number])
        number = before[number]
    return reversed(chosen)


def _compared(old: Sequence[str], new: Sequence[str], start: int) -> list[int]:
    found = [NEW] * len(new)
    if len(old) * len(new) > _MAX_PAIRS:
        return found
    from difflib import SequenceMatcher

    for i, j, size in SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks():
        found[j : j + size] = range(start + i, start + i + size)
    return found


LineOwner = TypeVar("LineOwner")
_NOTHING_LENT: Mapping[str, object] = {}


class Version(NamedTuple, Generic[LineOwner]):
    """A text on the way to the last one: its lines, who made it, and the versions it was made from.

    ``parents`` are places of earlier versions; a line that several have is the first one's. ``lent`` says
    whose a line is that stands here and in none of them: a text that was joined from pieces names the pieces.
    """

    lines: Sequence[str]
    owner: LineOwner
    parents: tuple[int, ...] = ()
    lent: Mapping[str, LineOwner] = _NOTHING_LENT  # type: ignore[assignment]


def line_owners(versions: Sequence[Version[LineOwner]]) -> list[LineOwner]:
    """The owner of each line of the last version.

    A line belongs to the version that brought it in: it has no counterpart in any parent. A line that was
    taken away and came back belongs to who brought it back.
    """
    known: list[list[LineOwner]] = []
    for version in versions:
        owners: list[LineOwner | None] = [None] * len(version.lines)
        for parent in version.parents:
            for at, place in enumerate(kept_lines(versions[parent].lines, version.lines)):
                if owners[at] is None and place != NEW:
                    owners[at] = known[parent][place]
        _borrow(owners, version)
        known.append([version.owner if owner is None else owner for owner in owners])
    return known[-1] if known else []


def _borrow(owners: list[LineOwner | None], version: Version[LineOwner]) -> None:
    """Give lines that no parent has to whoever lent them.

    A line without a word (blank, a fence, a bracket) proves nothing: it goes with the line before or after.
    """
    if not version.lent:
        return
    open_places = [at for at, owner in enumerate(owners) if owner is None]
    wordless = []
    for at in open_places:
        line = version.lines[at]
        if any(map(str.isalnum, line)):
            owners[at] = version.lent.get(line)
        elif line in version.lent:
            wordless.append(at)
    fresh = set(open_places)
    for order, step in ((wordless, -1), (reversed(wordless), 1)):
        for at in order:
            if owners[at] is None and at + step in fresh:
                owners[at] = owners[at + step]
