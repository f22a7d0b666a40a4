"""A family of duplicates: each document to be removed is proposed once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.index_support import document
from tests.support.review_support import Store
from thunderus_mem.garden.apply import garden_plan
from thunderus_mem.garden.plan import DocumentEdit, Step, make_plan
from thunderus_mem.review.decisions import patch_approve, patch_reject

if TYPE_CHECKING:
    from pathlib import Path

SHARED = (
    "The exporter writes one file a day into the bucket, and the importer reads that file at six in the "
    "morning. When the file is missing the importer waits for ten minutes and looks again, three times in "
    "all. After the third time it sends a mail to the people on duty and gives up until the next morning. "
    "Nobody has to start it again by hand, because the next run reads what the last one has left."
)
NAMES = ("exports-a", "exports-b", "exports-c")
ALSO = (
    "Staging has a bucket of its own.",
    "The format is explained in the handbook.",
    "Old files are compressed on Sundays.",
)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    made = Store(tmp_path).begin()
    for name, more in zip(NAMES, ALSO, strict=True):
        made.put(f"{name}.md", document(f"fact.{name}", f"{SHARED}\n\n{more}\n"))
    return made


def pairs(store: Store) -> list[tuple[str, ...]]:
    """The proposals of a plan, as (survivor, removed) pairs."""
    steps = garden_plan(store.memory(), apart=True).proposals
    return [tuple(target.removeprefix("fact.exports-") for target in step.targets) for step in steps]


def test_each_duplicate_is_proposed_once_into_the_survivor(store: Store) -> None:
    assert pairs(store) == [("a", "b"), ("a", "c")]
    assert len(store.propose().proposals) == 2
    again = store.propose()
    assert (again.proposals, again.waiting) == ((), 2)


def test_family_becomes_one_document(store: Store) -> None:
    rounds = 0
    while store.propose().proposals:
        patch_approve(store.memory(), every=True)
        rounds += 1
        assert rounds <= 2
    (left,) = [path for path in store.bytes() if "archive" not in path and "exports" in path]
    text = store.path(left).read_text()
    assert all(more in text for more in ALSO)


def test_rejected_proposal_allows_the_next_one(store: Store) -> None:
    store.propose()
    patch_reject(store.memory(), [store.patches()[-1]], why="c is for other readers")
    assert pairs(store) == [("b", "c")]
    assert len(store.propose().proposals) == 1
    patch_reject(store.memory(), [store.patches()[-1]], why="that one as well")
    assert pairs(store) == []


def joining(stays: str, leaves: str, rule: str = "similar", reach: str = "propose") -> Step:
    edits = (
        DocumentEdit(f"{stays}.md", stays, f"hash-{stays}", f"{stays} {leaves}"),
        DocumentEdit(f"{leaves}.md", leaves, f"hash-{leaves}", None, renames=True),
        DocumentEdit(f"archive/{leaves}.md", leaves, "", leaves, renames=True),
    )
    return Step("join", "", (), (stays, leaves), edits, rule=rule, reach=reach)  # type: ignore[arg-type]


def test_pending_proposal_suppresses_alternatives() -> None:
    steps = tuple(joining(*pair) for pair in ("ab", "ac", "bc"))
    plan = make_plan(steps, waiting={steps[2].key})
    assert plan.proposals == (steps[0],)
    assert plan.waiting == 1


def test_chain_keeps_its_links_and_steps_of_other_rules() -> None:
    chain = (joining("a", "b"), joining("b", "c"))
    assert make_plan(chain).proposals == chain
    two_ways = (joining("b", "d"), joining("c", "d"), joining("a", "b"), joining("a", "c"))
    assert [step.targets for step in make_plan(two_ways).proposals] == [("a", "b"), ("a", "c"), ("b", "d")]
    other = joining("b", "c", rule="other")
    assert other in make_plan((joining("a", "c"), other)).proposals
    carried_out = (joining("a", "c", reach="apply"), joining("b", "c", reach="apply"))
    assert make_plan(carried_out).applicable == carried_out
