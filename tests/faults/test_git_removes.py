"""K11: git removes the log or a document at any point of `add`: it says so, or nothing is lost."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest
import report
from commands import FACTS, call, named
from harness import copy
from tier import share

from tests.support.failpoints import OPERATIONS, Failpoints
from tests.support.verify_store import shards, verify
from thunderus_mem.store import disk

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.support.command_server import Done, Server

LOG = "events.jsonl"
NEW = f"{FACTS}/ports.md"
OTHER = f"{FACTS}/limits.md"
VERIFIED = "after-rmdir-change:1"
"""The last point before the write is verified; what is removed later was acknowledged before."""


class _Removing(Failpoints):
    """Removes a file at one pass of one point, as `git checkout` does."""

    def __init__(self, place: str, root: str, path: str) -> None:
        super().__init__("")
        self._left = place
        self._turns: dict[str, int] = {}
        self._root, self._path = root, path

    def hit(self, point: str, action: Callable[[], object] = lambda: None) -> None:
        self._turns[point] = turn = self._turns.get(point, 0) + 1
        if f"{point}:{turn}" != self._left:
            return
        for path in shards(self._root) if self._path == LOG else (os.path.join(self._root, self._path),):
            with suppress(FileNotFoundError):
                os.unlink(path)
            with suppress(OSError):  # git also removes a folder with its last file
                os.rmdir(os.path.dirname(path))
        with open(os.path.join(self._root, ".git/logs/HEAD"), "r+", encoding="utf-8") as stream:
            stream.write(stream.readlines()[-1])


def remove(place: str, root: str, path: str) -> Callable[[], dict[str, Any]]:
    """Remove a file when this process passes a place."""
    removing = _Removing(place, root, path)
    for name in OPERATIONS:
        setattr(disk, name, partial(removing.around, getattr(disk, name), name))
    return dict


@pytest.mark.parametrize("path", [LOG, OTHER, NEW])
def test_git_removes_a_file_during_an_add(path: str, tmp_path: Path, server: Server) -> None:
    command = named("add")
    base, root = command.made(server, str(tmp_path))
    trace = str(tmp_path / "trace")
    assert command.run(server, copy(base, root), env={"FAILPOINT": f"trace={trace}"}).code == 0
    golden = _text(root, NEW)
    with open(trace, encoding="utf-8") as stream:
        places = stream.read().split()
    # An action half-way through a write would write that half twice.
    places = [one for one in places[: places.index(VERIFIED) + 1] if not one.startswith("half-")]
    tried, slowest, lost = 0, 0.0, []
    for place in share(places, 3, path):
        copy(base, root)
        begun = time.monotonic()
        done = command.run(server, root, arm={"test_git_removes:remove": [place, root, path]})
        slowest = max(slowest, time.monotonic() - begun)
        tried += 1
        _answers(done, place)
        if done.code == 0 and not (_text(root, NEW) == golden and b"fact.ports" in _log(root)):
            lost.append((place, done))
        kept = [one for one in (OTHER, f"{FACTS}/retries.md") if one != path]
        assert [one for one in kept if _text(root, one) != _text(base, one)] == [], (place, done)
        after = call(
            server, root, ("events", "add", "--kind", "note", "--body", "after"), "2026-01-21T11:00:00Z"
        )
        assert after.code == 0, (place, done, after)
        assert verify(root, settled=True) == [], (place, done, after)
    report.add("K11", path.rpartition("/")[2], tried=tried, lost=len(lost), slowest=slowest)
    assert lost == []


def _answers(done: Done, place: str) -> None:
    assert done.code in (0, 3, 4), (place, done)
    assert done.err.count("error: ") == (done.code != 0), (place, done)
    assert done.err.count("hint: ") == (done.code != 0), (place, done)


def _text(root: str, path: str) -> bytes:
    try:
        with open(os.path.join(root, path), "rb") as stream:
            return stream.read()
    except FileNotFoundError:
        return b""


def _log(root: str) -> bytes:
    return b"".join(_text(root, path) for path in shards(root))
