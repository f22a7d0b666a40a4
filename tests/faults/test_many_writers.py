"""K1, K5, K6: many concurrent writers; a lock holder that is killed; one that is stuck."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import pytest
import report
from harness import HERE, REPOSITORY, environment, shards
from scenarios import WRITER
from tier import points

from tests.support.verify_store import verify
from thunderus_mem.errors import Busy
from thunderus_mem.store.lock import held

WORKERS, EACH = 8, 200
HOLDER = (
    "import sys, time; from thunderus_mem.store.lock import held\n"
    "with held(sys.argv[1], command='garden'):\n    print('held', flush=True); time.sleep(60)\n"
)


def test_eight_writers_lose_nothing(tmp_path) -> None:
    root = str(tmp_path)
    begun = time.monotonic()
    workers = [
        subprocess.Popen(
            [sys.executable, os.path.join(HERE, "writer.py"), root, "burst", str(number), str(EACH)],
            env=environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for number in range(WORKERS)
    ]
    outputs = [worker.communicate(timeout=240) for worker in workers]
    assert [worker.returncode for worker in workers] == [0] * WORKERS, [error for _, error in outputs]
    assert [error for _, error in outputs] == [""] * WORKERS
    acked = {
        line.split()[1] for output, _ in outputs for line in output.splitlines() if line.startswith("acked")
    }
    with open(shards(root)[0], "rb") as stream:
        found = [json.loads(line)["event_id"] for line in stream]
    assert len(found) == len(set(found)) == WORKERS * EACH
    report.add(
        "K1", "8 x 200", tried=WORKERS * EACH, lost=len(acked - set(found)), slowest=time.monotonic() - begun
    )
    assert acked == set(found)
    assert verify(root, settled=True) == []


def _holder(lock: str) -> subprocess.Popen[str]:
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER, lock],
        env=environment(),
        stdout=subprocess.PIPE,
        text=True,
        cwd=REPOSITORY,
    )
    assert holder.stdout is not None
    assert holder.stdout.readline() == "held\n"
    return holder


def test_lock_of_a_killed_process_is_released(tmp_path) -> None:
    lock = str(tmp_path / ".lock")
    slowest, count = 0.0, points(20, 100)
    for _ in range(count):
        with _holder(lock) as holder:
            holder.send_signal(signal.SIGKILL)
            holder.wait()
            begun = time.monotonic()
            with held(lock, timeout=1.0, command="next"):
                slowest = max(slowest, time.monotonic() - begun)
    report.add("K5", "killed holder", tried=count, healed=count, slowest=slowest)


def test_stuck_lock_holder_is_reported(tmp_path) -> None:
    root = str(tmp_path)
    assert WRITER.run(root, ("change", "a=eins")).code == 0
    lock = os.path.join(root, ".thunderus", ".lock")
    with _holder(lock) as holder:
        try:
            with open(shards(root)[0], "rb") as stream:
                before = stream.read()
            for _ in range(20):
                with pytest.raises(Busy) as caught, held(lock, timeout=0.05):
                    pass
                assert f"process {holder.pid} on {os.uname().nodename} (garden" in str(caught.value)
                assert caught.value.exit_code == 75
            with open(shards(root)[0], "rb") as stream:
                assert stream.read() == before
        finally:
            holder.kill()
    report.add("K6", "stuck holder", tried=20)
