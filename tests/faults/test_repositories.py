"""P4: repositories of every shape: the correct root or a clear error, never files of another tree."""

from __future__ import annotations

import hashlib
import os
import subprocess
from typing import TYPE_CHECKING

import pytest
import report

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from tests.support.command_server import Done, Server

FACTS = ".thunderus/memory/semantic/FACTS"


def git(folder: Path, *arguments: str) -> None:
    subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True)


def repository(folder: Path) -> Path:
    folder.mkdir(parents=True)
    git(folder, "init", "-q", "-b", "main")
    git(folder, "commit", "-q", "--allow-empty", "-m", "Begin")
    return folder


class Works:
    """Uses a store from a folder; everything that is not in its root must stay as it is."""

    def __init__(self, server: Server, base: Path) -> None:
        self._server, self._base = server, base
        self._turn = 0
        self.tried = 0

    def run(self, folder: Path, *arguments: str, env: Mapping[str, str] | None = None) -> Done:
        self._turn += 1
        moment = f"2026-01-21T{self._turn // 60:02d}:{self._turn % 60:02d}:00Z"
        given = {"THUNDERUS_MEM_NOW": moment, "THUNDERUS_MEM_SEED": str(self._turn), **(env or {})}
        done = self._server.run(*arguments, cwd=str(folder), env=given)
        assert "Traceback" not in done.err, done
        self.tried += 1
        return done

    def in_root(self, folder: Path, root: Path, env: Mapping[str, str] | None = None) -> None:
        """Each of the usual commands works from ``folder`` and changes only what is below ``root``."""
        outside = _files(self._base, root)
        title = f"Written in turn {self._turn}"
        assert self.run(folder, "add", "fact", title, "--tag", "x", "--body", f"{title}.", env=env).code == 0
        for arguments in (("search", "written"), ("status",), ("log",), ("why", f"fact.{_slug(title)}")):
            assert self.run(folder, *arguments, env=env).code == 0
        assert self.run(folder, "lint", "--staged", env=env).code in (0, 1, 4)
        assert (root / FACTS / f"{_slug(title)}.md").is_file()
        assert _files(self._base, root) == outside


def _slug(title: str) -> str:
    return title.lower().replace(" ", "-")


def _files(base: Path, but: Path) -> dict[str, str]:
    found = {}
    for folder, folders, names in os.walk(base):
        if folder == str(but):
            folders.clear()
            continue
        for name in names:
            path = os.path.join(folder, name)
            if os.path.isfile(path) and not os.path.islink(path):
                with open(path, "rb") as stream:
                    found[path] = hashlib.sha256(stream.read()).hexdigest()
    return found


def begun(works: Works, root: Path) -> Path:
    assert works.run(root, "init").code == 0
    git(root, "add", "-A")
    git(root, "commit", "-qm", "A memory")
    return root


def linked_worktree(works: Works, base: Path) -> None:
    main = begun(works, repository(base / "main"))
    git(main, "worktree", "add", "-q", str(base / "linked"), "-b", "other")
    works.in_root(base / "linked", base / "linked")
    works.in_root(main, main)


def submodule(works: Works, base: Path) -> None:
    inner = begun(works, repository(base / "inner"))
    outer = begun(works, repository(base / "outer"))
    git(outer, "submodule", "add", "-q", str(inner), "part")
    works.in_root(outer / "part", outer / "part")
    works.in_root(outer, outer)


def superproject(works: Works, base: Path) -> None:
    inner = repository(base / "inner")
    outer = begun(works, repository(base / "outer"))
    git(outer, "submodule", "add", "-q", str(inner), "part")
    works.in_root(outer / "part", outer)


def bare(works: Works, base: Path) -> None:
    git(repository(base / "full"), "clone", "-q", "--bare", ".", str(base / "bare.git"))
    assert works.run(base / "bare.git", "status").code == 4
    assert works.run(base / "bare.git", "add", "fact", "X", "--tag", "x", "--body", "X.").code == 4


def without_git(works: Works, base: Path) -> None:
    (base / "plain").mkdir()
    assert works.run(base / "plain", "init").code == 0
    works.in_root(base / "plain", base / "plain")


def variables(works: Works, base: Path) -> None:
    """As hooks of another repository have them."""
    here, there = (begun(works, repository(base / name)) for name in ("here", "there"))
    env = {"GIT_DIR": str(there / ".git"), "GIT_WORK_TREE": str(there)}
    works.in_root(here, here, env | {"GIT_INDEX_FILE": str(there / ".git/index"), "GIT_PREFIX": "x/"})
    works.in_root(here, here, {"GIT_CEILING_DIRECTORIES": str(base), "GIT_COMMON_DIR": str(there / ".git")})


def sparse(works: Works, base: Path) -> None:
    root = begun(works, repository(base / "full"))
    works.in_root(root, root)
    git(root, "add", "-A")
    git(root, "commit", "-qm", "More")
    git(root, "sparse-checkout", "set", "--no-cone", "/*", "!/.thunderus/sessions")
    works.in_root(root, root)


def shallow(works: Works, base: Path) -> None:
    root = begun(works, repository(base / "full"))
    git(base, "clone", "-q", "--depth", "1", f"file://{root}", "shallow")
    works.in_root(base / "shallow", base / "shallow")


def partial(works: Works, base: Path) -> None:
    root = begun(works, repository(base / "full"))
    git(root, "config", "uploadpack.allowFilter", "true")
    git(base, "clone", "-q", "--filter=blob:none", f"file://{root}", "partial")
    works.in_root(base / "partial", base / "partial")


def odd_names(works: Works, base: Path) -> None:
    for name in (
        "with space",
        "new\nline",
        "ünïcode",
        "-dash",
        "quo'te\"s",
        "$HOME",
        "a;b",
        "[x]*?",
        "tab\t",
    ):
        root = begun(works, repository(base / name))
        works.in_root(root, root)


def not_ours(works: Works, base: Path) -> None:
    """A repository of another owner: git refuses to work, the memory works without it."""
    if os.geteuid() != 0:
        pytest.skip("only root can give files away")
    root = begun(works, repository(base / "theirs"))
    subprocess.run(["chown", "-R", "65534", str(root / ".git")], check=True)
    os.chown(root, 65534, 65534)
    done = works.run(root, "status")
    assert done.code == 0, done
    assert works.run(root, "search", "core").code == 0
    assert works.run(root, "doctor").code in (0, 1)


def in_git_folder(works: Works, base: Path) -> None:
    root = begun(works, repository(base / "full"))
    assert works.run(root / ".git", "status").code in (0, 4)
    works.in_root(root, root)


def broken_pointer(works: Works, base: Path) -> None:
    root = base / "broken"
    root.mkdir()
    (root / ".git").write_text("gitdir: /nowhere/at/all\n")
    assert works.run(root, "init").code == 0
    works.in_root(root, root)


PLACES: tuple[Callable[[Works, Path], None], ...] = (
    linked_worktree,
    submodule,
    superproject,
    bare,
    without_git,
    variables,
    sparse,
    shallow,
    partial,
    odd_names,
    not_ours,
    in_git_folder,
    broken_pointer,
)


@pytest.mark.parametrize("place", PLACES, ids=lambda place: place.__name__)
def test_correct_root_or_clear_error(
    place: Callable[[Works, Path], None], tmp_path: Path, server: Server
) -> None:
    works = Works(server, tmp_path)
    place(works, tmp_path)
    report.add("P4", place.__name__, tried=works.tried)
