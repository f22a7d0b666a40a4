from __future__ import annotations

import json
import random
from itertools import product

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from tests.support.headers import headers
from thunderus_mem.document.frontmatter.nodes import Mapping, Node, Scalar, Sequence, plain_data, typed_data
from thunderus_mem.document.frontmatter.read import find_fences, read_fast, read_full, read_header

LAWS = settings(deadline=None, max_examples=60, derandomize=True)


def read(text: str) -> Mapping:
    root, problems = read_header(text)
    assert root is not None, problems
    return root


def code_of(text: str) -> str:
    root, problems = read_header(text)
    assert root is None
    return problems[0].code


def allowed(text: str) -> bool:
    """Whether a text is passed to the two readers."""
    _, problems = read_header(text)
    return not problems or problems[0].code != "control-character"


@LAWS
@given(headers())
@example("a:\n- b\n- c: 1\n  d: 2\ne:\n")
@example("a: b  # c\nb: 'it''s' # x\nc: [a, \"b\", c d]\n")
@example("a:\n  - b\n\n  # c\n  - d\nb:\n\n  c: 1\n")
@example("a: - b\n")
@example("a: b\n c\n")
def test_fast_reader_agrees_with_the_full_one_or_declines(text: str) -> None:
    assume(allowed(text))
    fast = read_fast(text)
    if fast is not None:
        assert read_full(text) == (fast, ())


@LAWS
@given(
    st.text(alphabet="ab:- #'\"[],{}\n\r|>&*!?%@0.~é\u2028\ufeff\\", max_size=30).map(lambda t: "k: a\n" + t)
)
def test_fast_reader_agrees_on_noise(text: str) -> None:
    assume(allowed(text))
    fast = read_fast(text)
    if fast is not None:
        assert read_full(text) == (fast, ())


@LAWS
@given(st.text() | st.binary().map(lambda raw: raw.decode("utf-8", "replace")) | headers())
def test_any_text_gives_a_mapping_or_problems(text: str) -> None:
    root, problems = read_header(text)
    assert (root is None) == bool(problems)
    for problem in problems:
        assert 1 <= problem.line <= text.count("\n") + 1
        assert problem.column >= 1
        assert not problem.message.endswith(".")
    if root is not None:
        json.dumps(typed_data(root)).encode("utf-8")


def walk(node: Node) -> list[Node]:
    if isinstance(node, Scalar):
        return [node]
    if isinstance(node, Sequence):
        return [node, *(inner for item in node.items for inner in walk(item))]
    return [node, *(inner for e in node.entries for part in (e.key, e.value) for inner in walk(part))]


@LAWS
@given(headers())
def test_offsets_match_the_text(text: str) -> None:
    root, _ = read_header(text)
    assume(root is not None and root.entries)
    assert root is not None
    for node in walk(root):
        assert 0 <= node.start <= node.end <= len(text)
        assert node.line == text.count("\n", 0, node.start) + 1
        assert node.column == node.start - text.rfind("\n", 0, node.start)
        if isinstance(node, Scalar) and node.plain and "\n" not in text[node.start : node.end]:
            assert text[node.start : node.end] == node.text


