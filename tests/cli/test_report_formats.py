"""CI formats, checked against their schemas and standards with arbitrary findings."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote_to_bytes

from hypothesis import given, settings
from hypothesis import strategies as st
from junitparser import JUnitXml
from sarif_kit.validate import validation_errors

from tests.support.lint_corpus import FRONT, SECRETS, lint_documents
from thunderus_mem.cli import report as report_module
from thunderus_mem.cli.report import FOR_PEOPLE, FORMATS, _order, report
from thunderus_mem.diagnostic import Diagnostic, Severity, TextEdit
from thunderus_mem.document.unicode import visible
from thunderus_mem.lint.engine import fingerprinted
from thunderus_mem.lint.rule import CODES

if TYPE_CHECKING:
    import pytest

PATH = ".thunderus/memory/semantic/FACTS/a.md"
FACT = FRONT.format(id="fact.a", kind="fact")

HOSTILE = st.text(max_size=12) | st.sampled_from(
    [
        *(
            "\x00\x1b[31m\x07\x7f",
            "\u202eevil\u200b",
            "\ufffe\uffff",
            "\udcff\ud800",
            "]]>&<a b='\"'>",
            "a\r\nb\tc",
        ),
        *(
            "{0} {{1}}",
            "[x](https://a.example/?q) [[y]]",
            "::error::x\n##[add-path]y",
            "100%\\u0041\\",
            "\u2028\x85",
        ),
    ]
)
PATHS = st.sampled_from(
    [PATH, "a b#c?.md", "100%.md", "é/漢.md", "a:b.md", "caf\udce9.md", "x\ny\x1b.md", "[[z]](w).md"]
)
EDITS = st.lists(
    st.builds(TextEdit, st.integers(0, 9), st.integers(9, 20), HOSTILE, st.just((1, 1, 1, 4))), max_size=2
)
FINDINGS = st.lists(
    st.builds(
        Diagnostic,
        st.sampled_from([*CODES, "TM999"]),
        st.sampled_from(Severity),
        PATHS,
        st.integers(0, 9),
        st.integers(0, 9),
        HOSTILE.filter(bool),
        HOSTILE,
        HOSTILE,
        HOSTILE,
        st.sampled_from(["", "fact.a"]),
        EDITS.map(tuple),
    ),
    max_size=12,
).map(lambda ones: fingerprinted(ones, lambda line: f"line {line}"))
MANY = settings(deadline=None, max_examples=40, derandomize=True)


def written(findings: list[Diagnostic], format_: str, *documents: str) -> str:
    text = report(findings, format_, documents)
    assert text == report(reversed(findings), format_, documents)
    assert text.isascii()
    assert all(char.isprintable() or char == "\n" for char in text)
    return text


def found(text: str, path: str = PATH) -> list[Diagnostic]:
    return lint_documents({path: text.encode()})[path]


@MANY
@given(FINDINGS)
def test_sarif_matches_its_schema_and_standard(findings: list[Diagnostic]) -> None:
    log = json.loads(written(findings, "sarif"))
    assert validation_errors(log) == []
    (run,) = log["runs"]
    rules = run["tool"]["driver"]["rules"]
    assert run["columnKind"] == "unicodeCodePoints"
    assert run["invocations"][0]["exitCode"] == int(any(one.severity != "note" for one in findings))
    assert len(run["results"]) == len(findings)
    ordered = sorted(findings, key=_order)
    for one, result in zip(ordered, run["results"], strict=True):
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"] == one.rule
        assert result["level"] == one.severity
        place = result["locations"][0]["physicalLocation"]
        uri = place["artifactLocation"]["uri"]
        assert re.fullmatch(r"[A-Za-z0-9._~/-]|(?:[A-Za-z0-9._~/-]|%[0-9A-F]{2})+", uri)
        assert unquote_to_bytes(uri).decode("utf-8", "surrogateescape") == one.path
        assert place["region"]["startLine"] == max(one.line, 1)
        text = result["message"]["text"]
        assert "{" not in text.replace("{{", "")
        assert "}" not in text.replace("}}", "")
        assert "](" not in text
        assert text == visible(text)
        assert bool(result.get("fixes")) == bool(one.edits)
    for rule in rules:
        assert rule["id"] == "TM999" or rule["help"]["text"].count("Why: ") == 1


@MANY
@given(FINDINGS)
def test_gitlab_has_every_field_and_unique_fingerprints(findings: list[Diagnostic]) -> None:
    issues = json.loads(written(findings, "gitlab"))
    assert len(issues) == len(findings)
    assert len({issue["fingerprint"] for issue in issues}) == len(issues)
    for issue in issues:
        assert set(issue) == {"check_name", "description", "fingerprint", "location", "severity"}
        assert issue["severity"] in ("info", "minor", "major", "critical", "blocker")
        assert re.fullmatch("[0-9a-f]{32}", issue["fingerprint"])
        assert issue["description"]
        assert isinstance(issue["location"]["path"], str)
        assert issue["location"]["lines"]["begin"] >= 1


_CASE = {"name", "classname", "time"}
_SUITE = {
    *("name", "package", "id", "hostname", "timestamp", "time"),
    *("tests", "failures", "errors", "skipped"),
}


@MANY
@given(FINDINGS)
def test_junit_has_the_elements_in_the_order_of_its_schemas(findings: list[Diagnostic]) -> None:
    text = written(findings, "junit", PATH, "good.md")
    root = ET.fromstring(text)
    (suite,) = root
    assert (root.tag, suite.tag, set(suite.attrib)) == ("testsuites", "testsuite", _SUITE)
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d", suite.attrib["timestamp"])
    tags = [child.tag for child in suite]
    cases = suite.findall("testcase")
    assert tags == ["properties", *["testcase"] * len(cases), "system-out", "system-err"]
    assert len(cases) == len({PATH, "good.md", *(one.path for one in findings)}) == int(suite.attrib["tests"])
    failed = {one.path for one in findings if one.severity != "note"}
    assert len([case for case in cases if len(case)]) == int(suite.attrib["failures"]) == len(failed)
    for case in cases:
        assert set(case.attrib) == _CASE
        assert [child.tag for child in case] in ([], ["failure"])
        assert all(set(child.attrib) == {"message", "type"} for child in case)
    notes = [one for one in findings if one.severity == "note"]
    assert (suite.findtext("system-out") or "").count(": note ") >= len(notes)
    (read,) = JUnitXml.fromstring(text.encode())
    assert (read.tests, read.failures) == (len(cases), len(failed))


@MANY
@given(FINDINGS)
def test_jsonl_has_one_finding_per_line(findings: list[Diagnostic]) -> None:
    lines = written(findings, "jsonl").splitlines()
    assert len(lines) == len(findings)
    for line, one in zip(lines, sorted(findings, key=_order), strict=True):
        data = json.loads(line)
        assert data["schema"] == "thunderus-mem.finding/2"
        assert [data.get(key, "") for key in ("path", "message", "fingerprint")] == [
            one.path,
            one.message,
            one.fingerprint,
        ]
        assert data.get("fixable", False) == bool(one.edits)


def test_sarif_keeps_the_most_severe_and_reports_the_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    assert report_module.MOST == 25_000
    monkeypatch.setattr(report_module, "MOST", 3)
    note = Diagnostic("TM205", Severity.NOTE, "a.md", 1, 1, "x", fingerprint="0" * 32)
    error = Diagnostic("TM201", Severity.ERROR, "z.md", 1, 1, "x", fingerprint="1" * 32)
    (run,) = json.loads(report([*[note] * 3, error], "sarif"))["runs"]
    assert len(run["results"]) == 3
    assert run["results"][-1]["ruleId"] == "TM201"
    assert run["invocations"][0]["toolExecutionNotifications"][0]["message"]["text"].startswith("1 findings")


def test_fixes_have_line_and_column_of_the_replaced_text() -> None:
    text = "\ufeff" + FACT.replace("title: A title", "title: no")
    (result,) = json.loads(report(found(text + "Text.\n"), "sarif"))["runs"][0]["results"]
    (change,) = result["fixes"][0]["artifactChanges"]
    (replacement,) = change["replacements"]
    region = replacement["deletedRegion"]
    line = text.split("\n")[region["startLine"] - 1]
    assert line[region["startColumn"] - 1 : region["endColumn"] - 1] == "no"
    assert replacement["insertedContent"]["text"] == '"no"'


def test_secret_in_a_file_name_is_in_no_report() -> None:
    path = f".thunderus/memory/semantic/FACTS/{SECRETS['github']}.md"
    ones = found(FACT + f"[x]({SECRETS['github']}.md) [[gone]]\n", path)
    assert "TM401" in {one.rule for one in ones}
    for format_ in sorted(set(FORMATS) - FOR_PEOPLE):
        assert SECRETS["github"] not in report(ones, format_, ())


def test_many_similar_findings_are_counted_in_text_and_listed_for_programs() -> None:
    ones = [Diagnostic("TM108", Severity.WARNING, "a.md", line, 1, "Again.") for line in range(1, 1261)]
    other = Diagnostic("TM201", Severity.ERROR, "a.md", 30, 1, "Gone.")
    concise = report([*ones, other], "concise").splitlines()
    assert len(concise) == 22
    assert concise[-1] == "a.md: warning TM108 repeated-anchor: 1,240 more like this in this file"
    assert concise[20].startswith("a.md:30:1: error TM201")
    assert report([*ones, other], "full").endswith("1 error, 1,260 warnings\n")
    assert len(report([*ones, other], "github").splitlines()) == 10 + 1 + 1 + 20 + 1
    assert len(report(ones, "jsonl").splitlines()) == 1260
    assert len(json.loads(report(ones, "sarif"))["runs"][0]["results"]) == 1260
    assert len(json.loads(report(ones, "gitlab"))) == 1260
    assert report(ones, "junit").count("TM108") == 1260


def prints(text: str) -> list[str]:
    return [one.fingerprint for one in found(text)]


def test_fingerprint_survives_moved_lines_and_edits_around_it() -> None:
    text = FACT + "See [[gone]].\n\nSee   [[lost]].\n"
    before = prints(text)
    assert len(set(before)) == 2
    assert prints(text.replace("See [[gone]]", "# New\n\nMore.\n\n  See  [[gone]]")) == before
    assert prints(text.replace("\n", "\r\n")) == before
    assert prints(text.replace("A title", "Another")) == before
    moved = lint_documents({PATH.replace("/a.md", "/b.md"): text.encode()})
    assert [one.fingerprint for ones in moved.values() for one in ones if one.rule == "TM201"] == before


def test_equal_lines_are_distinguished_by_order() -> None:
    line = "See [[gone]] and [[gone]].\n\n"
    three, two = prints(FACT + line * 3), prints(FACT + line * 2)
    assert len(set(three)) == 6
    assert three[:4] == two


def test_fingerprint_contains_no_part_of_a_secret() -> None:
    def of(secret: str) -> list[str]:
        ones = found(f"{FACT}[[gone]] with {secret}.\n")
        return [one.fingerprint for one in ones if one.rule == "TM201"]

    other = SECRETS["github"][:-4] + "ZZZZ"
    assert of(SECRETS["github"])
    assert of(SECRETS["github"]) != of("nothing")
    assert len(of(other)) == 1


def test_long_line_with_many_findings_is_hashed_once() -> None:
    ones = [Diagnostic("TM201", Severity.ERROR, "a.md", 1, column, "x") for column in range(20_000)]
    asked: list[int] = []

    def text(line: int) -> str:
        asked.append(line)
        return "x" * 1_000_000

    assert len({one.fingerprint for one in fingerprinted(ones, text)}) == 20_000
    assert asked == [1]


def test_every_format_without_findings_reports_none() -> None:
    def data(format_: str) -> Any:
        return json.loads(report([], format_))

    assert data("sarif")["runs"][0]["results"] == []
    assert validation_errors(data("sarif")) == []
    assert data("gitlab") == []
    assert report([], "jsonl") == ""
    assert 'tests="1" failures="0"' in report([], "junit", ("a.md",))
