"""C8: a command interrupted, terminated or hung up at any time leaves an intact store.

Reads and writes get each signal at random times of their run; writes are judged as after any other fault.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest
import report
from commands import Command, call, named, state
from harness import REPOSITORY, Tally, copy
from tidying import MOST
from tier import NIGHT, points

from tests.support.verify_store import verify

if TYPE_CHECKING:
    from tests.support.command_server import Done, Server

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
READS: tuple[tuple[str, ...], ...] = (
    ("search", "rows"),
    ("show", "fact.limits"),
    ("list",),
    ("status",),
    ("log",),
    ("why", "fact.limits"),
    ("events", "verify"),
    ("lint",),
    ("doctor",),
    ("index", "rebuild"),
    ("garden",),
)


def _ended(done: Done, number: int) -> None:
    """Ended by the signal, or in an orderly way after it; never with a traceback."""
    assert done.code in (0, 1, 6, 128 + number, -number), done
    assert "Traceback" not in done.err, done
    assert "bug" not in done.err, done


def _judge(server: Server, command: Command, root: str, done: Done, golden: tuple[object, object]) -> bool:
    old, new = golden
    if done.code == 0:
        assert state(root) == new, done
    healing = command.healed(server, root)
    assert healing.code == 0, (done, healing)
    assert verify(root, settled=command.settles) == [], (done, healing)
    found = state(root)
    if command.name not in ("garden", "garden-both", "lint-fix", "init"):
        assert found in (old, new), (done, healing, found)
    return done.code in (0, 6) and found != new


@pytest.mark.parametrize("command", MOST, ids=lambda command: command.name)
def test_interrupted_write_is_complete_or_absent(command: Command, tmp_path, server: Server) -> None:
    folder, tally, wrong = str(tmp_path), Tally(), list[str]()
    base, chance = os.path.join(folder, "base"), random.Random(command.name)
    command.build(server, base)
    root = copy(base, os.path.join(folder, "golden"))
    old, began = state(root), time.monotonic()
    assert command.run(server, root).code == 0
    lasts = time.monotonic() - began
    golden = old, state(root)
    for number in SIGNALS:
        for _ in range(points(1, 20)):
            after = chance.uniform(0, lasts)
            root = copy(base, os.path.join(folder, "store"))
            done = command.run(server, root, signalled=(number, after))
            try:
                _ended(done, number)
                tally.lost += _judge(server, command, root, done, golden)
            except AssertionError as error:
                wrong.append(f"{signal.Signals(number).name} after {after:.4f} s: {error}")
            tally.tried += 1
            tally.healed += 1
    report.add("C8", command.name, **vars(tally))
    assert not wrong, "\n".join(wrong)
    assert tally.lost == 0


def test_interrupted_read_changes_nothing(tmp_path, server: Server) -> None:
    root, chance, tried = os.path.join(str(tmp_path), "store"), random.Random(8), 0
    named("add").build(server, root)
    for turn, arguments in enumerate(READS):
        began = time.monotonic()
        call(server, root, arguments, "2026-01-21T10:00:00Z")
        lasts, before = time.monotonic() - began, state(root)
        for number in SIGNALS if NIGHT else SIGNALS[turn % 3 :][:1]:
            for _ in range(points(1, 20)):
                signalled = (number, chance.uniform(0, lasts))
                _ended(call(server, root, arguments, "2026-01-21T10:00:00Z", signalled=signalled), number)
                tried += 1
        assert state(root) == before, arguments
    assert server.run("index", "manifest", "--check", cwd=root).code in (0, 1)
    assert server.run("list", cwd=root).code == 0
    assert verify(root, settled=True) == []
    report.add("C8", "reads", tried=tried)


@pytest.mark.parametrize("line", ["{} | true", "{} >&-", "{} <&-", "{} | head -c 1 >/dev/null", "{} 2>&-"])
def test_closed_streams_are_no_error(line: str, tmp_path, server: Server, sealed) -> None:
    from tests.conftest import sealed_environment

    root = os.path.join(str(tmp_path), "store")
    named("add").build(server, root)
    reads = READS if NIGHT else READS[:2]
    for arguments in reads:
        command = " ".join([sys.executable, "-m", "thunderus_mem", *arguments])
        ran = subprocess.run(
            ["bash", "-o", "pipefail", "-c", line.format(command)],
            cwd=root,
            env=sealed_environment(sealed) | {"PYTHONPATH": REPOSITORY},
            capture_output=True,
            timeout=30,
        )
        assert ran.returncode in (0, 1), ran
        assert b"Traceback" not in ran.stderr
    report.add("C8", f"streams {line}", tried=len(reads))
