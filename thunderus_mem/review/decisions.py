"""Decisions about proposals: approve, reject, expire. Each one is an event and deletes the proposal's file.

Approving runs the same checks as any writing command, and writes the documents.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from thunderus_mem.document.document import read_document
from thunderus_mem.document.frontmatter.edit import insert_item
from thunderus_mem.document.timestamp import utc_key
from thunderus_mem.errors import Busy, Conflict, InvalidDocument, NotWritable, Refused, ThunderusError
from thunderus_mem.index.log import read as read_events
from thunderus_mem.lint.draft import validate
from thunderus_mem.log.actor import refuse_tool
from thunderus_mem.log.event import is_own_patch
from thunderus_mem.log.new_event import Ids, PatchLinks
from thunderus_mem.memory.past_texts import CommittedTexts
from thunderus_mem.memory.proposals import age, all_waiting
from thunderus_mem.memory.transaction import Written, open_transaction, settle
from thunderus_mem.review.queue import DECISION, decision_of, rebase, waiting_for
from thunderus_mem.safety.secrets import redacted
from thunderus_mem.startup import NamedTuple
from thunderus_mem.store.files import remove_file
from thunderus_mem.store.paths import inside, kind_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from thunderus_mem.memory.journal import FileChange
    from thunderus_mem.memory.memory import Memory
    from thunderus_mem.memory.proposals import Proposal, Waiting
    from thunderus_mem.memory.transaction import Transaction
    from thunderus_mem.review.queue import State

APPROVED, REJECTED, EXPIRED = "approved", "rejected", "expired"


class Decision(NamedTuple):
    """The result for one proposal.

    ``state`` is approved, rejected or expired. A proposal still pending is moved (it applies, but its
    documents have changed and should be reviewed first), in conflict, gone (a document is missing), there
    (already applied), refused or invalid; ``applied`` means that it was approved before and only its leftover
    file was deleted. ``problem`` is the reason (e.g. ``superseded by patch_…``). ``code`` is the exit code.
    """

    id: str
    state: str
    targets: tuple[str, ...]
    approval_id: str = ""
    event_id: str = ""
    problem: str = ""
    hint: str = ""
    code: int = 0


class Decided(NamedTuple):
    """The results by proposal, and the files written.

    ``planned``: a dry run, nothing was written. ``published`` is false if an event is on disk but a file is
    not yet; the next command writes it.
    """

    decisions: tuple[Decision, ...]
    written: tuple[Written, ...] = ()
    recorded: tuple[str, ...] = ()
    published: bool = True
    planned: bool = False

    @property
    def code(self) -> int:
        """The exit code of the first proposal that is still pending; 0 if there is none."""
        return next((one.code for one in self.decisions if one.code), 0)


def _is_own(proposal: Proposal, actor: str) -> bool:
    """Whether an agent decides on an agent's proposal: agents cannot be reliably distinguished."""
    return actor == "agent" and proposal.actor == "agent"


def _body(proposal: Proposal, decision: str) -> dict[str, object]:
    """The body of the approval event for a decision."""
    return {
        "action": "patch",
        "approved": decision == APPROVED,
        DECISION: decision,
        "proposed": proposal.op,
        "proposed_by": proposal.actor,
        "rule": proposal.rule,
        "label": proposal.label,
        "key": proposal.key,
        "texts": [{"id": id, "digest": digest} for id, digest in proposal.texts],
    }


def _doc_ids(proposal: Proposal) -> tuple[str, ...]:
    """The documents a proposal is about."""
    named = (*proposal.targets, *(edit.doc_id for edit in proposal.edits))
    return tuple(dict.fromkeys(id for id in named if id))


def _earlier(memory: Memory, proposal: Proposal) -> tuple[str, str]:
    """The events of an earlier approval of the proposal and of its change, "" if not in the log.

    A killed command leaves the first without the second; a merge may restore a proposal after both.
    """
    approval = applied = ""
    index, since = memory.log_index(), utc_key(proposal.created)
    for rows in index.in_order(kinds=("approval", "patch"), doc_ids=_doc_ids(proposal), since=since):
        for entry in read_events(memory.log, rows):
            if entry.event.refs.get("patch_id") != proposal.id:
                continue
            if is_own_patch(entry.event):
                applied = entry.event.id
            elif decision_of(entry.event) == APPROVED:
                approval = entry.event.id
    return approval, applied


def _with_sources(edit: FileChange, approval: str, ids: Ids) -> FileChange:
    """Add the decision and its patch to the provenance of a new document."""
    if edit.before is not None or edit.after is None or edit.renames or kind_of(edit.path) is None:
        return edit
    text = edit.after
    for name, item in (("events", approval), ("events", ids.event), ("patches", ids.patch)):
        text = insert_item(text, ("provenance", name), item)
    return edit._replace(after=text)


