"""Work distributed over processes: in order, and done by the caller if a process fails."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.code_scene import Scene
from tests.support.waiting import until
from thunderus_mem.git.changes import changes_since, code_paths, destination, files_naming, merge_base
from thunderus_mem.git.history import ObjectReader
from thunderus_mem.store import parallel
from thunderus_mem.verdicts.code import CodePast

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

PARENT = os.getpid()


@pytest.fixture(autouse=True)
def three(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel, "processors", lambda: 3)


@pytest.mark.parametrize("count", [0, 1, 2, 3, 10, 1000])
def test_results_have_the_order_of_the_input(count: int) -> None:
    found = parallel.spread(range(count), lambda some: [[one, os.getpid()] for one in some])
    assert [one for one, _ in found] == list(range(count))
    assert len({process for _, process in found}) == min(count, 3)


def test_process_with_threads_starts_no_workers() -> None:
    """A forked process lacks the other threads, so it can wait for them forever."""
    asked = (
        "import os, threading; from thunderus_mem.store import parallel\n"
        "alone, stop = parallel.processors(), threading.Event()\n"
        "other = threading.Thread(target=stop.wait); other.start()\n"
        "found = parallel.processors(); stop.set(); other.join()\n"
        "assert alone == min(len(os.sched_getaffinity(0)), 4), alone; assert found == 1, found"
    )
    subprocess.run([sys.executable, "-c", asked], check=True, timeout=60)


def test_share_of_a_failed_process_is_left_to_the_caller() -> None:
    def work(some: Sequence[int]) -> list[Any]:
        if os.getpid() != PARENT and 7 in some:
            os._exit(1) if some[0] < 5 else os.kill(os.getpid(), 9)
        if os.getpid() != PARENT and 9 in some:
            raise ValueError(some)
        return [str(one) for one in some]

    assert parallel.spread(range(9), work) == [*map(str, range(6)), None, None, None]
    assert parallel.spread(range(12), work) == [
        *map(str, range(4)),
        None,
        None,
        None,
        None,
        None,
        None,
        None,
        None,
    ]


def test_interrupt_leaves_no_process_running(tmp_path: Path) -> None:
    def work(some: Sequence[int]) -> list[Any]:
        if os.getpid() == PARENT:
            until(lambda: len(list(tmp_path.iterdir())) == 2)
            raise KeyboardInterrupt
        (tmp_path / str(os.getpid())).touch()
        time.sleep(600)
        return [*some]

    with pytest.raises(KeyboardInterrupt):
        parallel.spread(range(9), work)
    for process in tmp_path.iterdir():
        with pytest.raises(ProcessLookupError):
            os.kill(int(process.name), 0)


def test_git_reports_changes(tmp_path: Path) -> None:
    scene = Scene(tmp_path / "repo")
    for name in ("a.txt", "b c.txt", "-d.txt", "ü/e.txt"):
        scene.write(name, f"text of {name}\n" * 5)
    first = scene.commit()
    scene.repository.git("mv", "a.txt", "ü/moved.txt")
    scene.change("b c.txt", "text", "other")
    scene.repository.git("rm", "-q", "--", "-d.txt")
    second = scene.commit()
    scene.repository.git("mv", "ü/moved.txt", "again.txt")
    scene.commit()
    scene.write("new.txt", "word\n")
    git = scene.git()
    assert git is not None
    since = changes_since(git, first)
    assert since is not None
    assert since.renamed == {"a.txt": "again.txt"}
    assert since.touched == ("again.txt", "b c.txt")
    assert since.gone == {"a.txt", "-d.txt"}
    between = changes_since(git, first, second)
    assert between is not None
    assert between.renamed == {"a.txt": "ü/moved.txt"}
    exists = {"again.txt", "b c.txt", "new.txt"}.__contains__
    assert destination(git, "a.txt", "HEAD", exists) == "again.txt"
    assert destination(git, "a.txt", second, exists) == "ü/moved.txt"
    assert destination(git, "-d.txt", "HEAD", exists) is None
    assert code_paths(git) == ["again.txt", "b c.txt", "new.txt", "ü/e.txt"]
    assert code_paths(git, first) == ["-d.txt", "a.txt", "b c.txt", "ü/e.txt"]
    assert files_naming(git, ["word", "other"]) == ["b c.txt", "new.txt"]
    assert files_naming(git, ["text"], first) == ["-d.txt", "a.txt", "b c.txt", "ü/e.txt"]
    assert files_naming(git, ["wor"]) == []
    for wrong in ("-x", "--output=x", "a b", "0" * 40, "HEAD:x", "\0"):
        assert changes_since(git, wrong) is None
        assert merge_base(git, wrong) is None
    assert merge_base(git, "") is None
    assert changes_since(git, "") == changes_since(git, "HEAD")
    assert merge_base(git, "HEAD~1") == second
    with ObjectReader(git) as reader:
        assert reader.read(first, "a.txt") == b"text of a.txt\n" * 5
        assert reader.read(first, "none.txt") is None
        assert reader.read("", "b c.txt") == b"other of b c.txt\n" * 5
        assert reader.read(first, "a\nb") is None
        assert [commit.sha for commit, _ in CodePast(git, reader).versions("b c.txt")] == [second, first]
    assert reader.read(first, "a.txt") is None, "closed"
    with ObjectReader(git, limit=10) as small:
        assert small.read(first, "a.txt") is None
        assert small.read(first, "-d.txt") is None


def test_background_work_is_done_by_the_caller_if_no_thread_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*given: object) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr("_thread.start_new_thread", refused)
    assert parallel.in_background(lambda: 3)() == 3


@pytest.mark.parametrize("count", [0, 3, 40])
def test_overlapping_calls_get_each_thing_once_also_after_an_error(count: int) -> None:
    done: list[int] = []
    parallel.overlap(range(count), done.append)
    assert sorted(done) == list(range(count))
    seen: list[int] = []

    def work(thing: int) -> None:
        seen.append(thing)
        if thing == 2:
            raise OSError(thing)

    if count:
        with pytest.raises(OSError, match="2"):
            parallel.overlap(range(count), work)
        assert len(seen) >= count - count // parallel._AT_ONCE


def test_background_work_raises_its_error_in_the_caller() -> None:
    def work() -> None:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        parallel.in_background(work)()


def test_work_of_a_thread_that_ends_before_it_begins_is_done_by_the_caller(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(parallel, "_BEGIN_SECONDS", 0.01)
    monkeypatch.setattr("_thread.start_new_thread", lambda run, arguments: 1)
    assert parallel.in_background(lambda: "done")() == "done"


@pytest.mark.parametrize(("error", "enabled"), [(ValueError, True), (KeyboardInterrupt, False)])
def test_interrupt_does_not_collect_the_garbage_of_a_process_that_ends(
    error: type[BaseException], enabled: bool
) -> None:
    with parallel.gc_paused():
        assert not gc.isenabled()
    assert gc.isenabled()
    try:
        with pytest.raises(error), parallel.gc_paused():
            raise error
        assert gc.isenabled() == enabled
    finally:
        gc.enable()
