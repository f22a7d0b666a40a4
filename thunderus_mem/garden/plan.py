"""What the gardener wants to do, as a value: a plan is printed, tested or carried out, never both at once."""

from __future__ import annotations

from dataclasses import dataclass

REPORT = "report"
MERGE_DUPLICATES = "merge-duplicates"


@dataclass(frozen=True, slots=True)
class DocumentEdit:
    """One file of a step.

    ``path`` is relative to the root, ``before`` the content hash the step was made from, ``after_text`` the
    whole new text, or ``None`` to remove the file.
    """

    path: str
    doc_id: str
    before: str
    after_text: str | None


@dataclass(frozen=True, slots=True)
class Step:
    """One thing to do, or only to say: a step with the action ``report`` has no edits.

    ``targets`` are document ids, the one that stays first; ``why`` is one sentence; ``evidence`` are the
    lines that let a reader check it.
    """

    action: str
    why: str
    evidence: tuple[str, ...]
    targets: tuple[str, ...]
    edits: tuple[DocumentEdit, ...] = ()


@dataclass(frozen=True, slots=True)
class Plan:
    """All steps, in an order that depends on their content alone."""

    steps: tuple[Step, ...] = ()

    @property
    def applicable(self) -> tuple[Step, ...]:
        """The steps that change something."""
        return tuple(step for step in self.steps if step.edits)

    @property
    def reports(self) -> tuple[Step, ...]:
        """The steps that only say something, for a person to decide."""
        return tuple(step for step in self.steps if not step.edits)


def make_plan(*parts: tuple[Step, ...]) -> Plan:
    """Join the steps of every gardening rule into one plan: what changes something first, then reports."""
    steps = [step for part in parts for step in part]
    return Plan(tuple(sorted(steps, key=lambda step: (step.action == REPORT, step.action, step.targets))))
