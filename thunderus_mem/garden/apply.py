"""The rules of the gardener, and the plan they make: show it, apply it, or propose it for review.

Each rule is a pure function of `GardenInput` and the configuration, and plans on top of the steps before it.
`garden_plan` reads the index, the documents that a step may change, the log and the queue; `garden_report`
reads the documents; `garden_apply` and `garden_propose` write through a transaction, after a snapshot in the
log.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass, field, replace
from datetime import UTC
from functools import cached_property, partial
from typing import TYPE_CHECKING, Final

from thunderus_mem.document.diff import unified_diff
from thunderus_mem.document.document import MAX_DOCUMENT, content_hash, read_document
from thunderus_mem.document.ids import closest
from thunderus_mem.document.paths import is_archived
from thunderus_mem.document.profile import profile_of
from thunderus_mem.document.timestamp import format_precise
from thunderus_mem.errors import Conflict, NotFound, NotWritable, Refused, ThunderusError
from thunderus_mem.garden.plan import GardenInput, Plan, make_plan
from thunderus_mem.garden.rules.archive import old_recaps, plan_archive
from thunderus_mem.garden.rules.duplicates import FLAG_FOR_REVIEW, plan_duplicates
from thunderus_mem.garden.rules.names import plan_links, plan_numbers, plan_tags
from thunderus_mem.garden.rules.recaps import plan_recaps
from thunderus_mem.garden.rules.similar import plan_similar
from thunderus_mem.garden.rules.sizes import plan_sizes
from thunderus_mem.index.log import read
from thunderus_mem.index.refresh import refuse_unlisted
from thunderus_mem.log.new_event import PatchLinks
from thunderus_mem.memory.journal import DEFAULT_MODE, FileChange
from thunderus_mem.memory.locate import document_at
from thunderus_mem.memory.proposals import Proposal, ProposedEdit, all_waiting, needs_review, write
from thunderus_mem.memory.transaction import Written, open_transaction
from thunderus_mem.recap.events import generated_texts
from thunderus_mem.recap.scope import history_of
from thunderus_mem.review.queue import queue_state, rejected_keys
from thunderus_mem.startup import NamedTuple
from thunderus_mem.store.files import ABSENT, permissions, read_file
from thunderus_mem.store.parallel import gc_paused
from thunderus_mem.store.paths import inside

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from thunderus_mem.document.document import Document
    from thunderus_mem.document.profile import Profile
    from thunderus_mem.garden.plan import DocumentEdit, Reach, Step
    from thunderus_mem.memory.memory import Memory
    from thunderus_mem.memory.transaction import Transaction
    from thunderus_mem.store.config import Config


# The rules and their plan


class GardenRule(NamedTuple):
    """One rule of the gardener; ``plan`` is deterministic. Unless the rule ``applies``, none of its steps is
    applied without review."""

    name: str
    does: str
    plan: Callable[[GardenInput, Config], tuple[Step, ...]]
    applies: bool = True


RULES: Final[tuple[GardenRule, ...]] = (
    GardenRule("duplicates", "Merge documents that make exactly the same statements.", plan_duplicates),
    GardenRule(
        "similar",
        "Propose how to resolve two documents about the same subject.",
        plan_similar,
        applies=False,
    ),
    GardenRule("numbers", "Renumber ADRs that share a number.", plan_numbers),
    GardenRule("links", "Repair dead links whose target moved.", plan_links),
    GardenRule("tags", "Use one spelling for each tag.", plan_tags),
    GardenRule("sizes", "Split long facts at their headings, and report other long documents.", plan_sizes),
    GardenRule("recaps", "Write the missing recaps of `recap.schedule`.", plan_recaps),
    GardenRule("archive", "Archive old recaps, and expired or superseded documents.", plan_archive),
)
"""In the order in which their steps are applied."""

RULE_NAMES: Final = tuple(rule.name for rule in RULES)


_ASKED_FOR: Final = ("duplicates", "similar")
"""Rules whose reports are omitted unless asked for: most are about two documents that are both right."""


def garden_plan(
    memory: Memory, *, only: Sequence[str] = (), apart: bool = False, verbose: bool = False
) -> Plan:
    """Plan what the gardener would do now, with all rules or those in ``only``; changes nothing.

    The plan is deterministic. Rejected steps and those pending review are omitted and counted. Steps to apply
    build on each other; with ``apart`` each is planned against the current memory, so that it can be
    proposed. Documents that only a person can decide about are reported if ``verbose``, or if the strategy is
    to flag them for review. Raises `NotFound` for an unknown rule.
    """
    for name in only:
        if name not in RULE_NAMES:
            near = closest(name, RULE_NAMES, 1)
            meant = f"; did you mean {near[0]!r}?" if near else ""
            raise NotFound(f"unknown rule {name!r}{meant}", hint=f"rules: {', '.join(RULE_NAMES)}")
    chosen = [rule for rule in RULES if not only or rule.name in only]
    _see_all_decisions(memory)
    with gc_paused():
        decisions = _Decisions(memory)
        parts = planned(
            _telling(memory, chosen),
            replace(
                material_of(memory),
                named=frozenset(only),
                verbose=verbose,
                going=(lambda _: ()) if apart else decisions.undecided,
            ),
            memory.config,
        )
    if not verbose and memory.config.duplicates_strategy != FLAG_FOR_REVIEW:
        parts = tuple(
            tuple(step for step in part if step.reach != "report" or step.rule not in _ASKED_FOR)
            for part in parts
        )
    steps = [step for part in parts for step in part if step.reach != "report"]
    if not steps:
        return make_plan(*parts, order=RULE_NAMES)
    return make_plan(*parts, rejected=decisions.rejected, waiting=decisions.pending, order=RULE_NAMES)


def _telling(memory: Memory, rules: Sequence[GardenRule]) -> Iterator[GardenRule]:
    """The rules, each after a report of the progress."""
    for done, rule in enumerate(rules):
        memory.tell("Planning, rules:", done, len(rules))
        yield rule


def _see_all_decisions(memory: Memory) -> None:
    for shard in memory.log_index().unread():
        raise NotWritable(
            f"cannot read {shard}; decisions recorded there would be missed",
            hint="fix its permissions, then run the command again",
        )


class _Decisions:
    """The keys of rejected and of pending steps; log and queue are read when the first step needs them."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    @cached_property
    def rejected(self) -> frozenset[str]:
        return rejected_keys(self._memory)

    @cached_property
    def pending(self) -> frozenset[str]:
        return frozenset(one.proposal.key for one in all_waiting(self._memory.layout)) - {""}

    def undecided(self, steps: Sequence[Step]) -> tuple[Step, ...]:
        """The steps that are neither rejected nor pending."""
        decided = self.rejected | self.pending
        return tuple(step for step in steps if step.key not in decided)


