"""K2, K4, K9, K10: concurrent use of one store: nothing acknowledged is lost, no read mixes two states."""

from __future__ import annotations

import os
import re
import threading
import time
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest
import report
from commands import FACTS, twice
from hands import Hand, Said, hands, together
from tier import points

from tests.support.verify_store import changes_of, normal_hash, parse_line, shards, verify
from thunderus_mem.authoring.add import NewDocument, add
from thunderus_mem.garden.apply import garden_apply, garden_plan
from thunderus_mem.memory.memory import open_memory
from thunderus_mem.search.search import search

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture
def store(repo: Path) -> Path:
    """A store with one fact, in a repository."""
    (repo / ".thunderus").mkdir()
    add(open_memory(str(repo)), NewDocument("fact", "Shared", body="Begun.", tags=["one"]))
    return repo


@pytest.fixture
def environ(sealed: Path) -> dict[str, str]:
    from tests.conftest import sealed_environment

    plain = sealed_environment(sealed)
    return {name: value for name, value in plain.items() if not name.startswith("THUNDERUS_MEM_")} | {
        "THUNDERUS_MEM_WRITE_LOCK_TIMEOUT": "120"
    }


def events(root: Path) -> list[dict[str, Any]]:
    found = []
    for shard in shards(str(root)):
        with open(shard, "rb") as stream:
            found += [parse_line(line) for line in stream]
    return sorted(found, key=lambda event: (event["ts"], event["id"]))


def said_well(said: Said) -> None:
    assert "Traceback" not in said.err, said
    assert "database is locked" not in said.err, said
    assert said.code in (0, 3), said


def test_edits_of_one_document_are_all_kept_or_refused_with_both_hashes(
    store: Path, environ: dict[str, str]
) -> None:
    each = points(6, 50)
    acknowledged: list[str] = []
    refused: list[Said] = []

    def work(hand: Hand, name: int) -> Callable[[], None]:
        def edits() -> None:
            for number in range(each):
                read = hand.run("show", "fact.shared", "--json")
                assert read.code == 0, read
                line = f"Worker {name} wrote line {number}."
                body = f"{read.json['body'].strip()}\n{line}"
                arguments = ("edit", "fact.shared", "--expecting", read.json["hash"], "--body", body)
                done = hand.run(*arguments)
                said_well(done)
                if done.code == 0:
                    acknowledged.append(line)
                else:
                    refused.append(done)

        return edits

    begun = time.monotonic()
    with hands(8, str(store), environ) as eight:
        together([work(hand, name) for name, hand in enumerate(eight)])
    text = (store / FACTS / "shared.md").read_text()
    lost = [line for line in acknowledged if line not in text]
    report.add("K2", f"8 x {each}", tried=8 * each, lost=len(lost), slowest=time.monotonic() - begun)
    assert lost == []
    assert acknowledged
    assert text.count("Worker") == len(acknowledged)
    for said in refused:
        hashes = re.findall(r"\b[0-9a-f]{12}\b", said.err)
        assert len(hashes) == 2, said
        assert hashes[0] != hashes[1], said
    chain = [
        (change["before"], change["after"])
        for event in events(store)
        for change in changes_of(event)
        if change["doc_id"] == "fact.shared"
    ]
    assert len(chain) == len(acknowledged) + 1
    assert all(one[1] == other[0] for one, other in pairwise(chain))
    assert chain[-1][1] == "sha256:" + normal_hash(text.encode())
    assert verify(str(store), settled=True) == []


def test_simultaneous_adds_of_one_content_are_one_document(store: Path, environ: dict[str, str]) -> None:
    count = points(20, 200)
    lost = 0
    slowest = 0.0
    with hands(2, str(store), environ) as (one, other):
        for number in range(count):
            body = f"The service number {number} listens on port {8000 + number} and nowhere else."
            add_it = ("add", "fact", f"Port {number}", "--tag", "net", "--body", body)
            second_id = () if number % 2 else ("--id", f"fact.same-{number}")
            begun = time.monotonic()
            one.begin(*add_it)
            other.begin(*add_it, *second_id)
            answers = (one.end(), other.end())
            slowest = max(slowest, time.monotonic() - begun)
            for said in answers:
                said_well(said)
            assert sorted(said.code for said in answers) == [0, 3], answers
            refused = next(said for said in answers if said.code == 3)
            assert re.search("already known|already exists|duplicate of", refused.err, re.IGNORECASE), refused
            with_it = [path for path in _facts(store) if body in path.read_text()]
            lost += len(with_it) != 1
    report.add("K10", "two adds", tried=count, lost=lost, slowest=slowest)
    assert lost == 0
    assert verify(str(store), settled=True) == []


