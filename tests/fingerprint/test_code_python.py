"""Python code has the same fingerprint exactly when its ``ast`` is the same, ignoring docstrings."""

from __future__ import annotations

import ast
import io
import textwrap
import tokenize

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from thunderus_mem.fingerprint.source import CodeSource

LAWS = settings(deadline=None, max_examples=30, derandomize=True)
NAMES = st.sampled_from(["a", "b", "self", "x_1", "é"])
ATOMS = st.one_of(
    NAMES,
    st.integers(0, 300).map(str),
    st.sampled_from(
        ["1.0", "0x1F", "1_0", "2j", "None", "True", "...", "1e3", "'a'", '"b\\n"', "r'\\d'", "b'c'"]
    ),
    st.sampled_from(
        ["'it\\'s'", "('a' 'b')", "f'a{b}c'", "f'{a!r:>{b}}'", "f'{a=}'", "()", "[]", "{}", "(1,)"]
    ),
)


def compound(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    two = st.tuples(inner, inner)
    return st.one_of(
        st.tuples(inner, st.sampled_from(["+", "-", "**", "<", "and", "or", "not in", "|"]), inner)
        .map(lambda t: f"({t[0]}) {t[1]} ({t[2]})"),
        st.tuples(st.sampled_from(["not ", "-", "~"]), inner).map(lambda t: f"{t[0]}({t[1]})"),
        two.map(lambda t: f"a({t[0]}, b={t[1]})"),
        two.map(lambda t: f"a(*[{t[0]}], **{{'k': {t[1]}}})"),
        two.map(lambda t: f"({t[0]}, {t[1]})"),
        two.map(lambda t: f"[{t[0]}, ({t[1]})]"),
        two.map(lambda t: f"{{({t[0]}): {t[1]}}}"),
        two.map(lambda t: f"a[{t[0]}:{t[1]}]"),
        two.map(lambda t: f"a[{t[0]}, {t[1]}]"),
        two.map(lambda t: f"(({t[0]}) if a else ({t[1]}))"),
        inner.map(lambda t: f"(lambda a, *b: ({t}))"),
        inner.map(lambda t: f"[a for a in ({t}) if b]"),
        inner.map(lambda t: f"sum(a for a in ({t}))"),
        inner.map(lambda t: f"({t}).a"),
    )  # fmt: skip


EXPRESSIONS = st.recursive(ATOMS, compound, max_leaves=3)


def blocks(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    body = st.lists(inner, min_size=1, max_size=3).map(lambda t: textwrap.indent("\n".join(t), "    "))
    return st.one_of(
        st.tuples(EXPRESSIONS, body).map(lambda t: f"if {t[0]}:\n{t[1]}"),
        st.tuples(EXPRESSIONS, body, body).map(
            lambda t: f"if {t[0]}:\n{t[1]}\nelif b:\n{t[2]}\nelse:\n{t[1]}"
        ),
        st.tuples(EXPRESSIONS, body).map(lambda t: f"for a, b in {t[0]}:\n{t[1]}"),
        st.tuples(EXPRESSIONS, body).map(lambda t: f"with a({t[0]}) as a, (b):\n{t[1]}"),
        st.tuples(body, body).map(lambda t: f"try:\n{t[0]}\nexcept (A, B) as e:\n{t[1]}"),
        body.map(lambda t: f'def a(self, x: (int | None) = 1, *y, **z) -> list[int]:\n    """Doc."""\n{t}'),
        body.map(lambda t: f"@a.b(1)\nclass a(b):\n{t}"),
    )


SIMPLE = st.one_of(
    EXPRESSIONS,
    EXPRESSIONS.map(lambda t: f"a = {t}"),
    EXPRESSIONS.map(lambda t: f"a, b = {t}"),
    EXPRESSIONS.map(lambda t: f"a: dict[str, (int)] = {t}"),
    EXPRESSIONS.map(lambda t: f"b += {t}"),
    st.sampled_from(["pass", "import a.b", "from . import (a, b as c,)", "del (a)", "assert a, 'b'", "a, b"]),
)
PROGRAMS = st.lists(st.recursive(SIMPLE, blocks, max_leaves=3), min_size=1, max_size=2).map("\n".join)


def meaning(text: str) -> str:
    """The ``ast`` of a text without positions and docstrings."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
            and ast.get_docstring(node) is not None
        ):
            node.body = node.body[1:]
        if isinstance(node, ast.Constant):
            node.kind = None
    return ast.dump(tree)


def measured(text: str) -> str:
    source = CodeSource("a.py", text.encode())
    assert not source.trouble
    assert not source.broken, text
    return source.whole().hash


@given(PROGRAMS)
@LAWS
def test_reformatted_code_has_the_same_fingerprint(text: str) -> None:
    assert measured(ast.unparse(ast.parse(text))) == measured(text)


@given(PROGRAMS, PROGRAMS)
@LAWS
def test_fingerprints_are_equal_exactly_when_the_ast_is(one: str, other: str) -> None:
    assert (measured(one) == measured(other)) == (meaning(one) == meaning(other))


@given(PROGRAMS, st.data())
@settings(LAWS, max_examples=80)
def test_changed_token_matters_exactly_when_the_ast_changes(text: str, data: st.DataObject) -> None:
    tokens = [token for token in tokenize.generate_tokens(io.StringIO(text).readline) if token.string.strip()]
    token = data.draw(st.sampled_from(tokens))
    new = data.draw(
        st.sampled_from(
            [
                "",
                "a",
                "zz",
                "1",
                "2.5",
                "'q'",
                "+",
                "-",
                "<",
                "not",
                "and",
                "(",
                ")",
                ",",
                ":",
                "=",
                f"({token.string})",
            ]
            + [token.string + end for end in ("_", "  ", " # why\n", ",", "0", ".a")]
        )
    )
    lines = text.split("\n")
    row = lines[token.start[0] - 1]
    lines[token.start[0] - 1] = row[: token.start[1]] + new + row[token.end[1] :]
    changed = "\n".join(lines)
    try:
        equal = meaning(changed) == meaning(text)
    except SyntaxError:
        return
    source = CodeSource("a.py", changed.encode())
    if source.broken:
        return  # the grammar does not know all that is allowed: nothing is said of such a file
    if not changed.strip():
        return  # an empty file does not measure as one that has a docstring alone
    assert (source.whole().hash == measured(text)) == equal, changed


@given(PROGRAMS, st.data())
@LAWS
def test_space_and_comments_do_not_change_the_fingerprint(text: str, data: st.DataObject) -> None:
    changed = []
    depth = 0
    for line in text.split("\n"):
        depth += sum(map(line.count, "([{")) - sum(map(line.count, ")]}"))
        end = data.draw(st.sampled_from(["", "  ", "  # why", "\n\n", "\n# why"])) if depth == 0 else ""
        changed.append(line + end)
    other = "\n".join(changed).replace("\n", data.draw(st.sampled_from(["\n", "\r\n"])))
    assert measured(other) == measured(text)


def test_reference_measure_detects_changes() -> None:
    assert meaning("def f():\n    'a'\n    1") == meaning("def f():\n    1")
    assert meaning("a") != meaning("b")


@pytest.mark.parametrize(
    ("one", "other"),
    [("class A:\n    (i): int", "class A:\n    i: int"), ("x = 1,", "x = (1)"), ("a, b", "a; b")],
)
def test_small_changes_of_meaning_are_detected(one: str, other: str) -> None:
    assert measured(one) != measured(other)
