"""E8: with little memory each command does its work or reports that memory ran out; nothing is lost."""

from __future__ import annotations

import resource
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest
import report
from commands import named, state
from harness import copy
from judging import judge
from tier import points

from tests.conftest import sealed_environment

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.command_server import Server

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits the memory of a process")
AMOUNTS = range(0, 12 << 20, points(1 << 20, 1 << 16))
"""Bytes of memory that a command may take in addition to what its process has."""
LIMITS = range(24 << 20, 64 << 20, points(8 << 20, 2 << 20))
"""Bytes that a whole process may take; with less the interpreter does not get to the program."""


@pytest.mark.parametrize("name", ["add", "edit", "rename"])
def test_changes_are_complete_or_refused_with_little_memory(
    name: str, tmp_path: Path, server: Server
) -> None:
    command = named(name)
    base, root = command.made(server, str(tmp_path))
    old = state(copy(base, root))
    assert command.run(server, root).code == 0
    golden = (old, state(root))
    codes, lost, slowest = [], 0, 0.0
    for more in AMOUNTS:
        copy(base, root)
        begun = time.monotonic()
        done = command.run(server, root, arm={"limits:allow_memory": [more]})
        slowest = max(slowest, time.monotonic() - begun)
        codes.append(done.code)
        assert done.code in (0, 4, 6), (more, done)
        assert done.code == 0 or "memory" in done.err, (more, done)
        lost += judge(server, command, root, done, golden, closer=False)
    report.add("E8", name, tried=len(codes), lost=lost, slowest=slowest)
    assert lost == 0
    assert {0, 4} <= set(codes)


def test_programs_with_little_memory_succeed_or_report_it(
    tmp_path: Path, sealed: Path, server: Server
) -> None:
    root = str(tmp_path / "store")
    named("add").build(server, root)
    before, codes = state(root), []
    for limit in LIMITS:
        for words in (("search", "retries"), ("status",), ("index", "rebuild")):
            done = subprocess.run(
                [sys.executable, "-m", "thunderus_mem", *words],
                cwd=root,
                env=sealed_environment(sealed),
                capture_output=True,
                text=True,
                check=False,
                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)),  # noqa: B023
            )
            if done.returncode == 1 and "thunderus_mem" not in done.stderr:
                continue  # the interpreter failed before it got to the program
            codes.append(done.returncode)
            assert done.returncode in (0, 4), (limit, words, done)
            assert done.returncode == 0 or "memory" in done.stderr, (limit, words, done)
            assert "Traceback" not in done.stderr.partition("Exception ignored in")[0], (limit, words, done)
            assert state(root) == before, (limit, words)
    report.add("E8", "programs", tried=len(codes))
    assert {0, 4} <= set(codes)
