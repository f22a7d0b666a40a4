from __future__ import annotations

import json
import shutil
import tracemalloc
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.index_support import document, new_store, put
from thunderus_mem.errors import Busy, NotWritable
from thunderus_mem.index import database
from thunderus_mem.index.database import Database, create
from thunderus_mem.index.log import LogIndex
from thunderus_mem.index.refresh import open_index
from thunderus_mem.log.reader import EventLog
from thunderus_mem.memory.memory import open_memory

if TYPE_CHECKING:
    import random
    from collections.abc import Sequence
    from contextlib import AbstractContextManager

    from thunderus_mem.store.layout import Layout


def line(number: int, doc_id: str, after: str, second: int | None = None) -> str:
    second = number if second is None else second
    event = {
        "v": 1,
        "id": f"evt_{number:026d}",
        "ts": f"2026-01-01T00:00:{second:02d}.000Z",
        "session_id": "sess_1",
        "actor": "user",
        "kind": "patch",
        "refs": {"paths": ["p.md"], "patch_id": f"patch_{number:026d}", "memory_doc_ids": [doc_id]},
        "body": {
            "op": "add",
            "changes": [
                {
                    "op": "create" if after else "remove",
                    "doc_id": doc_id,
                    "path": "p.md",
                    "before": "" if after else "sha256:0",
                    "after": after,
                    "diff": None,
                }
            ],
        },
        "prev": None,
    }
    return json.dumps(event) + "\n"


def log_of(layout: Layout) -> EventLog:
    return EventLog(layout.root, layout.sessions_dir, layout.local_sessions_dir, layout.legacy_events_file)


def test_events_are_found_by_document_hash_and_time(tmp_path: Path) -> None:
    layout = new_store(tmp_path)
    put(layout, "a.md", document("fact.a"))
    for shard, numbers in (("one", (1, 3)), ("two", (2, 3))):
        folder = Path(layout.sessions_dir) / shard
        folder.mkdir(parents=True)
        (folder / "events.jsonl").write_text("".join(line(n, f"fact.n{n}", f"sha256:{n}") for n in numbers))
    index, _ = open_index(layout)
    log = LogIndex(index.database)
    assert log.refresh(log_of(layout)) == 2
    assert [event.id[-1] for event in log.naming(["fact.n3"])] == ["3"]
    assert log.explains("sha256:2")
    assert not log.explains("sha256:9")
    assert not log.explains("")
    assert all(log.explains(f"sha256:{number}") for number in (1, 2, 3))
    assert (log.total(), log.damages()) == (3, 0)


def test_only_changed_shards_are_read_and_lost_ones_removed(tmp_path: Path) -> None:
    layout = new_store(tmp_path)
    folder = Path(layout.sessions_dir) / "one"
    folder.mkdir(parents=True)
    shard = folder / "events.jsonl"
    shard.write_text(line(1, "fact.a", "sha256:1"))
    index, _ = open_index(layout)
    log = LogIndex(index.database)
    log.refresh(log_of(layout))
    with shard.open("a") as handle:
        handle.write(line(2, "fact.a", "sha256:2") + "not an event\n")
    log.refresh(log_of(layout))
    assert len(log.naming(["fact.a"])) == 2
    assert log.damages() == 1
    shutil.rmtree(folder)
    log.refresh(log_of(layout))
    assert log.total() == 0


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.lists(st.lists(st.integers(0, 3), max_size=5), max_size=3), st.randoms(use_true_random=False))
def test_index_and_log_have_one_order(seconds: list[list[int]], shuffled: random.Random) -> None:
    """With clocks that stop or go back and unordered ids, index and log keep the line order of a session."""
    numbers = list(range(sum(map(len, seconds))))
    shuffled.shuffle(numbers)
    with TemporaryDirectory() as root:
        layout = new_store(root)
        shards = []
        for name, moments in enumerate(seconds):
            folder = Path(layout.sessions_dir) / f"s{name}"
            folder.mkdir(parents=True)
            shards.append([line(numbers.pop(), "fact.a", "sha256:1", second) for second in moments])
            (folder / "events.jsonl").write_text("".join(shards[-1]))
        in_log = [logged.event.id for logged in log_of(layout).read_all().events]
        projected = LogIndex(create())
        projected.refresh(log_of(layout))
        assert [row.id for row in projected.naming(["fact.a"])] == in_log
    for shard in shards:
        ids = [json.loads(one)["id"] for one in shard]
        assert [one for one in in_log if one in ids] == ids


