"""No shipped text names a command or an option that was removed."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from thunderus_mem.cli.table import BY_NAME, REMOVED

ROOT = Path(__file__).parents[2]
SHIPPED = (
    *("README.md", "Makefile", "action.yml", "docs", "thunderus_mem", "benchmarks", "tests/repos"),
    *(".ci", ".github", ".pre-commit-hooks.yaml", ".thunderus/memory", ".thunderus/config.toml"),
)
TABLE = "thunderus_mem/cli/table.py"
KEPT_WORDS = frozenset(("note", "patch", "manifest", "rule", "schema", "record", "restore"))
"""Words of the glossary too: only with an argument, or after the program's name, do they name the command."""


def texts() -> dict[str, str]:
    """The text of all shipped files, by path; cases in JSON lines speak of other programs, too."""
    command = ["git", "ls-files", *SHIPPED]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout.decode()
    found = {}
    for name in listed.split():
        path = ROOT / name
        if name != TABLE and path.suffix != ".jsonl" and path.is_file() and not path.is_symlink():
            found[name] = path.read_text("utf-8", errors="replace")
    return found


def pattern(name: str) -> str:
    """A pattern for texts that name a removed command, or an option of one."""
    command, _, option = name.partition(" -")
    if not command or name.startswith("-"):
        return rf"(?<![\w-]){re.escape(name)}(?![\w-])"
    if option:
        return rf"\b{re.escape(command)}(?: [^\s`|;&]+){{0,8}}? -{re.escape(option)}(?![\w-])"
    called = rf"thunderus-mem(?: --?\w[\w-]*)* {name}(?![\w-])"
    quoted = rf"`{name} (?:[A-Z\[<-]|list|show|print|update|approve|reject|rebase|expire)"
    return f"{called}|{quoted}" if name in KEPT_WORDS else f"{called}|(?<!`)`{name}(?![\\w-])"


def test_no_text_names_a_removed_command() -> None:
    shipped = texts()
    for name in REMOVED:
        assert name not in BY_NAME
        wanted, last = re.compile(pattern(name)), name.rpartition(" ")[2]
        found = [
            f"{path}: {match[0]}"
            for path, text in shipped.items()
            if last in text
            for match in wanted.finditer(text)
        ]
        assert found == [], name


@pytest.mark.parametrize(
    "text",
    [
        *("thunderus-mem note x", "thunderus-mem -q --json restore", "`patch list`", "`blame`"),
        *("`garden --undo`", "$ thunderus-mem garden --only links --plan", "`restore SNAP`", "lint --diff"),
        *("run thunderus-mem why fact.a -L 18,", "``thunderus-mem edit ID --add-tag TAG``"),
    ],
)
def test_patterns_find_removed_names(text: str) -> None:
    assert any(re.search(pattern(name), text) for name in REMOVED)
