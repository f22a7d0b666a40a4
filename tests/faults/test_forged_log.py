"""C9: any line of the committed log changed or removed: found in the log or in git, and marked."""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING

import report
from tier import points

from tests.support.git_repository import Repository
from tests.support.undo_support import Store
from thunderus_mem.authoring import add, init
from thunderus_mem.authoring.add import NewDocument
from thunderus_mem.diagnostic import Severity
from thunderus_mem.history.log import events_verify, log

if TYPE_CHECKING:
    from pathlib import Path

FORGED = ("author", "time", "reason", "body", "links", "last", "all")


def _forge(data: bytes, how: str, dice: random.Random) -> bytes:
    lines = data.splitlines(keepends=True)
    if how in ("last", "all"):
        return b"".join(lines[:-1]) if how == "last" else b""
    at = dice.randrange(len(lines))
    event = json.loads(lines[at])
    if how == "links":
        event.pop("prev"), event.pop("heads", None)
    event["why"] = "Invented" if how == "reason" else event.get("why", "")
    event["ts"] = "2020-01-01T00:00:00.000Z" if how == "time" else event["ts"]
    event["origin"] = {"author": "Mallory"} if how == "author" else event.get("origin", {})
    event["body"] |= {"op": "note"} if how == "body" else {}
    lines[at] = json.dumps(event, separators=(",", ":")).encode() + b"\n"
    return b"".join(lines)


def _errors(store: Store, since: str = "") -> set[str]:
    found = events_verify(store.memory(), since).diagnostics
    return {one.path for one in found if one.severity is Severity.ERROR}


def test_changed_lines_of_a_committed_log_are_found(tmp_path: Path) -> None:
    repository = Repository(tmp_path / "tree", tmp_path / "home").init()
    store = Store(repository.root)
    init.init(str(repository.root), store.memory)
    for number in range(4):
        for part in range(1 + number % 2):
            add.add(
                store.memory(),
                NewDocument("fact", f"Number {number} {part}", tags=("t",), body=f"Body {number} {part}."),
            )
        start = repository.commit(f"Commit {number}")
    shards = sorted(path for path in repository.root.glob(".thunderus/sessions/*/events.jsonl"))
    names = {path: path.relative_to(repository.root).as_posix() for path in shards}
    assert _errors(store) == set()
    dice, tried = random.Random(9), 0
    for number in range(points(28, 280)):
        path, how = shards[number % len(shards)], FORGED[number % len(FORGED)]
        path.write_bytes(_forge(path.read_bytes(), how, dice))
        assert names[path] in _errors(store), how
        marks = {event.mark for event in log(store.memory()).events}
        assert how in ("last", "all") or "altered" in marks, how
        repository.git("add", "-A")
        assert names[path] in _errors(store), how
        repository.git("commit", "-q", "-m", "Forged")
        assert names[path] in _errors(store, start), how
        if path != shards[-1]:
            assert names[path] in _errors(store), how
        repository.git("reset", "-q", "--hard", start)
        assert _errors(store) == set()
        tried += 3
    report.add("C9", "committed lines", tried=tried)
