"""Real git repositories for tests, isolated from the user's git settings."""

from __future__ import annotations

import os
import shutil
import subprocess
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

CLOCK = "2026-01-21T09:00:00+00:00"
SETTINGS = (("user.name", "Ann Author"), ("user.email", "ann@example.org"), ("commit.gpgsign", "false"))


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
        "THUNDERUS_MEM_ACTOR": "user",
    }


@cache
def _made(commands: tuple[tuple[str, ...], ...]) -> TemporaryDirectory[str]:
    folder = TemporaryDirectory(prefix="repository-")
    for arguments in commands:
        subprocess.run(["git", *arguments], cwd=folder.name, check=True, capture_output=True)
    for sample in Path(folder.name, ".git", "hooks").glob("*.sample"):
        sample.unlink()
    return folder


def begin_repository(root: Path, *commands: tuple[str, ...]) -> None:
    """Make ``root`` the repository that these git commands make of an empty folder.

    They run once in a process: a copy takes a fifth of the time of one of them.
    """
    shutil.copytree(os.path.join(_made(commands).name, ".git"), root / ".git", copy_function=shutil.copyfile)


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

    def init(self) -> Repository:
        self.root.mkdir(parents=True, exist_ok=True)
        begin_repository(self.root, ("init", "-q", "-b", "main"), *(("config", *one) for one in SETTINGS))
        return self

    def write(self, path: str, text: str) -> None:
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(text.encode())

    def commit(self, message: str, *paths: str, **env: str) -> str:
        self.git("add", *(paths or ("-A",)))
        self.git("commit", "-q", "-m", message, **env)
        return self.git("rev-parse", "HEAD")

    def clone(self, root: Path, *options: str) -> Repository:
        settings = [word for name, value in SETTINGS for word in ("-c", f"{name}={value}")]
        self.git("clone", "-q", *settings, *options, str(self.root), str(root))
        return Repository(root, self.home)
