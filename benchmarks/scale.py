"""How time and memory grow: each command on stores that double in size, and how soon it stops when asked.

``python benchmarks/scale.py [--documents N] [--events N] [--stores FOLDER]`` makes stores of N/8, N/4, N/2
and N documents and events, prints the processor time and the most memory of each command, and
time(2n)/time(n). The exit code is 1 when a doubling costs more than 2.5 times, or when a command does not
stop within a second of an interrupt.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import tempfile
import time
from itertools import pairwise
from typing import NamedTuple

PROJECT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, PROJECT)

from benchmarks.bench import environment  # noqa: E402
from benchmarks.make_store import make_store  # noqa: E402

_STEPS = (8, 4, 2, 1)
_MOST_GROWTH = 2.5
_FLOOR_SECONDS = 0.4
"""Below this a process mostly starts and ends, and its growth says nothing."""
_STOPS_WITHIN = 1.0
_FEW = 1000

_ON_DOCUMENTS = (
    ("index rebuild", ["index", "rebuild"]),
    ("search", ["search", "schema", "migration"]),
    ("list --kind adr", ["list", "--kind", "adr"]),
    ("status", ["status"]),
    ("lint", ["lint", "--format", "concise"]),
    ("manifest --check", ["index", "manifest", "--check"]),
    ("garden", ["garden"]),
)
_ON_EVENTS = (
    ("log, first time", ["log", "--limit", "5"]),
    ("log", ["log", "--limit", "5"]),
    ("status", ["status"]),
    ("events verify", ["events", "verify"]),
    (
        "add",
        ["add", "fact", "A limit of the queue", "--tag", "limits", "--body", "It holds 512 jobs."],
    ),
)
_INTERRUPTED = (
    ["index", "rebuild"],
    ["lint"],
    ["status"],
    ["index", "manifest", "--check"],
    ["garden"],
    ["events", "verify"],
)


class Used(NamedTuple):
    """What one process used: seconds of the processor, and the most memory at once in MB."""

    seconds: float
    megabytes: float


def run(root: str, arguments: list[str]) -> Used:
    """One whole process."""
    program = [sys.executable, "-m", "thunderus_mem", "-C", root, *arguments]
    quiet = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_RDWR, 0) for number in (0, 1, 2)]
    process = os.posix_spawn(sys.executable, program, environment(), file_actions=quiet)
    _, status, usage = os.wait4(process, 0)
    code = os.waitstatus_to_exitcode(status)
    if code not in (0, 1):
        raise SystemExit(f"{' '.join(arguments)} in {root} ended with {code}")
    return Used(usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def curve(title: str, roots: dict[int, str], commands: tuple[tuple[str, list[str]], ...]) -> list[str]:
    """Print a table of all commands over all sizes; returns those that grew too fast."""
    problems = []
    print(f"\n{title:18}" + "".join(f"{size:>12,}{'':>10}" for size in roots) + "  time(2n)/time(n)")
    for name, arguments in commands:
        used = {size: run(root, arguments) for size, root in roots.items()}
        seconds = [one.seconds for one in used.values()]
        growth = [later / earlier for earlier, later in pairwise(seconds) if later > _FLOOR_SECONDS]
        cells = "".join(f"{one.seconds:>10.2f} s{one.megabytes:>7.0f} MB" for one in used.values())
        print(f"{name:18}{cells}  {' '.join(f'{ratio:.2f}' for ratio in growth) or '-'}")
        problems += [
            f"{name}: {ratio:.2f} times for twice as many" for ratio in growth if ratio > _MOST_GROWTH
        ]
    return problems


def interrupts(root: str) -> list[str]:
    """Interrupt each long command in the middle; returns those that went on."""
    problems = []
    print(f"\n{'interrupted':18}{'stopped after':>14}{'code':>6}")
    for arguments in _INTERRUPTED:
        for after in (0.3, 2.0):
            program = [sys.executable, "-m", "thunderus_mem", "-C", root, *arguments]
            quiet = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_RDWR, 0) for number in (0, 1, 2)]
            # A run in the background ignores interrupts, and every process it starts inherits that.
            process = os.posix_spawn(
                sys.executable, program, environment(), file_actions=quiet, setsigdef=[signal.SIGINT]
            )
            time.sleep(after)
            os.kill(process, signal.SIGINT)
            asked = time.perf_counter()
            code = os.waitstatus_to_exitcode(os.wait4(process, 0)[1])
            taken = time.perf_counter() - asked
            print(f"{' '.join(arguments):18}{taken:>12.2f} s{code:>6}")
            if taken > _STOPS_WITHIN or code not in (0, 1, 130):
                problems.append(f"{' '.join(arguments)}: stopped after {taken:.2f} s with {code}")
    return problems


def stores(folder: str, documents: int, events: int) -> tuple[dict[int, str], dict[int, str]]:
    """Made-up stores that double: one row of documents, one of events. What is there already is used."""
    by_documents, by_events = {}, {}
    for share in _STEPS:
        by_documents[documents // share] = _store(folder, documents // share, 0)
        by_events[events // share] = _store(folder, _FEW, events // share)
    return by_documents, by_events


def _store(folder: str, documents: int, events: int) -> str:
    root = os.path.join(folder, f"{documents}-{events}")
    if not os.path.isdir(root):
        make_store(root, documents, events=events)
    return root


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--documents", type=int, default=100_000)
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--stores", help="a folder to keep the stores in")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        by_documents, by_events = stores(given.stores or temporary, given.documents, given.events)
        problems = curve("documents", by_documents, _ON_DOCUMENTS)
        problems += curve("events", by_events, _ON_EVENTS)
        problems += interrupts(by_documents[given.documents])
    print(
        "\n" + ("\n".join(problems) or "Nothing grew faster than it may, and everything stopped when asked.")
    )
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
