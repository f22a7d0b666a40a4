"""A long day in one store: writers that are killed, a gardener, rebuilds, readers, commits and checkouts.

``python tests/faults/soak.py [MINUTES]`` (3 without). Each minute everybody stops, an independent reader
looks, and every event that was ever acknowledged must be in the working tree or in a commit. One process
lives as long as the soak; its memory and its open files must not grow.
"""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE), os.path.dirname(os.path.dirname(HERE))]

from hands import Hand  # noqa: E402

from tests.conftest import GITCONFIG, sealed_environment  # noqa: E402
from tests.support.command_server import Done, HungError, Server  # noqa: E402
from tests.support.verify_store import parse_line, shards, verify  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable

WRITERS = 4
BRANCHES = ("main", "topic")
CODES = {0, 1, 2, 3, 4, 5, 6, 75, 137, -9}
GROWTH = 1.05
"""What the process that lives on may grow by, once it is warm."""


@dataclass
class Tally:
    """What a soak saw."""

    tried: int = 0
    lost: int = 0
    healed: int = 0
    slowest: float = 0.0
    commands: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)


class Soak:
    """One store and all its users."""

    def __init__(self, folder: str, seed: int = 1) -> None:
        self.root, self.home = os.path.join(folder, "store"), os.path.join(folder, "home")
        for place in (self.root, self.home):
            os.makedirs(place)
        Path(self.home, ".gitconfig").write_text(GITCONFIG, encoding="utf-8")
        plain = sealed_environment(Path(self.home))
        fixed = ("THUNDERUS_MEM_NOW", "THUNDERUS_MEM_SEED", "GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE")
        self.environ = {name: value for name, value in plain.items() if name not in fixed}
        self.dice = random.Random(seed)
        self.tally = Tally()
        self.acknowledged: set[str] = set()
        self._note = threading.Lock()
        self.git("init", "-q", "-b", "main")
        with self._server() as server:
            self._run(server, "init")
            for number in range(8):
                self._add(server, 90 + number)
        self.git("add", "-A")
        self.git("commit", "-qm", "Begin")
        self.git("branch", "topic")

    def _server(self) -> _Closing:
        return _Closing(Server(tempfile.mkdtemp(dir=self.home), self.environ))

    def git(self, *words: str) -> subprocess.CompletedProcess[bytes]:
        """One git command in the store; it may fail."""
        return subprocess.run(
            ["git", *words], cwd=self.root, env=self.environ, capture_output=True, check=False
        )

    def _run(self, server: Server, *words: str, kill_after: float = 60) -> Done:
        begun = time.monotonic()
        try:
            done = server.run(*words, cwd=self.root, timeout=kill_after)
        except HungError:
            done = Done(-9, "", "")
        with self._note:
            self.tally.tried += 1
            self.tally.healed += done.code == -9
            self.tally.commands[f"{words[0]} {done.code}"] += 1
            self.tally.slowest = max(self.tally.slowest, time.monotonic() - begun)
            if "Traceback" in done.err or "database is locked" in done.err or done.code not in CODES:
                self.tally.wrong.append(f"{words}: {done.code} {done.err[-300:]}")
        return done

    def _kill_after(self, dice: random.Random) -> float:
        return dice.random() * 0.25 if dice.random() < 0.2 else 60

    def _add(self, server: Server, number: int) -> None:
        words = f"Number {number} was seen {self.dice.random()} of the time"
        self._run(server, "add", "fact", f"Fact {number}", "--tag", "soak", "--body", f"{words}.")

    def writer(self, number: int, stop: threading.Event) -> None:
        """Notes are what acknowledges: each prints the id of its event."""
        dice = random.Random(f"{self.dice.random()} {number}")
        with self._server() as server:
            while not stop.is_set():
                self._write_something(server, number, dice)

    def _write_something(self, server: Server, number: int, dice: random.Random) -> None:
        target, other = (f"fact.fact-{90 + dice.randrange(8)}" for _ in range(2))
        turn = dice.randrange(10_000)
        choice = dice.randrange(8)
        kill_after = self._kill_after(dice)
        if choice == 0:
            title = f"Worker {number} turn {turn}"
            words = ("add", "fact", title, "--tag", "soak", "--body", f"{title}.")
            self._run(server, *words, kill_after=kill_after)
        elif choice == 1:
            self._run(server, "edit", target, "--body", f"Turn {turn} of {number}.", kill_after=kill_after)
        elif choice == 2:
            self._run(server, "link", target, "refers_to", other, kill_after=kill_after)
        elif choice == 3:
            self._run(server, "edit", target, "--tag", f"t{turn % 7}", kill_after=kill_after)
        else:
            done = self._run(
                server,
                "events",
                "add",
                "--kind",
                "note",
                "--body",
                f"{number} saw {turn}",
                kill_after=kill_after,
            )
            if done.code == 0:
                with self._note:
                    self.acknowledged.add(done.out.split()[0])

    def upkeep(self, stop: threading.Event) -> None:
        """A gardener, rebuilds, doctor and readers, one after the other."""
        works = (
            ("garden", "--apply"), ("index", "rebuild"), ("search", "worker turn"), ("list", "--ids"),
            ("lint",), ("doctor",), ("doctor", "--fix"), ("log",), ("status",),
            ("index", "manifest", "--check"),
        )  # fmt: skip
        dice = random.Random(self.dice.random())
        with self._server() as server:
            while not stop.is_set():
                self._run(server, *dice.choice(works), kill_after=self._kill_after(dice))

    def repository(self, stop: threading.Event) -> None:
        """Commits, and now and then the other branch."""
        dice = random.Random(self.dice.random())
        while not stop.wait(dice.uniform(1, 3)):
            self.git("add", "-A")
            self.git("commit", "-qm", "Meanwhile")
            if dice.random() < 0.3:
                self.git("switch", "-q", dice.choice(BRANCHES))

    def minute(self, seconds: float) -> None:
        """Everybody at work for so long, then all stop and the store is looked at."""
        stop = threading.Event()
        works: list[Callable[[], None]] = [
            *(lambda number=number: self.writer(number, stop) for number in range(WRITERS)),  # type: ignore[misc]
            lambda: self.upkeep(stop),
            lambda: self.repository(stop),
        ]
        threads = [threading.Thread(target=work) for work in works]
        for thread in threads:
            thread.start()
        time.sleep(seconds)
        stop.set()
        for thread in threads:
            thread.join()
        self._look()

    def _look(self) -> None:
        with self._server() as server:
            healing = self._run(server, "events", "add", "--kind", "note", "--body", "All stop.")
            assert healing.code == 0, healing
            problems = verify(self.root)
            if problems:
                self.tally.wrong += problems
            for words in (("events", "verify"), ("index", "manifest", "--check")):
                done = self._run(server, *words)
                assert done.code == 0, (words, done)
        lost = self.acknowledged - self._known()
        self.tally.lost += len(lost)
        self.tally.wrong += [f"{event_id} was acknowledged and is nowhere" for event_id in sorted(lost)]
        self.acknowledged -= lost

    def _known(self) -> set[str]:
        """Every event in the working tree, or in a commit of any branch."""
        found = set()
        for shard in shards(self.root):
            with open(shard, "rb") as stream:
                found |= _ids(stream.read())
        for branch in BRANCHES:
            found |= _ids(self.git("grep", "-h", '"id":"evt_', branch, "--", "*.jsonl").stdout)
        return found


