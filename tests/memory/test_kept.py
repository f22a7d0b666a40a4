"""Texts kept for `undo`: returned unchanged, limited in size, and never the reason for a failure."""

from __future__ import annotations

import os
import random
import string
import zlib
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from tests.support.git_repository import Repository
from tests.support.tree_writer import Clock
from tests.support.verb_tree import VerbTree
from thunderus_mem.authoring.add import NewDocument, add
from thunderus_mem.authoring.edit import DocumentEdits, edit
from thunderus_mem.document.document import content_hash
from thunderus_mem.document.timestamp import encode_ulid, ulid_time
from thunderus_mem.log import new_event
from thunderus_mem.log.event import Change
from thunderus_mem.log.new_event import EventContext, make_event
from thunderus_mem.memory import past_texts
from thunderus_mem.memory.past_texts import UndoTexts, as_lf

if TYPE_CHECKING:
    from pathlib import Path

NOW = datetime(2026, 1, 21, 9, tzinfo=UTC)


def event_id(days_ago: int, number: int = 1) -> str:
    moment = NOW - timedelta(days=days_ago)
    return "evt_" + encode_ulid(int(moment.timestamp() * 1000), number)


@pytest.fixture
def kept(tmp_path: Path) -> UndoTexts:
    return UndoTexts(str(tmp_path / "undo"))


def noise(size: int) -> str:
    """A text that cannot be compressed well."""
    return "".join(random.Random(size).choices(string.printable, k=size))


def names(tmp_path: Path) -> list[str]:
    return sorted(os.listdir(tmp_path / "undo"))


def test_text_is_restored_unchanged(kept: UndoTexts) -> None:
    text = "\ufeffé\r\nlone \r and \u2028\n\tend"
    assert kept.keep(event_id(0), ["one", text, as_lf(text)], NOW)
    assert kept.texts(event_id(0)) == {content_hash("one"): "one", content_hash(text): text}
    assert kept.texts(event_id(1)) == {}


def test_text_kept_by_an_earlier_version_is_read(kept: UndoTexts, tmp_path: Path) -> None:
    kept.keep(event_id(0), ["x"], NOW)
    (tmp_path / "undo" / f"{event_id(0)}.json").write_text('{"0": "one", "7": "é"}', encoding="utf-8")
    assert kept.texts(event_id(0)) == {content_hash("one"): "one", content_hash("é"): "é"}


def test_texts_of_changes_have_lf_line_ends(kept: UndoTexts) -> None:
    before, after = "one\r\n", "two\r\n"
    event = make_event(EventContext("t", "s"), "patch", {}, id=event_id(0), actor="user")
    kept.keep(event.id, [before, after, "other"], NOW)
    change = Change("update", "a", "a.md", content_hash(before), content_hash(after))
    found = kept.of_changes([(event, change)])
    assert found == {content_hash("one\n"): "one\n", content_hash("two\n"): "two\n"}


def test_old_texts_are_removed_and_foreign_files_kept(kept: UndoTexts, tmp_path: Path) -> None:
    for days in (200, 91, 89):
        kept.keep(event_id(days), ["text"], NOW - timedelta(days=days))
    (tmp_path / "undo" / "notes.txt").write_text("mine")
    (tmp_path / "undo" / ".thunderus-mem-1.tmp").write_text("left by a kill")
    kept.keep(event_id(0), ["text"], NOW)
    assert names(tmp_path) == sorted([f"{event_id(89)}.json", f"{event_id(0)}.json", "notes.txt"])


def test_oldest_texts_are_removed_above_the_limit(
    kept: UndoTexts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(past_texts, "CAP", 250)
    for days in (3, 2, 1):
        assert kept.keep(event_id(days), [noise(75)], NOW)
    assert names(tmp_path) == [f"{event_id(2)}.json", f"{event_id(1)}.json"]
    assert not kept.keep(event_id(0), [noise(300)], NOW)
    assert len(names(tmp_path)) == 2


def test_nothing_is_kept_under_an_invalid_name_or_on_a_failing_disk(tmp_path: Path) -> None:
    (tmp_path / "undo").write_text("a file in the way")
    assert not UndoTexts(str(tmp_path / "undo")).keep(event_id(0), ["x"], NOW)
    kept = UndoTexts(str(tmp_path / "other"))
    for name in ("evt_short", "../evt_" + "0" * 26, "patch_" + "0" * 26):
        assert not kept.keep(name, ["x"], NOW)
        assert kept.texts(name) == {}
    assert not (tmp_path / "other").exists()


DAMAGED = [
    b"",
    b"[]",
    b'{"0": 1}',
    b'{"0": "\\ud800"}',
    b"[" * 99_999,
    b"\xff",
    b"x\x9c",
    zlib.compress(b"[]"),
]


@pytest.mark.parametrize("data", DAMAGED)
def test_damaged_text_is_not_returned(kept: UndoTexts, tmp_path: Path, data: bytes) -> None:
    kept.keep(event_id(0), ["x"], NOW)
    (tmp_path / "undo" / f"{event_id(0)}.json").write_bytes(data)
    assert UndoTexts(str(tmp_path / "undo")).texts(event_id(0)) == {}


def test_ulid_contains_its_creation_time() -> None:
    assert ulid_time(event_id(3).removeprefix("evt_")) == NOW - timedelta(days=3)
    for text in ("", "0" * 25, "U" * 26, "0" * 27, "z" * 26):
        assert ulid_time(text) is None
    assert ulid_time("Z" * 26) is None


def test_change_whose_old_text_cannot_be_kept_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree = VerbTree(Repository(tmp_path / "tree", tmp_path / "home").init(), Clock())
    tree.begin()
    said: list[str] = []
    long = "".join(f"Line {number} of a long text.\n" for number in range(400))
    added = add(tree.memory(), NewDocument("fact", "Long", long))
    monkeypatch.setattr(new_event, "MAX_RECORD", 2_000)
    monkeypatch.setattr(past_texts, "CAP", 250)
    memory = tree.memory()
    memory.say = said.append
    edit(memory, added.id, DocumentEdits(body=long.replace("Line", "Row")))
    assert [text.partition(" of evt_")[0] for text in said] == ["`undo` cannot restore 1 old text"]
