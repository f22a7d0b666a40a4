"""An undo of several events that is killed is finished by the same command, and reported as no loss."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

import pytest

from tests.support.index_support import document
from tests.support.verify_store import verify

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.command_server import Done, Server

FACTS = ".thunderus/memory/semantic/FACTS"
POINTS = (
    *("before-write-log:kill:1", "half-write-log:kill:2", "after-sync-log:kill:1", "after-sync-log:kill:3"),
    "before-rename-staged:kill:2",
    *("after-unlink-operation:kill:2", "after-unlink-operation:kill:3", "before-unlink-other:kill:1"),
)
COMMANDS = {"two commands": ("undo", "-n", "2"), "one command": ("undo",)}
KILLS = [
    *((name, point) for name in COMMANDS for point in POINTS),
    ("two commands", "before-rename-taken:kill"),
]


def documents(root: Path) -> dict[str, bytes]:
    return {str(path.relative_to(root)): path.read_bytes() for path in (root / FACTS).rglob("*.md")}


class Store:
    """A store with a clock, so that no two commands make the same ids."""

    def __init__(self, root: Path, server: Server) -> None:
        self.root = root
        self._server = server
        self._second = 0

    def run(self, *words: str, code: int = 0, at: str = "", root: Path | None = None) -> Done:
        self._second += 1
        env = {
            "THUNDERUS_MEM_NOW": f"2026-01-21T09:00:{self._second:02d}Z",
            "THUNDERUS_MEM_SEED": str(self._second),
            **({"FAILPOINT": at} if at else {}),
        }
        done = self._server.run(*words, cwd=str(root or self.root), env=env)
        assert done.code == code, (words, done)
        return done

    def documents(self) -> dict[str, bytes]:
        return documents(self.root)


@pytest.fixture
def store(repo: Path, server: Server) -> Store:
    """A store whose last command wrote three events, after one that added a document, and another."""
    made = Store(repo, server)
    made.run("init")
    for name in ("Early", "Late"):
        made.run("add", "fact", name, "--body", f"{name}.", "--tag", "n")
    for number in range(3):
        text = document(f"fact.yes-{number}", tags=("on", "x"))
        (repo / FACTS / f"yes-{number}.md").write_text(text)
    made.run("lint", "--fix")
    return made


@pytest.mark.parametrize(("name", "point"), KILLS)
def test_killed_undo_is_finished_by_the_same_command(
    store: Store, tmp_path: Path, name: str, point: str
) -> None:
    command, before = COMMANDS[name], store.documents()
    wanted = tmp_path / "wanted"
    shutil.copytree(store.root, wanted, symlinks=True)
    store.run(*command, root=wanted)
    store.run(*command, at=point, code=137)
    assert "disappeared" not in store.run("status").err
    store.run("events", "replay", "--check")
    store.run(*command)
    assert store.documents() == documents(wanted)
    assert not os.path.exists(store.root / ".thunderus/local/undo.json")
    store.run(*command[:1], "--redo", *command[1:])
    assert store.documents() == before
    assert verify(str(store.root), settled=True) == []
