"""No program from a repository's configuration is run, whatever the command."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.support.command_server import Done

    Run = Callable[..., Done]

CONFIG = """
[core]
    fsmonitor = "echo fsmonitor >> {canary}; false"
    hooksPath = {hooks}
    pager = "echo pager >> {canary}"
    alternateRefsCommand = "echo refs >> {canary}"
[filter "a.b=c"]
    clean = "echo clean >> {canary}; cat"
    smudge = "echo smudge >> {canary}; cat"
    required = true
[filter "long"]
    process = "echo process >> {canary}; cat"
[diff "x"]
    textconv = "echo textconv >> {canary}; cat"
    command = "echo command >> {canary}"
[diff]
    external = "echo external >> {canary}"
[gpg]
    program = "echo gpg >> {canary}"
[log]
    showSignature = true
[alias]
    status = "!echo alias >> {canary}"
"""


def test_no_configured_program_runs(repo: Path, run: Run) -> None:
    assert run("init").code == 0
    assert run("add", "fact", "Plain", "--tag", "t", "--body", "plain words").code == 0
    for arguments in (["add", "-A"], ["commit", "-qm", "all"]):
        subprocess.run(["git", *arguments], cwd=repo, check=True, capture_output=True)
    canary, hooks = repo / "canary", repo / "hooks"
    hooks.mkdir()
    for name in ("post-index-change", "pre-commit", "reference-transaction"):
        (hooks / name).write_text(f"#!/bin/sh\necho {name} >> {canary}\n")
        (hooks / name).chmod(0o755)
    with (repo / ".git" / "config").open("a") as config:
        config.write(CONFIG.format(canary=canary, hooks=hooks))
    (repo / ".gitattributes").write_text("* filter=a.b=c diff=x\n*.jsonl filter=long\n*.md filter=long\n")
    for path in (repo / ".thunderus").rglob("*.*"):
        os.utime(path, (5, 5))
    commands = (
        ["events", "add", "--kind", "note", "--body", "hello"],
        ["status"],
        ["lint", "--staged"],
        ["why", "fact.plain"],
        ["doctor"],
    )
    for command in (*commands, ["recap", "today", "--dry-run"]):
        ran = run(*command)
        assert ran.code in (0, 1, 4), ran.err
        assert not canary.exists(), (command, canary.read_text())