def _facts(store: Path) -> list[Path]:
    return sorted((store / FACTS).glob("*.md"))


def test_readers_see_complete_documents_of_one_generation(store: Path, environ: dict[str, str]) -> None:
    """A writer changes two documents while the index is rebuilt: a generation has one text of each."""
    wanted = points(250, 10_000)
    memory = open_memory(str(store))
    for name in ("left", "right"):
        add(
            memory, NewDocument("fact", name.capitalize(), body=f"{name} turn 0 of the wheel", tags=["wheel"])
        )
    stop = threading.Event()

    def keep_turning(hand: Hand) -> None:
        turn = 0
        while not stop.is_set():
            turn += 1
            for name in ("left", "right"):
                done = hand.run("edit", f"fact.{name}", "--body", f"{name} turn {turn} of the wheel")
                said_well(done)

    def keep(hand: Hand, *arguments: str) -> Callable[[], None]:
        def go_on() -> None:
            while not stop.is_set():
                done = hand.run(*arguments)
                said_well(done)
                time.sleep(0.02)

        return go_on

    seen: dict[tuple[str, str], str] = {}
    tally = {"read": 0, "half": 0, "mixed": 0}

    def read() -> None:
        reader = open_memory(str(store))
        while tally["read"] < wanted:
            if tally["read"] % 20 == 0:
                reader = open_memory(str(store))
            found = search(reader, "wheel turn")
            tally["read"] += 1
            assert found.generation, found
            # A document that is being replaced at this very moment may be missing, never be another's.
            for hit in found.hits:
                tally["half"] += "of the wheel" not in hit.snippet
                tally["mixed"] += seen.setdefault((found.generation, hit.id), hit.snippet) != hit.snippet
        stop.set()

    begun = time.monotonic()
    with hands(3, str(store), environ) as (writer, rebuilder, other):
        works: list[Callable[[], None]] = [
            lambda: keep_turning(writer),
            keep(rebuilder, "index", "rebuild"),
            keep(other, "search", "wheel"),
        ]

        def reading() -> None:
            try:
                read()
            finally:
                stop.set()

        together([*works, reading])
    report.add(
        "K4",
        "reads",
        tried=tally["read"],
        lost=tally["half"] + tally["mixed"],
        slowest=(time.monotonic() - begun) / wanted,
    )
    assert tally["half"] == tally["mixed"] == 0
    assert len(seen) > 4


def test_hand_edit_between_plan_and_apply_survives(store: Path) -> None:
    count = points(25, 100)
    memory = open_memory(str(store))
    lost = skipped = 0
    for number in range(count):
        first, second = (store / FACTS / f"twice-{letter}-{number}.md" for letter in "ab")
        body = f"The exporter number {number} waits thirty seconds for each page it asks for."
        first.write_text(twice(f"twice-a-{number}", body))
        second.write_text(twice(f"twice-b-{number}", body, "2026-01-20T10:00:00Z"))
        plan = garden_plan(memory)
        edited = (first, second)[number % 2]
        mine = edited.read_text() + f"By hand, {number}.\n"
        if number % 3 == 2:
            edited.write_text(mine)
        else:
            _save_by_rename(edited, mine)
        applied = garden_apply(memory, plan)
        skipped += [sorted(step.targets) for step in applied.skipped] == [
            [f"fact.twice-a-{number}", f"fact.twice-b-{number}"]
        ]
        lost += edited.read_text() != mine
        second.unlink()
        first.unlink()
    report.add("K9", "garden and hand", tried=count, lost=lost, healed=skipped)
    assert (lost, skipped) == (0, count)


def _save_by_rename(path: Path, text: str) -> None:
    """As editors do."""
    aside = path.with_name(f".{path.name}.swp")
    aside.write_text(text)
    os.replace(aside, path)
