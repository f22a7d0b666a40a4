"""A signal that arrives where Python lets no exception out ends the process all the same, without a word."""

from __future__ import annotations

import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.conftest import sealed_environment

if TYPE_CHECKING:
    from pathlib import Path

PROGRAM = """
import os, sys, weakref
import thunderus_mem.cli.commands.store as settings

def signalled(*_):
    os.kill(os.getpid(), {number})
    for _ in range(1000):
        pass

def in_a_destructor():
    type("Dying", (), {{"__del__": signalled}})()

def in_a_weak_callback():
    thing = type("Thing", (), {{}})()
    kept = weakref.ref(thing, signalled)
    del thing

def in_a_closed_generator():
    def steps():
        try:
            yield
        finally:
            signalled()
    running = steps()
    next(running)
    del running

def other_trouble():
    def trouble(self):
        raise KeyError("a word of its own")
    type("Troubled", (), {{"__del__": trouble}})()
    return 0

settings._settings = lambda *_: {place}()
sys.argv = ["thunderus-mem", "config", "show", "search"]
from thunderus_mem.__main__ import main
main()
"""


@pytest.fixture
def store(tmp_path: Path) -> Path:
    (tmp_path / ".thunderus" / "memory").mkdir(parents=True)
    return tmp_path


def ran(folder: Path, home: Path, place: str, number: int = 0) -> subprocess.CompletedProcess[str]:
    """The program, of which one command does something at a place of its own."""
    return subprocess.run(
        [sys.executable, "-c", PROGRAM.format(place=place, number=int(number))],
        cwd=folder,
        env=sealed_environment(home),
        capture_output=True,
        text=True,
        timeout=60,
    )


@pytest.mark.skipif(sys.platform == "win32", reason="a signal that ends a process is told by its exit status")
@pytest.mark.parametrize("place", ["in_a_destructor", "in_a_weak_callback", "in_a_closed_generator"])
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_a_signal_ends_us_also_where_no_exception_gets_out(
    store: Path, sealed: Path, place: str, name: str
) -> None:
    number = getattr(signal, name)
    done = ran(store, sealed, place, number)
    assert (done.returncode, done.stdout, done.stderr) == (-number, "", "")


def test_other_trouble_in_a_destructor_is_still_told(store: Path, sealed: Path) -> None:
    done = ran(store, sealed, "other_trouble")
    assert "a word of its own" in done.stderr


def test_what_is_told_of_such_trouble_is_again_as_before_when_a_command_is_done(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(store)
    from thunderus_mem.cli.run import run

    def own(trouble: object) -> None:
        raise AssertionError(trouble)

    monkeypatch.setattr(sys, "unraisablehook", own)
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        assert run(["config", "show", "search"]) == 0
        assert sys.unraisablehook is own
        assert run(["config", "show", "no-such-key"]) != 0
        assert sys.unraisablehook is own
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
