"""Is every document on disk explained by the log or by git, and does every document of the log exist?"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from thunderus_mem.model.document import MAX_DOCUMENT
from thunderus_mem.model.errors import ThunderusError
from thunderus_mem.store.files import read_file
from thunderus_mem.store.git_texts import removed_files, texts_in_history
from thunderus_mem.store.layout import CORE_LOCAL_FILE, MEMORY
from thunderus_mem.store.paths import is_safe

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from thunderus_mem.evidence.replay import Reached
    from thunderus_mem.store.git import Git
    from thunderus_mem.store.layout import Layout

__all__ = ["Unexplained", "gone", "unexplained"]


class Unexplained(NamedTuple):
    """Files whose text no event left, by path: git has those of ``by_git``, nobody those of ``by_nobody``.

    ``personal`` belong to one person and are never recorded; ``unreadable`` cannot be compared.
    """

    by_git: tuple[str, ...]
    by_nobody: tuple[str, ...]
    personal: tuple[str, ...]
    unreadable: tuple[str, ...]


def unexplained(layout: Layout, files: Iterable[str], git: Git | None) -> Unexplained:
    """Look in git for the texts of files that the log does not explain, all together."""
    personal = []
    unreadable = []
    texts: dict[str, bytes] = {}
    for path in files:
        if path == CORE_LOCAL_FILE:
            personal.append(path)
            continue
        try:
            texts[path] = read_file(os.path.join(layout.root, path), MAX_DOCUMENT)
        except ThunderusError:
            unreadable.append(path)
    by_git = texts_in_history(git, texts, MEMORY) if git is not None and texts else set()
    by_nobody = [path for path in texts if path not in by_git]
    return Unexplained(tuple(sorted(by_git)), tuple(by_nobody), tuple(personal), tuple(unreadable))


def gone(
    layout: Layout, reached: Mapping[str, Reached], missing: Iterable[str], git: Git | None
) -> Sequence[tuple[str, str]]:
    """``(id, path)`` of documents that the log has and no file holds, unless a commit took the file away.

    ``missing`` are the ids no file has. A file that is there holds another document now, and that is its own
    story.
    """
    lost = {id: reached[id].path for id in missing if id in reached and reached[id].hash}
    # Anybody can write a line of the log; its paths are looked up and asked of git.
    asked = sorted({path for path in lost.values() if layout.kind_of(path) and is_safe(path)})
    settled = {path for path in asked if os.path.lexists(os.path.join(layout.root, path))}
    rest = [path for path in asked if path not in settled]
    if git is not None and rest:
        settled |= removed_files(git, rest, MEMORY)
    return tuple(sorted((id, path) for id, path in lost.items() if path not in settled))
