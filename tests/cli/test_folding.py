"""Messages on stderr wrap between words on a narrow terminal, and not at all without a terminal."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING

import pytest

from tests.conftest import sealed_environment
from tests.support.terminal import on_terminal
from thunderus_mem.cli.text import Style, folded

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.support.command_server import Server

COLUMNS = 40
SCENES = (
    ("show", "fact.that-is-in-no-document-of-this-store"),
    ("add", "fact", "Ports", "--set", "nothing"),
    ("review", "list"),
    ("review", "approve", "patch_01KFG0000000000000000000AB"),
    ("sarch", "ports"),
)


@pytest.fixture
def narrow(repo: Path, server: Server, sealed: Path) -> Callable[..., str]:
    """The output of a command on both streams, on a terminal of 40 columns."""
    assert server.run("init", cwd=str(repo)).code == 0
    (repo / ".thunderus" / "patches" / "notes-of-somebody.json").write_text("{}")

    def look(*words: str, columns: int = COLUMNS, script: str = "") -> str:
        environment = sealed_environment(sealed) | {"TERM": "xterm", "NO_COLOR": "1"}
        program, used = (("sh", "-c", script, sys.executable), None) if script else ((), server)
        return on_terminal(
            words, cwd=repo, env=environment, columns=columns, program=program, server=used
        ).text

    return look


@pytest.mark.parametrize("words", SCENES, ids=lambda words: words[0])
def test_messages_wrap_between_words(words: tuple[str, ...], narrow: Callable[..., str]) -> None:
    wide = narrow(*words, columns=400)
    seen = narrow(*words)
    assert max(map(len, wide.splitlines())) > COLUMNS, "else it shows nothing"
    assert seen.split() == wide.split()
    assert [line for line in seen.splitlines() if len(line) > COLUMNS and " " in line.strip()] == []


@pytest.mark.parametrize(("columns", "script"), [(COLUMNS, "{} | cat"), (400, "COLUMNS=40 {}")])
def test_width_comes_from_the_stream_or_columns(
    columns: int, script: str, narrow: Callable[..., str]
) -> None:
    words = '"$0" -m thunderus_mem show fact.that-is-in-no-document'
    told = narrow(script=script.format(words), columns=columns)
    assert "'fact.that-is-in-no-document'" in told.split()
    assert max(map(len, told.splitlines())) <= COLUMNS, told


def test_without_a_terminal_lines_are_not_wrapped(narrow: Callable[..., str], repo: Path) -> None:
    narrow(script='COLUMNS=40 "$0" -m thunderus_mem review list 2> told')
    told = (repo / "told").read_text().splitlines()
    assert len(told) == 2
    assert len(told[0]) > COLUMNS


def test_folding_keeps_columns_words_and_colors() -> None:
    style = Style(colored=True)
    assert folded("short\n\n  as  it is", 20) == "short\n\n  as  it is"
    assert folded("one two three four", 9) == "one two\nthree\nfour"
    assert folded("    one two three", 12) == "    one two\n    three"
    assert folded("hint:  a-long-word-that-has-no-room b", 20) == "hint:\na-long-word-that-has-no-room\nb"
    assert folded(" " * 30 + "one two", 8) == "    one\n    two"
    assert folded("日本 日本 日本", 9) == "日本 日本\n日本"
    told = folded(f"{style.error('error:')} {style.name('fact.a')} is not there", 14)
    assert re.sub(r"\x1b\[[0-9;]*m", "", style.paint(told)) == "error: fact.a\nis not there"
