"""Snippets: ellipses where text is missing, lines where the document has them, marks on the words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.index_support import document, find_hits, new_store, put
from thunderus_mem.cli.commands.search import _folded
from thunderus_mem.index.database import create
from thunderus_mem.index.refresh import open_index
from thunderus_mem.index.sqlite_index import SqliteIndex
from thunderus_mem.search.query import parse_query
from thunderus_mem.search.snippets import ELLIPSIS, WIDTH, Snippets

if TYPE_CHECKING:
    from pathlib import Path

    from thunderus_mem.search.search import Hit


LONG = "word " * 60


def hit_of(root: Path, body: str, words: str = "needle") -> Hit:
    layout = new_store(root)
    put(layout, "a.md", document("fact.a", body))
    index, _ = open_index(layout)
    (hit,) = find_hits(index, parse_query(words), root=layout.root)
    return hit


def test_complete_passage_has_no_ellipsis(tmp_path: Path) -> None:
    assert hit_of(tmp_path, "A needle here.\n").snippet == "A needle here."


def test_missing_text_is_marked_by_an_ellipsis(tmp_path: Path) -> None:
    snippet = hit_of(tmp_path, f"{LONG}needle {LONG}\n").snippet
    assert snippet.startswith(f"{ELLIPSIS} word word")
    assert snippet.endswith(f"word word {ELLIPSIS}")
    assert "needle" in snippet


def test_text_missing_only_at_the_end(tmp_path: Path) -> None:
    snippet = hit_of(tmp_path, f"The needle {LONG}\n").snippet
    assert snippet.startswith("The needle word")
    assert snippet.endswith(f"word {ELLIPSIS}")


def test_text_missing_only_at_the_beginning(tmp_path: Path) -> None:
    snippet = hit_of(tmp_path, f"{LONG}the needle.\n").snippet
    assert snippet.startswith(f"{ELLIPSIS} word")
    assert snippet.endswith("the needle.")


@pytest.mark.parametrize(
    "lines",
    [
        "- one\n- a needle\n  - inner",
        "1. one\n2. a needle\n3. three",
        "* one\n* a needle",
        "| a | b |\n|---|---|\n| needle | c |",
        "> said\n> the needle",
        "```\nx = 1\nneedle = 2\n```",
        "One paragraph.\n\nThe needle.",
    ],
)
def test_lines_are_kept(tmp_path: Path, lines: str) -> None:
    assert hit_of(tmp_path, f"{lines}\n").snippet == lines


def test_lines_of_a_paragraph_are_joined(tmp_path: Path) -> None:
    body = "The needle\nin the hay.\n- one\nmore of one\n"
    assert hit_of(tmp_path, body).snippet == "The needle in the hay.\n- one more of one"


def test_list_is_cut_between_items(tmp_path: Path) -> None:
    items = [f"- item {number} with some text in it" for number in range(20)]
    items[10] = "- the needle"
    first, *middle, last = hit_of(tmp_path, "\n".join(items) + "\n").snippet.split("\n")
    assert (first, last) == (ELLIPSIS, ELLIPSIS)
    assert "- the needle" in middle
    assert set(middle) <= set(items)


def test_marks_are_ranges_of_the_snippet(tmp_path: Path) -> None:
    hit = hit_of(tmp_path, f"- {LONG}\n- a needle\n- two needles\n- {LONG}\n")
    assert [hit.snippet[start:end] for start, end in hit.marks] == ["needle", "needles"]


@settings(deadline=None, max_examples=150, derandomize=True)
@given(
    st.lists(
        st.sampled_from(
            ["needle", "word", "a-b", "\n", "\n\n", "\n- ", "\n1. ", "\n> ", "```\n", "\t", "x" * 90, "é"]
        ),
        max_size=90,
    )
)
def test_any_snippet_is_a_part_of_the_text_with_its_words_marked(parts: list[str]) -> None:
    text = " ".join(parts)
    snippets = Snippets("", SqliteIndex(create()), "needle", whole=False)
    cut, marks = snippets._cut(text)
    assert all(cut[start:end] == "needle" for start, end in marks)
    assert bool(marks) == ("needle" in parts)
    flat = " ".join(text.split())
    inner = " ".join(cut.removeprefix(ELLIPSIS).removesuffix(ELLIPSIS).split())
    assert inner in flat
    assert cut.startswith(ELLIPSIS) or flat.startswith(inner)
    assert cut.endswith(ELLIPSIS) or flat.endswith(inner)
    assert len(cut) <= WIDTH + 4


def test_list_items_hang_below_their_text() -> None:
    text = "- one two three four five\n  1. six seven\n\nplain text of the end"
    assert list(_folded(text, 24)) == [
        "- one two three four",
        "  five",
        "  1. six seven",
        "plain text of the",
        "end",
    ]
    assert list(_folded(text, None)) == [
        "- one two three four five",
        "  1. six seven",
        "plain text of the end",
    ]
