"""How fast it is, against the floor of a minimal one-command Typer app timed in the same run.

``python benchmarks/bench.py [--quick] [--stores FOLDER]`` prints measure, value, ratio to the floor, target
and whether it is met; the exit code is 1 when one is missed. Whole processes are started in turns, so that a
busy machine slows all of them alike, and the fastest of each counts: others can only add time. Beside it
stands the processor time (user and system, children included), which neighbours disturb less. A measure is
met when either keeps the target.
"""

from __future__ import annotations

import argparse
import compileall
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

PROJECT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, PROJECT)

from benchmarks.anchored_store import change_code, make_anchored_store  # noqa: E402
from benchmarks.make_store import make_store  # noqa: E402
from thunderus_mem.index.refresh import open_index, rebuild, refresh  # noqa: E402
from thunderus_mem.store.layout import Layout  # noqa: E402

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
# What the installed script does.
_PROGRAM = "from thunderus_mem.__main__ import main; main()"
_WORD = "schema"
_SMALL, _MIDDLE, _LARGE, _HUGE = 1000, 5000, 10000, 50000
_LONG_PAGE = 4800  # characters
_SEARCH_LIMITS = {_SMALL: 1.4, _LARGE: 1.5, _HUGE: 6.0}
_ADD_LIMITS = {_SMALL: 2.5, _LARGE: 3.5, _HUGE: 15.0}
_ANCHORED, _CHANGED = 500, 5
_SETTLED = 2.1  # seconds until no file is so young that it has to be read again


class Time(NamedTuple):
    """Milliseconds: on the clock, and of the processor."""

    clock: float
    processor: float


class Result(NamedTuple):
    """One measure. ``ratio`` is to the floor, of clock and processor; a measure without a target has an
    infinite one."""

    name: str
    time: Time
    target: Time
    ratio: Time | None = None

    @property
    def ok(self) -> bool:
        """Whether it keeps the target."""
        return self.time.clock <= self.target.clock or self.time.processor <= self.target.processor


NO_TARGET = Time(float("inf"), float("inf"))


def timed(action: Callable[[], object]) -> Time:
    """How long one call takes, the processes it waits for included."""
    clock, processor = time.perf_counter(), _processor()
    action()
    return Time((time.perf_counter() - clock) * 1000, (_processor() - processor) * 1000)


def _processor() -> float:
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(one.ru_utime + one.ru_stime for one in used)


def least(times: list[Time]) -> Time:
    """The smallest of each kind."""
    return Time(min(one.clock for one in times), min(one.processor for one in times))


