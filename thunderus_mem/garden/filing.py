"""What goes to review instead of being written, and the proposal that is made of it. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from thunderus_mem.model.edit import remove_item
from thunderus_mem.model.errors import InvalidDocument, ThunderusError
from thunderus_mem.model.proposal import Proposal, proposed_edit
from thunderus_mem.store.layout import kind_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from thunderus_mem.garden.plan import Step
    from thunderus_mem.store.config import Config
    from thunderus_mem.store.edits import Edit

__all__ = ["ACTOR", "WORDS", "acting", "must_be_reviewed", "step_proposal", "word_proposal"]

ACTOR: Final = "THUNDERUS_MEM_ACTOR"
"""The environment variable that says whose commands these are: user or agent."""
WORDS: Final = frozenset(("add", "edit", "anchor", "supersede", "link", "remove", "rename", "garden"))
"""The kinds of patches that ``review.agents`` may send to review."""


def acting(environ: Mapping[str, str], actor: str) -> str:
    """Who acts: what a verb was told, or where that is the ordinary ``user``, what the environment says.

    Raises `ThunderusError` for a word that is neither user nor agent.
    """
    said = environ.get(ACTOR, "")
    if actor != "user" or not said:
        return actor
    if said not in ("user", "agent"):
        raise ThunderusError(f"{ACTOR} must be user or agent, not {said!r}")
    return said


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


def step_proposal(
    step: Step, *, id: str, created: str, actor: str, origin: Mapping[str, str], before: Sequence[str | None]
) -> Proposal:
    """The proposal of a gardening step; ``before`` are the texts its edits were made from."""
    return Proposal(
        id,
        created,
        actor,
        step.op,
        step.why,
        step.targets,
        tuple(
            proposed_edit(edit.path, edit.doc_id, text, edit.after_text, renames=edit.renames)
            for edit, text in zip(step.edits, before, strict=True)
        ),
        dict(origin),
        step.rule,
        step.action,
        step.label,
        step.evidence,
        step.key,
        tuple(sorted(step.texts)),
        step.private,
    )
