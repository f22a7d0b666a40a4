"""X4-newer: with an index of a newer version each command answers from the files, and keeps that index."""

from __future__ import annotations

import os
import sqlite3
from typing import TYPE_CHECKING

import pytest
import report
from commands import call, named
from test_reading_writes_nothing import MORE

from tests.cli.test_bad_input import READS, WRITES

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.command_server import Done, Server

NOW = "2026-01-21T12:00:00Z"
STATES: tuple[tuple[str, ...], ...] = (
    ("status",),
    ("doctor",),
    ("index", "status"),
    ("index", "status", "--json"),
    ("index", "verify"),
    ("index", "refresh"),
    ("index", "rebuild"),
)
"""Commands that report the state of the index."""
NO_ANSWER = ("--complete", "show", "fact.")
"""Completion only reads the index: with none it offers nothing."""
REPORTED = ("newer version", '"state":"newer"')


@pytest.mark.damaged
def test_commands_answer_without_an_index_of_a_newer_version(tmp_path: Path, server: Server) -> None:
    root = tmp_path / "store"
    named("add").build(server, str(root))
    index = root / ".thunderus/memory/indexes/memory.db"
    tried, replaced = 0, 0
    for words in dict.fromkeys((*READS, *MORE, *WRITES)):
        is_read = words not in WRITES
        expected = _run(server, root, words) if is_read else None
        newer = _make_newer(server, root, index)
        done = _run(server, root, words)
        tried += 1
        replaced += not index.is_file() or index.read_bytes() != newer
        assert "Traceback" not in done.err, (words, done)
        assert "rebuilt" not in (done.out + done.err).lower(), (words, done)
        if words in STATES:
            assert any(text in done.out + done.err for text in REPORTED), (words, done)
        elif expected is not None and words != NO_ANSWER:
            assert (done.code, done.out) == (expected.code, expected.out), words
        elif words[0] in ("add", "edit", "note"):
            assert done.code == 0 or words[1] == "fact.limits", done
    report.add("X4-newer", "every command", tried=tried, lost=replaced)
    assert replaced == 0


def _run(server: Server, root: Path, words: tuple[str, ...]) -> Done:
    return call(server, str(root), words, NOW)


def _make_newer(server: Server, root: Path, index: Path) -> bytes:
    """Write an index as a newer version would; return its bytes."""
    for name in os.listdir(index.parent):
        (index.parent / name).unlink()
    assert _run(server, root, ("index", "rebuild")).code == 0
    connection = sqlite3.connect(index)
    connection.execute("PRAGMA user_version = 9999")
    connection.close()
    return index.read_bytes()