def planned(
    rules: Iterable[GardenRule], material: GardenInput, config: Config
) -> tuple[tuple[Step, ...], ...]:
    """The steps of each rule.

    Two rules may change the same document: steps to apply are planned on the result of earlier ones.
    Proposals and reports are planned against the current memory, because they take effect later.
    """
    seen = material
    parts: list[tuple[Step, ...]] = []
    for rule in rules:
        if not rule.applies:
            parts.append(rule.plan(material, config))
            continue
        steps = rule.plan(seen, config)
        now = tuple(step for step in steps if step.reach == "apply")
        rest = steps if seen is material else rule.plan(material, config)
        parts.append((*now, *(step for step in rest if step.reach != "apply")))
        certain = material.going(now) if now else ()
        if certain:
            seen = carried_out(seen, certain)
    return tuple(parts)


def carried_out(material: GardenInput, steps: Sequence[Step]) -> GardenInput:
    """The memory after applying the edits of ``steps``, in order."""
    by_path = {one.path: one for one in (*material.documents, *material.archived)}
    made: dict[Profile, Document] = {}
    files, former = set(material.files), dict(material.former)
    for edit in (edit for step in steps for edit in step.edits):
        by_path.pop(edit.path, None)
        files.discard(edit.path)
        former.pop(edit.path, None)
        if edit.after_text is None:
            former[edit.path] = edit.doc_id
        if edit.after_text is not None:
            files.add(edit.path)
            document = read_document(edit.path, edit.after_text.encode("utf-8", "surrogatepass")).document
            if document is not None:
                by_path[edit.path] = profile_of(document)
                made[by_path[edit.path]] = document
    ordered: list[Profile] = sorted(by_path.values(), key=lambda one: (one.id, one.path))
    return replace(
        material,
        documents=tuple(one for one in ordered if not is_archived(one.path)),
        archived=tuple(one for one in ordered if is_archived(one.path)),
        read=lambda profile: made[profile] if profile in made else material.read(profile),
        files=frozenset(files),
        former=former,
    )