def test_ordinary_headers_use_the_fast_reader() -> None:
    text = (
        "# about\nid: fact.a  # stable\ntitle: 'It''s: fine'\ntags:\n- a\n- b\nx: [p, \"q r\"]\n"
        "anchors:\n  - path: src/a.py\n    symbol: f\nprovenance:\n  events:\n    - evt_1\nnone:\n"
        "long: a value\n  of lines, [one] 'two'\nquoted:\n  - \"one\n    two \"\n  - 'it''s\n   it'\n"
        "date of note: 2024-12-14\nключ: значение\nмітки: [нотатки, 插件, q r]\n"
    )
    for variant in (text, text.replace("\n", "\r\n"), text[:-1]):
        assert read_fast(variant) is not None
        assert read_full(variant) == (read_fast(variant), ())


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("a: 1\nb: 2\na: 3\n", "duplicate-key"),
        ("p:\n  q: 1\n  q: 2\n", "duplicate-key"),
        ("a:\n\t- b\n", "tab"),
        ("a: *b\n", "alias"),
        ("a: &b c\n", "anchor"),
        ("a: &b [x]\n", "anchor"),
        ("a: !!int 3\n", "tag"),
        ("a: ! x\n", "tag"),
        ("<<: {a: 1}\n", "merge-key"),
        ("? [a]\n: b\n", "key"),
        ("? a\n: b\n", "key"),
        ("a: b\n: c\n", "key"),
        ("a: [b:, c]\n", "key"),
        ("a: {?b: c}\n", "key"),
        ("a: [?'b': c]\n", "key"),
        ("a: [[b, c:]]\n", "key"),
        ("a: [[[[[[[x]]]]]]]\n", "depth"),
        ("a:\n b:\n  c:\n   d:\n    - e: [f]\n", "depth"),
        ("a: " + "[0" * 65 + "\n", "depth"),
        ("a: " + "{\\" * 65 + "\n", "depth"),
        ("a: x\n" + "# " + "x" * 33_000 + "\n", "size"),
        ("a: [" + "x," * 5_000 + "]\n", "size"),
        ("a: b: c\n", "syntax"),
        ('a: "b\n', "syntax"),
        ('a: "\\ud800"\n', "control-character"),
        ('a: "\\0"\n', "control-character"),
        ("a: \x1b[31m\n", "control-character"),
        ("a: b\rc: d\n", "control-character"),
        ("a: \ufeffb\n", "control-character"),
        ("a: b\n--- x\n", "multi-document"),
        ("%YAML 1.1\n--- {a: no}\n", "multi-document"),
        ("- a\n", "not-a-mapping"),
        ("word\n", "not-a-mapping"),
        ('a: "\\U99999999"\n', "syntax"),
    ],
)
def test_yaml_outside_the_subset_is_a_problem(text: str, code: str) -> None:
    assert code_of(text) == code


def test_problem_has_line_column_and_key() -> None:
    _, problems = read_header("a: 1\nb: 2\nb: 3\na: 4\n")
    assert [(p.code, p.line, p.column, p.key) for p in problems] == [
        ("duplicate-key", 3, 1, "b"),
        ("duplicate-key", 4, 1, "a"),
    ]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('a: 1\nb: "open\nc: d\n', 2),
        ("a: 1\njust words\n\n", 2),
        ("a: 1\n%YAML 1.1\n", 2),
        ("a: 1\n%YAML 1.1\nb: 2\n", 2),
        ('a: 1\nb: "\\U99999999"\n', 2),
        ("a: 1\nb: [c, d\ne: f\n", 3),
    ],
)
def test_unclosed_item_is_reported_where_it_begins(text: str, line: int) -> None:
    _, problems = read_header(text)
    assert [(one.code, one.line) for one in problems] == [("syntax", line)]


@pytest.mark.parametrize(
    "text",
    [
        "[" * 30_000,
        "a: " + "[" * 30_000,
        "a: " + "{a: " * 6_000,
        "- " * 15_000,
        "? " * 15_000,
        "a: " + "9" * 5_000,
        "a: &a [x,x]\nb: &b [*a,*a]\n" * 300,
        "a: 2026-13-45T99:99:99Z\nb: 0000-00-00\n",
        "a: '" + "''" * 15_000,
        'a: "' + "\\x41" * 7_000 + '"',
        "a:\n" + "\n" * 30_000,
        "a: |\n" + " \n" * 10_000,
        "a: x\n" + "  y\n" * 8_000,
        "a: " + "#" * 30_000,
        "".join(" " * n + f"k{n}:\n" for n in range(200)),
        "k" * 30_000 + ": v",
        "!" * 30_000,
        "a: >\n" + " " * 30_000,
        ": " * 15_000,
        ", " * 15_000,
        "a: {" + "b," * 15_000,
        "'" * 30_000,
    ],
)
def test_bombs_are_rejected_quickly(text: str) -> None:
    root, problems = read_header(text)
    assert (root is None) == bool(problems)
    if root is not None:
        typed_data(root)


def test_closed_brackets_and_brackets_in_text_are_not_depth() -> None:
    text = "a: |\n" + "  [x {y\n" * 60 + "b: {c: [" + "[d], " * 70 + "]}\n"
    assert plain_data(read(text))["b"] == {"c": [["d"]] * 70}


def test_mutated_headers_never_raise() -> None:
    seed = "id: fact.a\ntitle: 'T'\nkind: fact\ntags: [a, b]\nprovenance:\n  events:\n    - evt_1\nnote: |\n  x\n"  # noqa: E501
    dice = random.Random(7)
    for _ in range(400):
        text = list(seed)
        for _ in range(dice.randint(1, 4)):
            place = dice.randrange(len(text))
            text[place] = dice.choice(
                ["", "\t", ":", "[", "{", "&a", "*a", "!", "'", '"', "\n", "- ", "#", "|", "\x00", "\u2028"]
            )
        root, problems = read_header("".join(text))
        assert (root is None) == bool(problems)


