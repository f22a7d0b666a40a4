"""Findings for people and for machines: one module a family of formats. The same findings, the same bytes.

Text that people see passes `visible`. What machines read is ASCII, so nothing in it reaches a terminal raw.
"""

from __future__ import annotations

import os
from collections import Counter
from importlib import import_module
from typing import TYPE_CHECKING, Final, TypeVar

from thunderus_mem.cli.text import counted
from thunderus_mem.diagnostic import Diagnostic, Severity
from thunderus_mem.document.unicode import visible
from thunderus_mem.errors import ThunderusError
from thunderus_mem.lint.rule import CODES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from thunderus_mem.cli.console import Console
    from thunderus_mem.memory.memory import Memory

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from thunderus_mem.diagnostic import Diagnostic

    Format = Callable[[Sequence[Diagnostic], Sequence[str]], str]


_MODULES: Final = {
    "full": "text",
    "concise": "text",
    "json": "json",
    "jsonl": "json",
    "github": "ci",
    "gitlab": "ci",
    "sarif": "json",
    "junit": "ci",
}
FORMATS: Final = tuple(_MODULES)
FOR_PEOPLE: Final = frozenset(("full", "concise", "github"))
"""Formats that go through the printer of texts; the others are ASCII and hold no secret."""

REPOSITORY_PATHS: Final = frozenset(("github", "gitlab", "sarif"))
"""Formats whose reader takes paths from the top of the repository, wherever the memory lies in it."""


def report(diagnostics: Iterable[Diagnostic], format: str = "full", documents: Sequence[str] = ()) -> str:
    """The findings, sorted by file, place and rule, in one of `FORMATS`.

    "full" says everything and ends in a summary; "concise" is one line each and empty without findings.
    ``documents`` are the files that were looked at, for formats that tell of good ones too.
    Raises `ValueError` for another format.
    """
    if format not in _MODULES:
        raise ValueError(f"There is no format {format}; choose one of {', '.join(FORMATS)}.")
    module = import_module(f"thunderus_mem.cli.report.{_MODULES[format]}")
    written: Format = getattr(module, format if format != "json" else "json_document")
    found = sorted(diagnostics, key=_order)
    return written(_without_secrets(found), documents)


def _order(one: Diagnostic) -> tuple[object, ...]:
    return (*one.sort_key, one.severity, one.doc_id, one.key, one.fingerprint)


def _without_secrets(found: list[Diagnostic]) -> list[Diagnostic]:
    """The findings without the value of any secret: one may stand in the name of a file."""
    from thunderus_mem.document.secrets import find_secrets, redacted

    texts = {text for one in found for text in one if type(text) is str and text}
    if not find_secrets("\n".join(texts)):
        return found
    return [
        one._replace(
            path=redacted(one.path),
            message=redacted(one.message),
            key=redacted(one.key),
            expected=redacted(one.expected),
            hint=redacted(one.hint),
            doc_id=redacted(one.doc_id),
            edits=() if find_secrets("".join(edit.replacement for edit in one.edits)) else one.edits,
        )
        for one in found
    ]


# How a report of findings leaves the program: in which format, with which paths, printed or in a file.

Value = TypeVar("Value")


def chosen_form(console: Console, given: str, formats: Sequence[str], usual: str, *, named: str = "") -> str:
    """The format to write: ``given`` by option, ``named`` by THUNDERUS_MEM_OUTPUT_FORMAT, what GitHub's log
    understands, or the ``usual`` one. Raises `ThunderusError` for one that is not among ``formats``."""
    form = given or named or ("github" if console.environ.get("GITHUB_ACTIONS") == "true" else usual)
    if form not in formats:
        where = "" if given else " (THUNDERUS_MEM_OUTPUT_FORMAT)"
        raise ThunderusError(f"There is no format {form}{where}.", hint=f"Formats: {', '.join(formats)}")
    return form


def seen_from_top(memory: Memory, found: Sequence[Diagnostic], form: str) -> tuple[Diagnostic, ...]:
    """Findings with paths from the top of the repository, where a format is read there."""

    prefix = memory.git.prefix if form in REPOSITORY_PATHS and memory.git is not None else ""
    return tuple([one._replace(path=prefix + one.path) for one in found] if prefix else found)


def hand_over(
    console: Console,
    command: str,
    value: Value,
    text: Callable[[Value, Console], str],
    output: str,
    *,
    drawn: bool,
    for_people: bool,
) -> None:
    """The report to stdout, or whole to the file ``output``; what people read is safe to print.

    ``drawn``: it is laid out for a terminal, and may be long.
    """
    if output:
        from thunderus_mem.store.files import replace_file

        written = text(value, console)
        kept = console.safe(written) if for_people else written
        replace_file(
            os.path.join(console.start, output), f"{kept}\n".encode() if kept else b"", durable=False
        )
    if console.json or not output:
        console.emit(command, value, text, long=drawn, safe=not for_people)


# Findings as text for people: full, and concise with one line each; many alike are counted, not listed.

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


def full(diagnostics: Sequence[Diagnostic], documents: Sequence[str] = ()) -> str:
    """Everything about each finding, and a summary."""
    lines: list[str] = []
    for one, said in few_alike(diagnostics):
        lines += [said, *(f"    {detail}" for detail in details(one))]
    return "\n".join([*lines, summary(diagnostics)]) + "\n"


def concise(diagnostics: Sequence[Diagnostic], documents: Sequence[str] = ()) -> str:
    """One line a finding."""
    return "".join(f"{said}\n" for _, said in few_alike(diagnostics))
