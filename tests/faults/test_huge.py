"""E7: huge inputs are rejected or streamed in bounded memory, and the rest is served."""

from __future__ import annotations

import itertools
import os
import resource
import shutil
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import report
from commands import FACTS, named, twice
from harness import Tally, shards
from tier import points

from tests.conftest import sealed_environment

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.command_server import Server

MIB = 1 << 20
SEEDS = itertools.count(1)
MOST = 300 * MIB
BIG = points(30, 100) * MIB
STARTER = """
import os, sys
child = os.posix_spawn(sys.argv[2], sys.argv[2:], os.environ)
_, status, usage = os.wait4(child, 0)
with open(sys.argv[1], "w") as report:
    report.write(f"{os.waitstatus_to_exitcode(status)} {usage.ru_maxrss}")
"""
"""A child is charged with the pages of the process that starts it, so a small one has to."""
LINE = b'{"v":1,"id":"evt_%s","text":"%s"}\n'


class Done:
    """How a process ended, and the most memory it had."""

    def __init__(self, root: str, home: Path, *words: str, stdin: str = os.devnull) -> None:
        begun = time.monotonic()
        report = os.path.join(home, "report")
        with open(stdin, "rb") as given, open(os.path.join(home, "said"), "w+b") as said:
            subprocess.run(
                [sys.executable, "-S", "-c", STARTER, report, sys.executable, "-m", "thunderus_mem", *words],
                cwd=root,
                env=sealed_environment(home) | {"THUNDERUS_MEM_SEED": str(next(SEEDS))},
                stdin=given,
                stdout=said,
                stderr=subprocess.STDOUT,
                check=True,
            )
            said.seek(0)
            self.said = said.read(MIB).decode("utf-8", "replace")
        with open(report, encoding="ascii") as handle:
            self.code, pages = map(int, handle.read().split())
        self.memory = pages * (1 if sys.platform == "darwin" else 1024)
        self.seconds = time.monotonic() - begun
        self.words = words

    def expect(self, tally: Tally, *codes: int) -> Done:
        """Ended with one of the codes, without a traceback and in bounded memory."""
        assert self.code in codes, (self.words, self.code, self.said[-2000:])
        assert "Traceback" not in self.said
        assert self.memory < MOST, (self.words, self.memory // MIB)
        tally.tried += 1
        tally.slowest = max(tally.slowest, self.seconds)
        return self


def _store(server: Server, folder: Path) -> str:
    base, root = named("add").made(server, str(folder))
    shutil.copytree(base, root)
    shutil.rmtree(base)
    return root


def _fill(path: str, first: bytes, size: int, *, piece: bytes = b"word " * 2000, last: bytes = b"") -> None:
    with open(path, "wb") as stream:
        stream.write(first)
        while stream.tell() < size:
            stream.write(piece)
        stream.write(last)


def test_document_of_a_hundred_megabytes_is_rejected(tmp_path: Path, sealed: Path, server: Server) -> None:
    root, tally = _store(server, tmp_path), Tally()
    header = twice("huge", "x").encode()
    path = os.path.join(root, FACTS, "huge.md")
    for name, piece in (
        ("words", b"word " * 2000),
        ("one line", b"x" * 10_000),
        ("header", b"  - tag\n" * 1000),
    ):
        first = header.replace(b"---\n\n", b"", 1) if name == "header" else header
        _fill(path, first, BIG, piece=piece)
        assert "fact.limits" in Done(root, sealed, "search", "page rows", "--ids").expect(tally, 0).said
        assert "huge.md" in Done(root, sealed, "lint", "--format", "concise").expect(tally, 1).said
        Done(root, sealed, "show", FACTS + "/huge.md").expect(tally, 2, 4, 5)
        Done(root, sealed, "edit", "fact.limits", "--tag", name.replace(" ", "-")).expect(tally, 0)
        Done(root, sealed, "garden").expect(tally, 0)
        Done(root, sealed, "doctor").expect(tally, 0, 1)
    report.add("E7", "document", **vars(tally))


def test_body_of_a_hundred_megabytes_is_rejected(tmp_path: Path, sealed: Path, server: Server) -> None:
    root, tally = _store(server, tmp_path), Tally()
    body = str(tmp_path / "body")
    _fill(body, b"Some words.\n", BIG)
    added = Done(root, sealed, "add", "fact", "Huge", "--tag", "t", "--body", "-", stdin=body)
    assert "larger" in added.expect(tally, 2, 5).said or "long" in added.said
    Done(root, sealed, "edit", "fact.limits", "--body", "-", stdin=body).expect(tally, 2, 5)
    notes = tmp_path / "notes"
    notes.mkdir()
    shutil.move(body, notes / "huge.md")
    (notes / "small.md").write_text("# Small\n\nIt is small.\n")
    words = ("import", "markdown", str(notes), "--kind", "fact", "--tag", "t")
    assert "small" in Done(root, sealed, *words).expect(tally, 0, 1, 2, 5).said
    report.add("E7", "body", **vars(tally))


def test_log_line_of_ten_megabytes_is_handled(tmp_path: Path, sealed: Path, server: Server) -> None:
    root, tally = _store(server, tmp_path), Tally()
    (shard,) = shards(root)
    text = b"x" * (10 * MIB)
    with open(shard, "rb") as stream:
        whole = stream.read()
    for line in (LINE % (b"01", text), b'{"v":1,"a":' * MIB + b"\n", b"[" * (10 * MIB) + b"\n"):
        with open(shard, "wb") as stream:
            stream.write(line + whole)
        assert "add" in Done(root, sealed, "log").expect(tally, 0, 6).said
        Done(root, sealed, "events", "verify").expect(tally, 1)
        Done(root, sealed, "lint", "--format", "concise").expect(tally, 1)
        Done(root, sealed, "events", "add", "--kind", "note", "--body", "on we go").expect(tally, 0)
        with open(shard, "rb") as stream:
            assert stream.read(len(line) + len(whole)) == line + whole
    os.unlink(shard)
    report.add("E7", "log line", **vars(tally))


def test_memory_measurement_works(tmp_path: Path, sealed: Path, server: Server) -> None:
    root = _store(server, tmp_path)
    small = Done(root, sealed, "list", "--ids")
    assert 10 * MIB < small.memory < 150 * MIB, small.memory
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss > 0
