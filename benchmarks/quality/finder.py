"""The product as a method: the results of its finder for a pool, and the merges of ``garden --apply``."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from benchmarks.quality.trials import EXACT, Seen, Told
from thunderus_mem.garden.apply import RULES
from thunderus_mem.garden.plan import GardenInput, Plan, make_plan
from thunderus_mem.garden.rules.duplicates import plan_duplicates
from thunderus_mem.garden.rules.similar import plan_similar
from thunderus_mem.store.config import Config

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from thunderus_mem.document.document import Document
    from thunderus_mem.garden.plan import Step


class Finder(Protocol):
    """Gives pairs that have ``first``, ``second``, ``tier``, ``label`` and ``proposed``."""

    def __call__(self, documents: Sequence[Document], /) -> Iterable[Any]: ...


def product_finder() -> Finder:
    """The rule of the product for two documents about one subject."""
    return _one_subject


class _Pair(NamedTuple):
    first: str
    second: str
    label: str
    proposed: bool
    tier: str = "similar"


def _one_subject(documents: Sequence[Document], /) -> list[_Pair]:
    steps = plan_similar(GardenInput.of(documents, verbose=True), Config())
    return [_Pair(*step.targets, step.label, step.reach == "propose") for step in steps]


def plan_of(documents: Sequence[Document]) -> Plan:
    """What the gardener plans for a memory of these documents, by all its rules and with the defaults."""
    material = GardenInput.of(documents)
    return make_plan(*(rule.plan(material, Config()) for rule in RULES))


def _pairs(steps: Iterable[Step]) -> set[tuple[str, str]]:
    return {pair for step in steps for pair in itertools.combinations(sorted(step.targets), 2)}


def ask(finder: Finder, documents: Sequence[Document]) -> Seen:
    """The results of the product for a pool: exact duplicates, then the pairs of ``finder``."""
    told = {
        pair: Told("same", EXACT, True)
        for pair in _pairs(plan_duplicates(GardenInput.of(documents), Config()))
    }
    for pair in finder(documents):
        first, second = sorted((pair.first, pair.second))
        told.setdefault((first, second), Told(pair.label, pair.tier, pair.proposed))
    return Seen(told, frozenset(_pairs(plan_of(documents).applicable)))
