"""Commits of a repository as values, from ``git log``. GitPython is imported by one function only."""

from __future__ import annotations

import os
import re
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from thunderus_mem.document.timestamp import format_timestamp, parse_timestamp
from thunderus_mem.startup import NamedTuple, lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from thunderus_mem.git.repository import Git

_LOG: Final = ("log", "-z", "--format=%x01%H%x00%P%x00%an%x00%aI%x00%s", "--no-renames", "--no-ext-diff")
_SHA: Final = lazy_pattern(r"[0-9a-f]{4,64}", re.ASCII)
_MOST: Final = 1_000
# Paths in one call of git.
_CHUNK: Final = 200


class Commit(NamedTuple):
    """A commit: full hash, author's name, author date (UTC, ``Z``), subject."""

    sha: str
    author: str
    date: str
    subject: str


class LoggedCommit(NamedTuple):
    """An entry of ``git log``; ``paths`` are root-relative, and set only with ``--name-only``."""

    commit: Commit
    parents: tuple[str, ...]
    paths: tuple[str, ...]


def log(git: Git, *arguments: str) -> Iterator[LoggedCommit]:
    """The commits of a ``git log``, newest first; empty when git fails."""
    output = git.ask(*_LOG, *arguments)
    for block in os.fsdecode(output.data).split("\x01")[1:] if output.ok else ():
        fields = block.split("\0")
        if len(fields) < 5:
            continue
        sha, parents, author, date, subject = fields[:5]
        moment = parse_timestamp(date)
        commit = Commit(sha, author, format_timestamp(moment) if moment else date, subject.rstrip("\n"))
        paths = (git.below(name.lstrip("\n")) for name in fields[5:])
        yield LoggedCommit(commit, tuple(parents.split()), tuple(path for path in paths if path))


def commit_named(git: Git, sha: str) -> Commit | None:
    """The commit with this hash (may be abbreviated); ``None`` when it is not in this clone."""
    if not _SHA.fullmatch(sha):
        return None
    return next((one.commit for one in log(git, "--no-walk", "--end-of-options", f"{sha}^{{commit}}")), None)


def touched_between(git: Git, since: str, until: str) -> dict[str, tuple[str, ...]]:
    """The files below the root changed by each commit of HEAD from ``since`` to ``until`` (RFC 3339), by
    hash; merges have none, and of very many commits the oldest are omitted."""
    times = (f"--since={since}", f"--until={until}")
    found = log(git, "--name-only", f"--max-count={_MOST}", *times, "HEAD", "--")
    return {one.commit.sha: one.paths for one in found}


def added_dates(git: Git, paths: Sequence[str]) -> dict[str, tuple[str, str]]:
    """First and last author date of every file among or below ``paths``, as ``Z`` times."""
    dates: dict[str, tuple[str, str]] = {}
    for commit, _, names in _log_of(git, paths):
        for name in names:
            first, last = dates.get(name, (commit.date, commit.date))
            dates[name] = (min(first, commit.date), max(last, commit.date))
    return dates


def first_commits(git: Git, paths: Sequence[str]) -> dict[str, Commit]:
    """The commit that added each of these files, if it is in the history of HEAD."""
    return {name: commit for commit, _, names in _log_of(git, paths, "--diff-filter=A") for name in names}


def _log_of(git: Git, paths: Sequence[str], *options: str) -> Iterator[LoggedCommit]:
    for at in range(0, len(paths), _CHUNK):
        yield from log(git, "--name-only", *options, "--", *paths[at : at + _CHUNK])


def commits_between(git: Git, since: str, until: str) -> list[Commit]:
    """Commits reachable from HEAD from ``since`` to ``until`` (RFC 3339), newest first.

    Empty when there is no commit or git fails.
    """
    with _without_git_variables():
        from git import Repo
        from git.exc import GitError

        try:
            with Repo(git.toplevel, expand_vars=False) as repo:
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


@contextmanager
def _without_git_variables() -> Iterator[None]:
    """Hide ``GIT_*`` from GitPython, so that a hook's variables do not point it to another repository."""
    taken = {key: os.environ.pop(key) for key in list(os.environ) if key.startswith("GIT_")}
    os.environ["GIT_PYTHON_REFRESH"] = "quiet"
    try:
        yield
    finally:
        del os.environ["GIT_PYTHON_REFRESH"]
        os.environ.update(taken)