class _Closing:
    """A server that is closed when its block ends."""

    def __init__(self, server: Server) -> None:
        self._server = server

    def __enter__(self) -> Server:
        return self._server

    def __exit__(self, *trouble: object) -> None:
        self._server.close()


def _ids(data: bytes) -> set[str]:
    found = set()
    for line in data.splitlines():
        try:
            found.add(str(parse_line(line)["id"]))
        except (ValueError, KeyError):
            continue
    return found


class Lasting:
    """One process that does what commands do, again and again, as long as the soak."""

    def __init__(self, soak: Soak) -> None:
        self.hand = Hand(soak.root, soak.environ)
        self._process = self.hand._process
        self.sizes: list[tuple[int, int]] = []

    def work(self, times: int) -> None:
        """Some commands, then a look at the process."""
        for number in range(times):
            for words in (
                ("search", "worker turn"),
                ("events", "add", "--kind", "note", "--body", f"lasting {number}"),
                ("list",),
                ("lint",),
            ):
                self.hand.run(*words)
        with open(f"/proc/{self._process.pid}/statm", encoding="ascii") as stream:
            pages = int(stream.read().split()[1])
        self.sizes.append((pages, len(os.listdir(f"/proc/{self._process.pid}/fd"))))

    def growth(self) -> str:
        """What grew since it was warm; "" when nothing did."""
        (warm, files), (now, files_now) = self.sizes[len(self.sizes) // 3], self.sizes[-1]
        if now > warm * GROWTH + 512:
            return f"memory grew from {warm * 4} to {now * 4} KiB"
        return f"open files grew from {files} to {files_now}" if files_now > files else ""


def soak(minutes: float, folder: str, *, show: Callable[[str], Any] = print) -> Tally:
    """Soak for so many minutes; a round of at most one minute ends with a look."""
    running = Soak(folder)
    lasting = Lasting(running) if os.path.isdir("/proc/self/fd") else None
    end = time.monotonic() + minutes * 60
    while (left := end - time.monotonic()) > 0:
        running.minute(min(50.0, left))
        if lasting is not None:
            lasting.work(5)
        if running.tally.wrong:
            break
        show(f"{max(end - time.monotonic(), 0):5.0f} s left, {running.tally.tried} commands, "
             f"{running.tally.healed} killed, {len(running.acknowledged)} notes")  # fmt: skip
    if lasting is not None:
        if len(lasting.sizes) > 2 and (grown := lasting.growth()):
            running.tally.wrong.append(grown)
        lasting.hand.close()
    return running.tally


def main() -> int:
    """Soak in a temporary folder and tell what was seen."""
    folder = tempfile.mkdtemp(prefix="thunderus-mem-soak-")
    tally = soak(float(sys.argv[1]) if len(sys.argv) > 1 else 3.0, folder)
    print(", ".join(f"{name}: {number}" for name, number in sorted(tally.commands.items())))
    print(f"{tally.tried} commands, {tally.healed} killed, {tally.lost} lost, slowest {tally.slowest:.1f} s")
    print("\n".join(tally.wrong) or "nothing wrong")
    if not tally.wrong:
        shutil.rmtree(folder)
    return int(bool(tally.wrong))


if __name__ == "__main__":
    sys.exit(main())
