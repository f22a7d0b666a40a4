"""Commits of a repository as values, from ``git log``.

`log` runs git itself. `long_log` runs it through GitPython, whose import takes longer than a short log: only
`recap`, imports and `migrate` use it.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from thunderus_mem.document.timestamp import format_timestamp, parse_timestamp
from thunderus_mem.errors import NotFound
from thunderus_mem.git.changes import merge_base
from thunderus_mem.git.repository import SHA
from thunderus_mem.startup import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from thunderus_mem.git.repository import Git

_FORMAT: Final = "--format=%x01%H%x00%P%x00%an%x00%aI%x00%s%x00"
"""The last field is empty, or the body of the message."""
_LOG: Final = ("log", "-z", _FORMAT, "--no-renames", "--no-ext-diff")
_MOST: Final = 1_000
# Paths in one call of git.
_CHUNK: Final = 200
# Seconds.
_LONGEST: Final = 300.0


class Commit(NamedTuple):
    """A commit: full hash, author's name, author date (UTC, ``Z``), subject; and the ``body`` of the message,
    which only `commits_between` reads."""

    sha: str
    author: str
    date: str
    subject: str
    body: str = ""


class LoggedCommit(NamedTuple):
    """An entry of ``git log``; ``paths`` are root-relative, and set only with ``--name-only``."""

    commit: Commit
    parents: tuple[str, ...]
    paths: tuple[str, ...]


def log(git: Git, *arguments: str) -> Iterator[LoggedCommit]:
    """The commits of a ``git log``, newest first; empty when git fails."""
    output = git.ask(*_LOG, *arguments)
    return _commits(git, output.data) if output.ok else iter(())


def long_log(git: Git, *arguments: str) -> Iterator[LoggedCommit]:
    """What `log` returns, also for a history that takes minutes to read."""
    with _without_git_variables():
        from git import Git as Commands
        from git.exc import GitError

        command, environment = git.command(*_LOG, *arguments)
        try:
            status, data, _ = Commands(git.root).execute(
                command,
                env=environment,
                kill_after_timeout=_LONGEST,
                stdout_as_string=False,
                with_extended_output=True,
                with_exceptions=False,
            )
        except (GitError, OSError):
            return iter(())
    return _commits(git, data) if status == 0 else iter(())


def _commits(git: Git, data: bytes) -> Iterator[LoggedCommit]:
    return filter(None, (_logged(git, block) for block in data.split(b"\x01")[1:]))


def _logged(git: Git, block: bytes) -> LoggedCommit | None:
    fields = os.fsdecode(block).split("\0")
    if len(fields) < 6:
        return None
    sha, parents, author, date, subject, body = fields[:6]
    moment = parse_timestamp(date)
    commit = Commit(sha, author, format_timestamp(moment) if moment else date, subject, body.strip("\n"))
    paths = (git.below(name.lstrip("\n")) for name in fields[6:])
    return LoggedCommit(commit, tuple(parents.split()), tuple(path for path in paths if path))


def commit_named(git: Git, sha: str) -> Commit | None:
    """The commit with this hash (may be abbreviated); ``None`` when it is not in this clone."""
    if not SHA.fullmatch(sha):
        return None
    return next((one.commit for one in log(git, "--no-walk", "--end-of-options", f"{sha}^{{commit}}")), None)


def added_dates(git: Git, paths: Sequence[str]) -> dict[str, tuple[str, str]]:
    """First and last author date of every file among or below ``paths``, as ``Z`` times."""
    dates: dict[str, tuple[str, str]] = {}
    for commit, _, names in _log_of(git, paths, long_log):
        for name in names:
            first, last = dates.get(name, (commit.date, commit.date))
            dates[name] = (min(first, commit.date), max(last, commit.date))
    return dates


def first_commits(git: Git, paths: Sequence[str]) -> dict[str, Commit]:
    """The commit that added each of these files, if it is in the history of HEAD."""
    return {
        name: commit for commit, _, names in _log_of(git, paths, log, "--diff-filter=A") for name in names
    }


def base_to_compare(git: Git, revision: str) -> str:
    """Like `merge_base`, for what a branch changes.

    Raises `NotFound` for an unknown revision, and in a shallow clone without the merge base: compared with
    the revision itself, the changes there would be reported too.
    """
    base = merge_base(git, revision)
    shallow = git.is_shallow()
    if base is None:
        hint = (
            "this clone is shallow; fetch the revision first" if shallow else "pass a branch, tag or commit"
        )
        raise NotFound(f"unknown revision {revision!r}", hint=hint)
    if shallow and not git.ask("merge-base", "--", revision, "HEAD").ok:
        raise NotFound(
            f"this shallow clone does not contain the merge base of HEAD and {revision!r}",
            hint="run `git fetch --unshallow`; in CI, set the depth of the clone to 0",
        )
    return base


def _log_of(
    git: Git, paths: Sequence[str], read: Callable[..., Iterator[LoggedCommit]], *options: str
) -> Iterator[LoggedCommit]:
    for at in range(0, len(paths), _CHUNK):
        yield from read(git, "--name-only", *options, "--", *paths[at : at + _CHUNK])


def commits_between(git: Git, since: str, until: str) -> list[LoggedCommit]:
    """Commits of HEAD from ``since`` to ``until`` (RFC 3339) with their whole messages and the files they
    changed, parents last.

    Merges have no files, and of very many commits the oldest are omitted. Empty when git fails.
    """
    chosen = (f"--since={since}", f"--until={until}", f"--max-count={_MOST}", "--topo-order")
    return list(long_log(git, f"{_FORMAT}%b", "--name-only", *chosen, "HEAD", "--"))


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
