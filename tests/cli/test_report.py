"""Reports: sorted, reproducible, escaped, and within GitHub's limits."""

from __future__ import annotations

import json
import random

import pytest

from thunderus_mem.cli.report import FORMATS, report
from thunderus_mem.diagnostic import Diagnostic, Severity, TextEdit

ONE = Diagnostic(
    "TM201",
    Severity.ERROR,
    "a.md",
    3,
    5,
    "No document is called `x`.",
    expected="an id or an alias",
    hint="Correct the id, or remove the link.",
    doc_id="fact.a",
)
TWO = Diagnostic(
    "TM106",
    Severity.WARNING,
    "b.md",
    0,
    0,
    "The path is 130 characters long.",
    key="k",
    edits=(TextEdit(0, 0, ""),),
)
NOTE = Diagnostic("TM105", Severity.NOTE, "c.md", 0, 0, "The file name does not follow.")


def many(severity: Severity, count: int) -> list[Diagnostic]:
    return [
        Diagnostic("TM201", severity, f"{severity}.md", number, 1, "Gone.") for number in range(1, count + 1)
    ]


def test_full_has_all_details() -> None:
    assert report([TWO, ONE, NOTE]) == (
        "a.md:3:5: error TM201 dead-link: No document is called `x`.\n"
        "    expected: an id or an alias\n"
        "    fix: Correct the id, or remove the link.\n"
        "b.md: warning TM106 path-length: The path is 130 characters long.\n"
        "    key: k\n"
        "    fixable with --fix\n"
        "c.md: note TM105 file-name: The file name does not follow.\n"
        "1 error, 1 warning, 1 note\n"
    )
    assert report([]) == "No findings\n"


def test_concise_is_one_line_per_finding() -> None:
    assert report([ONE], "concise") == "a.md:3:5: error TM201 dead-link: No document is called `x`.\n"
    assert report([], "concise") == ""


def test_jsonl_omits_empty_fields() -> None:
    one, two = map(json.loads, report([ONE, TWO], "jsonl").splitlines())
    assert (one["schema"], one["rule"], one["name"], one["line"]) == (
        "thunderus-mem.finding/2",
        "TM201",
        "dead-link",
        3,
    )
    assert {"key", "fixable", "edits"}.isdisjoint(one)
    assert two["fixable"] is True


def test_github_escapes_property_and_command_delimiters() -> None:
    odd = Diagnostic("TM201", Severity.ERROR, "a,b:100%.md", 3, 5, "100%\r\nof: it, here", expected="x")
    assert report([odd], "github") == (
        "::error file=a%2Cb%3A100%25.md,line=3,col=5,title=TM201 dead-link"
        "::100%25\\x0d%0Aof: it, here. Expected: x\n"
    )


def test_github_annotates_ten_of_each_and_counts_the_rest() -> None:
    lines = report([*many(Severity.ERROR, 12), *many(Severity.WARNING, 15), NOTE], "github").splitlines()
    assert [line.partition(" ")[0] for line in lines[:21]] == ["::error"] * 10 + ["::warning"] * 10 + [
        "::notice"
    ]
    assert "7 more not annotated" in lines[20]
    assert "12 errors, 15 warnings, 1 note" in lines[20]
    assert len(lines) == 21 + 8
    assert all(line.startswith("- ") for line in lines[21:])


def test_github_without_omissions_has_no_notice() -> None:
    assert "::notice" not in report([ONE, TWO], "github")


@pytest.mark.parametrize("format_", FORMATS)
def test_reports_contain_no_control_characters_or_commands(format_: str) -> None:
    evil = "x\x1b]52;c;AAAA\x07\u202e\n::error::injected\r##[add-path]y"
    ones = [Diagnostic("TM201", Severity.NOTE, evil, 1, 1, evil, key=evil, expected=evil, hint=evil)] * 2
    said = report(ones, format_)
    assert not any(ord(char) < 32 and char != "\n" for char in said)
    assert "\u202e" not in said
    assert not any(line.lstrip().startswith("::error::injected") for line in said.splitlines())
    if format_ == "github":
        assert "##[" not in said


@pytest.mark.parametrize("format_", FORMATS)
def test_the_same_findings_in_any_order_give_the_same_bytes(format_: str) -> None:
    ones = [ONE, TWO, NOTE, *many(Severity.ERROR, 12)]
    expected = report(ones, format_)
    for seed in range(5):
        random.Random(seed).shuffle(ones)
        assert report(ones, format_) == expected


def test_unknown_format_is_rejected() -> None:
    with pytest.raises(ValueError, match="unknown format"):
        report([], "xml")
