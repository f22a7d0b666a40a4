"""A proposal: a change of documents that waits for somebody's word.

A proposal may come from anybody through git, so nothing of it is believed: `text_after` takes only a diff
that leads from the one hash to the other.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from thunderus_mem.model.document import content_hash
from thunderus_mem.model.patch import apply_diff
from thunderus_mem.model.textdiff import lines_of, whole_diff
from thunderus_mem.model.three_way import three_way

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "OPS",
    "PATCH_ID",
    "InvalidProposal",
    "Proposal",
    "ProposedEdit",
    "proposed_edit",
    "text_after",
]

PATCH_ID: Final = re.compile(r"patch_[0-9A-HJKMNP-TV-Z]{26}", re.ASCII)
OPS: Final = ("add", "edit", "remove", "rename", "supersede", "link", "anchor", "garden", "recap", "import")
"""What a proposal may be: the kinds of patches that make or change documents."""


class InvalidProposal(ValueError):
    """A file that is no proposal: which ``key`` (``edits[0].path``, or ""), the reason, and what to do."""

    def __init__(self, key: str, reason: str, fix: str = "") -> None:
        super().__init__(f"{key}: {reason}" if key else reason)
        self.key = key
        self.reason = reason
        self.fix = fix or "bring the file back from git, or delete it: then nothing is proposed"


class ProposedEdit(NamedTuple):
    """One file of a proposal.

    ``before`` is the content hash it was made from ("": a new file), ``after`` the one it leads to ("": the
    file goes away). ``diff`` leads from the one text to the other, with line ends as LF. A document that gets
    another path is two of them with ``renames``: the old path loses the text, then the new path gets it.
    """

    path: str
    doc_id: str
    before: str
    after: str
    diff: str
    renames: bool = False

    @property
    def op(self) -> str:
        """What it does to the file: create, update, remove or rename."""
        if self.renames:
            return "rename"
        return "create" if not self.before else "update" if self.after else "remove"


class Proposal(NamedTuple):
    """A change that waits for a decision.

    ``op`` is the kind of patch it becomes (one of `OPS`); ``rule``, ``action`` and ``label`` come from the
    gardener, "" else. ``key`` is what a decision about it is remembered by, ``texts`` the digests it rests
    on, by document id, ``private`` the private events that a new text names. ``created`` is when, ``actor``
    and ``origin`` who made it; ``why`` and ``evidence`` are for whoever decides.
    """

    id: str
    created: str
    actor: str
    op: str
    why: str
    targets: tuple[str, ...]
    edits: tuple[ProposedEdit, ...]
    origin: Mapping[str, str] = {}
    rule: str = ""
    action: str = ""
    label: str = ""
    evidence: tuple[str, ...] = ()
    key: str = ""
    texts: tuple[tuple[str, str], ...] = ()
    private: tuple[str, ...] = ()


def proposed_edit(
    path: str, doc_id: str, before: str | None, after: str | None, *, renames: bool = False
) -> ProposedEdit:
    """The edit that makes ``after`` of ``before`` (``None``: no file)."""
    return ProposedEdit(
        path,
        doc_id,
        "" if before is None else content_hash(before),
        "" if after is None else content_hash(after),
        whole_diff(before, after, path),
        renames,
    )


def text_after(edit: ProposedEdit, now: str | None) -> str | None:
    """The text an edit makes of ``now``, the text it was made from (``None``: no file); ``None`` removes it.

    Line ends are those of ``now``. Raises `InvalidProposal` when the diff does not lead to the hash it names.
    """
    if not edit.after:
        return None
    lf = "".join(lines_of(now or ""))
    text = apply_diff(lf, edit.diff)
    if text is None or content_hash(text) != edit.after:
        raise InvalidProposal("edits", f"the diff of {edit.path} does not lead to the text it names")
    return text if now is None or "\r" not in now else three_way(lf, now, text) or text
