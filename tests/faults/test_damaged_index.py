"""X1 and F10: an index damaged by accident or on purpose; answers match the files."""

from __future__ import annotations

import os
import random
import shutil
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import report
from hostile_databases import make_hostile
from tier import points

from tests.support.index_damage import answers, check_damages, damaged_bytes, small_store
from tests.support.index_support import content
from thunderus_mem.doctor.upkeep import index_verify
from thunderus_mem.index import database
from thunderus_mem.index.database import write_seal
from thunderus_mem.index.refresh import open_index, rebuild
from thunderus_mem.memory.memory import open_memory

if TYPE_CHECKING:
    import sqlite3

    import pytest

    from thunderus_mem.store.layout import Layout

_OURS = "-- ours is in place"
_HARMLESS = {_OURS, "BEGIN", "BEGIN EXCLUSIVE", "ROLLBACK"} | {
    f"PRAGMA {name}" for name in ("query_only", "application_id", "user_version")
}
"""What SQLite may do with a file before it is trusted: nothing that reads its schema."""


def test_any_index_damage_is_detected_and_rebuilt(tmp_path: Path) -> None:
    begun = time.monotonic()
    tally = check_damages(tmp_path, points(200, 1000), 11, documents=12)
    report.add(
        "X1",
        "damages",
        tried=tally.tried,
        lost=tally.wrong,
        healed=tally.rebuilt,
        slowest=(time.monotonic() - begun) / tally.tried,
    )
    assert (tally.wrong, tally.rebuilt) == (0, tally.tried)


def test_silent_index_corruption_is_found_by_verification(tmp_path: Path) -> None:
    """The seal is valid; an index that verification accepts answers like a new one."""
    layout = small_store(tmp_path, 12)
    rebuild(layout)
    whole, expected = Path(layout.index_file).read_bytes(), answers(layout)
    chance, count = random.Random(17), points(30, 200)
    found = wrong = 0
    for turn in range(count):
        kind = ("flips", "page")[turn % 2]
        Path(layout.index_file).write_bytes(damaged_bytes(bytearray(whole), kind, chance))
        write_seal(layout.index_file)
        memory = open_memory(layout.root)
        refreshed = memory.refresh()
        proof = index_verify(memory)
        memory.index.close()
        found += bool(proof.problem or refreshed.rebuilt)
        wrong += answers(layout) != expected
    report.add("X1-decay", "proof", tried=count, lost=wrong, healed=found)
    assert wrong == 0


def test_hostile_database_is_neither_run_nor_parsed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    layout, chance, count = small_store(tmp_path, 8), random.Random(23), points(60, 200)
    index, _ = open_index(layout)
    expected = content(index)
    index.close()
    kept = tmp_path / "kept"
    shutil.copytree(layout.indexes_dir, kept)
    ran = _statements_until_ours_is_in_place(monkeypatch)
    healed = wrong = 0
    for _ in range(count):
        shutil.rmtree(layout.indexes_dir)
        shutil.copytree(kept, layout.indexes_dir)
        newer = make_hostile(layout.index_file, chance)
        ran.clear()
        index, refreshed = open_index(layout)
        assert index.database.in_memory is newer, refreshed
        healed += bool(refreshed.rebuilt)
        wrong += content(index) != expected
        index.close()
        assert {statement.partition(" =")[0] for statement in ran} <= _HARMLESS, ran
        _clear(layout)
    report.add("F10", "hostile databases", tried=count, lost=wrong, healed=healed)
    assert (wrong, healed) == (0, count)


def _statements_until_ours_is_in_place(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What SQLite runs on the file in the index's place; from our own publishing on nothing is noted."""
    ran: list[str] = []
    connection_to, replace = database.connection_to, os.replace

    def traced(place: str) -> sqlite3.Connection:
        connection = connection_to(place)
        if "memory.db?mode=rw" in place and _OURS not in ran:
            connection.set_trace_callback(ran.append)
        return connection

    def noted(source: str, target: str, **options: Any) -> None:
        replace(source, target, **options)
        if str(target).endswith("memory.db"):
            ran.append(_OURS)

    monkeypatch.setattr(database, "connection_to", traced)
    monkeypatch.setattr(os, "replace", noted)
    return ran


def _clear(layout: Layout) -> None:
    for name in os.listdir(layout.indexes_dir):
        if ".set-aside-" in name:
            shutil.rmtree(os.path.join(layout.indexes_dir, name))
