"""The sessions shown in the documentation are run, and must print what they show.

Every ``console`` block of ``README.md`` and ``docs/**/*.md`` is a session in a sealed folder with a fixed
clock and fixed ids. The blocks of one file share a folder and follow each other. Lines that begin with ``$ ``
are commands for bash (``>`` continues one); below stands their output, stdout and stderr as a terminal
shows them. ``...`` alone on a line stands for any lines, within a line for any text. ``# exit 1`` as the last
output line says the exit code. A fence ``console norun`` is not run.

``THUNDERUS_MEM_UPDATE_DOCS=1 pytest tests/project/test_transcripts.py`` writes what was printed into the
pages.
"""

from __future__ import annotations

import os
import re
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from tests.conftest import PROJECT, sealed_environment
from tests.support.command_server import Program

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

UPDATE = os.environ.get("THUNDERUS_MEM_UPDATE_DOCS") == "1"
_FENCE = re.compile(r"(?m)^```console[ \t]*\n(?P<session>(?:(?!```).*\n)*)```[ \t]*$")
_EXIT = re.compile(r"# exit (\d+)")


def pages() -> list[Path]:
    found = [PROJECT / "README.md", *sorted((PROJECT / "docs").rglob("*.md"))]
    return [path for path in found if path.is_file() and _FENCE.search(path.read_text(encoding="utf-8"))]


@dataclass(frozen=True)
class Step:
    command: str
    expected: str
    code: int


def steps(session: str) -> list[Step]:
    found: list[tuple[list[str], list[str]]] = []
    for line in session.splitlines():
        if line.startswith("$ "):
            found.append(([line[2:]], []))
        elif (line == ">" or line.startswith("> ")) and found and not found[-1][1]:
            found[-1][0].append(line[2:])
        elif found:
            found[-1][1].append(line)
    made = []
    for command, output in found:
        code = _EXIT.fullmatch(output[-1]) if output else None
        text = "\n".join(output[:-1] if code else output).rstrip("\n")
        made.append(Step("\n".join(command), text, int(code[1]) if code else 0))
    return made


def matches(expected: str, printed: str) -> bool:
    lines = [
        "(?:.*\n)*?" if line == "..." else re.escape(line).replace(re.escape("..."), ".*?") + "\n"
        for line in expected.splitlines()
    ]
    return re.fullmatch("".join(lines), printed + "\n" if printed else "") is not None


class Place:
    """A sealed folder with ``thunderus-mem`` on its path; each command is a second later than the last."""

    def __init__(self, folder: Path, home: Path, program: Program) -> None:
        self.home = home
        self.folder = folder / "project"
        self.folder.mkdir()
        self.environment = sealed_environment(home)
        self.environment["PATH"] = f"{program.path}:{self.environment['PATH']}"
        self.state = folder / "state"
        self.number = 0

    def run(self, command: str) -> tuple[str, int]:
        """Printed text and exit code; folder and variables live on for the next command."""
        self.number += 1
        clock = f"2026-01-21T09:{self.number // 60 % 60:02d}:{self.number % 60:02d}Z"
        self.environment["THUNDERUS_MEM_NOW"] = clock
        self.environment["GIT_AUTHOR_DATE"] = self.environment["GIT_COMMITTER_DATE"] = clock
        self.environment["THUNDERUS_MEM_SEED"] = str(self.number)
        script = (
            f'[ -f "{self.state}" ] && cd "$(cat "{self.state}")"\n'
            f'{command}\ncode=$?\npwd > "{self.state}"\nexit $code\n'
        )
        done = subprocess.run(
            ["bash", "-c", script],
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
            timeout=60,
        )
        text = done.stdout.decode("utf-8", "replace").replace(str(self.folder), "~/project")
        return text.rstrip("\n"), done.returncode


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Program]:
    made = Program(str(tmp_path_factory.mktemp("program")))
    yield made
    made.close()


@pytest.mark.parametrize("path", pages(), ids=lambda path: path.relative_to(PROJECT).as_posix())
def test_console_sessions_match_actual_output(
    path: Path, tmp_path: Path, sealed: Path, program: Program
) -> None:
    place = Place(tmp_path, sealed, program)
    wrong: list[str] = []

    def replay(block: re.Match[str]) -> str:
        lines = ["```console"]
        for step in steps(block["session"]):
            printed, code = place.run(step.command)
            same = matches(step.expected, printed)
            shown = step.expected if same else printed
            lines += ["$ " + step.command.replace("\n", "\n> ")]
            lines += [shown] if shown else []
            lines += [f"# exit {code}"] if code else []
            if code != step.code or not same:
                wrong.append(
                    f"$ {step.command}\n{printed}\n# exit {code}\n--- the page shows\n{step.expected}"
                )
        return "\n".join([*lines, "```"])

    text = path.read_text(encoding="utf-8")
    played = _FENCE.sub(replay, text)
    if UPDATE and wrong:
        path.write_text(played, encoding="utf-8")
        pytest.skip("rewritten")
    assert not wrong, "\n\n".join(wrong)


def test_runner_detects_a_difference() -> None:
    (step,) = steps("$ echo one\n> echo two\none\n...\n# exit 3\n")
    assert (step.command, step.expected, step.code) == ("echo one\necho two", "one\n...", 3)
    assert matches("one\n...\nfour", "one\ntwo\nthree\nfour")
    assert matches("took ... ms", "took 12 ms")
    assert not matches("one", "two")
    assert not matches("one\n...\nfour", "one\ntwo")


def test_session_state_persists_between_commands(tmp_path: Path, sealed: Path, program: Program) -> None:
    place = Place(tmp_path, sealed, program)
    assert place.run("mkdir a && cd a") == ("", 0)
    assert place.run("pwd") == ("~/project/a", 0)
    assert place.run("thunderus-mem --version")[0].startswith("thunderus-mem ")
    assert place.run("false") == ("", 1)
