"""F3: special files in place of documents: no command hangs or fails, all other documents are served."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

import pytest
import report
from commands import FACTS, call, twice
from file_kinds import KINDS, LISTED_ALL_THE_SAME, NOT_LISTED

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.command_server import Server

pytestmark = pytest.mark.damaged
NOW = "2026-01-21T09:00:00Z"
COMMANDS = (
    ("index", "rebuild"),
    ("search", "served words"),
    ("show", "fact.good"),
    ("status",),
    ("doctor",),
    ("garden",),
    ("index", "manifest"),
    ("add", "fact", "Ports", "--tag", "net", "--body", "It listens on 8080."),
    ("index", "refresh"),
)
LIMIT = 20
"""Seconds after which a command hangs."""


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory, server: Server) -> Path:
    """One store with all of them at once; creating a device needs privileges."""
    root = tmp_path_factory.mktemp("kinds") / "store"
    root.mkdir()
    assert call(server, str(root), ("init",), NOW).code == 0
    (root / FACTS / "good.md").write_text(twice("good", "It is served words."))
    for kind, (make, _, name) in KINDS.items():
        path = root / FACTS / os.fsdecode(name or f"{kind}.md".encode())
        try:
            make(path)
        except PermissionError:
            path.symlink_to("/dev/zero")
    return root


def test_each_special_file_has_one_lint_finding(store: Path, server: Server) -> None:
    start = time.monotonic()
    done = call(server, str(store), ("lint", "--json"), NOW, timeout=LIMIT)
    slowest = time.monotonic() - start
    assert done.code == 1, done
    found: dict[str, list[str]] = {}
    for one in done.json["diagnostics"]:
        # An invisible character is named beside what it does.
        if one["severity"] != "note" and one["rule"] != "TM402":
            found.setdefault(one["path"].rpartition("/")[2], []).append(one["rule"])
    for kind, (_, rule, raw) in KINDS.items():
        name = (raw or f"{kind}.md".encode()).decode("utf-8", "backslashreplace")
        assert found.pop(name, []) == ([rule] if rule else []), kind
    assert found == {}
    listed = set(call(server, str(store), ("list", "--ids"), NOW, timeout=LIMIT).out.split())
    served = {kind for kind, one in KINDS.items() if not one.rule} - NOT_LISTED | LISTED_ALL_THE_SAME
    assert listed == {"core", "fact.good", "fact.in-folder", *(f"fact.{kind}" for kind in served)}
    report.add("F3", "lint", tried=len(KINDS), slowest=slowest)


def test_no_command_hangs_on_special_files(store: Path, server: Server) -> None:
    for words in COMMANDS:
        start = time.monotonic()
        done = call(server, str(store), words, NOW, timeout=LIMIT)
        took = time.monotonic() - start
        assert done.code in (0, 1), (words, done)
        assert "Traceback" not in done.out + done.err, (words, done)
        assert "\x1b" not in done.out + done.err, (words, done)
        if words[0] in ("search", "show"):
            assert "It is served words." in done.out, done
        report.add("F3", " ".join(words[:2]), tried=1, slowest=took)
    assert "fact.ports" in call(server, str(store), ("list", "--ids"), NOW).out
