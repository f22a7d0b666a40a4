"""Progress: shown on a terminal, only for long work, and cleared before the output."""

from __future__ import annotations

import io
import os
from typing import TYPE_CHECKING

import pytest

from tests.support.index_support import new_store
from thunderus_mem.cli import console
from thunderus_mem.doctor import checks, upkeep
from thunderus_mem.interop import markdown
from thunderus_mem.memory.locate import documents
from thunderus_mem.memory.memory import open_memory

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path
    from typing import Any


class Terminal:
    """A terminal that is a file, with the timer of the system replaced by calls of ``draw``."""

    def __init__(self, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 0.0
        self.timer: list[float] = []
        monkeypatch.setattr(console.time, "monotonic", lambda: self.now)
        monkeypatch.setattr(console.signal, "signal", lambda number, handler: None)
        monkeypatch.setattr(console.signal, "setitimer", lambda timer, first, *_: self.timer.append(first))
        self.file = file.open("w+", newline="")
        self.progress = console.Progress(self.file)

    @property
    def shown(self) -> str:
        self.file.seek(0)
        return self.file.read()


@pytest.fixture
def terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Terminal]:
    made = Terminal(tmp_path / "terminal", monkeypatch)
    with made.file:
        yield made


def test_short_work_shows_no_progress(terminal: Terminal) -> None:
    terminal.progress("Reading:", 200, 5000)
    terminal.progress.clear()
    terminal.progress.draw()  # a signal that was on its way

    assert terminal.shown == ""
    assert terminal.timer == [0.5, 0]


def test_long_work_shows_progress_and_clears_it(terminal: Terminal) -> None:
    terminal.progress("Reading:", 200, 5000)
    terminal.now = 1.0
    terminal.progress.draw()
    terminal.progress.draw()
    terminal.progress("Writing", 0, 0)
    terminal.progress.draw()
    terminal.progress.clear()

    assert terminal.shown == "\rReading: 200 of 5,000 (1 s)\x1b[K\rWriting (1 s)\x1b[K\r\x1b[K"
    assert terminal.timer == [0.5, 0]


def test_pipe_gets_no_progress(repo: Path, run: Callable[..., Any]) -> None:
    run("init", cwd=repo)

    done = run("index", "rebuild", cwd=repo)

    assert "\x1b" not in done.out + done.err
    assert "\r" not in done.out + done.err


def test_closed_terminal_does_not_stop_the_work(terminal: Terminal) -> None:
    terminal.progress("Reading:", 200, 5000)
    os.dup2(os.open(os.devnull, os.O_RDONLY), terminal.file.fileno())

    terminal.progress.draw()
    terminal.progress.clear()


@pytest.mark.parametrize(("quiet", "reported"), [(False, ["Reading the memory"]), (True, [])])
def test_open_memory_reports_progress_before_it_reads_any(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, quiet: bool, reported: list[str]
) -> None:
    """The walk of a large store takes seconds before the first document is read."""

    class Screen(io.StringIO):
        def isatty(self) -> bool:
            return True

    seen: list[str] = []
    monkeypatch.setattr(console, "Progress", lambda stream: lambda what, *_: seen.append(what))
    opened = console.Console(io.StringIO(), Screen(), {})
    opened.quiet = quiet

    opened.open_at(new_store(tmp_path).root)

    assert seen == reported


def test_import_doctor_manifest_and_recap_report_progress(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each of them takes more than a second in a large store."""
    memory = open_memory(new_store(tmp_path).root)
    files = tmp_path / "files"
    files.mkdir()
    for name in ("a", "b"):
        (files / f"{name}.md").write_text(f"# The {name}\n\nText.\n")
    monkeypatch.setattr(markdown, "MOST_DOCUMENTS", 1)
    reported: list[tuple[str, int, int]] = []
    memory.tell = lambda *progress: reported.append(progress)

    markdown.import_markdown(memory, str(files), "fact")
    checks.doctor(memory)
    upkeep.manifest(memory, check=True)
    documents(memory)

    assert {("Writing documents:", done, 2) for done in range(2)} <= set(reported)
    assert {("Checks:", done, len(checks.CHECKS)) for done in range(len(checks.CHECKS))} <= set(reported)
    assert reported[-4:] == [("Reading documents:", done, 2) for done in range(2)] * 2
