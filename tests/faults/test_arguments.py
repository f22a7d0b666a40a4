# ruff: noqa: E501
"""F7: for any arguments a command works, or reports in one line what is wrong with them."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import report
from commands import named
from tier import points

from tests.conftest import sealed_environment
from tests.support.every_command import CommandLine, every_command
from tests.support.in_process import run_here
from tests.support.verify_store import verify

if TYPE_CHECKING:
    from tests.support.command_server import Server

CODES = frozenset({0, 1, 2, 3, 4, 5, 6, 75})
LONGEST = 131_000
"""Linux takes at most 128 KiB in one argument."""

WORDS = (
    *("", " ", "-", "--", "---", "-x", "-é", "--nonsense", "--=", "--json=1", "-n-1", "=", "==", ":", "::", "@", "@.", "@@", "*"),
    *("core", "fact.limits", "FACT.LIMITS", "fact.", "retries", "fact", "adr", "evt_", "TM201", "tm4", "supersedes", "today"),
    *("0", "-1", "1", "007", "9" * 40, "1e9", "nan", "inf", "0x10", "1_000", "2026-01-21", "2026-13-45", "0000-00-00", "+2026"),
    *("a=b", "=b", "a=", "title=", "metadata.x=1", "metadata.=1", "id=x", "a.b.c.d=[", 'x={"a": [1,', "x=null", "x=true", "x=NaN"),
    *("refers_to:core", "refers_to:", ":core", "no:core", "derives-from:fact.limits", "\udcff", "a\udc80b", "\ud800", "\x1b[2J"),
    *("füße", "数据库", "🙂", "e\u0301", "\u202eabc", "a\nb", "a\tb", "a\rb", "\u2028", "\ufeff", "\x7f", "İ", "ß", "ﬀ", "\u0000x"),
    *("(", ")", "[", "{", "}", '"', "'", '"a', "a AND", "NEAR(", "kind:", "kind:x", "since:x", "tag:", "-a", "''", "`id`", "$(id)"),
    *("nowhere/x", "../x", ".thunderus", "notes", "%s", "%n", "\\", "\\x", "{0}", "{q}", "a" * 300, "ü" * 300, "a " * 3000),
    *("always", "never", "auto", "full", "json", "github", "pre-commit", "bash", "markdown", "show", "x" * LONGEST, "word " * 20_000),
)  # fmt: skip
GLOBAL = (
    "--json",
    "--quiet",
    "-q",
    "--no-input",
    "--no-pager",
    "--color",
    "-C",
    "--version",
    "--help",
    "-h",
)


def _arguments(chance: random.Random, commands: list[CommandLine]) -> list[str]:
    if chance.random() < 0.08:
        return [chance.choice((*WORDS, *GLOBAL)) for _ in range(chance.randint(0, 3))]
    command = chance.choice(commands)
    path, options = command.path, command.options
    before = [chance.choice(GLOBAL)] if chance.random() < 0.2 else []
    if before in (["-C"], ["--color"]):
        before.append(chance.choice(("nowhere", "", "always", ".", "\udcff")))
    words = [
        chance.choice(options if options and chance.random() < 0.4 else WORDS)
        for _ in range(chance.randint(0, 6))
    ]
    return [*before, *path, *words]


def test_any_arguments_work_or_are_a_usage_error(tmp_path, server: Server, monkeypatch) -> None:
    root, chance = os.path.join(str(tmp_path), "store"), random.Random(7)
    named("add").build(server, root)
    monkeypatch.chdir(root)
    commands, wrong, slowest = every_command(), list[str](), (0.0, "")
    tried = points(300, 5_000)
    for _ in range(tried):
        arguments = _arguments(chance, commands)
        shown = [word if len(word) < 60 else f"{word[:20]}… ({len(word)})" for word in arguments]
        began = time.process_time()
        done = run_here(*arguments)
        slowest = max(slowest, (time.process_time() - began, repr(shown)))
        if done.code not in CODES or "Traceback" in done.err or "a bug in" in done.err:
            wrong.append(f"{shown}: {done.code} {done.err[-300:]!r}")
        if done.code != 0 and not done.err and not done.out:
            wrong.append(f"{shown}: {done.code} without a word")
    assert verify(root, settled=True) == []
    report.add("F7", "in process", tried=tried, slowest=slowest[0])
    assert not wrong, "\n".join(wrong[:30])


def test_processes_accept_bytes_and_long_arguments(tmp_path, server: Server, sealed) -> None:
    root, chance = os.path.join(str(tmp_path), "store"), random.Random(77)
    named("add").build(server, root)
    commands, wrong = every_command(), list[str]()
    tried = points(12, 300)
    for number in range(tried):
        arguments = [word.replace("\0", "") for word in _arguments(chance, commands)]
        given = [os.fsencode(word) if "\ud800" not in word else b"\xed\xa0\x80" for word in arguments]
        if number % 3 == 0:
            given.append(bytes(chance.randrange(1, 256) for _ in range(chance.choice((1, 4, LONGEST)))))
        ran = subprocess.run(
            [sys.executable, "-m", "thunderus_mem", *given],
            cwd=root,
            env=sealed_environment(sealed) | {"THUNDERUS_MEM_SEED": str(number)},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=60,
        )
        if ran.returncode not in CODES or b"Traceback" in ran.stderr:
            wrong.append(f"{[word[:40] for word in given]}: {ran.returncode} {ran.stderr[-300:]!r}")
    assert verify(root, settled=True) == []
    report.add("F7", "processes", tried=tried)
    assert not wrong, "\n".join(wrong[:30])
