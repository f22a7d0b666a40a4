"""Which files a change may speak of or take away, and where files stood that have another place today."""

from __future__ import annotations

import posixpath
import re
from typing import Final

from thunderus_mem.store.layout import CORE_FILE, DOCUMENT_FOLDERS, kind_of

__all__ = ["GARDENER_FILE", "OLDER_FOLDERS", "may_change", "may_stage", "present_place", "proposal_id"]

GARDENER_FILE: Final = ".thunderus/memory/gardener.toml"
_PROPOSAL: Final = re.compile(r"\.thunderus/patches/(patch_[0-9A-HJKMNP-TV-Z]{26})\.json", re.ASCII)
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


def proposal_id(path: str) -> str:
    """The id of the proposal that a root-relative path holds by its name; "" for any other file."""
    found = _PROPOSAL.fullmatch(path)
    return found[1] if found else ""


def may_stage(path: str) -> bool:
    """Whether the journal may carry a change of this file out: what `may_change` names, and a proposal, which
    goes away with the decision about it."""
    return may_change(path) or bool(proposal_id(path))
