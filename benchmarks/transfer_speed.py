"""Measures an import of memories into a new store, the same import again, their export, and `undo`.

Prints wall and processor time of each command and its peak memory, for N records and for ten times as many,
and how much memory each further record takes. Other programs on the machine change the wall time, above all
that of the files synced to disk. Targets for 10,000 records: import below 15 s, export below 3 s. Usage:
``python -m benchmarks.transfer_speed [N] [--format FORMAT] [--once]``.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from thunderus_mem.interop.values import raw_hash

if TYPE_CHECKING:
    from collections.abc import Iterator

WORDS = [
    "auth",
    "token",
    "cache",
    "deploy",
    "index",
    "build",
    "test",
    "retry",
    "queue",
    "worker",
    "schema",
    "endpoint",
    "parser",
    "lock",
]
TYPES = ("Decision", "Learning", "Error", "Context", "Pattern")


def memories(count: int) -> Iterator[dict[str, Any]]:
    """Made-up memories in the unified schema, the same for the same number."""
    chosen = random.Random(count)
    for at in range(count):
        text = f"Memory {at}: {' '.join(chosen.choices(WORDS, k=40))}."
        yield {
            "id": f"550e8400-e29b-41d4-a716-{at:012d}",
            "content": text,
            "content_hash": raw_hash(text),
            "type": chosen.choice(TYPES),
            "tags": chosen.sample(WORDS, 3),
            "source_type": "user",
            "credibility": 0.9,
            "created_at": "2024-12-30T10:00:00Z",
            "updated_at": "2024-12-30T14:30:00Z",
            "quality_score": 0.5,
            "access_count": 3,
            "metadata": {"project": "x"},
        }


def write(path: Path, count: int) -> None:
    """Write memories one by one: a command begins with the peak memory of the program that starts it."""
    with path.open("w", encoding="utf-8") as file:
        for at, memory in enumerate(memories(count)):
            file.write(("," if at else "[") + json.dumps(memory))
        file.write("]")


def measured(root: str, *arguments: str) -> int:
    """Run a command and print what it took; return its peak memory in KiB."""
    start = time.perf_counter()
    command = [sys.executable, "-m", "thunderus_mem", "--quiet", *arguments]
    done = subprocess.Popen(command, cwd=root, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(done.pid, 0)
    done.returncode = os.waitstatus_to_exitcode(status)
    if done.returncode:
        raise subprocess.CalledProcessError(done.returncode, command)
    wall = time.perf_counter() - start
    print(
        f"{' '.join(arguments[:2]):16} {wall:7.1f} s, user {used.ru_utime:6.1f} s, system "
        f"{used.ru_stime:5.1f} s, {used.ru_maxrss >> 10:,} MiB"
    )
    return used.ru_maxrss


def peaks(count: int, form: str) -> dict[str, int]:
    """Run the commands with so many records; return their peak memory in KiB."""
    print(f"{count:,} records")
    with tempfile.TemporaryDirectory() as root:
        subprocess.run(["git", "init", "-q"], cwd=root, check=True)
        write(Path(root, "m.json"), count)
        measured(root, "init")
        return {
            "import": measured(root, "import", "shodh", "m.json"),
            "import again": measured(root, "import", "shodh", "m.json"),
            "export": measured(root, "export", form, "-o", "out.json"),
            "undo": measured(root, "undo"),
        }


def main() -> None:
    """Measure import, a second import, export and undo."""
    parser = argparse.ArgumentParser(description="Measure import and export of records.")
    parser.add_argument("count", nargs="?", type=int, default=10_000)
    parser.add_argument("--format", default="shodh")
    parser.add_argument("--once", action="store_true", help="not for ten times as many")
    options = parser.parse_args()
    few = peaks(options.count, options.format)
    if not options.once:
        many = peaks(options.count * 10, options.format)
        for command, size in few.items():
            each = (many[command] - size) / (options.count * 9)
            print(f"{command:16} {many[command] / size:.2f} times the memory, {each:.2f} KiB a record")


if __name__ == "__main__":
    main()
