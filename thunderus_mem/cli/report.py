"""Reports of findings in several formats, printed or written to a file.

`report` formats sorted findings without secrets in one of `FORMATS`: text (many similar findings are counted,
not listed), JSON, SARIF, or a format of a CI system. `write_report` prints it or writes it to the
file given with ``--output``.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final, TypeVar
from urllib.parse import quote

from thunderus_mem import __version__
from thunderus_mem.cli.text import counted, flowing
from thunderus_mem.diagnostic import Diagnostic, Severity
from thunderus_mem.document.unicode import visible
from thunderus_mem.errors import ThunderusError
from thunderus_mem.lint.engine import RULES, distinct, rule_page
from thunderus_mem.lint.rule import CODES
from thunderus_mem.startup import NamedTuple, lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from thunderus_mem.cli.console import Console
    from thunderus_mem.cli.text import Style
    from thunderus_mem.diagnostic import TextEdit
    from thunderus_mem.lint.rule import Rule
    from thunderus_mem.memory.memory import Memory

Value = TypeVar("Value")

FORMATS: Final = ("full", "concise", "jsonl", "github", "gitlab", "sarif", "junit")
"""The formats of findings; ``--format json`` is the output of ``--json`` instead."""

FOR_PEOPLE: Final = frozenset(("full", "concise", "github"))
"""Text formats, which need the console's filter; the others are ASCII without secrets."""

REPOSITORY_PATHS: Final = frozenset(("github", "gitlab", "sarif"))
"""Formats with paths relative to the top of the repository, wherever the memory is in it."""


def report(
    diagnostics: Iterable[Diagnostic],
    format: str = "full",
    documents: Sequence[str] = (),
    *,
    command: str = "lint",
    related: Mapping[str, Diagnostic] | None = None,
    of: Sequence[Diagnostic] = (),
) -> str:
    """Format the findings in one of `FORMATS`, sorted by file, location and rule.

    "full" contains all details and a summary, of all the findings ``of`` if only some are given; "concise" is
    one line per finding and empty without findings. ``documents`` are the checked files, for formats that
    also list files without findings. ``related`` has, by fingerprint, the same finding at the document that
    it affects.
    Raises `ValueError` for an unknown format.
    """
    if format not in FORMATS:
        raise ValueError(f"unknown format {format!r}; use one of: {', '.join(FORMATS)}")
    found = _without_secrets(sorted(diagnostics, key=_order))
    if format == "junit":
        from thunderus_mem.safety.redaction import redacted

        return junit(found, [redacted(path) for path in documents], command)
    if format == "sarif":
        places = _without_secrets(list((related or {}).values()))
        return sarif(found, {one.fingerprint: one for one in places})
    if format == "full":
        return full(found, of)
    return _WRITERS[format](found)


def _order(one: Diagnostic) -> tuple[object, ...]:
    return (*one.sort_key, one.severity, one.doc_id, one.key, one.fingerprint)


def _without_secrets(found: list[Diagnostic]) -> list[Diagnostic]:
    """Redact secrets in the findings, e.g. in a file name."""
    from thunderus_mem.safety.redaction import has_secret, redacted

    texts = {text for one in found for text in one if type(text) is str and text}
    if not has_secret("\n".join(texts)):
        return found
    return [
        one._replace(
            path=redacted(one.path),
            message=redacted(one.message),
            key=redacted(one.key),
            expected=redacted(one.expected),
            hint=redacted(one.hint),
            doc_id=redacted(one.doc_id),
            edits=() if has_secret("".join(edit.replacement for edit in one.edits)) else one.edits,
        )
        for one in found
    ]


def chosen_form(console: Console, given: str, formats: Sequence[str], usual: str, *, named: str = "") -> str:
    """Choose the format: ``given`` by option, ``named`` by THUNDERUS_MEM_OUTPUT_FORMAT, "github" in a GitHub
    workflow, or the ``usual`` one. Raises `ThunderusError` for a format that is not in ``formats``."""
    form = given or named or ("github" if console.environ.get("GITHUB_ACTIONS") == "true" else usual)
    if form not in formats:
        where = "" if given else " in THUNDERUS_MEM_OUTPUT_FORMAT"
        raise ThunderusError(f"unknown format {form!r}{where}", hint=f"use one of: {', '.join(formats)}")
    return form


