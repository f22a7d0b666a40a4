"""P3: names that some file system or reader treats as equal: rejected when added, found when present."""

from __future__ import annotations

import json
import unicodedata
from typing import TYPE_CHECKING

import pytest
import report
from commands import FACTS, twice

from thunderus_mem.authoring.add import NewDocument, add
from thunderus_mem.errors import DocumentExists, InvalidDocument
from thunderus_mem.history.log import log_findings
from thunderus_mem.interop.events import events_add
from thunderus_mem.lint.lint import lint
from thunderus_mem.memory.memory import open_memory
from thunderus_mem.search.search import search

if TYPE_CHECKING:
    from pathlib import Path

TITLES = (
    ("Cache", "CACHE", "cache", "Ｃａｃｈｅ"),
    ("Café", unicodedata.normalize("NFD", "Café"), "CAFÉ", "Cafe"),
    ("Straße", "Strasse", "STRASSE", "STRAẞE"),
    ("Isik", "ISIK", "Işık", "ISİK"),
)
"""Titles whose ids are one, by rows; the last row's differ only where Turkish writes a dot or none."""

NAMES = (
    ("cache", "Cache"),
    ("caf\u00e9", "cafe\u0301"),
    ("CAF\u00c9", "cafe\u0301"),
    ("stra\u00dfe", "STRASSE"),
    ("\u00c5", "\u212b"),
)
SPELLINGS = (
    ("Café", ("café", unicodedata.normalize("NFD", "café"), "CAFE", "cafe")),
    ("Größe", ("größe", "GRÖSSE", "grosse", unicodedata.normalize("NFD", "Größe"))),
    ("naïve", ("naive", "NAÏVE")),
    ("Ångström", ("angstrom", "\u212bngström")),
)


@pytest.fixture
def store(tmp_path: Path) -> Path:
    (tmp_path / ".thunderus").mkdir()
    return tmp_path


def test_similar_titles_share_an_id_and_the_second_is_rejected(store: Path) -> None:
    tried = 0
    for row in TITLES:
        memory = open_memory(str(store))
        first, *others = row
        add(memory, NewDocument("fact", first, body=f"The first says something about {row!r}.", tags=["x"]))
        for position, title in enumerate(others):
            tried += 1
            with pytest.raises(DocumentExists):
                add(
                    memory,
                    NewDocument("fact", title, body=f"Number {position} says something else.", tags=["x"]),
                )
    for given, error in (
        ("fact.Cache", DocumentExists),
        ("fact.CAFE", DocumentExists),
        ("Fact.cache", DocumentExists),
        ("fact.café", InvalidDocument),
        ("fact.straße", InvalidDocument),
        ("fact.ı", InvalidDocument),
    ):
        tried += 1
        with pytest.raises(error):
            add(open_memory(str(store)), NewDocument("fact", "X", id=given, body="Words.", tags=["x"]))
    report.add("P3", "ids", tried=tried)


@pytest.mark.parametrize("pair", NAMES, ids=lambda pair: ascii(pair))
def test_similar_files_are_found(store: Path, pair: tuple[str, str]) -> None:
    memory = open_memory(str(store))
    (store / FACTS).mkdir(parents=True)
    for number, name in enumerate(pair):
        (store / FACTS / f"{name}.md").write_text(twice(f"n{number}", f"Text number {number}."))
    if len(list((store / FACTS).iterdir())) < 2:
        pytest.skip("this file system takes them for one")
    found = [one for one in lint(memory).diagnostics if one.rule == "TM112"]
    assert len(found) == 2, found
    report.add("P3", "files", tried=2)


def test_word_is_found_in_any_unicode_form(store: Path) -> None:
    tried = missed = 0
    for number, (word, spellings) in enumerate(SPELLINGS):
        memory = open_memory(str(store))
        doc_id = f"fact.word-{number}"
        add(
            memory, NewDocument("fact", f"Word {number}", id=doc_id, body=f"It says {word} here.", tags=["x"])
        )
        for spelling in spellings:
            tried += 1
            missed += doc_id not in [hit.id for hit in search(memory, spelling).hits]
    report.add("P3", "spellings", tried=tried, lost=missed)
    assert missed == 0


def test_events_with_equal_ids_or_texts_stay_apart(store: Path) -> None:
    memory, sessions = open_memory(str(store)), ("a", "A", "\u00e4", "a\u0308", "a/b", "b")
    note = {"kind": "note", "id": "evt_1", "body": {"text": "Seen."}}
    lines = [json.dumps({**note, "session_id": session}) for session in sessions]
    assert len(events_add(memory, "\n".join(lines).encode()).added) == len(sessions)
    (store / FACTS).mkdir(parents=True)
    for name in sessions[:-2]:
        (store / FACTS / f"{name}.md").write_text(twice("same"))
    files = list((store / FACTS).iterdir())
    assert events_add(memory, b'{"kind": "note", "body": {"text": "Recorded together."}}').added
    ids = [logged.event.id for reading in memory.log.readings() for logged in reading.events]
    assert len(ids) == len(set(ids)) == len(sessions) + len(files) + 1
    assert list(log_findings(memory)) == []
    report.add("P3", "events", tried=len(ids))
