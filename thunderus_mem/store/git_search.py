"""Finds text in the files git tracks: ``git grep``, in one process, for fixed texts."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from thunderus_mem.store.git import Git

__all__ = ["Line", "lines_with"]

_GREP: Final = ("grep", "-n", "-z", "-I", "--no-color", "--no-column", "--full-name", "--fixed-strings")
_FOUND: Final = re.compile(rb"([^\0]+)\0([0-9]+)[\0:](.*)", re.DOTALL)


class Line(NamedTuple):
    """A line of a tracked file; ``path`` is relative to the root, and may climb out of it."""

    path: str
    line: int
    text: str


def lines_with(git: Git, texts: Sequence[str]) -> list[Line]:
    """Lines of the whole working tree that hold one of the texts; none when git cannot tell."""
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
