"""Documents that name each other in their headers."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from thunderus_mem.model.document import Document


def links_between(
    documents: Iterable[Document], relations: Collection[str] | None = None
) -> list[tuple[str, str, str]]:
    """Every link as (id, relation, id it leads to), aliases followed; only of some ``relations`` if given."""
    known = list(documents)
    ids = {alias: document.id for document in known for alias in document.aliases}
    ids |= {document.id: document.id for document in known}
    return [
        (document.id, link.rel, ids.get(link.target, link.target))
        for document in known
        for link in document.links
        if relations is None or link.rel in relations
    ]
