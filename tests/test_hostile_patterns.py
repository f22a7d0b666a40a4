"""No pattern of the package takes more than linear time: measured on twice as much of the worst there is.

Every compiled pattern is found by walking the modules; what it is fed is made from its own parts. Only those
uses are measured that the sources make of it (`_NAME.match(`, `_NAME.finditer(`, …).
"""

from __future__ import annotations

import importlib
import pkgutil
import re
import re._parser as parser
import time
from typing import TYPE_CHECKING, Any

import pytest

import thunderus_mem
from tests.conftest import PROJECT
from thunderus_mem.lint.planted_commands import COMMANDS
from thunderus_mem.lint.planted_pairs import HIDDEN, WEAK
from thunderus_mem.lint.planted_signs import ORDERS
from thunderus_mem.model.secrets import SECRET_RULES

if TYPE_CHECKING:
    from collections.abc import Iterator

SMALL, LARGE = 3_000, 9_000
"""Characters. Linear: three times the time; quadratic: nine times."""
LIMIT = 6.0
NOTICEABLE = 0.003
USES = {
    "match": lambda pattern, text: pattern.match(text),
    "fullmatch": lambda pattern, text: pattern.fullmatch(text),
    "search": lambda pattern, text: pattern.search(text),
    "finditer": lambda pattern, text: sum(1 for _ in pattern.finditer(text)),
}
SAME_AS_FINDITER = ("findall", "sub", "subn", "split", "scanner")


def _patterns() -> Iterator[tuple[str, re.Pattern[str]]]:
    for found in pkgutil.walk_packages(thunderus_mem.__path__, "thunderus_mem."):
        if not found.name.endswith("__main__"):
            module = importlib.import_module(found.name)
            for name, value in vars(module).items():
                if isinstance(value, re.Pattern) and isinstance(value.pattern, str):
                    yield f"{found.name}.{name}", value
    for rule in SECRET_RULES:
        yield f"secret.{rule.kind}", rule.pattern
    for number, sign in enumerate((*ORDERS, *COMMANDS, *WEAK, *HIDDEN)):
        for place, part in enumerate(sign.parts):
            yield f"planted.{number}-{place} {sign.says}", re.compile(part)


def _uses_in_sources() -> dict[str, set[str]]:
    """Name of a pattern → what the sources do with patterns of that name."""
    uses: dict[str, set[str]] = {}
    for path in (PROJECT / "thunderus_mem").rglob("*.py"):
        for name, use in re.findall(r"\b(_?[A-Z][A-Z0-9_]*)\.([a-z]+)\b", path.read_text()):
            if use in USES or use in SAME_AS_FINDITER:
                uses.setdefault(name, set()).add(use if use in USES else "finditer")
    return uses


def _sample(node: Any, least: int = 1) -> str:
    """Some text that a parsed pattern matches, roughly."""
    text = ""
    for kind, value in node:
        kind = str(kind)
        if kind == "LITERAL":
            text += chr(value)
        elif kind == "IN":
            text += _member(value)
        elif kind == "NOT_LITERAL":
            text += "q"
        elif kind in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
            text += _sample(value[2]) * max(least, min(value[0], 300))
        elif kind == "SUBPATTERN":
            text += _sample(value[3])
        elif kind == "BRANCH":
            text += _sample(value[1][0])
        elif kind == "ANY":
            text += "a"
    return text


def _member(value: Any) -> str:
    for kind, what in value:
        if str(kind) == "LITERAL":
            return chr(what)
        if str(kind) == "RANGE":
            return chr(what[0])
        if str(kind) == "CATEGORY":
            name = str(what)
            return "a" if "NOT" in name else " " if "SPACE" in name else "1" if "DIGIT" in name else "a"
        if str(kind) == "NEGATE":
            return "q"
    return "a"


def _repeated(node: Any) -> Iterator[str]:
    """What the repeats of a pattern are made of, at any depth."""
    for kind, value in node:
        kind = str(kind)
        if kind in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
            yield _sample(value[2])
            yield from _repeated(value[2])
        elif kind == "SUBPATTERN":
            yield from _repeated(value[3])
        elif kind == "BRANCH":
            for branch in value[1]:
                yield _sample(branch)
                yield from _repeated(branch)


def _attacks(pattern: re.Pattern[str], size: int) -> Iterator[tuple[str, str]]:
    tree = parser.parse(pattern.pattern, pattern.flags & ~re.UNICODE)
    whole = _sample(tree)
    pieces = [whole, whole[:-1], whole[: len(whole) // 2], *_repeated(tree), "a", " ", "\n", "a ", "a\n"]
    for piece in dict.fromkeys(piece for piece in pieces if piece):
        repeated = piece * (size // len(piece) + 1)
        yield repr(piece[:40]), repeated
        yield repr(whole[:20] + "…" + piece[:40]), whole[: max(len(whole) // 2, 1)] + repeated


def _seconds(use: str, pattern: re.Pattern[str], text: str, tries: int = 1) -> float:
    best = float("inf")
    for _ in range(tries):
        start = time.process_time()
        USES[use](pattern, text)
        best = min(best, time.process_time() - start)
    return best


def _growth(use: str, pattern: re.Pattern[str], small: str, large: str) -> float:
    if _seconds(use, pattern, small) < NOTICEABLE:
        return 0.0
    return _seconds(use, pattern, large, 3) / _seconds(use, pattern, small, 3)


def test_every_pattern_takes_linear_time_on_its_own_worst_input() -> None:
    uses = _uses_in_sources()
    slow = []
    patterns = dict(_patterns())
    assert len(patterns) > 100
    for name, pattern in patterns.items():
        used = {"finditer"} if name.startswith("secret.") else uses.get(name.rpartition(".")[2], set())
        attacks = zip(_attacks(pattern, SMALL), _attacks(pattern, LARGE), strict=True)
        for (label, small), (_, large) in attacks:
            slow += [
                f"{name}.{use} on {label}"
                for use in sorted(used)
                if _growth(use, pattern, small, large) > LIMIT
            ]
    assert not slow


@pytest.mark.parametrize(("size"), [3_000])
def test_the_measure_itself_sees_a_quadratic_pattern(size: int) -> None:
    bad = re.compile("a+b")
    assert _growth("finditer", bad, "a" * size, "a" * (3 * size)) > LIMIT
