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


def places(path: str, text: str) -> list[tuple[str, int, int]]:
    return [(one.name, one.first, one.last) for one in CodeSource(path, text.encode()).definitions()]


def test_every_underlined_heading_is_a_definition() -> None:
    text = "One\n===\n\na\n\nTwo\n---\n\nb\n\nThree\n-----\n\n### Four\n\nc\n\n## Five\n\nd\n\nSix\n===\n"
    assert places("a.md", text[: text.index("## Five")]) == [
        ("One", 1, 16),
        ("One.Two", 6, 9),
        ("One.Three", 11, 16),
        ("One.Three.Four", 14, 16),
    ]
    read, changed = (CodeSource("a.md", one.encode()) for one in (text, text.replace("c\n", "e\n")))
    moved = {
        one.name for one in read.definitions() if changed.find(one.name)[0].fingerprint != one.fingerprint
    }
    assert moved == {"One", "One.Three", "One.Three.Four"}


def test_underlined_heading_has_the_same_fingerprint_as_one_with_hash_signs() -> None:
    one = CodeSource("a.md", b"# One\n\n## Two\n\na\n\n## Three\n\nb")
    other = CodeSource("a.md", b"One\n===\n\nTwo\n---\n\na\n\nThree\n---\n\nb\n")
    assert [(d.name, d.fingerprint) for d in one.definitions()] == [
        (d.name, d.fingerprint) for d in other.definitions()
    ]


def test_underlined_title_holds_the_sections_behind_it() -> None:
    assert places("a.md", "One\n===\n\n## Two\n\na\n\n# Three\n") == [
        ("One", 1, 6),
        ("One.Two", 4, 6),
        ("Three", 8, 8),
    ]


def test_underlined_heading_in_a_list_or_quote_is_no_definition() -> None:
    assert names("a.md", "> a\n> ===\n\n- b\n  ---\n") == []


@pytest.mark.parametrize("end", ["", "\n"])
def test_heading_at_the_end_of_a_file_needs_no_line_break(end: str) -> None:
    source = CodeSource("a.md", f"a\n\n# b{end}".encode())
    assert not source.broken
    assert names("a.md", f"a\n\n# b{end}") == ["b"]


def test_toml_keys_are_those_of_the_tables() -> None:
    text = (
        'x = 1\n"q r" = 2\n[tool.a]\n  b = [\n  "c", # x\n  "d = 1",\n  [1],\n]\n\n# about\n'
        'm = """\nz = 1\n"""\n[[e.\'f.g\']]\nh.i = {j = 1}\n'
    )
    assert places("a.toml", text) == [
        ("x", 1, 1),
        ("q r", 2, 2),
        ("tool.a", 3, 13),
        ("tool.a.b", 4, 10),
        ("tool.a.m", 11, 13),
        ("e.f.g", 14, 15),
        ("e.f.g.h.i", 15, 15),
    ]


def test_makefile_names_are_targets_and_variables() -> None:
    rules = ".PHONY: a b\na b: c\n\tx: y\n\n"
    text = rules + "X := 1\nY ::= 2\nexport Z=3\nifdef X\n  W != w\nendif\n%.o: %.c\n\tcc\n"
    assert places("Makefile", text) == [
        (".PHONY", 1, 1),
        ("a", 2, 3),
        ("b", 2, 3),
        ("X", 5, 5),
        ("Y", 6, 6),
        ("Z", 7, 8),
        ("W", 9, 10),
        ("%.o", 11, 12),
    ]


DETACHED = {
    "here-document.rb": ("class A\n  F = <<X.strip\n old\nX\nend\n", "A.F"),
    "here-documents.rb": ("A = <<X; F = [<<X, <<Y]\na\nX\nb\nX\nold\nY\n", "F"),
    "condition.rb": ("F = <<X unless defined? F\nold\nX\n", "F"),
    "method.rb": ("def f; <<X; end\nold\nX\n", "f"),
    "nested.rb": ("class A\n  F = { a: [<<X, 1],\nold\nX\n }\nend\n", "A.F"),
    "function.dart": ("int f(int a) {\n  return old;\n}\n", "f"),
    "method.dart": ("class A {\n  @override\n  int f() => old;\n}\n", "A.f"),
    "getter.kt": ("class A {\n  val f: Int\n    // why\n    get() = old\n}\n", "A.f"),
    "setter.kt": ("var f = 1\n  get() = 1\n  set(v) {\n    old\n  }\n", "f"),
    "redirect.sh": ("f() {\n  cat\n} <<X\nold\nX\n", "f"),
}
"""Definitions whose bodies are not in the node of the definition."""


@pytest.mark.parametrize("path", DETACHED)
def test_detached_body_belongs_to_its_definition(path: str) -> None:
    text, name = DETACHED[path]
    before, after = (CodeSource(path, body.encode()) for body in (text, text.replace("old", "new")))
    assert not before.broken
    was, now = (one.find(name)[-1] for one in (before, after))
    assert was.name == name
    assert was.fingerprint.hash != now.fingerprint.hash
    assert was.last >= text[: text.index("old")].count("\n") + 1


def test_here_document_of_another_constant_on_the_line_does_not_count() -> None:
    text = "A = <<X; F = <<X; B = <<X\na\nX\nold\nX\nb\nX\n"
    before, after = (CodeSource("a.rb", body.encode()) for body in (text, text.replace("old", "new")))
    changed = [
        one.name
        for one, other in zip(before.definitions(), after.definitions(), strict=True)
        if one.fingerprint != other.fingerprint
    ]
    assert changed == ["F"]
