"""A trial reports how the work ended, and the work has no effect on the calling process."""

from __future__ import annotations

import errno
import os
import signal
import sys
import time
from contextlib import suppress
from typing import TYPE_CHECKING, NoReturn

import pytest

from thunderus_mem.fingerprint import definitions
from thunderus_mem.fingerprint.definitions import FAILS, SLOW, UNTRIED, trial

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def forever() -> NoReturn:
    while True:
        pass


def deep() -> int:
    return deep() + 1


def children() -> set[int]:
    """The unreaped child processes of this one, including those of other tests."""
    found = set()
    for process in filter(str.isdigit, os.listdir("/proc")):
        with suppress(OSError), open(f"/proc/{process}/stat", encoding="utf-8", errors="replace") as stat:
            if int(stat.read().rpartition(")")[2].split()[1]) == os.getpid():
                found.add(int(process))
    return found


@pytest.mark.parametrize(
    ("work", "said"),
    [
        (lambda: None, ""),
        (os.abort, FAILS),
        (lambda: os.kill(os.getpid(), signal.SIGSEGV), FAILS),
        (lambda: os.kill(os.getpid(), signal.SIGINT), FAILS),
        (lambda: 1 / 0, FAILS),
        (lambda: sys.exit(0), FAILS),
        (deep, FAILS),
        (lambda: bytearray(2 << 30), FAILS),
        (forever, SLOW),
    ],
    ids=["fine", "abort", "fault", "interrupt", "exception", "exit", "recursion", "memory", "forever"],
)
def test_result_of_the_work(
    work: Callable[[], object],
    said: str,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(definitions, "_SECONDS", 1)
    before = children()
    assert trial(work) == said
    assert capfd.readouterr() == ("", "")
    assert children() == before


def test_blocking_work_is_aborted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(definitions, "_PATIENCE", 50)
    assert trial(lambda: time.sleep(60)) == SLOW


def test_child_inherits_no_open_files(tmp_path: Path) -> None:
    with (tmp_path / "file").open("wb", buffering=0) as stream:
        assert trial(lambda: stream.write(b"x")) == FAILS
        assert trial(lambda: os.write(1, b"to nobody")) == ""
    assert (tmp_path / "file").read_bytes() == b""


def test_no_file_descriptor_leaks() -> None:
    before = len(os.listdir("/dev/fd"))
    for work in (int, os.abort):
        trial(work)
    assert len(os.listdir("/dev/fd")) == before


def test_other_code_may_reap_the_child() -> None:
    former = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    try:
        assert trial(int) == ""
        assert trial(os.abort) == FAILS
    finally:
        signal.signal(signal.SIGCHLD, former)


def test_fork_is_not_available(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused() -> NoReturn:
        raise BlockingIOError(errno.EAGAIN, "too many")

    monkeypatch.setattr("os.fork", refused)
    assert trial(int) == UNTRIED
    monkeypatch.delattr("os.fork")
    assert trial(int) == UNTRIED
