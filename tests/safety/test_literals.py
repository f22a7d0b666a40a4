"""Literals found in one pass, and that only trying patterns at them loses no finding."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import PROJECT
from tests.safety.test_injection import HONEST, POISON
from thunderus_mem.safety import injection
from thunderus_mem.safety.injection import find_injections
from thunderus_mem.safety.injection_rules import HIDDEN, SIGNS, Sign
from thunderus_mem.safety.literals import Literals, lower, plain


def development() -> list[str]:
    path = os.path.join(PROJECT, "benchmarks", "safety", "development.jsonl")
    with open(path, encoding="utf-8") as lines:
        return [json.loads(line)["text"].replace("\u27e6\u27e7", "") for line in lines]


EXAMPLES = [text for sign in SIGNS for text in (sign.example, sign.counter)]
TEXTS = (*development(), *EXAMPLES, *POISON.values(), *HONEST.values())
PIECES = st.sampled_from((*EXAMPLES, "\n\n", "\n", "\u212a", "\u0130", "<div hidden>", "](", "```\n"))


def unfiltered_injections(text: str) -> list[injection.Injection]:
    """What `find_injections` finds if every pattern is tried everywhere."""

    def search(text: str) -> list[injection.Injection]:
        worded = [at for one in injection._likely_blocks(text) for at in one.worded]
        every = [injection._Likely(0, len(text), list(injection._STRONG), sorted(worded))]
        return injection._search(text, every, range(len(text)))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(injection, "_has", lambda words, sign: True)
        found = search(text)
        return search(injection._without_code(text)) if found else found


def filtered_injections(text: str) -> list[injection.Injection]:
    """What `find_injections` finds by signs and words; asides, pieces, calls and claims have none."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(injection, "ordering_asides", lambda text, spots: [])
        patch.setattr(injection, "orders_apart", lambda block: [])
        patch.setattr(injection, "calls", lambda text, spots: [])
        patch.setattr(injection, "_claims_order", lambda one, company: False)
        return find_injections(text)


def test_literals_find_the_same_with_and_without_the_automaton() -> None:
    known = [(b"he", 0), (b"she", 1), (b"hers", 2), (b"e", 3), (b"he", 4)]
    short, long = Literals(known), Literals(known)
    long._left = 0
    text = lower("uSHERs \u00e9 SHE he")
    assert short.rows == ([0, 4], [1], [2], [3])
    assert sorted(short.find(text)) == sorted(long.find(text))
    assert sorted(short.find(text))[:2] == [(0, 2, 4), (0, 10, 12)]
    assert "_automaton" in vars(long)
    assert "_automaton" not in vars(short)


def test_plain_text_has_the_words_at_their_offsets() -> None:
    text = "Ignore\u00a0**ALL** rules\u2019"
    assert plain(text) == b" ignore   all   rules  "
    assert plain(text).index(b" all ") == text.index("ALL")


def test_short_texts_load_no_automaton() -> None:
    program = (
        "import sys\n"
        "from thunderus_mem.safety.injection import find_injections\n"
        "assert not find_injections('Plain text.')\n"
        "sys.exit('ahocorasick_rs' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program], cwd=PROJECT, check=False).returncode == 0


def test_filter_loses_no_injection() -> None:
    assert [text for text in TEXTS if filtered_injections(text) != unfiltered_injections(text)] == []


@settings(deadline=None, max_examples=40, derandomize=True)
@given(st.lists(PIECES, min_size=1, max_size=6), st.sampled_from(["", " ", "\n"]), st.booleans())
def test_filter_loses_nothing_in_combined_texts(parts: list[str], between: str, capitals: bool) -> None:
    text = between.join(parts)
    text = text.upper() if capitals else text
    assert filtered_injections(text) == unfiltered_injections(text)


@pytest.mark.parametrize("sign", SIGNS, ids=lambda sign: sign.name)
def test_sign_finds_its_example_and_not_its_counter_example(sign: Sign) -> None:
    form = "<div hidden>{}</div>" if sign in HIDDEN else "{}\n"
    assert [one.says for one in find_injections(form.format(sign.example))] == [sign.message]
    assert find_injections(form.format(sign.counter)) == []


def test_every_example_contains_a_needed_literal() -> None:
    for sign in SIGNS:
        words = frozenset(plain(sign.example).split())
        assert not any(group.isdisjoint(words) for group in sign.needs), sign.name
    assert len({sign.name for sign in SIGNS}) == len(SIGNS) >= 30
