"""C4: the power fails after any operation of a command, and only what was synced is sure to be there.

The trace is that of the real command. Each state the disk may be left in is made in a folder; an independent
reader looks at it, the next ordinary command runs, and nothing acknowledged may be lost.
"""

from __future__ import annotations

import base64
import os
import random
import shutil
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pytest
import report
import tier
from commands import COMMANDS, FURTHER, Command, missing_words, state
from harness import State, Tally, copy
from judging import check_manifest
from power import Disk, Tree, read_tree, write_tree
from tidying import MOST

from tests.support.verify_store import normal_hash, verify

if TYPE_CHECKING:
    from tests.support.command_server import Server

BY_NAME = {command.name: command for command in COMMANDS}
STEPS = frozenset({"garden", "garden-both", "lint-fix", "init", "events-add"})
"""Commands of several events, which may be partly done."""


@dataclass(frozen=True)
class Workload:
    """Commands that run one after the other, all of them traced, on the store of the first."""

    name: str
    commands: tuple[Command, ...]

    @property
    def whole(self) -> bool:
        """Whether each command is one event."""
        return not any(command.name in STEPS for command in self.commands)


def _then(*words: tuple[str, ...]) -> tuple[Command, ...]:
    return tuple(replace(BY_NAME["add"], name=one[0], arguments=one) for one in words)


_EDIT = ("edit", "fact.ports", "--body", "The service listens on 9090.")
WORKLOADS = (
    *(Workload(command.name, (command,)) for command in (*MOST, FURTHER[-1])),
    Workload(
        "add, edit, remove", _then(BY_NAME["add"].arguments, _EDIT, ("remove", "fact.ports", "-m", "no"))
    ),
    Workload(
        "note, add", _then(("events", "add", "--kind", "note", "--body", "Seen."), BY_NAME["add"].arguments)
    ),
)


@dataclass(frozen=True)
class Trace:
    """The disk operations, and how many there were when each command was acknowledged."""

    operations: tuple[tuple[str, str, bytes], ...]
    acknowledged: tuple[int, ...]
    known: tuple[State, ...]


def _trace(server: Server, workload: Workload, base: str, root: str) -> Trace:
    operations: list[tuple[str, str, bytes]] = []
    ends: list[int] = []
    known = [state(copy(base, root))]
    for number, command in enumerate(workload.commands):
        env = {"THUNDERUS_MEM_NOW": f"2026-01-21T10:00:{number:02d}Z"}
        done = command.run(server, root, arm={"power:record": [root]}, env=env)
        assert done.code == 0, done
        heard = done.seen["operations"]
        operations += [(name, path, base64.b64decode(detail)) for name, path, detail in heard]
        ends.append(len(operations))
        known.append(state(root))
    return Trace(tuple(operations), tuple(ends), tuple(known))


def _states(trace: Trace, base: str, root: str) -> dict[Tree, int]:
    """Every possible state after a power failure, with the number of acknowledged commands."""
    dice, disk = random.Random(4), Disk(base, root, block=tier.points(256, 8))
    found: dict[Tree, int] = {}
    for at in range(len(trace.operations) + 1):
        if at:
            disk.follow(*trace.operations[at - 1])
        acknowledged = sum(end <= at for end in trace.acknowledged)
        for tree in disk.states(dice):
            found[tree] = max(acknowledged, found.get(tree, 0))
    # The recorder misses nothing: the complete trace gives the state on disk.
    assert disk.settled() == read_tree(root)
    return found


def _chosen(states: dict[Tree, int], most: int) -> list[tuple[Tree, int]]:
    everything = list(states.items())
    if len(everything) <= most:
        return everything
    return random.Random(7).sample(everything, most)


def _texts(trace: Trace, base: str, root: str) -> set[str]:
    """Every text a document ever had, as hashes."""
    texts = {digest for one in trace.known for _, digest in one.documents}
    texts |= {normal_hash(data) for name, _, data in trace.operations if name == "write"}
    return texts


def _mixed(tree: Tree, texts: set[str]) -> list[str]:
    """Documents that are neither old nor new: empty, cut or of two texts."""
    return [
        path
        for path, data in tree
        if data is not None
        and path.startswith(".thunderus/memory/")
        and path.endswith(".md")
        and normal_hash(data) not in texts
    ]


def _judge(
    server: Server, workload: Workload, root: str, trace: Trace, acknowledged: int, *, closer: bool
) -> tuple[bool, bool]:
    """Recover with the next command; return whether anything acknowledged is lost and anything recovered."""
    healing = workload.commands[-1].healed(server, root)
    assert healing.code == 0, healing
    assert verify(root, settled=workload.commands[-1].settles) == [], healing
    assert missing_words(root, workload.commands[-1]) == [], healing
    found = state(root)
    if workload.whole:
        assert found in trace.known[acknowledged:] or acknowledged == 0 or found in trace.known, found
        lost = found not in trace.known[acknowledged:]
    else:
        lost = acknowledged == len(trace.acknowledged) and found != trace.known[-1]
    if closer:
        check_manifest(server, root)
        again = workload.commands[-1].healed(server, root, 1)
        assert again.code == 0, again
        assert state(root) == found
    return lost, "interrupted" in healing.err


@pytest.mark.parametrize("workload", WORKLOADS, ids=lambda workload: workload.name)
def test_no_power_failure_loses_what_was_acknowledged(workload: Workload, tmp_path, server: Server) -> None:
    base, root = workload.commands[0].made(server, str(tmp_path))
    trace = _trace(server, workload, base, root)
    states = _states(trace, base, root)
    texts = _texts(trace, base, root)
    tally = Tally()
    for number, (tree, acknowledged) in enumerate(_chosen(states, tier.points(25, 2500))):
        copy(base, root)
        shutil.rmtree(os.path.join(root, ".thunderus"), ignore_errors=True)
        write_tree(root, tree)
        begun = time.monotonic()
        assert _mixed(tree, texts) == []
        lost, healed = _judge(server, workload, root, trace, acknowledged, closer=number % 8 == 0)
        tally.lost += lost
        tally.healed += healed
        tally.tried += 1
        tally.slowest = max(tally.slowest, time.monotonic() - begun)
    report.add("C4", workload.name, **vars(tally))
    assert tally.lost == 0
