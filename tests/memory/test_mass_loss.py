"""If many documents disappear at once, nothing is logged or written without confirmation."""

from __future__ import annotations

import os
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.support.events import note
from thunderus_mem.authoring.add import NewDocument, add
from thunderus_mem.authoring.edit import record
from thunderus_mem.authoring.show import list_documents, status
from thunderus_mem.doctor.checks import doctor
from thunderus_mem.errors import Refused
from thunderus_mem.history.log import log
from thunderus_mem.memory.memory import open_memory

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.support.command_server import Done, Server
    from thunderus_mem.memory.memory import Memory

FACTS = ".thunderus/memory/semantic/FACTS"
COUNT = 20


def git(folder: Path, *arguments: str) -> None:
    subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True)


@pytest.fixture(params=["outside git", "uncommitted", "committed"])
def store(tmp_path: Path, request: pytest.FixtureRequest, once: Callable[..., None]) -> Path:
    """A store of twenty facts."""

    def make() -> None:
        if request.param != "outside git":
            git(tmp_path, "init", "-q")
        (tmp_path / ".thunderus").mkdir()
        memory = open_memory(str(tmp_path))
        for number in range(COUNT):
            add(
                memory,
                NewDocument(
                    "fact", f"Port {number}", body=f"Service {number} has port {number * 7}.", tags=["net"]
                ),
            )
        if request.param == "committed":
            git(tmp_path, "add", "-A")
            git(tmp_path, "commit", "-qm", "All of it")

    once(make, request.param)
    return tmp_path


def events(memory: Memory) -> int:
    return len(memory.log.read_all().events)


def remove_by_hand(store: Path, count: int) -> None:
    for name in sorted(os.listdir(store / FACTS))[:count]:
        os.unlink(store / FACTS / name)


def test_emptied_folder_stops_writes_and_is_not_recorded(store: Path) -> None:
    memory = open_memory(str(store))
    said: list[str] = []
    memory.say = said.append
    memory.refresh()
    before = events(memory)
    os.rename(store / FACTS, store / "elsewhere")
    with pytest.raises(Refused, match="20 of 20 documents are missing"):
        note(memory, "all is well")
    assert list_documents(memory).documents == ()
    assert status(memory).gone == tuple(f"fact.port-{number}" for number in sorted(range(COUNT), key=str))
    assert status(memory).unrecorded == ()
    assert [check.state for check in doctor(memory).checks if check.name == "edits"] == ["error"]
    assert [text for text in said if "20 of 20" in text] == said[:1] == said
    assert events(memory) == before
    os.rename(store / "elsewhere", store / FACTS)
    note(memory, "all is well again")
    assert events(memory) == before + 1
    assert status(memory).gone == ()
    assert len(list_documents(memory).documents) == COUNT


def test_intended_removals_are_recorded_with_yes(store: Path) -> None:
    memory = open_memory(str(store))
    remove_by_hand(store, 6)
    with pytest.raises(Refused, match="6 of 20"):
        record(memory)
    assert len(record(memory, accept_loss=True).recorded) == 6
    note(memory, "and on it goes")
    assert len(list_documents(memory).documents) == COUNT - 6


def test_reason_is_recorded_with_the_removals(store: Path) -> None:
    remove_by_hand(store, 2)
    memory = open_memory(str(store), environ={})
    record(memory, why="Nobody needs them")
    assert [(one.op, one.why) for one in log(memory, limit=2).events] == [
        ("hand-edit", "Nobody needs them")
    ] * 2


def test_few_removals_need_no_yes(store: Path) -> None:
    memory = open_memory(str(store))
    remove_by_hand(store, 5)
    assert len(record(memory).recorded) == 5


def test_moved_files_are_not_counted_as_removed(store: Path) -> None:
    memory = open_memory(str(store))
    os.mkdir(store / FACTS / "net")
    for name in sorted(os.listdir(store / FACTS)):
        if name.endswith(".md"):
            os.rename(store / FACTS / name, store / FACTS / "net" / name)
    note(memory, "moved")
    assert status(memory).gone == ()


