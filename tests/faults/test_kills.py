"""C1, C2, C7: the real command line killed before any call that changes the disk, or at any moment.

The next command recovers and succeeds; acknowledged changes are on disk; each document is old or new.
Recovery is killed as well, and ends where one that was left alone does.
"""

from __future__ import annotations

import os
import random
import shutil
import time
from typing import TYPE_CHECKING

import pytest
import report
import traced
from commands import FURTHER, RECOVERIES, Command, state
from harness import KILLED, Tally, copy
from judging import judge
from tidying import EVERY
from tier import points, share

from tests.support.command_server import Done, HungError

if TYPE_CHECKING:
    from harness import State
    from traced import Place

    from tests.support.command_server import Server

SPARSE = 16
"""Of SQLite's page writes, which follow each other by the hundred, one in this many with every change."""


def _golden(server: Server, command: Command, base: str, root: str) -> tuple[State, State]:
    """The states before and after a run that is left alone."""
    old = None if command.torn else state(copy(base, root))
    done = command.run(server, copy(base, root))
    assert done.code == 0, done
    new = state(root)
    return old or new, new


def _places(server: Server, command: Command, base: str, root: str, log: str) -> list[Place]:
    done = command.run(server, copy(base, root), arm=traced.count(log))
    assert done.code == 0, done
    found = traced.places(log, root)
    pages = share([place for place in found if place.call == "pwrite64"], SPARSE, command.name)
    others = share([place for place in found if place.call != "pwrite64"], 8, command.name)
    return [place for place in found if place in {*pages, *others}]


def _kill_everywhere(server: Server, command: Command, folder: str) -> Tally:
    log = os.path.join(folder, "log")
    base, root = command.made(server, folder)
    golden = _golden(server, command, base, root)
    tally, wrong = Tally(), list[str]()
    for number, place in enumerate(_places(server, command, base, root, log)):
        begun = time.monotonic()
        done = command.run(server, copy(base, root), arm=traced.kill(place, log))
        try:
            tally.lost += judge(server, command, root, done, golden, closer=number % 6 == 0)
        except AssertionError as error:
            wrong.append(f"at {place}: {error}")
        tally.healed += done.code in KILLED
        tally.tried += 1
        tally.slowest = max(tally.slowest, time.monotonic() - begun)
    shutil.rmtree(base)
    assert not wrong, "\n".join(wrong)
    assert tally.healed >= tally.tried * 0.9
    return tally


@pytest.mark.filterwarnings("default::UserWarning")
@pytest.mark.parametrize("command", [*EVERY, *FURTHER, *RECOVERIES[:3]], ids=lambda command: command.name)
def test_command_killed_before_any_disk_change(command: Command, tmp_path, server: Server) -> None:
    if not traced.works():
        traced.skip_loudly("C1-cli")
    tally = _kill_everywhere(server, command, str(tmp_path))
    report.add("C1-cli", command.name, **vars(tally))
    assert tally.lost == 0


@pytest.mark.filterwarnings("default::UserWarning")
@pytest.mark.parametrize("command", RECOVERIES[3:], ids=lambda command: command.name)
def test_recovery_is_idempotent(command: Command, tmp_path, server: Server) -> None:
    if not traced.works():
        traced.skip_loudly("C7")
    tally = _kill_everywhere(server, command, str(tmp_path))
    report.add("C7", command.name, **vars(tally))
    assert tally.lost == 0


@pytest.mark.parametrize("command", [*EVERY, RECOVERIES[3]], ids=lambda command: command.name)
def test_command_killed_at_any_moment(command: Command, tmp_path, server: Server) -> None:
    base, root = command.made(server, str(tmp_path))
    golden = _golden(server, command, base, root)
    begun = time.monotonic()
    command.run(server, copy(base, root))
    usual = time.monotonic() - begun
    dice, tally = random.Random(command.name), Tally()
    for number in range(points(6, 500)):
        copy(base, root)
        begun = time.monotonic()
        try:
            done = command.run(server, root, timeout=dice.random() * usual * 1.1)
        except HungError:
            done = Done(-9, "", "")
        tally.lost += judge(server, command, root, done, golden, closer=number % 20 == 0)
        tally.healed += done.code in KILLED
        tally.tried += 1
        tally.slowest = max(tally.slowest, time.monotonic() - begun)
    shutil.rmtree(base)
    report.add("C2", command.name, **vars(tally))
    assert tally.lost == 0
