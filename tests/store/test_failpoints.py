"""Failpoints and recorded disk operations, which other tests depend on."""

from __future__ import annotations

import ast
import os
from pathlib import Path

import pytest

from tests.support import failpoints
from tests.support.failpoints import OPERATIONS, arm, recording
from thunderus_mem.store import disk
from thunderus_mem.store.files import replace_file

CHANGING = ("write", "replace", "rename", "link", "unlink", "mkdir", "rmdir", "ftruncate", "fsync", "remove")
"""The functions of ``os`` that change a disk."""


def test_every_modifying_disk_function_has_failpoints() -> None:
    changing = set()
    for node in ast.parse(Path(disk.__file__).read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef):
            said = ast.unparse(node)
            if any(f"os.{name}(" in said or f"os.{name}," in said for name in CHANGING):
                changing.add(node.name)
    assert changing <= set(OPERATIONS)
    assert set(OPERATIONS) - changing == {"create"}, "opens a file that is not there"


def test_replace_passes_its_failpoints_in_order(monkeypatch, tmp_path) -> None:
    trace = tmp_path / "trace"
    arm(f"trace={trace}", monkeypatch.setattr)
    replace_file(str(tmp_path / "a"), b"text")
    passes = trace.read_text().split()
    assert passes == [
        *("before-create-temporary:1", "after-create-temporary:1"),
        *("before-write-temporary:1", "half-write-temporary:1", "after-write-temporary:1"),
        *("before-sync-temporary:1", "after-sync-temporary:1"),
        *("before-rename-temporary:1", "after-rename-temporary:1"),
        *("before-sync-folder-other:1", "after-sync-folder-other:1"),
    ]
    assert len(failpoints.tried(passes, "kill")) == 6


def test_failpoint_raises_once_with_its_name(monkeypatch, tmp_path) -> None:
    arm("after-unlink-other:raise", monkeypatch.setattr)
    for name in ("a", "b"):
        (tmp_path / name).write_text("")
    with pytest.raises(OSError, match="after-unlink-other"):
        disk.unlink(str(tmp_path / "a"))
    disk.unlink(str(tmp_path / "b"))
    assert os.listdir(tmp_path) == []


def test_failpoint_can_count_passes_kill_and_trace(monkeypatch, tmp_path) -> None:
    codes: list[int] = []

    class Died(BaseException):
        pass

    def die(code: int) -> None:
        codes.append(code)
        raise Died

    monkeypatch.setattr(os, "_exit", die)
    arm(f"before-mkdir-other:kill:2,trace={tmp_path / 'trace'}", monkeypatch.setattr)
    disk.make_folder(str(tmp_path / "a"))
    with pytest.raises(Died):
        disk.make_folder(str(tmp_path / "b"))
    assert codes == [137]
    assert not (tmp_path / "b").exists()
    passes = ["before-mkdir-other:1", "after-mkdir-other:1", "before-mkdir-other:2"]
    assert (tmp_path / "trace").read_text().split() == passes


def test_recorder_receives_operations_while_set(tmp_path) -> None:
    heard: list[tuple[str, str, bytes]] = []
    old, new = str(tmp_path / "a"), str(tmp_path / "b")
    with recording(lambda *operation: heard.append(operation)):
        with open(old, "wb") as stream:
            disk.write_all(stream.fileno(), old, b"text")
            disk.truncate(stream.fileno(), old, 2)
        disk.rename(old, new)
    disk.unlink(new)
    assert heard == [("write", old, b"text"), ("truncate", old, b"2"), ("rename", old, os.fsencode(new))]


def test_failpoint_can_stop_a_write_half_way(monkeypatch, tmp_path) -> None:
    arm("half-write-other:raise:2", monkeypatch.setattr)
    with open(tmp_path / "a", "wb") as stream:
        disk.write_all(stream.fileno(), "a", b"12345678")
        with pytest.raises(OSError, match="half"):
            disk.write_all(stream.fileno(), "a", b"12345678")
    assert (tmp_path / "a").read_bytes() == b"123456781234"
