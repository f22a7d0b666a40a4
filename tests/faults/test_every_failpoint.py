"""C3: a process raises or dies at every pass of every failpoint; nothing acknowledged is lost."""

from __future__ import annotations

import os
import time

import pytest
import report
from harness import KILLED, Scenario, State, Tally, copy, judge, state
from scenarios import SCENARIOS

from tests.support.failpoints import tried

PLACES = (
    # A file is replaced: made beside the old one, written, synced, renamed into its place.
    *("after-create-temporary", "half-write-temporary", "after-write-temporary", "after-sync-temporary"),
    *("after-rename-temporary", "after-sync-folder-other", "before-unlink-other", "after-unlink-other"),
    # A log grows by lines, a line that cannot stay is cut off again, and so is what a crash left.
    *("after-create-log", "before-write-log", "half-write-log", "after-write-log", "after-sync-log"),
    *("before-truncate-log", "after-truncate-log"),
    # A change is staged.
    *("after-mkdir-change", "half-write-staged", "after-sync-staged", "half-write-operation"),
    *("after-sync-operation", "after-sync-folder-change", "after-sync-folder-staging"),
    # It is published, and what was staged is dropped.
    *("before-rename-staged", "after-rename-staged", "before-link-staged", "after-link-staged"),
    *("before-rename-taken", "after-rename-taken", "after-unlink-staged", "after-unlink-taken"),
    *("after-unlink-operation", "before-rmdir-change", "after-rmdir-change"),
)
"""Points that the scenarios must pass between them."""


def _passes(scenario: Scenario, base: str, folder: str) -> tuple[list[str], State, State]:
    """Every pass of a failpoint in the command, and the states before and after it."""
    root = copy(base, os.path.join(folder, "golden"))
    trace = os.path.join(folder, "trace")
    old = state(root)
    if scenario.always:
        scenario.subject.run(copy(base, root), scenario.command, f"{scenario.always},trace={trace}")
        root = copy(base, root)
        done = scenario.subject.run(root, scenario.command)
    else:
        done = scenario.subject.run(root, scenario.command, f"trace={trace}")
    assert done.code == 0, done
    with open(trace, encoding="utf-8") as stream:
        return stream.read().split(), old, state(root)


@pytest.mark.parametrize("kind", ["kill", "raise"])
@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name)
def test_fault_at_every_failpoint_leaves_old_or_new_state(scenario: Scenario, kind: str, tmp_path) -> None:
    folder = str(tmp_path)
    base = os.path.join(folder, "base")
    scenario.build(base)
    passes, old, new = _passes(scenario, base, folder)
    tally = Tally()
    for place in tried(passes, kind):
        name, _, turn = place.partition(":")
        if scenario.always.startswith(name + ":"):
            continue
        root = copy(base, os.path.join(folder, "store"))
        begun = time.monotonic()
        point = ",".join(filter(None, [f"{name}:{kind}:{turn}", scenario.always]))
        done = scenario.subject.run(root, scenario.command, point)
        if kind == "kill":
            assert done.code in KILLED, (place, done)
        judge(scenario, root, done, (old, new), tally)
        tally.tried += 1
        tally.slowest = max(tally.slowest, time.monotonic() - begun)
    report.add("C3", f"{scenario.name}-{kind}", **vars(tally))
    assert tally.tried


def test_every_failpoint_is_covered_by_a_scenario(tmp_path) -> None:
    passed = set()
    for scenario in SCENARIOS:
        folder = str(tmp_path / scenario.name)
        scenario.build(os.path.join(folder, "base"))
        passes, _, _ = _passes(scenario, os.path.join(folder, "base"), folder)
        passed |= {place.partition(":")[0] for place in passes}
    assert set(PLACES) - passed == set()
