from __future__ import annotations

import os
import random
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.index_support import content, document, new_store, put
from thunderus_mem.memory import open_memory
from thunderus_mem.model.errors import Busy
from thunderus_mem.model.query import parse_query
from thunderus_mem.projection import database as db
from thunderus_mem.projection.damage import Damaged
from thunderus_mem.projection.index import Index
from thunderus_mem.projection.refresh import open_index, rebuild, refresh
from thunderus_mem.projection.statements import VERSION
from thunderus_mem.recall.search import search

if TYPE_CHECKING:
    from thunderus_mem.store.layout import Layout


def small_store(root: Path) -> Layout:
    layout = new_store(root)
    words = ["cache", "token", "parser", "queue", "schema", "release"]
    for number in range(40):
        body = "".join(
            f"## Part {part}\n\n{' '.join(words[part:])} {number} `parseItem{part}`\n\n" for part in range(4)
        )
        put(layout, f"n{number}.md", document(f"fact.n{number}", body, title=f"About {words[number % 6]}"))
    return layout


def answers(layout: Layout) -> list[tuple[str, int, str, float]]:
    def question(index: Index) -> list[tuple[str, int, str, float]]:
        return [
            (hit.id, hit.line, hit.snippet, hit.score)
            for text in ("cache", "parseItem2 release", "queue schema 7")
            for hit in search(index, parse_query(text), root=layout.root)
        ]

    memory = open_memory(layout.root)
    try:
        return memory.ask(question)
    finally:
        memory.index.close()


def damage(path: str, chance: random.Random) -> str:
    """Harm the index file in one of the ways that disks, programs and people do."""
    data = bytearray(Path(path).read_bytes())
    kind = chance.choice(
        ["flips", "flips", "page", "page", "cut", "empty", "header", "foreign", "text", "folder", "link"]
    )
    if kind == "flips":
        for _ in range(8):
            data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    elif kind == "page":
        start = chance.randrange(len(data) // 4096) * 4096
        data[start : start + 4096] = bytes(4096)
    elif kind == "cut":
        del data[chance.randrange(len(data)) :]
    elif kind == "empty":
        data.clear()
    elif kind == "header":
        data[:100] = bytes(100)
    elif kind == "text":
        data = bytearray(b"this is not a database\n" * 50)
    os.unlink(path)
    if kind == "foreign":
        other = sqlite3.connect(path)
        other.executescript("CREATE TABLE docs (x); INSERT INTO docs VALUES (1); CREATE VIEW v AS SELECT 1;")
        other.close()
    elif kind == "folder":
        os.mkdir(path)
    elif kind == "link":
        os.symlink("manifest.json", path)
    else:
        Path(path).write_bytes(bytes(data))
    return kind


def check_damages(root: Path, count: int, seed: int) -> None:
    layout = small_store(root)
    rebuild(layout)
    index = Index.open(layout.index_file)
    whole, expected = content(index), answers(layout)
    index.close()
    keep = root / "keep"
    shutil.copytree(layout.indexes_dir, keep)
    chance = random.Random(seed)
    for _ in range(count):
        kind = damage(layout.index_file, chance)
        index, refreshed = open_index(layout)
        assert refreshed.rebuilt, kind
        assert content(index) == whole, kind
        index.close()
        assert answers(layout) == expected, kind


def test_any_damage_is_found_and_the_index_built_anew(tmp_path: Path) -> None:
    check_damages(tmp_path, 12, 3)


@pytest.mark.faults
def test_any_of_many_damages_is_found_and_the_index_built_anew(tmp_path: Path) -> None:
    check_damages(tmp_path, 200, 11)


def test_damage_under_an_open_index_fails_its_check(tmp_path: Path) -> None:
    layout = small_store(tmp_path)
    index, _ = open_index(layout)
    assert index.database.check() == ""
    with open(layout.index_file, "r+b") as handle:
        handle.seek(5000)
        handle.write(b"x")
    assert index.database.check() != ""


def test_damage_that_shows_only_while_answering_is_answered_anew(tmp_path: Path) -> None:
    layout = small_store(tmp_path)
    rebuild(layout)
    asked: list[str] = []

    def question(index: Index) -> int:
        asked.append("once")
        if len(asked) == 1:
            raise Damaged("a page is gone")
        return index.count()

    memory = open_memory(layout.root)
    assert memory.ask(question) == 40
    assert len(asked) == 2


def test_a_newer_index_is_left_alone_and_answers_come_from_memory(tmp_path: Path) -> None:
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
def test_an_index_with_other_statements_than_ours_is_replaced(tmp_path: Path, statement: str) -> None:
    layout = small_store(tmp_path)
    rebuild(layout)
    connection = sqlite3.connect(layout.index_file)
    connection.execute(statement)
    connection.close()
    index, refreshed = open_index(layout)
    assert "something else" in refreshed.rebuilt
    assert index.count() == 40


def test_busy_is_not_damaged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(db, "BUSY_SECONDS", 0.05)
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


def test_a_writer_killed_in_the_middle_leaves_an_index_that_heals(tmp_path: Path) -> None:
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


def test_without_a_place_to_write_the_index_lives_in_memory(tmp_path: Path) -> None:
    layout = small_store(tmp_path)
    Path(layout.indexes_dir).write_text("in the way")
    index, refreshed = open_index(layout)
    assert index.database.in_memory
    assert refreshed.total == 40
    assert search(index, parse_query("cache"), root=layout.root)
    put(layout, "more.md", document("fact.more", "needle\n"))
    refresh(layout, index)
    assert [hit.id for hit in search(index, parse_query("needle"), root=layout.root)] == ["fact.more"]


def test_an_open_reader_keeps_answering_while_a_rebuild_replaces_the_file(tmp_path: Path) -> None:
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
