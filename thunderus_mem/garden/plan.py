"""What the gardener wants to do, as a value: a plan is printed, tested, filed or carried out."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from thunderus_mem.model.document import Document

REPORT = "report"
MERGE_DUPLICATES = "merge-duplicates"

Reach: TypeAlias = Literal["apply", "propose", "report"]
"""How far a step may go without a person: be carried out, be filed for review, or only be told."""

_ORDER: Final = {"apply": 0, "propose": 1, "report": 2}


@dataclass(frozen=True, slots=True)
class DocumentEdit:
    """One file of a step.

    ``path`` is relative to the root, ``before`` the content hash the step was made from ("": there is no
    file), ``after_text`` the whole new text, or ``None`` to remove the file. A document that gets another
    path is two of them with ``renames``: the old path loses the text, then the new path gets it.
    """

    path: str
    doc_id: str
    before: str
    after_text: str | None
    renames: bool = False


def moved(document: Document, path: str) -> tuple[DocumentEdit, ...]:
    """The two edits by which a document gets another path; its text stays as it is."""
    return (
        DocumentEdit(document.path, document.id, document.hash, None, renames=True),
        DocumentEdit(path, document.id, "", document.text, renames=True),
    )


@dataclass(frozen=True, slots=True)
class Step:
    """One thing to do, to propose, or only to say.

    ``rule`` is the gardening rule it comes from, ``action`` what is done. ``targets`` are document ids, the
    one that stays first; ``why`` is one sentence; ``evidence`` are the lines that let a reader check it;
    ``label`` is what a comparison found (``same``, ``possible contradiction`` …). ``texts`` are the digests
    of what the targets say, by id: a decision about the step holds until one of them changes. ``op`` is the
    kind of patch the log calls it, ``private`` the private events that a new text names.
    """

    action: str
    why: str
    evidence: tuple[str, ...]
    targets: tuple[str, ...]
    edits: tuple[DocumentEdit, ...] = ()
    rule: str = "duplicates"
    reach: Reach = "apply"
    label: str = ""
    texts: tuple[tuple[str, str], ...] = ()
    op: str = "garden"
    private: tuple[str, ...] = ()

    @property
    def extent(self) -> Reach:
        """How far it may go: without edits there is nothing to carry out or to file."""
        return self.reach if self.edits else "report"

    @property
    def key(self) -> str:
        """What a decision about this step is remembered by: the rule, and what it looked at."""
        made_from = sorted((edit.path, edit.before) for edit in self.edits if edit.before)
        seen = sorted(self.texts) or made_from or sorted((target, "") for target in self.targets)
        return hashlib.sha256(repr((self.rule, seen)).encode()).hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class Plan:
    """All steps, in an order that depends on their content alone. ``decided`` counts the steps left out
    because a person has turned them down, ``waiting`` those that are filed for review already."""

    steps: tuple[Step, ...] = ()
    decided: int = 0
    waiting: int = 0

    @property
    def applicable(self) -> tuple[Step, ...]:
        """The steps that may be carried out at once."""
        return self._of("apply")

    @property
    def proposals(self) -> tuple[Step, ...]:
        """The steps that change something once a person approves."""
        return self._of("propose")

    @property
    def reports(self) -> tuple[Step, ...]:
        """The steps that only say something, for a person to decide."""
        return self._of("report")

    def _of(self, extent: Reach) -> tuple[Step, ...]:
        return tuple(step for step in self.steps if step.extent == extent)


def make_plan(
    *parts: tuple[Step, ...],
    rejected: Collection[str] = frozenset(),
    waiting: Collection[str] = frozenset(),
    order: Sequence[str] = (),
) -> Plan:
    """Join the steps of every gardening rule into one plan: what can be carried out first, then proposals,
    then reports; each by rule, in the ``order`` of their names. Steps whose key is ``rejected``, or among
    those ``waiting`` for review, are left out and counted; a proposal about a document that another one of
    its rule would take away already is left out until that one is turned down."""
    rank = {name: place for place, name in enumerate(order)}
    steps = [step for part in parts for step in part]
    undecided = [step for step in steps if step.key not in rejected] if rejected else steps
    asked = _asked_once(undecided, waiting)
    left = [step for step in asked if step.key not in waiting] if waiting else asked
    ordered = sorted(
        left,
        key=lambda step: (
            _ORDER[step.extent],
            rank.get(step.rule, len(rank)),
            step.rule,
            step.action,
            step.targets,
        ),
    )
    return Plan(tuple(ordered), len(steps) - len(undecided), len(asked) - len(left))


def _asked_once(steps: Sequence[Step], waiting: Collection[str]) -> list[Step]:
    """Of proposals of one rule that would take away the same document only one: of a family of documents that
    are alike each is asked about once. One that waits goes first, then one whose other document stays."""
    taking: dict[tuple[str, str], list[Step]] = {}
    for step in steps:
        for name in _taken(step):
            taking.setdefault(name, []).append(step)

    def rank(step: Step) -> tuple[bool, bool]:
        changed = ((step.rule, edit.path) for edit in step.edits if edit.after_text is not None)
        return step.key not in waiting, any(name in taking for name in changed)

    chosen = {name: min(some, key=rank) if len(some) > 1 else some[0] for name, some in taking.items()}
    return [step for step in steps if any(chosen[name] is step for name in _taken(step)) or not _taken(step)]


def _taken(step: Step) -> list[tuple[str, str]]:
    """The files that a proposal would take away, each with the rule that wants it."""
    if step.extent != "propose":
        return []
    return [(step.rule, edit.path) for edit in step.edits if edit.after_text is None]
