"""Where a repository is, found by looking at files: no process unless ownership or settings make one needed.

``.git`` is a folder, or a file ``gitdir: PATH`` in linked worktrees and submodules; ``commondir`` in the git
folder of a linked worktree names the shared one (gitrepository-layout(5)).
"""

from __future__ import annotations

import os
from typing import Final, NamedTuple

__all__ = ["Place", "find_place"]

_SMALL: Final = 64 * 1024


class Place(NamedTuple):
    """The folders of a repository (absolute), or why there is none.

    ``ask``: git itself must confirm, as the owner is somebody else or the work tree is configured elsewhere.
    ``filters``: its configuration may name programs that git runs on contents.
    """

    toplevel: str = ""
    git_dir: str = ""
    common_dir: str = ""
    reason: str = ""
    ask: bool = False
    filters: bool = False


def _small_text(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            return file.read(_SMALL)
    except OSError:
        return ""


def _pointed(dot_git: str) -> str:
    """The git folder that a ``.git`` file names; "" when it names none."""
    text = _small_text(dot_git)
    if not text.startswith("gitdir:"):
        return ""
    return os.path.normpath(os.path.join(os.path.dirname(dot_git), text[len("gitdir:") :].strip()))


def _is_mine(*paths: str) -> bool:
    """Whether every path belongs to the user that runs this, as git asks before it trusts a repository."""
    if not hasattr(os, "geteuid"):
        return False
    try:
        return all(os.lstat(path).st_uid == os.geteuid() for path in paths)
    except OSError:
        return False


def _place(toplevel: str, dot_git: str, git_dir: str) -> Place:
    pointer = _small_text(os.path.join(git_dir, "commondir")).strip()
    common = os.path.normpath(os.path.join(git_dir, pointer)) if pointer else git_dir
    settings = _small_text(os.path.join(common, "config")).lower()
    moved = "worktree" in settings
    filters = moved or "filter" in settings or "include" in settings
    ask = moved or not _is_mine(toplevel, dot_git, git_dir)
    return Place(toplevel, git_dir, common, ask=ask, filters=filters)


def find_place(start: str) -> Place:
    """The repository around ``start`` (absolute, links resolved): the nearest ``.git`` that is one."""
    folder = start
    while True:
        dot_git = os.path.join(folder, ".git")
        if os.path.isfile(dot_git):
            git_dir = _pointed(dot_git)
            if os.path.isfile(os.path.join(git_dir, "HEAD")):
                return _place(folder, dot_git, git_dir)
            return Place(reason=f"{dot_git} names no git folder that exists")
        # A reftable repository has HEAD too, as a stub; a folder without one is not a repository.
        if os.path.lexists(os.path.join(dot_git, "HEAD")):
            return _place(folder, dot_git, dot_git)
        if os.path.isfile(os.path.join(folder, "HEAD")) and os.path.isdir(os.path.join(folder, "objects")):
            return Place(reason=f"{folder} is a bare repository or a git folder, without a working tree")
        parent = os.path.dirname(folder)
        if parent == folder:
            return Place(reason="not inside the working tree of a git repository")
        folder = parent
