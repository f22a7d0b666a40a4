"""The only door to git: one plain process on hot paths, GitPython for history. Paths are relative to root.

Nothing here raises for what a repository is like: without git, or when git refuses, answers are empty or
``None`` and `reason` says why in one sentence.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Final

from thunderus_mem.store.git_place import find_place
from thunderus_mem.store.git_process import GitProcess, Output, find_executable
from thunderus_mem.store.git_status import STATUS, GitState, parse_status, state_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from subprocess import Popen

    from thunderus_mem.store.git_history import Commit

__all__ = ["Git", "GitState", "look_for_git"]

_CHUNK: Final = 200
_SHA: Final = re.compile(r"[0-9a-f]{4,64}", re.ASCII)
_STALE_LOCK: Final = 30.0
_OPERATIONS: Final = (
    ("rebase-merge", "rebase"),
    ("rebase-apply", "rebase"),
    ("MERGE_HEAD", "merge"),
    ("CHERRY_PICK_HEAD", "cherry-pick"),
    ("REVERT_HEAD", "revert"),
    ("BISECT_LOG", "bisect"),
)


def look_for_git(
    path: str, environ: Mapping[str, str] | None = None, *, honour_index: bool = False
) -> tuple[Git | None, str]:
    """The repository whose working tree holds the folder ``path``, or ``None`` and why there is none.

    ``honour_index`` is for the hook that git started: the index it names in ``GIT_INDEX_FILE`` is read.
    """
    environ = os.environ if environ is None else environ
    root = os.path.realpath(path)
    place = find_place(root)
    if not place.toplevel:
        return None, place.reason
    executable = find_executable(environ.get("PATH", os.defpath))
    if executable is None:
        return None, "git is not installed, or not in an absolute folder of PATH"
    index = environ.get("GIT_INDEX_FILE") if honour_index else None
    if index:
        index = os.path.join(place.toplevel, index)
    process = GitProcess(executable, root, environ, index)
    if place.filters:
        process.disarm_filters()
    folders = (place.toplevel, place.git_dir, place.common_dir)
    if place.ask:
        answer = process.run("rev-parse", "--show-toplevel", "--absolute-git-dir", "--git-common-dir")
        lines = os.fsdecode(answer.data).splitlines()
        if not answer.ok or len(lines) != 3:
            return None, answer.complaint or "git does not say where its working tree is"
        folders = (lines[0], lines[1], os.path.join(root, lines[2]))
    toplevel, git_dir, common_dir = map(os.path.normpath, folders)
    return Git(root, toplevel, git_dir, common_dir, process, environ), ""


class Git:
    """One working tree of one repository, seen from ``root``, the folder that holds the store."""

    def __init__(
        self,
        root: str,
        toplevel: str,
        git_dir: str,
        common_dir: str,
        process: GitProcess,
        environ: Mapping[str, str],
    ) -> None:
        self.root = root
        self.toplevel = toplevel
        self.git_dir = git_dir
        self.common_dir = common_dir
        self.reason = ""
        """Why the last question had no answer; "" when it had one."""
        self._process = process
        self._environ = environ
        inside = os.path.relpath(root, toplevel).replace(os.sep, "/")
        self.prefix = "" if inside == "." else f"{inside}/"
        self._names: dict[str, str | None] = {}

    @staticmethod
    def find(path: str, environ: Mapping[str, str] | None = None) -> Git | None:
        """The repository around ``path``; `look_for_git` also says why there is none."""
        return look_for_git(path, environ)[0]

    def _run(self, *arguments: str, data: bytes | None = None, configured_hooks: bool = False) -> Output:
        output = self._process.run(*arguments, data=data, configured_hooks=configured_hooks)
        self.reason = "" if output.ok else output.complaint or f"git {arguments[0]} failed"
        return output

    def ask(self, *arguments: str, data: bytes | None = None) -> Output:
        """Put a question of a neighbouring module to git."""
        return self._run(*arguments, data=data)

    def start(self, *arguments: str) -> Popen[bytes] | None:
        """A process of a neighbouring module that goes on answering; ``None`` when it cannot start."""
        return self._process.start(*arguments)

    def shallow_commits(self) -> frozenset[str]:
        """Commits whose parents this clone was made without. No process."""
        try:
            with open(os.path.join(self.common_dir, "shallow"), encoding="ascii") as file:
                return frozenset(file.read().split())
        except (OSError, ValueError):
            return frozenset()

    def _listed(self, output: Output) -> list[str]:
        """NUL-separated paths below root, made relative to it."""
        names = (os.fsdecode(name) for name in output.data.split(b"\0") if name) if output.ok else ()
        return [name[len(self.prefix) :] for name in names if name.startswith(self.prefix)]

    def reflog_size(self) -> int:
        """Bytes of ``logs/HEAD`` of this working tree; 0 where git keeps none. No process."""
        try:
            return os.stat(os.path.join(self.git_dir, "logs", "HEAD")).st_size
        except OSError:
            return 0

    def state(self, shard: str, memory_dir: str) -> GitState | None:
        """Head, whether git knows ``shard``, changed documents: one process. ``None``: see `reason`."""
        size = self.reflog_size()
        store = memory_dir.rpartition("/")[0] or memory_dir
        output = self._run(*STATUS, store)
        if not output.ok:
            return None
        exists = bool(shard) and os.path.lexists(os.path.join(self.root, *shard.split("/")))
        merging = self.operation() not in ("", "bisect")
        return state_of(parse_status(output.data), self.prefix, shard, exists, memory_dir, size, merging)

    def config(self, key: str) -> str | None:
        """A configured value (``core.hooksPath``), ``None`` when it is not set."""
        if key not in self._names:
            output = self._run("config", "--get", key, configured_hooks=True)
            self._names[key] = output.data.decode("utf-8", "replace").rstrip("\r\n") if output.ok else None
        return self._names[key]

    def user_name(self) -> str | None:
        """The author git would name: ``GIT_AUTHOR_NAME``, else ``user.name``."""
        return self._environ.get("GIT_AUTHOR_NAME") or self.config("user.name")

    def hooks_dir(self) -> str:
        """The absolute folder in which git looks for hooks, ``core.hooksPath`` included."""
        output = self._run("rev-parse", "--git-path", "hooks", configured_hooks=True)
        path = os.fsdecode(output.data).rstrip("\n") if output.ok else os.path.join(self.common_dir, "hooks")
        return os.path.normpath(os.path.join(self.root, os.path.expanduser(path)))

    def operation(self) -> str:
        """What git is in the middle of (``rebase``, ``merge``, ``cherry-pick``, …), or "". No process."""
        for name, operation in _OPERATIONS:
            if os.path.exists(os.path.join(self.git_dir, name)):
                return operation
        return ""

    def index_locked(self, now: float) -> bool:
        """Whether a git command is at work on index and files; a lock half a minute old is a leftover."""
        try:
            return now - os.stat(os.path.join(self.git_dir, "index.lock")).st_mtime < _STALE_LOCK
        except OSError:
            return False

    def staged_files(self, prefix: str) -> list[str]:
        """Files below ``prefix`` that the next commit adds or changes (deleted ones not)."""
        return self._listed(
            self._run(
                *("diff", "--cached", "--name-only", "-z", "--no-renames", "--no-ext-diff"),
                *("--diff-filter=ACMRT", "--", prefix or "."),
            )
        )

    def tracked(self, paths: Sequence[str]) -> set[str]:
        """Which of these files (or files below these folders) are in git's index."""
        found: set[str] = set()
        for at in range(0, len(paths), _CHUNK):
            output = self._run("ls-files", "-z", "--full-name", "--", *paths[at : at + _CHUNK])
            found.update(self._listed(output))
        return found

    def blobs(self, names: Sequence[str]) -> dict[str, bytes | None]:
        """Contents of objects by name (``:path``, ``HEAD:path``, both from the top level), in one process."""
        asked = [name for name in dict.fromkeys(names) if "\n" not in name]
        found: dict[str, bytes | None] = dict.fromkeys(names)
        if not asked:
            return found
        data = "".join(f"{name}\n" for name in asked).encode("utf-8", "surrogateescape")
        output = self._run("cat-file", "--batch", data=data)
        answer, at = output.data, 0
        for name in asked:
            end = answer.find(b"\n", at)
            if end < 0:
                break
            header = answer[at:end].rsplit(b" ", 2)
            at = end + 1
            if len(header) == 3 and header[2].isdigit():
                size = int(header[2])
                found[name] = answer[at : at + size] if header[1] == b"blob" else None
                at += size + 1
        return found

    def _blob(self, revision: str, path: str) -> bytes | None:
        name = f"{revision}:{self.prefix}{path}"
        return self.blobs([name])[name]

    def staged_bytes(self, path: str) -> bytes | None:
        """The text of a file as the next commit would hold it; ``None`` when it holds none."""
        return self._blob("", path)

    def staged_texts(self, paths: Sequence[str]) -> dict[str, bytes | None]:
        """`staged_bytes` of many files in one process."""
        found = self.blobs([f":{self.prefix}{path}" for path in paths])
        return {path: found[f":{self.prefix}{path}"] for path in paths}

    def head_bytes(self, path: str) -> bytes | None:
        """The text of a file in the newest commit; ``None`` when it is not there."""
        return self._blob("HEAD", path)

    def show(self, rev: str, path: str) -> bytes | None:
        """The text of a file in a commit; ``None`` when either is not there."""
        if not rev or rev.startswith("-") or any(character in rev for character in " \n:"):
            return None
        return self._blob(rev, path)

    def commit(self, sha: str) -> Commit | None:
        """The commit of this (maybe shortened) hash; ``None`` when this clone has none such."""
        from thunderus_mem.store.git_history import LOG, parse_log

        if not _SHA.fullmatch(sha):
            return None
        output = self._run(*LOG, "--no-walk", "--end-of-options", f"{sha}^{{commit}}")
        return next((commit for commit, _ in parse_log(output.data)), None) if output.ok else None

    def is_shallow(self) -> bool:
        """Whether the clone holds only the end of the history. No process."""
        return os.path.exists(os.path.join(self.common_dir, "shallow"))

    def reached(self, names: Iterable[str]) -> dict[str, bool | None]:
        """Of each commit (maybe shortened) whether a branch or tag reaches it; ``None``: not in this clone.

        Two processes for all of them. Where git does not answer, every commit counts as reached.
        """
        found: dict[str, bool | None] = dict.fromkeys(names)
        asked = [name for name in found if _SHA.fullmatch(name)]
        if not asked:
            return found
        data = "".join(f"{name}^{{commit}}\n" for name in asked).encode()
        answer = self._run("cat-file", "--batch-check", data=data)
        lines = answer.data.decode("utf-8", "replace").splitlines()
        if not answer.ok or len(lines) != len(asked):
            return dict.fromkeys(found, True)
        full = {name: line.split()[0] for name, line in zip(asked, lines, strict=True) if " commit " in line}
        data = "".join(f"{sha}\n" for sha in full.values()).encode()
        answer = self._run("rev-list", "--stdin", "--not", "--all", data=data) if full else answer
        loose = set(answer.data.decode("utf-8", "replace").split()) if full and answer.ok else set()
        return found | {name: sha not in loose for name, sha in full.items()}

    def commits_between(self, since: str, until: str) -> list[Commit]:
        """Commits reachable from HEAD made from ``since`` up to ``until`` (RFC 3339), newest first."""
        from thunderus_mem.store.git_history import commits

        return commits(self.toplevel, since, until)

    def _log(self, paths: Iterable[str], *options: str) -> list[tuple[Commit, list[str]]]:
        from thunderus_mem.store.git_history import LOG, parse_log

        wanted = list(paths)
        found: list[tuple[Commit, list[str]]] = []
        for at in range(0, len(wanted), _CHUNK):
            output = self._run(*LOG, *options, "--", *wanted[at : at + _CHUNK])
            for commit, names in parse_log(output.data) if output.ok else ():
                below = [name[len(self.prefix) :] for name in names if name.startswith(self.prefix)]
                found.append((commit, below))
        return found

    def added_dates(self, paths: Sequence[str]) -> dict[str, tuple[str, str]]:
        """First and last author date of every file among or below ``paths``, as ``Z`` times."""
        dates: dict[str, tuple[str, str]] = {}
        for commit, names in self._log(paths):
            for name in names:
                first, last = dates.get(name, (commit.date, commit.date))
                dates[name] = (min(first, commit.date), max(last, commit.date))
        return dates

    def first_commits(self, paths: Sequence[str]) -> dict[str, Commit]:
        """The commit that brought each of these files in, as far as HEAD's history tells."""
        return {name: commit for commit, names in self._log(paths, "--diff-filter=A") for name in names}
