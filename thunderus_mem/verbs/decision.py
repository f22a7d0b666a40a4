"""A decision about a proposal: as a value, as the log has it, and what is checked before."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from thunderus_mem.model.document import read_document
from thunderus_mem.model.edit import insert_item
from thunderus_mem.model.errors import InvalidDocument
from thunderus_mem.model.timestamp import utc_key
from thunderus_mem.projection.log_index import read as read_events
from thunderus_mem.store.layout import kind_of
from thunderus_mem.verbs.decided import DECISION

if TYPE_CHECKING:
    from collections.abc import Sequence

    from thunderus_mem.memory import Memory
    from thunderus_mem.model.proposal import Proposal
    from thunderus_mem.store.edits import Edit, Ids
    from thunderus_mem.verbs.written import Written

__all__ = [
    "APPROVED", "EXPIRED", "REJECTED", "Decided", "Decision", "body", "check", "doc_ids", "history", "is_own",
    "sourced",
]  # fmt: skip

APPROVED, REJECTED, EXPIRED = "approved", "rejected", "expired"


class Decision(NamedTuple):
    """What became of one proposal.

    ``state`` is approved, rejected or expired. A proposal that stays is moved (its documents changed since,
    and it fits all the same: somebody should look first), in conflict, gone (a document of it is), there
    (what it wants is so already), refused or invalid; ``applied`` means that it was approved before, and the
    file that was left is gone now. ``problem`` says what is in the way, or why it expired (as ``superseded by
    patch_…``). ``code`` is the
    exit code.
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
    """What was decided, proposal by proposal, and the files written.

    ``planned``: nothing was written on purpose. ``published`` is false when an event is on disk but a file is
    not yet: the next command puts it there.
    """

    decisions: tuple[Decision, ...]
    written: tuple[Written, ...] = ()
    recorded: tuple[str, ...] = ()
    published: bool = True
    planned: bool = False

    @property
    def code(self) -> int:
        """The exit code of the first proposal that was left undecided; 0 when there is none."""
        return next((one.code for one in self.decisions if one.code), 0)


def is_own(proposal: Proposal, actor: str) -> bool:
    """Whether who decides is of the kind that proposed: one agent cannot be told from another for sure."""
    return actor == "agent" and proposal.actor == "agent"


def body(proposal: Proposal, decision: str) -> dict[str, object]:
    """What the approval that holds a decision says."""
    return {
        "action": "patch",
        "approved": decision == APPROVED,
        DECISION: decision,
        "proposed": proposal.op,
        "rule": proposal.rule,
        "label": proposal.label,
        "key": proposal.key,
        "texts": [{"id": id, "digest": digest} for id, digest in proposal.texts],
    }


def doc_ids(proposal: Proposal) -> tuple[str, ...]:
    """The documents a proposal is about."""
    named = (*proposal.targets, *(edit.doc_id for edit in proposal.edits))
    return tuple(dict.fromkeys(id for id in named if id))


def history(memory: Memory, proposal: Proposal) -> tuple[str, str]:
    """What the log knows of an approval before this one: the event of it, and that of the change it led to.

    A killed command leaves the first without the second; a merge may bring a proposal back after both.
    """
    approval = applied = ""
    index, since = memory.log_index(), utc_key(proposal.created)
    for rows in index.in_order(kinds=("approval", "patch"), doc_ids=doc_ids(proposal), since=since):
        for entry in read_events(memory.log, rows):
            if entry.event.refs.get("patch_id") != proposal.id:
                continue
            if entry.event.kind == "patch":
                applied = entry.event.id
            elif entry.event.body.get(DECISION) == APPROVED:
                approval = entry.event.id
    return approval, applied


def sourced(edit: Edit, approval: str, ids: Ids) -> Edit:
    """The edit; a new document names what it was made from: the decision, and the patch that follows it."""
    if edit.before is not None or edit.after is None or edit.renames or kind_of(edit.path) is None:
        return edit
    text = edit.after
    for name, item in (("events", approval), ("events", ids.event), ("patches", ids.patch)):
        text = insert_item(text, ("provenance", name), item)
    return edit._replace(after=text)


def check(memory: Memory, edits: Sequence[Edit]) -> None:
    """Raise for what no writing command would write: a proposal may come from anybody."""
    from thunderus_mem.verbs.checking import checked

    moved = {edit.before for edit in edits if edit.renames}
    for edit in edits:
        _check_is_meant(edit)
        if edit.after is None or kind_of(edit.path) is None or edit.after in moved:
            continue
        before = next((one.before for one in edits if one.renames), None) if edit.renames else edit.before
        document, _ = checked(memory, edit.path, edit.after, before=before)
        if edit.doc_id and document.id != edit.doc_id:
            raise InvalidDocument(
                f"{edit.path} would hold {document.id}, and the proposal says {edit.doc_id}",
                hint="reject it: it was not written by this tool",
            )


def _check_is_meant(edit: Edit) -> None:
    """Raise when the file holds another document than the proposal says: that one was not decided about."""
    if edit.before is None or not edit.doc_id:
        return
    there = read_document(edit.path, edit.before.encode("utf-8", "surrogateescape")).document
    if there is not None and there.id != edit.doc_id:
        raise InvalidDocument(
            f"{edit.path} holds {there.id}, and the proposal says {edit.doc_id}",
            hint="reject it: it was not written by this tool",
        )
