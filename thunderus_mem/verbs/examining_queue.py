"""What `doctor` looks at in the review queue."""

from __future__ import annotations

from typing import TYPE_CHECKING

from thunderus_mem.store.proposals import BadProposal, entries
from thunderus_mem.verbs.health import Check, many
from thunderus_mem.verbs.proposing import queue_state

if TYPE_CHECKING:
    from collections.abc import Iterator

    from thunderus_mem.verbs.patient import Patient


def review(patient: Patient) -> Iterator[Check]:
    """Whether every file of the review queue is a proposal, and none waits for too long."""
    state = queue_state(patient.memory)
    bad: list[BadProposal] = []
    waiting: list[str] = []
    for one in entries(patient.layout):
        if isinstance(one, BadProposal):
            bad.append(one)
        else:
            waiting.append(one.path)
    if bad:
        first = bad[0]
        yield Check(
            "review",
            "error",
            many(len(bad), "a file of the review queue is no proposal", "{} files are no proposals")
            + f": {first.key}{': ' if first.key else ''}{first.reason}",
            first.fix,
            tuple(one.path for one in bad),
            "what was proposed there, unless git has it",
            "thunderus-mem lint",
        )
    if state.expired:
        yield Check(
            "review",
            "warning",
            many(state.expired, "a proposal has expired", "{} proposals have expired"),
            "decide, or let them go",
            tuple(waiting),
            "nothing",
            "thunderus-mem patch expire --plan",
        )
    elif waiting:
        days = many(state.oldest_days, "1 day", "{} days")
        told = many(len(waiting), "a proposal waits", "{} proposals wait")
        yield Check("review", "note", f"{told} for a decision, the oldest {days}", "thunderus-mem patch list")
