"""Whether any regular expression of the package takes more than linear time on the worst that is known of it.

``python benchmarks/pattern_growth.py`` feeds each one texts made of its own parts, and texts three times as
long, for the uses that the sources make of it alone. Linear: three times the time; quadratic: nine times. It
prints what grew by more than six and exits with 1 then. ``tests/cases/patterns.txt`` lists the patterns.
"""

from __future__ import annotations

import os
import re
import sys

PROJECT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, PROJECT)

from tests.support.attacks import attacks, seconds  # noqa: E402
from tests.support.patterns import patterns  # noqa: E402

SMALL, LARGE = 4_000, 12_000
"""Characters."""
LIMIT = 6.0
NOTICEABLE = 0.003
"""Seconds of the processor; what takes less is not compared."""


def growth(use: str, pattern: re.Pattern[str], small: str, large: str) -> float:
    """How many times as long the larger text takes; 0 when the smaller one takes next to nothing."""
    if seconds(use, pattern, small) < NOTICEABLE:
        return 0.0
    return seconds(use, pattern, large, 3) / seconds(use, pattern, small, 3)


def main() -> int:
    """Measure all of them, and first that the measure sees a pattern that is known to be quadratic."""
    if growth("finditer", re.compile("a+b"), "a" * SMALL, "a" * LARGE) <= LIMIT:
        print("The measure does not tell a quadratic pattern on this machine.")
        return 1
    slow = []
    known = patterns()
    for one in known:
        both = zip(attacks(one.compiled, SMALL), attacks(one.compiled, LARGE), strict=True)
        for (label, small), (_, large) in both:
            for use in sorted(one.uses):
                found = growth(use, one.compiled, small, large)
                slow += [f"{one.name}.{use} on {label}: {found:.1f} times"] * (found > LIMIT)
    print("\n".join([*slow, f"{len(known)} patterns, {len(slow)} grow faster than their text."]))
    return 1 if slow else 0


if __name__ == "__main__":
    sys.exit(main())
