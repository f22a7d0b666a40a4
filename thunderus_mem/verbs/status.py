"""The verb `status`: the state of a store at a glance, and one next step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from thunderus_mem.transaction.by_hand import hand_edits, mass_loss
from thunderus_mem.verbs.code_statuses import code_statuses
from thunderus_mem.verbs.proposing import queue_state

if TYPE_CHECKING:
    from thunderus_mem.memory import Memory


@dataclass(frozen=True, slots=True)
class StatusReport:
    """The state of a store at a glance.

    ``counts`` by kind, of documents in use, ``archived`` how many are set aside; ``conflicts`` files that git
    could not merge; ``unreadable`` files that are no documents; ``unrecorded`` edits made by hand that the
    next write records; ``gone`` documents, so many that nobody is believed to have meant it, for which
    neither log nor git has a reason; ``pending`` writes that wait to be put in place; ``proposals`` that wait
    for a decision, how old the oldest is, and how many are ``expired``.
    """

    root: str
    also: tuple[str, ...]
    counts: dict[str, int]
    stale: tuple[str, ...]
    unrecorded: tuple[str, ...]
    gone: tuple[str, ...]
    unreadable: tuple[str, ...]
    pending: int
    events: int
    index: str
    next_step: str
    conflicts: tuple[str, ...] = ()
    archived: int = 0
    proposals: int = 0
    oldest_days: int = 0
    expired: int = 0


def status(memory: Memory) -> StatusReport:
    """Counts, what is stale or not recorded yet, and one next step. Changes no tracked file."""
    refreshed = memory.refresh()
    rows = memory.index.documents()
    counts: dict[str, int] = {}
    for row in rows:
        counts[row.kind] = counts.get(row.kind, 0) + 1
    state = memory.git_state()
    edits = hand_edits(memory, state)
    gone = mass_loss(memory, edits)
    lost = {edit.path for edit in gone}
    conflicts = state.conflicts if state is not None else ()
    unreadable = tuple(path for path, _, doc_id in memory.index.files() if not doc_id)
    said = code_statuses(memory)
    stale = tuple(sorted(row.id for row in rows if said.get(row.id, row.status) == "stale"))
    pending = memory.journal.pending()
    waiting = queue_state(memory)
    return StatusReport(
        root=memory.root,
        also=memory.also,
        counts=dict(sorted(counts.items())),
        stale=stale,
        unrecorded=tuple(edit.doc_id or edit.path for edit in edits if edit.path not in lost),
        gone=tuple(edit.doc_id or edit.path for edit in gone),
        unreadable=unreadable,
        pending=pending,
        events=memory.log_index().total(),
        index=f"rebuilt, since {refreshed.rebuilt}" if refreshed.rebuilt else "fresh",
        next_step=_next_step(
            unreadable, pending, stale, len(rows), bool(gone), bool(conflicts), bool(waiting.waiting)
        ),
        conflicts=conflicts,
        archived=memory.index.count_archived(),
        proposals=waiting.waiting,
        oldest_days=waiting.oldest_days,
        expired=waiting.expired,
    )


def _next_step(
    unreadable: tuple[str, ...],
    pending: int,
    stale: tuple[str, ...],
    total: int,
    lost: bool,
    conflict: bool,
    waiting: bool,
) -> str:
    if lost:
        return "thunderus-mem doctor"
    if conflict:
        return "thunderus-mem resolve"
    if unreadable:
        return f"thunderus-mem lint {unreadable[0]}"
    if pending:
        return "thunderus-mem doctor"
    if stale:
        return f"thunderus-mem check {stale[0]} -p"
    if waiting:
        return "thunderus-mem patch list"
    if not total:
        return 'thunderus-mem add fact "What everybody should know" --tag start'
    return "thunderus-mem search WORDS"
