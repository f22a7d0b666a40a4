"""Permissions of documents: kept by moves, restored by undo."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.support.events import make_event
from tests.support.review_support import Store
from thunderus_mem.authoring.edit import DocumentEdits, archive, edit, remove
from thunderus_mem.authoring.rename import rename
from thunderus_mem.history.reverse import UndoChoice, permissions_in
from thunderus_mem.history.undo import undo
from thunderus_mem.log.event import changes_of
from thunderus_mem.review.decisions import review_approve

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

ODD = (0o600, 0o755, 0o444)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path).begin()


def document_of(store: Store, mode: int) -> Path:
    store.add("One", "A text of its own.\n")
    path = store.path("one.md")
    path.chmod(mode)
    return path


def mode_of(path: Path) -> int:
    return path.stat().st_mode & 0o777


@pytest.mark.parametrize("mode", ODD)
def test_undone_proposal_restores_permissions(mode: int, store: Store) -> None:
    store.twins()
    for name in ("twin-a", "twin-b"):
        store.path(f"{name}.md").chmod(mode)
    before = store.bytes()
    store.propose()
    review_approve(store.memory(), every=True)
    assert store.bytes() != before
    for _ in range(2):
        undo(store.memory())
        assert store.bytes() == before
        undo(store.memory(), UndoChoice(redo=True))
        assert store.bytes() != before


@pytest.mark.parametrize("mode", ODD)
def test_restored_document_gets_its_permissions(mode: int, store: Store) -> None:
    path = document_of(store, mode)
    remove(store.memory(), "fact.one", why="no")
    assert [one.mode for one in changes_of(store.events("patch")[-1])] == [f"{mode:o}"]
    undo(store.memory())
    assert mode_of(path) == mode


def test_created_document_keeps_permissions_through_undo_and_redo(store: Store) -> None:
    path = document_of(store, 0o600)
    undo(store.memory())
    assert not path.exists()
    undo(store.memory(), UndoChoice(redo=True))
    assert mode_of(path) == 0o600


@pytest.mark.parametrize("move", [archive, rename])
def test_moved_document_keeps_its_permissions(move: Callable[..., object], store: Store) -> None:
    path = document_of(store, 0o600)
    move(store.memory(), *((["fact.one"],) if move is archive else ("fact.one", "two")))
    assert not path.exists()
    names = [name for name, (_, mode) in store.bytes().items() if mode == 0o600]
    assert len(names) == 1
    (store.root / names[0]).chmod(0o640)
    undo(store.memory())
    assert mode_of(path) == 0o640, "as it was when it went back"


def test_existing_file_keeps_its_permissions(store: Store) -> None:
    path = document_of(store, 0o644)
    edit(store.memory(), "fact.one", DocumentEdits(sets={"title": "New"}))
    path.chmod(0o600)
    undo(store.memory())
    assert mode_of(path) == 0o600


def test_default_permissions_are_not_logged(store: Store) -> None:
    path = document_of(store, 0o644)
    remove(store.memory(), "fact.one", why="no")
    assert "mode" not in json.dumps(store.events("patch")[-1].body)
    undo(store.memory())
    assert mode_of(path) == 0o644


@pytest.mark.parametrize("written", ["", "64", "0o644", "888", "u+x", "\u0666\u0660\u0660"])
def test_invalid_mode_in_the_log_is_ignored(written: str) -> None:
    assert permissions_in(written) is None
    assert permissions_in("600") == 0o600
    assert permissions_in("044") == 0o444, "its owner may always read it"


@pytest.mark.parametrize("written", [None, 600, ["600"]])
def test_mode_that_is_not_a_string_is_ignored(written: object) -> None:
    data = {"op": "remove", "doc_id": "fact.a", "path": "a.md", "before": "x", "after": "", "mode": written}
    event = make_event("patch", {"changes": [data]}, id="evt_1", ts="", session_id="s", actor="user")
    assert [one.mode for one in changes_of(event)] == [""]
