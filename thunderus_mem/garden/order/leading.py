"""References to headings that stand in other documents once one has been split. Pure."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING, NamedTuple

from thunderus_mem.garden.order.naming import path_of
from thunderus_mem.model.inline import slug as anchor_slug
from thunderus_mem.model.references import references

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from thunderus_mem.model.document import Document
    from thunderus_mem.model.references import Reference

__all__ = ["Place", "references_led"]


class Place(NamedTuple):
    """Where a heading stands after the split: the document, its file, and its anchor there."""

    doc_id: str
    path: str
    anchor: str


def references_led(
    body: str,
    doc_id: str,
    path: str,
    document: Document,
    places: dict[str, Place],
    means: Callable[[str], bool],
    *,
    within: bool,
) -> Iterator[tuple[Reference, str]]:
    """The references of a body to headings that stand elsewhere now, and what they have to say instead.

    ``within`` a result of the split, a reference without a name means the document that was split.
    """
    here = document._replace(path=path)
    for reference in references(body):
        name, mark, anchor = reference.target.partition("#")
        wiki = reference.kind == "wiki"
        if not mark or not _is_meant(reference, name, here, document, means, within=within):
            continue
        place = places.get(anchor_slug(anchor) if wiki else anchor.lower())
        if place is None or (not within and place.doc_id == document.id and place.anchor == anchor.lower()):
            continue
        if wiki:
            heading = anchor if anchor_slug(anchor) == place.anchor else place.anchor
            new = f"{'' if place.doc_id == doc_id else place.doc_id}#{heading}"
        else:
            file = "" if place.doc_id == doc_id else posixpath.relpath(place.path, posixpath.dirname(path))
            new = f"{file}#{place.anchor}"
        if new != reference.written:
            yield reference, new


def _is_meant(
    reference: Reference,
    name: str,
    here: Document,
    document: Document,
    means: Callable[[str], bool],
    *,
    within: bool,
) -> bool:
    """Whether a reference with an anchor is one to the document that is split."""
    if not name.strip():
        return within
    if reference.kind == "wiki":
        return means(name.strip())
    return path_of(here, reference) == document.path
