"""How the next command recovers from a killed one, in real stores."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from tests.support.failpoints import recording
from tests.support.verify_store import verify
from thunderus_mem.authoring import init
from thunderus_mem.memory.memory import Memory, open_memory
from thunderus_mem.store.lock import held

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.command_server import Done, Server

FACT = ".thunderus/memory/semantic/FACTS/retries.md"


@pytest.fixture
def store(repo: Path, server: Server) -> Path:
    assert run(server, repo, 0, "init").code == 0
    return repo


def run(server: Server, root: Path, second: int, *words: str, failpoint: str = "") -> Done:
    env = {"THUNDERUS_MEM_NOW": f"2026-01-21T09:00:{second:02d}Z", "THUNDERUS_MEM_SEED": str(second)}
    if failpoint:
        env |= {"FAILPOINT": failpoint}
    return server.run(*words, cwd=str(root), env=env)


def test_command_plans_with_the_recovered_state(store: Path, server: Server) -> None:
    recap = ("recap", "2026-01-21")
    assert run(server, store, 1, *recap, failpoint="after-sync-log:kill").code == 137
    again = run(server, store, 2, *recap)
    assert again.code == 0, again
    assert verify(str(store), settled=True) == []


def test_temporary_files_of_a_killed_command_are_removed_by_the_next(store: Path, server: Server) -> None:
    drifted = store / ".thunderus/schemas/memory_store.sql"
    drifted.write_text("old\n")
    killed = run(server, store, 1, "migrate", "--apply", failpoint="after-write-temporary:kill")
    assert killed.code == 137
    (left,) = [name for name in os.listdir(drifted.parent) if name.endswith(".tmp")]
    assert run(server, store, 2, "events", "add", "--kind", "note", "--body", "next").code == 0
    assert left not in os.listdir(drifted.parent)


def test_new_store_syncs_its_folder_entries(tmp_path: Path) -> None:
    heard: list[tuple[str, str]] = []

    def opened() -> Memory:
        return open_memory(str(tmp_path), environ={"PATH": ""})

    with recording(lambda operation, path, detail: heard.append((operation, path))):
        init.init(str(tmp_path), opened)
    made = [(at, path) for at, (operation, path) in enumerate(heard) if operation == "mkdir"]
    assert len(made) > 10
    for at, path in made:
        if ".staging/" not in path:
            assert ("sync-folder", os.path.dirname(path)) in heard[at:], path


READS = (
    ("search", "requests"),
    ("show", "fact.retries"),
    ("list",),
    ("log",),
    ("status",),
    ("garden",),
    ("recap", "2026-01-21", "--dry-run"),
    ("review", "list"),
    ("lint",),
    ("index", "manifest", "--check"),
    ("list", "--json"),
    ("-q", "list"),
)
WARNING = "an earlier command was interrupted"


def test_reader_is_warned_about_an_interrupted_write(store: Path, server: Server) -> None:
    assert (
        run(server, store, 1, "add", "fact", "Retries", "--tag", "x", "--body", "Three requests.").code == 0
    )
    edit = ("edit", "fact.retries", "--body", "Five requests.")
    assert run(server, store, 2, *edit, failpoint="after-sync-log:kill").code == 137
    before = (store / FACT).read_bytes()
    for second, words in enumerate(READS, 10):
        done = run(server, store, second, *words)
        assert done.err.count(WARNING) == 1, (words, done)
        assert "thunderus-mem doctor --fix" in done.err
        assert done.err.splitlines()[-1].startswith(f"warning: {WARNING}")
    assert (store / FACT).read_bytes() == before
    with held(str(store / ".thunderus/.lock")):
        assert WARNING not in run(server, store, 40, "list").err  # another command is still running
    fixed = run(server, store, 41, "doctor", "--fix")
    assert fixed.code == 0, fixed
    assert WARNING not in fixed.err
    assert b"Five requests." in (store / FACT).read_bytes()
    assert WARNING not in run(server, store, 42, "list").err


RECOVER = "The next write recovers it, or run `thunderus-mem doctor --fix`"
AGAIN = "This command was interrupted; run the same command again to continue"


def test_interrupted_command_says_that_it_was_this_one(store: Path, server: Server) -> None:
    add = ("add", "fact", "Retries", "--tag", "x", "--body", "Three requests.")
    stopped = run(server, store, 1, *add, failpoint="before-unlink-staged:interrupt")
    assert stopped.code == 130
    assert stopped.err == f"This command was interrupted, and a write is incomplete. {RECOVER}\n"


def test_interrupted_import_and_undo_continue_when_repeated(store: Path, server: Server) -> None:
    (store / "in").mkdir()
    for name in "ab":
        (store / f"in/{name}.md").write_text(f"# {name}\n\nText of {name}.\n")
    (store / "in.jsonl").write_text('{"text": "Five requests."}\n{"text": "Six requests."}\n')
    markdown = ("import", "markdown", "in", "--kind", "fact")
    commands = (markdown, ("import", "jsonl", "in.jsonl"), ("undo", "-n2"))
    for second, words in enumerate(commands):
        stopped = run(server, store, 10 + second, *words, failpoint="after-sync-log:interrupt")
        assert (stopped.code, stopped.err) == (130, f"{AGAIN}\n"), words
        again = run(server, store, 20 + second, *words)
        assert (again.code, WARNING in again.err) == (0, False), again
    assert not list((store / FACT).parent.glob("*.md"))
    assert verify(str(store), settled=True) == []


def test_writing_command_recovers_silently(store: Path, server: Server) -> None:
    add = ("add", "fact", "Retries", "--tag", "x", "--body", "Three requests.")
    assert run(server, store, 1, *add, failpoint="after-sync-log:kill").code == 137
    failed = run(server, store, 2, "edit", "fact.nobody", "--tag", "x")
    assert failed.code == 4
    assert WARNING not in failed.err
    assert (store / FACT).exists()
