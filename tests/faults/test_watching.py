"""P9: a watcher without watches, under bursts and storms: one message, and it ends where the files are."""

from __future__ import annotations

import errno
import os
import queue
import random
import shutil
import threading
import time
from typing import TYPE_CHECKING

import pytest
import report
from commands import FACTS
from tier import points

from tests.support.index_support import document
from tests.watch.test_watch import NoWatchesLeft
from thunderus_mem import watch as watch_module
from thunderus_mem.index.scan import scan
from thunderus_mem.memory.memory import open_memory
from thunderus_mem.watch import WatchedMemory, WatchTurn, watch

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

PATIENCE = 60.0


class Watch:
    """A watcher of a real memory on its own thread, and the files it believes to be there."""

    def __init__(self, root: Path, factory: Callable[[], object] | None = None) -> None:
        self.root = root
        self.said: list[str] = []
        self.seen: dict[str, bool] = dict.fromkeys(_there(root), True)
        self._turns: queue.Queue[WatchTurn] = queue.Queue()
        self._stop, begun = threading.Event(), threading.Event()

        def say(text: str) -> None:
            self.said.append(text)
            if text.startswith("Watching"):
                begun.set()

        watched = WatchedMemory(lambda: open_memory(str(root)))
        self._thread = threading.Thread(
            target=watch,
            args=(watched, self._turns.put, say, self._stop),
            kwargs={"every": 0.1, "observer_factory": factory},
            daemon=True,
        )
        self._thread.start()
        assert begun.wait(PATIENCE)

    def converged(self) -> float:
        """Wait until the watcher knows of exactly the files that are there; how long that took."""
        begun = time.monotonic()
        while {path for path, there in self.seen.items() if there} != _there(self.root):
            assert time.monotonic() < begun + PATIENCE
            try:
                turn = self._turns.get(timeout=0.2)
            except queue.Empty:
                continue
            self.seen |= dict.fromkeys((*turn.added, *turn.modified), True)
            self.seen |= dict.fromkeys(turn.removed, False)
        return time.monotonic() - begun

    def end(self) -> None:
        self._stop.set()
        self._thread.join(PATIENCE)
        assert not self._thread.is_alive()


def _there(root: Path) -> set[str]:
    return set(scan(str(root), (FACTS,)).paths())


def put(root: Path, name: str, text: str = "x") -> None:
    path = root / FACTS / f"{name}.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(document(f"fact.{name.replace('/', '.')}", f"{text}\n"))


@pytest.fixture
def store(tmp_path: Path) -> Path:
    put(tmp_path, "begun")
    return tmp_path


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EMFILE, errno.ENOSYS])
def test_watch_falls_back_to_polling_with_one_notice(store: Path, code: int) -> None:
    it = Watch(store, lambda: NoWatchesLeft(code))
    slowest = 0.0
    for turn in range(10):
        put(store, f"n{turn}")
        slowest = max(slowest, it.converged())
    it.end()
    assert len([text for text in it.said if "cannot watch" in text]) == 1
    report.add("P9", errno.errorcode[code], tried=10, slowest=slowest)


def test_watch_falls_back_when_the_limit_is_reached_later(store: Path) -> None:
    """The store is exchanged, and by then no watch is left."""
    made: list[object] = []

    def factory() -> object:
        made.append(watch_module.new_observer() if not made else NoWatchesLeft(errno.ENOSPC))
        return made[-1]

    it = Watch(store, factory)
    for _ in range(2):
        os.rename(store / ".thunderus", store / "away")
        shutil.copytree(store / "away", store / "copy")
        os.rename(store / "copy", store / ".thunderus")
        shutil.rmtree(store / "away")
        put(store, f"back-{len(made)}")
        it.converged()
    it.end()
    assert len([text for text in it.said if "cannot watch" in text]) == 1
    report.add("P9", "exchanged", tried=2)


@pytest.fixture(params=["watched", "polled"])
def factory(request: pytest.FixtureRequest) -> Callable[[], object] | None:
    return None if request.param == "watched" else (lambda: NoWatchesLeft(errno.ENOSPC))


def test_watch_handles_a_burst(store: Path, factory: Callable[[], object] | None) -> None:
    count = points(150, 10_000) if factory is None else points(52, 1_000)
    it = Watch(store, factory)
    for number in range(count):
        put(store, f"burst-{number}")
    slowest = it.converged()
    it.end()
    memory = open_memory(str(store))
    memory.refresh()
    assert memory.index.count() == count + 1
    memory.index.close()
    report.add("P9", "burst", tried=count, slowest=slowest)


def test_watch_handles_many_renames(store: Path, factory: Callable[[], object] | None) -> None:
    chance, count = random.Random(1), points(40, 400)
    it = Watch(store, factory)
    for number in range(8):
        put(store, f"deep/n{number}")
    it.converged()
    base = store / FACTS
    for turn in range(count):
        files = sorted(base.rglob("*.md"))
        action = chance.choice(["rename", "rename", "remove", "folder", "write"])
        if action == "rename" and files:
            os.rename(chance.choice(files), base / f"moved-{turn}.md")
        elif action == "remove" and len(files) > 2:
            os.unlink(chance.choice(files))
        elif action == "folder":
            os.rename(base, store / "aside")
            os.rename(store / "aside", base)
        else:
            put(store, f"n{turn}", f"Turn {turn}")
    slowest = it.converged()
    it.end()
    report.add("P9", "storm", tried=count, slowest=slowest)


def test_watch_handles_folders_removed_and_recreated(
    store: Path, factory: Callable[[], object] | None
) -> None:
    count = points(3, 20)
    it = Watch(store, factory)
    for turn in range(count):
        put(store, f"n{turn}")
        it.converged()
        os.rename(store / FACTS, store / "aside")
        it.converged()
        os.rename(store / "aside", store / FACTS)
        it.converged()
    it.end()
    report.add("P9", "removed and back", tried=count)
