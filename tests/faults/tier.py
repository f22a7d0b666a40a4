"""The two fault tiers: every change runs a share of each row, ``make faults-night`` runs all."""

from __future__ import annotations

import os
import zlib
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Sequence

Amount = TypeVar("Amount")
Point = TypeVar("Point")

NIGHT = os.environ.get("THUNDERUS_MEM_FAULTS") == "night"


def points(each_change: Amount, night: Amount) -> Amount:
    """How many points a row tries in the tier that runs now."""
    return night if NIGHT else each_change


def share(everything: Sequence[Point], each: int, name: str) -> Sequence[Point]:
    """One point in ``each`` with every change, beginning elsewhere for each ``name``; at night all."""
    return everything if NIGHT else everything[zlib.crc32(name.encode()) % each :: each]
