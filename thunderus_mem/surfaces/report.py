"""Findings as text: full, concise, json, and annotations for GitHub. The same findings, the same bytes.

Text that people see passes `visible`. JSON is ASCII, so nothing in it can reach a terminal raw.
GitHub's form: docs.github.com, "Workflow commands for GitHub Actions".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from thunderus_mem.lint.rule import CODES
from thunderus_mem.model.diagnostic import Diagnostic, Severity
from thunderus_mem.model.unicode import visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

SCHEMA: Final = "thunderus-mem.lint/1"
ANNOTATIONS: Final = 10


def _place(one: Diagnostic) -> str:
    return f"{one.path}:{one.line}:{one.column}" if one.line else one.path


def _line(one: Diagnostic) -> str:
    name = CODES.get(one.rule, ("", one.severity))[0]
    message = " ".join(visible(one.message).split())
    return f"{visible(_place(one))}: {one.severity} {one.rule} {name}: {message}".replace("\n", " ")


def _counted(number: int, word: str) -> str:
    return f"{number} {word}" if number == 1 else f"{number} {word}s"


def summary(diagnostics: Sequence[Diagnostic]) -> str:
    """One line: how many errors, warnings and notes there are."""
    counts = [(sum(one.severity is weight for one in diagnostics), str(weight)) for weight in Severity]
    said = [_counted(number, word) for number, word in counts if number]
    return f"{', '.join(said)}." if said else "No findings."


def _full(diagnostics: Sequence[Diagnostic]) -> str:
    lines: list[str] = []
    for one in diagnostics:
        lines.append(_line(one))
        for label, text in (("key", one.key), ("expected", one.expected), ("mend", one.hint)):
            if text:
                lines.append(f"    {label}: {' '.join(visible(text).split())}")
        if one.edits:
            lines.append("    --fix mends it")
    return "\n".join([*lines, summary(diagnostics)]) + "\n"


def _concise(diagnostics: Sequence[Diagnostic]) -> str:
    return "".join(f"{_line(one)}\n" for one in diagnostics)


def _json(diagnostics: Sequence[Diagnostic]) -> str:
    import json

    document = {
        "schema": SCHEMA,
        "diagnostics": [
            {
                **{key: value for key, value in one._asdict().items() if key != "edits"},
                "name": CODES.get(one.rule, ("", None))[0],
                "fixable": bool(one.edits),
            }
            for one in diagnostics
        ],
        "errors": sum(one.severity is Severity.ERROR for one in diagnostics),
        "warnings": sum(one.severity is Severity.WARNING for one in diagnostics),
        "notes": sum(one.severity is Severity.NOTE for one in diagnostics),
    }
    return json.dumps(document, indent=2, sort_keys=True) + "\n"


def _data(text: str) -> str:
    return visible(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def _annotation(one: Diagnostic) -> str:
    properties = [f"file={_property(one.path)}"]
    if one.line:
        properties += [f"line={one.line}", f"col={one.column}"]
    name = CODES.get(one.rule, ("", None))[0]
    properties.append(f"title={_property(f'{one.rule} {name}'.strip())}")
    parts = [one.message, f"Expected: {one.expected}." if one.expected else "", one.hint]
    message = " ".join(part for part in parts if part)
    return f"::{one.severity} {','.join(properties)}::{_data(message)}"


def _github(diagnostics: Sequence[Diagnostic]) -> str:
    """Ten errors and ten warnings lead, as GitHub shows no more of each; the rest follows plainly."""
    errors = [one for one in diagnostics if one.severity is Severity.ERROR]
    warnings = [one for one in diagnostics if one.severity is Severity.WARNING]
    shown = [*errors[:ANNOTATIONS], *warnings[:ANNOTATIONS]]
    lines = [_annotation(one) for one in shown]
    cut = len(errors) + len(warnings) - len(shown)
    if cut:
        lines.append(
            f"::notice title=thunderus-mem::{cut} more not annotated: {_data(summary(diagnostics))} "
            "The log of this step lists them all."
        )
    rest = [one for one in diagnostics if one not in shown] if cut or len(shown) < len(diagnostics) else []
    # A line of the log that held "##[" or began with "::" would be taken for a command.
    lines += [f"- {_line(one)}".replace("##[", "# #[") for one in rest]
    return "".join(f"{line}\n" for line in lines)


_FORMATS: Final[dict[str, Callable[[Sequence[Diagnostic]], str]]] = {
    "full": _full,
    "concise": _concise,
    "json": _json,
    "github": _github,
}
FORMATS: Final = tuple(_FORMATS)


def report(diagnostics: Iterable[Diagnostic], format: str = "full") -> str:
    """The findings, sorted by file, place and rule, in one of `FORMATS`.

    "full" says everything and ends in a summary; "concise" is one line each and empty without findings.
    Raises `ValueError` for another format.
    """
    if format not in _FORMATS:
        raise ValueError(f"There is no format {format}; choose one of {', '.join(FORMATS)}.")
    return _FORMATS[format](sorted(diagnostics, key=lambda one: one.sort_key))
