"""What goes to review instead of being written, and the proposal that is made of it. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from thunderus_mem.document.frontmatter.edit import remove_item
from thunderus_mem.errors import InvalidDocument
from thunderus_mem.memory.proposals import Proposal, proposed_edit
from thunderus_mem.store.layout import kind_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from thunderus_mem.memory.journal import Edit
    from thunderus_mem.store.config import Config

WORDS: Final = frozenset(("add", "edit", "anchor", "supersede", "link", "remove", "rename", "garden"))
"""The kinds of patches that ``review.agents`` may send to review."""


def must_be_reviewed(config: Config, actor: str, op: str, paths: Iterable[str]) -> bool:
    """Whether a change waits for a decision: one of an agent, where the configuration says so."""
    if config.review_agents != "propose" or actor != "agent" or op not in WORDS:
        return False
    return any(kind_of(path) in config.review_kinds for path in paths)


def word_proposal(
    written: Sequence[Edit],
    *,
    id: str,
    event: str,
    created: str,
    actor: str,
    op: str,
    why: str,
    origin: Mapping[str, str],
) -> Proposal:
    """The proposal that a writing command becomes, of the edits it would have ``written``.

    A new document does not name ``event``: what it is made from is the decision, and that is yet to come.
    """
    edits = tuple(
        proposed_edit(
            one.path,
            one.doc_id,
            one.before,
            _without_event(one.after, event) if one.before is None else one.after,
            renames=one.renames,
        )
        for one in written
    )
    targets = dict.fromkeys(one.doc_id for one in written if one.doc_id)
    return Proposal(id, created, actor, op, why, tuple(targets), edits, dict(origin))


def _without_event(text: str | None, event: str) -> str | None:
    if text is None or event not in text:
        return text
    try:
        return remove_item(text, ("provenance", "events"), event)
    except InvalidDocument:
        return text