def _check(memory: Memory, edits: Sequence[FileChange]) -> None:
    """Raise if a writing command would reject the edits: proposals can come from anyone."""
    moved = {edit.before for edit in edits if edit.renames}
    for edit in edits:
        _check_is_meant(edit)
        if edit.after is None or kind_of(edit.path) is None or edit.after in moved:
            continue
        before = next((one.before for one in edits if one.renames), None) if edit.renames else edit.before
        document, _ = validate(memory, edit.path, edit.after, before=before)
        if edit.doc_id and document.id != edit.doc_id:
            raise InvalidDocument(
                f"{edit.path} would contain {document.id!r}, but the proposal is about {edit.doc_id!r}",
                hint="reject it: it was not written by this tool",
            )


def _check_is_meant(edit: FileChange) -> None:
    """Raise if the file contains another document than the proposal is about."""
    if edit.before is None or not edit.doc_id:
        return
    current = read_document(edit.path, edit.before.encode("utf-8", "surrogateescape")).document
    if current is not None and current.id != edit.doc_id:
        raise InvalidDocument(
            f"{edit.path} contains {current.id!r}, but the proposal is about {edit.doc_id!r}",
            hint="reject it: it was not written by this tool",
        )


_LEFT = Decision(
    "", "left", (), problem="not attempted: an earlier write to disk failed", hint="approve it again", code=6
)
_HINTS = {
    "conflict": "reject it, or make the change again with `thunderus-mem edit`",
    "gone": "run `thunderus-mem review expire` to remove the proposal",
    "there": "nothing to do; run `thunderus-mem review expire` to remove the proposal",
}


class _Decider:
    """State of a command that decides proposals: results so far, and proposals left."""

    def __init__(self, memory: Memory, left: Sequence[Waiting], why: str) -> None:
        self.memory = memory
        self.left = list(left)
        self.why = why
        self.committed = CommittedTexts(memory.git)
        self.decisions: list[Decision] = []
        self.written: list[Written] = []
        self.recorded: tuple[str, ...] = ()
        self.published = True
        self.applied: dict[str, str] = {}
        """Paths changed by this command, each with the proposal that changed it."""

    def decided(self) -> Decided:
        """The result of the command."""
        return Decided(tuple(self.decisions), tuple(self.written), self.recorded, self.published)

    def approve(self, *, on_changed: bool) -> Decided:
        """Approve the remaining proposals; texts from git are fetched between attempts, without the lock."""

        def attempt() -> None:
            with open_transaction(self.memory, "review approve") as transaction:
                self.recorded += transaction.outcome.recorded
                while self.left:
                    self.decisions.append(self._approved(transaction, self.left[0], on_changed=on_changed))
                    del self.left[0]
                    if not transaction.outcome.published:
                        break  # a write failed, and the next proposal may need that file
                    self.memory.refresh()
                self.decisions += [_LEFT._replace(id=one.proposal.id) for one in self.left]
            self.published = self.published and transaction.outcome.published

        if self.left:
            self.memory.refresh()
            self.committed.fetching(self._look)
            self.committed.fetching(attempt)
        return self.decided()

    def _look(self) -> None:
        """Fetch from git, without the lock, the texts that changed documents had when they were proposed."""
        for one in self.left:
            with suppress(ThunderusError):  # reported when it is approved
                rebase(self.memory, one.proposal, self.committed)

    def _approved(self, transaction: Transaction, waiting: Waiting, *, on_changed: bool) -> Decision:
        """Approve one proposal, or report why it cannot be approved."""
        proposal = waiting.proposal
        stays = Decision(proposal.id, "", proposal.targets)
        try:
            former, applied = _earlier(self.memory, proposal)
            if applied:
                remove_file(inside(self.memory.root, waiting.path), expecting=waiting.hash)
                return stays._replace(state="applied", event_id=applied, problem="already applied")
            if _is_own(proposal, self.memory.actor) and not self.memory.config.review_self_approval:
                return stays._replace(
                    state="refused",
                    code=5,
                    problem="an agent cannot approve a proposal made by an agent",
                    hint="ask a person to approve it, or set `review.self_approval`",
                )
            how = rebase(self.memory, proposal, self.committed)
            if how.state not in ("fits", "moved"):
                if reason := self._superseded(proposal, how.state):
                    return self.dismiss(transaction, waiting, EXPIRED, reason)
                return stays._replace(state=how.state, problem=how.problem, hint=_HINTS[how.state], code=3)
            if how.state == "moved" and not on_changed:
                return stays._replace(
                    state="moved",
                    code=Conflict.exit_code,
                    problem="it needs a rebase, because its documents changed after it was proposed",
                    hint=f"see `thunderus-mem review show {proposal.id}`, then approve it with --rebase",
                )
            return self._write(transaction, waiting, how.edits, former)
        except (InvalidDocument, Conflict, Refused) as error:
            if not transaction.outcome.published:
                raise
            state = {3: "conflict", 5: "refused"}.get(error.exit_code, "invalid")
            return stays._replace(
                state=state, problem=str(error), hint=error.hint or "", code=error.exit_code
            )

    def _superseded(self, proposal: Proposal, state: State) -> str:
        """Why a proposal that does not apply can expire: one approved just before made the same change, or
        changed the documents of this step of the gardener. "" if it needs a decision."""
        by = next((self.applied[edit.path] for edit in proposal.edits if edit.path in self.applied), "")
        return f"superseded by {by}" if by and (proposal.rule or state == "there") else ""

    def _write(
        self, transaction: Transaction, waiting: Waiting, edits: Sequence[FileChange], former: str
    ) -> Decision:
        proposal, memory = waiting.proposal, self.memory
        approval = former or memory.new_id("evt")
        ids = Ids(memory.new_id("evt"), proposal.id)
        made = [_with_sources(edit, approval, ids) for edit in edits]
        _check(memory, made)
        if not former:
            transaction.approve(
                _body(proposal, APPROVED), _doc_ids(proposal), why=self.why, id=approval,
                patch=proposal.id,
            )  # fmt: skip
        event = transaction.commit(
            proposal.op,
            made,
            why=proposal.why or self.why,
            links=PatchLinks(about=proposal.targets, private=proposal.private),
            ids=ids,
            drops=(waiting.removal,),
            reviewed=True,
        )
        self.written += [Written(edit.doc_id, edit.path, edit.op, event) for edit in made]
        self.applied |= {edit.path: proposal.id for edit in made}
        return Decision(proposal.id, APPROVED, proposal.targets, approval, event)

    def dismiss_all(self, command: str, decision: str, reasons: Iterable[tuple[Waiting, str]]) -> Decided:
        """Record the decision for each proposal with its reason, without changing a document."""
        with open_transaction(self.memory, command) as transaction:
            for waiting, why in reasons:
                self.decisions.append(self.dismiss(transaction, waiting, decision, why))
        self.recorded, self.published = transaction.outcome.recorded, transaction.outcome.published
        return self.decided()

    def dismiss(self, transaction: Transaction, waiting: Waiting, decision: str, why: str) -> Decision:
        """Record a decision that changes no document, and delete the proposal."""
        proposal = waiting.proposal
        # The proposal is deleted, and the reason in it comes from anyone.
        reason = {"proposed_why": redacted(proposal.why)} if proposal.why else {}
        event = transaction.approve(
            _body(proposal, decision) | reason,
            _doc_ids(proposal),
            why=why,
            patch=proposal.id,
            drops=(waiting.removal,),
        )
        problem = why if decision == EXPIRED else ""
        return Decision(proposal.id, decision, proposal.targets, event, problem=problem)


