from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from thunderus_mem.search.search import below_successors, covers, fuse

ROWS = st.lists(st.integers(1, 9), unique=True, max_size=9)


@settings(deadline=None, max_examples=200, derandomize=True)
@given(ROWS, ROWS, st.dictionaries(st.integers(1, 9), st.integers(0, 9), max_size=9))
def test_document_never_ranks_above_its_successor(
    documents: list[int], passages: list[int], superseded: dict[int, int]
) -> None:
    tree = {old: new for old, new in superseded.items() if new > old or new == 0}
    rows = range(1, 10)
    ordered = fuse(documents, passages, dict.fromkeys(rows, "unknown"), tree, {row: str(row) for row in rows})
    place = {candidate.row: at for at, candidate in enumerate(ordered)}
    assert set(place) == set(documents) | set(passages)
    assert all(place[new] < place[old] for old, new in tree.items() if old in place and new in place)


def test_supersession_cycle_terminates() -> None:
    ordered = fuse([1, 2], [], {1: "", 2: ""}, {1: 2, 2: 1}, {1: "a", 2: "b"})
    assert {candidate.row for candidate in below_successors(ordered, {1: 2, 2: 1})} == {1, 2}


def test_document_in_both_lists_ranks_above_one_in_either() -> None:
    ordered = fuse([1, 2], [3, 2], {1: "", 2: "", 3: ""}, {}, {1: "a", 2: "b", 3: "c"})
    assert ordered[0].row == 2


def test_common_word_alone_is_no_hit() -> None:
    assert not covers([True, False], [90, 2], 100)
    assert covers([False, True], [90, 2], 100)
    assert covers([True], [90], 100)


def test_title_word_matches_despite_an_unused_word() -> None:
    assert not covers([True, False], [25, 0], 145)
    assert covers([True, False], [25, 0], 145, [True, False])
    assert not covers([True, False, False], [25, 0, 0], 145, [True, False, False])
