"""What the code says of documents; where none has an anchor, nothing is loaded to judge by."""

from __future__ import annotations

from typing import TYPE_CHECKING

from thunderus_mem.projection.rows import has_anchors

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from thunderus_mem.memory import Memory


def code_statuses(memory: Memory, doc_ids: Sequence[str] | None = None) -> Mapping[str, str]:
    """The status that the code gives to those of some documents (``None``: of all) that have anchors, by
    id."""
    if not has_anchors(memory.index.database):
        return {}
    from thunderus_mem.verbs.judging import document_statuses

    return document_statuses(memory, doc_ids)
