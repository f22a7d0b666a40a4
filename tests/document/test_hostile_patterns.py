"""The regular expressions of the package: all are listed, and none has nested repeats.

``tests/cases/patterns.txt`` lists them, so that a new one is looked at; ``REWRITE_CASES=1`` writes it anew.
How long they take is measured by ``benchmarks/pattern_growth.py``.
"""

from __future__ import annotations

import os
import re
import re._parser as parser
from typing import Any

from tests.support.patterns import Pattern, patterns

LISTING = os.path.join(os.path.dirname(os.path.dirname(__file__)), "cases", "patterns.txt")
REPEATS = ("MAX_REPEAT", "MIN_REPEAT")
CONDITIONS = ("AT", "ASSERT", "ASSERT_NOT", "GROUPREF")


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


def _inside(kind: str, value: Any) -> list[Any]:
    """The parts of a pattern in one element."""
    if kind in (*REPEATS, "POSSESSIVE_REPEAT"):
        return [value[2]]
    if kind == "SUBPATTERN":
        return [value[3]]
    if kind == "BRANCH":
        return list(value[1])
    return [value[1]] if kind in ("ASSERT", "ASSERT_NOT") else [value] if kind == "ATOMIC_GROUP" else []


def _is_endless(kind: str, value: Any) -> bool:
    return kind in REPEATS and value[1] is parser.MAXREPEAT and value[2].getwidth()[1] > 0


def _may_be_one_repeat(part: Any) -> bool:
    """Whether some path through a part is an unbounded repeat, and everything else is optional."""
    for at, (kind, value) in enumerate(part):
        others = [part[one : one + 1] for one in range(len(part)) if one != at]
        if any(one.getwidth()[0] or str(one[0][0]) in CONDITIONS for one in others):
            continue
        groups = _inside(str(kind), value) if str(kind) in ("SUBPATTERN", "BRANCH") else []
        if _is_endless(str(kind), value) or any(map(_may_be_one_repeat, groups)):
            return True
    return False


def exponential(part: Any) -> bool:
    """Whether a repeat without an end stands directly around another, as in ``(a+)*``: a text that does not
    match in the end is cut in all possible ways, twice as many with each character."""
    return any(
        (_is_endless(str(kind), value) and _may_be_one_repeat(value[2]))
        or any(map(exponential, _inside(str(kind), value)))
        for kind, value in part
    )


def test_no_pattern_has_directly_nested_repeats() -> None:
    parsed = {
        one.name: parser.parse(one.compiled.pattern, one.compiled.flags & ~re.UNICODE) for one in patterns()
    }
    assert [name for name, tree in parsed.items() if exponential(tree)] == []


def test_check_distinguishes_nested_repeats_with_a_separator() -> None:
    for bad in ("(a+)+b", "(?:a*)*", "x(?:(?:a|b)+|c)*y", "(?:[ab]+c?)*", "(?=(a+)+b)"):
        assert exponential(parser.parse(bad)), bad
    for good in ("a+b*", "(?:a+,)*", "[a-z]+(?:-[a-z]+)*", "(?:a{2,5})*", "(a++)+", "(?:ab?)*", r"(?:a+\b)*"):
        assert not exponential(parser.parse(good)), good
