"""The changes of the code that `check` looks at: staged, since a commit, or in a diff that is given."""

from __future__ import annotations

from typing import TYPE_CHECKING

from thunderus_mem.evidence.change import CodeChange
from thunderus_mem.evidence.trees import CommitTree, PatchedTree, WorkingTree
from thunderus_mem.model.errors import InvalidQuery, NotFound
from thunderus_mem.model.hunks import parse_diff
from thunderus_mem.model.patch import apply_diff, reversed_diff
from thunderus_mem.store.git import look_for_git
from thunderus_mem.store.git_changes import merge_base, patch_between
from thunderus_mem.store.git_objects import ObjectReader
from thunderus_mem.verbs.code_checking import check_change

if TYPE_CHECKING:
    from collections.abc import Sequence

    from thunderus_mem.memory import Memory
    from thunderus_mem.model.hunks import FileDiff
    from thunderus_mem.verbs.code_checking import CheckReport

__all__ = ["change_in", "check_diff", "check_since", "check_staged"]


def check_staged(memory: Memory) -> CheckReport:
    """Which memories the next commit makes false, as it stands in the index that git names to its hooks."""
    memory.refresh()
    git = look_for_git(memory.root, memory.environ, honour_index=True)[0]
    if git is None:
        raise _no_git()
    patch = patch_between(git, "", ":")
    if patch is None:
        raise NotFound(f"git does not say what is staged: {git.reason}")
    with ObjectReader(git) as reader:
        trees = CommitTree(git, reader, "HEAD"), CommitTree(git, reader, ":")
        return check_change(memory, CodeChange(*trees, _diffs(patch)))


def check_since(memory: Memory, revision: str) -> CheckReport:
    """Which memories are made false by what the working tree has and the commit ``revision``, where it parted
    from HEAD, has not."""
    memory.refresh()
    git = memory.git
    if git is None:
        raise _no_git()
    base = merge_base(git, revision)
    patch = patch_between(git, base) if base else None
    if base is None or patch is None:
        raise NotFound(
            f"git has no commit {revision!r}",
            hint="a branch, a tag or a hash; a shallow clone has few of them",
        )
    with ObjectReader(git) as reader:
        trees = CommitTree(git, reader, base), WorkingTree(memory.root, git)
        return check_change(memory, CodeChange(*trees, _diffs(patch)))


def check_diff(memory: Memory, text: str) -> CheckReport:
    """Which memories a unified diff makes false. Raises `InvalidQuery` like `change_in`."""
    memory.refresh()
    return check_change(memory, change_in(memory, text))


def change_in(memory: Memory, text: str) -> CodeChange:
    """What a unified diff changes, whether the working tree has it already or not.

    Raises `InvalidQuery` for a text that is no diff, or one that does not fit the files.
    """
    diffs = parse_diff(text)
    if not diffs:
        raise InvalidQuery("that is no unified diff", hint="give what `git diff` prints")
    tree = WorkingTree(memory.root, memory.git)
    before: dict[str, bytes | None] = {}
    after: dict[str, bytes | None] = {}
    for diff in diffs:
        _place(tree, diff, before, after)
    return CodeChange(PatchedTree(tree, before), PatchedTree(tree, after), diffs)


def _place(
    tree: WorkingTree, diff: FileDiff, before: dict[str, bytes | None], after: dict[str, bytes | None]
) -> None:
    """Put both versions of one file where its diff has them."""
    new = tree.source(diff.new_path) if diff.new_path else None
    old = tree.source(diff.old_path) if diff.old_path else None
    patch = "".join(f"{hunk.header}\n" + "".join(f"{line}\n" for line in hunk.lines) for hunk in diff.hunks)
    adds = any(line.startswith("+") for hunk in diff.hunks for line in hunk.lines)
    forward = apply_diff(old.text if old is not None else "", patch) if old or not diff.old_path else None
    backward = apply_diff(new.text if new is not None else "", reversed_diff(patch))
    if diff.new_path and new is None:
        backward = None
    if not diff.new_path and old is not None:
        backward = None
    if backward is not None and (adds or forward is None or diff.old_path != diff.new_path):
        was, now = backward, new.text if new is not None else ""
    elif forward is not None:
        was, now = old.text if old is not None else "", forward
    else:
        name = diff.new_path or diff.old_path
        raise InvalidQuery(f"the diff does not fit {name}", hint="make it anew, or check out what it is for")
    if diff.old_path:
        before[diff.old_path] = was.encode("utf-8", "surrogateescape")
        after.setdefault(diff.old_path, None)
    if diff.new_path:
        after[diff.new_path] = now.encode("utf-8", "surrogateescape")
        if diff.new_path != diff.old_path:
            before.setdefault(diff.new_path, None)


def _no_git() -> NotFound:
    return NotFound("this memory is in no git repository", hint="use --diff, or check everything with --all")


def _diffs(patch: bytes) -> Sequence[FileDiff]:
    return parse_diff(patch.decode("utf-8", "surrogateescape"))
