"""A plan of the gardener shown with its diffs, carried out, or filed for review, and what is said of each.

Reads the documents; `garden_apply` and `garden_propose` write through a transaction, after a snapshot in the
log.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from thunderus_mem.document.diff import unified_diff
from thunderus_mem.document.document import MAX_DOCUMENT, content_hash, read_document
from thunderus_mem.document.timestamp import format_precise
from thunderus_mem.errors import Conflict, NotFound, Refused, ThunderusError
from thunderus_mem.log.new_event import PatchLinks
from thunderus_mem.memory.journal import USUAL_MODE, FileChange
from thunderus_mem.memory.proposals import Proposal, ProposedEdit, needs_review, write
from thunderus_mem.memory.transaction import Written, open_transaction, resolve_actor
from thunderus_mem.review.queue import queue_state
from thunderus_mem.store.files import ABSENT, permissions, read_file
from thunderus_mem.store.paths import inside

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from thunderus_mem.garden.plan import DocumentEdit, Plan, Reach, Step
    from thunderus_mem.memory.memory import Memory
    from thunderus_mem.memory.transaction import Transaction


@dataclass(frozen=True, slots=True)
class PlannedEdit:
    """One file of a step: ``op`` is create, update, remove or rename (``moved_from`` is its old path then);
    ``diff`` shows it, ``None`` where it is too long to."""

    path: str
    doc_id: str
    op: str
    diff: str | None
    moved_from: str = ""


@dataclass(frozen=True, slots=True)
class PlannedStep:
    """A step as it is told: what, why, on what evidence, how far it may go (``reach``), and what it changes.

    ``key`` is what a decision about it is remembered by.
    """

    action: str
    why: str
    evidence: tuple[str, ...]
    targets: tuple[str, ...]
    rule: str
    reach: Reach
    label: str
    key: str
    edits: tuple[PlannedEdit, ...] = ()


@dataclass(frozen=True, slots=True)
class PlanReport:
    """What the gardener would do.

    ``steps`` are those shown, ``left_out`` how many more there are. ``to_apply``, ``to_propose`` and
    ``to_report`` count all of them; ``decided`` steps were turned down, ``waiting`` ones are filed already,
    ``expired`` proposals wait for longer than they should.
    """

    steps: tuple[PlannedStep, ...]
    left_out: int
    to_apply: int
    to_propose: int
    to_report: int
    decided: int
    waiting: int
    expired: int = 0


@dataclass(frozen=True, slots=True)
class AppliedStep:
    """A step that was carried out, and the event that says so."""

    action: str
    why: str
    targets: tuple[str, ...]
    event_id: str


@dataclass(frozen=True, slots=True)
class SkippedStep:
    """A step whose documents somebody changed meanwhile; ``why`` names the file."""

    action: str
    why: str
    targets: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FiledStep:
    """A step in the review queue, by the id of its proposal."""

    id: str
    action: str
    why: str
    targets: tuple[str, ...]
    label: str


@dataclass(frozen=True, slots=True)
class Applied:
    """What `garden_apply` did, by step and by file. ``reported`` are the steps that only a person can decide,
    ``skipped`` those that no longer fit what is on disk: the next plan looks anew.

    ``op`` of a file is ``update`` or ``remove``; its text is left out, the log has it.
    ``published`` is false when an event is on disk but a file is not yet: the next command puts it there.
    ``snapshot_id`` names what to go back to ("" when nothing was done), ``proposals`` the steps left for
    `garden_propose`, ``waiting`` counts those that are filed already; ``filed`` are steps that an agent may
    not carry out itself.
    """

    steps: tuple[AppliedStep, ...]
    reported: tuple[Step, ...]
    written: tuple[Written, ...] = ()
    recorded: tuple[str, ...] = ()
    published: bool = True
    skipped: tuple[SkippedStep, ...] = ()
    snapshot_id: str = ""
    proposals: tuple[Step, ...] = ()
    waiting: int = 0
    filed: tuple[FiledStep, ...] = ()


@dataclass(frozen=True, slots=True)
class Filed:
    """What `garden_propose` filed, and how many steps were ``waiting`` already.

    ``skipped`` are steps that no longer fit, or cannot be filed.
    """

    proposals: tuple[FiledStep, ...]
    waiting: int
    reported: tuple[Step, ...] = ()
    recorded: tuple[str, ...] = ()
    skipped: tuple[SkippedStep, ...] = ()


def _file_change(memory: Memory, edit: DocumentEdit) -> FileChange:
    """The planned edit against the text on disk; `Conflict` when that is not the text it was planned from.

    A file that is there and cannot be read has not changed: that error is raised as it is.
    """
    try:
        data = read_file(inside(memory.root, edit.path), MAX_DOCUMENT)
        document = read_document(edit.path, data).document
        found, text = (document.hash, document.text) if document is not None else (None, None)
    except NotFound:
        found, text = ABSENT, None
    if found != edit.before:
        raise Conflict(
            f"{edit.path} has changed since the plan was made", hint="plan again with `thunderus-mem garden`"
        )
    return FileChange(edit.doc_id, edit.path, text, edit.after_text, edit.renames)


def garden_report(memory: Memory, plan: Plan, *, limit: int = 0) -> PlanReport:
    """The plan as it is told, with diffs; only the first ``limit`` steps when that is not 0."""
    shown = plan.steps[:limit] if limit else plan.steps
    laid: dict[str, str | None] = {}
    return PlanReport(
        tuple([_planned(memory, step, laid) for step in shown]),
        len(plan.steps) - len(shown),
        len(plan.applicable),
        len(plan.proposals),
        len(plan.reports),
        plan.decided,
        plan.waiting,
        queue_state(memory).expired,
    )


def _planned(memory: Memory, step: Step, laid: dict[str, str | None]) -> PlannedStep:
    """A step as it is told; ``laid`` are the texts that the steps before it leave, by path."""
    told = PlannedStep(
        step.action,
        step.why,
        step.evidence,
        step.targets,
        step.rule,
        step.extent,
        step.label,
        step.key,
        tuple(_planned_edits(memory, step.edits, laid)),
    )
    if step.extent == "apply":
        laid.update((edit.path, edit.after_text) for edit in step.edits)
    return told


def _planned_edits(
    memory: Memory, edits: Iterable[DocumentEdit], laid: Mapping[str, str | None]
) -> Iterator[PlannedEdit]:
    """The edits of a step as they are told; the two of a renaming as one."""
    departed: dict[str, FileChange] = {}
    for edit in edits:
        made = _made(memory, edit, laid)
        if made is None:  # changed meanwhile: the next plan shows it
            yield PlannedEdit(edit.path, edit.doc_id, "", None)
        elif made.renames and made.after is None:
            departed[made.doc_id] = made
        else:
            old = departed.pop(made.doc_id, None) if made.renames else None
            before, moved_from = (old.before, old.path) if old is not None else (made.before, "")
            diff = unified_diff(before, made.after, made.path)
            yield PlannedEdit(made.path, made.doc_id, made.op, diff, moved_from)
    for made in departed.values():
        yield PlannedEdit(made.path, made.doc_id, made.op, unified_diff(made.before, None, made.path))


def _made(memory: Memory, edit: DocumentEdit, laid: Mapping[str, str | None]) -> FileChange | None:
    """An edit on the text it was planned from, on disk or left by a step before; ``None`` when it is gone."""
    before = laid.get(edit.path)
    if before is not None and content_hash(before) == edit.before:
        return FileChange(edit.doc_id, edit.path, before, edit.after_text, edit.renames)
    try:
        return _file_change(memory, edit)
    except ThunderusError:
        return None


_MOST_TOLD = 2_000
"""Documents that a snapshot lists; of more it says how many."""


def is_reviewed(memory: Memory, *, actor: str = "user") -> bool:
    """Whether steps of whoever runs this may be filed instead of carried out: the plan is made ``apart``
    then."""
    return memory.config.review_agents == "propose" and resolve_actor(memory.environ, actor) == "agent"


def garden_apply(memory: Memory, plan: Plan, *, actor: str = "user") -> Applied:
    """Carry out every step of ``plan`` that may go by itself, each as its own event, after a snapshot.

    A step whose documents have changed since is left out, and named in ``skipped``. Steps of an agent whose
    changes are reviewed are ``filed`` instead.
    """
    if not plan.applicable:
        return Applied((), plan.reports, proposals=plan.proposals, waiting=plan.waiting)
    who = resolve_actor(memory.environ, actor)
    reviewed = [
        step
        for step in plan.applicable
        if needs_review(memory.config, who, step.op, [edit.path for edit in step.edits])
    ]
    done: list[AppliedStep] = []
    written: list[Written] = []
    snapshot = ""
    with open_transaction(memory, "garden") as transaction:
        filed, skipped = _filed(memory, reviewed, actor)
        for step in plan.applicable:
            if step in reviewed:
                continue
            try:
                edits = [_file_change(memory, edit) for edit in step.edits]
                snapshot = snapshot or _snapshot(memory, transaction, plan, actor)
                links = PatchLinks(private=step.private, snapshot=snapshot)
                event = transaction.commit(step.op, edits, why=step.why, actor=actor, links=links)
            except Conflict as error:
                skipped.append(SkippedStep(step.action, str(error), step.targets))
                continue
            done.append(AppliedStep(step.action, step.why, step.targets, event))
            written += [Written(edit.doc_id, edit.path, edit.op, event) for edit in edits]
    return Applied(
        tuple(done),
        plan.reports,
        tuple(written),
        transaction.outcome.recorded,
        transaction.outcome.published,
        tuple(skipped),
        snapshot,
        plan.proposals,
        plan.waiting,
        tuple(filed),
    )


def _snapshot(memory: Memory, transaction: Transaction, plan: Plan, actor: str) -> str:
    """Log what the documents are that the plan is about to touch; returns the snapshot's id."""
    id = memory.new_id("snap")
    touched = {edit.path: edit for step in reversed(plan.applicable) for edit in reversed(step.edits)}
    told = [touched[path] for path in sorted(touched)][:_MOST_TOLD]
    left = {"left_out": len(touched) - len(told)} if len(touched) > len(told) else {}
    transaction.snapshot(
        id,
        {
            "command": "garden",
            "commit": transaction.head or None,
            "plan": digest(plan),
            "documents": [_in_snapshot(memory, edit) for edit in told],
            **left,
        },
        tuple(dict.fromkeys(edit.doc_id for edit in told if edit.doc_id)),
        why="before the gardener's steps",
        actor=actor,
    )
    return id


