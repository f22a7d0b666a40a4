"""The log on disk: every shard is found, no link is followed, and reading changes nothing."""

from __future__ import annotations

import os
import tracemalloc
from typing import TYPE_CHECKING

import pytest

from tests.support.events import note_event
from tests.support.log_findings import log_findings
from thunderus_mem.errors import NotWritable
from thunderus_mem.log.line import encode
from thunderus_mem.log.reader import EventLog, last_line

if TYPE_CHECKING:
    from pathlib import Path

SHARED = ".thunderus/sessions/sess_1/events.jsonl"
PRIVATE = ".thunderus/local/sessions/sess_1/events.jsonl"
LEGACY = ".thunderus/events.jsonl"


def note(number: int, prev: str | None = None) -> bytes:
    return encode(
        note_event(
            id=f"evt_{number}",
            ts=f"2026-01-21T09:00:{number:02d}Z",
            session_id="sess_1",
            actor="user",
            text=f"evt_{number + 1} comes next",
            prev=prev,
        )
    )


def write(root: Path, shard: str, *lines: bytes) -> Path:
    path = root / shard
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(lines))
    return path


@pytest.fixture
def log(tmp_path: Path) -> EventLog:
    store = tmp_path / ".thunderus"
    return EventLog(
        str(tmp_path), str(store / "sessions"), str(store / "local/sessions"), str(store / "events.jsonl")
    )


def test_store_without_a_log_is_empty_and_intact(log: EventLog) -> None:
    assert log.shards() == []
    assert log.read_all().events == ()
    assert log_findings(log) == []
    assert log.read_shard(SHARED).events == ()


def test_shared_private_and_single_file_logs_are_joined(log: EventLog, tmp_path: Path) -> None:
    write(tmp_path, SHARED, note(2))
    write(tmp_path, PRIVATE, note(3))
    write(tmp_path, LEGACY, note(1))
    assert log.shards() == sorted([LEGACY, PRIVATE, SHARED])
    assert [logged.event.id for logged in log.read_all().events] == ["evt_1", "evt_2", "evt_3"]
    assert [log.is_private(shard) for shard in (SHARED, PRIVATE, LEGACY)] == [False, True, False]
    assert log_findings(log) == []


def test_contains_matches_event_ids_only(log: EventLog, tmp_path: Path) -> None:
    write(tmp_path, SHARED, note(1), note(3)[:-1])
    assert log.contains(SHARED, "evt_1")
    assert not log.contains(SHARED, "evt_2")
    assert not log.contains(SHARED, "evt_3")
    assert not log.contains(PRIVATE, "evt_1")


@pytest.mark.parametrize("size", [1, 65_535, 65_536, 65_537, 200_000])
def test_last_line_of_any_length_is_found(tmp_path: Path, size: int) -> None:
    path = write(tmp_path, "log", b"first\n", b"x" * size, b"\n")
    assert last_line(str(path)) == b"x" * size
    path.write_bytes(b"x" * size + b"\n")
    assert last_line(str(path)) == b"x" * size


@pytest.mark.parametrize("data", [b"", b"\n", b"first\ntorn"])
def test_no_last_line_without_a_complete_one(tmp_path: Path, data: bytes) -> None:
    assert last_line(str(write(tmp_path, "log", data))) is None


def test_broken_chain_is_reported_with_file_and_line(log: EventLog, tmp_path: Path) -> None:
    write(tmp_path, SHARED, note(1), note(2))
    assert [(one.rule, one.path, one.line) for one in log_findings(log)] == [("TM504", SHARED, 2)]


def test_shard_named_after_another_session_is_reported(log: EventLog, tmp_path: Path) -> None:
    write(tmp_path, SHARED.replace("sess_1", "sess_2"), note(1))
    assert [one.rule for one in log_findings(log)] == ["TM503"]


def test_links_pipes_and_folders_are_skipped(log: EventLog, tmp_path: Path) -> None:
    outside = write(tmp_path, "outside/events.jsonl", note(9))
    sessions = tmp_path / ".thunderus/sessions"
    write(tmp_path, SHARED, note(1))
    (sessions / "sess_2").mkdir()
    (sessions / "sess_2/events.jsonl").symlink_to(outside)
    (sessions / "sess_3").symlink_to(outside.parent)
    (sessions / "sess_4/events.jsonl").mkdir(parents=True)
    (sessions / "sess_5").mkdir()
    os.mkfifo(sessions / "sess_5/events.jsonl")
    (sessions / "README").write_text("not a session")
    reading = log.read_all()
    assert [logged.event.id for logged in reading.events] == ["evt_1"]
    assert [damage.line for damage in reading.damages] == [0, 0, 0, 0]
    assert {one.rule for one in log_findings(log)} == {"TM503"}


def test_reading_changes_no_file(log: EventLog, tmp_path: Path) -> None:
    path = write(tmp_path, SHARED, note(1), note(2)[:30])
    before = (path.read_bytes(), path.stat().st_mtime_ns)
    log.read_all()
    log_findings(log)
    log.contains(SHARED, "evt_1")
    assert (path.read_bytes(), path.stat().st_mtime_ns) == before
    assert [one.rule for one in log_findings(log)] == ["TM505"]


def test_unreadable_shard_is_not_reported_as_lacking_an_event(tmp_path: Path) -> None:
    shard = tmp_path / ".thunderus" / "sessions" / "sess_1" / "events.jsonl"
    shard.mkdir(parents=True)
    log = EventLog(
        str(tmp_path), str(shard.parent.parent), str(tmp_path / "local"), str(tmp_path / "events.jsonl")
    )

    with pytest.raises(NotWritable):
        log.contains(".thunderus/sessions/sess_1/events.jsonl", "evt_1")
    with pytest.raises(NotWritable, match="cannot read"):
        list(log.read_lines(".thunderus/sessions/sess_1/events.jsonl", [1]))

    assert not log.contains(".thunderus/sessions/sess_2/events.jsonl", "evt_1")
    assert list(log.read_lines(".thunderus/sessions/sess_2/events.jsonl", [1])) == []


def test_reading_a_short_log_takes_little_memory(log: EventLog, tmp_path: Path) -> None:
    write(tmp_path, SHARED, note(1))
    tracemalloc.start()
    events = log.read_all().events
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(events) == 1
    assert most < 1 << 20
