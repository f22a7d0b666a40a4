"""Aliases: questions that a document answers find it, although its text has other words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.index_support import document, new_store, put
from thunderus_mem.authoring.init import AGENT_BLOCK
from thunderus_mem.memory.memory import Memory, open_memory
from thunderus_mem.search.search import search

if TYPE_CHECKING:
    from pathlib import Path

ALIASES = ("why is the deploy slow on Mondays", "monday outage", "Wie lange dauert ein Release?")


@pytest.fixture(name="memory")
def _memory(tmp_path: Path) -> Memory:
    layout = new_store(tmp_path)
    listed = "".join(f'  - "{alias}"\n' for alias in ALIASES)
    whales = document("fact.whales", "The index is rebuilt.\n", title="Whales", more=f"aliases:\n{listed}")
    put(layout, "whales.md", whales)
    for number in range(30):
        body = f"The deploy of part {number} is slow on some Mondays, and why the outage is not known.\n"
        put(layout, f"d{number}.md", document(f"fact.d{number}", body, title=f"Slow deploy {number}"))
    return open_memory(str(tmp_path))


@pytest.mark.parametrize(
    "question",
    [
        *ALIASES,
        *(alias.upper() for alias in ALIASES),
        "why is the deploy slow on Mondays?",
        "what was the monday outage about",
        "wie lange dauert ein release",
    ],
)
def test_question_that_contains_an_alias_finds_the_document_first(memory: Memory, question: str) -> None:
    assert search(memory, question).hits[0].id == "fact.whales"


def test_question_with_words_of_an_alias_finds_the_document(memory: Memory) -> None:
    assert "fact.whales" in {hit.id for hit in search(memory, "release dauert", limit=50).hits}


def test_agent_instructions_ask_for_questions_as_aliases() -> None:
    assert 'add fact "TITLE" --anchor PATH#SYMBOL --alias "QUESTION" --body "TEXT"' in AGENT_BLOCK
    assert "three" in AGENT_BLOCK
