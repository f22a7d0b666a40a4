"""Steps that build on each other: the effect of rejecting the first one on the later one."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.conftest import PROJECT, sealed_environment
from tests.support.order_support import document_text
from tests.support.review_support import SAME, Store
from tests.support.verify_store import verify
from thunderus_mem.garden.apply import garden_plan
from thunderus_mem.lint.lint import lint
from thunderus_mem.review.decisions import review_approve, review_reject

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """Two duplicates, the first with a tag to be respelled."""
    store = Store(tmp_path).begin()
    store.put("a.md", document_text("fact.a", SAME, title="Waiting", tags=["Unit_Test", "ci"]))
    store.put("b.md", document_text("fact.b", SAME, title="Waiting", tags=["ci"], day="2026-02-01"))
    usual = ["unit-test", "code-review", "dead-link", "build-step", "ci"]
    store.put("c.md", document_text("fact.c", "Quite another thing.\n", tags=usual))
    store.put("u.md", document_text("fact.u", "A third one.\n", tags=["unit-test", "ci"]))
    return store


def rules(store: Store) -> list[str]:
    return [step.rule for step in garden_plan(store.memory()).applicable]


def test_proposals_apply_to_the_current_memory(store: Store) -> None:
    assert rules(store) == ["duplicates", "tags"]
    filed = store.propose()
    assert [one.action for one in filed.proposals] == ["merge-duplicates", "respell-tags"]
    assert filed.skipped == ()
    assert store.propose().proposals == ()
    assert rules(store) == []


@pytest.mark.parametrize("first", [0, 1])
def test_proposals_can_be_approved_in_either_order(store: Store, first: int) -> None:
    ids = [one.id for one in store.propose().proposals]
    for id in (ids[first], ids[1 - first]):
        decided = review_approve(store.memory(), [id], rebase=True)
        assert [one.state for one in decided.decisions] == ["approved"]
    assert not store.path("b.md").exists()
    assert "unit-test" in store.path("a.md").read_text()
    assert "Unit_Test" not in store.path("a.md").read_text()
    assert garden_plan(store.memory()).applicable == ()
    assert verify(str(store.root), settled=True) == []


def test_step_does_not_build_on_a_rejected_step(store: Store) -> None:
    merging, respelling = (one.id for one in store.propose().proposals)
    review_reject(store.memory(), [merging], why="Two readers")
    assert review_approve(store.memory(), [respelling]).decisions[0].state == "approved"
    assert store.path("b.md").exists()


def test_applied_steps_do_not_build_on_rejected_ones(store: Store) -> None:
    merging, respelling = (one.id for one in store.propose().proposals)
    review_reject(store.memory(), [merging], why="Two readers")
    store.path(f".thunderus/patches/{respelling}.json").unlink()
    assert rules(store) == ["tags"]
    applied = store.garden()
    assert [one.action for one in applied.steps] == ["respell-tags"]
    assert applied.skipped == ()
    assert rules(store) == []
    assert store.path("b.md").exists()


DECISIONS = ".thunderus/memory/semantic/DECISIONS"


def decisions(store: Store) -> None:
    """Two decisions with the same number, and a tag with two spellings."""
    for name, day in (("x", "2026-01-01"), ("y", "2026-01-02")):
        text = document_text(f"adr.{name}", f"We do {name}.\n", tags=["Unit_Test", "ci"], day=day)
        store.put(f"{DECISIONS}/ADR-0001-{name}.md", text)
    for name in ("d", "e"):
        store.put(f"{name}.md", document_text(f"fact.{name}", f"What {name} does.\n", tags=["unit-test"]))


def run(store: Store, *words: str, fail: str = "") -> int:
    home = store.root / "home"
    home.mkdir(exist_ok=True)
    # Later than every time the store has seen.
    later = {"THUNDERUS_MEM_NOW": "2026-01-21T10:00:00Z", "THUNDERUS_MEM_SEED": str(7 + len(fail))}
    environment = {**sealed_environment(home), **later}
    if fail:
        environment |= {"FAILPOINT": fail, "PYTHONPATH": str(PROJECT)}
    command = [sys.executable, "-m", "tests.support.failpoints", *words]
    return subprocess.run(
        command, cwd=store.root, env=environment, capture_output=True, check=False
    ).returncode


def test_interrupted_run_is_recovered_before_the_next_plan(store: Store) -> None:
    decisions(store)
    assert run(store, "garden", "--apply", fail="after-rename-taken:kill:2") == 137
    assert not store.path(f"{DECISIONS}/ADR-0001-y.md").exists()
    assert not store.path(f"{DECISIONS}/ADR-0002-y.md").exists()
    assert run(store, "garden", "--apply") == 0
    assert "Unit_Test" not in store.path(f"{DECISIONS}/ADR-0002-y.md").read_text()
    assert rules(store) == []


def test_interrupted_approval_is_finished_by_repeating_it(store: Store) -> None:
    decisions(store)
    (id,) = (one.id for one in store.propose().proposals if one.action == "renumber")
    assert run(store, "review", "approve", id, fail="after-rename-taken:kill:1") == 137
    assert not store.path(f"{DECISIONS}/ADR-0001-y.md").exists()
    assert run(store, "review", "approve", id) == 4, "it was approved"
    assert store.path(f"{DECISIONS}/ADR-0002-y.md").exists()
    assert not store.path(f"{DECISIONS}/ADR-0001-y.md").exists()
    assert verify(str(store.root), settled=True) == []


def test_links_to_a_merged_document_are_repaired_in_the_same_run(store: Store) -> None:
    store.put("c.md", document_text("fact.c", "See [[b]], [[b.md]] and [[fact.b]].\n", tags=["ci"]))
    more = "links:\n  refers_to:\n    - b\n    - fact.c\n  supersedes: [fact.b]\n"
    store.put("a.md", document_text("fact.a", SAME, title="Waiting", tags=["ci"], more=more))
    more = "links:\n  refers_to:\n    - b\n"
    store.put("u.md", document_text("fact.u", "A third one.\n", tags=["ci"], more=more))
    applied = store.garden()
    assert [one.action for one in applied.steps] == ["merge-duplicates", "mend-links", "mend-links"]
    assert garden_plan(store.memory()).applicable == ()
    assert "See [[fact.a]], [[fact.a]] and [[fact.b]]." in store.path("c.md").read_text()
    assert "refers_to:\n    - fact.a\n" in store.path("u.md").read_text()
    text = store.path("a.md").read_text()
    assert "  refers_to:\n    - fact.c\n" in text
    assert "supersedes" not in text
    assert [one.rule for one in lint(store.memory()).diagnostics if one.rule.startswith("TM2")] == []
