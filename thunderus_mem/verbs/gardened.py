"""What the gardener answers: the plan as it is told, what was carried out, and what was filed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from thunderus_mem.garden.plan import Reach, Step
    from thunderus_mem.verbs.written import Written


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