def seen_from_top(memory: Memory, found: Sequence[Diagnostic], form: str) -> tuple[Diagnostic, ...]:
    """Make paths relative to the top of the repository for the formats that need it."""
    prefix = memory.git.prefix if form in REPOSITORY_PATHS and memory.git is not None else ""
    return tuple([one._replace(path=prefix + one.path) for one in found] if prefix else found)


def each_memory(console: Console) -> list[Memory]:
    """Open the memories that a hook of the pre-commit framework checks."""
    from thunderus_mem.hooks import memory_folders

    return [console.open_at(folder) for folder in memory_folders(console.start, console.environ)]


def headed(console: Console, memory: Memory, text: str) -> str:
    """The text below the name of its memory's folder, if that is below the working folder."""
    folder = os.path.relpath(memory.root, console.start)
    return (
        f"In {visible(folder)}:\n{text}" if text and folder != "." and not folder.startswith("..") else text
    )


def write_report(
    console: Console,
    command: str,
    value: Value,
    text: Callable[[Value, Console], str],
    output: str,
    *,
    drawn: bool,
    for_people: bool,
) -> None:
    """Print the report, or write it to the file ``output``; filter it when it is ``for_people``.

    ``drawn``: the text is laid out for a terminal and may be long.
    """
    if console.budget and not (console.json or (for_people and not output)):
        raise ThunderusError("--budget limits text and --json, not other formats or a file")
    if output:
        from thunderus_mem.store.files import replace_file

        written = text(value, console)
        kept = console.safe(written) if for_people else written
        replace_file(
            os.path.join(console.start, output), f"{kept}\n".encode() if kept else b"", durable=False
        )
    if console.json or not output:
        console.emit(command, value, text, long=drawn, safe=not for_people)


# Text for people

ALIKE: Final = 20
"""Maximum number of findings of one rule listed per file."""


MOST_DETAILED: Final = 20
"""Maximum number of findings that are printed with all details when no format is given."""


class RuleCount(NamedTuple):
    """A rule, the number of its findings, and of those that --fix fixes."""

    code: str
    name: str
    severity: Severity
    findings: int
    fixable: int


def rule_counts(diagnostics: Iterable[Diagnostic]) -> tuple[RuleCount, ...]:
    """Count the findings by rule and severity, most first."""
    found: Counter[tuple[str, Severity]] = Counter()
    fixable: Counter[tuple[str, Severity]] = Counter()
    for one in diagnostics:
        found[one.rule, one.severity] += 1
        fixable[one.rule, one.severity] += bool(one.edits)
    counts = (
        RuleCount(code, rule_name(code), severity, number, fixable[code, severity])
        for (code, severity), number in found.items()
    )
    return tuple(sorted(counts, key=lambda one: (-one.findings, one.code)))


def rule_name(code: str) -> str:
    """Return the name of a rule; "" for an unknown code."""
    return CODES[code][0] if code in CODES else ""


def line(one: Diagnostic) -> str:
    """Format a finding as one line: location, severity, rule, message."""
    place = f"{one.path}:{one.line}:{one.column}" if one.line else one.path
    return f"{visible(place)}: {one.severity} {_said(one)}".replace("\n", " ")


def _said(one: Diagnostic) -> str:
    rule = f"{one.rule} {rule_name(one.rule)}".strip()
    return f"{rule}: {' '.join(visible(one.message).split())}"


def details(one: Diagnostic) -> list[str]:
    """Return the other details of a finding, one line each."""
    said = [
        f"{label}: {' '.join(visible(text).split())}"
        for label, text in (("key", one.key), ("expected", one.expected), ("fix", one.hint))
        if text
    ]
    return [*said, "fixable with --fix"] if one.edits else said


def _paragraph(one: Diagnostic, *, expected: bool = True) -> str:
    """Message, expected value and hint as sentences."""
    parts = (one.message, f"Expected: {one.expected}" if one.expected and expected else "", one.hint)
    return ". ".join(part.removesuffix(".") for part in parts if part)


