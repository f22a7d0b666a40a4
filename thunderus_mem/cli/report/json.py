"""Findings as JSON, ASCII throughout: one document, one finding a line, or SARIF.

SARIF 2.1.0 (docs.oasis-open.org/sarif) is one run with rules' pages, stable fingerprints and fixes.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from thunderus_mem import __version__
from thunderus_mem.cli.report.text import rule_name
from thunderus_mem.diagnostic import Diagnostic, Severity
from thunderus_mem.document.unicode import visible
from thunderus_mem.lint.engine import RULES, rule_page

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from thunderus_mem.diagnostic import TextEdit
    from thunderus_mem.lint.rule import Rule

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


def json_document(diagnostics: Sequence[Diagnostic]) -> str:
    """One document with all findings and their counts."""
    document = {
        "schema": SCHEMA,
        "diagnostics": [_fields(one) for one in diagnostics],
        "errors": sum(one.severity is Severity.ERROR for one in diagnostics),
        "warnings": sum(one.severity is Severity.WARNING for one in diagnostics),
        "notes": sum(one.severity is Severity.NOTE for one in diagnostics),
    }
    return ascii_json(document) + "\n"


def jsonl(diagnostics: Sequence[Diagnostic]) -> str:
    """One JSON object a finding, a line each, with the name of its shape."""
    lines = [ascii_json({"schema": LINE_SCHEMA, **_fields(one)}, None) for one in diagnostics]
    return "".join(f"{line}\n" for line in lines)


MOST: Final = 25_000
"""Results that GitHub takes in one run; the gravest are kept."""

_SCHEMA: Final = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_FINGERPRINT: Final = "thunderusMem/v1"
_WEIGHTS: Final = tuple(Severity)


def sarif(diagnostics: Sequence[Diagnostic]) -> str:
    """One run with every finding, or the `MOST` gravest and a notification that says what was cut."""
    kept = _gravest(diagnostics)
    codes = sorted({one.rule for one in kept})
    places = {code: place for place, code in enumerate(codes)}
    failed = any(one.severity is not Severity.NOTE for one in diagnostics)
    run = {
        "tool": {
            "driver": {
                "name": "thunderus-mem",
                "version": __version__,
                "semanticVersion": __version__,
                "rules": _rules(codes),
            }
        },
        "columnKind": "unicodeCodePoints",
        "invocations": [
            {
                "executionSuccessful": True,
                "exitCode": int(failed),
                "exitCodeDescription": "errors or warnings found" if failed else "no error and no warning",
                **_notifications(len(diagnostics) - len(kept)),
            }
        ],
        "results": [_result(one, places[one.rule]) for one in kept],
    }
    return ascii_json({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}) + "\n"


def _gravest(diagnostics: Sequence[Diagnostic]) -> Sequence[Diagnostic]:
    if len(diagnostics) <= MOST:
        return diagnostics
    ordered = sorted(diagnostics, key=lambda one: _WEIGHTS.index(one.severity))[:MOST]
    return sorted(ordered, key=lambda one: one.sort_key)


def _notifications(cut: int) -> dict[str, Any]:
    if not cut:
        return {}
    text = f"{cut} findings were left out; a run holds {MOST} at most, the gravest are kept."
    return {"toolExecutionNotifications": [{"level": "warning", "message": {"text": text}}]}


def _rules(codes: Iterable[str]) -> list[dict[str, Any]]:
    by_code = {rule.code: rule for rule in RULES}
    return [_rule(by_code[code]) if code in by_code else {"id": code} for code in codes]


def _rule(rule: Rule) -> dict[str, Any]:
    page = rule_page(rule.code)
    title, _, body = page.partition("\n\n")
    plain = body.rstrip()
    problem = "recommendation" if rule.severity is Severity.NOTE else str(rule.severity)
    return {
        "id": rule.code,
        "name": "".join(word.capitalize() for word in rule.name.split("-")),
        "shortDescription": {"text": rule.summary},
        "fullDescription": {"text": " ".join(plain.partition("Bad:")[0].split())},
        "help": {"text": plain, "markdown": f"# {title}\n\n{plain}"},
        "defaultConfiguration": {"level": str(rule.severity)},
        "properties": {"problem.severity": problem},
    }


def _result(one: Diagnostic, rule_index: int) -> dict[str, Any]:
    said = (one.message, f"Expected: {one.expected}." if one.expected else "", one.hint)
    result: dict[str, Any] = {
        "ruleId": one.rule,
        "ruleIndex": rule_index,
        "level": str(one.severity),
        "message": {"text": _message(" ".join(part for part in said if part))},
        "locations": [_location(one)],
        "partialFingerprints": {_FINGERPRINT: one.fingerprint},
    }
    if one.edits and all(edit.region for edit in one.edits):
        replacements = [_replacement(edit) for edit in sorted(one.edits)]
        change = {"artifactLocation": {"uri": _uri(one.path)}, "replacements": replacements}
        text = _message(one.hint or f"Mend {rule_name(one.rule)}.")
        result["fixes"] = [{"description": {"text": text}, "artifactChanges": [change]}]
    return result


def _message(text: str) -> str:
    """Text as a message: braces would be placeholders (3.11.5), ``](`` an embedded link (3.11.6)."""
    return visible(text).replace("{", "{{").replace("}", "}}").replace("](", "] (")


def _location(one: Diagnostic) -> dict[str, Any]:
    # Without a region the whole file would be meant, but GitHub takes no result without a line.
    region = {"startLine": one.line, "startColumn": max(one.column, 1)} if one.line else {"startLine": 1}
    place = {"artifactLocation": {"uri": _uri(one.path)}, "region": region}
    location: dict[str, Any] = {"physicalLocation": place}
    if one.doc_id:
        location["logicalLocations"] = [{"fullyQualifiedName": one.doc_id, "kind": "document"}]
    return location


def _replacement(edit: TextEdit) -> dict[str, Any]:
    names = ("startLine", "startColumn", "endLine", "endColumn")
    return {
        "deletedRegion": dict(zip(names, edit.region or (), strict=False)),
        "insertedContent": {"text": edit.replacement},
    }


def _uri(path: str) -> str:
    """A path as a relative reference (RFC 3986): every byte but the plainest is percent-encoded."""
    try:
        return quote(path, safe="/", errors="surrogateescape")
    except UnicodeEncodeError:
        return quote(path, safe="/", errors="surrogatepass")
