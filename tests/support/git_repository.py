"""Real git repositories for tests: sealed from the settings of whoever runs them."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

CLOCK = "2026-01-21T09:00:00+00:00"


def environment(home: Path) -> dict[str, str]:
    """What git sees: a fixed author and clock, no settings of the system or the user."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    return kept | {
        "HOME": str(home),
        "XDG_CONFIG_HOME": str(home / "config"),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_AUTHOR_DATE": CLOCK,
        "GIT_COMMITTER_DATE": CLOCK,
        "GIT_EDITOR": "true",
        "LC_ALL": "C",
    }


class Repository:
    """A working tree, driven with the real git."""

    def __init__(self, root: Path, home: Path) -> None:
        self.root = root
        self.home = home
        self.env = environment(home)
        home.mkdir(parents=True, exist_ok=True)

    def try_git(self, *arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["git", *arguments],
            cwd=self.root,
            env=self.env | env,
            capture_output=True,
            text=True,
            check=False,
            stdin=subprocess.DEVNULL,
        )

    def git(self, *arguments: str, **env: str) -> str:
        done = self.try_git(*arguments, **env)
        assert done.returncode == 0, f"git {' '.join(arguments)}\n{done.stdout}{done.stderr}"
        return done.stdout.strip()

    def init(self, branch: str = "main", *options: str) -> Repository:
        self.root.mkdir(parents=True, exist_ok=True)
        self.git("init", "-q", "-b", branch, *options)
        self.settle()
        return self

    def settle(self) -> None:
        self.git("config", "user.name", "Ann Author")
        self.git("config", "user.email", "ann@example.org")
        self.git("config", "commit.gpgsign", "false")

    def write(self, path: str, text: str) -> None:
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(text.encode())

    def commit(self, message: str, *paths: str, **env: str) -> str:
        self.git("add", *(paths or ("-A",)))
        self.git("commit", "-q", "-m", message, **env)
        return self.git("rev-parse", "HEAD")

    def clone(self, root: Path, *options: str) -> Repository:
        self.git("clone", "-q", *options, str(self.root), str(root))
        copy = Repository(root, self.home)
        copy.settle()
        return copy
