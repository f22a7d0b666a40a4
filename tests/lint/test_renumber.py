"""`lint --fix` on decisions with one number: new file names, one event each, unchanged ids."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from thunderus_mem.document.document import Document, read_document
from thunderus_mem.lint.rules.identity import linked_paths, renumbered

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.support.command_server import Done

    Run = Callable[..., Done]

DECISIONS = ".thunderus/memory/semantic/DECISIONS"
FRONT = """---
id: {id}
title: T
kind: adr
tags: [x]
created: {created}T09:00:00Z
updated: 2026-01-21T09:00:00Z
provenance: {{events: [], patches: [], commits: []}}
verification: {{last_verified_commit: null, status: unknown}}
---
## Status

Accepted

## Context

## Decision

## Consequences
{more}
"""


def text(id: str, created: str, more: str = "") -> str:
    return FRONT.format(id=id, created=created, more=more)


def document(name: str, id: str, created: str, more: str = "") -> Document:
    read = read_document(f"{DECISIONS}/{name}", text(id, created, more).encode()).document
    assert read is not None
    return read


def test_oldest_keeps_its_number_and_others_get_the_next_free_one() -> None:
    found = renumbered(
        [
            document("ADR-0007-a.md", "adr.a", "2026-01-03"),
            document("ADR-0007-b.md", "adr.b", "2026-01-01"),
            document("ADR-0007-c.md", "adr.c", "2026-01-02"),
            document("ADR-0009-d.md", "adr.d", "2026-01-01"),
        ],
        linked=(),
    )
    assert [(one.document.id, os.path.basename(one.path)) for one in found] == [
        ("adr.c", "ADR-0010-c.md"),
        ("adr.a", "ADR-0011-a.md"),
    ]


def test_file_linked_by_its_path_keeps_its_name() -> None:
    found = [
        document("ADR-0007-a.md", "adr.a", "2026-01-01", "See [b](ADR-0007-b.md#status)."),
        document("ADR-0007-b.md", "adr.b", "2026-01-02"),
    ]
    assert renumbered(found, linked=())
    assert not renumbered(found, linked_paths(found))


@pytest.fixture
def store(repo: Path, run: Run) -> Path:
    run("init")
    for name, id, day in (("ADR-0001-a.md", "adr.a", "2026-01-02"), ("ADR-0001-b.md", "adr.b", "2026-01-01")):
        (repo / DECISIONS / name).write_text(text(id, day))
    return repo


def test_fix_renames_in_one_event_with_both_paths(store: Path, run: Run) -> None:
    shown = run("lint", "--dry-run", "--select", "TM111")
    assert f"rename to {DECISIONS}/ADR-0002-a.md" in shown.out
    assert (store / DECISIONS / "ADR-0001-a.md").exists()
    fixed = run("lint", "--fix", "--select", "TM111", "--json").json
    assert fixed["fixed"] == [f"{DECISIONS}/ADR-0002-a.md"]
    assert fixed["diagnostics"] == []
    assert (store / DECISIONS / "ADR-0002-a.md").read_text() == text("adr.a", "2026-01-02")
    assert not (store / DECISIONS / "ADR-0001-a.md").exists()
    events = run("log", "adr.a", "--json").json["events"]
    assert [event["doc_ids"] for event in events if event["op"] == "rename"] == [["adr.a"]]
    assert run("status", "--json").json["unrecorded"] == []
    assert run("events", "verify").code == 0
    assert run("show", "adr.a", "--json").json["path"] == f"{DECISIONS}/ADR-0002-a.md"


def test_fix_of_a_named_file_renames_only_that_file(store: Path, run: Run) -> None:
    ran = run("lint", "--fix", "--select", "TM111", f"{DECISIONS}/ADR-0001-a.md")
    assert ran.code == 0, ran.out + ran.err
    assert (store / DECISIONS / "ADR-0002-a.md").exists()


def test_recap_lists_a_rename_once(store: Path, run: Run) -> None:
    run("lint", "--fix", "--select", "TM111")
    page = run("recap", "--dry-run").out
    assert "renamed" in page
    assert "renamed 2 times" not in page
