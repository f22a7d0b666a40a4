"""Any bytes have a fingerprint, or a reason why not; never an exception."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from thunderus_mem.fingerprint import definitions
from thunderus_mem.fingerprint import source as source_module
from thunderus_mem.fingerprint.definitions import FAILS, SLOW, UNTRIED, find_kinds, parse
from thunderus_mem.fingerprint.languages import LANGUAGES
from thunderus_mem.fingerprint.source import CodeSource, ordinary, parse_fingerprint, same_measure

SUFFIXES = [
    "py", "js", "ts", "tsx", "go", "rs", "java", "c", "cpp", "cs", "rb",
    "kt", "swift", "php", "scala", "sh", "lua", "ex", "hs", "css", "json", "yaml",
    "html", "md", "tf", "nix", "sol", "dart", "zig", "toml", "mk", "txt",
]  # fmt: skip
PIECES = st.sampled_from(
    [
        b"def f():\n",
        b"  return 1\n",
        b"class A {",
        b"}",
        b"(",
        b")",
        b"[",
        b"'",
        b'"',
        b'"""',
        b"`",
        b"${",
        b"\\",
        b"\n",
        b"\r",
        b"\r\n",
        b"\t",
        b"<<<<<<< a\n",
        b"=======\n",
        b">>>>>>> b\n",
        b"\xff",
        b"\xed\xa0\x80",
        b"# x",
        b"//",
        b"/*",
        b"*/",
        b"<a>",
        b"</a>",
        b"f'{",
        b"=>",
        b"fn a() {",
        b"func (t *T) a() {",
        b"\x01",
        b"a: b",
        b"- ",
        b"\xef\xbb\xbf",
        b"\xc3\xa9",
    ]
)


def everything(source: CodeSource) -> None:
    """Everything that can be computed from a source."""
    for one in source.definitions():
        assert parse_fingerprint(str(one.fingerprint)) == one.fingerprint
        assert 1 <= one.first <= one.last <= source.text.count("\n") + 1
        assert one in source.find(one.name)
        assert one.broken in (True, False)
    assert parse_fingerprint(str(source.whole())) == source.whole()
    lines = source.of_lines(1, 3)
    assert lines is None or parse_fingerprint(str(lines)) == lines
    assert source.of_lines(10_000_000, 10_000_001) is None
    assert source.of_lines(0, 1) is None
    assert bool(source.trouble_at) == source.broken


@pytest.mark.parametrize("suffix", SUFFIXES)
@given(data=st.lists(PIECES, max_size=12).map(b"".join))
@settings(deadline=None, max_examples=5, derandomize=True)
def test_any_bytes_have_a_fingerprint_or_a_reason(suffix: str, data: bytes) -> None:
    everything(CodeSource(f"a.{suffix}", data))


HOSTILE = {
    "binary": b"\x00\x01",
    "empty": b"",
    "blank": b"\n",
    "large": b"x = 1\n" * 400_000,
    "deep": b"(" * 100_000,
    "texts in texts": b'"${' * 600,
    "lists in lists": b"- " * 600 + b"a\n",
    "quotes in quotes": b"> " * 600 + b"a\n",
    "keys in keys": b"".join(b" " * at + b"a:\n" for at in range(300)),
    "ever deeper": b"".join(b" " * at + b"if a:\n" for at in range(300)),
    "signs": b"x = " + b"- " * 1_000 + b"1",
    "tags": b"<a>" * 300,
    "half tags": b"<a " * 700,
    "nested without brackets": b"def a\n" * 300,
}
"""Some of these crash the process that parses them, by an assertion in native code."""


PAIRS = [(suffix, name) for name in HOSTILE for suffix in SUFFIXES]
_EACH = 5
"""Coprime to the number of suffixes: a share has every name, and every suffix."""


@pytest.mark.parametrize(
    ("suffix", "name"),
    [
        *PAIRS[::_EACH],
        *(pytest.param(*PAIRS[at], marks=pytest.mark.faults) for at in range(len(PAIRS)) if at % _EACH),
    ],
)
def test_hostile_files(suffix: str, name: str) -> None:
    everything(CodeSource(f"a\nb/-c.{suffix}", HOSTILE[name]))