# The input of the rules


def material_of(memory: Memory) -> GardenInput:
    """Collect the input of the gardening rules, from a refreshed index; documents are read when a rule asks
    for them."""
    memory.refresh()
    known = sorted(_profiles(memory), key=lambda one: (one.id, one.path))
    in_use = tuple(one for one in known if not is_archived(one.path))
    today = memory.now().astimezone(UTC).date().isoformat()
    files = frozenset(path for path, _, _ in memory.index.files())
    former = memory.log_index().single_paths()
    return GardenInput(
        in_use,
        tuple(one for one in known if is_archived(one.path)),
        _Reader(memory),
        today,
        files,
        _ours(memory, in_use, today),
        {path: doc_id for path, doc_id in former.items() if path not in files},
        _logged(memory, in_use),
        partial(history_of, memory),
    )


def _profiles(memory: Memory) -> Iterator[Profile]:
    """The profiles of all documents. A file is read if its row in the index may be old, or is that of another
    file with the same id. Raises `NotWritable` if it cannot be read."""
    refuse_unlisted(memory.index.unlisted())
    known = {one.path: one for one in memory.index.profiles()}
    settled = memory.index.settled()
    for path, text_hash, doc_id in memory.index.files():
        if path in known and path in settled:
            yield known[path]
        elif doc_id or not text_hash:  # without a hash, it was not read; it may still be a document
            document = document_at(memory, path)
            if document is not None:
                yield profile_of(document)