def environment() -> dict[str, str]:
    """This process's, without what would make Python compile every file anew."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    return kept | {"PYTHONPATH": PROJECT}


def run(arguments: list[str]) -> None:
    """One whole process, quiet; any exit code but a crash is fine."""
    done = subprocess.run(
        arguments,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env=environment(),
        check=False,
    )
    if done.returncode not in (0, 1):
        raise SystemExit(f"{' '.join(arguments[:6])} … failed:\n{done.stderr.decode(errors='replace')}")


def in_turns(commands: Mapping[str, Callable[[], list[str]]], rounds: int) -> dict[str, Time]:
    """The least time of each command, all of them once in each round."""
    times: dict[str, list[Time]] = {name: [] for name in commands}
    for number in range(rounds + 1):
        for name, command in commands.items():
            arguments = command()
            taken = timed(partial(run, arguments))
            if number:  # the first round warms the disk cache
                times[name].append(taken)
    return {name: least(values) for name, values in times.items()}


class Commands:
    """The command lines that are timed, over made-up stores by their number of documents."""

    def __init__(self, stores: Mapping[int, str], edited: Mapping[int, str], anchored: str) -> None:
        self._stores = stores
        self._edited = edited
        self._anchored = anchored
        self._added = 0

    def all(self) -> dict[str, Callable[[], list[str]]]:
        """Functions that return the next command line, by name."""
        found: dict[str, Callable[[], list[str]]] = {"floor": lambda: [sys.executable, "-c", _FLOOR, "word"]}
        for count in _SEARCH_LIMITS:
            root = self._stores[count]
            found[f"search {count}"] = lambda root=root: self._tool(root, "search", _WORD)  # type: ignore[misc]
            if shutil.which("rg"):
                memory = os.path.join(root, ".thunderus/memory")
                rg = ["rg", "-c", _WORD, "-g", "*.md", memory]
                found[f"rg {count}"] = lambda rg=rg: rg  # type: ignore[misc]
        found["lint --staged"] = lambda: self._tool(self._edited[_SMALL], "lint", "--staged")
        found["check --staged"] = lambda: self._tool(self._anchored, "check", "--staged")
        for count, root in self._edited.items():
            found[f"add {count}"] = partial(self._add, root)
        return found

    def _add(self, root: str) -> list[str]:
        """Another document each time: adding the same again would be refused."""
        self._added += 1
        title, body = f"Benchmark {self._added} of adding", f"Text number {self._added} of the benchmark."
        return self._tool(root, "add", "fact", title, "--tag", "bench", "--body", body)

    def _tool(self, root: str, *arguments: str) -> list[str]:
        return [sys.executable, "-c", _PROGRAM, "-C", root, *arguments]


def edited_store(root: str, count: int) -> str:
    """A store in git with one document staged, to lint and to add to."""
    paths = make_store(root, count)
    identity = ["-c", "user.name=Bench", "-c", "user.email=bench@example.org"]
    quiet = {"cwd": root, "check": True, "stdout": subprocess.DEVNULL}
    subprocess.run(["git", "init", "-q"], **quiet)  # type: ignore[call-overload]
    run([sys.executable, "-c", _PROGRAM, "-C", root, "init"])
    subprocess.run(["git", "add", "-A"], **quiet)  # type: ignore[call-overload]
    subprocess.run(["git", *identity, "commit", "-q", "-m", "Start"], **quiet)  # type: ignore[call-overload]
    with open(os.path.join(root, paths[0]), "a", encoding="utf-8") as handle:
        handle.write("\nOne more line.\n")
    subprocess.run(["git", "add", "-A"], **quiet)  # type: ignore[call-overload]
    open_index(Layout(root))[0].close()
    return root


def anchored_store(root: str) -> str:
    """A store of documents that talk about code, with a change of five of its files staged."""
    os.makedirs(root)
    cited = make_anchored_store(root, _SMALL, _ANCHORED, 1)
    run([sys.executable, "-c", _PROGRAM, "-C", root, "init"])
    run([sys.executable, "-c", _PROGRAM, "-C", root, "check"])
    change_code(root, cited[:_CHANGED])
    return root


def all_anchors(root: str) -> list[Result]:
    """Every anchor of a large tree judged, with nothing remembered and with everything."""
    os.makedirs(root)
    make_anchored_store(root, _MIDDLE, _MIDDLE // 3, 3)
    run([sys.executable, "-c", _PROGRAM, "-C", root, "init"])
    remembered = Layout(root).verdicts_file
    time.sleep(_SETTLED)

    def check(*, cold: bool) -> Time:
        if cold and os.path.exists(remembered):
            os.unlink(remembered)
        return timed(partial(run, [sys.executable, "-c", _PROGRAM, "-C", root, "check"]))

    cold = least([check(cold=True) for _ in range(3)])
    warm = least([check(cold=False) for _ in range(5)])
    return [
        Result(f"check of {_MIDDLE} anchors, first", cold, Time(4000.0, 4000.0)),
        Result(f"check of {_MIDDLE} anchors, again", warm, Time(400.0, 400.0)),
    ]


def long_pages(root: str, rounds: int) -> list[Result]:
    """Rebuild and full lint of many long documents."""
    make_store(root, _LARGE, characters=_LONG_PAGE)
    lint = [sys.executable, "-c", _PROGRAM, "-C", root, "lint", "--format", "concise"]
    built = least([timed(lambda: rebuild(Layout(root))) for _ in range(rounds)])
    linted = least([timed(partial(run, lint)) for _ in range(rounds)])
    return [
        Result(f"rebuild, {_LARGE} long pages", built, Time(4000.0, 0)),
        Result(f"lint, {_LARGE} long pages", linted, Time(6000.0, 0)),
    ]


def whole_processes(
    stores: Mapping[int, str], edited: Mapping[int, str], anchored: str, rounds: int
) -> list[Result]:
    """Search, add, lint and check as a person starts them."""
    times = in_turns(Commands(stores, edited, anchored).all(), rounds)
    floor = times["floor"]
    limits = {"lint --staged": 2.0, "check --staged": 2.5}
    limits |= {f"search {count}": limit for count, limit in _SEARCH_LIMITS.items()}
    limits |= {f"add {count}": limit for count, limit in _ADD_LIMITS.items()}
    results = []
    for name, taken in times.items():
        limit = limits.get(name, float("inf"))
        target = Time(floor.clock * limit, floor.processor * limit)
        ratio = Time(taken.clock / floor.clock, taken.processor / floor.processor)
        results.append(Result(name, taken, target, ratio))
    if f"rg {_LARGE}" in times:
        ripgrep = times[f"rg {_LARGE}"].clock
        # Where rg ends before an empty program of our kind begins to work, there is nothing to keep.
        target = Time(ripgrep, 0) if ripgrep > floor.clock else NO_TARGET
        results.append(Result(f"search {_LARGE} against rg", times[f"search {_LARGE}"], target))
    return results


def in_process(root: str, rounds: int) -> list[Result]:
    """Refresh without changes, and with one changed file, manifest included."""
    layout = Layout(root)
    index, _ = open_index(layout)
    idle = least([timed(lambda: refresh(layout, index)) for _ in range(rounds)])
    path = os.path.join(root, index.documents()[_LARGE // 2].path)
    with open(path, encoding="utf-8") as handle:
        text = handle.read()

    def change() -> Time:
        with open(path, "a", encoding="utf-8") as handle:
            handle.write(f"\nOne more line {time.time_ns()}.\n")
        return timed(lambda: refresh(layout, index))

    changed = least([change() for _ in range(rounds)])
    with open(path, "w", encoding="utf-8") as handle:
        handle.write(text)
    refresh(layout, index)
    index.close()
    more = Time(changed.clock - idle.clock, changed.processor - idle.processor)
    return [
        Result(f"refresh without changes, {_LARGE}", idle, Time(50.0, 50.0)),
        Result(f"one changed file on top, {_LARGE}", more, Time(30.0, 30.0)),
    ]


def report(results: list[Result]) -> str:
    """The table."""
    lines = [f"{'measure':32} {'ms':>8} {'cpu ms':>8} {'× floor':>8} {'× cpu':>6} {'target':>8}  ok"]
    for one in results:
        ratios = (f"{one.ratio.clock:.2f}", f"{one.ratio.processor:.2f}") if one.ratio else ("-", "-")
        target = f"{one.target.clock:.0f}" if one.target != NO_TARGET else "-"
        lines.append(
            f"{one.name:32} {one.time.clock:8.1f} {one.time.processor:8.1f} {ratios[0]:>8} {ratios[1]:>6} "
            f"{target:>8}  {'yes' if one.ok else 'NO'}"
        )
    return "\n".join(lines)


def measured(folder: str, rounds: int) -> list[Result]:
    """All results, over stores made in ``folder`` unless they are there."""
    compileall.compile_dir(os.path.join(PROJECT, "thunderus_mem"), quiet=1)
    stores = {count: os.path.join(folder, str(count)) for count in (_SMALL, _MIDDLE, _LARGE, _HUGE)}
    for count, root in stores.items():
        if not os.path.isdir(root):
            make_store(root, count, events=count)
        open_index(Layout(root))[0].close()
    time.sleep(_SETTLED)
    for root in stores.values():
        open_index(Layout(root))[0].close()
    with tempfile.TemporaryDirectory(prefix="bench-") as edited:
        to_edit = {
            count: edited_store(os.path.join(edited, f"store-{count}"), count) for count in _ADD_LIMITS
        }
        anchored = anchored_store(os.path.join(edited, "anchored"))
        time.sleep(_SETTLED)
        results = whole_processes(stores, to_edit, anchored, rounds)
        results += all_anchors(os.path.join(edited, "large"))
        results += long_pages(os.path.join(edited, "long"), 3)
    built = least([timed(lambda: rebuild(Layout(stores[_MIDDLE]))) for _ in range(3)])
    results.append(Result(f"rebuild, {_MIDDLE}", built, Time(1500.0, 1500.0)))
    return results + in_process(stores[_LARGE], rounds)


def main() -> int:
    """Command line; the exit code."""
    parser = argparse.ArgumentParser(description="Measure speed against the targets.")
    parser.add_argument("--quick", action="store_true", help="fewer rounds")
    parser.add_argument(
        "--stores", default="", help="keep the made-up stores in this folder and use them again"
    )
    given = parser.parse_args()
    folder = given.stores or tempfile.mkdtemp(prefix="bench-")
    try:
        results = measured(folder, 5 if given.quick else 15)
    finally:
        if not given.stores:
            shutil.rmtree(folder)
    print(report(results))
    return 0 if all(result.ok for result in results) else 1


if __name__ == "__main__":
    raise SystemExit(main())
