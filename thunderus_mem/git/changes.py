"""The code in git: changes since a commit or in the index, files that contain a word, and files in
conflict."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Final

from thunderus_mem.startup import NamedTuple, lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from thunderus_mem.git.repository import Git, Output

_DIFF: Final = ("diff", "-z", "--name-status", "--find-renames", "-l2000", "--no-ext-diff", "--no-textconv")
_PATCH: Final = (
    *("diff", "--unified=0", "--find-renames", "-l2000", "--no-color", "--no-ext-diff", "--no-textconv"),
    *("--src-prefix=a/", "--dst-prefix=b/", "--ignore-submodules"),
)
_REVISION: Final = lazy_pattern(r"[^-\s:~^?*\[\\\x00-\x1f][^\s:\x00-\x1f]*")
_STAGED: Final = ":"
_MOST_STEPS: Final = 20
_ANSWERED: Final = (0, 1)
"""Exit codes of ``git grep``: lines were found, or there are none."""


class Changes(NamedTuple):
    """Files that differ, root-relative and sorted: ``touched`` are new or changed, ``gone`` are deleted,
    ``renamed`` maps the old path to the new one."""

    touched: tuple[str, ...]
    gone: frozenset[str]
    renamed: dict[str, str]


def changes_since(git: Git, since: str, until: str = "") -> Changes | None:
    """The changes between a commit and the working tree, the index (``:``) or another commit.

    ``since`` "" is HEAD, or the empty tree if there is no commit yet. ``None`` when git has no such commit.
    Untracked files are not included.
    """
    output = _compared(git, since, until, _DIFF, "--")
    if output is None:
        return None
    fields = [os.fsdecode(field) for field in output.data.split(b"\0")]
    touched: set[str] = set()
    gone: set[str] = set()
    renamed: dict[str, str] = {}
    at = 0
    while at + 1 < len(fields) and fields[at]:
        status, path = fields[at][0], git.below(fields[at + 1])
        at += 2
        if status in "RC":
            new = git.below(fields[at]) if at < len(fields) else None
            at += 1
            if new is not None:
                touched.add(new)
            if status == "R" and path is not None:
                gone.add(path)
                if new is not None:
                    renamed[path] = new
        elif path is not None:
            (gone if status == "D" else touched).add(path)
    return Changes(tuple(sorted(touched)), frozenset(gone), renamed)


def _ends(since: str, until: str) -> tuple[str, ...]:
    if not _REVISION.fullmatch(since) or (until not in ("", _STAGED) and not _REVISION.fullmatch(until)):
        return ()
    if until == _STAGED:
        return ("--cached", since)
    return (since, until) if until else (since,)


def patch_between(git: Git, since: str, until: str = "") -> bytes | None:
    """The unified diff, without context, of the files below the root. ``since`` "" is HEAD, or the empty tree
    if there is no commit yet. ``None``: see ``git.reason``."""
    output = _compared(git, since, until, (*_PATCH, "--relative"), "--", ".")
    return output.data if output is not None else None


def _compared(git: Git, since: str, until: str, command: Sequence[str], *paths: str) -> Output | None:
    ends = _ends(since or "HEAD", until)
    output = git.ask(*command, *ends, *paths) if ends else None
    if output is not None and not output.ok and not since and until == _STAGED:
        output = git.ask(*command, "--cached", *paths)
    return output if output is not None and output.ok else None


def destination(git: Git, path: str, until: str, exists: Callable[[str], bool]) -> str | None:
    """The present path of a missing file, following all renames in the history of a revision; ``None`` when
    it was deleted, or not known to git."""
    seen = {path}
    for _ in range(_MOST_STEPS):
        # Simplified history omits the branch on which a file was both added and renamed.
        wanted = ("-1", "--format=%H", "--diff-filter=D", "--no-renames", "--full-history", until)
        output = git.ask("log", *wanted, "--", path)
        sha = output.data.decode("ascii", "replace").strip() if output.ok else ""
        if not sha:
            return path if len(seen) > 1 else None
        output = git.ask(
            *(
                "show",
                "-z",
                "--format=",
                "--name-status",
                "--find-renames",
                "-l2000",
                "--diff-filter=R",
                "-m",
            ),
            *("--first-parent", sha, "--"),
        )
        target = _renames(git, output).get(path)
        if target is None or target in seen:
            return None
        seen.add(target)
        path = target
        if exists(path):
            return path
    return None


def _renames(git: Git, output: Output) -> dict[str, str]:
    fields = [os.fsdecode(field).lstrip("\n") for field in output.data.split(b"\0")] if output.ok else []
    found = {}
    for status, old, new in zip(fields[0::3], fields[1::3], fields[2::3], strict=False):
        before, after = git.below(old), git.below(new)
        if status[:1] == "R" and before is not None and after is not None:
            found[before] = after
    return found


def code_paths(git: Git, revision: str = "") -> list[str]:
    """Files below the root: tracked and new ones in the working tree, those in the index (``:``), or those in
    a commit; sorted."""
    if revision not in ("", _STAGED):
        if not _REVISION.fullmatch(revision):
            return []
        return git.listed(git.ask("ls-tree", "-r", "-z", "--full-tree", "--name-only", revision))
    others = () if revision else ("--others", "--exclude-standard")
    return git.listed(git.ask("ls-files", "-z", "--full-name", "--cached", *others))


def untracked_files(git: Git) -> list[str]:
    """Untracked files that are not ignored, sorted."""
    return git.listed(git.ask("ls-files", "-z", "--full-name", "--others", "--exclude-standard"))


def files_naming(git: Git, words: Iterable[str], revision: str = "") -> list[str] | None:
    """Files that contain one of the words, among those of `code_paths`; one process for any number of
    words. ``None`` when git fails or does not answer: see ``git.reason``."""
    asked: Sequence[str] = [word for word in words if word and "\n" not in word]
    if not asked:
        return []
    patterns = [part for word in asked for part in ("-e", word)]
    options = ("-l", "-z", "-I", "-w", "--no-color", "--full-name", "--fixed-strings", *patterns)
    where: tuple[str, ...] = ("--untracked",) if not revision else ()
    if revision == _STAGED:
        where = ("--cached",)
    elif revision:
        if not _REVISION.fullmatch(revision):
            return []
        output = git.ask("grep", *options, revision, "--")
        if output.code not in _ANSWERED:
            return None
        return sorted(
            below
            for name in output.data.split(b"\0")
            if (below := git.below(os.fsdecode(name).partition(":")[2])) and name
        )
    output = git.ask("grep", *where, *options, "--")
    return git.listed(output) if output.code in _ANSWERED else None


def merge_base(git: Git, revision: str) -> str | None:
    """The merge base of HEAD and a revision; the revision's commit when there is none, ``None`` when git has
    no such revision."""
    if not _REVISION.fullmatch(revision):
        return None
    output = git.ask("merge-base", "--", revision, "HEAD")
    found = output.data.decode("ascii", "replace").split()
    if output.ok and found:
        return found[0]
    output = git.ask("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
    found = output.data.decode("ascii", "replace").split()
    return found[0] if output.ok and found else None


def without_filter(git: Git, paths: Sequence[str]) -> set[str]:
    """Those of the files that no git filter is configured for."""
    data = b"".join(os.fsencode(f"{path}\0") for path in paths)
    asked = git.ask("check-attr", "-z", "--stdin", "filter", data=data).data.split(b"\0")
    return {
        os.fsdecode(path)
        for path, value in zip(asked[0::3], asked[2::3], strict=False)
        if value in (b"unspecified", b"unset")
    }


_GREP: Final = ("grep", "-n", "-z", "-I", "--no-color", "--no-column", "--full-name", "--fixed-strings")
_FOUND: Final = lazy_pattern(rb"([^\0]+)\0([0-9]+)[\0:](.*)", re.DOTALL)


class Line(NamedTuple):
    """A line of a tracked file; ``path`` is relative to the root, and may begin with ``..``."""

    path: str
    line: int
    text: str


def lines_with(git: Git, texts: Sequence[str]) -> list[Line]:
    """Lines of the whole working tree that contain one of the texts; empty when git fails."""
    patterns = [word for text in texts for word in ("-e", text)]
    done = git.ask("-C", git.toplevel, *_GREP, *patterns)
    up = os.path.relpath(git.toplevel, git.root)
    found = []
    for entry in done.data.split(b"\n") if done.ok else ():
        match = _FOUND.fullmatch(entry)
        if match is not None:
            path = os.path.normpath(os.path.join(up, os.fsdecode(match[1])))
            found.append(Line(path, int(match[2]), match[3].decode("utf-8", "replace")))
    return found


_REGULAR: Final = frozenset(["100644", "100755", "100664"])


class Unmerged(NamedTuple):
    """A file in conflict, by its root-relative path: the bytes of each version, ``None`` if missing.

    ``regular`` is false when a version is a symlink or a submodule; there are no bytes then.
    """

    path: str
    base: bytes | None
    ours: bytes | None
    theirs: bytes | None
    regular: bool = True


class _Stages(NamedTuple):
    """The object names of a file's versions, by stage: 1 base, 2 ours, 3 theirs."""

    path: str
    objects: Mapping[int, str]
    regular: bool


