"""Documents that are kept apart because of the files they come from."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.garden.test_similar import LATER, MORE, RETRIES, made
from thunderus_mem.garden.plan import GardenInput
from thunderus_mem.garden.rules.duplicates import plan_duplicates
from thunderus_mem.garden.rules.similar import plan_similar
from thunderus_mem.store.config import Config

if TYPE_CHECKING:
    from thunderus_mem.document.document import Document

ANCHORED = "\nanchors:\n  - path: export.py"


def steps(*known: Document) -> list[tuple[str, tuple[str, ...]]]:
    """All steps, with reports, that compare documents."""
    material, rules = GardenInput.of(known, verbose=True), (plan_duplicates, plan_similar)
    return [(step.action, step.targets) for rule in rules for step in rule(material, Config())]


def anchored(doc_id: str, body: str, source: str, updated: str) -> Document:
    return made(
        doc_id, "Retries", body, updated=updated, more=f"metadata:\n  imported_from: '{source}'" + ANCHORED
    )


@pytest.mark.parametrize("later", [RETRIES, RETRIES + MORE, LATER])
@pytest.mark.parametrize(
    ("one", "other", "apart"),
    [
        ("docs/a.md", "docs/copies/a.md", True),
        ("docs/a.md", "docs/backup-before-fixes-20260128_092856/a.md", True),
        ("docs/a.md", "docs/OldPages/a.md", True),
        ("docs/a.md", "docs/my_bak/a.md", True),
        ("docs/a.md", "docs/old/export/a.md", True),
        ("snapshots/9.2.0/a.md", "snapshots/10.0.0/a.md", True),
        ("plans/attempt-1/a.md", "plans/attempt-2/a.md", True),
        ("raw/a.md", "raw/2026-07-31-d9252fd/a.md", True),
        ("wiki/a.md", "raw/articles/a.md", True),
        ("00_inbox/a.md", "10_raw/sources/a.md", True),
        ("wiki/a.md", "originals/a.md", True),
        ("wiki/a.md", "_sources/a.md", True),
        ("AGENTS.md", "CLAUDE.md", True),
        ("api/README.md", "worker/README.md", True),
        ("api/index.md", "worker/index.md", True),
        (".cursorrules", "docs/rules.md", True),
        ("docs/a.md", "docs/export/a.md", False),
        ("docs/a.md", "docs/bakery/a.md", False),
        ("source/a.md", "source/export/a.md", False),
        ("raw/a.md", "raw/articles/a.md", False),
        ("old/a.md", "old/b.md", False),
        ("v2/a.md", "v2/export/a.md", False),
    ],
)
def test_files_of_two_trees_are_not_compared(one: str, other: str, apart: bool, later: str) -> None:
    known = (
        anchored("fact.a", RETRIES, one, "2026-01-01"),
        anchored("fact.b", later, other, "2026-02-01"),
    )
    assert bool(steps(*known)) is not apart
