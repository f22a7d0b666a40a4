"""The gardener and the review queue with a clock that is set back between any two commands."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.support.review_support import Store
from tests.support.undo_support import restore_last
from tests.support.verify_store import verify
from thunderus_mem.authoring import edit
from thunderus_mem.authoring.edit import DocumentEdits, archive, unarchive
from thunderus_mem.errors import NotFound
from thunderus_mem.garden.apply import garden_plan
from thunderus_mem.history.log import events_verify
from thunderus_mem.history.replay import replay_check
from thunderus_mem.history.reverse import UndoChoice
from thunderus_mem.history.undo import snapshots, undo
from thunderus_mem.recap import recap
from thunderus_mem.review.decisions import review_approve, review_expire, review_reject
from thunderus_mem.review.queue import queue_state, review_list

if TYPE_CHECKING:
    from pathlib import Path


class Clock:
    """Each call sets the store's clock back; ``commits``: git has a commit in between, so that what follows
    is in another session."""

    def __init__(self, store: Store, days: int, *, commits: bool) -> None:
        self.store = store
        self.days = days
        self.commits = commits

    def back(self) -> None:
        self.store.days -= self.days
        self.store.turn = 0 if not self.days else self.store.turn
        if self.commits:
            for words in (("add", "-A"), ("commit", "-q", "--allow-empty", "-m", "x")):
                subprocess.run(["git", *words], cwd=self.store.root, check=True, capture_output=True)


@pytest.fixture(params=[(1, False), (1, True), (4_000, True)], ids=["a day", "a day and a commit", "years"])
def clock(request: pytest.FixtureRequest, repo: Path) -> Clock:
    days, commits = request.param
    store = Store(repo).begin()
    store.twins()
    return Clock(store, days, commits=commits)


def test_run_is_undone_and_redone(clock: Clock) -> None:
    store = clock.store
    before = store.bytes()
    clock.back()
    assert len(store.garden().steps) == 1
    after = store.bytes()
    for _ in range(2):
        clock.back()
        assert restore_last(store.memory()).events
        assert store.bytes() == before
        with pytest.raises(NotFound):
            restore_last(store.memory())
        assert snapshots(store.memory()).snapshots[0].is_restored
        clock.back()
        undo(store.memory(), UndoChoice(redo=True))
        assert store.bytes() == after
    assert verify(str(store.root)) == []
    assert replay_check(store.memory()).unexplained == 0
    assert [one.rule for one in events_verify(store.memory()).diagnostics] == []


def test_decisions_persist(clock: Clock) -> None:
    store = clock.store
    clock.back()
    (filed,) = store.propose().proposals
    clock.back()
    assert store.propose().proposals == ()
    assert review_list(store.memory()).proposals[0].age_days == 0
    assert queue_state(store.memory()).expired == 0
    assert review_expire(store.memory()).decisions == ()
    clock.back()
    assert [one.state for one in review_reject(store.memory(), [filed.id], why="no").decisions] == [
        "rejected"
    ]
    clock.back()
    assert garden_plan(store.memory()).steps == ()
    edit.edit(store.memory(), "fact.twin-a", DocumentEdits(add_tags=["new"]))
    patch = edit.edit(store.agent(), "fact.twin-b", DocumentEdits(add_tags=["new"])).proposed
    clock.back()
    assert [one.state for one in review_approve(store.memory(), [patch]).decisions] == ["approved"]
    assert store.patches() == []
    assert verify(str(store.root)) == []
    assert replay_check(store.memory()).unexplained == 0


def test_archive_and_recaps(clock: Clock) -> None:
    store = clock.store
    clock.back()
    archive(store.memory(), ["fact.twin-a"])
    clock.back()
    unarchive(store.memory(), ["fact.twin-a"])
    made = recap.recap(store.memory(), store.events("patch")[-1].ts[:10])
    assert made.changed
    clock.back()
    again = recap.recap(store.memory(), made.id.removeprefix("recap."))
    assert not again.changed
    assert verify(str(store.root)) == []
    assert replay_check(store.memory()).unexplained == 0
