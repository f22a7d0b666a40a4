"""Which versions of which document a merge left in conflict: from files, as git has them, to documents. Pure.

Git knows files, and guesses renames from likeness; a document is known by its id. So one document may stand
at two paths (both sides renamed it), and one path may hold two documents (git took one for the other).
"""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING, NamedTuple

from thunderus_mem.model.conflict import parse, sides
from thunderus_mem.model.document import read_document
from thunderus_mem.model.ids import file_stem

if TYPE_CHECKING:
    from collections.abc import Sequence

    from thunderus_mem.model.document import Document

__all__ = ["Standoff", "Versions", "stand_offs"]


class Versions(NamedTuple):
    """A file in conflict: the text of each version, ``None`` where a version has no such file."""

    path: str
    base: str | None
    ours: str | None
    theirs: str | None


class Standoff(NamedTuple):
    """A document whose versions must become one, and the ``path`` at which it goes on.

    ``id`` is "" when no version reads. Other files that hold it, and go, are ``drops``. ``apart`` names the
    side ("ours", "theirs") whose version it is alone, when the other version is another document; one of the
    two ``moves`` to a file of its own. ``note`` says what is odd.
    """

    id: str
    path: str
    base: str | None
    ours: str | None
    theirs: str | None
    drops: tuple[str, ...] = ()
    apart: str = ""
    moves: bool = False
    note: str = ""


def stand_offs(files: Sequence[Versions]) -> list[Standoff]:
    """Sort files in conflict by document."""
    found: list[Standoff] = []
    mine = [one for one in files if one.ours is not None and one.base is None and one.theirs is None]
    others = [one for one in files if one.theirs is not None and one.base is None and one.ours is None]
    gone = [one for one in files if one.base is not None and one.ours is None and one.theirs is None]
    for one in files:
        if one in mine:
            found.append(_renamed_twice(one, others, gone))
        elif one in others or one in gone:
            continue
        elif _are_two(one):
            found += _apart(one)
        else:
            found.append(_plain(one))
    used = {path for one in found for path in one.drops}
    return [*found, *(_plain(one) for one in (*others, *gone) if one.path not in used)]


def _plain(one: Versions) -> Standoff:
    return Standoff(_id(one.ours) or _id(one.theirs) or _id(one.base), *one)


def _document(text: str | None) -> Document | None:
    return None if text is None else read_document("", text.encode("utf-8", "surrogateescape")).document


def _id(text: str | None) -> str:
    document = _document(text)
    return document.id if document is not None else ""


def _names(text: str | None, side: int) -> frozenset[str]:
    """The id and aliases of a version; of one that git filled with markers itself, those of its side."""
    document = _document(sides(parse(text or ""))[side])
    return frozenset() if document is None else frozenset((document.id, *document.aliases))


def _renamed_twice(one: Versions, others: Sequence[Versions], gone: Sequence[Versions]) -> Standoff:
    """A file only we have: with the one only they have, when both are one document under two names."""
    mine = _names(one.ours, 1)
    for other in others:
        theirs = _names(other.theirs, 2)
        base = next((was for was in gone if _id(was.base) in mine & theirs), None)
        if _id(one.ours) == _id(other.theirs) != "" or base is not None:
            both = sides(parse(one.ours or "")).ours, sides(parse(other.theirs or "")).theirs
            drops = (other.path, *([base.path] if base else []))
            note = f"both sides renamed its file, theirs to {other.path}"
            return Standoff(_id(both[0]), one.path, base and base.base, *both, drops, note=note)
    return _plain(one)


def _are_two(one: Versions) -> bool:
    """Whether two documents that have nothing to do with each other stand in one file."""
    ours, theirs, base = _document(one.ours), _document(one.theirs), _document(one.base)
    if ours is None or theirs is None or ours.id == theirs.id:
        return False
    related = ours.id in theirs.aliases or theirs.id in ours.aliases
    both_from = (
        base is not None and base.id in (ours.id, *ours.aliases) and base.id in (theirs.id, *theirs.aliases)
    )
    return not (related or both_from)


def _apart(one: Versions) -> list[Standoff]:
    """Two documents of one file: the one whose name fits stays, the other gets a file of its own."""
    ours, theirs = _document(one.ours), _document(one.theirs)
    assert ours is not None
    assert theirs is not None
    stays_mine = _fits(one.path, ours) or not _fits(one.path, theirs)
    note = f"git took {theirs.id} and {ours.id} for one document"
    mine = Standoff(ours.id, *one, apart="ours", moves=not stays_mine, note=note)
    other = Standoff(theirs.id, *one, apart="theirs", moves=stays_mine, note=note)
    return [mine, other] if stays_mine else [other, mine]


def _fits(path: str, document: Document) -> bool:
    name = posixpath.basename(path).removesuffix(".md").lower()
    stem = file_stem(document.id, document.kind)
    return name == stem or (document.kind == "adr" and name.startswith("adr-") and name.endswith(f"-{stem}"))