@pytest.mark.parametrize("store", ["committed"], indirect=True)
def test_branch_or_sparse_checkout_without_documents_is_no_loss(store: Path) -> None:
    memory = open_memory(str(store))
    git(store, "branch", "full")
    git(store, "rm", "-rq", FACTS)
    git(store, "commit", "-qm", "Start over")
    note(memory, "on the empty branch")
    git(store, "add", "-A")
    git(store, "commit", "-qm", "A note")
    git(store, "checkout", "-q", "full")
    note(memory, "on the full one")
    assert len(list_documents(memory).documents) == COUNT
    git(store, "sparse-checkout", "set", "--no-cone", "/*", f"!{FACTS}")
    assert not os.path.lexists(store / FACTS)
    note(memory, "with nothing but the log")
    assert status(memory).gone == status(memory).unrecorded == ()


@pytest.mark.parametrize("store", ["uncommitted"], indirect=True)
def test_sparse_checkout_in_an_open_session_is_no_removal(store: Path) -> None:
    """The documents are committed and their shard is not, so the session that made them is still open."""
    memory = open_memory(str(store))
    git(store, "commit", "-q", "--allow-empty", "-m", "Begin")
    add(memory, NewDocument("fact", "Late", body="Made in this session.", tags=["net"]))
    shard = memory.sessions.known_shard()
    git(store, "add", FACTS)
    tree = subprocess.run(["git", "write-tree"], cwd=store, check=True, capture_output=True, text=True)
    head = subprocess.run(
        ["git", "commit-tree", "-m", "Documents", "-p", "HEAD", tree.stdout.strip()],
        cwd=store, check=True, capture_output=True, text=True,
    )  # fmt: skip
    (store / ".git/refs/heads/main").write_text(head.stdout)
    git(store, "sparse-checkout", "set", "--no-cone", "/*", f"!{FACTS}")
    assert not os.path.lexists(store / FACTS)
    assert memory.sessions.known_shard() == shard
    assert status(memory).gone == status(memory).unrecorded == ()


def test_command_line_reports_the_loss_once(repo: Path, run: Callable[..., Done]) -> None:
    assert run("init").code == 0
    for number in range(8):
        assert run("add", "fact", f"Port {number}", "--tag", "n", "--body", f"Port {number}.").code == 0
    shutil.move(repo / FACTS, repo / "elsewhere")
    first, second = run("search", "port"), run("search", "port")
    assert (first.code, second.code) == (0, 0)
    assert first.err.startswith("8 of 9 documents have disappeared since the last command")
    assert "documents disappeared" not in second.err
    assert "missing    8 " in run("status").out
    refused = run("add", "fact", "New", "--tag", "n", "--body", "New.")
    assert (refused.code, "record --yes" in refused.err) == (5, True)
    assert not (repo / FACTS).exists()
    assert run("doctor").code == 1
    assert run("events", "record").code == 5
    assert len(run("events", "record", "--yes").out.splitlines()) == 8
    assert run("add", "fact", "New", "--tag", "n", "--body", "New.").code == 0


def test_undo_of_a_large_import_is_no_loss(repo: Path, server: Server, run: Callable[..., Done]) -> None:
    assert run("init").code == 0
    notes = repo / "notes"
    notes.mkdir()
    for number in range(12):
        (notes / f"port-{number}.md").write_text(f"# Port {number}\n\nIt is {number}.\n")
    assert run("import", "markdown", "notes", "--kind", "fact", "--tag", "net").code == 0
    killed = server.run("undo", cwd=str(repo), env={"FAILPOINT": "before-rename-taken:kill:8"})
    assert killed.code == 137
    assert len(os.listdir(repo / FACTS)) == 5
    looked, written, undone = run("search", "port"), run("events", "record"), run("undo", "--redo")
    assert (looked.code, written.code, undone.code) == (0, 0, 0)
    assert "disappeared" not in looked.err + written.err + undone.err
    assert len(os.listdir(repo / FACTS)) == 12
    assert "disappeared" not in run("undo").err
