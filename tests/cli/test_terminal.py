"""Terminal output: rendered documents, colors, the pager; on a real pseudo-terminal."""

from __future__ import annotations

import os
import re
import stat
import sys
from typing import TYPE_CHECKING

import pytest

from tests.conftest import sealed_environment
from tests.support.terminal import Seen, on_terminal

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.support.command_server import Done, Server

    Run = Callable[..., Done]
    Look = Callable[..., Seen]

BODY = """# Ports

The **service** listens on `8080`, see [the list](https://example.org/ports "all of them").

- one
- two

| port | use |
|---|---|
| 8080 | web |

<!-- nobody sees this -->
"""


@pytest.fixture
def look(repo: Path, server: Server, sealed: Path, once: Callable[..., None]) -> Look:
    """A command on a terminal in a store with one fact."""

    def make() -> None:
        words = ("add", "fact", "Ports", "--tag", "net", "--body", BODY)
        assert server.run("init", cwd=str(repo)).code == 0
        assert server.run(*words, cwd=str(repo), env={"THUNDERUS_MEM_SEED": "2"}).code == 0

    once(make)

    def call(*arguments: str, env: dict[str, str] | None = None, **more: object) -> Seen:
        environment = sealed_environment(sealed) | {"TERM": "xterm"} | (env or {})
        used = None if "program" in more else server
        return on_terminal(arguments, cwd=repo, env=environment, server=used, **more)  # type: ignore[arg-type]

    return call


def test_many_added_events_are_reported_in_one_line(look: Look, repo: Path) -> None:
    (repo / "six.jsonl").write_text('{"kind": "note", "body": {"text": "A"}}\n' * 6)
    seeds = iter(range(10, 20))
    (repo / "one.jsonl").write_text('{"kind": "note", "body": {"text": "B"}}\n')

    def add(file: str, more: str = "") -> str:
        script = f'exec "$0" -m thunderus_mem events add < {file} {more}'
        env = {"NO_COLOR": "1", "THUNDERUS_MEM_SEED": str(next(seeds))}
        return look(program=("sh", "-c", script, sys.executable), env=env).text

    told = re.fullmatch(
        r"6 events added; see: thunderus-mem log --all\n(evt_\w{26}) … (evt_\w{26})\n",
        add("six.jsonl"),
    )
    assert told is not None
    assert told[1] < told[2]
    assert re.fullmatch(r"evt_\w{26}\n", add("one.jsonl"))
    assert re.fullmatch(r"(evt_\w{26}\n){6}", add("six.jsonl", "| cat"))


def test_proposals_fit_a_narrow_terminal(look: Look, repo: Path) -> None:
    facts = repo / ".thunderus" / "memory" / "semantic" / "FACTS"
    for name in ("one", "two"):
        text = (facts / "ports.md").read_text().replace("fact.ports", f"fact.{name}")
        (facts / f"{name}.md").write_text(text)
    env = {"NO_COLOR": "1", "THUNDERUS_MEM_SEED": "9"}
    for columns in (40, 80):
        for words in (("garden", "--limit", "0"), ("garden", "--propose"), ("review", "list")):
            seen = look(*words, "--no-pager", columns=columns, env=env).text
            code = r" *[-+@]|.*\.md|Queued|Next|To "
            prose = [line for line in seen.splitlines() if not re.match(code, line)]
            assert max(map(len, prose), default=0) <= columns, seen
    (short, *_) = look("review", "list", columns=40, env=env).text.split("  ")
    shown = look("review", "show", short, "--no-pager", columns=40, env=env).text
    assert f"\n  {short}" in shown
    assert "\nwhy\n  " in shown or "\n       " in shown


def test_last_cell_wraps_below_itself_or_below_its_row() -> None:
    from thunderus_mem.cli.text import flowing

    rows = [("a", "b", "one two three four five six seven"), ("aa", "b", "short")]
    assert flowing(rows, None) == ["a   b  one two three four five six seven", "aa  b  short"]
    assert flowing(rows, 34) == ["a   b  one two three four five six", "       seven", "aa  b  short"]
    assert flowing(rows, 20) == ["a   b", "  one two three four", "  five six seven", "aa  b  short"]


