"""Kept lines: in increasing order, equal, and none that kept its order is missed."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from thunderus_mem.history.blame import NEW, kept_lines

REPEATED = st.lists(st.sampled_from(["", "a", "b", "c", "---", "}"]), max_size=30)


@settings(max_examples=300, deadline=None, derandomize=True)
@given(REPEATED, REPEATED)
def test_kept_lines_are_equal_and_in_order(old: list[str], new: list[str]) -> None:
    found = kept_lines(old, new)
    kept = [(place, at) for at, place in enumerate(found) if place != NEW]
    assert len(found) == len(new)
    assert all(old[place] == new[at] for place, at in kept)
    assert [place for place, _ in kept] == sorted({place for place, _ in kept})


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.lists(st.integers(0, 60), unique=True), st.lists(st.integers(0, 60), unique=True))
def test_every_distinct_line_in_order_is_found(first: list[int], second: list[int]) -> None:
    old, new = [f"line {n}" for n in sorted(first)], [f"line {n}" for n in sorted(second)]
    places = {line: at for at, line in enumerate(old)}
    assert kept_lines(old, new) == [places.get(line, NEW) for line in new]


def test_line_with_a_word_is_preferred_to_a_blank_one() -> None:
    assert kept_lines(["old", "", "stays"], ["new", "stays", "", "more"]) == [NEW, 2, NEW, NEW]


def test_common_ends_are_found_in_uniform_texts() -> None:
    old = ["first", *["same", "other"] * 5_000, "last"]
    new = ["first", *["other", "same", "same"] * 5_000, "last"]
    found = kept_lines(old, new)
    assert (found[0], found[-1]) == (0, len(old) - 1)
    assert kept_lines(["same"] * 20_000, ["same"] * 20_001) == [*range(20_000), NEW]
