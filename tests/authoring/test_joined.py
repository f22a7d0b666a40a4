"""A document that was merged into another: its id refers to the remaining one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.index_support import document
from tests.support.review_support import Store
from thunderus_mem.authoring.edit import DocumentEdits, edit, link, remove, unarchive
from thunderus_mem.authoring.show import show
from thunderus_mem.history.blame import blame
from thunderus_mem.history.log import log
from thunderus_mem.history.why import why
from thunderus_mem.lint.lint import lint
from thunderus_mem.search.search import search

if TYPE_CHECKING:
    from pathlib import Path

LEFT, GONE = "fact.left", "fact.gone"
ASIDE = ".thunderus/memory/archive/semantic/FACTS/gone.md"


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """One document merged into another by an approved proposal of the gardener."""
    store = Store(tmp_path).begin()
    text = document(LEFT, "The exporter waits thirty seconds.\n")
    text = text.replace(f"id: {LEFT}\n", f"id: {LEFT}\naliases:\n  - {GONE}\n")
    store.put("left.md", text.replace("provenance:", f"links:\n  duplicates:\n    - {GONE}\nprovenance:"))
    store.put(ASIDE, document(GONE, "The exporter will wait thirty seconds.\n"))
    store.put("reader.md", document("fact.reader", f"See [[{GONE}]].\n"))
    return store


def test_merged_id_shows_the_remaining_document_with_a_note(store: Store) -> None:
    for reads in (show, why, blame):
        memory = store.memory()
        said: list[str] = []
        memory.say = said.append
        assert reads(memory, GONE).id == LEFT
        assert said == [f"{GONE} was merged into {LEFT}; its own text is in {ASIDE}"]


def test_archived_text_is_shown_by_path(store: Store) -> None:
    assert show(store.memory(), ASIDE).id == GONE


def test_archived_unmerged_document_is_shown(store: Store) -> None:
    store.put(ASIDE.replace("gone", "old"), document("fact.old", "Once upon a time.\n"))
    assert show(store.memory(), "fact.old").archived


def test_file_name_is_no_alias(store: Store) -> None:
    store.put(ASIDE.replace("gone", "old"), document("fact.old", "Once upon a time.\n"))
    store.put("fact.old.md", document("fact.newer", "Now.\n"))
    assert show(store.memory(), "fact.old").id == "fact.old"


def test_edits_of_a_merged_id_go_to_the_remaining_document_but_not_removals(store: Store) -> None:
    assert edit(store.memory(), GONE, DocumentEdits(sets={"author": "ada"})).id == LEFT
    link(store.memory(), "fact.reader", "refers_to", GONE)
    assert ("fact.reader", "refers_to", LEFT) in store.memory().index.edges()
    assert remove(store.memory(), GONE, why="said twice").path == ASIDE


def test_unarchive_restores_the_merged_document(store: Store) -> None:
    assert [one.id for one in unarchive(store.memory(), [GONE]).documents] == [GONE]
    assert show(store.memory(), GONE).id == GONE


def test_log_of_a_merged_id_contains_both_documents(store: Store) -> None:
    edit(store.memory(), LEFT, DocumentEdits(sets={"author": "ada"}))
    assert any(LEFT in event.doc_ids for event in log(store.memory(), GONE).events)


def test_link_to_a_merged_id_is_no_link_to_the_archive(store: Store) -> None:
    found = lint(store.memory(), [f"{store.path('reader.md')}"]).diagnostics
    assert [one.rule for one in found if one.rule in ("TM201", "TM204", "TM207")] == []


def test_archived_documents_do_not_change_search_results(store: Store) -> None:
    store.put("kettle.md", document("fact.kettle", "The kettle is descaled with vinegar.\n"))
    store.put("spout.md", document("fact.spout", "The spout of the kettle drips.\n"))
    queries = ("kettle spout", "kettle", "kettle vinegar", "vinegar drips")
    before = [sorted(hit.id for hit in search(store.memory(), query).hits) for query in queries]
    for number in range(60):
        text = document(f"fact.old{number}", f"An old kettle, number {number}.\n")
        store.put(ASIDE.replace("gone", f"old{number}"), text)
    after = [sorted(hit.id for hit in search(store.memory(), query).hits) for query in queries]
    assert after == before
    assert before[0] == ["fact.kettle", "fact.spout"]


def test_document_ranks_first_when_searching_its_id(store: Store) -> None:
    for number in range(3):
        store.put(f"more{number}.md", document(f"fact.more{number}", f"{GONE} and {LEFT}.\n" * 2))
    assert search(store.memory(), LEFT).hits[0].id == LEFT
    assert search(store.memory(), GONE).hits[0].id == LEFT
    assert search(store.memory(), GONE, archived=True).hits[0].id == LEFT
