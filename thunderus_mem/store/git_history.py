"""History of a repository: commits as values. GitPython is imported here, and only when it is asked for."""

from __future__ import annotations

import os
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from thunderus_mem.model.timestamp import format_timestamp, parse_timestamp

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["LOG", "Commit", "commits", "parse_log"]

LOG: Final = (
    "log",
    "--format=%x01%H%x00%an%x00%aI%x00%s",
    "--name-only",
    "-z",
    "--no-renames",
    "--no-ext-diff",
)
_MARK: Final = "\x01"
_MOST: Final = 1_000


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit: full hash, author's name, author date (UTC, ``Z``), first line of its message."""

    sha: str
    author: str
    date: str
    subject: str


@contextmanager
def _without_git_variables() -> Iterator[None]:
    """GitPython reads ``GIT_*`` from the process; a hook's must not lead it to another repository."""
    taken = {key: os.environ.pop(key) for key in list(os.environ) if key.startswith("GIT_")}
    os.environ["GIT_PYTHON_REFRESH"] = "quiet"
    try:
        yield
    finally:
        del os.environ["GIT_PYTHON_REFRESH"]
        os.environ.update(taken)


def commits(toplevel: str, since: str, until: str) -> list[Commit]:
    """Commits reachable from HEAD made between two times, newest first.

    None when there is no commit or git refuses.
    """
    with _without_git_variables():
        from git import Repo
        from git.exc import GitError

        try:
            with Repo(toplevel, expand_vars=False) as repo:
                repo.git.set_persistent_git_options(c=["core.fsmonitor=false", "log.showSignature=false"])
                found = repo.iter_commits("HEAD", max_count=_MOST, since=since, until=until)
                return [
                    Commit(
                        sha=commit.hexsha,
                        author=commit.author.name or "",
                        date=format_timestamp(commit.authored_datetime),
                        subject=str(commit.summary),
                    )
                    for commit in found
                ]
        except (GitError, OSError, ValueError):
            return []


def parse_log(data: bytes) -> Iterator[tuple[Commit, list[str]]]:
    """Read the answer to `LOG`: commits, newest first, each with the paths it touched."""
    for block in data.decode("utf-8", "surrogateescape").split(_MARK)[1:]:
        fields = block.split("\0")
        if len(fields) < 4:
            continue
        sha, author, date, rest = fields[0], fields[1], fields[2], fields[3:]
        moment = parse_timestamp(date)
        subject = rest[0].rstrip("\n")
        names = [name.lstrip("\n") for name in rest[1:]]
        written = format_timestamp(moment) if moment else date
        yield Commit(sha, author, written, subject), [name for name in names if name]
