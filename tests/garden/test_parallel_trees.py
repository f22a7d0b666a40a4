"""Documents that are kept apart because of the files they come from."""

from __future__ import annotations

import pytest

from tests.garden.test_similar import LATER, MORE, RETRIES, imported, made
from thunderus_mem.document.document import Document, read_document
from thunderus_mem.garden.plan import GardenInput
from thunderus_mem.garden.rules.duplicates import plan_duplicates
from thunderus_mem.garden.rules.names import plan_tags
from thunderus_mem.garden.rules.similar import plan_similar
from thunderus_mem.store.config import Config

ANCHORED = "\nanchors:\n  - path: export.py"


def steps(*known: Document) -> list[tuple[str, tuple[str, ...]]]:
    """All steps, with reports, that compare documents."""
    material, rules = GardenInput.of(known, verbose=True), (plan_duplicates, plan_similar, plan_tags)
    return [(step.action, step.targets) for rule in rules for step in rule(material, Config())]


def anchored(doc_id: str, body: str, source: str, updated: str, tag: str) -> Document:
    text = made(
        doc_id, "Retries", body, updated=updated, more=f"metadata:\n  imported_from: '{source}'" + ANCHORED
    ).text.replace("tags: []", f"tags: [{tag}]")

    document = read_document(f".thunderus/memory/semantic/FACTS/{doc_id}.md", text.encode()).document
    assert document is not None
    return document


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
        ("AGENTS.md", "CLAUDE.md", True),
        ("api/README.md", "worker/README.md", True),
        ("api/index.md", "worker/index.md", True),
        (".cursorrules", "docs/rules.md", True),
        ("docs/a.md", "docs/export/a.md", False),
        ("docs/a.md", "docs/bakery/a.md", False),
        ("old/a.md", "old/b.md", False),
        ("v2/a.md", "v2/export/a.md", False),
    ],
)
def test_files_of_two_trees_are_not_compared(one: str, other: str, apart: bool, later: str) -> None:
    known = (
        anchored("fact.a", RETRIES, one, "2026-01-01", "x"),
        anchored("fact.b", later, other, "2026-02-01", "x"),
    )
    assert bool(steps(*known)) is not apart


def test_tags_of_copies_do_not_count_and_stay_as_they_are() -> None:
    live = anchored("fact.a", "One.", "docs/a.md", "2026-01-01", "Exports")
    copies = [anchored(f"fact.{at}", f"Nr {at}.", f"backup/{at}.md", "2026-01-01", "exports") for at in "bcd"]
    assert steps(live, *copies) == []
    assert steps(live, imported("fact.e", "E", "Two.", "docs/e.md")) == []


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("ReAct", "react", False),
        ("LLM", "llm", True),
        ("Agents", "agents", True),
        ("ReAct agents", "ReAct-agents", True),
    ],
)
def test_tag_with_a_capital_inside_a_word_is_a_name(one: str, other: str, same: bool) -> None:
    known = [
        anchored(f"fact.{at}", f"Nr {at}.", f"{at}/{at}.md", "2026-01-01", tag)
        for at, tag in (("a", one), ("b", one), ("c", other))
    ]
    assert bool(plan_tags(GardenInput.of(known), Config())) is same
