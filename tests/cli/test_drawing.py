"""Markdown on a terminal: its layout, nothing hidden, and no terminal controls."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from thunderus_mem.cli.console import with_visible_characters
from thunderus_mem.cli.drawing import MAX_DRAWN, markdown
from thunderus_mem.cli.text import Style, look, unmarked


class Paper:
    """The part of a console that rendering uses."""

    def __init__(self, *, colored: bool = True) -> None:
        self.style = Style(colored=colored)


def drawn(text: str, room: int = 80, *, colored: bool = True) -> str:
    return markdown(text, Paper(colored=colored), room)  # type: ignore[arg-type]


def bare(text: str, room: int = 80) -> str:
    return unmarked(drawn(text, room))


def test_any_style_becomes_an_escape_or_is_removed_without_color() -> None:
    text = look("a", switches=(True, False, True), colour=4) + look("b", colour=11) + look("c")
    assert Style(colored=True).paint(text) == "\x1b[1;3;34ma\x1b[0m\x1b[93mb\x1b[0mc"
    assert Style(colored=False).paint(text) == "abc"
    assert unmarked(text) == "abc"


def test_headings_lists_quotes_code_and_tables() -> None:
    text = (
        "# One\n\nwords *em*\n\n- a\n  - b\n\n1. x\n2. y\n\n> said\n\n```python\nif a: pass\n```\n\n"
        "| k | v |\n|---|--:|\n| a | 1 |\n"
    )
    assert bare(text) == (
        "One\n\nwords em\n\n • a\n    • b\n\n 1. x\n 2. y\n\n▌ said\n\n    if a: pass\n\nk   v\n─────\na   1"
    )


def test_loose_list_items_are_separated() -> None:
    assert bare("- a\n\n  more\n- b\n") == " • a\n\n   more\n\n • b"
    assert bare("- a\n- b\n") == " • a\n • b"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("[a](b)", "a (b)"),
        ('[a](b "title")', 'a (b "title")'),
        ("<https://x.example>", "https://x.example"),
        ("[`a` *b*](c)", "a b (c)"),
        ("![alt](src 't')", '[image: alt] (src "t")'),
        ("[a][r]\n\n[r]: target 'more'", 'a (target "more")'),
        ("[//]: # (a comment)", "[//]: # (a comment)"),
        ("<!-- a comment -->", "    <!-- a comment -->"),
        ("a <b>c</b> </kbd>", "a <b>c</b> </kbd>"),
        ("```\ncode\n```", "    code"),
        ("```sh hidden words\ncode\n```", "    sh hidden words\n    code"),
        ("```hidden_words\ncode\n```", "    hidden_words\n    code"),
        ("| a |\n|---|\n| b | hidden |", "| a |\n|---|\n| b | hidden |"),
        ("> " * 21 + "deep", "> " * 21 + "deep"),
        ("- " * 30 + "deep", "- " * 30 + "deep"),
    ],
)
def test_parts_hidden_by_markdown_are_shown(text: str, shown: str) -> None:
    assert bare(text) == shown


def test_entity_does_not_bypass_the_control_character_filter() -> None:
    for entity in ("&#27;", "&#x202e;", "&#8238;", "&rlm;", "&shy;", "&#155;", "&zwj;", "&#0;"):
        assert (
            re.search(
                "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u200b-\u200f\u202a-\u202e]",
                with_visible_characters(drawn(entity)),
            )
            is None
        )


def test_very_long_text_is_printed_unchanged() -> None:
    text = "# a\n" + "word " * (MAX_DRAWN // 5)
    assert drawn(text) == text


def test_prose_wraps_at_100_columns_and_tables_may_be_wider() -> None:
    assert max(map(len, bare("word " * 100, 140).splitlines())) <= 100
    row = f"| a | {'word ' * 25}|\n"
    assert max(map(len, bare("| a | b |\n|---|---|\n" + row, 140).splitlines())) > 100


# fmt: off
_MARKS = [
    "α", "βγ", "-", "1.", ">", "#", "*", "**", "_", "`", "```", "~~~", "[", "]", "(", ")", "](", "][", "]:",
    "<", ">", "<!--", "-->", "<b>", "!", "![", "|", "|-|", "---", "\\", "&", "&amp;", "\t", "'", '"', "~~", "http://α",
    "=", ":", " ", "\n", "\n\n", "    ", "\n|-|-|\n", "&#8238;",
]
# fmt: on
PIECES = st.lists(st.sampled_from(_MARKS), max_size=40).map("".join)


@settings(deadline=None, max_examples=300, derandomize=True)
@given(PIECES, st.sampled_from([10, 30, 80]))
def test_every_letter_of_a_text_is_visible(text: str, room: int) -> None:
    from urllib.parse import unquote

    shown = unquote(bare(text, room))
    if "]:" in text:  # labels of definitions are used up
        return
    for letter in "αβγ":
        assert shown.count(letter) >= text.count(letter)


@settings(deadline=None, max_examples=100, derandomize=True)
@given(st.text(max_size=60))
def test_any_text_is_rendered(text: str) -> None:
    clean = with_visible_characters(text)
    assert re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f]", with_visible_characters(drawn(clean))) is None
