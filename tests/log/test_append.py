"""The end of a log: appended durably, repaired if torn, reverted on failure."""

from __future__ import annotations

import errno
import os
import shutil

import pytest

from thunderus_mem.errors import Conflict, Degraded, NotWritable, Refused
from thunderus_mem.log import append
from thunderus_mem.log.append import Uncertain, append_record, batch_at, repair_tail, sync_log
from thunderus_mem.store import disk
from thunderus_mem.store.files import read_file
from thunderus_mem.store.quarantine import quarantine

LINE = b'{"n":1}\n'


def _write(path, data: bytes) -> str:
    path.write_bytes(data)
    return str(path)


def test_append_returns_the_offset_of_the_line(tmp_path) -> None:
    path = str(tmp_path / "new" / "events.jsonl")
    assert append_record(path, LINE) == 0
    assert append_record(path, LINE) == len(LINE)
    assert (tmp_path / "new" / "events.jsonl").read_bytes() == LINE * 2


def test_torn_tail_is_kept_once_and_truncated(tmp_path) -> None:
    path = _write(tmp_path / "log", LINE + b'{"n":')
    with pytest.raises(Degraded):
        repair_tail(path, None)
    repaired = repair_tail(path, str(tmp_path / "kept"))
    assert repaired is not None
    assert (repaired.action, repaired.offset, repaired.size) == ("set-aside", len(LINE), 5)
    assert read_file(repaired.kept, 1000) == b'{"n":'
    assert quarantine(str(tmp_path / "kept"), f"{tmp_path.name}-log.torn", b'{"n":') == repaired.kept
    assert repair_tail(path, None) is None
    assert repair_tail(str(tmp_path / "none"), None) is None


@pytest.mark.parametrize("step", ["mode_of", "sync_file"])
def test_log_removed_by_git_during_an_append_is_a_conflict(
    tmp_path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    """Git also removes a folder with the last file in it."""
    path = str(tmp_path / "session" / "events.jsonl")
    real = getattr(disk, step)

    def removed(*given: object) -> object:
        done = real(*given)
        shutil.rmtree(tmp_path / "session", ignore_errors=True)
        return done

    monkeypatch.setattr(disk, step, removed)
    with pytest.raises(Conflict, match="removed while it was being written"):
        append_record(path, LINE)
    assert os.listdir(tmp_path) == []


def test_long_tail_is_found_from_the_end(tmp_path) -> None:
    path = _write(tmp_path / "log", LINE + b"x" * 200_000)
    repaired = repair_tail(path, str(tmp_path / "kept"))
    assert repaired is not None
    assert repaired.size == 200_000
    assert (tmp_path / "log").read_bytes() == LINE


def test_non_files_are_rejected(tmp_path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    for name in ("pipe", "link"):
        with pytest.raises(Refused):
            append_record(str(tmp_path / name), LINE)
        with pytest.raises(Refused):
            repair_tail(str(tmp_path / name), None)
    with pytest.raises(NotWritable):
        append_record(str(tmp_path / ("x" * 300)), LINE)


def test_replaced_log_is_a_conflict_and_the_line_is_removed(tmp_path, monkeypatch) -> None:
    path = _write(tmp_path / "log", LINE)
    real = disk.sync_file
    other = str(tmp_path / "other")

    def swap(descriptor: int, name: str) -> None:
        real(descriptor, name)
        if not os.path.exists(other):
            os.rename(path, other)

    monkeypatch.setattr(disk, "sync_file", swap)
    with pytest.raises(Conflict):
        append_record(path, LINE)
    assert read_file(other, 1000) == LINE
    assert not os.path.exists(path)


def test_lines_appended_by_others_are_never_truncated(tmp_path, monkeypatch) -> None:
    path = _write(tmp_path / "log", LINE)

    def interfere(descriptor: int, name: str) -> None:
        os.write(descriptor, b"foreign\n")

    monkeypatch.setattr(disk, "sync_file", interfere)
    with pytest.raises(Uncertain):
        append_record(path, LINE)
    assert read_file(path, 1000) == LINE + LINE + b"foreign\n"


def test_disk_errors_are_reported(tmp_path, monkeypatch) -> None:
    path = _write(tmp_path / "log", LINE + b"torn")

    def refuse(*arguments: object, **options: object) -> None:
        raise OSError(errno.EIO, "no")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", refuse)
        with pytest.raises(NotWritable):
            sync_log(path)
        with pytest.raises(NotWritable):
            repair_tail(path, str(tmp_path / "kept"))
    with monkeypatch.context() as patch:
        patch.setattr(os, "ftruncate", refuse)
        with pytest.raises(NotWritable):
            repair_tail(path, str(tmp_path / "kept"))
    with pytest.raises(Exception, match="does not exist"):
        sync_log(str(tmp_path / "none"))


def test_append_that_cannot_start_or_be_reverted_is_reported(tmp_path, monkeypatch) -> None:
    path = _write(tmp_path / "log", LINE)

    def refuse(*arguments: object, **options: object) -> None:
        raise OSError(errno.EIO, "no")

    with monkeypatch.context() as patch:
        patch.setattr(os, "mkdir", refuse)
        with pytest.raises(NotWritable):
            append_record(str(tmp_path / "new" / "log"), LINE)
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", refuse)
        patch.setattr(os, "ftruncate", refuse)
        with pytest.raises(Uncertain):
            append_record(path, LINE)
    with monkeypatch.context() as patch:
        patch.setattr(append, "repair_tail", lambda path, kept: None)
        real, calls = os.fstat, []

        def once(descriptor: int) -> os.stat_result:
            calls.append(descriptor)
            return refuse() or real(descriptor) if len(calls) == 2 else real(descriptor)

        patch.setattr(os, "fstat", once)
        with pytest.raises(NotWritable):
            append_record(path, LINE)
    assert read_file(path, 100) == LINE * 2


@pytest.mark.parametrize("lost", [b"\0" * 8 + b"\n", b'{"n":\0\0\0\0}\n', b"\0\n"])
def test_last_line_with_missing_blocks_is_torn(tmp_path, lost: bytes) -> None:
    path = _write(tmp_path / "log", LINE + lost)
    repaired = repair_tail(path, str(tmp_path / "kept"))
    assert repaired is not None
    assert (repaired.action, repaired.offset, repaired.size) == ("set-aside", len(LINE), len(lost))
    assert read_file(repaired.kept, 1000) == lost
    assert (tmp_path / "log").read_bytes() == LINE
    assert repair_tail(path, None) is None


def test_line_with_missing_blocks_in_the_middle_is_kept(tmp_path) -> None:
    path = _write(tmp_path / "log", b"\0\0\n" + LINE)
    assert repair_tail(path, None) is None


def test_empty_log_gets_its_first_line(tmp_path) -> None:
    path = _write(tmp_path / "log", b"")
    assert append_record(path, LINE, quarantine_dir=str(tmp_path / "kept")) == 0
    assert read_file(path, 100) == LINE


def test_next_offset_is_the_end_of_the_log(tmp_path) -> None:
    path = _write(tmp_path / "log", LINE)
    assert batch_at(path, [LINE, LINE])[:2] == (len(LINE), 2 * len(LINE))
    assert batch_at(str(tmp_path / "none"), [LINE]).offset == 0
    with pytest.raises(Refused):
        batch_at(str(tmp_path / "log" / "below"), [LINE])
