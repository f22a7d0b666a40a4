"""X3 and X4: a foreign manifest, an index of another version, two versions at once."""

from __future__ import annotations

import hashlib
import os
import random
import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING

import report
from hands import hands
from tier import points

from tests.conftest import sealed_environment
from tests.support.index_damage import small_store
from tests.support.index_support import content
from thunderus_mem.doctor.upkeep import manifest
from thunderus_mem.index.database import VERSION
from thunderus_mem.index.refresh import open_index, rebuild
from thunderus_mem.index.sqlite_index import SqliteIndex
from thunderus_mem.memory.memory import open_memory

if TYPE_CHECKING:
    from collections.abc import Callable

    Harm = Callable[[str, bytes, random.Random], object]


def tree_hash(root: str) -> dict[str, str]:
    """Every file of a store but those of the projections."""
    found = {}
    for folder, folders, names in os.walk(root):
        if "indexes" in folders:
            folders.remove("indexes")
        for name in names:
            with open(os.path.join(folder, name), "rb") as stream:
                found[os.path.join(folder, name)] = hashlib.sha256(stream.read()).hexdigest()
    return found


def instead(make: Callable[[str], object]) -> Harm:
    """Replaces the manifest by something else."""

    def harm(path: str, data: bytes, chance: random.Random) -> None:
        os.unlink(path)
        make(path)

    return harm


def rewritten(make: Callable[[bytes, random.Random], bytes]) -> Harm:
    """Writes other bytes."""
    return lambda path, data, chance: Path(path).write_bytes(make(data, chance))


HARMS: dict[str, Harm] = {
    "missing": instead(lambda path: None),
    "folder": instead(lambda path: os.makedirs(f"{path}/deep")),
    "link": instead(lambda path: os.symlink("../semantic/FACTS/n1.md", path)),
    "pipe": instead(os.mkfifo),
    "empty": rewritten(lambda data, chance: b""),
    "half": rewritten(lambda data, chance: data[: chance.randrange(1, len(data))]),
    "edited": rewritten(lambda data, chance: data.replace(b"fact.n3", b"fact.%d" % chance.randrange(99))),
    "newer": rewritten(lambda data, chance: data.replace(b'"version": 1', b'"version": 2')),
    "stale": rewritten(lambda data, chance: data.replace(b"fact.n1", b"fact.gone", 1)),
    "noise": rewritten(lambda data, chance: chance.randbytes(500)),
}


def test_wrong_manifest_is_reported_and_rebuilt(tmp_path: Path) -> None:
    layout = small_store(tmp_path, 12)
    memory = open_memory(layout.root)
    memory.refresh()
    whole, chance, count = Path(layout.manifest_file).read_bytes(), random.Random(3), points(50, 50)
    before = tree_hash(layout.root)
    reported = wrong = 0
    for turn in range(count):
        name = list(HARMS)[turn % len(HARMS)]
        HARMS[name](layout.manifest_file, whole, chance)
        reported += bool(manifest(memory, check=True).diagnostics)
        manifest(memory)
        assert manifest(memory, check=True).diagnostics == (), name
        wrong += Path(layout.manifest_file).read_bytes() != whole
    memory.index.close()
    report.add("X3", "manifest", tried=count, lost=wrong, healed=reported)
    assert (reported, wrong) == (count, 0)
    assert tree_hash(layout.root) == before


def test_two_versions_can_share_a_store(repo: Path, sealed: Path) -> None:
    """The older program answers from the files and keeps the newer index; it is never built twice."""
    plain = {k: v for k, v in sealed_environment(sealed).items() if not k.startswith("THUNDERUS_MEM_")}
    rounds = points(5, 10)
    with hands(1, str(repo), plain) as (old,), hands(1, str(repo), plain, version=VERSION + 1) as (new,):
        assert old.run("init").code == 0
        assert new.run("list").code == 0
        built = os.stat(index_of(repo)).st_ino
        for number in range(rounds):
            for hand, name in ((old, "old"), (new, "new")):
                hand.begin(
                    "add", "fact", f"{name} {number}", "--tag", "v", "--body", f"Of {name}, turn {number}."
                )
            for hand in (old, new):
                done = hand.end()
                assert done.code == 0, done
            found = [hand.run("search", f"turn {number}", "--ids").out.split() for hand in (old, new)]
            assert {f"fact.old-{number}", f"fact.new-{number}"} <= set(found[0]) == set(found[1])
            state = old.run("index", "status", "--json")
            assert (state.code, state.json["state"]) == (1, "newer")
            assert old.run("index", "rebuild").code == 5
            assert new.run("index", "status").code == 0
            assert os.stat(index_of(repo)).st_ino == built
    report.add("X4", "two versions", tried=rounds * 2)


def index_of(root: Path) -> str:
    return str(root / ".thunderus/memory/indexes/memory.db")


def test_index_of_another_version_is_upgraded_or_left_alone(tmp_path: Path) -> None:
    layout = small_store(tmp_path, 12)
    rebuild(layout)
    index = SqliteIndex.open(layout.index_file)
    expected = content(index)
    index.close()
    versions = [0, 1, VERSION - 1, -1, VERSION + 1, VERSION + 2, 2**31 - 1]
    for version in versions:
        connection = sqlite3.connect(layout.index_file)
        connection.execute(f"PRAGMA user_version = {version}")
        connection.close()
        data = Path(layout.index_file).read_bytes()
        index, refreshed = open_index(layout)
        assert content(index) == expected
        assert index.database.in_memory is (version > VERSION)
        assert ("older" if version < VERSION else "newer") in refreshed.rebuilt
        if version > VERSION:
            assert Path(layout.index_file).read_bytes() == data
            os.unlink(layout.index_file)
            rebuild(layout)
        index.close()
    report.add("X4", "versions", tried=len(versions), healed=len(versions))
