"""P5: the hook in every kind of commit: staged bytes are checked, index and files do not change."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest
import report
from commands import FACTS, twice
from hands import PROJECT

from thunderus_mem import hooks
from thunderus_mem.errors import Refused
from thunderus_mem.git.repository import Git

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

BAD = "---\nid: fact.bad\ntitle: Bad\nkind: fact\n---\n\nNo tags, no times.\n"


def good(name: str, turn: int = 0) -> str:
    return twice(name, f"The service {name} listens on port {8000 + turn}.\n\nAnd on no other.")


@dataclass
class Scene:
    """A repository with our hook, and what each commit did to it."""

    root: Path
    environ: dict[str, str]
    tried: int = 0
    wrong: list[str] = field(default_factory=list)

    def git(self, *arguments: str, cwd: Path | None = None, code: int | None = 0) -> str:
        done = subprocess.run(
            ["git", *arguments],
            cwd=cwd or self.root,
            env=self.environ,
            capture_output=True,
            text=True,
            check=False,
        )
        assert code is None or done.returncode == code, (arguments, done)
        return done.stdout + done.stderr

    def write(self, name: str, text: str, cwd: Path | None = None) -> None:
        path = (cwd or self.root) / FACTS / f"{name}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def install(self) -> None:
        found = Git.find(str(self.root), self.environ)
        assert found is not None
        hooks.install(found, command=[sys.executable, "-m", "thunderus_mem"])

    def commit(self, *arguments: str, stopped: bool, cwd: Path | None = None) -> None:
        """Commit, and see that our hook judged rightly and changed nothing itself."""
        self.tried += 1
        place = cwd or self.root
        files, index, head = self._files(place), self._index(place), self._head(place)
        others = {one: self._index(one) for one in (self.root, place)}
        said = self.git("commit", "-m", f"Turn {self.tried}", *arguments, cwd=place, code=None)
        if "memory not checked" in said:
            self.wrong.append(said)
        if (self._head(place) == head) is not stopped:
            self.wrong.append(f"{arguments}: {'not ' if stopped else ''}stopped: {said}")
        if self._files(place) != files:
            self.wrong.append(f"{arguments}: the working tree changed")
        changed = self._index(place) != index
        if changed and (stopped or not _names_files(arguments)):
            self.wrong.append(f"{arguments}: the index changed")
        if place != self.root and self._index(self.root) != others[self.root]:
            self.wrong.append(f"{arguments}: another working tree's index changed")

    def _index(self, place: Path) -> str:
        return self.git("ls-files", "-s", cwd=place)

    def _head(self, place: Path) -> str:
        return self.git("rev-parse", "-q", "--verify", "HEAD", cwd=place, code=None)

    def _files(self, place: Path) -> dict[str, str]:
        found = {}
        for folder, folders, names in os.walk(place):
            folders[:] = [name for name in folders if name not in (".git", "indexes")]
            for name in names:
                with open(os.path.join(folder, name), "rb") as stream:
                    found[os.path.join(folder, name)] = hashlib.sha256(stream.read()).hexdigest()
        return found


def _names_files(arguments: tuple[str, ...]) -> bool:
    return any(argument.endswith(".md") or argument == "-a" for argument in arguments)


def staged_and_not(scene: Scene) -> None:
    scene.write("a", BAD)
    scene.git("add", "-A")
    scene.write("a", good("a"))
    scene.commit(stopped=True)
    scene.git("add", "-A")
    scene.write("a", BAD)
    scene.commit(stopped=False)


def partial(scene: Scene) -> None:
    for name in ("a", "b"):
        scene.write(name, good(name))
    scene.git("add", "-A")
    scene.commit(stopped=False)
    scene.write("a", good("a", 1))
    scene.write("b", BAD)
    scene.git("add", "-A")
    scene.commit(f"{FACTS}/b.md", stopped=True)
    scene.commit(f"{FACTS}/a.md", stopped=False)
    scene.commit("-a", stopped=True)


def amended(scene: Scene) -> None:
    scene.write("a", good("a"))
    scene.git("add", "-A")
    scene.commit(stopped=False)
    scene.commit("--amend", "--allow-empty", stopped=False)
    scene.write("a", BAD)
    scene.git("add", "-A")
    scene.commit("--amend", stopped=True)


def _conflict(scene: Scene, *how: str) -> None:
    """Two branches that both wrote one document; ``how`` brings them together."""
    scene.write("a", good("a"))
    scene.git("add", "-A")
    scene.git("commit", "-qm", "Both", "--no-verify")
    scene.git("switch", "-qc", "topic")
    scene.write("a", good("a", 1))
    scene.git("commit", "-qam", "Theirs", "--no-verify")
    scene.git("switch", "-q", "main")
    scene.write("a", good("a", 2))
    scene.git("commit", "-qam", "Ours", "--no-verify")
    scene.git(*how, code=None)


def merged(scene: Scene) -> None:
    _conflict(scene, "merge", "topic")
    scene.git("add", "-A")
    scene.commit(stopped=True)
    scene.write("a", good("a", 3))
    scene.git("add", "-A")
    scene.commit(stopped=False)


def rebased(scene: Scene) -> None:
    _conflict(scene, "rebase", "topic")
    scene.write("a", good("a", 3))
    scene.git("add", "-A")
    scene.git("-c", "core.editor=true", "rebase", "--continue")
    assert "Turn" not in scene.git("log", "--format=%s")
    scene.tried += 1
    scene.write("b", BAD)
    scene.git("add", "-A")
    scene.commit(stopped=True)


def picked(scene: Scene) -> None:
    _conflict(scene, "cherry-pick", "topic")
    scene.git("add", "-A")
    scene.commit(stopped=True)
    scene.write("a", good("a", 3))
    scene.git("add", "-A")
    scene.commit(stopped=False)


def linked(scene: Scene) -> None:
    scene.write("a", good("a"))
    scene.git("add", "-A")
    scene.commit(stopped=False)
    other = scene.root.parent / "linked"
    scene.git("worktree", "add", "-q", str(other), "-b", "other")
    scene.write("b", BAD, cwd=other)
    scene.write("a", good("a", 1), cwd=other)
    scene.git("add", "-A", cwd=other)
    scene.commit(stopped=True, cwd=other)
    scene.commit(f"{FACTS}/a.md", stopped=False, cwd=other)
    scene.commit("-a", stopped=True, cwd=other)


def beside_another(scene: Scene) -> None:
    found = Git.find(str(scene.root), scene.environ)
    assert found is not None
    hooks.uninstall(found)
    path = scene.root / ".git/hooks/pre-commit"
    path.write_text("#!/bin/sh\ntest ! -e stop\n")
    path.chmod(0o755)
    kept = path.read_bytes()
    scene.install()
    scene.write("a", good("a"))
    scene.git("add", "-A")
    scene.commit(stopped=False)
    (scene.root / "stop").write_text("")
    scene.commit("--allow-empty", stopped=True)
    (scene.root / "stop").unlink()
    scene.write("a", BAD)
    scene.git("add", "-A")
    scene.commit(stopped=True)
    hooks.uninstall(found)
    assert path.read_bytes() == kept


def hooks_elsewhere(scene: Scene) -> None:
    elsewhere = scene.root.parent / "elsewhere"
    elsewhere.mkdir()
    scene.git("config", "core.hooksPath", str(elsewhere))
    with pytest.raises(Refused):
        scene.install()
    assert os.listdir(elsewhere) == []
    scene.tried += 1


def no_tool(scene: Scene) -> None:
    found = Git.find(str(scene.root), scene.environ)
    assert found is not None
    hooks.install(found, command=[str(scene.root / "gone")])
    scene.write("a", BAD)
    scene.git("add", "-A")
    scene.environ = scene.environ | {"PATH": "/usr/bin:/bin"}
    said = scene.git("commit", "-m", "Without the tool")
    assert said.count("thunderus-mem:") == 1
    assert "not found" in said
    scene.tried += 1


def switched_off(scene: Scene) -> None:
    scene.write("a", BAD)
    scene.git("add", "-A")
    scene.commit(stopped=True)
    scene.commit("--no-verify", stopped=False)


SCENES: tuple[Callable[[Scene], None], ...] = (
    staged_and_not,
    partial,
    amended,
    merged,
    rebased,
    picked,
    linked,
    beside_another,
    hooks_elsewhere,
    no_tool,
    switched_off,
)


@pytest.mark.damaged
@pytest.mark.parametrize("play", SCENES, ids=lambda play: play.__name__)
def test_hook_checks_the_staged_content_and_changes_nothing(
    play: Callable[[Scene], None], tmp_path: Path, sealed: Path
) -> None:
    root = tmp_path / "repo"
    root.mkdir()
    environ = dict(os.environ) | {"PYTHONPATH": PROJECT, "THUNDERUS_MEM_HOOK_SECONDS": "60"}
    scene = Scene(root, environ)
    scene.git("init", "-q", "-b", "main")
    (root / ".thunderus").mkdir()
    (root / ".thunderus/.gitignore").write_text("memory/indexes/\nlocal/\n")
    scene.git("add", "-A")
    scene.git("commit", "-qm", "Begin")
    scene.install()
    play(scene)
    report.add("P5", play.__name__, tried=scene.tried, lost=len(scene.wrong))
    assert scene.wrong == []
