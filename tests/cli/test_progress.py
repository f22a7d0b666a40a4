"""Progress: shown on a terminal, only for long work, and cleared before the output."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from thunderus_mem.cli import console

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from typing import Any

    import pytest


def drawn(monkeypatch: pytest.MonkeyPatch, seconds: list[float]) -> str:
    """The output of a progress called at these times and cleared at the end."""
    moments = iter(seconds)
    monkeypatch.setattr(console.time, "monotonic", lambda: next(moments))
    stream = io.StringIO()
    line = console.Progress(stream)
    for done in range(len(seconds)):
        line("Reading:", done * 200, 5000)
    line.clear()
    return stream.getvalue()


def test_short_work_shows_no_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    assert drawn(monkeypatch, [10.0, 10.2, 10.4]) == ""


def test_long_work_shows_progress_and_clears_it(monkeypatch: pytest.MonkeyPatch) -> None:
    text = drawn(monkeypatch, [10.0, 10.6, 10.65, 10.8])

    assert text == "\rReading: 200 of 5,000\x1b[K\rReading: 600 of 5,000\x1b[K\r\x1b[K"


def test_pipe_gets_no_progress(repo: Path, run: Callable[..., Any]) -> None:
    run("init", cwd=repo)

    done = run("index", "rebuild", cwd=repo)

    assert "\x1b" not in done.out + done.err
    assert "\r" not in done.out + done.err


def test_closed_terminal_does_not_stop_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    tries: list[str] = []

    class Gone(io.StringIO):
        def write(self, text: str) -> int:
            tries.append(text)
            raise OSError(5, "Input/output error")

    moments = iter([1.0, 2.0, 3.0])
    monkeypatch.setattr(console.time, "monotonic", lambda: next(moments))
    line = console.Progress(Gone())
    for done in range(3):
        line("Reading:", done, 3)

    assert len(tries) == 1