def review_approve(
    memory: Memory,
    ids: Sequence[str] = (),
    *,
    every: bool = False,
    only: str = "",
    rebase: bool = False,
    why: str = "",
) -> Decided:
    """Approve proposals: log the approval and the patch, write the documents, delete the proposal.

    A proposal whose documents have changed since is approved only with ``rebase``, and only if the changes do
    not overlap. Proposals that cannot be approved stay and are reported. A proposal expires if an earlier one
    in the same call made its change, or made the gardener's step obsolete. Raises `NotFound` for an id that
    is not pending, `Refused` if the actor is a tool.
    """
    refuse_tool(memory.actor, "review approve")
    settle(memory, "review approve")
    chosen = waiting_for(memory, ids, every=every, only=only)
    return _Decider(memory, chosen, why).approve(on_changed=rebase)


def review_reject(
    memory: Memory,
    ids: Sequence[str] = (),
    *,
    every: bool = False,
    only: str = "",
    why: str,
) -> Decided:
    """Reject proposals. The gardener plans the same step again only if one of its documents changes.

    Raises `Refused` if the actor is a tool.
    """
    if not why.strip():
        raise InvalidDocument("a reason is required", hint="give it with -m")
    refuse_tool(memory.actor, "review reject")
    settle(memory, "review reject")
    decider = _Decider(memory, waiting_for(memory, ids, every=every, only=only), why)
    if not decider.left:
        return decider.decided()
    return decider.dismiss_all("review reject", REJECTED, [(one, why) for one in decider.left])


def review_expire(memory: Memory, *, dry_run: bool = False, why: str = "") -> Decided:
    """Delete proposals pending for more than ``review.expires_days`` days, those about missing documents, and
    those already applied. With ``dry_run`` only report them.
    """
    if not dry_run:
        settle(memory, "review expire")
    memory.refresh()
    decider = _Decider(memory, (), why)
    found = decider.committed.fetching(lambda: list(_expired(memory, decider.committed)))
    if dry_run or not found:
        decisions = tuple(
            Decision(one.proposal.id, EXPIRED, one.proposal.targets, problem=reason) for one, reason in found
        )
        return Decided(decisions, planned=dry_run)
    reasons = [(one, f"{why}: {reason}" if why else reason) for one, reason in found]
    return decider.dismiss_all("review expire", EXPIRED, reasons)


def _expired(memory: Memory, committed: CommittedTexts) -> Iterator[tuple[Waiting, str]]:
    now, limit = memory.now(), memory.config.review_expires_days
    for waiting in all_waiting(memory.layout):
        days = age(waiting.path, now) or 0
        if days > limit:
            yield waiting, f"pending for {days} days"
            continue
        try:
            how = rebase(memory, waiting.proposal, committed)
        except (NotWritable, Busy):  # the documents cannot be read now
            raise
        except ThunderusError:  # invalid proposals are reported by lint and left to people
            continue
        if how.state in ("gone", "there"):
            yield waiting, how.problem
