"""A report of findings: in which format, with which paths, printed or written to a file.

`report` writes the findings, sorted and without secrets, in one of `FORMATS`: as text for people (many alike
are counted, not listed), as JSON or SARIF, or for what shows them in continuous integration. `hand_over`
prints it; with ``--output`` it writes the one file that is touched here.
"""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from typing import TYPE_CHECKING, Any, Final, TypeVar
from urllib.parse import quote

from thunderus_mem import __version__
from thunderus_mem.cli.text import counted
from thunderus_mem.diagnostic import Diagnostic, Severity
from thunderus_mem.document.unicode import visible
from thunderus_mem.errors import ThunderusError
from thunderus_mem.lint.engine import RULES, distinct, rule_page
from thunderus_mem.lint.rule import CODES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from thunderus_mem.cli.console import Console
    from thunderus_mem.diagnostic import TextEdit
    from thunderus_mem.lint.rule import Rule
    from thunderus_mem.memory.memory import Memory

Value = TypeVar("Value")

FORMATS: Final = ("full", "concise", "json", "jsonl", "github", "gitlab", "sarif", "junit")
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
    if format not in FORMATS:
        raise ValueError(f"There is no format {format}; choose one of {', '.join(FORMATS)}.")
    found = _without_secrets(sorted(diagnostics, key=_order))
    return junit(found, documents) if format == "junit" else _WRITERS[format](found)


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


# Text for people

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


def _whole(one: Diagnostic) -> str:
    """Message, what is expected, and what to do, in one paragraph."""
    said = (one.message, f"Expected: {one.expected}." if one.expected else "", one.hint)
    return " ".join(part for part in said if part)


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


# JSON, ASCII throughout: one document, or one finding a line

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
        **{f"{weight}s": sum(one.severity is weight for one in diagnostics) for weight in Severity},
    }
    return ascii_json(document) + "\n"


def jsonl(diagnostics: Sequence[Diagnostic]) -> str:
    """One JSON object a finding, a line each, with the name of its shape."""
    lines = [ascii_json({"schema": LINE_SCHEMA, **_fields(one)}, None) for one in diagnostics]
    return "".join(f"{line}\n" for line in lines)


# SARIF 2.1.0 (docs.oasis-open.org/sarif): one run with rules' pages, stable fingerprints and fixes

MOST: Final = 25_000
"""Results that GitHub takes in one run; the gravest are kept."""

_SARIF_SCHEMA: Final = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)
_FINGERPRINT: Final = "thunderusMem/v1"
_GRAVEST_FIRST: Final = tuple(Severity)


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
    return ascii_json({"$schema": _SARIF_SCHEMA, "version": "2.1.0", "runs": [run]}) + "\n"


def _gravest(diagnostics: Sequence[Diagnostic]) -> Sequence[Diagnostic]:
    if len(diagnostics) <= MOST:
        return diagnostics
    ordered = sorted(diagnostics, key=lambda one: _GRAVEST_FIRST.index(one.severity))[:MOST]
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
    result: dict[str, Any] = {
        "ruleId": one.rule,
        "ruleIndex": rule_index,
        "level": str(one.severity),
        "message": {"text": _message(_whole(one))},
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
    return f"::{one.severity} {','.join(properties)}::{_data(_whole(one))}"


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


# A GitLab report (docs.gitlab.com, "Code Quality"): a subset of Code Climate's issues

_GITLAB_SEVERITIES: Final = {Severity.ERROR: "major", Severity.WARNING: "minor", Severity.NOTE: "info"}


def gitlab(diagnostics: Sequence[Diagnostic]) -> str:
    """An array with one object a finding. A finding about a whole file stands at its first line."""
    found = [
        {
            "check_name": f"{one.rule} {rule_name(one.rule)}".strip(),
            "description": visible(f"{one.message} {one.hint}".strip()),
            "fingerprint": one.fingerprint,
            "location": {"path": one.path, "lines": {"begin": max(one.line, 1)}},
            "severity": _GITLAB_SEVERITIES[one.severity],
        }
        for one in distinct(diagnostics)
    ]
    return ascii_json(found) + "\n"


# JUnit XML: the elements and attributes of the schemas that Ant's JUnit task and Jenkins' xUnit plugin
# publish; one test case a document, its errors and warnings as one failure, notes as output. Both
# schemas want a time; a report is the same for the same findings, so it says none: the epoch, 0 seconds.

_SUITE: Final = "thunderus-mem.lint"
_ILLEGAL = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def _xml(text: str) -> str:
    """Text as XML 1.0 has it, in ASCII; what XML cannot hold is spelled out."""
    shown = _ILLEGAL.sub(lambda found: f"<U+{ord(found[0]):04X}>", visible(text))
    for char, name in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ('"', "&quot;")):
        shown = shown.replace(char, name)
    return shown.encode("ascii", "xmlcharrefreplace").decode()


def _attribute(text: str) -> str:
    return _xml(" ".join(text.split()) or "?")


def _told(ones: Sequence[Diagnostic]) -> str:
    lines = [part for one in ones for part in (line(one), *(f"    {detail}" for detail in details(one)))]
    return _xml("\n".join(lines))


def _case(path: str, found: Sequence[Diagnostic]) -> str:
    head = f'    <testcase name="{_attribute(path)}" classname="{_SUITE}" time="0"'
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
        f'  <testsuite name="{_SUITE}" package="thunderus-mem" id="0" tests="{len(by_path)}"'
        f' failures="{failures}" errors="0" skipped="0" hostname="localhost" time="0"'
        f' timestamp="1970-01-01T00:00:00">\n    <properties />\n{cases}'
        f"    <system-out>{_told(notes)}</system-out>\n    <system-err />\n  </testsuite>\n</testsuites>\n"
    )


_WRITERS: Final[dict[str, Callable[[Sequence[Diagnostic]], str]]] = {
    "full": full,
    "concise": concise,
    "json": json_document,
    "jsonl": jsonl,
    "github": github,
    "gitlab": gitlab,
    "sarif": sarif,
}
"""Format → what writes it; JUnit's needs the documents besides."""
