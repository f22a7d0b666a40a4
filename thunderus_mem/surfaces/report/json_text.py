"""Findings as JSON: one document, or one finding a line. ASCII throughout."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from thunderus_mem.model.diagnostic import Diagnostic, Severity
from thunderus_mem.surfaces.report.text import rule_name

if TYPE_CHECKING:
    from collections.abc import Sequence

SCHEMA: Final = "thunderus-mem.lint/1"
LINE_SCHEMA: Final = "thunderus-mem.finding/1"


def ascii_json(value: Any, indent: int | None = 2) -> str:
    """JSON text with sorted keys, in which no character steers a terminal."""
    separators = None if indent else (",", ":")
    text = json.dumps(value, indent=indent, sort_keys=True, separators=separators)
    return text.replace("\x7f", "\\u007f")


def _fields(one: Diagnostic) -> dict[str, Any]:
    told = {key: value for key, value in one._asdict().items() if key != "edits"}
    return {**told, "name": rule_name(one.rule), "fixable": bool(one.edits)}


def json_document(diagnostics: Sequence[Diagnostic], documents: Sequence[str] = ()) -> str:
    """One document with all findings and their counts."""
    document = {
        "schema": SCHEMA,
        "diagnostics": [_fields(one) for one in diagnostics],
        "errors": sum(one.severity is Severity.ERROR for one in diagnostics),
        "warnings": sum(one.severity is Severity.WARNING for one in diagnostics),
        "notes": sum(one.severity is Severity.NOTE for one in diagnostics),
    }
    return ascii_json(document) + "\n"


def jsonl(diagnostics: Sequence[Diagnostic], documents: Sequence[str] = ()) -> str:
    """One JSON object a finding, a line each, with the name of its shape."""
    lines = [ascii_json({"schema": LINE_SCHEMA, **_fields(one)}, None) for one in diagnostics]
    return "".join(f"{line}\n" for line in lines)
