"""F6: every regular expression of the package on a long text made of its own parts."""

from __future__ import annotations

import pytest
import report
import tier
from pace import pace

from tests.support.attacks import attacks, seconds
from tests.support.patterns import Pattern, patterns

SIZE = tier.points(150_000, 1_000_000)
TRIAL = 5_000
NOISE = 8
SLOW = 0.200 * NOISE * SIZE / 1_000_000 + 0.020
"""Seconds of the processor: 200 ms for a megabyte, and what busy neighbours may add."""


def worst(one: Pattern, use: str) -> set[str]:
    """What the two slowest of the short texts are made of."""
    tried = [(seconds(use, one.compiled, text), label) for label, text in attacks(one.compiled, TRIAL)]
    return {label for _, label in sorted(tried, reverse=True)[:2]}


@pytest.mark.parametrize("share", range(4))
def test_patterns_are_fast_on_a_megabyte(share: int) -> None:
    slowest, slow, tried = (0.0, ""), [], 0
    everything = patterns()
    for one in everything[share::4]:
        # Signs of planted instructions look ahead some hundred characters from each word: linear, and slower.
        limit = SLOW * pace() * (4 if one.name.startswith("lint.planted") else 1)
        for use in sorted(one.uses):
            chosen = worst(one, use)
            for label, text in attacks(one.compiled, SIZE):
                if label in chosen:
                    took = seconds(use, one.compiled, text)
                    took = seconds(use, one.compiled, text, 3) if took > limit else took
                    slow += [f"{one.name}.{use} on {label}: {took:.3f} s"] * (took > limit)
                    slowest = max(slowest, (took, f"{one.name}.{use}"))
                    tried += 1
    assert slow == []
    assert len(everything) > 200
    report.add("F6", slowest[1], tried=tried, slowest=slowest[0])
