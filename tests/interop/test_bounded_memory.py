"""Memory of an import, its repetition and its `undo`, of an export and a new index is bounded by a batch."""

from __future__ import annotations

import gc
import io
import json
import shutil
import tracemalloc
from typing import TYPE_CHECKING

import pytest

from tests.support.git_repository import Repository
from tests.support.tree_writer import Clock
from tests.support.verb_tree import VerbTree
from thunderus_mem.document.frontmatter.read import read_header
from thunderus_mem.history.undo import undo
from thunderus_mem.index.questions import Filter
from thunderus_mem.index.scan import FileStamp
from thunderus_mem.interop.export import RecordExport
from thunderus_mem.interop.formats import load
from thunderus_mem.interop.transfer import ImportOptions, import_records
from thunderus_mem.safety import secrets

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from thunderus_mem.memory.memory import Memory

JSONL = load("jsonl")
FEW, MANY = 100, 400
MOST = {"import": 1_000, "import again": 150, "export": 150, "index": 150, "undo": 2_000}
"""Bytes that a record may take, e.g. for the name and stamp of its file. The peak of an import varies,
because it writes files in threads. The result of an `undo` names each document."""
BATCHES = (
    *("history.undo._TOGETHER", "index.log._MOST_ROWS", "index.scan._MOST_IN_PART"),
    *("index.sqlite_index.BATCH", "index.sqlite_index._ENTRIES", "index.writer.BATCH"),
    *("interop.export.BATCH", "interop.transfer.MOST_DOCUMENTS", "memory.hand_edits._MANY"),
    *("memory.hand_edits.BATCH", "memory.transaction._MOST_LISTED"),
)


def records(count: int) -> bytes:
    return "".join(
        json.dumps({"id": f"r{number}", "title": f"Record {number}", "text": f"It is number {number}.\n" * 9})
        + "\n"
        for number in range(count)
    ).encode()


def peak(work: Callable[[], object]) -> int:
    """The most memory that is allocated at a time, in bytes."""
    gc.collect()
    gc.freeze()
    tracemalloc.start()
    work()
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    gc.unfreeze()
    return most


def peaks(folder: Path, count: int) -> dict[str, int]:
    """The peak of each command for so many records, in a store of their own."""
    tree = VerbTree(Repository(folder / "tree", folder / "home").init(), Clock())
    tree.begin()
    data = records(count)

    def memory() -> Memory:
        made = tree.memory()
        made.tell = lambda *progress: gc.collect()  # also frees what Python keeps for new tuples
        return made

    def imported() -> int:
        report = import_records(memory(), JSONL, io.BytesIO(data), "m.jsonl", ImportOptions(listed=0))
        return report.imported

    def exported() -> None:
        export = RecordExport(memory(), JSONL, Filter())
        assert sum(piece.count("\n") for piece in export.pieces()) == count

    def undone() -> int:
        return sum(len(event.documents) for event in undo(memory()).events)

    found = {"import": peak(lambda: imported() == count or pytest.fail("not imported"))}
    found["import again"] = peak(lambda: imported() == 0 or pytest.fail("imported again"))
    found["export"] = peak(exported)
    shutil.rmtree(tree.memory().layout.indexes_dir)
    found["index"] = peak(memory().refresh)
    found["undo"] = peak(lambda: undone() == count or pytest.fail("not undone"))
    return found


def test_memory_hardly_grows_with_the_records(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in BATCHES:
        monkeypatch.setattr(f"thunderus_mem.{name}", 20)
    for name in ("history.undo", "memory.transaction"):  # as in an event of 500 documents
        monkeypatch.setattr(f"thunderus_mem.{name}.MOST_WITH_DIFFS", 0)
    # Files that have just been written are remembered, and up to a limit headers and searched texts.
    monkeypatch.setattr(FileStamp, "racy_at", lambda stamp, moment: False)
    monkeypatch.setattr("thunderus_mem.document.document.read_header", read_header.__wrapped__)
    monkeypatch.setattr("thunderus_mem.safety.secrets._cached", secrets._cached.__wrapped__)
    peaks(tmp_path / "warm", 10)
    few, many = peaks(tmp_path / "few", FEW), peaks(tmp_path / "many", MANY)
    each = {command: (many[command] - few[command]) // (MANY - FEW) for command in few}

    assert not {command: size for command, size in each.items() if size > MOST[command]}, (few, many, each)
