"""A hostile repository: it must not reach a file outside the store, or block commands permanently."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
from typing import TYPE_CHECKING

import pytest

from thunderus_mem.errors import Refused
from thunderus_mem.store.layout import DOCUMENT_FOLDERS, check_places, find_root
from thunderus_mem.store.paths import is_shard

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.support.command_server import Done

    Run = Callable[..., Done]

FACT = ".thunderus/memory/semantic/FACTS/plain.md"
INDEX = ".thunderus/memory/indexes/memory.db"


@pytest.fixture
def store(repo: Path, run: Run) -> Path:
    """A store with one fact."""
    assert run("init").code == 0
    assert run("add", "fact", "Plain", "--tag", "t", "--body", "plain words").code == 0
    return repo


@pytest.fixture
def outside(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A foreign folder with files that look like those of a store."""
    folder = tmp_path_factory.mktemp("outside")
    (folder / "letters").mkdir()
    (folder / "letters" / "dear.txt").write_text("dear")
    for name in ("memory.db", "manifest.json", "memory.db.1.tmp", ".thunderus-mem-x.tmp", "session.json"):
        (folder / name).write_text("precious")
        os.utime(folder / name, (1, 1))
    return folder


def _texts(folder: Path) -> dict[str, str]:
    return {str(path): path.read_text() for path in sorted(folder.rglob("*")) if path.is_file()}


