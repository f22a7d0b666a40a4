"""How fast it is, against the floor of a minimal one-command Typer app timed in the same run.

``python -m benchmarks.bench [--quick]`` prints measure, value, ratio to the floor, target; exits 1 when a
target is
missed. Whole processes are timed in turns, so that a busy machine slows all of them; the median counts.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING

from benchmarks.make_store import make_store
from thunderus_mem.projection.refresh import open_index, rebuild, refresh
from thunderus_mem.store.layout import Layout

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_FLOOR = (
    "import typer\n"
    "app = typer.Typer(pretty_exceptions_enable=False, add_completion=False, rich_markup_mode=None)\n"
    "@app.command()\n"
    "def main(word: str) -> None:\n"
    "    print(word)\n"
    "app()\n"
)
# Stands for the command line until there is one.
_STAND_IN = (
    "import sys, typer\n"
    "from thunderus_mem.model.query import parse_query\n"
    "from thunderus_mem.projection.refresh import ask\n"
    "from thunderus_mem.recall.search import search\n"
    "from thunderus_mem.store.layout import Layout\n"
    "app = typer.Typer(pretty_exceptions_enable=False, add_completion=False, rich_markup_mode=None)\n"
    "@app.command()\n"
    "def main(root: str, word: str) -> None:\n"
    "    for hit in ask(Layout(root), lambda index: search(index, parse_query(word), root=root)):\n"
    "        print(hit.id, hit.snippet)\n"
    "app()\n"
)
_WORD = "schema"


@dataclass(frozen=True, slots=True)
class Result:
    """One measure in milliseconds, and what it may be at most."""

    name: str
    value: float
    target: float
    ratio: float | None = None

    @property
    def ok(self) -> bool:
        """Whether it keeps the target."""
        return self.value <= self.target


def timed(action: Callable[[], object]) -> float:
    """Milliseconds of one call."""
    start = time.perf_counter()
    action()
    return (time.perf_counter() - start) * 1000


def run(arguments: list[str]) -> None:
    """One whole process, quiet; any exit code but a crash is fine."""
    done = subprocess.run(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
    if done.returncode not in (0, 1):
        raise SystemExit(f"{' '.join(arguments[:6])} … failed:\n{done.stderr.decode(errors='replace')}")


def in_turns(commands: Mapping[str, list[str]], rounds: int) -> dict[str, float]:
    """The median time of each command, all of them once in each round."""
    times: dict[str, list[float]] = {name: [] for name in commands}
    for number in range(rounds + 1):
        for name, arguments in commands.items():
            taken = timed(lambda arguments=arguments: run(arguments))  # type: ignore[misc]
            if number:  # the first round warms the disk cache
                times[name].append(taken)
    return {name: statistics.median(values) for name, values in times.items()}


def median(action: Callable[[], object], rounds: int) -> float:
    """The median time of an action in this process."""
    return statistics.median(timed(action) for _ in range(rounds))


def whole_processes(stores: Mapping[int, str], rounds: int) -> list[Result]:
    """Search (and where they exist: add, lint) as a person starts them."""
    python = [sys.executable]
    command_line = find_spec("thunderus_mem.__main__") is not None
    commands = {"floor": [*python, "-c", _FLOOR, "word"]}
    for count, root in stores.items():
        tool = [*python, "-m", "thunderus_mem", "-C", root]
        commands[f"search {count}"] = (
            [*tool, "search", _WORD] if command_line else [*python, "-c", _STAND_IN, root, _WORD]
        )
        if shutil.which("rg"):
            memory = os.path.join(root, ".thunderus/memory")
            commands[f"rg {count}"] = ["rg", "-uu", "-c", _WORD, "-g", "*.md", memory]
    smallest = min(stores)
    if command_line:
        tool = [*python, "-m", "thunderus_mem", "-C", stores[smallest]]
        commands["lint --staged"] = [*tool, "lint", "--staged"]
        commands["add --dry-run"] = [
            *tool,
            "add",
            "fact",
            "A benchmark of adding",
            "--tag",
            "bench",
            "--dry-run",
        ]
    times = in_turns(commands, rounds)
    floor = times["floor"]
    limits = {"search 1000": 1.4, "search 10000": 1.7, "add --dry-run": 2.5, "lint --staged": 2.0}
    results = [Result("floor (minimal Typer app)", floor, float("inf"), 1.0)]
    for name, value in times.items():
        if name != "floor":
            limit = limits.get(name, float("inf")) * floor
            if name == "search 10000" and "rg 10000" in times:
                limit = min(limit, times["rg 10000"])
            results.append(Result(name, value, limit, value / floor))
    return results


def in_process(root: str, count: int, rounds: int) -> list[Result]:
    """Refresh without changes, and with one changed file, manifest included."""
    layout = Layout(root)
    index, _ = open_index(layout)
    idle = median(lambda: refresh(layout, index), rounds)
    path = os.path.join(root, index.documents()[count // 2].path)
    with open(path, encoding="utf-8") as handle:
        text = handle.read()

    def change() -> float:
        with open(path, "a", encoding="utf-8") as handle:
            handle.write(f"\nOne more line {time.time_ns()}.\n")
        return timed(lambda: refresh(layout, index))

    changed = statistics.median(change() for _ in range(rounds))
    with open(path, "w", encoding="utf-8") as handle:
        handle.write(text)
    refresh(layout, index)
    index.close()
    return [
        Result(f"refresh without changes, {count}", idle, 50.0),
        Result(f"one changed file on top, {count}", changed - idle, 30.0),
    ]


def report(results: list[Result]) -> str:
    """The table."""
    lines = [f"{'measure':34} {'ms':>9} {'× floor':>8} {'target':>9}  ok"]
    for result in results:
        ratio = f"{result.ratio:.2f}" if result.ratio is not None else "-"
        target = f"{result.target:.0f}" if result.target != float("inf") else "-"
        lines.append(
            f"{result.name:34} {result.value:9.1f} {ratio:>8} {target:>9}  {'yes' if result.ok else 'NO'}"
        )
    return "\n".join(lines)


def main() -> int:
    """Command line; the exit code."""
    parser = argparse.ArgumentParser(description="Measure speed against the targets.")
    parser.add_argument("--quick", action="store_true", help="fewer rounds")
    parser.add_argument(
        "--stores", default="", help="keep the made-up stores in this folder and use them again"
    )
    given = parser.parse_args()
    rounds = 5 if given.quick else 15
    folder = given.stores or tempfile.mkdtemp(prefix="bench-")
    try:
        stores = {count: os.path.join(folder, str(count)) for count in (1000, 5000, 10000)}
        for count, root in stores.items():
            if not os.path.isdir(root):
                make_store(root, count, events=count)
            open_index(Layout(root))[0].close()
        time.sleep(2.1)  # until no file is so young that it has to be read again
        results = whole_processes({count: stores[count] for count in (1000, 10000)}, rounds)
        results.append(Result("rebuild, 5000", median(lambda: rebuild(Layout(stores[5000])), 3), 1500.0))
        results += in_process(stores[10000], 10000, rounds)
    finally:
        if not given.stores:
            shutil.rmtree(folder)
    print(report(results))
    return 0 if all(result.ok for result in results) else 1


if __name__ == "__main__":
    raise SystemExit(main())
