"""`undo` of a change that is in the log, but could not be written to its files yet."""

from __future__ import annotations

import os
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.failpoints import not_writable
from tests.support.undo_support import FACTS, Store, with_hand
from tests.support.verify_store import verify
from thunderus_mem.authoring import add, edit, show
from thunderus_mem.authoring.add import NewDocument
from thunderus_mem.authoring.edit import DocumentEdits
from thunderus_mem.authoring.rename import rename
from thunderus_mem.doctor.checks import doctor
from thunderus_mem.errors import Conflict, InvalidDocument, NotFound, NotWritable
from thunderus_mem.history.replay import replay_check
from thunderus_mem.memory.transaction import open_transaction
from thunderus_mem.store import disk

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return with_hand(tmp_path)


def note(store: Store) -> None:
    with open_transaction(store.memory(), "note") as transaction:
        transaction.note("on we go")


CHANGES: dict[str, Callable[[Store], Any]] = {
    "add": lambda store: add.add(store.memory(), NewDocument("fact", "New", body="It is new.", tags=("n",))),
    "edit": lambda store: edit.edit(store.memory(), "fact.hand", DocumentEdits(body="Now this.")),
    "remove": lambda store: edit.remove(store.memory(), "fact.hand", why="gone"),
    "rename": lambda store: rename(store.memory(), "fact.hand", "fact.alfa"),
    "supersede": lambda store: edit.supersede(store.memory(), "fact.other", "fact.hand", why="so")[0],
}


@pytest.mark.parametrize("change", CHANGES)
def test_change_that_waits_is_no_hand_edit(store: Store, change: str) -> None:
    with not_writable(store.root / FACTS):
        assert not CHANGES[change](store).published
        waiting = show.status(store.memory())
        assert (waiting.pending, waiting.unrecorded, waiting.gone) == (1, (), ())
        assert "edits" not in {check.name for check in doctor(store.memory()).checks}
        assert replay_check(store.memory()).diagnostics == ()
        note(store)
    note(store)
    assert store.ops()[-3:] == [change, "note", "note"]
    assert show.status(store.memory()).pending == 0
    assert replay_check(store.memory()).diagnostics == ()
    assert verify(str(store.root), settled=True) == []


@pytest.mark.parametrize("change", CHANGES)
def test_undo_aborts_a_change_that_waits(store: Store, change: str) -> None:
    before = store.documents()
    with not_writable(store.root / FACTS):
        assert not CHANGES[change](store).published
        event = store.last()
        planned = store.undo(dry_run=True)
        assert store.last() == event
        undone = store.undo()
        assert undone.published
        assert undone.events[0].is_aborted
        assert [(one.id, one.op) for one in planned.events[0].documents] == [
            (one.id, one.op) for one in undone.events[0].documents
        ]
        assert store.ops()[-1] == "aborted"
        assert store.last() == undone.events[0].undo_id
        assert os.listdir(store.root / ".thunderus/.staging") == []
    note(store)
    assert store.documents() == before
    assert show.status(store.memory()).unrecorded == ()
    assert replay_check(store.memory()).diagnostics == ()
    assert verify(str(store.root), settled=True) == []
    kept = [one.kept for one in undone.events[0].documents if one.kept]
    assert len(kept) == len(os.listdir(store.root / ".thunderus/.quarantine")) if kept else change == "remove"
    assert all((store.root / path).is_file() for path in kept)
    # It is undone: neither `undo` nor `--redo` chooses it again.
    with pytest.raises(NotFound, match="nothing to redo"):
        store.undo(redo=True)
    assert event not in [one.id for one in store.undo(dry_run=True).events]
    with pytest.raises(Conflict, match=f"already undone by {undone.events[0].undo_id}") as caught:
        store.undo(event)
    assert caught.value.hint == "repeat the command to redo it"
    with pytest.raises(InvalidDocument):
        store.undo(undone.events[0].undo_id)


@pytest.mark.parametrize("waits", ["rename", "link"])
def test_half_of_a_rename_that_waits_is_aborted_and_the_other_half_reverted(
    store: Store, waits: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = store.documents()

    def refuse(*given: object, **named: object) -> None:
        raise OSError(5, "no")

    with monkeypatch.context() as patch:
        patch.setattr(disk, waits, refuse)
        assert not CHANGES["rename"](store).published
    # The next write would finish it: publish neither half of it before the undo.
    with monkeypatch.context() as patch:
        patch.setattr(disk, "link", refuse)
        patch.setattr(disk, waits, refuse)
        there = {path.name for path in (store.root / FACTS).iterdir()}
        assert there == ({"hand.md", "alfa.md", "other.md"} if waits == "rename" else {"other.md"})
        if waits == "rename":
            undone = store.undo()
            assert [one.op for one in undone.events[0].documents] == ["aborted", "remove"]
        else:
            assert not store.undo().published
    note(store)
    assert store.documents() == before
    assert replay_check(store.memory()).diagnostics == ()
    assert verify(str(store.root), settled=True) == []


def test_undo_that_waits_can_be_redone(store: Store) -> None:
    before = store.documents()
    CHANGES["edit"](store)
    edited = store.documents()
    assert edited != before
    with not_writable(store.root / FACTS):
        assert not store.undo().published
        assert store.undo(redo=True).published
    note(store)
    assert store.documents() == edited
    store.undo()
    assert store.documents() == before


def test_file_that_waits_takes_no_second_change(store: Store) -> None:
    with not_writable(store.root / FACTS):
        CHANGES["rename"](store)
        event = store.last()
        with pytest.raises(NotWritable, match=r"an earlier change of .*hand\.md") as caught:
            CHANGES["edit"](store)
        assert event in (caught.value.hint or "")
        with pytest.raises(NotWritable, match=r"alfa\.md"):
            add.add(store.memory(), NewDocument("fact", "Alfa", body="Another.", tags=("n",)))
    note(store)
    assert (store.root / FACTS / "alfa.md").is_file()
    assert store.ops()[-2:] == ["rename", "note"]


def test_edit_by_hand_of_a_file_that_waits_is_kept(store: Store) -> None:
    with not_writable(store.root / FACTS):
        CHANGES["edit"](store)
    store.put("hand.md", store.read("hand.md").replace(b"Body two", b"By a person"))
    note(store)
    assert b"By a person" in store.read("hand.md")
    assert store.ops()[-4:] == ["edit", "aborted", "hand-edit", "note"]
    assert replay_check(store.memory()).diagnostics == ()


@pytest.mark.parametrize("writable", [False, True])
def test_killed_undo_of_a_change_that_waits_is_finished_or_not_begun(
    store: Store, writable: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed before the event is logged the change waits on; after it, it is never published."""
    before = store.documents()
    folder = store.root / FACTS
    with not_writable(folder):
        CHANGES["rename"](store)
        with monkeypatch.context() as patch:
            patch.setattr("thunderus_mem.memory.journal.drop", lambda *given: None)
            store.undo()
    assert len(os.listdir(store.root / ".thunderus/.staging")) == 1
    with nullcontext() if writable else not_writable(folder):
        note(store)
    assert store.ops().count("aborted") == 1
    assert os.listdir(store.root / ".thunderus/.staging") == []
    assert store.documents() == before


def test_undo_without_quarantine_changes_nothing(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    (store.root / ".thunderus/.quarantine").write_text("in the way")
    with not_writable(store.root / FACTS):
        CHANGES["rename"](store)
        event = store.last()
        with pytest.raises(NotWritable):
            store.undo()
        assert store.last() == event
    note(store)
    assert (store.root / FACTS / "alfa.md").is_file()
