"""Code mentioned in code spans and links: files, places in them, names; never an exception."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from thunderus_mem.document.anchors import CodeWord, code_words
from thunderus_mem.document.paths import is_code

NAMES = {
    "issue_token": ("issue_token",),
    "issue_token()": ("issue_token",),
    "issue_token(user, key=hash(1)) -> str": ("issue_token",),
    "Token.issue": ("Token", "issue"),
    "self.token": ("token",),
    "this.token()": ("token",),
    "auth::jwt::issue": ("auth", "jwt", "issue"),
    "Token#issue": ("Token", "issue"),
    "token->issue": ("token", "issue"),
    "token?.issue()": ("token", "issue"),
    "async def issue_token(user)": ("issue_token",),
    "pub struct Token": ("Token",),
    "@cached": ("cached",),
    "&Token": ("Token",),
    "Vec<Token>": ("Vec",),
    "println!": ("println",),
    "naïve_größe": ("naïve_größe",),
}


@pytest.mark.parametrize("code", NAMES)
def test_code_span_with_a_name(code: str) -> None:
    (word,) = code_words(f"See `{code}`.")
    assert (word.name, word.called) == (NAMES[code], "(" in code)


@pytest.mark.parametrize(
    "code",
    [
        "pip install x",
        "a + b",
        "x = issue()",
        "first().second()",
        "issue(",
        "--flag",
        '"text"',
        "42",
        "$HOME",
        "…",
        "<b>",
    ],
)
def test_code_span_without_a_single_name(code: str) -> None:
    assert code_words(f"See `{code}`.") == ()


@pytest.mark.parametrize(
    ("code", "path", "symbol", "lines"),
    [
        ("src/jwt.py", "src/jwt.py", "", None),
        ("src/jwt.py:40", "src/jwt.py", "", (40, 40)),
        ("src/jwt.py:40-44", "src/jwt.py", "", (40, 44)),
        ("src/jwt.py:40:7", "src/jwt.py", "", (40, 40)),
        ("src/jwt.py#L40-L44", "src/jwt.py", "", (40, 44)),
        ("src/jwt.py#Token.issue", "src/jwt.py", "Token.issue", None),
        ("src/jwt.py#issue()", "src/jwt.py", "issue", None),
        ("tests/test_jwt.py::TestToken::test_issue", "tests/test_jwt.py", "TestToken.test_issue", None),
        ("src/auth/", "src/auth/", "", None),
    ],
)
def test_code_span_with_a_place(code: str, path: str, symbol: str, lines: tuple[int, int] | None) -> None:
    (word,) = code_words(f"One.\n\nSee `{code}`.")
    assert (word.path, word.symbol, word.lines, word.line) == (path, symbol, lines, 3)


def test_links_are_relative_to_the_document() -> None:
    text = "See [it](../../src/jwt.py#L3-L5), [web](https://x.org/a.py) and [other](other.md#Title).\n"
    first, second = code_words(text, ".thunderus/memory")
    assert (first.path, first.lines) == ("src/jwt.py", (3, 5))
    assert (second.path, second.lines) == (".thunderus/memory/other.md", None)


def test_ambiguous_name_is_name_and_path_and_fenced_code_is_ignored() -> None:
    (word,) = code_words("```\n`fenced`\n```\n\n`app.go`\n")
    assert (word.path, word.name) == ("app.go", ("app", "go"))


@settings(deadline=None, max_examples=300, derandomize=True)
@given(st.text() | st.text(alphabet="`.:#()[]ab_\n/-> L1<"))
def test_any_text_is_accepted(text: str) -> None:
    count = text.count("\n") + 1
    for word in code_words(text):
        assert isinstance(word, CodeWord)
        assert 1 <= word.paragraph <= word.line <= count
        assert word.path or word.name
        assert word.code.isprintable()


@pytest.mark.parametrize(
    "path", ["a.py", "src/x.rs", "Makefile", "d/Dockerfile", "x.TSX", "a.sql", "b.swift"]
)
def test_code_is_recognized_by_file_name(path: str) -> None:
    assert is_code(path)


@pytest.mark.parametrize("path", ["a.md", "x.json", "LICENSE", ".py", "a.b.toml", "py", "docs/x.rst", ""])
def test_other_files_are_not_code(path: str) -> None:
    assert not is_code(path)


@pytest.mark.parametrize(
    ("code", "symbol"),
    [
        ("p.c#limit(int, char *)", "limit(int, char *)"),
        ("p.cc#A::limit(std::string)", "A.limit(std::string)"),
        ("p.c#limit()", "limit"),
        ("p.c#limit~2", "limit~2"),
    ],
)
def test_code_span_with_a_selector(code: str, symbol: str) -> None:
    (word,) = code_words(f"See `{code}`.")
    assert (word.path, word.symbol) == (code.partition("#")[0], symbol)
