"""The verb `garden`: a plan to look at, and the plan carried out."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC
from typing import TYPE_CHECKING, Final

from thunderus_mem.garden.material import Material
from thunderus_mem.garden.plan import Plan, make_plan
from thunderus_mem.garden.rules import RULE_NAMES, RULES
from thunderus_mem.model.document import MAX_DOCUMENT, read_document
from thunderus_mem.model.errors import Conflict, NotFound, ThunderusError
from thunderus_mem.store.files import ABSENT, read_file
from thunderus_mem.store.paths import inside
from thunderus_mem.transaction import Edit
from thunderus_mem.verbs.documents import documents
from thunderus_mem.verbs.written import Written

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from thunderus_mem.garden.plan import DocumentEdit, Step
    from thunderus_mem.memory import Memory


_COMPARES: Final = frozenset(("duplicates", "similar"))
"""Rules that look at what every text says."""


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
class Applied:
    """What `garden_apply` did, by step and by file. ``reported`` are the steps that only a person can decide,
    ``skipped`` those that no longer fit what is on disk: the next plan looks anew.

    ``op`` of a file is ``update`` or ``remove``; its text is left out, the log has it.
    ``published`` is false when an event is on disk but a file is not yet: the next command puts it there.
    """

    steps: tuple[AppliedStep, ...]
    reported: tuple[Step, ...]
    written: tuple[Written, ...] = ()
    recorded: tuple[str, ...] = ()
    published: bool = True
    skipped: tuple[SkippedStep, ...] = ()


def material(memory: Memory) -> Material:
    """What the gardening rules look at, from a fresh index."""
    memory.refresh()
    ordered = sorted(documents(memory), key=lambda document: (document.id, document.path))
    return Material(tuple(ordered), today=memory.now().astimezone(UTC).date().isoformat())


@contextmanager
def _comparing(memory: Memory, seen: Material, names: Sequence[str]) -> Iterator[Material]:
    """The material with what was computed of its texts before, where a rule compares them."""
    if not _COMPARES.intersection(names):
        yield seen
        return
    from thunderus_mem.garden.similar.answers import memory_key
    from thunderus_mem.garden.similar.profile import key_of, measure
    from thunderus_mem.garden.similar.steps import compared
    from thunderus_mem.projection.signatures import RememberedSignatures

    remembered = RememberedSignatures(memory.layout.signatures_file, measure())
    known = remembered.read()
    yield seen._replace(signatures=known)
    texts = [key_of(document) for document in seen.documents]
    remembered.save(known, [*texts, memory_key(compared(seen.documents))])


def garden_plan(memory: Memory, *, only: Sequence[str] = ()) -> Plan:
    """What the gardener would do now, by all rules or by those named ``only``; changes nothing. The same
    material gives the same plan. Raises `ThunderusError` for a rule that does not exist."""
    for name in only:
        if name not in RULE_NAMES:
            raise ThunderusError(
                f'there is no gardening rule "{name}"', hint=f"the rules are {', '.join(RULE_NAMES)}"
            )
    seen = material(memory)
    chosen = [rule for rule in RULES if not only or rule.name in only]
    with _comparing(memory, seen, [rule.name for rule in chosen]) as ready:
        return make_plan(*(rule.plan(ready, memory.config) for rule in chosen))


def _as_edit(memory: Memory, edit: DocumentEdit) -> Edit:
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


def garden_apply(memory: Memory, plan: Plan, *, actor: str = "user") -> Applied:
    """Carry out every step of ``plan`` that changes something, each as its own event.

    A step whose documents have changed since is left out, and named in ``skipped``.
    """
    if not plan.applicable:
        return Applied((), plan.reports)
    done: list[AppliedStep] = []
    skipped: list[SkippedStep] = []
    written: list[Written] = []
    with memory.writing("garden") as transaction:
        for step in plan.applicable:
            try:
                edits = [_as_edit(memory, edit) for edit in step.edits]
                event = transaction.commit("garden", edits, why=step.why, actor=actor)
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
    )