def few_alike(diagnostics: Sequence[Diagnostic]) -> Iterator[tuple[Diagnostic, str]]:
    """Yield each finding with its line; of many similar ones in a file the first few and a count."""
    totals = Counter((one.path, one.rule) for one in diagnostics)
    listed: Counter[tuple[str, str]] = Counter()
    for one in diagnostics:
        alike = one.path, one.rule
        listed[alike] += 1
        if listed[alike] <= ALIKE:
            yield one, line(one)
        elif listed[alike] == totals[alike]:
            rest = totals[alike] - ALIKE
            more = one._replace(message=_more(rest), line=0, key="", expected="", hint="", edits=())
            yield more, line(more)


def _more(rest: int) -> str:
    return f"{rest:,} more like this in this file"


def summary(diagnostics: Sequence[Diagnostic]) -> str:
    """Count errors, warnings and notes in one line."""
    counts = [(sum(one.severity is weight for one in diagnostics), str(weight)) for weight in Severity]
    said = [counted(number, word) for number, word in counts if number]
    return ", ".join(said) if said else "No findings"


def full(diagnostics: Sequence[Diagnostic], of: Sequence[Diagnostic] = ()) -> str:
    """Format all details of each finding, and a summary of them, or of the findings ``of``."""
    lines: list[str] = []
    for one, said in few_alike(diagnostics):
        lines += [said, *(f"    {detail}" for detail in details(one))]
    return "\n".join([*lines, summary(of or diagnostics)]) + "\n"


def by_file(
    diagnostics: Iterable[Diagnostic], style: Style, room: int, *, of: Sequence[Diagnostic], brief: bool
) -> str:
    """Format the findings for a terminal, below the path of each file, and a summary of the findings ``of``.

    ``brief`` omits the details.
    """
    found = _without_secrets(sorted(diagnostics, key=_order))
    lines: list[str] = []
    for path, group in groupby((one for one, _ in few_alike(found)), key=lambda one: one.path):
        rows = [row for one in group for row in _rows(one, style, brief=brief)]
        lines += [style.name(visible(path)), *(f"  {line}" for line in flowing(rows, room - 2)), ""]
    return "\n".join([*lines, summary(of)])


def _rows(one: Diagnostic, style: Style, *, brief: bool) -> Iterator[tuple[str, str, str]]:
    paint = {Severity.ERROR: style.error, Severity.WARNING: style.warning}.get(one.severity, str)
    yield paint(one.severity.value), f"{one.line}:{one.column}" if one.line else "", _said(one)
    for detail in () if brief else details(one):
        yield "", "", detail


def concise(diagnostics: Sequence[Diagnostic]) -> str:
    """Format one line per finding."""
    return "".join(f"{said}\n" for _, said in few_alike(diagnostics))


# JSON in ASCII: one finding per line

LINE_SCHEMA: Final = "thunderus-mem.finding/2"


def ascii_json(value: Any, indent: int | None = 2) -> str:
    """Return JSON with sorted keys and without terminal controls."""
    separators = None if indent else (",", ":")
    text = json.dumps(value, indent=indent, sort_keys=True, separators=separators)
    return text.replace("\x7f", "\\u007f")


def jsonl(diagnostics: Sequence[Diagnostic]) -> str:
    """Format one JSON object per line and finding: its fields that are not empty, and its schema name."""
    return "".join(f"{ascii_json(_fields(one), None)}\n" for one in diagnostics)


def _fields(one: Diagnostic) -> dict[str, Any]:
    shown = {key: value for key, value in one._asdict().items() if key != "edits" and value != ""}
    fixable = {"fixable": True} if one.edits else {}
    return {"schema": LINE_SCHEMA, "name": rule_name(one.rule), **shown, **fixable}


# SARIF 2.1.0 (docs.oasis-open.org/sarif): one run with rules' pages, stable fingerprints and fixes

MOST: Final = 25_000
"""Maximum number of results that GitHub accepts in one run; the most severe are kept."""

