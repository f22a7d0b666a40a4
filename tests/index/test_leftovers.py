"""Temporary files next to the index: found by name, removed once no process can be writing them."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from tests.support.index_support import document, new_store, put
from thunderus_mem.index.refresh import leftovers, open_index, rebuild, sweep

if TYPE_CHECKING:
    from pathlib import Path

LEFT = (
    "memory.db.0123456789ab.tmp",
    "memory.db.0123456789ab.tmp-journal",
    "manifest.json.0123456789ab.tmp",
    "memory.db.seal.0123456789ab.tmp",
)
OTHERS = (
    "memory.db",
    "manifest.json",
    "memory.db.seal",
    "memory.db.tmp",
    "notes.tmp",
    "memory.db.0123456789ab.tmp.bak",
)


def put_all(folder: Path, *, age: float) -> None:
    for name in (*LEFT, *OTHERS):
        (folder / name).write_bytes(b"x")
        os.utime(folder / name, (time.time() - age,) * 2)


def test_only_old_files_with_our_names_are_removed(tmp_path: Path) -> None:
    put_all(tmp_path, age=120)
    assert [os.path.basename(one.path) for one in leftovers(str(tmp_path))] == sorted(LEFT)
    assert not any(one.in_use for one in leftovers(str(tmp_path)))
    sweep(str(tmp_path))
    assert sorted(os.listdir(tmp_path)) == sorted(OTHERS)


def test_recent_files_are_kept(tmp_path: Path) -> None:
    put_all(tmp_path, age=0)
    sweep(str(tmp_path))
    assert sorted(os.listdir(tmp_path)) == sorted((*LEFT, *OTHERS))
    assert all(one.in_use for one in leftovers(str(tmp_path)))
    assert leftovers(str(tmp_path / "none")) == []


@pytest.mark.skipif(os.name == "nt", reason="asks the kernel who holds a lock")
def test_index_being_built_by_another_process_is_kept(tmp_path: Path) -> None:
    path = tmp_path / LEFT[0]
    code = (
        "import sqlite3, sys, time\n"
        "database = sqlite3.connect(sys.argv[1], isolation_level=None)\n"
        "database.execute('PRAGMA locking_mode = EXCLUSIVE'); database.execute('CREATE TABLE t (a)')\n"
        "print('held', flush=True); time.sleep(60)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(path)], stdout=subprocess.PIPE, text=True
    ) as builder:
        try:
            assert builder.stdout is not None
            assert builder.stdout.readline() == "held\n"
            os.utime(path, (1, 1))
            assert {one.path: one.in_use for one in leftovers(str(tmp_path))}[str(path)]
            sweep(str(tmp_path))
            assert path.exists()
        finally:
            builder.kill()
    sweep(str(tmp_path))
    assert not path.exists()


def test_next_build_removes_leftovers(tmp_path: Path) -> None:
    layout = new_store(tmp_path)
    put(layout, "a.md", document("fact.a"))
    open_index(layout)[0].close()
    left = os.path.join(layout.indexes_dir, LEFT[0])
    with open(left, "wb"):
        os.utime(left, (1, 1))
    rebuild(layout)
    assert not os.path.exists(left)
