"""Git's conflict markers: found only if they form a complete conflict."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from thunderus_mem.merge.documents import (
    Block,
    examples_in,
    find_conflict,
    marked,
    parse,
    refined,
    sides,
    two_way,
)

LAWS = settings(deadline=None, max_examples=200, derandomize=True)
MARKS = st.sampled_from(
    [
        "<<<<<<<",
        "<<<<<<< a",
        "=======",
        ">>>>>>>",
        ">>>>>>> b",
        "||||||| o",
        "<<<<<<<<",
        "========",
        ">>>>>>>> b",
    ]
)
TEXTS = st.lists(MARKS | st.sampled_from(["one", "two", "", "======= no", "<<<<<<<x"]), max_size=14)


def blocks(text: str) -> list[Block]:
    return [part for part in parse(text) if isinstance(part, Block)]


def test_conflict_has_two_sides_and_two_labels() -> None:
    text = "a\n<<<<<<< HEAD\nmine\n=======\ntheirs\n>>>>>>> topic/x y\nz\n"
    assert parse(text) == (
        "a\n",
        Block("mine\n", "theirs\n", None, ("HEAD", "topic/x y"), (2, 4, 6)),
        "z\n",
    )
    assert find_conflict(text) == (2, 4, 6)
    assert sides(parse(text)) == (None, "a\nmine\nz\n", "a\ntheirs\nz\n")


def test_base_in_diff3_style() -> None:
    text = "<<<<<<< a\n1\n||||||| o\n0\n=======\n2\n>>>>>>> b\n<<<<<<< a\n||||||| o\n=======\n>>>>>>> b"
    assert [block.base for block in blocks(text)] == ["0\n", ""]
    assert sides(parse(text)).base == "0\n"
    assert sides(parse(f"{text}\n<<<<<<< a\n=======\n>>>>>>> b\n")).base is None


def test_longer_markers_and_nested_conflicts() -> None:
    inner = "<<<<<<<<< x\n5\n=========\n6\n>>>>>>>>> y\n"
    text = f"<<<<<<<< HEAD:b.md\n1\n|||||||| o\n{inner}========\n2\n>>>>>>>> topic:c.md\n"
    (block,) = blocks(text)
    assert (block.ours, block.base, block.theirs) == ("1\n", inner, "2\n")


def test_windows_line_ends() -> None:
    text = marked("1\r\n", "2\r\n", ("a", "b"), "\r\n")
    assert blocks(text) == [Block("1\r\n", "2\r\n", None, ("a", "b"), (1, 3, 5))]


def test_second_middle_marker_makes_a_conflict_doubtful() -> None:
    assert blocks("<<<<<<<\n1\n=======\n2\n=======\n3\n>>>>>>>\n")[0].doubtful
    assert not blocks("<<<<<<<\n1\n=======\n2\n========\n3\n>>>>>>>\n")[0].doubtful


@pytest.mark.parametrize(
    "text",
    [
        "",
        "<<<<<<<\n",
        "<<<<<<<\n1\n>>>>>>>\n",
        "=======\n>>>>>>>\n<<<<<<<\n",
        " <<<<<<<\n=======\n>>>>>>>\n",
        "<<<<<<< a\n======= b\n>>>>>>>\n",
        "<<<<<<<x\n=======\n>>>>>>>\n",
        "<<<<<<<\n========\n>>>>>>>\n",
    ],
)
def test_incomplete_markers_are_not_a_conflict(text: str) -> None:
    assert find_conflict(text) == ()
    assert "".join(part for part in parse(text) if isinstance(part, str)) == text


def test_example_is_text() -> None:
    shown = "<<<<<<< a\n1\n=======\n2\n>>>>>>> b\n"
    examples = examples_in(f"x\n{shown}", None)
    assert parse(f"{shown}y\n", examples) == (f"{shown}y\n",)
    assert len(parse(f"{shown}{shown.replace('1', '3')}", examples)) == 2
    assert refined(shown, "\n", examples) == shown


@given(TEXTS, st.booleans())
@LAWS
def test_parts_add_up_to_the_text(lines: list[str], ended: bool) -> None:
    text = "\n".join(lines) + ("\n" if ended else "")
    rows = text.split("\n")
    at = 0
    for part in parse(text):
        if isinstance(part, str):
            assert text.startswith(part, at)
            at += len(part)
        else:
            first, middle, last = part.lines
            assert rows[first - 1].startswith("<<<<<<<")
            assert rows[middle - 1].startswith("=======")
            assert rows[last - 1].startswith(">>>>>>>")
            assert text.count("\n", 0, at) == first - 1
            at = sum(len(row) + 1 for row in rows[:last])
    assert at >= len(text)


@given(st.lists(st.sampled_from("abcdefg"), max_size=9), st.lists(st.sampled_from("abcdefg"), max_size=9))
@LAWS
def test_refined_keeps_both_sides_and_separates_common_lines(ours: list[str], theirs: list[str]) -> None:
    mine, other = ("".join(f"{line}\n" for line in lines) for lines in (ours, theirs))
    text = refined(two_way(mine, other, ("a", "b")))
    both = sides(parse(text))
    assert (both.ours, both.theirs) == (mine, other)
    for block in blocks(text):
        assert block.ours.split("\n")[0] != block.theirs.split("\n")[0]
    assert refined(text) == text


def test_blank_lines_do_not_split_a_conflict() -> None:
    text = two_way("1\n\n2\n", "3\n\n4\n", ("a", "b"))
    assert refined(text) == text
    assert len(blocks(refined(two_way("1\nsame\n2\n", "3\nsame\n4\n", ("a", "b"))))) == 2


@pytest.mark.parametrize(
    "lines",
    [
        ["<<<<<<<", "=======", ">>>>>>>"],
        ["<<<<<<<"],
        [">>>>>>>", "<<<<<<<"],
        ["<<<<<<<", "=======", "======="],
    ],
)
def test_parsing_a_megabyte_of_markers_is_linear(lines: list[str]) -> None:
    """More than one pass would exceed the test's time limit."""
    text = "".join(f"{line}\n" for line in lines) * (125_000 // len(lines))
    assert len(parse(text)) in (1, 125_000 // 3)
