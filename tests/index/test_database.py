from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.support.index_damage import Tally, check_damages, small_store
from tests.support.index_support import document, find_hits, put
from thunderus_mem.errors import Busy
from thunderus_mem.index import database
from thunderus_mem.index.database import VERSION, IndexDamaged
from thunderus_mem.index.refresh import open_index, rebuild, refresh
from thunderus_mem.memory.memory import open_memory
from thunderus_mem.search.query import parse_query

if TYPE_CHECKING:
    from thunderus_mem.index.sqlite_index import SqliteIndex


def test_any_index_damage_is_detected_and_rebuilt(tmp_path: Path) -> None:
    tally = check_damages(tmp_path, 15, 3)
    assert tally == Tally(tried=15, wrong=0, rebuilt=15)


def test_damage_under_an_open_index_fails_its_check(tmp_path: Path) -> None:
    layout = small_store(tmp_path)
    index, _ = open_index(layout)
    assert index.database.check() == ""
    with open(layout.index_file, "r+b") as handle:
        handle.seek(5000)
        handle.write(b"x")
    assert index.database.check() != ""


def test_damage_found_during_a_query_is_repaired_and_the_query_repeated(tmp_path: Path) -> None:
    layout = small_store(tmp_path)
    rebuild(layout)
    asked: list[str] = []

    def question(index: SqliteIndex) -> int:
        asked.append("once")
        if len(asked) == 1:
            raise IndexDamaged("a page is gone")
        return index.count()

    memory = open_memory(layout.root)
    assert memory.ask(question) == 40
    assert len(asked) == 2


def test_newer_index_is_kept_and_an_index_in_memory_used(tmp_path: Path) -> None:
    layout = small_store(tmp_path)
    rebuild(layout)
    connection = sqlite3.connect(layout.index_file)
    connection.execute(f"PRAGMA user_version = {VERSION + 1}")
    connection.close()
    before = Path(layout.index_file).read_bytes()
    index, refreshed = open_index(layout)
    assert index.database.in_memory
    assert (refreshed.total, "newer" in refreshed.rebuilt) == (40, True)
    assert Path(layout.index_file).read_bytes() == before


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TRIGGER t AFTER UPDATE ON meta BEGIN DELETE FROM docs; END",
        "CREATE VIEW v AS SELECT 1",
        "CREATE TABLE extra (x)",
        "DROP INDEX names_by_doc_id",
    ],
)
def test_index_with_an_unexpected_schema_is_replaced(tmp_path: Path, statement: str) -> None:
    layout = small_store(tmp_path)
    rebuild(layout)
    connection = sqlite3.connect(layout.index_file)
    connection.execute(statement)
    connection.close()
    index, refreshed = open_index(layout)
    assert "another program" in refreshed.rebuilt
    assert index.count() == 40


def test_busy_index_is_not_damaged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "BUSY_SECONDS", 0.05)
    layout = small_store(tmp_path)
    index, _ = open_index(layout)
    index.close()
    put(layout, "more.md", document("fact.more"))
    holder = sqlite3.connect(layout.index_file, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    inode = os.stat(layout.index_file).st_ino
    with pytest.raises(Busy):
        open_index(layout)
    holder.execute("ROLLBACK")
    holder.close()
    index, refreshed = open_index(layout)
    assert (refreshed.added, refreshed.rebuilt) == (1, "")
    assert os.stat(layout.index_file).st_ino == inode


def test_index_of_a_killed_writer_is_repaired(tmp_path: Path) -> None:
    layout = small_store(tmp_path)
    rebuild(layout)
    code = (
        "import os, sqlite3, sys\n"
        "c = sqlite3.connect(sys.argv[1], isolation_level=None)\n"
        "c.execute('PRAGMA cache_size = 1')\n"
        "c.execute('BEGIN IMMEDIATE')\n"
        "c.execute('DELETE FROM docs')\n"
        "c.execute('DELETE FROM passages')\n"
        "os._exit(1)\n"
    )
    subprocess.run([sys.executable, "-c", code, layout.index_file], check=False)
    index, refreshed = open_index(layout)
    assert index.count() == 40
    assert refreshed.total == 40
    assert index.database.check() == ""


def test_index_is_in_memory_if_it_cannot_be_written(tmp_path: Path) -> None:
    layout = small_store(tmp_path)
    Path(layout.indexes_dir).write_text("in the way")
    index, refreshed = open_index(layout)
    assert index.database.in_memory
    assert refreshed.total == 40
    assert find_hits(index, parse_query("cache"), root=layout.root)
    put(layout, "more.md", document("fact.more", "needle\n"))
    refresh(layout, index)
    assert [hit.id for hit in find_hits(index, parse_query("needle"), root=layout.root)] == ["fact.more"]


def test_open_reader_keeps_working_during_a_rebuild(tmp_path: Path) -> None:
    layout = small_store(tmp_path)
    index, _ = open_index(layout)
    rebuild(layout)
    assert index.count() == 40
    index.close()
    index, refreshed = open_index(layout)
    assert refreshed.rebuilt == ""


def test_reading_cannot_write(tmp_path: Path) -> None:
    layout = small_store(tmp_path)
    index, _ = open_index(layout)
    with pytest.raises(Exception, match="readonly"):
        index.database.run("DELETE FROM docs")
    assert index.count() == 40
