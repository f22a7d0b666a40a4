"""Shared by all rows of the fault tests: a subject, a store to run it on, and the checks afterwards."""

from __future__ import annotations

import atexit
import os
import shutil
import sys
import tempfile
from dataclasses import dataclass, field
from functools import cache
from typing import Any

HERE = os.path.dirname(os.path.abspath(__file__))
REPOSITORY = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, REPOSITORY)

from tests.support.command_server import Done, Server  # noqa: E402
from tests.support.verify_store import normal_hash, shards, verify  # noqa: E402

KNOWN_CODES = frozenset({0, 2, 3, 4, 5, 6, 75})
KILLED = frozenset({137, -9})


@dataclass(frozen=True)
class Subject:
    """A program that writes to a store. ``{root}`` in ``argv`` becomes the store's folder.

    ``main`` is the same program as ``module:function``: run in a process that has it loaded already.
    """

    name: str
    argv: tuple[str, ...]
    main: str
    heal: tuple[str, ...]

    def command(self, root: str, arguments: tuple[str, ...]) -> list[str]:
        """The whole command line."""
        return [part.replace("{root}", root) for part in (*self.argv, *arguments)]

    def run(self, root: str, arguments: tuple[str, ...], failpoint: str = "", **more: Any) -> Done:
        """Run it, with a failpoint when one is named."""
        return _server().run(root, *arguments, cwd=REPOSITORY, env=_armed(failpoint), main=self.main, **more)


@cache
def _server() -> Server:
    folder = tempfile.mkdtemp(prefix="thunderus-mem-faults-")
    server = Server(folder, environment())
    atexit.register(shutil.rmtree, folder)
    atexit.register(server.close)
    return server


def _armed(failpoint: str) -> dict[str, str]:
    return {"FAILPOINT": failpoint} if failpoint else {}


def environment() -> dict[str, str]:
    """A plain environment that finds the package."""
    kept = {
        key: value
        for key, value in os.environ.items()
        if not key.startswith(("GIT_", "FAILPOINT", "THUNDERUS"))
    }
    kept["PYTHONPATH"] = REPOSITORY
    return kept


@dataclass(frozen=True)
class Step:
    """One command of a preparation, and where it is to die, if it is."""

    arguments: tuple[str, ...]
    failpoint: str = ""


@dataclass(frozen=True)
class Scenario:
    """A store, and the one command that faults are aimed at.

    ``damage`` is appended to the log after the preparation, ``cut`` bytes are taken from its end.
    ``foreign`` are documents a person writes after it.
    ``always`` is a failpoint that fires in every run beside the one that is tried.
    """

    name: str
    subject: Subject
    prepare: tuple[Step, ...]
    command: tuple[str, ...]
    damage: bytes = b""
    cut: int = 0
    foreign: dict[str, str] = field(default_factory=dict)
    always: str = ""

    def build(self, root: str) -> None:
        """Make the store."""
        os.makedirs(os.path.join(root, ".thunderus"), exist_ok=True)
        for step in self.prepare:
            done = self.subject.run(root, step.arguments, step.failpoint)
            wanted = KILLED if step.failpoint.endswith("kill") else {0}
            assert done.code in wanted, (step, done)
        if self.damage:
            with open(shards(root)[0], "ab") as stream:
                stream.write(self.damage)
        if self.cut:
            os.truncate(shards(root)[0], os.path.getsize(shards(root)[0]) - self.cut)
        for path, text in self.foreign.items():
            with open(os.path.join(root, path), "w", encoding="utf-8") as stream:
                stream.write(text)

    def run(self, root: str, **more: Any) -> Done:
        """Run the command that faults are aimed at."""
        return self.subject.run(root, self.command, **more)


@dataclass(frozen=True)
class State:
    """What counts: the documents, and how many events there are."""

    documents: tuple[tuple[str, str], ...]
    events: int


def state(root: str) -> State:
    """The state of the store on disk."""
    documents = []
    memory = os.path.join(root, ".thunderus", "memory")
    for folder, folders, names in os.walk(memory):
        if "indexes" in folders:
            folders.remove("indexes")
        for name in names:
            path = os.path.join(folder, name)
            if not name.endswith(".tmp"):
                with open(path, "rb") as stream:
                    documents.append((os.path.relpath(path, root), normal_hash(stream.read())))
    events = 0
    for shard in shards(root):
        with open(shard, "rb") as stream:
            events += stream.read().count(b"\n")
    return State(tuple(sorted(documents)), events)


def copy(base: str, target: str) -> str:
    """A fresh copy of a store."""
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(base, target, symlinks=True)
    return target


@dataclass
class Tally:
    """What one row of the tier found."""

    tried: int = 0
    lost: int = 0
    healed: int = 0
    slowest: float = 0.0


def acknowledged(done: Done) -> bool:
    """Whether the change was acknowledged."""
    return done.code in (0, 6) or "acked" in done.out


def judge(
    scenario: Scenario,
    root: str,
    done: Done,
    golden: tuple[State, State],
    tally: Tally,
) -> None:
    """After a faulted run: recover, read independently, finish, compare with the golden run."""
    _, new = golden
    assert "Traceback" not in done.err, done.err
    assert done.code in KNOWN_CODES | KILLED, done
    healing = scenario.subject.run(root, scenario.subject.heal)
    assert healing.code == 0, (done, healing)
    tally.healed += "healed" in healing.out + healing.err
    assert verify(root, settled=not scenario.foreign) == [], (done, healing)
    found = state(root)
    if acknowledged(done) and found != new:
        tally.lost += 1
    assert found in golden, (done, healing, found, golden)
    if acknowledged(done):
        assert found == new, (done, healing)
    again = scenario.subject.run(root, scenario.subject.heal)
    assert again.code == 0
    assert state(root) == found
    assert "healed" not in again.out + again.err, again
    if found != new:
        assert scenario.subject.run(root, scenario.command).code == 0
        assert state(root).documents == new.documents
