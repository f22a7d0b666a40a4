"""Two tiers of one fault plan: every change runs a share of each row, ``make faults-night`` runs it whole."""

from __future__ import annotations

import os

NIGHT = os.environ.get("THUNDERUS_MEM_FAULTS") == "night"


def points(each_change: int, night: int) -> int:
    """How many points a row tries in the tier that runs now."""
    return night if NIGHT else each_change
