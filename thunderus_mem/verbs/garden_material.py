"""What the gardening rules look at, gathered from index, log and files."""

from __future__ import annotations

from contextlib import contextmanager
from datetime import UTC
from functools import partial
from typing import TYPE_CHECKING, Final

from thunderus_mem.garden.material import Material
from thunderus_mem.verbs.documents import documents
from thunderus_mem.verbs.happenings import history_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from thunderus_mem.memory import Memory
    from thunderus_mem.model.document import Document

_COMPARES: Final = frozenset(("duplicates", "similar"))
"""Rules that look at what every text says."""


def material_of(memory: Memory) -> Material:
    """What the gardening rules look at, from a fresh index."""
    memory.refresh()
    in_use, archived = (
        tuple(sorted(found, key=lambda document: (document.id, document.path)))
        for found in (documents(memory), documents(memory, archived=True))
    )
    today = memory.now().astimezone(UTC).date().isoformat()
    files = frozenset(path for path, _, _ in memory.index.files())
    former = memory.log_index().single_paths()
    return Material(
        in_use,
        archived,
        today,
        files,
        _ours(memory, in_use, today),
        {path: doc_id for path, doc_id in former.items() if path not in files},
        partial(history_of, memory),
    )


def _ours(memory: Memory, in_use: Sequence[Document], today: str) -> frozenset[str]:
    """Of the recaps that may be archived, those that still say what the program itself wrote."""
    from thunderus_mem.garden.order.archiving import expiry, old_recaps
    from thunderus_mem.projection.log_index import read
    from thunderus_mem.verbs.recapping import texts_by_us

    asked = {one.id: one for one in old_recaps(in_use, memory.config, today)}
    asked |= {one.id: one for one in in_use if one.kind == "recap" and "" < expiry(one) <= today}
    rows = memory.log_index().naming(sorted(asked)) if asked else []
    by_us = texts_by_us(logged.event for logged in read(memory.log, rows))
    return frozenset(one.id for one in asked.values() if (one.id, one.hash) in by_us)


@contextmanager
def with_signatures(memory: Memory, seen: Material, names: Sequence[str]) -> Iterator[Material]:
    """The material with what was computed of its texts before, where a rule compares them."""
    if not _COMPARES.intersection(names):
        yield seen
        return
    from thunderus_mem.garden.similar.answers import memory_key
    from thunderus_mem.garden.similar.profile import key_of, measure
    from thunderus_mem.garden.similar.steps import compared, gates_of
    from thunderus_mem.projection.signatures import RememberedSignatures
    from thunderus_mem.store.forked import spread
    from thunderus_mem.verbs.profiling import learn

    remembered = RememberedSignatures(memory.layout.signatures_file, measure())
    known = remembered.read()
    learn(seen.documents, known)
    yield seen._replace(signatures=known, share=spread)
    texts = [key_of(document) for document in seen.documents]
    remembered.save(known, [*texts, memory_key(compared(seen.documents), gates_of(memory.config))])
