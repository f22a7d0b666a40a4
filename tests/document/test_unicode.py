"""Invisible characters are found, legitimate ones are not, and nothing unescaped reaches a terminal."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from thunderus_mem.document.unicode import find_invisible, visible


@pytest.mark.parametrize(
    "char",
    [
        "\u200b",
        "\u202e",
        "\u2066",
        "\ufeff",
        "\x1b",
        "\x07",
        "\x9b",
        "\x7f",
        "\u00ad",
        "\u2060",
        "\u115f",
        "\u1160",
        "\U000e0041",
        "\ufff9",
        "\x0c",
    ],
)
def test_invisible_character_is_found_with_its_position(char: str) -> None:
    assert [(one.char, one.start) for one in find_invisible(f"ab{char}c")] == [(char, 2)]
    assert find_invisible(f"ab{char}c")[0].name


@pytest.mark.parametrize(
    "text",
    [
        "\ufefftext",
        "a\tb\r\nc",
        "\U0001f468\u200d\U0001f469\u200d\U0001f467",
        "\u2764\ufe0f\u200d\U0001f525",
        "\U0001f3f3\ufe0f\u200d\U0001f308",
        "\U0001f468\U0001f3fd\u200d\U0001f4bb",
        "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
        "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
        "\u0915\u094d\u200d\u0937",
        "\u05e9\u05dc\u05d5\u05dd\u200f!",
        "\u845b\U000e0100",
        "Caf\u00e9 \u2014 \u201cquoted\u201d\u00a0\u2026",
    ],
)
def test_legitimate_characters_are_not_reported(text: str) -> None:
    assert find_invisible(text) == []


def test_smuggled_bytes_are_found() -> None:
    assert len(find_invisible("x\ufe01\ufe02\ufe03")) == 2
    assert len(find_invisible("x\U000e0101")) == 1
    assert len(find_invisible("a\u200db")) == 1


def test_visible_escapes_invisible_characters_only() -> None:
    assert visible("a\x1b[31m\u202eb\n\tc\r\u200b") == "a\\x1b[31m<U+202E>b\n\tc\\x0d<U+200B>"
    assert visible("\ud800") == "<U+D800>"
    assert visible("x\ufe01\ufe02\ufe03") == "x\ufe01<U+FE02><U+FE03>"
    assert visible("x\U000e0101\u115f") == "x<U+E0101><U+115F>"
    assert visible("\u2764\ufe0f") == "\u2764\ufe0f"
    family = "\U0001f468\u200d\U0001f469 Caf\u00e9"
    assert visible(family) == family


@settings(deadline=None, max_examples=300, derandomize=True)
@given(st.text(alphabet=st.characters(codec=None)))
def test_visible_leaves_no_control_characters(text: str) -> None:
    shown = visible(text)
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\u200b\ud800-\udfff]", shown)
    assert visible(shown) == shown
    assert find_invisible(shown) == []
