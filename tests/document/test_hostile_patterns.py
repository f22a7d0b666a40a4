"""No pattern of the package takes more than linear time: measured on three times as much of the worst.

What a pattern is fed is made from its own parts, and only those uses are measured that the sources make of
it. ``tests/cases/patterns.txt`` lists them all, so that a new one is looked at; ``REWRITE_CASES=1`` writes it
anew.
"""

from __future__ import annotations

import os
import re

import pytest

from tests.support.attacks import attacks, seconds
from tests.support.patterns import Pattern, patterns

LISTING = os.path.join(os.path.dirname(os.path.dirname(__file__)), "cases", "patterns.txt")
SMALL, LARGE = 3_000, 9_000
"""Characters. Linear: three times the time; quadratic: nine times."""
LIMIT = 6.0
NOTICEABLE = 0.003


def _growth(use: str, pattern: re.Pattern[str], small: str, large: str) -> float:
    if seconds(use, pattern, small) < NOTICEABLE:
        return 0.0
    return seconds(use, pattern, large, 3) / seconds(use, pattern, small, 3)


def _line(one: Pattern) -> str:
    flags = "".join(letter for letter in "imsx" if one.compiled.flags & getattr(re, letter.upper()))
    name = one.name if "#" not in one.name else re.sub(r"#\d+", "", one.name)
    return f"{name} {','.join(sorted(one.uses))} {flags or '-'} {one.compiled.pattern!a}"


def test_every_pattern_is_listed() -> None:
    found = "".join(f"{_line(one)}\n" for one in patterns())
    if os.environ.get("REWRITE_CASES"):
        with open(LISTING, "w", encoding="utf-8") as stream:
            stream.write(found)
    with open(LISTING, encoding="utf-8") as stream:
        assert found == stream.read(), "look at the new patterns, then run this with REWRITE_CASES=1"


def test_every_pattern_takes_linear_time_on_its_own_worst_input() -> None:
    slow = []
    for one in patterns():
        both = zip(attacks(one.compiled, SMALL), attacks(one.compiled, LARGE), strict=True)
        for (label, small), (_, large) in both:
            slow += [
                f"{one.name}.{use} on {label}"
                for use in sorted(one.uses)
                if _growth(use, one.compiled, small, large) > LIMIT
            ]
    assert not slow


@pytest.mark.parametrize(("size"), [3_000])
def test_the_measure_itself_sees_a_quadratic_pattern(size: int) -> None:
    bad = re.compile("a+b")
    assert _growth("finditer", bad, "a" * size, "a" * (3 * size)) > LIMIT
