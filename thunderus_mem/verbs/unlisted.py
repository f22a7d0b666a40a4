"""Folders of documents that could not be looked into: what is said of them instead of nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from thunderus_mem.projection.refresh import unlisted
from thunderus_mem.projection.refused import unlisted_folder
from thunderus_mem.verbs.locating import stored_path

if TYPE_CHECKING:
    from collections.abc import Sequence

    from thunderus_mem.memory import Memory
    from thunderus_mem.model.diagnostic import Diagnostic


def unlisted_folders(memory: Memory, paths: Sequence[str] = ()) -> list[Diagnostic]:
    """A finding for each folder that the last refresh could not look into; only those that are one of
    ``paths`` (from the current folder or the root), or are below one, when some are given."""
    folders = unlisted(memory.index)
    names = [stored_path(memory, given).rstrip("/") for given in paths] if folders else []
    return [
        unlisted_folder(folder)
        for folder in folders
        if not names or any(name == "." or f"{folder}/".startswith(f"{name}/") for name in names)
    ]
