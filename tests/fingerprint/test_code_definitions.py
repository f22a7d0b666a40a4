"""The definitions in a file, and that a definition has the same fingerprint wherever it is."""

from __future__ import annotations

import pytest

from thunderus_mem.fingerprint.source import CodeSource


def names(path: str, text: str) -> list[str]:
    return [one.name for one in CodeSource(path, text.encode()).definitions()]


@pytest.mark.parametrize("declared", ["var x T", "var x, y T = f()", "const x = 1", "type x struct{ a int }"])
def test_go_declaration_is_the_same_alone_and_in_a_group(declared: str) -> None:
    keyword, _, rest = declared.partition(" ")
    group = f"package a\n{keyword} (\n\t// It is x.\n\t{rest}\n\n\tz int\n)\n"
    if keyword == "const":
        group = group.replace("z int", "z = 2")
    alone, grouped = (CodeSource("a.go", text.encode()) for text in (f"package a\n{declared}\n", group))
    assert not alone.broken
    assert not grouped.broken
    assert alone.find("x")[0].fingerprint == grouped.find("x")[0].fingerprint
    assert alone.find("x")[0].fingerprint != grouped.find("z")[0].fingerprint


def test_go_constant_differs_from_variable() -> None:
    one, other = (CodeSource("a.go", f"package a\n{word} x = 1\n".encode()) for word in ("var", "const"))
    assert one.find("x")[0].fingerprint.hash != other.find("x")[0].fingerprint.hash


def test_conditional_python_names_are_definitions() -> None:
    text = (
        "try:\n    import ssl\nexcept ImportError:\n    ssl = None\nelse:\n    a = 1\nfinally:\n    b = 1\n"
        "if PY3:\n    text: type = str\nelif PY2:\n    text = unicode\nelse:\n    text = bytes\n"
        "with x:\n    c = 1\n"
        "class A:\n    if PY3:\n        d = 1\n"
        "def f():\n    if x:\n        e = 1\n"
        "for i in x:\n    g = 1\n"
    )
    assert names("a.py", text) == ["ssl", "a", "b", "text", "text", "text", "c", "A", "A.d", "f"]
    assert [one.first for one in CodeSource("a.py", text.encode()).find("text")] == [10, 12, 14]


def test_clauses_of_one_function_are_one_definition() -> None:
    haskell = "f :: Int -> Int\nf 0 = 1\nf n = g n\n  where g 1 = 2\n        g x = x\n\nh = f 2\n"
    source = CodeSource("a.hs", haskell.encode())
    found = [(one.kind, one.name, one.first, one.last) for one in source.definitions()]
    assert found == [
        ("signature", "f", 1, 1),
        ("function", "f", 2, 5),
        ("function", "f.g", 4, 5),
        ("const", "h", 7, 7),
    ]
    changed = CodeSource("a.hs", haskell.replace("f 0 = 1", "f 0 = 2").encode())
    assert source.find("f")[1].fingerprint.hash != changed.find("f")[1].fingerprint.hash
    assert source.find("h")[0].fingerprint == changed.find("h")[0].fingerprint


def test_elixir_clauses_are_joined() -> None:
    clauses = "  def f(0), do: 1\n\n  # Others.\n  def f(n) do\n    n\n  end\n"
    text = f"defmodule A do\n{clauses}\n  defp g(x), do: x\nend\n"
    source = CodeSource("a.ex", text.encode())
    found = [(one.name, one.first, one.last) for one in source.definitions()]
    assert found == [("A", 1, 10), ("A.f", 2, 7), ("A.g", 9, 9)]
    apart = CodeSource("a.ex", text.replace("  # Others.\n", "").encode())
    assert apart.find("A.f")[0].fingerprint == source.find("A.f")[0].fingerprint
