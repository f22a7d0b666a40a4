"""Findings as annotations of a GitHub workflow (docs.github.com, "Workflow commands for GitHub Actions")."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from thunderus_mem.model.diagnostic import Diagnostic, Severity
from thunderus_mem.model.unicode import visible
from thunderus_mem.surfaces.report.text import few_alike, rule_name, summary

if TYPE_CHECKING:
    from collections.abc import Sequence

ANNOTATIONS: Final = 10


def _data(text: str) -> str:
    return visible(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def _annotation(one: Diagnostic) -> str:
    properties = [f"file={_property(one.path)}"]
    if one.line:
        properties += [f"line={one.line}", f"col={one.column}"]
    properties.append(f"title={_property(f'{one.rule} {rule_name(one.rule)}'.strip())}")
    parts = [one.message, f"Expected: {one.expected}." if one.expected else "", one.hint]
    message = " ".join(part for part in parts if part)
    return f"::{one.severity} {','.join(properties)}::{_data(message)}"


def github(diagnostics: Sequence[Diagnostic], documents: Sequence[str] = ()) -> str:
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
    annotated = set(shown)
    rest = [one for one in diagnostics if one not in annotated]
    # A line of the log that held "##[" or began with "::" would be taken for a command.
    lines += [f"- {said}".replace("##[", "# #[") for _, said in few_alike(rest)]
    return "".join(f"{line}\n" for line in lines)
