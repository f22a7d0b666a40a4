"""Failpoints do nothing unless asked twice, and their list is the code's."""

from __future__ import annotations

import glob
import os
import re

import pytest

from thunderus_mem.store import disk
from thunderus_mem.store.disk import NAMES, armed, hit, note, recording, write_all


def test_the_list_is_the_calls_in_the_code() -> None:
    folder = os.path.dirname(os.path.dirname(disk.__file__))
    called: set[str] = set()
    for path in glob.glob(os.path.join(folder, "*", "*.py")):
        with open(path, encoding="utf-8") as stream:
            called |= set(re.findall(r'(?:hit\(|failpoint=)"([a-z.-]+)"', stream.read()))
    assert called == set(NAMES)


def test_a_failpoint_needs_both_variables(monkeypatch) -> None:
    monkeypatch.setenv("FAILPOINT", "commit.after:raise")
    hit("commit.after")
    assert not armed("commit.after")
    monkeypatch.setenv("THUNDERUS_MEM_FAILPOINTS", "1")
    monkeypatch.setattr(disk, "_passes", {})
    hit("commit.before")
    with pytest.raises(OSError, match=r"commit\.after"):
        hit("commit.after")
    hit("commit.after")


def test_a_later_pass_a_kill_and_a_trace(monkeypatch, tmp_path) -> None:
    monkeypatch.setenv("THUNDERUS_MEM_FAILPOINTS", "1")
    monkeypatch.setattr(disk, "_passes", {})
    codes: list[int] = []

    class Died(BaseException):
        pass

    def die(code: int) -> None:
        codes.append(code)
        raise Died

    monkeypatch.setattr(os, "_exit", die)
    monkeypatch.setenv("FAILPOINT", f"drop.each:kill:2,trace={tmp_path / 'trace'}")
    hit("drop.each")
    with pytest.raises(Died):
        hit("drop.each")
    assert codes == [137]
    assert (tmp_path / "trace").read_text() == "drop.each:1\n"


def test_the_recorder_hears_while_it_is_set() -> None:
    heard: list[tuple[str, str, bytes]] = []
    with recording(lambda *operation: heard.append(operation)):
        note("sync", "a")
    note("sync", "b")
    assert heard == [("sync", "a", b"")]


def test_a_write_may_stop_half_way(monkeypatch, tmp_path) -> None:
    monkeypatch.setenv("THUNDERUS_MEM_FAILPOINTS", "1")
    monkeypatch.setattr(disk, "_passes", {})
    monkeypatch.setenv("FAILPOINT", "stage.half-written:raise:2")
    with open(tmp_path / "a", "wb") as stream:
        write_all(stream.fileno(), "a", b"12345678", failpoint="stage.half-written")
        with pytest.raises(OSError, match="half"):
            write_all(stream.fileno(), "a", b"12345678", failpoint="stage.half-written")
    assert (tmp_path / "a").read_bytes() == b"123456781234"
