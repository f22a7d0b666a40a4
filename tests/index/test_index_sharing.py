"""One index file and many processes: no partial state is visible, and no healthy index is quarantined."""

from __future__ import annotations

import os
import re
import shutil
import sqlite3
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.in_process import run_here
from tests.support.index_support import content, document, new_store, put
from thunderus_mem.doctor.checks import doctor
from thunderus_mem.doctor.upkeep import index_status, index_verify, manifest
from thunderus_mem.errors import Busy, Refused
from thunderus_mem.index import database
from thunderus_mem.index.database import IndexDamaged
from thunderus_mem.index.log import LogIndex
from thunderus_mem.index.refresh import open_index, rebuild, refresh
from thunderus_mem.index.sqlite_index import SqliteIndex
from thunderus_mem.memory.memory import Memory, open_memory
from thunderus_mem.search.search import search

if TYPE_CHECKING:
    from collections.abc import Callable

    from thunderus_mem.index.refresh import Refreshed
    from thunderus_mem.store.layout import Layout

SLOW = 0.4


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    made = new_store(tmp_path)
    for number in range(12):
        put(made, f"n{number}.md", document(f"fact.n{number}", f"words about cache {number}\n"))
    return made


def slowly_sealed(monkeypatch: pytest.MonkeyPatch, action: Callable[[], object]) -> threading.Thread:
    """Run it in a thread that sleeps between its write and its seal; return when it sleeps."""
    asleep = threading.Event()
    seal_it = database.write_seal

    def sleepy(path: str) -> None:
        if threading.current_thread() is sleeper:
            asleep.set()
            time.sleep(SLOW)
        seal_it(path)

    monkeypatch.setattr(database, "write_seal", sleepy)
    sleeper = threading.Thread(target=action)
    sleeper.start()
    assert asleep.wait(10)
    return sleeper


def changed_and_refreshed(layout: Layout) -> None:
    put(layout, "more.md", document("fact.more", "one more\n"))
    index, _ = open_index(layout)
    index.close()


@pytest.mark.parametrize("action", [changed_and_refreshed, rebuild])
def test_slow_writer_is_waited_for(
    layout: Layout, monkeypatch: pytest.MonkeyPatch, action: Callable[[Layout], object]
) -> None:
    rebuild(layout)
    sleeper = slowly_sealed(monkeypatch, lambda: action(layout))
    index, refreshed = open_index(layout)
    assert refreshed.rebuilt == ""
    sleeper.join()
    index.close()


def test_waiting_writer_does_not_block_the_active_one(layout: Layout) -> None:
    rebuild(layout)
    one, other = SqliteIndex.open(layout.index_file), SqliteIndex.open(layout.index_file)
    waits = threading.Event()

    def second() -> None:
        waits.set()
        with other.database.transaction():
            other.database.set_meta("second", "done")

    thread = threading.Thread(target=second)
    with one.database.transaction():
        one.database.set_meta("first", "done")
        thread.start()
        waits.wait(10)
        time.sleep(SLOW / 4)
    thread.join()
    assert (one.database.meta("second"), other.database.meta("first")) == ("done", "done")
    one.close()
    other.close()


def test_index_found_damaged_twice_is_rebuilt_once(layout: Layout, monkeypatch: pytest.MonkeyPatch) -> None:
    rebuild(layout)
    Path(layout.index_file).write_bytes(b"damaged")
    other: list[int] = []
    real = SqliteIndex.open.__func__

    def judged_while_another_builds(cls: type[SqliteIndex], path: str) -> SqliteIndex:
        try:
            return real(cls, path)
        finally:
            if not other:
                other.append(0)
                rebuild(layout)
                other[0] = os.stat(layout.index_file).st_ino

    monkeypatch.setattr(SqliteIndex, "open", classmethod(judged_while_another_builds))
    index, refreshed = open_index(layout)
    assert os.stat(layout.index_file).st_ino == other[0]
    assert refreshed.rebuilt == ""
    assert index.count() == 12


def test_write_does_not_hide_damage(layout: Layout) -> None:
    index, _ = open_index(layout)
    with open(layout.index_file, "r+b") as handle:
        handle.seek(os.path.getsize(layout.index_file) - 3000)
        handle.write(bytes(500))
    put(layout, "more.md", document("fact.more", "one more\n"))
    with pytest.raises(IndexDamaged):
        refresh(layout, index)
    index.close()
    index, refreshed = open_index(layout)
    assert refreshed.rebuilt
    assert index.count() == 13


