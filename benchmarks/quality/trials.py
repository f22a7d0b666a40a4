"""The trials: pairs of documents with a known relation. Values only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from thunderus_mem.document.document import Document

RESTATEMENT: Final = "restatement"
CONTRADICTION: Final = "contradiction"
FORM: Final = "same form"
RELATED: Final = "related"
NEAR: Final = "near"
MUTANT: Final = "mutant"
EXACT: Final = "exact"

DISTINCT: Final = (CONTRADICTION, FORM, RELATED, MUTANT)
"""Classes that must never be merged automatically."""

CONTRADICTS: Final = "possible contradiction"
"""The label for two documents that may contradict each other."""


class Trial(NamedTuple):
    """Two documents by id. ``what`` is one of the names above, ``by`` its grade, kind or size of change.

    ``split`` is "dev" or "held-out" for what was written for this benchmark, "" for real text; ``origin``
    names the corpus; ``how`` says more about a miss to whoever reads it.
    """

    what: str
    by: str
    split: str
    one: str
    other: str
    origin: str = "written"
    how: str = ""

    @property
    def key(self) -> tuple[str, str]:
        """Both ids in order, the key of a pair."""
        return (self.one, self.other) if self.one < self.other else (self.other, self.one)


class Pool(NamedTuple):
    """The documents of one memory, and the trials among them."""

    name: str
    documents: tuple[Document, ...]
    trials: tuple[Trial, ...]


class Told(NamedTuple):
    """The result of a method for a pair: label, tier, and whether it proposes a change."""

    label: str
    tier: str
    proposed: bool


class Seen(NamedTuple):
    """The results of a method for a pool: pairs by their ids, and those it would merge automatically."""

    told: dict[tuple[str, str], Told]
    merged: frozenset[tuple[str, str]]
