"""The gardener's plan as it is told: each step with the diff it would make."""

from __future__ import annotations

from typing import TYPE_CHECKING

from thunderus_mem.model.document import MAX_DOCUMENT, content_hash, read_document
from thunderus_mem.model.errors import Conflict, NotFound, ThunderusError
from thunderus_mem.model.textdiff import unified_diff
from thunderus_mem.store.edits import Edit
from thunderus_mem.store.files import ABSENT, read_file
from thunderus_mem.store.paths import inside
from thunderus_mem.verbs.gardened import PlannedEdit, PlannedStep, PlanReport

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from thunderus_mem.garden.plan import DocumentEdit, Plan, Step
    from thunderus_mem.memory import Memory


def as_edit(memory: Memory, edit: DocumentEdit) -> Edit:
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
    return Edit(edit.doc_id, edit.path, text, edit.after_text, edit.renames)


def garden_report(memory: Memory, plan: Plan, *, limit: int = 0) -> PlanReport:
    """The plan as it is told, with diffs; only the first ``limit`` steps when that is not 0."""
    from thunderus_mem.verbs.proposing import queue_state

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
    departed: dict[str, Edit] = {}
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


def _made(memory: Memory, edit: DocumentEdit, laid: Mapping[str, str | None]) -> Edit | None:
    """An edit on the text it was planned from, on disk or left by a step before; ``None`` when it is gone."""
    before = laid.get(edit.path)
    if before is not None and content_hash(before) == edit.before:
        return Edit(edit.doc_id, edit.path, before, edit.after_text, edit.renames)
    try:
        return as_edit(memory, edit)
    except ThunderusError:
        return None
