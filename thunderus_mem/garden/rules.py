"""The gardening rules: name, what it does in a sentence, and the pure function that plans it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from thunderus_mem.garden.duplicates import plan_duplicates

if TYPE_CHECKING:
    from collections.abc import Callable

    from thunderus_mem.garden.material import Material
    from thunderus_mem.garden.plan import Step
    from thunderus_mem.store.config import Config


class GardenRule(NamedTuple):
    """One rule of the gardener; ``plan`` gives the same steps for the same material."""

    name: str
    does: str
    plan: Callable[[Material, Config], tuple[Step, ...]]


def _duplicates(material: Material, config: Config) -> tuple[Step, ...]:
    from thunderus_mem.garden.similar.profile import gists

    return plan_duplicates(material.documents, config, gists(material.documents, material.signatures))


def _similar(material: Material, config: Config) -> tuple[Step, ...]:
    from thunderus_mem.garden.similar.steps import plan_similar

    return plan_similar(material, config)


RULES: Final[tuple[GardenRule, ...]] = (
    GardenRule("duplicates", "Merge documents that make exactly the same statements.", _duplicates),
    GardenRule("similar", "Propose what to do with documents that nearly say the same.", _similar),
)
"""In the order in which their steps are carried out."""

RULE_NAMES: Final = tuple(rule.name for rule in RULES)
