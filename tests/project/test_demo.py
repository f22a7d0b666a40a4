"""The demo corpus is imported completely and shows what it is meant to show."""

from __future__ import annotations

import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from thunderus_mem.garden.apply import garden_apply, garden_plan
from thunderus_mem.interop.markdown import import_markdown
from thunderus_mem.lint.lint import lint
from thunderus_mem.memory.memory import Memory, open_memory

DEMO = Path(__file__).parent.parent / "repos" / "demo"
FOLDERS = (("core", "core"), ("docs/adr", "adr"), ("docs/runbooks", "playbook"), ("notes", "fact"))


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    shutil.copytree(DEMO, tmp_path, dirs_exist_ok=True)
    (tmp_path / ".thunderus" / "memory").mkdir(parents=True)
    moment = datetime(2026, 1, 21, 9, 0, tzinfo=UTC)
    ticks = iter(moment + timedelta(seconds=second) for second in range(10_000))
    opened = open_memory(str(tmp_path), environ={}, now=lambda: next(ticks), random_bits=lambda bits: 7)
    opened.refresh()
    for folder, kind in FOLDERS:
        import_markdown(opened, str(tmp_path / folder), kind)
    return opened


def test_every_page_becomes_a_document_and_one_link_is_dead(memory: Memory) -> None:
    pages = [path for folder, _ in FOLDERS for path in (DEMO / folder).glob("*.md")]
    assert len(memory.index.documents()) == len(pages) == 15
    findings = [finding for finding in lint(memory).diagnostics if finding.rule != "TM501"]
    assert [(finding.rule, Path(finding.path).name) for finding in findings] == [
        ("TM201", "label-printers.md")
    ]


def test_duplicate_notes_are_merged(memory: Memory) -> None:
    plan = garden_plan(memory)
    assert [step.targets for step in plan.steps] == [("fact.carrier-timeouts", "fact.timeouts-of-carriers")]
    garden_apply(memory, plan)
    assert garden_plan(memory).steps == ()
    row = memory.index.get("fact.carrier-timeouts")
    assert row is not None
    assert row.aliases == ("fact.timeouts-of-carriers",)
    assert set(row.tags) >= {"carriers", "operations"}
