"""X5: after any change to the files, a query returns only what they contain."""

from __future__ import annotations

import os
import random
import time
from typing import TYPE_CHECKING

import report
from tier import points

from tests.support.index_support import FACTS, document, new_store, put
from thunderus_mem.authoring.show import list_documents
from thunderus_mem.doctor.upkeep import index_verify
from thunderus_mem.memory.memory import open_memory
from thunderus_mem.search.search import search

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from thunderus_mem.memory.memory import Memory
    from thunderus_mem.store.layout import Layout

DAY_NS = 86_400_000_000_000
ACTIONS = ("write", "sneak", "rename", "backdate", "postdate", "swap", "remove", "write new")


class Notebook:
    """Documents with one unique word each, and the changes made to them."""

    def __init__(self, layout: Layout, chance: random.Random) -> None:
        self.layout, self.chance = layout, chance
        self.words: dict[str, str] = {}
        self.paths: dict[str, str] = {}
        self.gone: list[str] = []
        self._turn = 0

    def fresh_word(self) -> str:
        self._turn += 1
        # Of these letters no ending of an English word is made, which the search would take for the same.
        return "word" + "".join("bcfhjkmpqx"[int(digit)] for digit in f"{self._turn:06d}")

    def write(self, name: str) -> None:
        if name in self.words:
            self.gone.append(self.words[name])
        self.words[name] = self.fresh_word()
        text = document(f"fact.{name}", f"Says {self.words[name]}.\n")
        path = self.paths.setdefault(name, f"{FACTS}/{name}.md")
        if self.chance.random() < 0.5:
            put(self.layout, path, text)
        else:
            os.replace(self.layout.at(put(self.layout, f"{FACTS}/.{name}.swp", text)), self.layout.at(path))

    def remove(self, name: str) -> None:
        os.unlink(self.layout.at(self.paths.pop(name)))
        self.gone.append(self.words.pop(name))

    def rename(self, name: str) -> None:
        new = f"{FACTS}/{self.fresh_word()}.md"
        os.rename(self.layout.at(self.paths[name]), self.layout.at(new))
        self.paths[name] = new

    def backdate(self, name: str) -> None:
        os.utime(self.layout.at(self.paths[name]), ns=(1, self.chance.randrange(10**18)))

    def postdate(self, name: str) -> None:
        os.utime(self.layout.at(self.paths[name]), ns=(1, time.time_ns() + 30_000 * DAY_NS))

    def sneak(self, name: str) -> None:
        """Other text of the same size, with the mtime that was there."""
        before = os.stat(self.layout.at(self.paths[name]))
        self.write(name)
        os.utime(self.layout.at(self.paths[name]), ns=(before.st_atime_ns, before.st_mtime_ns))

    def swap(self, name: str) -> None:
        """Swap two files; sizes and times stay the same."""
        other = self.chance.choice(sorted(self.words))
        if other != name:
            one, two, aside = self.paths[name], self.paths[other], f"{FACTS}/aside.md"
            for old, new in ((one, aside), (two, one), (aside, two)):
                os.rename(self.layout.at(old), self.layout.at(new))
            self.paths[name], self.paths[other] = two, one


def test_query_returns_only_current_content(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    layout, chance, count = new_store(tmp_path), random.Random(5), points(120, 1500)
    book = Notebook(layout, chance)
    for number in range(8):
        book.write(f"n{number}")
    memory = open_memory(layout.root)
    clock = time.time_ns
    wrong = 0
    for turn in range(count):
        if turn % 25 == 0:
            # From now on the files are of the future: somebody set the clock back by a day.
            offset = DAY_NS if (turn // 25) % 2 else 0
            monkeypatch.setattr(time, "time_ns", lambda offset=offset: clock() - offset)
        name = chance.choice(sorted(book.words))
        action = chance.choice(ACTIONS)
        if action == "write new" or len(book.words) < 4:
            book.write(f"new{turn}")
        else:
            getattr(book, action)(name)
        if chance.random() < 0.3:
            memory.index.close()
            memory = open_memory(layout.root)
        wrong += not _agrees(memory, book)
    report.add("X5", "staleness", tried=count, lost=wrong)
    memory.index.close()
    assert wrong == 0
    assert index_verify(open_memory(layout.root)).problem == ""


def _agrees(memory: Memory, book: Notebook) -> bool:
    for word in book.gone[-3:]:
        if search(memory, word).hits:
            return False
    for name in book.chance.sample(sorted(book.words), 3):
        hits = search(memory, book.words[name]).hits
        if len(hits) != 1 or hits[0].id != f"fact.{name}" or book.words[name] not in hits[0].snippet:
            return False
    listed = {document.id for document in list_documents(memory).documents}
    return listed == {f"fact.{name}" for name in book.words}