class _Reader:
    """Reads the document of a profile, once."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._read: dict[str, Document] = {}

    def __call__(self, profile: Profile) -> Document:
        document = self._read.get(profile.path)
        if document is None:
            document = document_at(self._memory, profile.path)
            if document is None or document.hash != profile.hash:
                raise Conflict(
                    f"{profile.path} changed during planning", hint="run `thunderus-mem garden` again"
                )
            self._read[profile.path] = document
        return document


def _logged(memory: Memory, in_use: Sequence[Profile]) -> dict[str, int]:
    """The place of each document's creating event in the log, also if it had another id then.

    Documents written by hand have none: their order in the log is only that in which they were found.
    """
    places: dict[str, int] = {}
    created: dict[tuple[str, str], int] = {}
    for event_id, doc_id in memory.log_index().changes_in_order():
        created.setdefault((event_id, doc_id), places.setdefault(event_id, len(places)))
    found: dict[str, int] = {}
    for one in in_use:
        pairs = ((event_id, name) for event_id in one.events for name in (one.id, *one.aliases))
        known = [created[pair] for pair in pairs if pair in created]
        if known:
            found[one.id] = min(known)
    return found


def _ours(memory: Memory, in_use: Sequence[Profile], today: str) -> frozenset[str]:
    """Ids of the recaps that may be archived and were not edited since the program wrote them."""
    asked = {one.id: one for one in old_recaps(in_use, memory.config, today)}
    asked |= {one.id: one for one in in_use if one.kind == "recap" and "" < one.traits.expires <= today}
    rows = memory.log_index().naming(sorted(asked)) if asked else []
    by_us = generated_texts(logged.event for logged in read(memory.log, rows))
    return frozenset(one.id for one in asked.values() if (one.id, one.hash) in by_us)


# Show a plan with its diffs, apply it, or propose it for review


@dataclass(frozen=True, slots=True)
class PlannedEdit:
    """The change of one file: ``op`` is create, update, remove or rename (then ``moved_from`` is its old
    path); ``diff`` is ``None`` if it is too long to show.

    A file merged into another document has its id in ``kept_in``, the number of its own ``lines``, and those
    that are ``missing`` there.
    """

    path: str
    doc_id: str
    op: str
    diff: str | None
    moved_from: str = ""
    kept_in: str = ""
    lines: int | None = None
    missing: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PlannedStep:
    """A step as it is reported: action, reason, evidence, ``reach``, and the changes.

    ``key`` is the key under which a decision about it is stored.
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
    """A plan as it is reported.

    ``steps`` are those shown, ``left_out`` is the number not shown. ``to_apply``, ``to_propose`` and
    ``to_report`` count all steps, ``counts`` does by rule and reach; ``decided`` counts rejected ones,
    ``waiting`` pending ones, ``expired`` proposals that have been pending for too long.
    """

    steps: tuple[PlannedStep, ...]
    left_out: int
    to_apply: int
    to_propose: int
    to_report: int
    decided: int
    waiting: int
    expired: int = 0
    counts: dict[str, dict[str, int]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class AppliedStep:
    """A step that was applied, and the event that records it."""

    action: str
    why: str
    targets: tuple[str, ...]
    event_id: str


@dataclass(frozen=True, slots=True)
class SkippedStep:
    """A step skipped because a document changed in the meantime; ``why`` names the file."""

    action: str
    why: str
    targets: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FiledStep:
    """A step that was added to the review queue, with the id of its proposal."""

    id: str
    action: str
    why: str
    targets: tuple[str, ...]
    label: str


@dataclass(frozen=True, slots=True)
class Applied:
    """The result of `garden_apply`, by step and by file. ``reported`` are steps that need a decision,
    ``skipped`` those whose documents changed on disk: the next plan includes them again.

    ``op`` of a file is ``update`` or ``remove``; its text is omitted, it is in the log. ``published`` is
    false if an event was written but a file was not: the next command writes it. ``snapshot_id`` is the
    snapshot to restore ("" if nothing was done), ``proposals`` are the steps left for `garden_propose`,
    ``waiting`` counts pending ones; ``filed`` are steps that were proposed because an agent may not apply
    them itself.
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
    """The result of `garden_propose`; ``waiting`` counts the steps that were already pending.

    ``skipped`` are steps whose documents changed, or that cannot be proposed.
    """

    proposals: tuple[FiledStep, ...]
    waiting: int
    reported: tuple[Step, ...] = ()
    recorded: tuple[str, ...] = ()
    skipped: tuple[SkippedStep, ...] = ()


def _file_change(memory: Memory, edit: DocumentEdit) -> FileChange:
    """The planned edit with the text on disk; raises `Conflict` if that text changed since the plan.

    The error of an unreadable file is raised unchanged.
    """
    try:
        data = read_file(inside(memory.root, edit.path), MAX_DOCUMENT)
        document = read_document(edit.path, data).document
        found, text = (document.hash, document.text) if document is not None else (None, None)
    except NotFound:
        found, text = ABSENT, None
    if found != edit.before:
        raise Conflict(
            f"{edit.path} has changed since the plan was made", hint="run `thunderus-mem garden` again"
        )
    return FileChange(edit.doc_id, edit.path, text, edit.after_text, edit.renames)


def garden_report(memory: Memory, plan: Plan, *, limit: int = 0, diffs: bool = True) -> PlanReport:
    """The plan as it is reported, by rule; of each rule only the first ``limit`` steps unless that is 0.

    Without ``diffs``, no document is read.
    """
    by_rule = {name: [step for step in plan.steps if step.rule == name] for name in RULE_NAMES}
    shown = [step for steps in by_rule.values() for step in (steps[:limit] if limit else steps)]
    laid: dict[str, str | None] = {}
    return PlanReport(
        tuple([_planned(memory, step, laid, diffs=diffs) for step in shown]),
        len(plan.steps) - len(shown),
        len(plan.applicable),
        len(plan.proposals),
        len(plan.reports),
        plan.decided,
        plan.waiting,
        queue_state(memory).expired,
        {name: dict(Counter(step.reach for step in steps)) for name, steps in by_rule.items() if steps},
    )


def _planned(memory: Memory, step: Step, laid: dict[str, str | None], *, diffs: bool) -> PlannedStep:
    """A step as it is reported; ``laid`` are the texts after the steps before it, by path."""
    planned_step = PlannedStep(
        step.action,
        step.why,
        step.evidence,
        step.targets,
        step.rule,
        step.reach,
        step.label,
        step.key,
        tuple(_planned_edits(memory, step, laid)) if diffs else (),
    )
    if step.reach == "apply":
        laid.update((edit.path, edit.after_text) for edit in step.edits)
    return planned_step


def _planned_edits(memory: Memory, step: Step, laid: Mapping[str, str | None]) -> Iterator[PlannedEdit]:
    """The edits of a step as they are reported; the two edits of a move as one."""
    departed: dict[str, FileChange] = {}
    for edit in step.edits:
        made = _made(memory, edit, laid)
        if made is None:  # changed in the meantime: the next plan shows it
            yield PlannedEdit(edit.path, edit.doc_id, "", None)
        elif made.renames and made.after is None:
            departed[made.doc_id] = made
        else:
            old = departed.pop(made.doc_id, None) if made.renames else None
            before, moved_from = (old.before, old.path) if old is not None else (made.before, "")
            diff = unified_diff(before, made.after, made.path)
            planned_edit = PlannedEdit(made.path, made.doc_id, made.op, diff, moved_from)
            yield planned_edit if made.after is not None else _kept(planned_edit, made, step)
    for made in departed.values():
        yield PlannedEdit(made.path, made.doc_id, made.op, unified_diff(made.before, None, made.path))


_OWN_KEYS: Final = ("id:", "created:", "updated:")
"""Lines of a header that a document does not share with the one that it is merged into."""


def _kept(planned_edit: PlannedEdit, removed: FileChange, step: Step) -> PlannedEdit:
    """The removal of a file, with what the surviving document, the first of the step, does not contain."""
    survivor = next((edit for edit in step.edits if edit.doc_id == step.targets[0]), None)
    if survivor is None or survivor.after_text is None or removed.before is None:
        return planned_edit
    there = {line.strip() for line in survivor.after_text.splitlines()}
    own = removed.before.splitlines()
    missing = (line for line in own if line.strip() not in there and not line.startswith(_OWN_KEYS))
    return replace(planned_edit, kept_in=survivor.doc_id, lines=len(own), missing=tuple(missing))


def _made(memory: Memory, edit: DocumentEdit, laid: Mapping[str, str | None]) -> FileChange | None:
    """An edit with the text it was planned from (on disk, or after earlier steps); ``None`` if that
    changed."""
    before = laid.get(edit.path)
    if before is not None and content_hash(before) == edit.before:
        return FileChange(edit.doc_id, edit.path, before, edit.after_text, edit.renames)
    try:
        return _file_change(memory, edit)
    except ThunderusError:
        return None


_MAX_LISTED = 2_000
"""The limit on documents listed by a snapshot; the others are counted."""


def is_reviewed(memory: Memory) -> bool:
    """Whether steps may be proposed instead of applied, because an agent runs this: the plan must then be
    made ``apart``."""
    return memory.config.review_agents == "propose" and memory.actor == "agent"


def garden_apply(memory: Memory, plan: Plan) -> Applied:
    """Apply every safe step of ``plan``, each as its own event, after a snapshot.

    A step whose documents have changed is listed in ``skipped``. Steps of an agent whose changes need review
    are ``filed`` instead.
    """
    if not plan.applicable:
        return Applied((), plan.reports, proposals=plan.proposals, waiting=plan.waiting)
    who = memory.actor
    reviewed = [
        step
        for step in plan.applicable
        if needs_review(memory.config, who, step.op, [edit.path for edit in step.edits])
    ]
    done: list[AppliedStep] = []
    written: list[Written] = []
    snapshot = ""
    with open_transaction(memory, "garden") as transaction:
        filed, skipped = _filed(memory, reviewed)
        for step in plan.applicable:
            if step in reviewed:
                continue
            try:
                edits = [_file_change(memory, edit) for edit in step.edits]
                snapshot = snapshot or _snapshot(memory, transaction, plan)
                links = PatchLinks(private=step.private, snapshot=snapshot)
                event = transaction.commit(step.op, edits, why=step.why, links=links)
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


def _snapshot(memory: Memory, transaction: Transaction, plan: Plan) -> str:
    """Record the documents that the plan is about to change; returns the snapshot's id."""
    id = memory.new_id("snap")
    touched = {edit.path: edit for step in reversed(plan.applicable) for edit in reversed(step.edits)}
    listed = [touched[path] for path in sorted(touched)][:_MAX_LISTED]
    left = {"left_out": len(touched) - len(listed)} if len(touched) > len(listed) else {}
    transaction.snapshot(
        id,
        {
            "command": "garden",
            "commit": transaction.head or None,
            "plan": digest(plan),
            "documents": [_in_snapshot(memory, edit) for edit in listed],
            **left,
        },
        tuple(dict.fromkeys(edit.doc_id for edit in listed if edit.doc_id)),
        why="before a run of the gardener",
    )
    return id


def _in_snapshot(memory: Memory, edit: DocumentEdit) -> dict[str, str]:
    """The entry of a document in a snapshot."""
    mode = permissions(inside(memory.root, edit.path))
    other = {"mode": f"{mode:o}"} if mode not in (0, DEFAULT_MODE) else {}
    return {"id": edit.doc_id, "path": edit.path, "hash": edit.before, **other}


def digest(plan: Plan) -> str:
    """A hash of the steps to apply, which identifies a plan."""
    steps = [(step.rule, step.action, step.targets, step.edits) for step in plan.applicable]
    # Includes the repr of `DocumentEdit`: renaming it or its fields changes the hashes in the log.
    return "sha256:" + hashlib.sha256(repr(steps).encode("utf-8", "surrogatepass")).hexdigest()


def garden_propose(memory: Memory, plan: Plan) -> Filed:
    """Propose every step with changes for review (of a plan made ``apart``), except those already pending.

    A step whose documents have changed, or that cannot be proposed, is listed in ``skipped``.
    """
    steps = (*plan.applicable, *plan.proposals)
    if not steps:
        return Filed((), plan.waiting, plan.reports)
    with open_transaction(memory, "garden") as transaction:
        filed, skipped = _filed(memory, steps)
    return Filed(tuple(filed), plan.waiting, plan.reports, transaction.outcome.recorded, tuple(skipped))


def _filed(memory: Memory, steps: Sequence[Step]) -> tuple[list[FiledStep], list[SkippedStep]]:
    """Propose steps, and return those proposed and those skipped; the lock is held."""
    filed: list[FiledStep] = []
    skipped: list[SkippedStep] = []
    origin = memory.origin() if steps else {}
    for step in steps:
        id = memory.new_id("patch")
        try:
            edits = tuple(ProposedEdit.of(_file_change(memory, edit)) for edit in step.edits)
            proposal = Proposal(
                id,
                format_precise(memory.now()),
                memory.actor,
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
