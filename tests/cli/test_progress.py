"""Progress: shown on a terminal, only for long work, and cleared before the output."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from tests.support.index_support import new_store
from thunderus_mem.cli import console
from thunderus_mem.doctor import checks, upkeep
from thunderus_mem.interop import markdown
from thunderus_mem.memory.memory import open_memory

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


def test_import_doctor_and_manifest_report_progress(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of them takes more than a second in a large store."""
    memory = open_memory(new_store(tmp_path).root)
    files = tmp_path / "files"
    files.mkdir()
    for name in ("a", "b"):
        (files / f"{name}.md").write_text(f"# The {name}\n\nText.\n")
    monkeypatch.setattr(markdown, "_TOGETHER", 1)
    reported: list[tuple[str, int, int]] = []
    memory.tell = lambda *progress: reported.append(progress)

    markdown.import_markdown(memory, str(files), "fact")
    checks.doctor(memory)
    upkeep.manifest(memory, check=True)

    assert {("Writing documents:", done, 2) for done in range(2)} <= set(reported)
    assert {("Checks:", done, len(checks.CHECKS)) for done in range(len(checks.CHECKS))} <= set(reported)
    assert reported[-2:] == [("Reading documents:", done, 2) for done in range(2)]
