"""X6: read-only commands change no byte of documents, log, configuration or git index."""

from __future__ import annotations

import hashlib
import os
import subprocess
from typing import TYPE_CHECKING

import pytest
import report
from commands import FACTS, call, named

from tests.cli.test_bad_input import READS

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.command_server import Server

MORE: tuple[tuple[str, ...], ...] = (
    ("show", "fact.retries", "--json"),
    ("log", "fact.retries"),
    ("search", "tag:net", "--json"),
    ("index", "status", "--json"),
    ("index", "verify"),
    ("index", "refresh"),
    ("index", "rebuild"),
    ("index", "manifest"),
    ("lint", "--dry-run"),
    ("garden",),
    ("context", "how often are requests tried"),
    ("export", "shodh"),
    ("export", "csv", "kind:fact"),
    ("formats",),
    ("formats", "shodh", "--schema"),
    ("search", "--events", "--user", "ada", "retries"),
    ("lint", "--explain", "TM101"),
    ("config", "schemas", "events.v1"),
    ("config", "schemas"),
    ("hooks", "status"),
    ("config", "show"),
    ("add", "fact", "Dry", "--tag", "x", "--body", "Nothing is written.", "--dry-run"),
    ("--complete", "show", "fact."),
    ("--version",),
    ("--help",),
)
AWKWARD = {
    "crlf.md": b"---\r\nid: fact.crlf\r\ntitle: CRLF\r\n---\r\n\r\nText.\r\n",
    "bom.md": b"\xef\xbb\xbf---\nid: fact.bom\ntitle: BOM\n---\n\nText.\n",
    "no-end.md": b"---\nid: fact.no-end\ntitle: No end\n---\n\nText without a last line end",
    "broken.md": b"---\nid: [\n---\n",
    "bytes.md": b"\xff\xfe\x00",
    "empty.md": b"",
}


@pytest.mark.damaged
def test_reading_changes_no_byte(tmp_path: Path, server: Server) -> None:
    root = tmp_path / "store"
    named("add").build(server, str(root))
    for name, data in AWKWARD.items():
        (root / FACTS / name).write_bytes(data)
    subprocess.run(["git", "add", "-A"], cwd=root, check=True)
    (root / FACTS / "retries.md").write_bytes((root / FACTS / "retries.md").read_bytes() + b"By hand.\n")
    changed: list[tuple[str, ...]] = []
    tried = 0
    for with_index in (True, False):
        for arguments in (*READS, *MORE):
            if not with_index:
                subprocess.run(["rm", "-rf", str(root / ".thunderus/memory/indexes")], check=True)
            before = _bytes_of(root)
            done = call(server, str(root), arguments, f"2026-01-21T12:{tried:02d}:00Z")
            assert "Traceback" not in done.err, done
            changed += [arguments] if _bytes_of(root) != before else []
            tried += 1
    report.add("X6", "reading", tried=tried, lost=len(changed))
    assert changed == []


def _bytes_of(root: Path) -> dict[str, str]:
    """Every file, git's own included, but the projections."""
    found = {}
    for folder, folders, names in os.walk(root):
        if folder.endswith(".thunderus/memory") and "indexes" in folders:
            folders.remove("indexes")
        for name in names:
            with open(os.path.join(folder, name), "rb") as stream:
                found[os.path.join(folder, name)] = hashlib.sha256(stream.read()).hexdigest()
    return found
