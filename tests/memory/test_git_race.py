"""Git replaces files during a write: acknowledged changes are on disk, lost ones are reported."""

from __future__ import annotations

import errno
import os
import subprocess
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.events import note
from thunderus_mem.authoring.add import NewDocument, add
from thunderus_mem.authoring.edit import DocumentEdits, edit
from thunderus_mem.errors import Conflict, NotWritable
from thunderus_mem.index.sqlite_index import SqliteIndex
from thunderus_mem.log.append import append_record
from thunderus_mem.log.line import line_hash
from thunderus_mem.memory import transaction
from thunderus_mem.memory.journal import Journal
from thunderus_mem.memory.memory import Memory, open_memory

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture
def memory(repo: Path) -> Memory:
    (repo / ".thunderus").mkdir()
    opened = open_memory(str(repo))
    add(opened, NewDocument("fact", "Begun", body="It begins here.", tags=["x"]))
    return opened


def git(memory: Memory, *arguments: str) -> None:
    subprocess.run(["git", *arguments], cwd=memory.root, check=True, capture_output=True)


def lock_of(memory: Memory) -> str:
    return os.path.join(memory.root, ".git", "index.lock")


def after_commit(monkeypatch: pytest.MonkeyPatch, action: Callable[[], object]) -> None:
    """Run ``action`` once the line is on disk, before the write is acknowledged."""
    commit = Journal.commit

    def committed(self: Journal, *given: Any, **named: Any) -> Any:
        done = commit(self, *given, **named)
        action()
        return done

    monkeypatch.setattr(Journal, "commit", committed)


def test_unreadable_line_is_not_reported_as_replaced_by_git(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(path: str) -> bytes:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)

    with monkeypatch.context() as patch:
        patch.setattr(transaction, "read_last_line", refused)
        with pytest.raises(NotWritable, match="permission denied") as raised:
            note(memory, "seen by nobody")
    assert "thunderus-mem log" in (raised.value.hint or "")
    assert "seen by nobody" in [event.event.body.get("text") for event in memory.log.read_all().events]
    note(memory, "seen")


def test_line_removed_by_git_is_not_acknowledged(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    shard = os.path.join(memory.root, memory.sessions.known_shard())
    after_commit(monkeypatch, lambda: os.unlink(shard))
    with pytest.raises(Conflict, match="git changed"):
        note(memory, "swept")
    monkeypatch.undo()
    assert note(memory, "again")


def test_document_removed_by_git_is_no_duplicate(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    nearest = SqliteIndex.nearest

    def removed(self: SqliteIndex, *given: Any, **named: Any) -> list[str]:
        found = nearest(self, *given, **named)
        os.unlink(os.path.join(memory.root, ".thunderus/memory/semantic/FACTS/begun.md"))
        assert found == ["fact.begun"]
        return found

    monkeypatch.setattr(SqliteIndex, "nearest", removed)
    assert add(memory, NewDocument("fact", "Start", body="It begins here as well.", tags=["x"])).event_id


@pytest.mark.damaged
def test_document_replaced_by_git_is_not_acknowledged(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Git is still running at the first check, so the write waits and checks again."""
    path = os.path.join(memory.root, ".thunderus/memory/semantic/FACTS/begun.md")
    with open(path, "rb") as handle:
        old = handle.read()

    def exchanged() -> None:
        with open(lock_of(memory), "w"):
            pass

        def finish() -> None:
            time.sleep(0.1)
            with open(path, "wb") as handle:
                handle.write(old)
            os.unlink(lock_of(memory))

        threading.Thread(target=finish).start()

    after_commit(monkeypatch, exchanged)
    with pytest.raises(Conflict, match="git changed"):
        edit(memory, "fact.begun", DocumentEdits(body="It goes on here."))


def test_concurrent_commit_does_not_fail_a_write(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    def committed() -> None:
        git(memory, "add", "-A")
        git(memory, "commit", "-qm", "Meanwhile")

    after_commit(monkeypatch, committed)
    assert edit(memory, "fact.begun", DocumentEdits(body="It goes on here.")).event_id


def test_write_waits_for_git_for_a_limited_time(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transaction, "_GIT_WAIT", 0.05)
    with open(lock_of(memory), "w"):
        pass
    assert note(memory, "git is adding a very large file")
    inside = open_memory(memory.root, environ={**os.environ, "GIT_INDEX_FILE": ".git/index"})
    monkeypatch.setattr(transaction, "_GIT_WAIT", 60.0)
    assert note(inside, "git waits for this very command")
    os.unlink(lock_of(memory))


def test_line_is_appended_only_after_the_line_it_names(tmp_path: Path) -> None:
    path = str(tmp_path / "events.jsonl")
    append_record(path, b'{"a": 1}\n')
    follows = line_hash(b'{"a": 1}')
    append_record(path, b'{"a": 2}\n', follows=follows)
    with pytest.raises(Conflict, match="replaced"):
        append_record(path, b'{"a": 3}\n', follows=follows)
    os.unlink(path)
    with pytest.raises(Conflict, match="replaced"):
        append_record(path, b'{"a": 3}\n', follows=follows)
    assert not os.path.exists(path)
