"""Findings as a code quality report (docs.gitlab.com, "Code Quality": a subset of Code Climate's issues)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from thunderus_mem.lint.fingerprint import distinct
from thunderus_mem.model.diagnostic import Severity
from thunderus_mem.model.unicode import visible
from thunderus_mem.surfaces.report.json_text import ascii_json
from thunderus_mem.surfaces.report.text import rule_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from thunderus_mem.model.diagnostic import Diagnostic

_WEIGHTS: Final = {Severity.ERROR: "major", Severity.WARNING: "minor", Severity.NOTE: "info"}


def gitlab(diagnostics: Sequence[Diagnostic], documents: Sequence[str] = ()) -> str:
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
