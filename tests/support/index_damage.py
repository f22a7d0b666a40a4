"""Shared by the tests of a damaged index: a store, ways to damage its index, and checks."""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from tests.support.index_support import content, document, find_hits, new_store, put
from thunderus_mem.index.refresh import open_index, rebuild
from thunderus_mem.index.sqlite_index import SqliteIndex
from thunderus_mem.memory.memory import open_memory
from thunderus_mem.search.query import parse_query

if TYPE_CHECKING:
    from thunderus_mem.store.layout import Layout

_WORDS = ("cache", "token", "parser", "queue", "schema", "release")
_DISK_KINDS = ("flips", "flips", "page", "page", "cut", "empty", "header")
_OTHER_KINDS = ("foreign", "text", "folder", "link")
_SEAL_KINDS = ("no seal", "seal of another", "seal folder", "seal link", "torn seal")
_BESIDE_KINDS = ("journal", "wal", "journal folder", "shm pipe")
KINDS = (*_DISK_KINDS, *_OTHER_KINDS, *_SEAL_KINDS, *_BESIDE_KINDS)


class Tally(NamedTuple):
    """How many damages were tried, how many answers were wrong after them, how many were rebuilt."""

    tried: int
    wrong: int
    rebuilt: int


def small_store(root: Path, documents: int = 40) -> Layout:
    """A store of documents that share words."""
    layout = new_store(root)
    for number in range(documents):
        body = "".join(
            f"## Part {part}\n\n{' '.join(_WORDS[part:])} {number} `parseItem{part}`\n\n" for part in range(4)
        )
        put(layout, f"n{number}.md", document(f"fact.n{number}", body, title=f"About {_WORDS[number % 6]}"))
    return layout


def answers(layout: Layout) -> list[tuple[str, int, str, float]]:
    """What a few questions find."""

    def question(index: SqliteIndex) -> list[tuple[str, int, str, float]]:
        return [
            (hit.id, hit.line, hit.snippet, hit.score)
            for text in ("cache", "parseItem2 release", "queue schema 7")
            for hit in find_hits(index, parse_query(text), root=layout.root)
        ]

    memory = open_memory(layout.root)
    try:
        return memory.ask(question)
    finally:
        memory.index.close()


def damaged_bytes(data: bytearray, kind: str, chance: random.Random) -> bytearray:
    """The bytes of an index file after a disk or a program did something to them."""
    if kind == "flips":
        for _ in range(8):
            data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    elif kind == "page":
        start = chance.randrange(len(data) // 4096) * 4096
        data[start : start + 4096] = bytes(4096)
    elif kind == "cut":
        del data[chance.randrange(len(data)) :]
    elif kind == "empty":
        data.clear()
    elif kind == "header":
        data[:100] = bytes(100)
    elif kind == "text":
        data = bytearray(b"this is not a database\n" * 50)
    return data


def damage(path: str, kind: str, chance: random.Random) -> None:
    """Harm the index in one of the ways that disks, programs and people do."""
    if kind in _SEAL_KINDS:
        _damage_seal(f"{path}.seal", kind)
        return
    if kind in _BESIDE_KINDS:
        _put_beside(path, kind, chance)
        return
    data = damaged_bytes(bytearray(Path(path).read_bytes()), kind, chance)
    os.unlink(path)
    if kind == "foreign":
        other = sqlite3.connect(path)
        other.executescript("CREATE TABLE docs (x); INSERT INTO docs VALUES (1); CREATE VIEW v AS SELECT 1;")
        other.close()
    elif kind == "folder":
        os.makedirs(os.path.join(path, "deep"))
    elif kind == "link":
        os.symlink("manifest.json", path)
    else:
        Path(path).write_bytes(data)


def _damage_seal(seal: str, kind: str) -> None:
    kept = Path(seal).read_bytes()
    os.unlink(seal)
    if kind == "seal of another":
        Path(seal).write_bytes(kept[:-1] + bytes([kept[-1] ^ 1]))
    elif kind == "torn seal":
        Path(seal).write_bytes(kept[: len(kept) // 2])
    elif kind == "seal folder":
        os.makedirs(os.path.join(seal, "deep"))
    elif kind == "seal link":
        os.symlink("memory.db", seal)


def _put_beside(path: str, kind: str, chance: random.Random) -> None:
    if kind == "journal folder":
        os.makedirs(os.path.join(f"{path}-journal", "deep"))
    elif kind == "shm pipe":
        os.mkfifo(f"{path}-shm")
    else:
        Path(f"{path}-{kind}").write_bytes(chance.randbytes(chance.randrange(1, 9000)))


def check_damages(root: Path, count: int, seed: int, documents: int = 40) -> Tally:
    """Damage the index of a store again and again; what a fresh one says must be said after each."""
    layout = small_store(root, documents)
    rebuild(layout)
    index = SqliteIndex.open(layout.index_file)
    whole, expected = content(index), answers(layout)
    index.close()
    chance = random.Random(seed)
    wrong = rebuilt = 0
    for turn in range(count):
        kind = KINDS[turn % len(KINDS)]
        damage(layout.index_file, kind, chance)
        index, refreshed = open_index(layout)
        rebuilt += bool(refreshed.rebuilt) and not index.database.in_memory
        same = content(index) == whole
        index.close()
        wrong += not (same and answers(layout) == expected)
        _clear_aside(layout)
    return Tally(count, wrong, rebuilt)


def _clear_aside(layout: Layout) -> None:
    """Remove the folders that were in the place of our files; the index keeps them."""
    for name in os.listdir(layout.indexes_dir):
        if ".set-aside-" in name:
            shutil.rmtree(os.path.join(layout.indexes_dir, name))
