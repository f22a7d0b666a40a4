"""What the log knows of one document, read from the lines that speak of it and no others."""

from __future__ import annotations

from typing import TYPE_CHECKING

from thunderus_mem.evidence.transitions import past_of
from thunderus_mem.projection.log_index import read

if TYPE_CHECKING:
    from thunderus_mem.evidence.transitions import Past
    from thunderus_mem.memory import Memory
    from thunderus_mem.model.document import Document
    from thunderus_mem.projection.log_index import EventRow
    from thunderus_mem.store.events import LoggedEvent


def trace(memory: Memory, document: Document) -> tuple[list[LoggedEvent], Past]:
    """The events that speak of a document, in order, and the past they tell.

    A document that had another id or another file is followed by what the log says, and by its texts.
    """
    index = memory.log_index()
    ids, paths, texts = {document.id, *document.aliases}, {document.path}, {document.hash}
    past = past_of(document, ())
    logged: list[LoggedEvent] = []
    known: set[EventRow] = set()
    while True:
        rows = {*index.about(paths, ids), *index.naming((), document.events), *index.leaving(texts)}
        if rows == known:
            return logged, past
        known = rows
        logged = read(memory.log, sorted(rows, key=lambda row: row.order))
        past = past_of(document, [entry.event for entry in logged])
        ids, paths, texts = ids | past.ids, paths.union(past.paths), texts | past.sources