def _stages(data: bytes) -> list[_Stages]:
    """Parse the NUL-separated output, in order; paths are relative to the top level."""
    objects: dict[str, dict[int, str]] = {}
    irregular = set()
    for entry in data.split(b"\0"):
        head, tab, name = entry.partition(b"\t")
        fields = head.decode("ascii", "replace").split(" ")
        if not tab or len(fields) != 3 or not fields[2].isdigit():
            continue
        path = os.fsdecode(name)
        objects.setdefault(path, {})[int(fields[2])] = fields[1]
        if fields[0] not in _REGULAR:
            irregular.add(path)
    return [_Stages(path, stages, path not in irregular) for path, stages in objects.items()]


def unmerged(git: Git, folder: str) -> list[Unmerged]:
    """Files in conflict below ``folder``, with all their versions: two processes."""
    listed = _stages(git.ask("ls-files", "--unmerged", "-z", "--full-name", "--", folder).data)
    found = [one for one in listed if one.path.startswith(git.prefix)]
    texts = git.blobs([name for one in found if one.regular for name in one.objects.values()])
    versions = ([texts.get(one.objects.get(stage, "")) for stage in (1, 2, 3)] for one in found)
    return [
        Unmerged(one.path[len(git.prefix) :], base, ours, theirs, one.regular)
        for one, (base, ours, theirs) in zip(found, versions, strict=True)
    ]


def stage_files(git: Git, paths: Sequence[str]) -> str:
    """Stage files or their deletion, which resolves their conflicts; return "" or the reason of a failure.

    Filters are never run here, so files with a filter must be staged by the user.
    """
    data = b"".join(os.fsencode(f"{path}\0") for path in paths)
    if len(without_filter(git, paths)) < len(paths):
        return "a git filter is configured for them; run `git add` yourself"
    done = git.ask("update-index", "--add", "--remove", "-z", "--stdin", data=data)
    return "" if done.ok else git.reason
