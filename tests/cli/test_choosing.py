"""`search -i`: fzf if installed, else a numbered list; on a real pseudo-terminal."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.conftest import PROJECT, sealed_environment
from tests.support.terminal import Seen, on_terminal
from thunderus_mem.cli.input import Choice, choice_lines, fzf_arguments

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.support.command_server import Done, Server

    Run = Callable[..., Done]
    Look = Callable[..., Seen]

FAKE = """#!{python}
import json, os, subprocess, sys
if sys.argv[1:] == ["--version"]:
    print({version!r})
    sys.exit()
lines = sys.stdin.read()
def shell(command, query="", line=""):
    quoted = lambda text: "'" + text.replace("'", "'\\\\''") + "'"
    command = command.replace("{{q}}", quoted(query)).replace("{{1}}", quoted(line.partition("\\t")[0]))
    env = dict(os.environ, FZF_PREVIEW_COLUMNS="50")
    done = subprocess.run([os.environ["SHELL"], "-c", command], capture_output=True, text=True, env=env)
    return done.stdout
given = sys.argv[1:]
bind = given[given.index("--bind") + 1] if "--bind" in given else ""
told = {{"given": given, "lines": lines, "bind": bind}}
if bind:
    told["again"] = shell(bind.removeprefix("change:reload:"), {query!r})
