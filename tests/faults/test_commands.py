"""C3 through the command line: each writing command fails or dies at every pass of every failpoint.

The next command recovers and succeeds; acknowledged changes are on disk; each document is old or new;
an independent reader finds nothing; index and manifest agree with the files.
"""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

import pytest
import report
from commands import Command, state
from harness import KILLED, Tally, copy
from judging import judge
from tidying import EVERY
from tier import share

from tests.support.failpoints import tried

if TYPE_CHECKING:
    from harness import State

    from tests.support.command_server import Server


def _passes(server: Server, command: Command, base: str, folder: str) -> tuple[list[str], State, State]:
    root, trace = copy(base, os.path.join(folder, "store")), os.path.join(folder, "trace")
    old = state(root)
    done = command.run(server, root, env={"FAILPOINT": f"trace={trace}"})
    assert done.code == 0, done
    with open(trace, encoding="utf-8") as stream:
        return stream.read().split(), old, state(root)


@pytest.mark.parametrize("kind", ["kill", "raise"])
@pytest.mark.parametrize("command", EVERY, ids=lambda command: command.name)
def test_command_interrupted_at_every_failpoint_is_recovered(
    command: Command, kind: str, tmp_path, server: Server
) -> None:
    folder = str(tmp_path)
    base, root = command.made(server, folder)
    passes, old, new = _passes(server, command, base, folder)
    tally, wrong = Tally(), list[str]()
    for place in share(tried(passes, kind), 3, command.name + kind):
        name, _, turn = place.partition(":")
        copy(base, root)
        begun = time.monotonic()
        done = command.run(server, root, env={"FAILPOINT": f"{name}:{kind}:{turn}"})
        if kind == "kill":
            assert done.code in KILLED, (place, done)
        try:
            tally.lost += judge(server, command, root, done, (old, new))
        except AssertionError as error:
            wrong.append(f"at {place}: {error}")
        tally.tried += 1
        tally.healed += 1
        tally.slowest = max(tally.slowest, time.monotonic() - begun)
    report.add("C3-cli", f"{command.name}-{kind}", **vars(tally))
    assert not wrong, "\n".join(wrong)
    assert tally.lost == 0
    assert tally.tried >= len(tried(passes, kind)) // 3
    assert len(passes) >= 6