def pager(folder: Path, script: str, name: str = "pager") -> str:
    """A fake pager."""
    path = folder / name
    path.write_text(f"#!{sys.executable}\nimport os, sys\n{script}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


def test_document_is_rendered_without_hiding_anything(look: Look) -> None:
    seen = look("show", "fact.ports")
    assert seen.code == 0
    assert "\x1b[1mservice\x1b[0m" in seen.text
    assert "\x1b[35m8080\x1b[0m" in seen.text
    said = re.sub(r"\x1b\[[0-9;]*m", "", seen.text).replace("\n", " ")
    assert 'see the list (https://example.org/ports "all of them")' in said
    assert " • " in seen.text
    assert "───" in seen.text
    assert "<!-- nobody sees this -->" in seen.text
    assert "**" not in seen.text
    assert seen.text.count("Ports") == 1, "the heading that says the title again is left out"


def test_document_is_rendered_without_color(look: Look) -> None:
    for arguments, env in (((), {"NO_COLOR": "1"}), (("--color", "never"), {})):
        seen = look("show", "fact.ports", *arguments, env=env)
        assert "\x1b" not in seen.text
        assert "**" not in seen.text


def test_dumb_terminal_gets_plain_text(look: Look) -> None:
    seen = look("show", "fact.ports", env={"TERM": "dumb"})
    assert "The **service** listens" in seen.text
    assert "\x1b" not in seen.text


def test_raw_prints_the_text_unchanged_on_a_terminal(look: Look) -> None:
    raw = look("show", "--raw", "fact.ports", "--no-pager").text
    assert "\nid: fact.ports\n" in raw
    assert "The **service** listens on `8080`" in raw


def test_forced_color_renders_into_a_pipe_at_the_given_width(run: Run, look: Look) -> None:
    drawn = run("show", "fact.ports", "--color", "always", env={"COLUMNS": "40"})
    assert "\x1b[1mservice\x1b[0m" in drawn.out
    assert "**" not in drawn.out
    body = drawn.out.split("\n\n", 2)[2]
    assert max(len(line) for line in body.replace("\x1b[0m", "").splitlines() if "\x1b" not in line) <= 40


def test_only_long_output_goes_through_the_pager(look: Look, tmp_path: Path) -> None:
    shows = pager(tmp_path, "print('PAGER', os.environ['LESS']); sys.stdout.write(sys.stdin.read())")
    long = look("show", "fact.ports", env={"PAGER": shows}, lines=10)
    assert "PAGER FRX" in long.text
    assert "service" in long.text
    assert "PAGER" not in look("show", "fact.ports", env={"PAGER": shows}, lines=60).text
    for arguments in (["--no-pager"], ["--json"]):
        assert "PAGER" not in look("show", "fact.ports", *arguments, env={"PAGER": shows}, lines=10).text
    assert "PAGER" not in look("show", "fact.ports", env={"PAGER": shows, "TERM": "dumb"}, lines=10).text


def test_agent_and_no_input_get_no_pager_and_no_editor(look: Look, tmp_path: Path) -> None:
    env = {"PAGER": pager(tmp_path, "print('PAGER')"), "EDITOR": pager(tmp_path, "print('EDITOR')", "ed")}
    agent = {**env, "THUNDERUS_MEM_ACTOR": "", "CLAUDECODE": "1"}
    assert "PAGER" in look("show", "fact.ports", env=env, lines=10).text
    for seen in (
        look("show", "fact.ports", env=agent, lines=10),
        look("show", "fact.ports", "--no-input", env=env, lines=10),
        look("show", "fact.ports", "--no-pager", env=env, lines=10),
    ):
        assert (seen.code, "service" in seen.text, "PAGER" in seen.text) == (0, True, False)
    refused = look("edit", "fact.ports", env=agent)
    assert (refused.code, "EDITOR" in refused.text) == (2, False)
    assert "no change given" in refused.text


def test_our_pager_variable_wins_over_pager(look: Look, tmp_path: Path) -> None:
    ours = pager(tmp_path, "print('OURS')", "ours")
    other = pager(tmp_path, "print('OTHER')", "other")
    seen = look("show", "fact.ports", env={"PAGER": other, "THUNDERUS_MEM_PAGER": f"{ours} -x"}, lines=10)
    assert "OURS" in seen.text
    assert "OTHER" not in seen.text


def test_quitting_the_pager_early_keeps_the_exit_code(look: Look, tmp_path: Path) -> None:
    gone = pager(tmp_path, "sys.stdin.readline(); print('GONE')")
    assert look("show", "fact.ports", env={"PAGER": gone}, lines=10) == Seen(0, b"GONE\r\n")
    facts = tmp_path / ".thunderus/memory/semantic/FACTS"
    for number in range(30):
        (facts / f"broken{number}.md").write_text("no header\n")
    seen = look("lint", env={"PAGER": gone}, lines=10)
    assert seen.code == 1
    assert "Traceback" not in seen.text


@pytest.mark.parametrize("value", ["/nowhere/pager", "nosuchpager", "'", "", "cat", "./pager"])
def test_without_a_pager_the_text_is_printed(look: Look, tmp_path: Path, value: str) -> None:
    pager(tmp_path, "print('RAN')")
    seen = look("show", "fact.ports", env={"PAGER": value}, lines=10)
    assert seen.code == 0
    assert "service" in seen.text
    assert "RAN" not in seen.text


def test_pager_is_never_a_program_in_the_working_tree(look: Look, tmp_path: Path) -> None:
    pager(tmp_path, "print('RAN')", "less")
    (tmp_path / ".thunderus/config.toml").write_text('pager = "./less"\n')
    env = {"PATH": f".:{os.environ['PATH']}", "PAGER": "less"}
    assert (
        "RAN" not in look("show", "fact.ports", env=env, lines=10, keys=[(b"(END)", b"q"), (b":", b"q")]).text
    )


def test_ctrl_c_is_left_to_the_pager(look: Look, tmp_path: Path) -> None:
    stays = pager(
        tmp_path,
        "import signal\nheard = []\nsignal.signal(signal.SIGINT, lambda *_: heard.append(1))\n"
        "sys.stdin.read()\nprint('READY', flush=True)\nimport time\n"
        "while not heard: time.sleep(0.01)\ntime.sleep(0.2)\nprint('HEARD', flush=True)",
    )
    seen = look("show", "fact.ports", env={"PAGER": stays}, lines=10, keys=[(b"READY", b"\x03")])
    assert (seen.code, "HEARD" in seen.text) == (0, True)
