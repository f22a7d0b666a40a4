"""Languages with several grammars: the first that reads a text without an error is used, so the suffix of the
file does not matter, and the same text has the same tokens in each of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.code_scene import Scene
from thunderus_mem.fingerprint import definitions, languages
from thunderus_mem.fingerprint.source import CodeSource
from thunderus_mem.fingerprint.walk import TokenWalk

if TYPE_CHECKING:
    from pathlib import Path

LIMIT = """\
export function limit(value, most = 100) {
  if (value?.count > most) {
    throw new RangeError(`at most ${most} values, not ${value.count}`)
  }
  return [...value].map((one) => one.name).filter(Boolean).slice(0, most)
}
"""
PLAIN = (
    LIMIT,
    "class A extends B.C { #x = 1; static y = 2; get z() { return this.#x } constructor(a, b = 2) {} }\n",
    "const f = async (a, {b = 1, ...c}, [d, , e] = []) => { for await (const x of a) yield_(x?.[0]?.(b)) }\n",
    "label: for (let i = 0, n = 9; i < n; i++) { if (i in a) continue label; else delete a[i] }\n",
    "export default function* g() { yield* [1, 0x10, 1_000n, /a+/gi, `x${y}`] }\n",
    "import a, { b as c } from 'd'\nexport * from 'e'\nvar x = a ? b : c ** 2 ?? d, y = new Z\n",
)
HEADERS = (
    "#ifndef A_H\n#define A_H 1\nint limit(int a, ...);\n#endif\n",
    "static inline int limit(int *a, int n) { while (n--) if (a[n] > 100 && !a[0]) return a[n]; }\n",
    "int limit(int n) { switch (n) { case 1: break; default: do { n++; } while (n < 3); } return 1; }\n",
    "struct box { int size; struct box *next; void (*free)(struct box *); };\ntypedef unsigned long big;\n",
    "enum color { RED, GREEN = 2 };\nextern const char *name[3];\nunion both { int a; float b; };\n",
)


def readings(language: str, text: str) -> list[tuple[list[str], list[tuple[str, int, int]]]]:
    """The tokens and definitions of a text by each grammar that reads it without an error."""
    rules, tables = languages.LANGUAGES[language]
    found = []
    for grammar, table in tables.items():
        root = definitions.parse(text, grammar)
        if not definitions.faults(root, rules.empty):
            walk = TokenWalk(text, rules)
            walk.run([root])
            named = [(one.name, one.first, one.last) for one in definitions.locate(text, root, table)]
            found.append((walk.tokens, named))
    return found


@pytest.mark.parametrize("text", PLAIN)
def test_every_grammar_of_scripts_gives_the_same_tokens(text: str) -> None:
    first, *others = readings("ecma", text)
    assert len(others) == 2
    assert others == [first, first]


@pytest.mark.parametrize("text", HEADERS)
def test_both_grammars_of_headers_give_the_same_tokens(text: str) -> None:
    first, *others = readings("c-header", text)
    assert others == [first]


@pytest.mark.parametrize(
    ("first", "grammar", "second", "other"),
    [
        ("const a = <b>c</b>\n", "tsx", "const a = <B>c\n", "typescript"),
        ("class A { x: number = 1 }\n", "tsx", "var interface = a?.5:1\n", "javascript"),
        ("class A { int b; };\n", "cpp", "int limit(class)\nint class;\n{ return class; }\n", "c"),
    ],
)
def test_first_grammar_without_an_error_is_used(first: str, grammar: str, second: str, other: str) -> None:
    language = "c-header" if grammar == "cpp" else "ecma"
    tables = list(languages.LANGUAGES[language].tables)
    found = [definitions.parse_with(text, tables, frozenset()) for text in (first, second)]
    assert [(one.grammar, one.faults) for one in found] == [(grammar, []), (other, [])]


def test_grammar_with_the_fewest_errors_reads_the_rest() -> None:
    tables = list(languages.LANGUAGES["ecma"].tables)
    found = definitions.parse_with(
        "const a = <B>c\nfunction f() { return 1 }\nlet = = ;\n", tables, frozenset()
    )
    assert (found.grammar, found.faults) == ("typescript", [3])


@pytest.mark.parametrize("suffix", ["mjs", "cjs", "jsx", "ts", "mts", "cts", "tsx"])
def test_renamed_script_keeps_its_fingerprints(suffix: str) -> None:
    one, other = CodeSource("a.js", LIMIT.encode()), CodeSource(f"a.{suffix}", LIMIT.encode())
    assert one.whole() == other.whole()
    assert one.find("limit")[0].fingerprint == other.find("limit")[0].fingerprint
    assert one.find("limit")[0].fingerprint.scheme == "ecma"


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [("", "", "moved"), ("(value, most = 100)", "(value: Value[], most = 100)", "changed")],
)
def test_script_that_becomes_typed_has_changed(tmp_path: Path, old: str, new: str, expected: str) -> None:
    scene = Scene(tmp_path / "code")
    scene.write("limit.js", LIMIT)
    base = scene.commit()
    anchor = scene.anchor("limit.js#limit")
    scene.repository.git("mv", "limit.js", "limit.ts")
    scene.change("limit.ts", old, new)
    scene.commit()
    verdict = scene.verdict(anchor, base)
    assert (verdict.status, verdict.found and verdict.found.path) == (expected, "limit.ts")
    assert scene.verdict(anchor).status == expected