def _replace_by_link(path: Path, target: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to(target)


PLACES = ("", "memory", "memory/semantic", "memory/indexes", "sessions", "schemas", "local", ".staging")


@pytest.mark.parametrize("place", [*PLACES, ".quarantine", "local/sessions", "memory/core"])
def test_linked_store_folder_is_rejected_and_its_target_untouched(
    tmp_path: Path, outside: Path, place: str
) -> None:
    _replace_by_link(tmp_path / ".thunderus" / place, outside)
    before = _texts(outside)
    with pytest.raises(Refused, match="symbolic link"):
        find_root(str(tmp_path), {})
    with pytest.raises(Refused, match="symbolic link"):
        check_places(str(tmp_path))
    assert _texts(outside) == before


@pytest.mark.parametrize("place", [".staging", "memory/indexes"])
def test_no_command_removes_or_writes_through_a_link(
    store: Path, outside: Path, run: Run, place: str
) -> None:
    _replace_by_link(store / ".thunderus" / place, outside)
    before = _texts(outside)
    for command in (["events", "add", "--kind", "note", "--body", "hello"], ["index", "rebuild"], ["init"]):
        ran = run(*command)
        assert (ran.code, "symbolic link" in ran.err) == (5, True)
    assert _texts(outside) == before


def _forge(store: Path, shard: str, *writes: tuple[str, str, str]) -> Path:
    folder = store / ".thunderus" / ".staging" / "evt_FORGED"
    folder.mkdir(parents=True)
    listed = [{"path": path, "before": "", "after": after} for path, after, _ in writes]
    (folder / "op.json").write_text(
        json.dumps({"event": "evt_FORGED", "shard": shard, "head": "", "writes": listed})
    )
    for number, (_, _, text) in enumerate(writes):
        (folder / str(number)).write_text(text)
    return folder


def test_forged_staged_change_can_name_only_documents_and_logs(store: Path, run: Run) -> None:
    from thunderus_mem.document.document import content_hash

    source = store / "main.py"
    source.write_text("first\nno newline at the end")
    shard = ".thunderus/sessions/sess_FORGED/events.jsonl"
    (store / shard).parent.mkdir()
    event = json.dumps(
        {
            "id": "evt_FORGED",
            "ts": "2026-01-01T00:00:00Z",
            "session_id": "sess_FORGED",
            "actor": "user",
            "kind": "note",
            "refs": {},
            "body": {},
        }
    )
    (store / shard).write_text(event + "\n")
    target = ".venv/lib/evil.pth"
    _forge(store, shard, (target, content_hash("import evil"), "import evil"))
    assert run("events", "add", "--kind", "note", "--body", "hello").code == 0
    assert not (store / target).exists()
    _forge(store, "main.py")
    assert run("events", "add", "--kind", "note", "--body", "again").code == 0
    assert source.read_text() == "first\nno newline at the end"
    assert not list((store / ".thunderus" / ".staging").iterdir())


def test_sqlite_journal_naming_another_file_is_not_replayed(store: Path, run: Run) -> None:
    victim = store / "victim"
    name = os.fsencode(victim)
    victim.write_bytes(b"gone-journal\0")
    journal = bytes.fromhex("d9d505f920a163d7") + b"\0" * 504
    tail = (0).to_bytes(4, "big") + name + len(name).to_bytes(4, "big")
    tail += (sum(name) & 0xFFFFFFFF).to_bytes(4, "big") + bytes.fromhex("d9d505f920a163d7")
    (store / f"{INDEX}-journal").write_bytes(journal + tail)
    ran = run("search", "plain")
    assert (ran.code, "fact.plain" in ran.out) == (0, True)
    assert victim.exists()
    assert not (store / f"{INDEX}-journal").exists()


@pytest.mark.parametrize("what", ["pipe", "link"])
def test_pipe_or_link_in_place_of_a_projection_is_replaced(store: Path, run: Run, what: str) -> None:
    (store / "aside").write_text("precious")
    for name in ("memory.db.seal", "memory.db-journal", "memory.db", "manifest.json"):
        path = store / ".thunderus/memory/indexes" / name
        path.unlink(missing_ok=True)
        os.mkfifo(path) if what == "pipe" else path.symlink_to(store / "aside")
        ran = run("search", "plain")
        assert (ran.code, "fact.plain" in ran.out) == (0, True), name
    assert (store / "aside").read_text() == "precious"


def test_pipes_in_place_of_state_files_do_not_hang(store: Path, run: Run) -> None:
    for name in ("session.json", "lock-owner.json"):
        path = store / ".thunderus/local" / name
        path.unlink(missing_ok=True)
        os.mkfifo(path)
    ran = run("events", "add", "--kind", "note", "--body", "hello")
    assert ran.code == 0


@pytest.mark.parametrize("place", ["memory/semantic/FACTS", "memory/indexes", "local"])
def test_file_in_place_of_a_folder_is_reported(store: Path, run: Run, place: str) -> None:
    path = store / ".thunderus" / place
    shutil.rmtree(path)
    path.write_text("not a folder\n")
    for command in (
        ["init"],
        ["index", "status"],
        ["add", "fact", "New", "--tag", "t", "--body", "new words"],
    ):
        ran = run(*command)
        assert ran.code in (0, 1, 3, 4, 5), (command, ran.err)
        assert "bug" not in ran.err


def test_triggers_and_views_of_a_tracked_index_are_not_run(store: Path, run: Run) -> None:
    with sqlite3.connect(store / INDEX) as connection:
        connection.execute("CREATE TRIGGER t AFTER UPDATE ON docs BEGIN DELETE FROM docs; END")
        connection.execute("CREATE VIEW v AS SELECT * FROM docs")
        connection.execute("UPDATE docs SET title = 'forged'")
    ran = run("list")
    assert "forged" not in ran.out
    assert "fact.plain" in ran.out


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (".thunderus/sessions/sess_A/events.jsonl", True),
        (".thunderus/local/sessions/sess_A/events.jsonl", True),
        (".thunderus/sessions/events.jsonl", False),
        (".thunderus/sessions/a/b/events.jsonl", False),
        ("src/events.jsonl", False),
        (".thunderus/sessions/sess_A/other.txt", False),
    ],
)
def test_only_valid_names_are_shards(path: str, expected: bool) -> None:
    assert is_shard(path) is expected


def test_all_document_folders_are_watched() -> None:
    assert len(set(DOCUMENT_FOLDERS.values())) == 5
