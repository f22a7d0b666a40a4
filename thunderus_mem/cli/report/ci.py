"""Findings for continuous integration: annotations of a GitHub workflow, a GitLab report, JUnit XML.

GitHub: docs.github.com, "Workflow commands for GitHub Actions". GitLab: docs.gitlab.com, "Code Quality", a
subset of Code Climate's issues. JUnit: the elements and attributes of the schemas that Ant's JUnit task and
Jenkins' xUnit plugin publish; one test case a document, its errors and warnings as one failure, notes as
output. Both want a time; a report is the same for the same findings, so it says none: the epoch, 0 seconds.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from thunderus_mem.cli.report.json import ascii_json
from thunderus_mem.cli.report.text import details, few_alike, line, rule_name, summary
from thunderus_mem.diagnostic import Diagnostic, Severity
from thunderus_mem.document.unicode import visible
from thunderus_mem.lint.engine import distinct

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


def github(diagnostics: Sequence[Diagnostic]) -> str:
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


_WEIGHTS: Final = {Severity.ERROR: "major", Severity.WARNING: "minor", Severity.NOTE: "info"}


def gitlab(diagnostics: Sequence[Diagnostic]) -> str:
    """An array with one object a finding. A finding about a whole file stands at its first line."""
    found = [
        {
            "check_name": f"{one.rule} {rule_name(one.rule)}".strip(),
            "description": visible(f"{one.message} {one.hint}".strip()),
            "fingerprint": one.fingerprint,
            "location": {"path": one.path, "lines": {"begin": max(one.line, 1)}},
            "severity": _WEIGHTS[one.severity],
        }
        for one in distinct(diagnostics)
    ]
    return ascii_json(found) + "\n"


_CLASS: Final = "thunderus-mem.lint"
_ILLEGAL = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def _text(text: str) -> str:
    """Text as XML 1.0 has it, in ASCII; what XML cannot hold is spelled out."""
    shown = _ILLEGAL.sub(lambda found: f"<U+{ord(found[0]):04X}>", visible(text))
    for char, name in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ('"', "&quot;")):
        shown = shown.replace(char, name)
    return shown.encode("ascii", "xmlcharrefreplace").decode()


def _attribute(text: str) -> str:
    return _text(" ".join(text.split()) or "?")


def _told(ones: Sequence[Diagnostic]) -> str:
    lines = [part for one in ones for part in (line(one), *(f"    {detail}" for detail in details(one)))]
    return _text("\n".join(lines))


def _case(path: str, found: Sequence[Diagnostic]) -> str:
    head = f'    <testcase name="{_attribute(path)}" classname="{_CLASS}" time="0"'
    if not found:
        return f"{head} />\n"
    worst = Severity.ERROR if any(one.severity is Severity.ERROR for one in found) else Severity.WARNING
    failure = (
        f'      <failure message="{_attribute(summary(found))}" type="{worst}">{_told(found)}</failure>\n'
    )
    return f"{head}>\n{failure}    </testcase>\n"


def junit(diagnostics: Sequence[Diagnostic], documents: Sequence[str]) -> str:
    """A suite with a case for every document that was looked at, and for any other file with a finding."""
    notes = [one for one in diagnostics if one.severity is Severity.NOTE]
    by_path: dict[str, list[Diagnostic]] = {path: [] for path in documents}
    for one in diagnostics:
        found = by_path.setdefault(one.path, [])
        if one.severity is not Severity.NOTE:
            found.append(one)
    failures = sum(bool(found) for found in by_path.values())
    cases = "".join(_case(path, by_path[path]) for path in sorted(by_path))
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n'
        f'  <testsuite name="{_CLASS}" package="thunderus-mem" id="0" tests="{len(by_path)}"'
        f' failures="{failures}" errors="0" skipped="0" hostname="localhost" time="0"'
        f' timestamp="1970-01-01T00:00:00">\n    <properties />\n{cases}'
        f"    <system-out>{_told(notes)}</system-out>\n    <system-err />\n  </testsuite>\n</testsuites>\n"
    )
