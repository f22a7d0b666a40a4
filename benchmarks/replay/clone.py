"""A clone of a public repository, read with real git; planted commits go into a scratch clone.

The clone that was given is never written to: the scratch clone borrows its objects.
"""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_AUTHOR = {
    "GIT_AUTHOR_NAME": "replay",
    "GIT_AUTHOR_EMAIL": "replay@example.org",
    "GIT_COMMITTER_NAME": "replay",
    "GIT_COMMITTER_EMAIL": "replay@example.org",
    "GIT_AUTHOR_DATE": "2026-01-21T09:00:00+00:00",
    "GIT_COMMITTER_DATE": "2026-01-21T09:00:00+00:00",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
}


class Change(NamedTuple):
    """A file that one first-parent commit wrote: its blob after it, "" when it was removed."""

    path: str
    blob: str


class Clone:
    """One repository: ``name`` for people, ``root`` the scratch clone that may be written to."""

    def __init__(self, source: str, root: str, name: str) -> None:
        self.name = name
        self.source = source
        self.root = root
        self._batch: subprocess.Popen[bytes] | None = None
        if not os.path.isdir(os.path.join(root, ".git")):
            self._run("clone", "--quiet", "--shared", "--no-checkout", source, root, at=os.path.dirname(root))
            self._replace_missing()
        self.tip = self._run("rev-parse", "HEAD", at=source).decode().strip()

    def __enter__(self) -> Clone:
        return self

    def __exit__(self, *_: object) -> None:
        if self._batch is not None and self._batch.stdin is not None:
            self._batch.stdin.close()
            self._batch.wait()

    def _run(
        self, *arguments: str, data: bytes | None = None, at: str = "", env: Mapping[str, str] | None = None
    ) -> bytes:
        kept = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
        done = subprocess.run(
            ["git", *arguments],
            cwd=at or self.root,
            env=kept | _AUTHOR | dict(env or {}),
            input=data,
            capture_output=True,
            check=False,
        )
        if done.returncode:
            raise OSError(f"git {' '.join(arguments[:3])}: {done.stderr.decode(errors='replace')[:400]}")
        return done.stdout

    def _replace_missing(self) -> None:
        """Make the blobs that a mirror left out, because they are large, read as empty ones."""
        rows = self._run("rev-list", "--objects", "--missing=print", "--all").splitlines()
        for row in rows:
            if row.startswith(b"?"):
                self._run("update-ref", f"refs/replace/{row[1:].decode()}", self.put(b""))

    def _fields(self, *arguments: str) -> list[str]:
        return [part.decode("utf-8", "surrogateescape") for part in self._run(*arguments).split(b"\0")]

    def line(self) -> list[str]:
        """The first-parent commits of the clone that was given, oldest first."""
        return self._run("rev-list", "--first-parent", "--reverse", self.tip).decode().split()

    def count(self) -> int:
        """How many commits the clone that was given has."""
        return int(self._run("rev-list", "--count", self.tip))

    def date(self, revision: str) -> str:
        """The day of a commit."""
        return self._run("log", "-1", "--format=%cs", revision).decode().strip()

    def tree(self, revision: str) -> dict[str, str]:
        """Path → blob id of every regular file of a commit."""
        found = {}
        for row in self._fields("ls-tree", "-r", "-z", "--full-tree", revision):
            if row.startswith("100"):
                head, _, path = row.partition("\t")
                found[path] = head.split()[2]
        return found

    def blob(self, blob: str) -> bytes:
        """The bytes of a blob."""
        if self._batch is None:
            self._batch = subprocess.Popen(
                ["git", "cat-file", "--batch"], cwd=self.root, stdin=subprocess.PIPE, stdout=subprocess.PIPE
            )
        assert self._batch.stdin is not None
        assert self._batch.stdout is not None
        self._batch.stdin.write(f"{blob}\n".encode())
        self._batch.stdin.flush()
        size = int(self._batch.stdout.readline().split()[2])
        data = self._batch.stdout.read(size + 1)
        return data[:-1]

    def renames(self, a: str, b: str) -> dict[str, str]:
        """Old path → new path, as git's rename detection sees the two trees; no limit of pairs."""
        fields = self._fields("diff", "-M", "-l0", "--diff-filter=R", "--name-status", "-z", a, b)
        return dict(zip(fields[1::3], fields[2::3], strict=False))

    def renames_on_the_way(self, a: str, b: str) -> dict[str, str]:
        """Old path → last path, following git's renames commit by commit."""
        fields = self._fields(
            *("log", "--first-parent", "--diff-merges=first-parent", "--reverse", "-M", "-l0"),
            *("--diff-filter=R", "--name-status", "-z", "--format=", f"{a}..{b}"),
        )
        ends: dict[str, str] = {}
        for old, new in zip(fields[1::3], fields[2::3], strict=False):
            for start in [start for start, end in ends.items() if end == old]:
                ends[start] = new
            ends.setdefault(old, new)
        return ends

    def changes(self, a: str, b: str) -> Iterator[Change]:
        """Every file every first-parent commit between wrote or removed, newest first."""
        fields = self._fields(
            *("log", "--first-parent", "--diff-merges=first-parent", "--no-renames", "--raw", "--no-abbrev"),
            *("-z", "--format=", f"{a}..{b}"),
        )
        for head, path in zip(fields[::2], fields[1::2], strict=False):
            blob = head.split()[3]
            yield Change(path, "" if set(blob) == {"0"} else blob)

    def paths_by_commit(self, a: str, b: str) -> dict[str, set[str]]:
        """First-parent commit → the files it wrote or removed, a rename under both names."""
        fields = self._fields(
            *("log", "--first-parent", "--diff-merges=first-parent", "--no-renames", "--name-only", "-z"),
            *("--format=%x01%H", f"{a}..{b}"),
        )
        found: dict[str, set[str]] = {}
        commit = ""
        for field in fields:
            name = field.strip("\n")
            if name.startswith("\x01"):
                commit, found[name[1:]] = name[1:], set()
            elif name:
                found[commit].add(name)
        return found

    def touched(self, a: str, b: str) -> set[str]:
        """Files with a commit newer than ``a``: the method based on commit dates."""
        return set(self._fields("log", "--name-only", "-z", "--format=", f"{a}..{b}")) - {""}

    def span_touched(self, a: str, b: str, path: str, first: int, last: int) -> bool:
        """Whether ``git log -L`` knows a commit since ``a`` on the lines as they stand at ``b``."""
        span = f"-L{first},{last}:{path}"
        return bool(self._run("log", "-s", "-1", "--format=%H", span, f"{a}..{b}").strip())

    def stand_at(self, revision: str) -> None:
        """Make a commit the HEAD of the scratch clone; no file is written."""
        self._run("update-ref", "--no-deref", "HEAD", revision)

    def put(self, data: bytes) -> str:
        """Write a blob into the scratch clone."""
        return self._run("hash-object", "-w", "--stdin", data=data).decode().strip()

    def commit(self, base: str, files: Mapping[str, bytes | None], *, parents: Sequence[str]) -> str:
        """A commit in the scratch clone: the tree of ``base`` with some files replaced, or removed (None)."""
        index = {"GIT_INDEX_FILE": os.path.join(self.root, ".git", "replay-index")}
        self._run("read-tree", base, env=index)
        rows = []
        for path, data in files.items():
            mode, blob = ("0", "0" * 40) if data is None else ("100644", self.put(data))
            rows.append(f"{mode} {blob}\t{path}".encode("utf-8", "surrogateescape"))
        if rows:
            self._run("update-index", "-z", "--index-info", data=b"\0".join(rows) + b"\0", env=index)
        tree = self._run("write-tree", env=index).decode().strip()
        arguments = [word for parent in parents for word in ("-p", parent)]
        return self._run("commit-tree", "-m", "replay", *arguments, tree).decode().strip()

    def shallow(self, revision: str, root: str) -> None:
        """Another clone at ``root`` that holds one commit and nothing before it.

        Made by hand, because git refuses to fetch from a clone in which a large blob is missing.
        """
        os.makedirs(root, exist_ok=True)
        self._run("init", "--quiet", "--initial-branch=none", root)
        rows = self._run("rev-list", "--objects", "--missing=allow-any", "-n1", revision).splitlines()
        ids = b"\n".join(row.split()[0] for row in rows) + b"\n"
        pack = self._run("pack-objects", "--quiet", "--stdout", data=ids)
        self._run("index-pack", "--stdin", data=pack, at=root)
        with open(os.path.join(root, ".git", "shallow"), "w", encoding="ascii") as file:
            file.write(f"{revision}\n")
        self._run("update-ref", "--no-deref", "HEAD", revision, at=root)
