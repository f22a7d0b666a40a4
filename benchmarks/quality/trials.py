"""What is measured: two documents of which it is known how they stand to each other. Values only."""

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
"""What no program may ever merge."""

CONTRADICTS: Final = "possible contradiction"
"""The label under which a finder tells a person that two documents may disagree."""


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
        """Both ids in order, the way a finder names a pair."""
        return (self.one, self.other) if self.one < self.other else (self.other, self.one)


class Pool(NamedTuple):
    """Documents that stand together in one memory, and the trials among them."""

    name: str
    documents: tuple[Document, ...]
    trials: tuple[Trial, ...]


class Told(NamedTuple):
    """What a method says of a pair: its label, the tier that found it, whether it asks a person."""

    label: str
    tier: str
    proposed: bool


class Seen(NamedTuple):
    """What a method says of a whole pool: pairs by their ids in order, and those it would merge unasked."""

    told: dict[tuple[str, str], Told]
    merged: frozenset[tuple[str, str]]