def test_damage_of_an_open_index_is_detected_at_the_next_check(layout: Layout) -> None:
    memory = open_memory(layout.root)
    memory.refresh()
    with open(layout.index_file, "r+b") as handle:
        handle.seek(8192)
        handle.write(bytes(500))
    assert memory.refresh().rebuilt
    assert memory.index.count() == 12
    memory.index.close()


def test_concurrently_replaced_index_is_used(layout: Layout) -> None:
    memory = open_memory(layout.root)
    memory.refresh()
    rebuild(layout)
    inode = os.stat(layout.index_file).st_ino
    put(layout, "more.md", document("fact.more", "one more\n"))
    refreshed = memory.refresh()
    assert (refreshed.rebuilt, refreshed.added) == ("", 1)
    assert os.stat(layout.index_file).st_ino == inode
    memory.index.close()


def test_log_query_survives_repeated_index_replacement(
    layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = open_memory(layout.root)
    memory.refresh()
    refresh_it, times = LogIndex.refresh, list[int]()

    def replaced_before(self: LogIndex, *given: Any) -> int:
        times.append(len(times))
        if len(times) < 5:
            rebuild(layout)
        return refresh_it(self, *given)

    monkeypatch.setattr(LogIndex, "refresh", replaced_before)
    put(layout, ".thunderus/sessions/sess_1/events.jsonl", b"")
    assert memory.log_index().total() == 0
    assert len(times) == 5
    memory.index.close()


def test_result_has_one_generation(layout: Layout, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another process changes everything during a search, which is then repeated."""
    monkeypatch.setattr(database, "BUSY_SECONDS", 0.05)
    memory = open_memory(layout.root)
    memory.refresh()
    rows = database.Database.rows
    asked: list[str] = []

    def meddled(
        self: database.Database, sql: str, values: tuple[object, ...] = ()
    ) -> list[tuple[object, ...]]:
        found = rows(self, sql, values)
        if "MATCH" in sql and not asked:
            asked.append(sql)
            for number in range(12):
                os.unlink(layout.at(f".thunderus/memory/semantic/FACTS/n{number}.md"))
            put(layout, "other.md", document("fact.other", "words about cache, others\n"))
            with pytest.raises(Busy):
                open_index(layout)
        return found

    monkeypatch.setattr(database.Database, "rows", meddled)
    assert [hit.id for hit in search(memory, "cache").hits] == ["fact.other"]
    assert asked
    memory.index.close()


def test_file_changed_after_the_scan_is_read_again(layout: Layout, monkeypatch: pytest.MonkeyPatch) -> None:
    memory = open_memory(layout.root)
    refresh_it, looks = Memory.refresh, list[int]()

    def changed_after(self: Memory) -> Refreshed:
        done = refresh_it(self)
        looks.append(done.total)
        if len(looks) == 1:
            put(layout, "n3.md", document("fact.n3", "new words about cache 3, longer\n"))
            os.unlink(layout.at(".thunderus/memory/semantic/FACTS/n4.md"))
        return done

    monkeypatch.setattr(Memory, "refresh", changed_after)
    found = {hit.id: hit.snippet for hit in search(memory, "cache", limit=50).hits}
    assert found["fact.n3"].startswith("new words about cache 3, longer")
    assert "fact.n4" not in found
    assert (len(found), len(looks)) == (11, 2)
    memory.index.close()


def test_foreign_sidecars_are_never_read(layout: Layout, tmp_path: Path) -> None:
    rebuild(layout)
    other = tmp_path / "other.db"
    shutil.copy(layout.index_file, other)
    writer = sqlite3.connect(other, isolation_level=None)
    writer.execute("PRAGMA journal_mode = WAL")
    writer.execute("UPDATE docs SET title = 'planted'")
    for suffix in ("-wal", "-shm"):
        shutil.copy(f"{other}{suffix}", layout.index_file + suffix)
    writer.close()
    index, refreshed = open_index(layout)
    assert refreshed.rebuilt
    assert {row.title for row in index.documents()} == {"A title"}
    index.close()
    index, refreshed = open_index(layout)
    assert refreshed.rebuilt == ""
    assert sorted(os.listdir(layout.indexes_dir)) == ["manifest.json", "memory.db", "memory.db.seal"]
    index.close()


@pytest.mark.parametrize("kind", ["folder", "link", "pipe", "text", "none"])
def test_invalid_seal_causes_one_rebuild(layout: Layout, kind: str, tmp_path: Path) -> None:
    rebuild(layout)
    victim = tmp_path / "victim"
    victim.write_text("precious")
    place = layout.index_file + ".seal"
    os.unlink(place)
    if kind == "folder":
        os.makedirs(os.path.join(place, "deep"))
    elif kind == "link":
        os.symlink(victim, place)
    elif kind == "pipe":
        os.mkfifo(place)
    elif kind == "text":
        Path(place).write_text("1 2 3 4")
    for expected in (True, False):
        index, refreshed = open_index(layout)
        assert bool(refreshed.rebuilt) is expected
        index.close()
    assert victim.read_text() == "precious"


def test_no_temporary_file_is_written_through_a_planted_link(layout: Layout, tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("precious")
    os.makedirs(layout.indexes_dir)
    for name in ("memory.db.seal.{}", "manifest.json.{}.tmp", "memory.db.seal.{}.tmp"):
        os.symlink(victim, os.path.join(layout.indexes_dir, name.format(os.getpid())))
    open_index(layout)[0].close()
    put(layout, "more.md", document("fact.more", "one more\n"))
    open_index(layout)[0].close()
    assert victim.read_text() == "precious"


def newer(layout: Layout) -> bytes:
    rebuild(layout)
    connection = sqlite3.connect(layout.index_file)
    connection.execute("PRAGMA user_version = 9999")
    connection.close()
    return Path(layout.index_file).read_bytes()


def test_newer_index_is_not_replaced_on_request(layout: Layout) -> None:
    before = newer(layout)
    memory = open_memory(layout.root)
    with pytest.raises(Refused, match="newer version"):
        rebuild(memory.layout)
    assert Path(layout.index_file).read_bytes() == before
    assert memory.refresh().total == 12
    assert memory.index.database.in_memory
    assert index_status(memory).state == "newer"


@pytest.mark.parametrize("command", ["index verify", "index status", "index refresh", "status"])
def test_newer_index_is_not_called_rebuilt(
    layout: Layout, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    before = newer(layout)
    monkeypatch.chdir(layout.root)
    done = run_here(*command.split())
    assert Path(layout.index_file).read_bytes() == before
    assert "newer version" in done.out + done.err
    assert "in memory" in done.out + done.err
    assert "rebuil" not in (done.out + done.err).lower()
    assert "index refresh" not in done.out


def test_unwritable_manifest_is_not_reported_as_written(layout: Layout) -> None:
    newer(layout)
    assert manifest(open_memory(layout.root)).diagnostics == ()
    os.unlink(layout.manifest_file)
    (finding,) = manifest(open_memory(layout.root)).diagnostics
    assert (finding.rule, finding.message) == ("TM502", "Missing manifest")


def test_newer_index_written_during_a_rebuild_is_kept(layout: Layout) -> None:
    """The older program checked before the newer one wrote."""
    rebuild(layout)
    Path(layout.index_file).write_bytes(b"damaged")
    real = SqliteIndex.open.__func__
    seen: list[bytes] = []

    def judged(cls: type[SqliteIndex], path: str) -> SqliteIndex:
        try:
            return real(cls, path)
        finally:
            if not seen:
                seen.append(b"")
                os.unlink(layout.index_file)
                seen[0] = newer(layout)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SqliteIndex, "open", classmethod(judged))
        index, _ = open_index(layout)
    assert index.database.in_memory
    assert index.count() == 12
    assert Path(layout.index_file).read_bytes() == seen[0]


def test_leftovers_of_a_killed_process_are_removed_after_an_hour(layout: Layout) -> None:
    rebuild(layout)
    old, young = "memory.db.00000000000a.tmp", "manifest.json.00000000000b.tmp"
    for name in (old, "manifest.json.00000000000c.tmp", young):
        Path(layout.indexes_dir, name).write_text("left")
        if name != young:
            os.utime(os.path.join(layout.indexes_dir, name), (1, 1))
    rebuild(layout)
    assert sorted(os.listdir(layout.indexes_dir)) == ["manifest.json", young, "memory.db", "memory.db.seal"]
    os.unlink(os.path.join(layout.indexes_dir, young))


def test_file_and_memory_index_are_equal(layout: Layout) -> None:
    rebuild(layout)
    index = SqliteIndex.open(layout.index_file)
    whole = content(index)
    index.close()
    newer(layout)
    index, _ = open_index(layout)
    assert index.database.in_memory
    assert content(index) == whole


def sealed_again(layout: Layout, statement: str) -> None:
    """Change the index and renew its seal, like silent corruption of the disk."""
    connection = sqlite3.connect(layout.index_file)
    connection.execute(statement)
    connection.commit()
    connection.close()
    database.write_seal(layout.index_file)


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("UPDATE docs SET title = 'another' WHERE doc_id = 'fact.n3'", "docs"),
        ("UPDATE manifest SET entry = '' WHERE doc_id = 'fact.n3'", "manifest"),
        ("UPDATE files SET hash = 'x' WHERE doc_id = 'fact.n3'", "files"),
        ("UPDATE meta SET value = '0000000000000001' WHERE key = 'generation'", "generation"),
        ("DELETE FROM names", "names"),
        ("DELETE FROM traits", "traits"),
        ("UPDATE passages SET body = 'others' WHERE id = 4096", "fts|malformed"),
        ("DELETE FROM docs_fts_data WHERE id > 10", "fts|words|malformed"),
    ],
)
def test_silent_damage_is_found_by_verification_and_rebuilt(
    layout: Layout, statement: str, expected: str
) -> None:
    memory = open_memory(layout.root)
    assert index_verify(memory).problem == ""
    memory.index.close()
    sealed_again(layout, statement)
    memory = open_memory(layout.root)
    found = index_verify(memory)
    assert re.search(expected, found.problem), found
    memory.index.close()
    memory = open_memory(layout.root)
    assert memory.refresh().rebuilt
    assert index_verify(memory).problem == ""
    memory.index.close()


def test_damage_found_in_a_result_is_repaired_once(layout: Layout) -> None:
    rebuild(layout)
    sealed_again(layout, "DELETE FROM docs_fts_data WHERE id > 10")
    memory = open_memory(layout.root)
    assert len(search(memory, "cache", limit=50).hits) == 12
    memory.index.close()
    memory = open_memory(layout.root)
    assert memory.refresh().rebuilt == ""
    assert len(search(memory, "cache", limit=50).hits) == 12
    memory.index.close()


def test_copied_index_is_rebuilt_and_not_called_damaged(layout: Layout, tmp_path: Path) -> None:
    rebuild(layout)
    copied = tmp_path / "copied"
    shutil.copytree(layout.root, copied)
    reason = "it was copied or changed by another program, or a command was killed while writing it"
    (found,) = (check for check in doctor(open_memory(str(copied))).checks if check.name == "index")
    assert (found.state, found.message) == ("note", f"the index {reason[3:]}")
    memory = open_memory(str(copied))
    assert memory.refresh().rebuilt == reason
    memory.index.close()


def test_doctor_does_not_recommend_fixes_for_a_read_only_store(
    layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    rebuild(layout)
    Path(layout.index_file).write_bytes(b"damaged")
    monkeypatch.setattr("thunderus_mem.doctor.checks.os.access", lambda path, mode: mode != os.W_OK)
    report = doctor(open_memory(layout.root))
    assert not report.fixes
    assert not any("--fix" in f"{check.command} {check.hint}" for check in report.checks)
    (found,) = (check for check in report.checks if check.name == "index")
    assert found.hint == "make the store writable, then run doctor again"


def test_doctor_checks_the_index_pages(layout: Layout) -> None:
    rebuild(layout)
    with open(layout.index_file, "r+b") as handle:
        handle.seek(os.path.getsize(layout.index_file) - 4096)
        handle.write(bytes(4096))
    database.write_seal(layout.index_file)
    (found,) = (check for check in doctor(open_memory(layout.root)).checks if check.name == "index")
    assert (found.state, "damaged" in found.message) == ("note", True)
