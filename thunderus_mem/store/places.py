"""Which files a change may speak of, and where files stood that have another place today."""

from __future__ import annotations

import posixpath
from typing import Final

from thunderus_mem.store.layout import CORE_FILE, DOCUMENT_FOLDERS, kind_of

__all__ = ["GARDENER_FILE", "OLDER_FOLDERS", "may_change", "present_place"]

GARDENER_FILE: Final = ".thunderus/memory/gardener.toml"
_OLDER_FILES: Final = {".thunderus/CORE.md": CORE_FILE, ".thunderus/memory/CORE.md": CORE_FILE}
OLDER_FOLDERS: Final = {
    ".thunderus": "",
    ".thunderus/memory": "",
    ".thunderus/memory/FACTS": DOCUMENT_FOLDERS["fact"],
    ".thunderus/memory/DECISIONS": DOCUMENT_FOLDERS["adr"],
    ".thunderus/memory/PLAYBOOKS": DOCUMENT_FOLDERS["playbook"],
}
"""Folders that held documents before there were tiers, and the present ones; "" where only CORE.md did."""


def present_place(path: str) -> str | None:
    """Where a file of an older place belongs today; ``None`` for one that is in its place.

    ``CORE.md`` of the store or of its memory folder belongs in ``core``; ``FACTS``, ``DECISIONS`` and
    ``PLAYBOOKS`` of the memory folder belong below ``semantic`` and ``procedural``.
    """
    folder, name = posixpath.split(path)
    if path in _OLDER_FILES:
        return _OLDER_FILES[path]
    present = OLDER_FOLDERS.get(folder)
    return f"{present}/{name}" if present and name.endswith(".md") and not name.startswith(".") else None


def may_change(path: str) -> bool:
    """Whether a change may write this file: a document, one of an older place, the gardener's rules."""
    return kind_of(path) is not None or present_place(path) is not None or path == GARDENER_FILE