def _in_snapshot(memory: Memory, edit: DocumentEdit) -> dict[str, str]:
    """A document as a snapshot tells of it."""
    mode = permissions(inside(memory.root, edit.path))
    other = {"mode": f"{mode:o}"} if mode not in (0, USUAL_MODE) else {}
    return {"id": edit.doc_id, "path": edit.path, "hash": edit.before, **other}


def digest(plan: Plan) -> str:
    """What tells one plan from another: a hash over the steps that would be carried out."""
    told = [(step.rule, step.action, step.targets, step.edits) for step in plan.applicable]
    return "sha256:" + hashlib.sha256(repr(told).encode("utf-8", "surrogatepass")).hexdigest()


def garden_propose(memory: Memory, plan: Plan, *, actor: str = "user") -> Filed:
    """File every step that changes something for review (of a plan whose steps are each made ``apart``); what
    is filed already is not filed again.

    A step whose documents have changed since, or that cannot be filed, is named in ``skipped``.
    """
    steps = (*plan.applicable, *plan.proposals)
    if not steps:
        return Filed((), plan.waiting, plan.reports)
    with open_transaction(memory, "garden") as transaction:
        filed, skipped = _filed(memory, steps, actor)
    return Filed(tuple(filed), plan.waiting, plan.reports, transaction.outcome.recorded, tuple(skipped))


def _filed(memory: Memory, steps: Sequence[Step], actor: str) -> tuple[list[FiledStep], list[SkippedStep]]:
    """File steps, and say which could not be; under the lock."""
    filed: list[FiledStep] = []
    skipped: list[SkippedStep] = []
    origin = memory.origin() if steps else {}
    for step in steps:
        id = memory.new_id("patch")
        try:
            edits = tuple(_proposed(_file_change(memory, edit)) for edit in step.edits)
            proposal = Proposal(
                id,
                format_precise(memory.now()),
                resolve_actor(memory.environ, actor),
                step.op,
                step.why,
                step.targets,
                edits,
                dict(origin),
                step.rule,
                step.action,
                step.label,
                step.evidence,
                step.key,
                tuple(sorted(step.texts)),
                step.private,
            )
            write(memory.layout, proposal)
        except (Conflict, Refused) as error:
            skipped.append(SkippedStep(step.action, str(error), step.targets))
            continue
        filed.append(FiledStep(id, step.action, step.why, step.targets, step.label))
    return filed, skipped


def _proposed(change: FileChange) -> ProposedEdit:
    return ProposedEdit.between(
        change.path, change.doc_id, change.before, change.after, renames=change.renames
    )
