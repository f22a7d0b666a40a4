"""The benchmark itself: it starts as a script and accepts a target met by wall or CPU time."""

from __future__ import annotations

import subprocess
import sys

from benchmarks.bench import Result, Time, report
from tests.conftest import PROJECT


def test_the_benchmark_starts_as_a_script() -> None:
    done = subprocess.run(
        [sys.executable, "benchmarks/bench.py", "--help"], cwd=PROJECT, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_target_is_met_by_wall_or_cpu_time() -> None:
    target = Time(50.0, 50.0)
    busy, slow = Result("busy", Time(90.0, 40.0), target), Result("slow", Time(90.0, 80.0), target)
    assert (busy.ok, slow.ok) == (True, False)
    assert [line.split()[-1] for line in report([busy, slow]).split("\n")] == ["ok", "yes", "NO"]
