"""F3-strays: every Markdown file and event log of the store is read or reported, and none is lost."""

from __future__ import annotations

import itertools
import json
from typing import TYPE_CHECKING

import pytest
import report
import tier
from commands import call, named

from tests.lint.test_strays import LINE, LOGS, M, text_of
from thunderus_mem.memory.memory import open_memory

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.command_server import Done, Server

FOLDERS = ("semantic", "FACTS", "core", "episodic", "archive", "indexes", "DECISIONS", "facts", ".x", "a b")
NAMES = ("n.md", ".m.md", "O.MD", "p.Markdown", "README.md", "é.md")
WRITES: tuple[tuple[str, ...], ...] = (
    ("events", "add", "--kind", "note", "--body", "On."),
    ("add", "fact", "Ports", "--tag", "net", "--body", "It listens on 8080."),
    ("events", "record"),
    ("lint", "--fix"),
    ("garden", "--apply"),
    ("doctor", "--fix"),
    ("index", "rebuild"),
    ("index", "manifest"),
    ("undo",),
    ("init",),
)
NUMBERS = itertools.count()


@pytest.mark.damaged
@pytest.mark.parametrize("depth", range(tier.points(3, 4)))
def test_files_at_odd_places_are_read_or_reported(depth: int, tmp_path: Path, server: Server) -> None:
    root = tmp_path / "store"
    named("add").build(server, str(root))
    files = {}
    for folders in itertools.product(FOLDERS, repeat=depth):
        for name in NAMES:
            files["/".join((M, *folders, name))] = text_of("fact", f"fact.n{len(files)}")
    for number, path in enumerate(LOGS):
        files[path] = json.dumps({**LINE, "id": f"evt_{number}"}) + "\n"
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    strays = _strays(server, root, files)
    for words in WRITES:
        done = _run(server, root, words)
        assert done.code in (0, 1, 6), (words, done)
        assert "Traceback" not in done.err, (words, done)
    lost = [path for path in strays if (root / path).read_text() != files[path]]
    report.add("F3-strays", f"depth {depth}", tried=len(files), lost=len(lost))
    assert lost == []
    assert strays <= _strays(server, root, files)


def _strays(server: Server, root: Path, files: dict[str, str]) -> set[str]:
    """The files that are reported; each other one is a document that `show` prints."""
    found = _run(server, root, ("lint", "--json")).json["diagnostics"]
    reported = {one["path"] for one in found if one["rule"] in ("TM511", "TM512")}
    memory = open_memory(str(root))
    memory.refresh()
    documents = {path for path, _, _ in memory.index.files()}
    assert sorted(path for path in files if (path in reported) == (path in documents)) == []
    return reported & set(files)


def _run(server: Server, root: Path, words: tuple[str, ...]) -> Done:
    return call(server, str(root), words, f"2026-01-21T12:{next(NUMBERS) % 60:02d}:00Z")
