"""Counts of reads: where they are, when they are counted, and what they cost when they are not."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from thunderus_mem.memory import usage
from thunderus_mem.memory.memory import open_memory
from thunderus_mem.memory.usage import Usage, add_usage, usage_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import pytest

    from tests.support.command_server import Done

    Run = Callable[..., Done]

FILE = ".thunderus/local/usage.jsonl"
ON = {"THUNDERUS_MEM_USAGE_COUNT": "true"}


def _added(run: Run) -> None:
    run("init")
    assert run("add", "fact", "Port", "--body", "The port is 80.").code == 0


def test_reads_are_counted_only_if_configured(run: Run, repo: Path) -> None:
    _added(run)
    run("show", "port")
    run("context", "which port")
    assert not (repo / FILE).exists()
    assert "access_count" not in run("show", "port", "--json").out
    assert not (repo / FILE).exists()

    assert run("show", "port", env=ON).code == 0
    assert "The port is 80" in run("context", "which port", env=ON).out
    assert run("search", "port", env=ON).code == 0  # shows a list, not a document
    shown = run("show", "port", "--json", env={**ON, "THUNDERUS_MEM_NOW": "2026-02-01T00:00:00Z"}).json
    assert (shown["access_count"], shown["last_accessed_at"][:10]) == (2, "2026-01-21")
    assert "3, last on 2026-02-01" in run("show", "port", env=ON).out
    assert run("status", "--json").json.get("unrecorded", []) == []
    assert "access_count" not in (repo / ".thunderus/memory/semantic/FACTS/port.md").read_text()


def test_reads_travel_with_an_export_and_are_no_difference(run: Run, repo: Path) -> None:
    """They are added to those that the record had in the other program."""
    run("init")
    record = {
        "id": "1",
        "content": "The port is 80.",
        "created_at": "2024-12-30T10:00:00Z",
        "access_count": 5,
    }
    (repo / "in.json").write_text(json.dumps([record]))
    assert run("import", "shodh", "in.json").code == 0
    run("show", "the-port-is-80", env=ON)
    (found,) = json.loads(run("export", "shodh").out)["memories"]
    assert (found["access_count"], found["last_accessed_at"][:10]) == (6, "2026-01-21")
    (repo / "out.json").write_text(json.dumps([found]))
    assert run("import", "shodh", "out.json").err.startswith("0 records imported, 1 unchanged")


def test_damaged_lines_are_skipped_and_long_files_shortened(
    tmp_path: Path, run: Run, repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _added(run)
    memory = open_memory(str(repo))
    monkeypatch.setattr(usage, "_LONG", 200)
    for day in range(1, 10):
        add_usage(memory, {"fact.port": Usage(1, f"2026-01-0{day}T00:00:00Z"), "core": Usage(2, "")})
    with (repo / FILE).open("a") as file:
        file.write('{"id": 3}\n[]\nnot json\n{"id": "fact.port", "n": 1')
    assert usage_of(memory) == {"fact.port": Usage(9, "2026-01-09T00:00:00Z"), "core": Usage(18, "")}
    assert (repo / FILE).stat().st_size < 400
    assert [path.name for path in (repo / ".thunderus/local").glob("usage*")] == ["usage.jsonl"]


def test_reads_are_shown_although_they_cannot_be_counted(run: Run, repo: Path) -> None:
    _added(run)
    (repo / FILE).mkdir(parents=True)
    assert "The port is 80" in run("show", "port", env=ON).out


def test_two_processes_add_their_reads(run: Run, repo: Path) -> None:
    _added(run)
    one, other = open_memory(str(repo)), open_memory(str(repo))
    for _ in range(3):
        add_usage(one, {"fact.port": Usage(1, "2026-01-01T00:00:00Z")})
        add_usage(other, {"fact.port": Usage(1, "2026-01-02T00:00:00Z")})
    assert usage_of(one)["fact.port"] == Usage(6, "2026-01-02T00:00:00Z")
    assert len(list(map(json.loads, (repo / FILE).read_text().splitlines()))) == 6
