"""The subfolders that a command may walk without being asked to. Read only."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

_DEEPEST, _MOST_LISTED = 4, 1000
_DEPENDENCIES: Final = frozenset(("node_modules", "vendor", "target", "__pycache__"))


def folders_below(start: str) -> Iterator[str]:
    """Folders by depth and path, without hidden ones, links and dependencies; not all of very many.

    Names with a line break or another control character are skipped: messages list these folders, and agents
    run the commands in them.
    """
    level, left = [start], _MOST_LISTED
    for _ in range(_DEEPEST):
        level, left = level[:left], max(0, left - len(level))
        level = [inner for folder in level for inner in _folders_in(folder)]
        yield from level


def _folders_in(folder: str) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            found = [(entry.name, entry.path) for entry in entries if entry.is_dir(follow_symlinks=False)]
    except OSError:
        return []
    shown = (one for one in sorted(found) if not one[0].startswith(".") and one[0].isprintable())
    return [path for name, path in shown if name not in _DEPENDENCIES]
