"""``anchor --suggest``: which places in the code a document talks about, as its own text says."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from thunderus_mem.evidence.suggest import Passed, Proposal, propose
from thunderus_mem.model.anchor import anchors_in
from thunderus_mem.model.code_words import code_words
from thunderus_mem.verbs.locating import find_document

if TYPE_CHECKING:
    from thunderus_mem.memory import Memory

__all__ = ["Suggestions", "suggest"]


class Suggestions(NamedTuple):
    """Anchors proposed for a document, strong ones first; what its text names besides, and why that is no
    proposal; how many ``files`` were parsed. ``anchors`` are those it has."""

    id: str
    proposals: tuple[Proposal, ...]
    passed: tuple[Passed, ...]
    anchors: tuple[str, ...]
    files: int

    @property
    def strong(self) -> tuple[str, ...]:
        """The places of the proposals that are not weak, as `anchor` takes them."""
        return tuple(one.place for one in self.proposals if not one.weak)


def suggest(memory: Memory, id: str) -> Suggestions:
    """Propose anchors for a document from its text. Writes nothing.

    Raises `NotFound` for a document that is not there.
    """
    from thunderus_mem.evidence.trees import WorkingTree

    memory.refresh()
    document = find_document(memory, id)
    existing = [cited.anchor for cited in anchors_in(document.header, document.header_line)]
    words = code_words(document.body, document.path.rpartition("/")[0])
    tree = WorkingTree(memory.root, memory.git)
    found = propose(words, tree, existing, document.body_line)
    places = tuple(anchor.place for anchor in existing)
    return Suggestions(document.id, found.proposals, found.passed, places, found.files)
