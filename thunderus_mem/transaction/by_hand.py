"""What was changed outside the tool: the edits and removals that neither an event nor a commit explains."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from thunderus_mem.evidence.unrecorded import HandEdit
    from thunderus_mem.memory import Memory
    from thunderus_mem.store.git import GitState

__all__ = ["hand_edits", "mass_loss"]


def hand_edits(memory: Memory, state: GitState | None) -> tuple[HandEdit, ...]:
    """Edits made outside the tool that no event and no commit explains; ``state`` is git's answer."""
    from thunderus_mem.evidence.unrecorded import Known
    from thunderus_mem.evidence.unrecorded import hand_edits as found_in
    from thunderus_mem.projection.log_index import read

    log_index = memory.log_index()
    known = Known(
        paths=lambda: [path for path, _, _ in memory.index.files()],
        settled=memory.index.settled,
        explains=log_index.explains,
        vanished=log_index.vanished,
        told=lambda paths, doc_ids: [
            # Looked at again: what a file shows by now was logged before.
            logged.event
            for logged in read(memory.log, memory.log_index().about(paths, doc_ids))
        ],
    )
    return found_in(memory.layout, known, memory.git, state)


def mass_loss(memory: Memory, edits: Sequence[HandEdit]) -> tuple[HandEdit, ...]:
    """The removals among hand edits, when they are so many that hardly anybody meant them; else none."""
    from thunderus_mem.evidence import losses

    index = memory.index
    return losses.mass_loss(edits, index.count(), lambda doc_id: index.get(doc_id) is not None)
