from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from thunderus_mem.search.search import ANSWER, CLOSEST, after_successors, is_answer, relevance

ROWS = st.lists(st.integers(1, 9), unique=True, max_size=9)
MARGINS = st.floats(0, 1)
MATCHES = st.lists(st.tuples(st.booleans(), st.integers(1, 99)), min_size=1, max_size=8)


@settings(deadline=None, max_examples=200, derandomize=True)
@given(ROWS, st.dictionaries(st.integers(1, 9), st.integers(0, 9), max_size=9))
def test_document_never_ranks_above_its_successor(ordered: list[int], successors: dict[int, int]) -> None:
    tree = {old: new for old, new in successors.items() if new > old or new == 0}
    placed = after_successors(ordered, tree)
    place = {row: at for at, row in enumerate(placed)}
    assert len(place) == len(placed)
    assert set(ordered) <= set(place)
    assert all(place[new] < place[old] for old, new in tree.items() if new and old in place)


@settings(deadline=None, max_examples=200, derandomize=True)
@given(ROWS)
def test_current_documents_keep_their_order(ordered: list[int]) -> None:
    assert after_successors(ordered, {}) == ordered


def test_supersession_cycle_terminates() -> None:
    assert sorted(after_successors([1, 2], {1: 2, 2: 1})) == [1, 2]


def test_successor_is_directly_above_the_superseded_document() -> None:
    assert after_successors([4, 1, 5], {1: 2, 2: 3}) == [4, 3, 2, 1, 5]
    assert after_successors([4, 1, 3], {1: 3}) == [4, 3, 1]


@settings(deadline=None, max_examples=200, derandomize=True)
@given(MATCHES, st.integers(0, 7), MARGINS)
def test_another_matched_word_never_lowers_the_relevance(
    words: list[tuple[bool, int]], at: int, margin: float
) -> None:
    matched, holders = [has for has, _ in words], [count for _, count in words]
    more = [has or place == at for place, has in enumerate(matched)]
    assert 0 < relevance(matched, holders, 100, margin) <= relevance(more, holders, 100, margin) < 1


@settings(deadline=None, max_examples=200, derandomize=True)
@given(MATCHES, MARGINS, MARGINS)
def test_lead_over_other_documents_raises_the_relevance(
    words: list[tuple[bool, int]], one: float, other: float
) -> None:
    matched, holders = [has for has, _ in words], [count for _, count in words]
    low, high = (relevance(matched, holders, 100, margin) for margin in sorted((one, other)))
    assert low <= high


@settings(deadline=None, max_examples=200, derandomize=True)
@given(MATCHES, MARGINS)
def test_word_in_no_document_is_evidence_against_an_answer(
    words: list[tuple[bool, int]], margin: float
) -> None:
    matched, holders = [has for has, _ in words], [count for _, count in words]
    known = relevance([*matched, False], [*holders, 1], 100, margin)
    assert relevance([*matched, False], [*holders, 0], 100, margin) < known


@settings(deadline=None, max_examples=200, derandomize=True)
@given(st.lists(st.integers(1, 99), min_size=2, max_size=8))
def test_one_shared_word_of_several_is_no_answer(holders: list[int]) -> None:
    matched = [place == 0 for place in range(len(holders))]
    assert not is_answer(matched, relevance(matched, holders, 100, 1.0))


def test_passage_with_all_words_is_an_answer() -> None:
    assert is_answer([True], 0.0)
    assert is_answer([True, True], 0.0)


def test_common_words_are_no_answer_where_others_are_missing() -> None:
    matched, holders = [True, True, True, False, False], [60, 50, 70, 2, 1]
    assert not is_answer(matched, relevance(matched, holders, 100, 0.1))


def test_rare_words_are_an_answer_where_common_ones_are_missing() -> None:
    matched, holders = [True, True, True, False, False], [2, 1, 4, 60, 50]
    assert is_answer(matched, relevance(matched, holders, 100, 0.1))


def test_mostly_unknown_words_have_no_closest_hits() -> None:
    assert relevance([True, False, False], [2, 0, 0], 100, 1.0) < CLOSEST
    assert relevance([True, True, False], [50, 60, 0], 100, 0.1) < CLOSEST < ANSWER


def test_length_of_a_pasted_text_is_no_evidence() -> None:
    words = [place % 5 == 0 for place in range(40)]
    assert relevance(words, [20] * 40, 100, 0.1) < CLOSEST
