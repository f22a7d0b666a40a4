"""What a symbol means where its name is defined several times: all definitions with a body, or those that a
selector chooses."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fingerprint.test_code_cases import CASES, SUFFIX
from thunderus_mem.fingerprint.selectors import split_selector
from thunderus_mem.fingerprint.source import CodeSource, same_measure

if TYPE_CHECKING:
    from pathlib import Path

FILES = sorted(CASES.glob("*/named.txt"))


def answer(source: CodeSource, symbol: str) -> str:
    found = source.named(symbol)
    if found is None:
        return f"{symbol} = not defined"
    spans = ", ".join(f"{first}-{last}" for first, last in found.spans)
    parts = f" = {' | '.join(one.symbol for one in found.each())}" if found.is_several else ""
    return f"{symbol} = {spans}{parts}"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.parent.name)
def test_symbol_means_all_definitions_with_a_body(path: Path) -> None:
    written = path.read_text(encoding="utf-8")
    made = ""
    for block in written.split("===== ")[1:]:
        head, _, asked = block.partition("-----\n")
        title, _, code = head.partition("\n")
        source = CodeSource(f"a.{SUFFIX[path.parent.name]}", code.encode())
        assert not source.broken, (source.trouble_at, code)
        answers = [answer(source, line.partition(" = ")[0]) for line in asked.splitlines()]
        made += f"===== {title}\n{code}-----\n" + "".join(f"{line}\n" for line in answers)
    if os.environ.get("REWRITE_CASES"):
        path.write_text(made, encoding="utf-8")
    assert made == written


def test_cases_cover_the_languages_with_repeated_names() -> None:
    assert len(FILES) >= 15


def test_one_definition_has_its_own_fingerprint() -> None:
    source = CodeSource("a.c", b"int limit(int);\nint limit(int a) { return a; }\n")
    named = source.named("limit")
    assert named is not None
    assert str(named.fingerprint) == str(source.find("limit")[1].fingerprint)


BODIES = st.lists(st.integers(0, 5), min_size=2, max_size=5)
WRITTEN = {
    "c": ("int run(int);", "int run(int a) {{ return {}; }}"),
    "py": ("@overload\ndef run(a): ...", "def run(a):\n    return {}"),
    "ts": ("declare function run(a: number): void;", "function run(a: number) {{ return {}; }}"),
    "rs": ("trait A { fn run(a: u8); }", "impl A {{ fn run(a: u8) -> u8 {{ {} }} }}"),
}


def fingerprint(suffix: str, numbers: list[int], before: int = 0) -> str:
    stub, body = WRITTEN[suffix]
    text = "\n".join([*[stub] * before, *[body.format(number) for number in numbers]])
    named = CodeSource(f"a.{suffix}", f"{text}\n".encode()).named("A.run" if suffix == "rs" else "run")
    assert named is not None
    assert len(named.members) == len(numbers)
    return str(named.fingerprint)


@given(suffix=st.sampled_from(sorted(WRITTEN)), numbers=BODIES, data=st.data())
def test_order_does_not_matter_and_every_body_counts(
    suffix: str, numbers: list[int], data: st.DataObject
) -> None:
    written = fingerprint(suffix, numbers)
    assert fingerprint(suffix, data.draw(st.permutations(numbers))) == written
    assert fingerprint(suffix, numbers, before=data.draw(st.integers(1, 2))) == written
    at = data.draw(st.integers(0, len(numbers) - 1))
    edited = [*numbers[:at], numbers[at] + 10, *numbers[at + 1 :]]
    assert fingerprint(suffix, edited) != written
    assert fingerprint(suffix, numbers[1:]) != written


def test_several_definitions_have_a_scheme_of_their_own() -> None:
    source = CodeSource("a.py", b"def run(): return 1\ndef run(): return 2\n")
    named, one = source.named("run"), source.named("run~2")
    assert named is not None
    assert one is not None
    assert (named.fingerprint.scheme, one.fingerprint.scheme) == ("python+many", "python")
    assert named.fingerprint.size == sum(found.fingerprint.size for found in named.members)
    assert same_measure(named.fingerprint, one.fingerprint)


def test_renamed_definitions_have_the_same_shape() -> None:
    was = CodeSource("a.py", b"def run(): return run()\ndef run(): return 2\n").named("run")
    now = CodeSource("a.py", b"def go(): return 2\ndef go(): return go()\n").named("go")
    assert was is not None
    assert now is not None
    assert was.fingerprint.shape == now.fingerprint.shape
    assert was.fingerprint.hash != now.fingerprint.hash


@given(
    st.lists(st.sampled_from(["int", "Map<String, int>", "(Int) -> Int", "char *", "a.b[]"]), max_size=3),
    st.integers(0, 3),
)
def test_selector_is_read_as_written(types: list[str], nth: int) -> None:
    symbol = f"A::run({', '.join(types)})" + (f"~{nth}" if nth else "")
    read = split_selector(symbol)
    assert (read.name, read.nth) == ("A::run", nth)
    assert read.parameters is not None
    assert len(read.parameters) == len(types)
    assert split_selector(str(read)) == read
