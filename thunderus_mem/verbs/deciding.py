"""Decisions about proposals: approve, reject, expire. Each is an event; the proposal's file goes with it."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from thunderus_mem.garden.filing import acting
from thunderus_mem.model.errors import Busy, Conflict, InvalidDocument, NotWritable, Refused, ThunderusError
from thunderus_mem.store.edits import Edit, Ids
from thunderus_mem.store.files import remove_file
from thunderus_mem.store.paths import inside
from thunderus_mem.store.proposals import age, all_waiting, discard
from thunderus_mem.transaction.opening import settle
from thunderus_mem.verbs.asking_git import Committed, asking
from thunderus_mem.verbs.decision import (
    APPROVED,
    EXPIRED,
    REJECTED,
    Decided,
    Decision,
    body,
    check,
    doc_ids,
    history,
    is_own,
    sourced,
)
from thunderus_mem.verbs.fitting import fit
from thunderus_mem.verbs.proposing import waiting_for
from thunderus_mem.verbs.written import Written

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from thunderus_mem.memory import Memory
    from thunderus_mem.model.proposal import Proposal
    from thunderus_mem.store.proposals import Waiting
    from thunderus_mem.transaction.writing import Writing
    from thunderus_mem.verbs.fitting import State

__all__ = ["Decided", "Decision", "patch_approve", "patch_expire", "patch_reject"]

_LEFT = Decision(
    "", "left", (), problem="the disk refused before it was its turn", hint="approve it again", code=6
)
_HINTS = {
    "conflict": "reject it, or make the change anew: thunderus-mem edit",
    "gone": "it leads nowhere any more: thunderus-mem patch expire",
    "there": "nothing is left to do: thunderus-mem patch expire",
}


class _Deciding:
    """One command that decides: what it wrote so far, and what is left to do."""

    def __init__(self, memory: Memory, left: Sequence[Waiting], why: str, actor: str) -> None:
        self.memory = memory
        self.left = list(left)
        self.why = why
        self.actor = acting(memory.environ, actor)
        self.committed = Committed(memory.git)
        self.decisions: list[Decision] = []
        self.written: list[Written] = []
        self.recorded: tuple[str, ...] = ()
        self.published = True
        self.applied: dict[str, str] = {}
        """Paths that this command changed, each with the proposal that did."""

    def told(self) -> Decided:
        """The answer."""
        return Decided(tuple(self.decisions), tuple(self.written), self.recorded, self.published)

    def approve(self, *, rebase: bool) -> Decided:
        """Approve what is left; what git has is fetched between two attempts, without the lock."""

        def attempt() -> None:
            with self.memory.writing("patch approve") as transaction:
                self.recorded += transaction.recorded
                while self.left:
                    self.decisions.append(self._approved(transaction, self.left[0], rebase=rebase))
                    del self.left[0]
                    if transaction.pending:  # the disk refuses: what comes next may need that file
                        break
                    self.memory.refresh()
                self.decisions += [_LEFT._replace(id=one.proposal.id) for one in self.left]
            self.published = self.published and not transaction.pending

        if self.left:
            self.memory.refresh()
            asking(self.committed, self._look)
            asking(self.committed, attempt)
        return self.told()

    def _look(self) -> None:
        """Have git asked, without the lock, for what the proposals that moved were made from."""
        for one in self.left:
            with suppress(ThunderusError):  # told when it is its turn
                fit(self.memory, one.proposal, self.committed)

    def _approved(self, transaction: Writing, waiting: Waiting, *, rebase: bool) -> Decision:
        """Approve one proposal, or say what is in the way."""
        proposal = waiting.proposal
        stays = Decision(proposal.id, "", proposal.targets)
        try:
            former, applied = history(self.memory, proposal)
            if applied:
                remove_file(inside(self.memory.root, waiting.path), expecting=waiting.hash)
                return stays._replace(state="applied", event_id=applied, problem="it was applied before")
            if is_own(proposal, self.actor) and not self.memory.config.review_self_approval:
                return stays._replace(
                    state="refused",
                    code=5,
                    problem="an agent made it, so an agent cannot approve it",
                    hint="a person does, or review.self_approval allows it",
                )
            how = fit(self.memory, proposal, self.committed)
            if how.state not in ("fits", "moved"):
                if moot := self._moot(proposal, how.state):
                    return self.dismiss(transaction, waiting, EXPIRED, moot)
                return stays._replace(state=how.state, problem=how.problem, hint=_HINTS[how.state], code=3)
            if how.state == "moved" and not rebase:
                return stays._replace(
                    state="moved",
                    code=Conflict.exit_code,
                    problem="its documents were changed since; it fits all the same",
                    hint=f"look again: thunderus-mem patch show {proposal.id}; then approve with --rebase",
                )
            return self._carried_out(transaction, waiting, how.edits, former)
        except (InvalidDocument, Conflict, Refused) as error:
            if transaction.pending:
                raise
            state = {3: "conflict", 5: "refused"}.get(error.exit_code, "invalid")
            return stays._replace(
                state=state, problem=str(error), hint=error.hint or "", code=error.exit_code
            )

    def _moot(self, proposal: Proposal, state: State) -> str:
        """Why nobody has to decide about a proposal that does not fit: one approved just before has done what
        it wants, or has changed what a step of the gardener is about. "" when somebody has to."""
        by = next((self.applied[edit.path] for edit in proposal.edits if edit.path in self.applied), "")
        return f"superseded by {by}" if by and (proposal.rule or state == "there") else ""

    def _carried_out(
        self, transaction: Writing, waiting: Waiting, edits: Sequence[Edit], former: str
    ) -> Decision:
        proposal, memory = waiting.proposal, self.memory
        approval = former or memory.new_id("evt")
        ids = Ids(memory.new_id("evt"), proposal.id)
        made = [sourced(edit, approval, ids) for edit in edits]
        check(memory, made)
        if not former:
            transaction.approve(
                body(proposal, APPROVED), doc_ids(proposal), why=self.why, actor=self.actor, id=approval,
                patch=proposal.id,
            )  # fmt: skip
        event = transaction.commit(
            proposal.op,
            made,
            about=proposal.targets,
            why=self.why or proposal.why,
            actor=self.actor,
            ids=ids,
            drops=discard(waiting),
            private=proposal.private,
            reviewed=True,
        )
        self.written += [Written(edit.doc_id, edit.path, edit.op, event.id) for edit in made]
        self.applied |= {edit.path: proposal.id for edit in made}
        return Decision(proposal.id, APPROVED, proposal.targets, approval, event.id)

    def dismiss(self, transaction: Writing, waiting: Waiting, decision: str, why: str) -> Decision:
        """Log a decision that changes no document, and take the proposal away."""
        proposal = waiting.proposal
        event = transaction.approve(
            body(proposal, decision),
            doc_ids(proposal),
            why=why,
            actor=self.actor,
            patch=proposal.id,
            drops=discard(waiting),
        )
        problem = why if decision == EXPIRED else ""
        return Decision(proposal.id, decision, proposal.targets, event.id, problem=problem)


def patch_approve(
    memory: Memory,
    ids: Sequence[str] = (),
    *,
    every: bool = False,
    label: str = "",
    rule: str = "",
    rebase: bool = False,
    why: str = "",
    actor: str = "user",
) -> Decided:
    """Write what proposals want: an approval, the patch, and the proposal is gone.

    One whose documents changed since is written only with ``rebase``, and only where the changes are in other
    places of the text. What cannot be approved stays, and is told; but what an earlier one of the same call
    has done, and what the gardener has to plan anew after it, expires. Raises `NotFound` for an id that
    waits not.
    """
    settle(memory, "patch approve")
    chosen = waiting_for(memory, ids, every=every, label=label, rule=rule)
    return _Deciding(memory, chosen, why, actor).approve(rebase=rebase)


def patch_reject(
    memory: Memory,
    ids: Sequence[str] = (),
    *,
    every: bool = False,
    label: str = "",
    rule: str = "",
    why: str,
    actor: str = "user",
) -> Decided:
    """Turn proposals down. The gardener plans the same step again only when one of its texts has changed."""
    if not why.strip():
        raise InvalidDocument("a rejection needs a reason", hint="give it with -m")
    settle(memory, "patch reject")
    deciding = _Deciding(memory, waiting_for(memory, ids, every=every, label=label, rule=rule), why, actor)
    if not deciding.left:
        return deciding.told()
    with memory.writing("patch reject") as transaction:
        deciding.recorded = transaction.recorded
        for waiting in deciding.left:
            deciding.decisions.append(deciding.dismiss(transaction, waiting, REJECTED, why))
    deciding.published = not transaction.pending
    return deciding.told()


def patch_expire(
    memory: Memory, *, older_than: int | None = None, plan: bool = False, why: str = "", actor: str = "user"
) -> Decided:
    """Take away proposals that nobody decided in ``older_than`` days (``review.expires_days`` by default),
    those about documents that are gone, and those whose change is there already. With ``plan`` only say so.
    """
    if not plan:
        settle(memory, "patch expire")
    memory.refresh()
    deciding = _Deciding(memory, (), why, actor)
    limit = memory.config.review_expires_days if older_than is None else older_than
    found = asking(deciding.committed, lambda: list(_expired(memory, deciding.committed, limit)))
    if plan or not found:
        decisions = tuple(
            Decision(one.proposal.id, EXPIRED, one.proposal.targets, problem=reason) for one, reason in found
        )
        return Decided(decisions, planned=plan)
    with memory.writing("patch expire") as transaction:
        deciding.recorded = transaction.recorded
        for waiting, reason in found:
            told = f"{why}: {reason}" if why else reason
            deciding.decisions.append(deciding.dismiss(transaction, waiting, EXPIRED, told))
    deciding.published = not transaction.pending
    return deciding.told()


def _expired(memory: Memory, committed: Committed, limit: int) -> Iterator[tuple[Waiting, str]]:
    now = memory.now()
    for waiting in all_waiting(memory.layout):
        days = age(waiting.path, now) or 0
        if days > limit:
            yield waiting, f"nobody decided in {days} days"
            continue
        try:
            how = fit(memory, waiting.proposal, committed)
        except (NotWritable, Busy):  # the system does not let us see what it leads to
            raise
        except ThunderusError:  # one that leads nowhere is lint's to tell, and a person's to decide
            continue
        if how.state in ("gone", "there"):
            yield waiting, how.problem
