"""X7: a missing memory, for any reason: no command logs or writes anything because of it."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import report
from commands import FACTS, call, named, state
from harness import copy

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.support.command_server import Server

WRITES: tuple[tuple[str, ...], ...] = (
    ("add", "fact", "Ports", "--tag", "net", "--body", "The service listens on 8080."),
    ("edit", "core", "--tag", "seen"),
    ("events", "add", "--kind", "note", "--body", "All is well."),
    ("lint", "--fix"),
    ("garden", "--apply"),
    ("recap", "2026-01-21"),
    ("import", "markdown", "notes", "--kind", "fact", "--tag", "old"),
    ("events", "record"),
    ("init",),
)
COUNT = 24


def _emptied(root: str) -> None:
    for path in Path(root, FACTS).glob("*.md"):
        path.unlink()


def _without_facts(root: str) -> None:
    shutil.rmtree(os.path.join(root, FACTS))


def _not_mounted(root: str) -> None:
    shutil.rmtree(os.path.join(root, ".thunderus/memory"))
    os.mkdir(os.path.join(root, ".thunderus/memory"))


LOSSES: dict[str, Callable[[str], None]] = {
    "emptied": _emptied,
    "without the folder": _without_facts,
    "not mounted": _not_mounted,
}


def _store(server: Server, root: str, *, committed: bool) -> None:
    named("import").build(server, root)
    for number in range(COUNT):
        Path(root, "notes", f"n{number}.md").write_text(f"# Note {number}\n\nPort {number} is open.\n")
    made = ("import", "markdown", "notes", "--kind", "fact", "--tag", "net")
    assert call(server, root, made, "2026-01-21T09:30:00Z").code == 0
    if committed:
        for words in (["add", "-A"], ["commit", "-qm", "All"]):
            subprocess.run(["git", *words], cwd=root, check=True)
    assert call(server, root, ("list",), "2026-01-21T09:31:00Z").code == 0


def test_no_command_records_a_mass_deletion(tmp_path: Path, server: Server) -> None:
    tried = lost = 0
    for committed in (True, False):
        base, root = str(tmp_path / f"base-{committed}"), str(tmp_path / f"store-{committed}")
        _store(server, root, committed=committed)
        copy(root, base)
        for name, lose in LOSSES.items():
            for arguments in WRITES:
                copy(base, root)
                lose(root)
                before = state(root)
                done = call(server, root, arguments, "2026-01-21T10:00:00Z")
                tried += 1
                quiet = done.code == 0 and arguments[0] in ("lint", "garden", "recap", "init")
                refused = done.code in (4, 5) or (done.code == 1 and arguments[0] == "lint")
                assert quiet or refused, (name, arguments, done)
                kept = state(root)
                lost += kept.events != before.events or (arguments[0] != "init" and kept != before)
                assert "Traceback" not in done.err, done
    report.add("X7", "losses", tried=tried, lost=lost, healed=_returned(server, tmp_path))
    assert lost == 0


def _returned(server: Server, tmp_path: Path) -> int:
    """Once the documents are restored, everything works as before."""
    base, root = str(tmp_path / "base-True"), str(tmp_path / "store-True")
    copy(base, root)
    aside = os.path.join(root, "aside")
    os.rename(os.path.join(root, FACTS), aside)
    assert (
        call(server, root, ("events", "add", "--kind", "note", "--body", "now"), "2026-01-21T10:00:00Z").code
        == 5
    )
    os.rename(aside, os.path.join(root, FACTS))
    assert (
        call(server, root, ("events", "add", "--kind", "note", "--body", "then"), "2026-01-21T10:01:00Z").code
        == 0
    )
    shown = call(server, root, ("status", "--json"), "2026-01-21T10:02:00Z").json
    assert (shown["gone"], shown["unrecorded"]) == ([], [])
    return 1
