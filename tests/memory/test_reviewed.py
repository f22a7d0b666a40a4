"""Which documents count as reviewed: by who wrote title and body, and what a user confirmed since."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from thunderus_mem.memory.memory import open_memory
from thunderus_mem.memory.reviewed import Author, authors
from thunderus_mem.review.decisions import review_approve

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.support.command_server import Done

FILE = ".thunderus/memory/semantic/FACTS/ports.md"
USER, AGENT, TOOL = ({"THUNDERUS_MEM_ACTOR": actor} for actor in ("user", "agent", "tool"))


@pytest.fixture
def store(repo: Path, run: Callable[..., Done], once: Callable[..., None]) -> Path:
    once(lambda: run("init"))
    return repo


def author(store: Path, id: str = "fact.ports") -> Author:
    memory = open_memory(str(store))
    row = memory.index.get(id)
    assert row is not None
    return authors(memory, [(row.id, row.path, row.hash)])[id]


def add(run: Callable[..., Done], env: dict[str, str]) -> None:
    assert run("add", "fact", "Ports", "--body", "The server listens on 8080.\n", env=env).code == 0


def edited_by_hand(store: Path) -> None:
    path = store / FILE
    path.write_text(path.read_text().replace("8080", "9090"))


def commit(store: Path) -> None:
    for arguments in (("add", "-A"), ("commit", "-qm", "Change")):
        subprocess.run(["git", *arguments], cwd=store, check=True)


@pytest.mark.parametrize(
    ("env", "expected"),
    [(USER, ("user", True)), (AGENT, ("agent", False)), (TOOL, ("tool", False))],
    ids=["user", "agent", "tool"],
)
def test_new_document_is_reviewed_if_a_user_wrote_it(
    store: Path, run: Callable[..., Done], env: dict[str, str], expected: tuple[str, bool]
) -> None:
    add(run, env)
    assert author(store) == expected


def test_commit_reviews_text_of_a_tool_but_not_of_an_agent(store: Path, run: Callable[..., Done]) -> None:
    add(run, TOOL)
    assert run("add", "fact", "Hosts", "--body", "The host is `db`.\n", env=AGENT).code == 0
    commit(store)
    assert author(store) == ("tool", True)
    assert author(store, "fact.hosts") == ("agent", False)


@pytest.mark.parametrize(("env", "reviewed"), [(USER, True), (AGENT, False)], ids=["user", "agent"])
def test_verification_by_a_user_reviews_text_of_an_agent(
    store: Path, run: Callable[..., Done], env: dict[str, str], reviewed: bool
) -> None:
    add(run, AGENT)
    assert run("verify", "fact.ports", env=env).code == 0
    assert author(store) == ("agent", reviewed)


def test_text_changed_after_its_verification_is_unreviewed(store: Path, run: Callable[..., Done]) -> None:
    add(run, AGENT)
    assert run("verify", "fact.ports", env=USER).code == 0
    assert run("edit", "fact.ports", "--body", "The server listens on 9090.\n", env=AGENT).code == 0
    assert author(store) == ("agent", False)


@pytest.mark.parametrize(
    "change",
    [
        ("edit", "fact.ports", "--tag", "net"),
        ("archive", "fact.ports"),
        ("rename", "fact.ports", "fact.network.ports"),
        ("verify", "fact.ports"),
    ],
    ids=lambda change: change[0],
)
@pytest.mark.parametrize(("env", "other"), [(USER, AGENT), (AGENT, TOOL)], ids=["user", "agent"])
def test_change_that_keeps_the_text_keeps_its_author(
    store: Path, run: Callable[..., Done], env: dict[str, str], other: dict[str, str], change: tuple[str, ...]
) -> None:
    add(run, env)
    other = AGENT if change[0] == "verify" else other
    assert run(*change, env=other).code == 0
    id = "fact.network.ports" if change[0] == "rename" else "fact.ports"
    assert author(store, id) == (env["THUNDERUS_MEM_ACTOR"], env is USER)


@pytest.mark.parametrize(
    "change",
    [
        ("edit", "fact.ports", "--body", "The server listens on 9090.\n"),
        ("remove", "fact.ports", "-m", "old"),
    ],
    ids=["edit", "remove"],
)
@pytest.mark.parametrize(("env", "other"), [(USER, AGENT), (AGENT, USER)], ids=["user", "agent"])
def test_undo_gives_a_text_back_to_its_author(
    store: Path, run: Callable[..., Done], env: dict[str, str], other: dict[str, str], change: tuple[str, ...]
) -> None:
    add(run, env)
    assert run(*change, env=USER).code == 0
    assert run("undo", env=other).code == 0
    assert author(store) == (env["THUNDERUS_MEM_ACTOR"], env is USER)


def test_approved_proposal_of_an_agent_is_reviewed(store: Path, run: Callable[..., Done]) -> None:
    (store / ".thunderus" / "config.toml").write_text('[review]\nagents = "propose"\n')
    add(run, AGENT)
    review_approve(open_memory(str(store)), every=True)
    assert author(store) == ("user", True)


def test_edit_outside_the_tool_is_reviewed_once_committed(store: Path, run: Callable[..., Done]) -> None:
    add(run, USER)
    commit(store)
    edited_by_hand(store)
    assert author(store) == ("", False)
    assert run("events", "record", env=TOOL).code == 0
    assert author(store) == ("tool", False)
    commit(store)
    assert author(store) == ("tool", True)


def test_edit_recorded_by_a_user_is_reviewed(store: Path, run: Callable[..., Done]) -> None:
    add(run, USER)
    edited_by_hand(store)
    assert run("events", "record", env=USER).code == 0
    assert author(store) == ("user", True)


def test_document_known_only_from_git_is_reviewed(store: Path) -> None:
    path = store / FILE
    path.write_text("---\nid: fact.ports\ntitle: Ports\nkind: fact\n---\n\nPort 8080.\n")
    assert author(store) == ("", False)
    commit(store)
    assert author(store) == ("", True)


def test_older_text_from_git_has_its_own_author(store: Path, run: Callable[..., Done]) -> None:
    add(run, USER)
    before = (store / FILE).read_text()
    assert run("edit", "fact.ports", "--body", "The server listens on 9090.\n", env=AGENT).code == 0
    (store / FILE).write_text(before)
    assert author(store) == ("user", True)
