"""`undo` of a change that is in the log, but could not be written to its files yet."""

from __future__ import annotations

import os
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.events import note as add_note
from tests.support.failpoints import not_writable
from tests.support.git_repository import Repository
from tests.support.undo_support import FACTS, Store, with_hand
from tests.support.verify_store import verify
from thunderus_mem.authoring import add, edit, show
from thunderus_mem.authoring.add import NewDocument
from thunderus_mem.authoring.edit import DocumentEdits
from thunderus_mem.authoring.rename import rename
from thunderus_mem.doctor.checks import doctor
from thunderus_mem.errors import Conflict, InvalidDocument, NotFound, NotWritable
from thunderus_mem.history.replay import replay_check
from thunderus_mem.log.event import changes_of, is_hand_edit
from thunderus_mem.memory import journal
from thunderus_mem.store import disk

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return with_hand(tmp_path)


def note(store: Store) -> None:
    add_note(store.memory(), "on we go")


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


def _deleted_by_hand(store: Store) -> list[tuple[str, str]]:
    """The documents and paths of the removals by hand in the log."""
    events = store.memory().log.read_all().events
    changes = [change for entry in events if is_hand_edit(entry.event) for change in changes_of(entry.event)]
    return [(change.doc_id, change.path) for change in changes if change.op == "remove"]


@pytest.mark.parametrize("change", ["remove", "rename"])
def test_file_deleted_after_an_aborted_change_is_recorded(store: Store, change: str) -> None:
    with not_writable(store.root / FACTS):
        CHANGES[change](store)
        store.undo()
    (store.root / FACTS / "hand.md").unlink()
    assert show.status(store.memory()).unrecorded == ("fact.hand",)
    note(store)
    assert _deleted_by_hand(store) == [("fact.hand", f"{FACTS}/hand.md")]
    assert replay_check(store.memory()).diagnostics == ()


def test_file_deleted_after_an_aborted_removal_is_recorded_before_its_first_commit(tmp_path: Path) -> None:
    repository = Repository(tmp_path / "tree", tmp_path / "home").init()
    store = with_hand(repository.root)
    repository.git("add", ".thunderus/.gitignore")
    repository.git("commit", "-q", "-m", "First")
    CHANGES["edit"](store)
    with not_writable(store.root / FACTS):
        CHANGES["remove"](store)
        store.undo()
    (store.root / FACTS / "hand.md").unlink()
    note(store)
    assert _deleted_by_hand(store) == [("fact.hand", f"{FACTS}/hand.md")]


def test_text_of_an_aborted_edit_is_recorded_if_written_by_hand(store: Store) -> None:
    with not_writable(store.root / FACTS):
        CHANGES["edit"](store)
        undone = store.undo()
    (kept,) = [one.kept for one in undone.events[0].documents]
    store.put("hand.md", (store.root / kept).read_bytes())
    assert show.status(store.memory()).unrecorded == ("fact.hand",)
    note(store)
    assert store.ops()[-2:] == ["hand-edit", "note"]
    assert replay_check(store.memory()).diagnostics == ()


def _aborted_for(store: Store) -> str:
    """The reason of the last aborted change."""
    return [
        entry.event.why
        for entry in store.memory().log.read_all().events
        if entry.event.body.get("op") == "aborted"
    ][-1]


@pytest.mark.parametrize("change", ["edit", "remove"])
def test_reason_of_an_aborted_change_names_a_path_below_the_root(store: Store, change: str) -> None:
    with not_writable(store.root / FACTS):
        CHANGES[change](store)
        event = store.last()
    store.put("hand.md", store.read("hand.md").replace(b"Body two", b"By a person"))
    note(store)
    (kept, *_) = [*(store.root / ".thunderus/.quarantine").glob("*"), None]
    ours = f"; ours is in .thunderus/.quarantine/{kept.name}" if kept else ""
    assert (change == "edit") is bool(kept)
    assert _aborted_for(store) == f"{event} was not applied: the file has other text{ours}"


def test_conflict_at_the_last_moment_names_a_path_below_the_root(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    append = journal.append_record

    def meddle(*given: Any, **named: Any) -> None:
        append(*given, **named)
        monkeypatch.undo()
        store.put("hand.md", store.read("hand.md").replace(b"Body two", b"By a person"))

    monkeypatch.setattr(journal, "append_record", meddle)
    with pytest.raises(Conflict, match="at the last moment") as caught:
        CHANGES["edit"](store)
    (kept,) = (store.root / ".thunderus/.quarantine").iterdir()
    place = kept.relative_to(store.root).as_posix()
    assert caught.value.hint == f"read it, then repeat the change; yours is in {place}"
    assert _aborted_for(store).endswith(f" was not applied: the file has other text; ours is in {place}")
