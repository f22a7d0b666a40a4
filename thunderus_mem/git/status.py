"""What ``git status --porcelain=v2 --branch -z`` says about the store (format: git-status(1)). Pure."""

from __future__ import annotations

from typing import Final, NamedTuple

STATUS: Final = (
    *("status", "--porcelain=v2", "--branch", "-z", "--untracked-files=all"),
    *("--ignored=matching", "--no-renames", "--ignore-submodules=all", "--"),
)
# Fields before the path in each kind of line.
_FIELDS: Final = {"1": 8, "2": 9, "u": 10}


class GitState(NamedTuple):
    """What git says about one working tree just now.

    ``head`` is the commit, ``None`` before the first. ``reflog_size`` is that of ``logs/HEAD`` (0: none).
    ``shard_known``: git's index has the ``shard`` that was asked about. ``changed``: root-relative paths of
    documents that somebody made differ from HEAD, or that are untracked, sorted; what git itself does in the
    middle of a merge is not among them. ``conflicts``: documents it could not merge, sorted. ``ignored``:
    git ignores the store.
    """

    head: str | None
    reflog_size: int
    shard_known: bool
    changed: tuple[str, ...]
    shard: str = ""
    ignored: bool = False
    conflicts: tuple[str, ...] = ()


class Status(NamedTuple):
    """The parsed answer, paths relative to the top level.

    ``staged`` are those of ``changed`` that differ from HEAD in the index alone.
    """

    head: str | None
    changed: tuple[str, ...]
    untracked: frozenset[str]
    ignored: tuple[str, ...]
    unmerged: frozenset[str] = frozenset()
    staged: frozenset[str] = frozenset()


def parse_status(data: bytes) -> Status:
    """Read the NUL-separated answer; lines of kinds unknown to us are passed over."""
    head: str | None = None
    changed: list[str] = []
    untracked: list[str] = []
    ignored: list[str] = []
    unmerged: list[str] = []
    staged: list[str] = []
    tokens = iter(data.decode("utf-8", "surrogateescape").split("\0"))
    for token in tokens:
        kind, _, rest = token.partition(" ")
        if kind == "#" and rest.startswith("branch.oid "):
            oid = rest[len("branch.oid ") :]
            head = None if oid.startswith("(") else oid
        elif kind == "?":
            untracked.append(rest)
        elif kind == "!":
            ignored.append(rest)
        elif kind in _FIELDS:
            path = token.split(" ", _FIELDS[kind])[-1]
            changed.append(path)
            if kind == "u":
                unmerged.append(path)
            elif token[3] == ".":
                staged.append(path)
            if kind == "2":
                next(tokens, None)
    return Status(
        head, tuple(changed), frozenset(untracked), tuple(ignored), frozenset(unmerged), frozenset(staged)
    )


def _is_ignored(path: str, ignored: tuple[str, ...]) -> bool:
    return any(path == one or (one.endswith("/") and path.startswith(one)) for one in ignored)


def state_of(
    status: Status,
    prefix: str,
    shard: str,
    exists: bool,
    memory_dir: str,
    reflog_size: int,
    merging: bool = False,
) -> GitState:
    """The state of a store whose root stands at ``prefix`` ("" or ``sub/folder/``) below the top level.

    ``exists``: there is a file ``shard``. One that is not listed at all is then in the index, unchanged.
    ``merging``: git is in the middle of a merge, a rebase or the like, and stages what it has merged.
    """
    full = prefix + shard
    unlisted = exists and full not in status.untracked and not _is_ignored(full, status.ignored)
    known = unlisted or full in status.changed
    folder = f"{prefix}{memory_dir}/"
    by_git = status.unmerged | (status.staged if merging else frozenset())
    changed, conflicts = (
        tuple(sorted(one[len(prefix) :] for one in paths if one.startswith(folder) and one.endswith(".md")))
        for paths in ({*status.changed, *status.untracked} - by_git, status.unmerged)
    )
    return GitState(
        head=status.head,
        reflog_size=reflog_size,
        shard_known=known,
        changed=changed,
        shard=shard,
        ignored=_is_ignored(folder, status.ignored),
        conflicts=conflicts,
    )