_SARIF_SCHEMA: Final = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)
_FINGERPRINT: Final = "thunderusMem/v1"
_GRAVEST_FIRST: Final = tuple(Severity)


def sarif(diagnostics: Sequence[Diagnostic], related: Mapping[str, Diagnostic]) -> str:
    """Format one run with every finding, or with the `MOST` most severe and a notification about the rest."""
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
                "exitCodeDescription": "errors or warnings found" if failed else "no errors or warnings",
                **_notifications(len(diagnostics) - len(kept)),
            }
        ],
        "results": [_result(one, places[one.rule], related.get(one.fingerprint)) for one in kept],
    }
    return ascii_json({"$schema": _SARIF_SCHEMA, "version": "2.1.0", "runs": [run]}) + "\n"


def _gravest(diagnostics: Sequence[Diagnostic]) -> Sequence[Diagnostic]:
    if len(diagnostics) <= MOST:
        return diagnostics
    ordered = sorted(diagnostics, key=lambda one: _GRAVEST_FIRST.index(one.severity))[:MOST]
    return sorted(ordered, key=lambda one: one.sort_key)


def _notifications(cut: int) -> dict[str, Any]:
    if not cut:
        return {}
    text = f"{cut} findings omitted: limited to the {MOST} most severe"
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


def _result(one: Diagnostic, rule_index: int, related: Diagnostic | None) -> dict[str, Any]:
    result: dict[str, Any] = {
        "ruleId": one.rule,
        "ruleIndex": rule_index,
        "level": str(one.severity),
        "message": {"text": _message(_paragraph(one))},
        "locations": [_location(one)],
        "partialFingerprints": {_FINGERPRINT: one.fingerprint},
    }
    if related is not None:
        result["relatedLocations"] = [{**_location(related), "message": {"text": "The document"}}]
    if one.edits and all(edit.region for edit in one.edits):
        replacements = [_replacement(edit) for edit in sorted(one.edits)]
        change = {"artifactLocation": {"uri": _uri(one.path)}, "replacements": replacements}
        text = _message(one.hint or f"Fix {rule_name(one.rule)}")
        result["fixes"] = [{"description": {"text": text}, "artifactChanges": [change]}]
    return result


def _message(text: str) -> str:
    """Escape a message: braces are placeholders (3.11.5), ``](`` an embedded link (3.11.6)."""
    return visible(text).replace("{", "{{").replace("}", "}}").replace("](", "] (")


def _location(one: Diagnostic) -> dict[str, Any]:
    # Without a region the result is about the whole file, but GitHub rejects results without a line.
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
    """Encode a path as a relative reference (RFC 3986)."""
    try:
        return quote(path, safe="/", errors="surrogateescape")
    except UnicodeEncodeError:
        return quote(path, safe="/", errors="surrogatepass")


# Annotations of a GitHub workflow (docs.github.com, "Workflow commands for GitHub Actions")

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
    return f"::{one.severity} {','.join(properties)}::{_data(_paragraph(one))}"


def github(diagnostics: Sequence[Diagnostic]) -> str:
    """Format annotations for ten errors and ten warnings, GitHub's limit, then the rest as plain lines."""
    errors = [one for one in diagnostics if one.severity is Severity.ERROR]
    warnings = [one for one in diagnostics if one.severity is Severity.WARNING]
    shown = [*errors[:ANNOTATIONS], *warnings[:ANNOTATIONS]]
    lines = [_annotation(one) for one in shown]
    cut = len(errors) + len(warnings) - len(shown)
    if cut:
        lines.append(
            f"::notice title=thunderus-mem::{cut} more not annotated ({_data(summary(diagnostics))}); "
            "the log of this step lists all of them"
        )
    annotated = set(shown)
    rest = [one for one in diagnostics if one not in annotated]
    # GitHub would parse a line with "##[", or one that starts with "::", as a command.
    lines += [f"- {said}".replace("##[", "# #[") for _, said in few_alike(rest)]
    return "".join(f"{line}\n" for line in lines)


# A GitLab report (docs.gitlab.com, "Code Quality"): a subset of Code Climate's issues

_GITLAB_SEVERITIES: Final = {Severity.ERROR: "major", Severity.WARNING: "minor", Severity.NOTE: "info"}


