"""What the log knows of one document, read from the shards that speak of it and no others."""

from __future__ import annotations

from typing import TYPE_CHECKING

from thunderus_mem.evidence.steps import past_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from thunderus_mem.evidence.steps import Past
    from thunderus_mem.memory import Memory
    from thunderus_mem.model.document import Document
    from thunderus_mem.store.events import LoggedEvent


def trace(memory: Memory, document: Document) -> tuple[Sequence[LoggedEvent], Past]:
    """The events of those shards, in order, and the past they tell.

    A document that had other ids, or whose id was changed by hand, is followed by its texts.
    """
    index = memory.log_index()
    shards = index.shards_with(document.events)
    ids: Iterable[str] = {document.id, *document.aliases}
    hashes: Iterable[str] = {document.hash}
    more = shards | index.shards_about({"", *ids}, hashes)
    logged: Sequence[LoggedEvent] = ()
    past = past_of(document, ())
    while more:
        shards |= more
        logged = memory.log.read(shards).events
        past = past_of(document, [entry.event for entry in logged])
        more = index.shards_about(past.ids, past.sources) - shards
    return logged, past
