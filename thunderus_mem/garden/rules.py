"""The gardening rules: name, what it does in a sentence, and the pure function that plans it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from thunderus_mem.garden.duplicates import plan_duplicates
from thunderus_mem.garden.order.archiving import plan_archive
from thunderus_mem.garden.order.links import plan_links
from thunderus_mem.garden.order.numbers import plan_numbers
from thunderus_mem.garden.order.sizes import plan_sizes
from thunderus_mem.garden.order.tags import plan_tags

if TYPE_CHECKING:
    from collections.abc import Callable

    from thunderus_mem.garden.material import Material
    from thunderus_mem.garden.plan import Step
    from thunderus_mem.store.config import Config


class GardenRule(NamedTuple):
    """One rule of the gardener; ``plan`` gives the same steps for the same material. None of them is carried
    out by itself unless the rule ``applies``."""

    name: str
    does: str
    plan: Callable[[Material, Config], tuple[Step, ...]]
    applies: bool = True


def _duplicates(material: Material, config: Config) -> tuple[Step, ...]:
    from thunderus_mem.garden.similar.profile import gists

    return plan_duplicates(material.documents, config, gists(material.documents, material.signatures))


def _similar(material: Material, config: Config) -> tuple[Step, ...]:
    from thunderus_mem.garden.similar.steps import plan_similar

    return plan_similar(material, config)


def _recaps(material: Material, config: Config) -> tuple[Step, ...]:
    from thunderus_mem.garden.recaps.planning import plan_recaps

    return plan_recaps(material, config)


def _consolidate(material: Material, config: Config) -> tuple[Step, ...]:
    from thunderus_mem.garden.consolidation.planning import plan_consolidation

    return plan_consolidation(material, config)


RULES: Final[tuple[GardenRule, ...]] = (
    GardenRule("duplicates", "Merge documents that make exactly the same statements.", _duplicates),
    GardenRule(
        "similar",
        "Propose what to do with documents that nearly say the same.",
        _similar,
        applies=False,
    ),
    GardenRule("numbers", "Give decisions that took one number twice a number of their own.", plan_numbers),
    GardenRule("links", "Lead links that lead nowhere to where their target went.", plan_links),
    GardenRule("tags", "Write each tag in one way.", plan_tags),
    GardenRule("sizes", "Split long facts at their headings, and say what else is too long.", plan_sizes),
    GardenRule("recaps", "Write the recaps of `recap.schedule` that are missing.", _recaps),
    GardenRule("archive", "Set aside old recaps, and what has expired or was replaced.", plan_archive),
    GardenRule(
        "consolidate",
        "Propose facts, decisions and playbooks that sessions have shown.",
        _consolidate,
        applies=False,
    ),
)
"""In the order in which their steps are carried out."""

RULE_NAMES: Final = tuple(rule.name for rule in RULES)
