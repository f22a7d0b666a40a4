"""JSON envelopes, style marks and columns."""

from __future__ import annotations

import importlib
import json
from dataclasses import dataclass

from hypothesis import example, given, settings
from hypothesis import strategies as st

from thunderus_mem.cli.console import with_visible_characters
from thunderus_mem.cli.output import dumps, envelope, failure_envelope
from thunderus_mem.cli.text import Style, aligned, columns, cut, unmarked, width, wrapped
from thunderus_mem.diagnostic import Diagnostic, Severity
from thunderus_mem.document.unicode import visible
from thunderus_mem.errors import InvalidDocument, ThunderusError


@dataclass(frozen=True, slots=True)
class Value:
    name: str
    items: tuple[int, ...]
    raw: bytes = b""
    severity: Severity = Severity.NOTE


def test_envelope_has_the_fields_and_a_schema_name() -> None:
    assert json.loads(envelope("index status", Value("a", (1, 2)))) == {
        "items": [1, 2],
        "name": "a",
        "schema": "thunderus-mem.index-status/2",
        "severity": "note",
    }


def test_error_contains_its_findings() -> None:
    finding = Diagnostic("TM101", Severity.ERROR, "a.md", 3, 1, "No tag.")
    answer = json.loads(failure_envelope(InvalidDocument("No.", diagnostics=[finding], hint="Do."), 2))
    assert (answer["error"], answer["code"], answer["hint"]) == ("InvalidDocument", 2, "Do.")
    assert answer["diagnostics"][0]["rule"] == "TM101"


def test_every_error_class_has_a_unique_name_in_json() -> None:
    for name in ("log.append", "index.database"):  # they have errors of their own, too
        importlib.import_module(f"thunderus_mem.{name}")
    classes = [ThunderusError]
    for kind in classes:
        classes += kind.__subclasses__()
    ours = [kind for kind in classes if kind.__module__.startswith("thunderus_mem.")]
    codes = [vars(kind)["code"] for kind in ours]
    assert len(set(codes)) == len(codes)


@settings(deadline=None, max_examples=200, derandomize=True)
@given(st.text())
@example("a\x7fb")
def test_json_keeps_values_and_hides_nothing(text: str) -> None:
    written = dumps(text)
    assert json.loads(written) == text
    assert (
        visible(written) == written
        or any(char in text for char in "\u034f\u3164\uffa0")
        or max(text) > "\uffff"
    )


def test_ascii_json_hides_no_control_character() -> None:
    assert dumps("a\x7fb") == '"a\\u007fb"'
    assert dumps("\u115f\u1160\u17b4\u17b5\u202e").isascii()
    assert json.loads(envelope("show", {"alias": "\x7f\x1b"}))["alias"] == "\x7f\x1b"
    assert visible(envelope("show", {"alias": "\x7f\x1b"})) == envelope("show", {"alias": "\x7f\x1b"})


@settings(deadline=None, max_examples=300, derandomize=True)
@given(st.text(alphabet=st.characters()) | st.text(alphabet="a\n\t\x1b\u202e\u200b\u034f\u3164é漢\U000e0101"))
def test_fast_path_of_the_filter_equals_the_filter(text: str) -> None:
    bare = unmarked(text)
    assert with_visible_characters(bare) == visible(bare)


@settings(deadline=None, max_examples=100, derandomize=True)
@given(st.text(alphabet="ab漢é "), st.integers(1, 12))
def test_cut_text_fits(text: str, limit: int) -> None:
    assert width(cut(text, limit)) <= max(limit, 1)


@settings(deadline=None, max_examples=200, derandomize=True)
@given(
    st.lists(st.tuples(*[st.text(alphabet="ab漢é ", max_size=30)] * 4), min_size=1, max_size=5),
    st.integers(60, 140),
)
def test_columns_fit_the_terminal(rows: list[tuple[str, ...]], room: int) -> None:
    style = Style(colored=True)
    marked = [(style.name(first), second, style.dim(third), fourth) for first, second, third, fourth in rows]
    lines = columns(marked, room).split("\n")
    assert all(width(line) <= room for line in lines)
    assert all(line.count("\uf8e0") == line.count("\uf8e1") for line in lines), "a cut cell closes its mark"


def test_text_wraps_between_words() -> None:
    style = Style(colored=True)
    lines = wrapped(f"one two {style.match('three')} verylongword 漢字 x", 10)
    assert [unmarked(line) for line in lines] == ["one two", "three", "verylongword", "漢字 x"]


def test_ids_are_never_cut() -> None:
    rows = [("fact." + "x" * 60, "a" * 30, "b" * 30)]
    (line,) = columns(rows, 80, whole=1).split("\n")
    assert line.startswith(rows[0][0])


def test_columns_align_with_marks_and_wide_characters() -> None:
    style = Style(colored=True)
    lines = aligned([(style.name("漢字"), "x"), ("abc", "y"), ("z",)])
    assert [unmarked(line) for line in lines] == ["漢字  x", "abc   y", "z"]
    assert Style(colored=False).paint(lines[0]) == "漢字  x"
    assert style.paint(style.error("a")) == "\x1b[1;31ma\x1b[0m"
