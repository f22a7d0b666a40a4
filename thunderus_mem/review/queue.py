"""The review queue: which proposals wait, one of them whole, their rebase, and what the log says was decided.

Reads the proposals and the log; only `patch_rebase` writes, the files of proposals.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from thunderus_mem.errors import InvalidDocument, NotFound
from thunderus_mem.index.log import read
from thunderus_mem.memory.past_texts import CommittedTexts
from thunderus_mem.memory.proposals import (
    BadProposal,
    ProposedEdit,
    Waiting,
    age,
    all_waiting,
    entries,
    file_names,
    write,
)
from thunderus_mem.memory.proposals import read as proposals_read
from thunderus_mem.memory.transaction import settle
from thunderus_mem.review.rebase import rebase
from thunderus_mem.store.lock import held
from thunderus_mem.store.paths import proposal_id

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from thunderus_mem.log.line import Event
    from thunderus_mem.memory.journal import FileChange
    from thunderus_mem.memory.memory import Memory
    from thunderus_mem.memory.proposals import Proposal
    from thunderus_mem.review.rebase import Rebase

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


_MOST_TARGETS, _MOST_WHY = 50, 500


class QueueState(NamedTuple):
    """The queue at a glance: how many wait, days since the oldest was made, how many are past their time."""

    waiting: int = 0
    oldest_days: int = 0
    expired: int = 0


class ListedProposal(NamedTuple):
    """A proposal in a line. ``author`` made it; ``age_days`` whole days ago; ``expired`` when that is more
    than ``review.expires_days``. In a list ``why`` is cut, and of ``targets`` the first are there, with
    ``more_targets`` left out."""

    id: str
    created: str
    age_days: int
    expired: bool
    actor: str
    author: str
    op: str
    rule: str
    action: str
    label: str
    targets: tuple[str, ...]
    why: str
    more_targets: int = 0


class ProposalListing(NamedTuple):
    """What waits, oldest first, and the files that are no proposals. ``left_out`` newer ones are
    not shown; ``expired`` of all are past their time."""

    proposals: tuple[ListedProposal, ...]
    unreadable: tuple[BadProposal, ...] = ()
    expires_days: int = 0
    left_out: int = 0
    expired: int = 0


class ProposedChange(NamedTuple):
    """One file of a proposal: ``op`` is create, update, remove or rename (from ``moved_from``); the diff as
    it was filed, or on the text that is there now."""

    path: str
    doc_id: str
    op: str
    diff: str
    moved_from: str = ""


class ShownProposal(NamedTuple):
    """A proposal whole. ``state`` and ``problem`` say how it fits what is there now, see `Rebase`."""

    proposal: ListedProposal
    evidence: tuple[str, ...]
    state: str
    problem: str
    changes: tuple[ProposedChange, ...]
    path: str


class RebasedProposal(NamedTuple):
    """A proposal held against what is there: ``state`` fits (nothing to do), rebased, or what is in the
    way."""

    id: str
    state: str
    problem: str = ""


class RebaseReport(NamedTuple):
    """What `patch_rebase` did, proposal by proposal."""

    proposals: tuple[RebasedProposal, ...]


def queue_state(memory: Memory) -> QueueState:
    """How many proposals wait and for how long, by the names of their files alone."""
    now = memory.now()
    ages = [days for path in file_names(memory.layout) if (days := age(path, now)) is not None]
    limit = memory.config.review_expires_days
    return QueueState(len(ages), max(ages, default=0), sum(days > limit for days in ages))


def _listed(memory: Memory, waiting: Waiting) -> ListedProposal:
    one = waiting.proposal
    days = age(waiting.path, memory.now()) or 0
    return ListedProposal(
        one.id,
        one.created,
        days,
        days > memory.config.review_expires_days,
        one.actor,
        one.origin.get("author", "") or one.actor,
        one.op,
        one.rule,
        one.action or one.op,
        one.label,
        one.targets,
        one.why,
    )


def patch_list(memory: Memory, *, label: str = "", rule: str = "", limit: int = 0) -> ProposalListing:
    """What waits for a decision, at most ``limit`` (0: all); only with a label, or of a rule, when asked.

    One proposal at a time is held in memory, and of each what a line tells.
    """
    listed: list[ListedProposal] = []
    bad: list[BadProposal] = []
    left_out = expired = 0
    for one in entries(memory.layout):
        if isinstance(one, BadProposal):
            bad.append(one)
        elif _matches(one.proposal, label, rule):
            line = _shortened(_listed(memory, one))
            expired += line.expired
            left_out += bool(limit) and len(listed) == limit
            if not left_out:
                listed.append(line)
    return ProposalListing(tuple(listed), tuple(bad), memory.config.review_expires_days, left_out, expired)


def _shortened(one: ListedProposal) -> ListedProposal:
    why = one.why if len(one.why) <= _MOST_WHY else one.why[:_MOST_WHY] + "…"
    more = max(len(one.targets) - _MOST_TARGETS, 0)
    return one._replace(why=why, targets=one.targets[:_MOST_TARGETS], more_targets=more)


def _matches(proposal: Proposal, label: str, rule: str) -> bool:
    return (not label or proposal.label == label) and (not rule or proposal.rule == rule)


def waiting_for(
    memory: Memory, ids: Sequence[str], *, every: bool = False, label: str = "", rule: str = ""
) -> list[Waiting]:
    """The proposals named by id or a unique beginning, or with ``every`` all of a label and rule.

    Raises `NotFound` (with what was decided, when something was), `InvalidDocument` for an ambiguous one, and
    what the system says of a file among them that cannot be read: nobody knows whether it is meant.
    """
    if every:
        return [one for one in all_waiting(memory.layout) if _matches(one.proposal, label, rule)]
    paths = {proposal_id(path): path for path in file_names(memory.layout)}
    paths.pop("", None)
    chosen = dict.fromkeys(_resolved(memory, given, paths) for given in ids)
    return [proposals_read(memory.layout, paths[id]) for id in chosen]


def _resolved(memory: Memory, given: str, known: Collection[str]) -> str:
    wanted = given.strip().upper().removeprefix("PATCH_")
    matches = sorted(id for id in known if wanted and id.startswith(f"patch_{wanted}"))
    if len(matches) == 1:
        return matches[0]
    if matches:
        raise InvalidDocument(
            f"{given!r} is the beginning of {len(matches)} proposals",
            hint=f"one of: {', '.join(matches[:8])}",
        )
    memory.refresh()
    decided = decision_about(memory, f"patch_{wanted}")
    if decided is not None:
        who = str(decided.origin.get("author", "")) or decided.actor
        raise NotFound(
            f"{given} waits no more: {decided.body.get(DECISION)} by {who} on {decided.ts[:10]}",
            hint=f"see `thunderus-mem events show {decided.id}`",
        )
    raise NotFound(f"no proposal has the id {given!r}", hint="`thunderus-mem patch list` shows what waits")


def patch_show(memory: Memory, id: str) -> ShownProposal:
    """One proposal: why, on what evidence, what it changes, and whether it still fits."""
    memory.refresh()
    (waiting,) = waiting_for(memory, [id])
    committed = CommittedTexts(memory.git)
    found = committed.fetching(lambda: rebase(memory, waiting.proposal, committed))
    proposal = waiting.proposal
    if found.state == "moved":
        proposal = proposal._replace(edits=tuple(_edited(edit) for edit in found.edits))
    changes = tuple(_changes(proposal.edits))
    return ShownProposal(
        _listed(memory, waiting), proposal.evidence, found.state, found.problem, changes, waiting.path
    )


def _changes(edits: Sequence[ProposedEdit]) -> Iterator[ProposedChange]:
    """The edits as they are told: the two of a renaming that changes nothing else are one."""
    departs: ProposedEdit | None = None
    for one, following in zip(edits, (*edits[1:], None), strict=True):
        if departs is not None:
            yield ProposedChange(one.path, one.doc_id, one.op, "", departs.path)
            departs = None
        elif one.renames and following is not None and one.before == following.after:
            departs = one
        else:
            yield ProposedChange(one.path, one.doc_id, one.op, one.diff)


def _edited(edit: FileChange) -> ProposedEdit:
    return ProposedEdit.between(edit.path, edit.doc_id, edit.before, edit.after, renames=edit.renames)


def patch_rebase(memory: Memory, ids: Sequence[str]) -> RebaseReport:
    """Make the diffs of proposals anew against what is there now; the ids stay. What is in the way is told.

    Raises `Conflict` when a file of the queue changes meanwhile.
    """
    settle(memory, "patch rebase")
    memory.refresh()
    committed = CommittedTexts(memory.git)
    chosen = waiting_for(memory, ids)
    found = committed.fetching(lambda: [rebase(memory, one.proposal, committed) for one in chosen])
    with held(memory.layout.lock_file, timeout=memory.config.write_lock_timeout, command="patch rebase"):
        return RebaseReport(tuple(_rebased(memory, one, how) for one, how in zip(chosen, found, strict=True)))


def _rebased(memory: Memory, waiting: Waiting, how: Rebase) -> RebasedProposal:
    if how.state != "moved":
        return RebasedProposal(waiting.proposal.id, how.state, how.problem)
    write(
        memory.layout,
        waiting.proposal._replace(edits=tuple(_edited(edit) for edit in how.edits)),
        expecting=waiting.hash,
    )
    return RebasedProposal(waiting.proposal.id, "rebased")
