"""The verb `garden`: a plan to look at, and the plan carried out or filed for review."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from thunderus_mem.garden.filing import acting, must_be_reviewed, step_proposal
from thunderus_mem.garden.plan import Plan, make_plan
from thunderus_mem.garden.rules import RULE_NAMES, RULES
from thunderus_mem.garden.sequence import planned
from thunderus_mem.model.errors import Conflict, NotFound, NotWritable, Refused
from thunderus_mem.model.ids import closest
from thunderus_mem.model.timestamp import format_precise
from thunderus_mem.store.collector import paused
from thunderus_mem.store.edits import USUAL_MODE
from thunderus_mem.store.files import permissions
from thunderus_mem.store.paths import inside
from thunderus_mem.verbs.decided import rejected_keys
from thunderus_mem.verbs.garden_material import material_of, with_signatures
from thunderus_mem.verbs.garden_report import as_edit
from thunderus_mem.verbs.gardened import (
    Applied,
    AppliedStep,
    Filed,
    FiledStep,
    SkippedStep,
)
from thunderus_mem.verbs.written import Written

if TYPE_CHECKING:
    from collections.abc import Sequence

    from thunderus_mem.garden.plan import DocumentEdit, Step
    from thunderus_mem.memory import Memory
    from thunderus_mem.transaction.writing import Writing

_MOST_TOLD = 2_000
"""Documents that a snapshot lists; of more it says how many."""


def garden_plan(memory: Memory, *, only: Sequence[str] = (), apart: bool = False) -> Plan:
    """What the gardener would do now, by all rules or by those named ``only``; changes nothing. The same
    material gives the same plan. What was turned down, and what waits for review, is left out and counted.

    Steps that are carried out build on each other; with ``apart`` each is about the memory as it is, which is
    what can be filed. Raises `NotFound` for a rule that does not exist."""
    for name in only:
        if name not in RULE_NAMES:
            near = closest(name, RULE_NAMES, 1)
            meant = f"Did you mean {near[0]}? " if near else ""
            raise NotFound(
                f'there is no gardening rule "{name}"', hint=f"{meant}The rules are {', '.join(RULE_NAMES)}"
            )
    chosen = [rule for rule in RULES if not only or rule.name in only]
    _see_all_decisions(memory)
    with paused(), with_signatures(memory, material_of(memory), [rule.name for rule in chosen]) as seen:
        decisions = _Decisions(memory)
        parts = planned(chosen, seen, memory.config, (lambda _: ()) if apart else decisions.undecided)
    steps = [step for part in parts for step in part if step.extent != "report"]
    return make_plan(
        *parts, rejected=decisions.rejected(steps), waiting=decisions.waiting(steps), order=RULE_NAMES
    )


def _see_all_decisions(memory: Memory) -> None:
    for shard in memory.log_index().unread():
        raise NotWritable(
            f"{shard} cannot be read, so what was decided there would be passed over.",
            hint="Mend its permissions, then run the command again.",
        )


class _Decisions:
    """What was decided about steps, or waits for it; the queue is read when a step asks for it."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._waiting: frozenset[str] | None = None

    def rejected(self, steps: Sequence[Step]) -> frozenset[str]:
        """The keys that somebody turned down."""
        return rejected_keys(self._memory, {target for step in steps for target in step.targets})

    def waiting(self, steps: Sequence[Step]) -> frozenset[str]:
        """The keys that wait for review."""
        if self._waiting is None and steps:
            from thunderus_mem.store.proposals import all_waiting

            self._waiting = frozenset(one.proposal.key for one in all_waiting(self._memory.layout)) - {""}
        return self._waiting or frozenset()

    def undecided(self, steps: Sequence[Step]) -> tuple[Step, ...]:
        """The steps that nobody has turned down, and that do not wait."""
        decided = self.rejected(steps) | self.waiting(steps)
        return tuple(step for step in steps if step.key not in decided)


def is_reviewed(memory: Memory, *, actor: str = "user") -> bool:
    """Whether steps of whoever runs this may be filed instead of carried out: the plan is made ``apart``
    then."""
    return memory.config.review_agents == "propose" and acting(memory.environ, actor) == "agent"


def garden_apply(memory: Memory, plan: Plan, *, actor: str = "user") -> Applied:
    """Carry out every step of ``plan`` that may go by itself, each as its own event, after a snapshot.

    A step whose documents have changed since is left out, and named in ``skipped``. Steps of an agent whose
    changes are reviewed are ``filed`` instead.
    """
    if not plan.applicable:
        return Applied((), plan.reports, proposals=plan.proposals, waiting=plan.waiting)
    reviewed = [step for step in plan.applicable if _must_be_reviewed(memory, step, actor)]
    done: list[AppliedStep] = []
    written: list[Written] = []
    snapshot = ""
    with memory.writing("garden") as transaction:
        filed, skipped = _filed(memory, reviewed, actor)
        for step in plan.applicable:
            if step in reviewed:
                continue
            try:
                edits = [as_edit(memory, edit) for edit in step.edits]
                snapshot = snapshot or _snapshot(memory, transaction, plan, actor)
                event = transaction.commit(
                    step.op, edits, private=step.private, why=step.why, actor=actor, snapshot=snapshot
                )
            except Conflict as error:
                skipped.append(SkippedStep(step.action, str(error), step.targets))
                continue
            done.append(AppliedStep(step.action, step.why, step.targets, event.id))
            written += [Written(edit.doc_id, edit.path, edit.op, event.id) for edit in edits]
    return Applied(
        tuple(done),
        plan.reports,
        tuple(written),
        transaction.recorded,
        not transaction.pending,
        tuple(skipped),
        snapshot,
        plan.proposals,
        plan.waiting,
        tuple(filed),
    )


def _must_be_reviewed(memory: Memory, step: Step, actor: str) -> bool:
    paths = [edit.path for edit in step.edits]
    return must_be_reviewed(memory.config, acting(memory.environ, actor), step.op, paths)


def _snapshot(memory: Memory, transaction: Writing, plan: Plan, actor: str) -> str:
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
            "documents": [_told(memory, edit) for edit in told],
            **left,
        },
        tuple(dict.fromkeys(edit.doc_id for edit in told if edit.doc_id)),
        why="before the gardener's steps",
        actor=actor,
    )
    return id


def _told(memory: Memory, edit: DocumentEdit) -> dict[str, str]:
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
    with memory.writing("garden") as transaction:
        filed, skipped = _filed(memory, steps, actor)
    return Filed(tuple(filed), plan.waiting, plan.reports, transaction.recorded, tuple(skipped))


def _filed(memory: Memory, steps: Sequence[Step], actor: str) -> tuple[list[FiledStep], list[SkippedStep]]:
    """File steps, and say which could not be; under the lock."""
    from thunderus_mem.store.proposals import write

    filed: list[FiledStep] = []
    skipped: list[SkippedStep] = []
    origin = memory.origin() if steps else {}
    for step in steps:
        id = memory.new_id("patch")
        try:
            before = [as_edit(memory, edit).before for edit in step.edits]
            proposal = step_proposal(
                step,
                id=id,
                created=format_precise(memory.now()),
                actor=acting(memory.environ, actor),
                origin=origin,
                before=before,
            )
            write(memory.layout, proposal)
        except (Conflict, Refused) as error:
            skipped.append(SkippedStep(step.action, str(error), step.targets))
            continue
        filed.append(FiledStep(id, step.action, step.why, step.targets, step.label))
    return filed, skipped
