"""C3: at every pass of every failpoint a process raises or dies; nothing acknowledged is lost."""

from __future__ import annotations

import os
import time

import pytest
import report
from harness import KILLED, Scenario, State, Tally, copy, judge, state
from scenarios import SCENARIOS

from thunderus_mem.store.disk import NAMES


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
def test_a_fault_at_every_pass_leaves_the_old_or_the_new_state(
    scenario: Scenario, kind: str, tmp_path
) -> None:
    folder = str(tmp_path)
    base = os.path.join(folder, "base")
    scenario.build(base)
    passes, old, new = _passes(scenario, base, folder)
    tally = Tally()
    for place in passes:
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


def test_every_failpoint_is_passed_by_some_scenario(tmp_path) -> None:
    passed = set()
    for scenario in SCENARIOS:
        folder = str(tmp_path / scenario.name)
        scenario.build(os.path.join(folder, "base"))
        passes, _, _ = _passes(scenario, os.path.join(folder, "base"), folder)
        passed |= {place.partition(":")[0] for place in passes}
    assert set(NAMES) - passed == set()
    assert len(NAMES) >= 25
