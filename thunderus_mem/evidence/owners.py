"""Who wrote each line of a text, from the versions it went through. Pure: versions in, owners out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

from thunderus_mem.model.line_match import NEW, kept_lines

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["Version", "line_owners"]

Owner = TypeVar("Owner")
_NOTHING_LENT: Mapping[str, object] = {}


class Version(NamedTuple, Generic[Owner]):
    """A text on the way to the last one: its lines, who made it, and the versions it was made from.

    ``parents`` are places of earlier versions; a line that several have is the first one's. ``lent`` says
    whose a line is that stands here and in none of them: a text that was joined from pieces names the pieces.
    """

    lines: Sequence[str]
    owner: Owner
    parents: tuple[int, ...] = ()
    lent: Mapping[str, Owner] = _NOTHING_LENT  # type: ignore[assignment]


def line_owners(versions: Sequence[Version[Owner]]) -> list[Owner]:
    """The owner of each line of the last version.

    A line belongs to the version that brought it in: it has no counterpart in any parent. A line that was
    taken away and came back belongs to who brought it back.
    """
    known: list[list[Owner]] = []
    for version in versions:
        owners: list[Owner | None] = [None] * len(version.lines)
        for parent in version.parents:
            for at, place in enumerate(kept_lines(versions[parent].lines, version.lines)):
                if owners[at] is None and place != NEW:
                    owners[at] = known[parent][place]
        _borrow(owners, version)
        known.append([version.owner if owner is None else owner for owner in owners])
    return known[-1] if known else []


def _borrow(owners: list[Owner | None], version: Version[Owner]) -> None:
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
