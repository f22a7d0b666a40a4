"""Findings as text for people: full, and concise with one line each; many alike are counted, not listed."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from thunderus_mem.cli.text import counted
from thunderus_mem.diagnostic import Diagnostic, Severity
from thunderus_mem.document.unicode import visible
from thunderus_mem.lint.rule import CODES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

ALIKE: Final = 20
"""How many findings of one rule in one file are listed."""


def rule_name(code: str) -> str:
    """The name of a rule; "" for a code that is none."""
    return CODES[code][0] if code in CODES else ""


def line(one: Diagnostic) -> str:
    """A finding as one line: place, weight, rule, message."""
    place = f"{one.path}:{one.line}:{one.column}" if one.line else one.path
    return _line(place, one, one.message)


def _line(place: str, one: Diagnostic, message: str) -> str:
    rule = f"{one.rule} {rule_name(one.rule)}".strip()
    said = " ".join(visible(message).split())
    return f"{visible(place)}: {one.severity} {rule}: {said}".replace("\n", " ")


def details(one: Diagnostic) -> list[str]:
    """What a finding says besides its message, a line each."""
    said = [
        f"{label}: {' '.join(visible(text).split())}"
        for label, text in (("key", one.key), ("expected", one.expected), ("mend", one.hint))
        if text
    ]
    return [*said, "--fix mends it"] if one.edits else said


def few_alike(diagnostics: Sequence[Diagnostic]) -> Iterator[tuple[Diagnostic, str]]:
    """Each finding with its line; of many alike in a file the first, then a line that counts the rest."""
    totals = Counter((one.path, one.rule) for one in diagnostics)
    told: Counter[tuple[str, str]] = Counter()
    for one in diagnostics:
        alike = one.path, one.rule
        told[alike] += 1
        if told[alike] <= ALIKE:
            yield one, line(one)
        elif told[alike] == totals[alike]:
            rest = totals[alike] - ALIKE
            yield one._replace(key="", expected="", hint="", edits=()), _line(one.path, one, _more(rest))


def _more(rest: int) -> str:
    return f"and {rest:,} more like this in the file."


def summary(diagnostics: Sequence[Diagnostic]) -> str:
    """One line: how many errors, warnings and notes there are."""
    counts = [(sum(one.severity is weight for one in diagnostics), str(weight)) for weight in Severity]
    said = [counted(number, word) for number, word in counts if number]
    return f"{', '.join(said)}." if said else "No findings."


def full(diagnostics: Sequence[Diagnostic]) -> str:
    """Everything about each finding, and a summary."""
    lines: list[str] = []
    for one, said in few_alike(diagnostics):
        lines += [said, *(f"    {detail}" for detail in details(one))]
    return "\n".join([*lines, summary(diagnostics)]) + "\n"


def concise(diagnostics: Sequence[Diagnostic]) -> str:
    """One line a finding."""
    return "".join(f"{said}\n" for _, said in few_alike(diagnostics))