@pytest.mark.parametrize(
    ("suffix", "name"),
    [
        ("kt", "texts in texts"),
        ("yaml", "lists in lists"),
        ("yaml", "keys in keys"),
        ("md", "lists in lists"),
        ("md", "quotes in quotes"),
    ],
)
def test_crashing_file_is_not_parsed_in_this_process(
    suffix: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for limit in ("_MAX_DEPTH", "_MOST_MARKS", "_MAX_INDENTS"):
        monkeypatch.setattr(source_module, limit, 1_000_000)
    source = CodeSource(f"a.{suffix}", HOSTILE[name])
    assert source.trouble == FAILS
    everything(source)


def test_slow_parse_is_aborted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(definitions, "_SECONDS", 1)
    source = CodeSource("a.cs", b"<" * 300_000)
    assert source.trouble == SLOW
    everything(source)


def test_unusual_files_are_parsed_when_the_parser_survives() -> None:
    row = b"x = [" + b"1, " * 2_000 + b"]\n"
    source = CodeSource("a.py", row + b"def f(): pass\n")
    assert not ordinary(row, "python")
    assert (source.trouble, [one.name for one in source.definitions()]) == ("", ["x", "f"])


MANY = "".join(Random(1).choices("([", k=90))
BRACES = MANY.replace("[", "{")


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.py", f'x = "{MANY}"\n'),
        ("a.py", f"x = 1  # {MANY}\n"),
        ("a.py", f'def x():\n    """Nested:\n\n    {MANY}\n    """\n'),
        ("a.c", f'char *x = "{BRACES}";\n'),
        ("a.js", f"const x = '\\'{BRACES}'\n"),
        ("a.go", f"package a\n\n/* {MANY}\n {MANY} */\nvar x = 1\n"),
        ("a.rs", f"// {MANY}\nfn x<'a>(y: &'a T) {{}}\n"),
        ("a.kt", f'val x = "{MANY}"\n'),
        ("a.lua", f"-- {MANY}\nx = 1\n"),
        ("a.json", f'{{"x": "{MANY}"}}\n'),
        ("a.sh", f"x='{MANY}'\n"),
    ],
)
def test_brackets_in_strings_and_comments_are_not_nested(
    path: str, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr("os.fork")
    source = CodeSource(path, text.encode())
    assert source.trouble == ""
    assert [one.name for one in source.definitions()] == ["x"]


def test_file_with_many_brackets_in_strings_is_not_rejected() -> None:
    source = CodeSource("a.py", (f'x = "{MANY}"\n' * 4).encode())
    assert (source.trouble, len(source.definitions())) == ("", 4)
    assert CodeSource("a.py", f"x = {MANY * 4}\n".encode()).trouble.startswith("brackets nested")


@pytest.mark.parametrize("start", ["", "//", "/*", "'", '"', "'//", "\\"])
def test_nested_expressions_in_strings_are_counted(start: str) -> None:
    data = f'val x = {start}"${{\n'.encode() * 300
    assert source_module.depth(data, "kotlin") == 300


@given(data=st.lists(PIECES, max_size=60).map(b"".join))
@settings(deadline=None, derandomize=True)
def test_text_that_is_not_counted_opens_no_expression(data: bytes) -> None:
    kept = source_module._texts("kotlin").sub(b"", data)
    assert [kept.count(mark) for mark in (b"{", b"$")] == [data.count(mark) for mark in (b"{", b"$")]
    assert kept.count(b"\\(") >= data.count(b"\\(") - data.count(b"\\\\(")


def test_unusual_files_are_rejected_without_a_child_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr("os.fork")
    assert CodeSource("a.py", b"x = [" + b"1, " * 2_000 + b"]\n").trouble == UNTRIED
    assert CodeSource("a.py", b"def f(): pass\n").find("f")


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"x" * 3_000_000, "too large: 3.0 MB, over the limit of 2 MB"),
        (b"a\x00b", "binary"),
        (b"(" * 5_000, "brackets nested more than 200 levels deep"),
        (b"a;" * 8_000, "minified"),
    ],
)
def test_unusable_bytes_have_a_reason(data: bytes, reason: str) -> None:
    source = CodeSource("a.js", data)
    assert source.trouble == reason
    assert (source.language, source.definitions(), source.of_lines(1, 1)) == ("", (), None)
    assert source.whole().scheme == "bytes"


def test_trouble_of_the_caller_comes_first() -> None:
    assert CodeSource("a.py", b"", "is a link").trouble == "is a link"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "latin-1"])
def test_encodings_and_line_ends_do_not_change_the_fingerprint(encoding: str) -> None:
    text = "def f():\n    return 'é'\nx = 2\n"
    expected = CodeSource("a.py", text.encode()).whole()
    for ends in ("\n", "\r\n", "\r"):
        assert CodeSource("a.py", text.replace("\n", ends).encode(encoding)).whole() == expected


def test_conflict_markers_break_only_the_definition_around_them() -> None:
    text = "def f():\n    return 1\n<<<<<<< a\ndef g(): pass\n=======\ndef g(): return\n>>>>>>> b\n"
    source = CodeSource("a.py", text.encode())
    assert source.broken
    assert source.trouble_at == 3
    assert [one.broken for one in source.find("f")] == [False]
    assert all(one.broken for one in source.find("g"))
    assert CodeSource("a.toml", text.encode()).broken


@pytest.mark.parametrize("language", sorted(LANGUAGES))
def test_kinds_in_the_tables_exist_in_the_grammar(language: str) -> None:
    for grammar, table in LANGUAGES[language].tables.items():
        assert find_kinds(parse("", grammar), [*table.kinds, *table.wrappers, *table.before]) is not None


def test_different_schemes_are_not_compared() -> None:
    script, python = CodeSource("a.js", b"f(a)").whole(), CodeSource("a.py", b"f(a)").whole()
    assert not same_measure(script, python)
    assert same_measure(script, CodeSource("b.mjs", b"f(b)").whole())


@pytest.mark.parametrize(
    "text", ["", "python", "python@0.51/1:abc:-:1", "x@/1:" + "0" * 20 + ":-:1:zz", "1" * 5000]
)
def test_invalid_fingerprint_is_none(text: str) -> None:
    assert parse_fingerprint(text) is None