@pytest.mark.parametrize("arrived", [("one", "two"), ("two", "one")])
def test_completion_offers_each_patch_once_in_the_order_of_the_log(
    tmp_path: Path, arrived: Sequence[str]
) -> None:
    layout = new_store(tmp_path)
    log = LogIndex(create())
    lines = {
        "one": line(5, "fact.a", "sha256:1", 9) + line(4, "fact.a", "", 3) + line(6, "fact.a", "", 3),
        "two": line(5, "fact.a", "sha256:1", 9) + line(2, "fact.a", "", 3),
    }
    for name in arrived:
        folder = Path(layout.sessions_dir) / name
        folder.mkdir(parents=True)
        (folder / "events.jsonl").write_text(lines[name])
        log.refresh(log_of(layout))
    assert [id[-1] for id, _ in log.patches("evt_", 9)] == ["6", "4", "2", "5"]


def test_last_event_is_last_in_its_shard_not_by_time(tmp_path: Path) -> None:
    layout = new_store(tmp_path)
    folder = Path(layout.sessions_dir) / "one"
    folder.mkdir(parents=True)
    (folder / "events.jsonl").write_text(line(2, "fact.a", "sha256:1", 9) + line(1, "fact.a", "", 3))
    index, _ = open_index(layout)
    log = LogIndex(index.database)
    log.refresh(log_of(layout))
    assert log.vanished() == []


def test_unwritable_index_still_answers_log_queries(tmp_path: Path, monkeypatch) -> None:
    layout = new_store(tmp_path)
    put(layout, "a.md", document("fact.a"))
    shard = Path(layout.sessions_dir) / "one" / "events.jsonl"
    shard.parent.mkdir(parents=True)
    shard.write_text(line(1, "fact.a", "sha256:1"))
    memory = open_memory(layout.root, environ={"PATH": ""})
    memory.refresh()
    transaction = Database.transaction

    def full(used: Database, *given: int) -> AbstractContextManager[None]:
        if not used.in_memory:
            raise NotWritable("the disk is full")
        return transaction(used, *given)

    monkeypatch.setattr(Database, "transaction", full)
    assert memory.log_index().total() == 1
    assert memory.index.ids() == ["fact.a"]


@pytest.mark.parametrize("question", ["newest", "naming"])
def test_log_result_is_consistent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, question: str) -> None:
    """During the query another branch is checked out and another process reads its log."""
    monkeypatch.setattr(database, "BUSY_SECONDS", 0.05)
    layout = new_store(tmp_path)
    folder = Path(layout.sessions_dir) / "one"
    folder.mkdir(parents=True)
    (folder / "events.jsonl").write_text("".join(line(n, "fact.a", f"sha256:{n}") for n in (1, 2)))
    index, _ = open_index(layout)
    log_index = LogIndex(index.database)
    log_index.refresh(log_of(layout))
    rows: Any = database.Database.rows
    meddled: list[str] = []

    def meddling(
        self: database.Database, sql: str, values: Sequence[object] = ()
    ) -> list[tuple[object, ...]]:
        found = rows(self, sql, values)
        if "FROM events" in sql and not meddled:
            meddled.append(sql)
            shutil.rmtree(folder)
            other, _ = open_index(layout)
            with pytest.raises(Busy):
                LogIndex(other.database).refresh(log_of(layout))
            other.close()
        return found

    monkeypatch.setattr(database.Database, "rows", meddling)
    found = log_index.newest(5) if question == "newest" else log_index.naming(["fact.a"])
    assert meddled
    assert len(found) == 2
    index.close()


def large_line(number: int) -> str:
    """An event that changes a hundred documents."""
    event = json.loads(line(number, "", "sha256:0", 1))
    (change,) = event["body"]["changes"]
    event["body"]["changes"] = [
        change | {"doc_id": f"fact.n{number}-{at}", "path": f"{number}-{at}.md"} for at in range(100)
    ]
    return json.dumps(event) + "\n"


def test_memory_for_a_shard_does_not_grow_with_its_events(tmp_path: Path) -> None:
    def peak(events: int) -> int:
        root = tmp_path / str(events)
        root.mkdir()
        layout = new_store(root)
        index, _ = open_index(layout)
        folder = Path(layout.sessions_dir) / "one"
        folder.mkdir(parents=True)
        (folder / "events.jsonl").write_text("".join(map(large_line, range(events))))
        log = LogIndex(index.database)
        tracemalloc.start()
        log.refresh(log_of(layout))
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert len(log.documents()) == events * 100
        return most

    peak(1)
    assert peak(100) < peak(25) * 2
