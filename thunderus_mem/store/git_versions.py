"""The versions that git has of one file: commits as a graph, with their texts, in two processes."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final, NamedTuple

from thunderus_mem.model.timestamp import format_timestamp, parse_timestamp
from thunderus_mem.store.git_history import Commit

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from thunderus_mem.store.git import Git

__all__ = ["FileVersion", "file_commits", "file_versions", "renamed_files"]

_MOST: Final = 5_000
_LOG: Final = (
    *("log", "-z", "--topo-order", "--parents", f"--max-count={_MOST}"),
    "--format=%x01%H%x00%P%x00%an%x00%aI%x00%s",
)
_RENAMES: Final = (
    *("log", "-z", "--no-walk=unsorted", "-m", "--raw", "--no-abbrev", "-M", "--diff-filter=R"),
    *("--no-ext-diff", "--format=%x01%H"),
)


class FileVersion(NamedTuple):
    """What a commit made of a file. ``parents`` are the commits whose versions it started from.

    ``texts`` holds the bytes at each path asked for where there was a file. ``cut``: older versions exist
    that this clone has not got, or that are too many.
    """

    commit: Commit
    parents: tuple[str, ...]
    texts: Mapping[str, bytes]
    cut: bool


def file_versions(git: Git, paths: Sequence[str]) -> list[FileVersion]:
    """The versions of a file that went by these root-relative paths, newest first, parents after children.

    Commits are left out that changed nothing, merges that took one side whole, and the other side of those.
    """
    listed = list(file_commits(git, paths))
    if not listed:
        return []
    known = {commit.sha for commit, _ in listed}
    cut = git.shallow_commits()
    names = {(commit.sha, path): f"{commit.sha}:{git.prefix}{path}" for commit, _ in listed for path in paths}
    texts = git.blobs(list(names.values()))
    versions = []
    for commit, parents in listed:
        found = {path: text for path in paths if (text := texts[names[commit.sha, path]]) is not None}
        lost = commit.sha in cut or not known.issuperset(parents)
        versions.append(FileVersion(commit, tuple(sha for sha in parents if sha in known), found, lost))
    return versions


def file_commits(git: Git, paths: Sequence[str]) -> Iterator[tuple[Commit, tuple[str, ...]]]:
    """The commits of `file_versions`, each with the commits it started from."""
    output = git.ask(*_LOG, "HEAD", "--", *paths)
    for block in output.data.decode("utf-8", "surrogateescape").split("\x01")[1:] if output.ok else ():
        fields = block.split("\0")
        if len(fields) >= 5:
            sha, parents, author, date, subject = fields[:5]
            moment = parse_timestamp(date)
            written = format_timestamp(moment) if moment else date
            yield Commit(sha, author, written, subject), tuple(parents.split())


def renamed_files(git: Git, commits: Sequence[str], below: str) -> dict[tuple[str, str], str]:
    """``(commit, new path)`` → old path, for the files below a folder that these commits renamed."""
    output = git.ask(*_RENAMES, *commits, "--", below)
    found: dict[tuple[str, str], str] = {}
    for block in output.data.split(b"\x01")[1:] if output.ok else ():
        sha, *fields = [os.fsdecode(field).lstrip("\n") for field in block.split(b"\0")]
        entries = [field for field in fields if field]
        for head, old, new in zip(entries[0::3], entries[1::3], entries[2::3], strict=False):
            if head.startswith(":") and old.startswith(git.prefix) and new.startswith(git.prefix):
                found[sha, new[len(git.prefix) :]] = old[len(git.prefix) :]
    return found
