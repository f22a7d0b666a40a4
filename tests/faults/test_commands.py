"""C3 through the command line: each writing command fails or dies at every pass of every failpoint.

The next ordinary command heals and ends well; what was acknowledged is there; each document is old or new;
an independent reader finds nothing; index and manifest agree with the files.
"""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

import pytest
import report
from commands import COMMANDS, Command, state
from harness import KILLED, KNOWN_CODES, Tally, copy
from verify_store import verify

if TYPE_CHECKING:
    from command_server import Done, Server
    from harness import State

ON = {"THUNDERUS_MEM_FAILPOINTS": "1"}


def _passes(server: Server, command: Command, base: str, folder: str) -> tuple[list[str], State, State]:
    root, trace = copy(base, os.path.join(folder, "golden")), os.path.join(folder, "trace")
    old = state(root)
    done = command.run(server, root, env=ON | {"FAILPOINT": f"trace={trace}"})
    assert done.code == 0, done
    with open(trace, encoding="utf-8") as stream:
        return stream.read().split(), old, state(root)


def said_plainly(done: Done) -> None:
    """Whatever happened: a known code, no traceback, and on failure one error with a way out."""
    assert "Traceback" not in done.err, done
    assert done.code in KNOWN_CODES | {1} | {-9, 137}, done
    if done.code in KNOWN_CODES - {0, 6}:
        assert done.err.count("error: ") == 1, done


def steps_of(command: Command, old: State, new: State) -> bool:
    """Whether the command is several events, each of them whole, so that a part of them may be done."""
    return command.name in ("garden", "lint-fix", "init") and new.events - old.events > 1


def judge(server: Server, command: Command, root: str, done: Done, golden: tuple[State, State]) -> bool:
    """Heal and look; says whether something acknowledged is lost."""
    old, new = golden
    said_plainly(done)
    if done.code == 0:
        assert state(root) == new, done
    healing = command.healed(server, root)
    assert healing.code == 0, (done, healing)
    assert verify(root, settled=True) == [], (done, healing)
    found = state(root)
    acknowledged = done.code in (0, 6)
    if command.heal == command.arguments:
        old = new
    if not steps_of(command, *golden):
        assert found in (old, new), (done, healing, found)
    after = command.healed(server, root, 1)
    assert after.code == 0, after
    assert state(root) == found
    checked = server.run("manifest", "--check", cwd=root)
    assert checked.code == 0, checked
    if not acknowledged and found == golden[0]:
        again = command.run(server, root)
        assert again.code in (0, 1), (done, again)
        assert state(root).documents == new.documents, (done, again)
    return acknowledged and found != new


@pytest.mark.parametrize("kind", ["kill", "raise"])
@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_a_command_stopped_at_every_pass_is_healed_by_the_next(
    command: Command, kind: str, tmp_path, server: Server
) -> None:
    folder = str(tmp_path)
    base = os.path.join(folder, "base")
    command.build(server, base)
    passes, old, new = _passes(server, command, base, folder)
    tally, wrong = Tally(), list[str]()
    for place in passes:
        name, _, turn = place.partition(":")
        root = copy(base, os.path.join(folder, "store"))
        begun = time.monotonic()
        done = command.run(server, root, env=ON | {"FAILPOINT": f"{name}:{kind}:{turn}"})
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
    assert tally.tried >= 10