def test_typed_data_types_known_keys_and_keeps_ids_hashes_and_times_as_text() -> None:
    root = read(
        "id: 12\ntitle: no\ncreated: 2026-01-21\ncredibility: 0.5\nsequence_number: 3\nquality_score: null\ntags:\naliases: [1, on]\n"  # noqa: E501
        "provenance:\n  commits: [1234567, 12e4567]\nverification:\n  last_verified_commit: null\n"
        "free: 010\nhex: 0x1F\nyes: true\nnone: ~\nquoted: '1'\nlong: "
        + "9" * 5_000
        + "\ninf: 1e999\nwhen: 2026-01-21\n"
    )
    data = typed_data(root)
    assert data.pop("long") == "9" * 5_000
    assert data == {
        "id": "12",
        "title": "no",
        "created": "2026-01-21",
        "credibility": 0.5,
        "quality_score": None,
        "sequence_number": 3,
        "tags": [],
        "aliases": ["1", "on"],
        "provenance": {"commits": ["1234567", "12e4567"]},
        "verification": {"last_verified_commit": None},
        "free": 10,
        "hex": 31,
        "yes": True,
        "none": None,
        "quoted": "1",
        "inf": "1e999",
        "when": "2026-01-21",
    }


def test_plain_data_has_only_strings() -> None:
    assert plain_data(read("a: 1\nb: [yes, {c: ~}]\n")) == {"a": "1", "b": ["yes", {"c": "~"}]}


@pytest.mark.parametrize("text", ["", "\n", "# only a comment\n", "\r\n  \n"])
def test_empty_header_is_an_empty_mapping(text: str) -> None:
    assert read(text).entries == ()


@pytest.mark.parametrize(
    ("text", "header", "body"),
    [
        ("---\na: 1\n---\nbody\n", "a: 1\n", "body\n"),
        ("\ufeff---\t \r\na: 1\r\n---  \r\nbody", "a: 1\r\n", "body"),
        ("---\na: 1\n...\nbody", "a: 1\n", "body"),
        ("---\n---", "", ""),
        ("---\na: 1\n--- b\n----\n---\n---\n", "a: 1\n--- b\n----\n", "---\n"),
    ],
)
def test_fences_are_found_line_by_line(text: str, header: str, body: str) -> None:
    fences = find_fences(text)
    assert fences is not None
    assert fences.closed
    assert text[fences.start : fences.end] == header
    assert text[fences.body_start :] == body
    assert (
        fences.body_line == text.count("\n", 0, fences.body_start) + (1 if text.count("\n") else 0)
        or not body
    )


@pytest.mark.parametrize(
    "text", ["", "a", " ---\na: 1\n---\n", "----\n", "--- a\n---\n", "\n---\na: 1\n---\n"]
)
def test_text_without_a_first_fence_has_no_header(text: str) -> None:
    assert find_fences(text) is None


def test_unclosed_header_differs_from_no_header() -> None:
    for text in ("---", "---\n", "---\na: 1\n", "---\n" + "\n" * 20_000, "---\n" + "---x\n" * 20_000):
        fences = find_fences(text)
        assert fences is not None
        assert not fences.closed


def _nested(shape: tuple[str, ...], end: str) -> str:
    """Nested mappings (``k``) and lists of mappings (``-``), and an end."""
    lines = ["k:"]
    for depth, one in enumerate(shape, 1):
        lines.append("    " * depth + ("k:" if one == "k" else "- k:"))
    return "\n".join(lines) + f" {end}\n"


def test_both_readers_count_depth_the_same() -> None:
    accepted = 0
    for depth in range(8):
        for shape, end in product(product("k-", repeat=depth), ("x", "[x]", "[]", "\n" + " " * 40 + "- x")):
            text = _nested(shape, end)
            fast = read_fast(text)
            assert fast is None or read_full(text) == (fast, ()), text
            accepted += fast is not None
    assert accepted > 50


@pytest.mark.parametrize("bracket", ["[", "{", "[{"])
def test_run_of_brackets_is_rejected_before_scanning(bracket: str) -> None:
    root, problems = read_header("id: x\nlinks: " + bracket * 3000 + "\n")

    assert root is None
    assert [(one.code, one.line, one.column) for one in problems] == [("depth", 2, 8)]