told["preview"] = shell(given[given.index("--preview") + 1], line=lines.partition("\\n")[0])
json.dump(told, open({told!r}, "w"))
{end}
"""


@pytest.fixture
def look(repo: Path, server: Server, sealed: Path, once: Callable[..., None]) -> Look:
    """`search -i` on a terminal in a store with two facts; ``fzf`` replaces it."""

    def make() -> None:
        assert server.run("init", cwd=str(repo)).code == 0
        for number, body in enumerate(("The service listens on 8080.", "Asked **three** times.")):
            words = ("add", "fact", ("Ports", "Retries")[number], "--tag", "net", "--body", body)
            assert server.run(*words, cwd=str(repo), env={"THUNDERUS_MEM_SEED": str(number + 2)}).code == 0

    once(make)

    def call(*arguments: str, env: dict[str, str] | None = None, **more: object) -> Seen:
        path = os.pathsep.join(
            folder for folder in os.environ["PATH"].split(os.pathsep) if not shutil.which("fzf", path=folder)
        )
        environment = sealed_environment(sealed) | {"TERM": "xterm", "PATH": path} | (env or {})
        used = None if "program" in more else server
        words = ["search", "-i", *arguments]
        return on_terminal(words, cwd=repo, env=environment, server=used, **more)  # type: ignore[arg-type]

    return call


def fake(folder: Path, end: str, *, version: str = "0.38.0 (x)", query: str = "") -> dict[str, str]:
    """A fake fzf, and the environment to find it."""
    tools = folder / "tools"
    tools.mkdir()
    text = FAKE.format(
        python=sys.executable, version=version, query=query, told=str(folder / "told"), end=end
    )
    (tools / "fzf").write_text(text)
    (tools / "fzf").chmod(stat.S_IRWXU)
    return {"PATH": f"{tools}{os.pathsep}{os.environ['PATH']}"}


def told(folder: Path) -> dict[str, object]:
    import json

    found: dict[str, object] = json.loads((folder / "told").read_text())
    return found


def test_document_chosen_in_fzf_is_shown(look: Look, tmp_path: Path) -> None:
    env = fake(tmp_path, "print('fact.ports\\tx')", query="retr")
    seen = look("port", env=env)
    assert seen.code == 0
    assert "The service listens on 8080." in seen.text
    found = told(tmp_path)
    assert found["lines"] == "fact.ports\tfact      Ports"
    assert found["again"] == "fact.retries\tfact      Retries\n", "the last word is open while one types"
    assert "\x1b[" in str(found["preview"])
    assert "--disabled" in found["given"]  # type: ignore[operator]


def test_ids_option_prints_the_chosen_id(look: Look, tmp_path: Path) -> None:
    env = fake(tmp_path, "print('fact.ports')")
    assert look("--ids", env=env) == Seen(0, b"fact.ports\r\n")
    assert str(told(tmp_path)["lines"]).count("\n") == 2, "all documents while nothing is typed"


def test_old_fzf_filters_by_itself(look: Look, tmp_path: Path) -> None:
    env = fake(tmp_path, "print('fact.ports')", version="0.20.0")
    assert look("--ids", "port", env=env).code == 0
    assert told(tmp_path)["bind"] == ""
    assert str(told(tmp_path)["lines"]).count("\n") == 2


@pytest.mark.parametrize(
    ("end", "code"),
    [("sys.exit(130)", 130), ("sys.exit(1)", 1), ("print('../../etc')", 1), ("print('$(touch x)')", 1)],
)
def test_nothing_chosen_sets_the_exit_code(look: Look, tmp_path: Path, end: str, code: int) -> None:
    seen = look(env=fake(tmp_path, end))
    assert (seen.code, seen.text.strip()) == (code, "Nothing chosen")


def test_failing_fzf_is_reported(look: Look, tmp_path: Path) -> None:
    seen = look(env=fake(tmp_path, "sys.exit('bad option')"))
    assert (seen.code, "Nothing chosen" in seen.text) == (1, True)
    (tmp_path / "tools/fzf").write_text("#!/bin/sh\necho 0.38\nexit 2\n")
    seen = look(env={"PATH": f"{tmp_path / 'tools'}{os.pathsep}{os.environ['PATH']}"})
    assert (seen.code, "fzf exited with code 2" in seen.text) == (2, True)


@pytest.mark.parametrize(
    "query", ["'; touch pwned; '", "$(touch pwned)", '"`touch pwned`"', "{1} {q}", "-x --", "\\"]
)
def test_query_is_never_run_as_a_command(look: Look, tmp_path: Path, query: str) -> None:
    env = fake(tmp_path, "print('fact.ports')", query=query)
    assert look("--ids", "--", query, env=env).code == 0
    assert not (tmp_path / "pwned").exists()
    assert "error" not in str(told(tmp_path)["again"])


def test_fzf_commands_contain_no_user_text() -> None:
    given = fzf_arguments((0, 38), "$(x)", drawn=True)
    for command in (given[given.index("--preview") + 1], given[given.index("--bind") + 1]):
        assert "$(x)" not in command
    assert choice_lines([Choice("fact.a", "fact", "one\ttwo\nthree")]) == "fact.a\tfact      one two three"


def test_module_in_the_working_tree_is_never_run(look: Look, tmp_path: Path) -> None:
    for name in ("thunderus_mem.py", "json.py", "typer.py"):
        (tmp_path / name).write_text("open('pwned', 'w')\n")
    env = fake(tmp_path, "print('fact.ports')", query="retr")
    # Run the command like an installed one, without the working folder on its path.
    look("--ids", env=env, program=(sys.executable, "-P", "-m", "thunderus_mem"))
    assert "Retries" in str(told(tmp_path)["again"])
    assert not (tmp_path / "pwned").exists()


def test_without_fzf_prompts_for_a_number(look: Look) -> None:
    question = b"(Enter to quit): "
    seen = look("port", keys=[(question, b"7\n"), (question, b"retries\n"), (question, b"1\n")])
    assert seen.code == 0
    assert "no entry 7" in seen.text
    assert "three" in seen.text
    assert look(keys=[(question, b"\n")]).code == 1
    assert look(keys=[(question, b"\x04")]).code == 1
    assert look(keys=[(question, b"\x03")]).code == 130


def test_interactive_search_needs_a_terminal(run: Run, look: Look) -> None:
    for arguments in ((), ("--no-input",)):
        ran = run("search", "-i", *arguments)
        assert (ran.code, "needs a terminal" in ran.err) == (2, True)
    assert "needs a terminal" in look("--no-input").text
    assert look("--json").code == 2
    assert run("search").code == 2


@pytest.mark.skipif(shutil.which("fzf") is None, reason="fzf is not here")
def test_real_fzf_accepts_our_options() -> None:
    fzf = shutil.which("fzf") or ""
    done = subprocess.run(
        [fzf, *fzf_arguments((0, 38), "", drawn=True), "--filter", "x"],
        input=b"fact.a\tfact      x\n",
        capture_output=True,
        cwd=PROJECT,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")
