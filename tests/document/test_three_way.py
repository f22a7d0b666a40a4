"""Merging two changes of one text: nothing of either is lost, and overlaps are conflicts."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from thunderus_mem.document.diff import apply_diff, main_line_end, reversed_diff, three_way, unified_diff

LINES = st.lists(st.sampled_from(["a", "b", "c", "", " d", "-e", "+f", "@@ -1 +1 @@"]), max_size=9)
ENDS = st.sampled_from(["\n", "\r\n"])
TEXTS = st.builds(lambda lines, last: "\n".join(lines) + last, LINES, st.sampled_from(["", "\n"]))
BASE = "".join(f"{n}\n" for n in range(10))


@settings(deadline=None, max_examples=200, derandomize=True)
@given(TEXTS, TEXTS, ENDS)
def test_change_of_an_unchanged_text_is_that_change(base: str, theirs: str, end: str) -> None:
    ours = base.replace("\n", end)
    wanted = theirs.replace("\n", main_line_end(ours))
    assert three_way(base, ours, theirs) == wanted


@settings(deadline=None, max_examples=100, derandomize=True)
@given(TEXTS, TEXTS)
def test_no_change_keeps_ours(base: str, ours: str) -> None:
    assert three_way(base, ours, base) == ours
    assert three_way(base, ours, ours) == ours


@settings(deadline=None, max_examples=200, derandomize=True)
@given(TEXTS, TEXTS, TEXTS, st.integers(0, 9))
def test_merge_is_symmetric(base: str, ours: str, theirs: str, apart: int) -> None:
    assert three_way(base, ours, theirs, apart=apart) == three_way(base, theirs, ours, apart=apart)


@settings(deadline=None, max_examples=200, derandomize=True)
@given(TEXTS, TEXTS)
def test_reversed_diff_restores_the_old_text(old: str, new: str) -> None:
    diff = unified_diff(old, new, "d.md")
    assert diff is not None
    assert apply_diff(new, reversed_diff(diff)) == old
    assert reversed_diff(reversed_diff(diff)) == diff


@pytest.mark.parametrize(
    ("ours", "theirs", "joined"),
    [
        (BASE.replace("2\n", "two\n"), BASE.replace("7\n", "seven\n"), True),
        (BASE.replace("2\n", ""), BASE.replace("7\n", "7\nmore\n"), True),
        (BASE.replace("2\n", "two\n"), BASE.replace("2\n", "zwei\n"), False),
        (BASE.replace("2\n", "two\n"), BASE.replace("3\n", "three\n"), False),
        (BASE.replace("2\n", "2\nx\n"), BASE.replace("2\n", "2\ny\n"), False),
        (BASE.replace("2\n3\n", ""), BASE.replace("3\n", "three\n"), False),
    ],
)
def test_changes_merge_unless_they_overlap(ours: str, theirs: str, joined: bool) -> None:
    result = three_way(BASE, ours, theirs)
    assert (result is not None) is joined
    if result is not None:
        changed = set(ours.split()) ^ set(BASE.split()) | set(theirs.split()) ^ set(BASE.split())
        assert set(result.split()) ^ set(BASE.split()) == changed


def test_adjacent_lines_merge_in_the_header() -> None:
    ours, theirs = BASE.replace("2\n", "two\n"), BASE.replace("3\n", "")
    assert three_way(BASE, ours, theirs, apart=5) == ours.replace("3\n", "")
    assert three_way(BASE, BASE.replace("2\n", "2\nx\n"), BASE.replace("2\n", ""), apart=5) == (
        BASE.replace("2\n", "x\n")
    )
    assert three_way(BASE, ours, theirs, apart=3) is None
    same_point = BASE.replace("2\n", "2\nx\n"), BASE.replace("2\n", "2\ny\n")
    assert three_way(BASE, *same_point, apart=9) is None


def test_mixed_line_ends_of_unchanged_lines_are_kept() -> None:
    ours = "a\r\nb\nc\r\nd\r\n"
    assert three_way("a\nb\nc\nd\n", ours, "a\nb\nc\nnew\nd\n") == "a\r\nb\nc\r\nnew\r\nd\r\n"
    assert three_way("a\nb\n", "a\rb\n", "a\nb\nc\n") == "a\rb\nc\n"


def test_texts_that_differ_too_much_are_not_compared() -> None:
    many = "".join(f"line {n}\n" for n in range(5_000))
    assert three_way(many, many.upper(), many + "x\n") is None
