"""Writes by another process before we take the lock are detected, and are no hand edits."""

from __future__ import annotations

import subprocess
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.events import note
from thunderus_mem.authoring.add import NewDocument, add
from thunderus_mem.authoring.edit import DocumentEdits, edit, remove
from thunderus_mem.errors import DocumentExists
from thunderus_mem.index.refresh import rebuild
from thunderus_mem.memory import transaction
from thunderus_mem.memory.memory import Memory, open_memory
from thunderus_mem.memory.transaction import open_transaction
from thunderus_mem.search.search import search

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.support.command_server import Done


@pytest.fixture(params=["git", "plain"])
def two(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Memory, Memory]:
    """Two processes' memories of one store with one fact, committed when there is git."""
    (tmp_path / ".thunderus").mkdir()
    first, second = open_memory(str(tmp_path)), open_memory(str(tmp_path))
    if request.param == "git":
        subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    add(first, NewDocument("fact", "Limits", body="A page holds one hundred rows.", tags=["net"]))
    if request.param == "git":
        for words in (["add", "-A"], ["commit", "-qm", "Limits"]):
            subprocess.run(["git", *words], cwd=tmp_path, check=True)
        note(first, "the session on this commit")
    return first, second


def before_the_lock(monkeypatch: pytest.MonkeyPatch, action: Callable[[], object]) -> None:
    """Run ``action`` just before the lock is taken."""
    held, done = transaction.held, list[str]()

    @contextmanager
    def late(*given: Any, **named: Any) -> Iterator[None]:
        if not done:
            done.append("once")
            action()
        with held(*given, **named):
            yield

    monkeypatch.setattr(transaction, "held", late)


def after_the_log_was_read(monkeypatch: pytest.MonkeyPatch, action: Callable[[], object]) -> None:
    """Run ``action`` after the log was read and before the documents are."""
    log_index, done = Memory.log_index, list[str]()

    def late(memory: Memory) -> Any:
        found = log_index(memory)
        if not done:
            done.append("once")
            action()
        return found

    monkeypatch.setattr(Memory, "log_index", late)


def ops(memory: Memory) -> list[str]:
    return [str(entry.event.body.get("op", "")) for entry in memory.log.read_all().events]


@pytest.mark.parametrize("rebuilt", [False, True])
@pytest.mark.parametrize("other_id", ["fact.ports", "fact.other"])
def test_second_of_two_equal_documents_already_exists(
    two: tuple[Memory, Memory], monkeypatch: pytest.MonkeyPatch, other_id: str, rebuilt: bool
) -> None:
    """Also if the other process replaced the index that we have open."""
    first, second = two
    given: dict[str, Any] = {"body": "The service listens on port 8080.", "tags": ["net"]}

    def theirs() -> None:
        if rebuilt:
            rebuild(first.layout)
        add(first, NewDocument("fact", "Ports", **given))

    before_the_lock(monkeypatch, theirs)
    with pytest.raises(DocumentExists, match=r"fact\.ports"):
        add(second, NewDocument("fact", "Ports", id=other_id, **given))
    assert [hit.id for hit in search(second, "listens").hits] == ["fact.ports"]


def test_concurrent_edit_is_no_hand_edit(two: tuple[Memory, Memory], monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = two
    second.refresh()
    after_the_log_was_read(
        monkeypatch, lambda: edit(first, "fact.limits", DocumentEdits(body="A page holds fifty rows."))
    )
    note(second, "hello")
    assert "hand-edit" not in ops(second)
    assert ops(second).count("edit") == 1


def test_concurrent_removal_is_no_removal_by_hand(
    two: tuple[Memory, Memory], monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = two
    second.refresh()
    after_the_log_was_read(monkeypatch, lambda: remove(first, "fact.limits", why="old"))
    note(second, "hello")
    assert "hand-edit" not in ops(second)


def test_concurrently_renamed_document_is_edited_at_its_new_path(
    two: tuple[Memory, Memory], monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = two
    second.refresh()

    def move() -> None:
        from thunderus_mem.memory.journal import FileChange

        text = (first.layout.at(".thunderus/memory/semantic/FACTS/limits.md"), "rb")
        with open(*text) as handle:
            whole = handle.read().decode()
        with open_transaction(first, "rename") as writing:
            old, new = (f".thunderus/memory/semantic/FACTS/{name}.md" for name in ("limits", "pages"))
            writing.commit(
                "rename",
                [
                    FileChange("fact.limits", old, whole, None, renames=True),
                    FileChange("fact.limits", new, None, whole, renames=True),
                ],
            )

    before_the_lock(monkeypatch, move)
    written = edit(second, "fact.limits", DocumentEdits(body="A page holds fifty rows."))
    assert written.path.endswith("/pages.md")


def test_edit_of_an_outdated_text_reports_both_hashes(repo: Path, run: Callable[..., Done]) -> None:
    assert run("init").code == 0
    assert run("add", "fact", "Limits", "--tag", "net", "--body", "A page holds a hundred rows.").code == 0
    read = run("show", "fact.limits", "--json").json["hash"]
    arguments = ("edit", "fact.limits", "--expecting", read, "--body")
    assert run(*arguments, "A page holds fifty rows.").code == 0
    now = run("show", "fact.limits", "--json").json["hash"]
    refused = run(*arguments, "A page holds ten rows.")
    assert refused.code == 3
    assert read in refused.err
    assert now in refused.err
