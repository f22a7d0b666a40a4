"""Decisions that took one number twice: the newer one's file is renamed, as `lint --fix` does."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING, Final

from thunderus_mem.garden.plan import Step, moved
from thunderus_mem.model.renumber import renames

if TYPE_CHECKING:
    from thunderus_mem.garden.material import Material
    from thunderus_mem.store.config import Config

RULE: Final = "numbers"


def plan_numbers(material: Material, config: Config) -> tuple[Step, ...]:
    """A step for each decision that gets another number; archived decisions keep theirs."""
    del config
    planned = renames((*material.documents, *material.archived))
    return tuple(
        Step(
            "renumber",
            f"the number of `{one.document.id}` was taken twice; it gets the next free one",
            (f"{one.document.path} becomes {posixpath.basename(one.path)}; its id and links stay",),
            (one.document.id,),
            moved(one.document, one.path),
            rule=RULE,
        )
        for one in planned
    )
