"""What was decided about proposals, as the log knows it. The index must be fresh."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from thunderus_mem.projection.log_index import read

if TYPE_CHECKING:
    from collections.abc import Collection

    from thunderus_mem.memory import Memory
    from thunderus_mem.model.event import Event

__all__ = ["DECISION", "decision_about", "rejected_keys"]

DECISION: Final = "decision"
"""The key of an approval's body that says what was decided: approved, rejected or expired."""


def decision_about(memory: Memory, patch: str) -> Event | None:
    """The last decision about a proposal that the log knows, by its id."""
    found = None
    for rows in memory.log_index().in_order(kinds=("approval",)):
        for entry in read(memory.log, rows):
            if entry.event.refs.get("patch_id") == patch and DECISION in entry.event.body:
                found = entry.event
    return found


def rejected_keys(memory: Memory, doc_ids: Collection[str]) -> frozenset[str]:
    """The keys of steps about these documents that somebody has turned down.

    Of the log only approvals that name one of the documents are read.
    """
    if not doc_ids:
        return frozenset()
    last: dict[str, str] = {}
    for rows in memory.log_index().in_order(kinds=("approval",), doc_ids=doc_ids):
        for entry in read(memory.log, rows):
            key, decision = (entry.event.body.get(name) for name in ("key", DECISION))
            if isinstance(key, str) and key and isinstance(decision, str):
                last[key] = decision
    return frozenset(key for key, decision in last.items() if decision == "rejected")