def gitlab(diagnostics: Sequence[Diagnostic]) -> str:
    """Format an array with one object per finding. A finding about a whole file is reported at line 1."""
    found = [
        {
            "check_name": f"{one.rule} {rule_name(one.rule)}".strip(),
            "description": visible(_paragraph(one, expected=False)),
            "fingerprint": one.fingerprint,
            "location": {"path": one.path, "lines": {"begin": max(one.line, 1)}},
            "severity": _GITLAB_SEVERITIES[one.severity],
        }
        for one in distinct(diagnostics)
    ]
    return ascii_json(found) + "\n"


_MARKUP = lazy_pattern(r"[\\`*_\[\]<>|~&$]")


def markdown_text(text: str) -> str:
    """Escape a text on one line of Markdown, so that it has no markup; a pair of backticks stays code."""
    parts = " ".join(visible(text).split()).split("`")
    if len(parts) % 2 == 0:
        parts = ["`".join(parts)]
    return "".join(
        f"`{part.replace('|', chr(92) + '|')}`" if at % 2 and part else _MARKUP.sub(r"\\\g<0>", part)
        for at, part in enumerate(parts)
    )


# JUnit XML with the elements and attributes in the schemas of Ant's JUnit task and Jenkins' xUnit plugin: one
# test case per document, its errors and warnings as one failure, notes as output. Both schemas require times;
# they are always zero, so that the same findings give the same report.

_ILLEGAL = lazy_pattern("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def _xml(text: str) -> str:
    """Escape a text for XML 1.0 in ASCII; characters that XML forbids are written as <U+XXXX>."""
    shown = _ILLEGAL.sub(lambda found: f"<U+{ord(found[0]):04X}>", visible(text))
    for char, name in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ('"', "&quot;")):
        shown = shown.replace(char, name)
    return shown.encode("ascii", "xmlcharrefreplace").decode()


def _attribute(text: str) -> str:
    return _xml(" ".join(text.split()) or "?")


def _texts(ones: Sequence[Diagnostic]) -> str:
    lines = [part for one in ones for part in (line(one), *(f"    {detail}" for detail in details(one)))]
    return _xml("\n".join(lines))


def _case(path: str, found: Sequence[Diagnostic], suite: str) -> str:
    head = f'    <testcase name="{_attribute(path)}" classname="{suite}" time="0"'
    if not found:
        return f"{head} />\n"
    worst = Severity.ERROR if any(one.severity is Severity.ERROR for one in found) else Severity.WARNING
    failure = (
        f'      <failure message="{_attribute(summary(found))}" type="{worst}">{_texts(found)}</failure>\n'
    )
    return f"{head}>\n{failure}    </testcase>\n"


def junit(diagnostics: Sequence[Diagnostic], documents: Sequence[str], command: str) -> str:
    """Format a suite with one case per checked document and per other file with a finding."""
    suite = f"thunderus-mem.{command}"
    notes = [one for one in diagnostics if one.severity is Severity.NOTE]
    by_path: dict[str, list[Diagnostic]] = {path: [] for path in documents}
    for one in diagnostics:
        found = by_path.setdefault(one.path, [])
        if one.severity is not Severity.NOTE:
            found.append(one)
    failures = sum(bool(found) for found in by_path.values())
    cases = "".join(_case(path, by_path[path], suite) for path in sorted(by_path))
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n'
        f'  <testsuite name="{suite}" package="thunderus-mem" id="0" tests="{len(by_path)}"'
        f' failures="{failures}" errors="0" skipped="0" hostname="localhost" time="0"'
        f' timestamp="1970-01-01T00:00:00">\n    <properties />\n{cases}'
        f"    <system-out>{_texts(notes)}</system-out>\n    <system-err />\n  </testsuite>\n</testsuites>\n"
    )


_WRITERS: Final[dict[str, Callable[[Sequence[Diagnostic]], str]]] = {
    "concise": concise,
    "jsonl": jsonl,
    "github": github,
    "gitlab": gitlab,
}
"""Format → its writer; JUnit and SARIF need more than the findings and are called separately."""
