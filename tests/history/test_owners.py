"""Line owners of versions, compared with a reference that is correct by construction."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from thunderus_mem.history.blame import Version, line_owners


@st.composite
def histories(draw: st.DrawFn) -> list[tuple[tuple[int, ...], set[int]]]:
    """Versions with up to two parents: each drops some of their lines and adds numbers of its own.

    A line is a unique random number, so insertions land anywhere.
    """
    numbers = iter(draw(st.permutations(range(60))))
    made: list[tuple[tuple[int, ...], set[int]]] = []
    for place in range(draw(st.integers(1, 8))):
        parents = draw(st.lists(st.integers(0, place - 1), max_size=2, unique=True)) if place else []
        inherited = set().union(*(made[parent][1] for parent in parents))
        kept = {line for line in sorted(inherited) if draw(st.booleans()) or draw(st.booleans())}
        fresh = {next(numbers) for _ in range(draw(st.integers(0, 5)))}
        made.append((tuple(parents), kept | fresh))
    return made


def lines(numbers: set[int]) -> list[str]:
    return [f"line {number}" for number in sorted(numbers)]


@settings(max_examples=200, deadline=None, derandomize=True)
@given(histories())
def test_line_belongs_to_the_version_that_added_it(
    history: list[tuple[tuple[int, ...], set[int]]],
) -> None:
    first: dict[int, int] = {}
    for place, (parents, numbers) in enumerate(history):
        inherited = set().union(*(history[parent][1] for parent in parents))
        first |= dict.fromkeys(numbers - inherited, place)
    versions = [Version(lines(numbers), place, parents) for place, (parents, numbers) in enumerate(history)]
    assert line_owners(versions) == [first[number] for number in sorted(history[-1][1])]


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.lists(st.lists(st.sampled_from(["", "a", "b", "---"]), max_size=12), min_size=1, max_size=6))
def test_repeated_line_has_one_owner_that_contained_it(texts: list[list[str]]) -> None:
    versions = [
        Version(text, place, (place - 1,) if place else (), {"b": -1}) for place, text in enumerate(texts)
    ]
    owners = line_owners(versions)
    assert len(owners) == len(texts[-1])
    for line, owner in zip(texts[-1], owners, strict=True):
        assert line in texts[owner] or owner == -1


def test_restored_line_belongs_to_the_restoring_version() -> None:
    versions = [Version(["a", "b"], 0), Version(["a"], 1, (0,)), Version(["a", "b"], 2, (1,))]
    assert line_owners(versions) == [0, 2]


def test_line_on_both_sides_belongs_to_the_first() -> None:
    versions = [Version(["x"], "ours"), Version(["x", "y"], "theirs"), Version(["x", "y"], "merge", (0, 1))]
    assert line_owners(versions) == ["ours", "theirs"]


def test_lines_from_another_document_keep_their_owner() -> None:
    lent = {"lent": "lender", "": "lender"}
    texts = ["---", "lent", "", "own", ""]
    assert line_owners([Version(texts, "own", (), lent)]) == ["own", "lender", "lender", "own", "own"]
    assert line_owners([]) == []
