"""Standard streams that are closed, full or not UTF-8: the command works and reports what it can."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.conftest import sealed_environment

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.support.command_server import Done

    Run = Callable[..., Done]

ASCII = {"LANG": "C", "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}


@pytest.fixture
def shell(repo: Path, run: Run, sealed: Path) -> Callable[[str], subprocess.CompletedProcess[bytes]]:
    """Run a command line with redirections in a shell in a store."""
    assert run("init").code == 0

    def call(line: str) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            ["bash", "-c", f"{sys.executable} -m thunderus_mem {line}"],
            cwd=repo,
            env=sealed_environment(sealed),
            capture_output=True,
            stdin=subprocess.DEVNULL,
            timeout=30,
        )

    return call


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("events add --kind note --body - <&-", 2),
        ("add fact T --tag t <&-", 2),
        ("edit core <&-", 2),
        ("status >&-", 0),
        ("events add --kind note --body hello >&- 2>&-", 0),
        ("status <&- >&- 2>&-", 0),
        ("nosuch 2>&-", 2),
        ("nosuch 2>/dev/full", 2),
        ("events add --kind note --body hello 2>/dev/full", 0),
        ("lint >/dev/full", 4),
        ("--help >/dev/full", 4),
        ("--json list >/dev/full 2>/dev/full", 4),
    ],
)
def test_closed_or_full_stream_is_not_an_internal_error(
    shell: Callable[[str], subprocess.CompletedProcess[bytes]], line: str, code: int
) -> None:
    ran = shell(line)
    assert ran.returncode == code, ran.stderr
    assert b"Traceback" not in ran.stderr
    assert b"bug" not in ran.stderr


def test_file_never_gets_the_descriptor_of_a_closed_stream(
    repo: Path, shell: Callable[[str], subprocess.CompletedProcess[bytes]]
) -> None:
    assert shell("add fact Plain --tag t --body words >&- 2>&-").returncode == 0
    text = (repo / ".thunderus/memory/semantic/FACTS/plain.md").read_text()
    assert text.startswith("---\n")
    assert text.endswith("words\n")


def test_waiting_for_stdin_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    """The pipe is closed only once the message is printed, so without it this would never end."""
    from thunderus_mem.cli import input as user_input
    from thunderus_mem.cli.console import Console

    reads, writes = os.pipe()
    said: list[str] = []

    class Heard(io.StringIO):
        def write(self, text: str) -> int:
            said.append(text)
            os.write(writes, b"words")
            os.close(writes)
            return len(text)

    with open(reads, encoding="utf-8") as stdin:
        monkeypatch.setattr(sys, "stdin", stdin)
        monkeypatch.setattr(user_input, "_SILENT_SECONDS", 0)
        assert user_input.text_of("-", Console(io.StringIO(), Heard(), {})) == "words"
    assert said == ["Reading the text from stdin, until its end\n"]


def test_ascii_locale_keeps_texts_and_names(repo: Path, run: Run) -> None:
    assert run("init").code == 0
    added = run("add", "fact", "Grüße 日本", "--tag", "tä", "--body", "Füße", "-m", "darüm", env=ASCII)
    assert added.code == 0, added.err
    assert "Grüße 日本" in run("list", env=ASCII).out
    assert "Füße" in run("--json", "search", "füße", env=ASCII).out


@pytest.mark.parametrize("command", [("show",), ("link",), ("--json", "search"), ("-C",)])
def test_non_utf8_argument_is_a_usage_error(repo: Path, sealed: Path, command: tuple[str, ...]) -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "thunderus_mem", *command, b"\xff\xfe"],
        cwd=repo,
        env=sealed_environment(sealed),
        capture_output=True,
    )
    assert ran.returncode == 2
    assert b"not valid UTF-8" in ran.stderr
