"""The commands that faults are injected into, and the store that each runs on."""

from __future__ import annotations

import json
import os
import subprocess
import zlib
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING, Any

from harness import KILLED, State

from tests.support.verify_store import normal_hash, parse_line, shards
from thunderus_mem.memory.proposals import Proposal, ProposedEdit, encode

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.support.command_server import Done, Server

FACTS = ".thunderus/memory/semantic/FACTS"
HEAL = ("events", "add", "--kind", "note", "--body", "after the fault")
_TWICE = """---
id: fact.{name}
title: Twice
kind: fact
tags:
  - {name}
created: 2026-01-20T09:00:00Z
updated: {updated}
provenance:
  events: []
  patches: []
  commits: []
verification:
  last_verified_commit: null
  status: unknown
---

{body}
"""
_OLD = """---
id: fact.old
title: Old
kind: fact
tags: ["old"]
created: 2025-07-01
updated: 2025-07-01T00:00:00Z
mine: stays
provenance:
verification:
  last_verified_commit: null
---

# Written by hand.
"""
_SAME = "The exporter waits thirty seconds for the first page and five for each further one."


def twice(name: str, body: str = _SAME, updated: str = "2026-01-20T09:00:00Z") -> str:
    """A document written by hand."""
    return _TWICE.format(name=name, body=body, updated=updated)


@dataclass(frozen=True)
class Command:
    """A store (commands run on it, files put beside them) and the one command that faults are aimed at.

    ``killed``: after that a command dies at a failpoint, so that the one aimed at has to recover first;
    ``torn`` is appended to the log then. Such a command must always end in its new state. ``keeps`` are words
    that must be in some file of the store, whatever happened. ``ours`` and ``theirs`` run on two branches, of
    which the second is merged into the first at last, with the conflict that they make.
    """

    name: str
    arguments: tuple[str, ...]
    prepare: tuple[tuple[str, ...], ...] = ()
    files: Mapping[str, str] = field(default_factory=dict)
    heal: tuple[str, ...] = HEAL
    fresh: bool = False
    killed: tuple[str, ...] = ()
    at: str = ""
    torn: bytes = b""
    staged: bool = False
    keeps: tuple[str, ...] = ()
    ours: tuple[tuple[str, ...], ...] = ()
    theirs: tuple[tuple[str, ...], ...] = ()
    stdin: bytes = b""

    @property
    def settles(self) -> bool:
        """Whether the log has the text of every document once it is healed: of a conflict it has none."""
        return not self.theirs

    def made(self, server: Server, folder: str) -> tuple[str, str]:
        """Make the store in ``folder``; returns where it is kept, and where copies of it must go.

        They go where it was built: a tree that moved begins a session of its own.
        """
        base, root = os.path.join(folder, "base"), os.path.join(folder, "store")
        self.build(server, root)
        os.rename(root, base)
        return base, root

    def build(self, server: Server, root: str) -> None:
        """Make the store: a repository with one commit, two facts, and what is special here."""
        os.makedirs(root)
        _git(root, "init", "-q", "-b", "ours", "--template=", ".")
        _git(root, "commit", "-q", "--allow-empty", "-m", "Begin")
        steps = () if self.fresh else (("init",), *FIRST, *self.prepare)
        self._run_all(server, root, steps, 0)
        if self.theirs:
            self._merge(server, root)
        for path, text in self.files.items():
            os.makedirs(os.path.dirname(os.path.join(root, path)), exist_ok=True)
            with open(os.path.join(root, path), "w", encoding="utf-8") as stream:
                stream.write(text)
        if self.staged:
            _git(root, "add", "-A")
        self._interrupt(server, root)
        # A copied index is not believed, and waiting for its seal is what the tests would do most.
        for name in os.listdir(indexes := os.path.join(root, ".thunderus/memory/indexes")) if steps else ():
            os.unlink(os.path.join(indexes, name))

    def _merge(self, server: Server, root: str) -> None:
        _git(root, "add", "-A")
        _git(root, "commit", "-q", "-m", "What both know")
        for minute, (branch, steps) in enumerate((("theirs", self.theirs), ("ours", self.ours)), 1):
            _git(root, "checkout", "-q", *(("-b", branch) if branch == "theirs" else (branch,)))
            self._run_all(server, root, steps, minute)
            _git(root, "add", "-A")
            _git(root, "commit", "-q", "-m", branch)
        merged = subprocess.run(["git", "merge", "-q", "theirs"], cwd=root, check=False, capture_output=True)
        assert merged.returncode == 1, merged

    @staticmethod
    def _run_all(server: Server, root: str, steps: tuple[tuple[str, ...], ...], minute: int) -> None:
        for position, arguments in enumerate(steps):
            done = call(server, root, arguments, f"2026-01-21T09:{minute:02d}:{position:02d}Z")
            assert done.code == 0, (arguments, done)

    def _interrupt(self, server: Server, root: str) -> None:
        if self.killed:
            env = {"FAILPOINT": f"{self.at}:kill"}
            done = call(server, root, self.killed, "2026-01-21T09:30:00Z", env=env)
            assert done.code in KILLED, done
        if self.torn:
            with open(shards(root)[0], "ab") as stream:
                stream.write(self.torn)

    def run(self, server: Server, root: str, **more: Any) -> Done:
        """Run the command: always at the same time with the same ids."""
        return call(server, root, self.arguments, "2026-01-21T10:00:00Z", stdin=self.stdin, **more)

    def healed(self, server: Server, root: str, turn: int = 0) -> Done:
        """Run the next ordinary command; where that is the same again, at the same time."""
        if self.heal == self.arguments:
            return self.run(server, root)
        return call(server, root, self.heal, f"2026-01-21T11:00:{turn:02d}Z")


def _git(root: str, *words: str) -> None:
    subprocess.run(["git", *words], cwd=root, check=True, capture_output=True)


_OURS = (("edit", "fact.retries", "--set", "title=Tries", "--tag", "later"),)
_THEIRS = (("edit", "fact.retries", "--body", "Requests are tried five times.", "--tag", "new"),)
_BOTH = ("Tries", "five times", "- later", "- new")
FIRST = (
    ("add", "fact", "Retries", "--tag", "net", "--body", "Requests are tried three times."),
    ("add", "fact", "Limits", "--tag", "net", "--body", "A page holds one hundred rows."),
)
_CHANGED = twice("twice-b", _SAME + " It stops then.")
PROPOSED = {
    f"{FACTS}/twice-a.md": twice("twice-a"),
    f"{FACTS}/twice-b.md": twice("twice-b"),
    ".thunderus/patches/patch_01KFFWGHHRHD99FDTGJ8YEPFZX.json": encode(
        Proposal(
            id="patch_01KFFWGHHRHD99FDTGJ8YEPFZX",
            created="2026-01-21T09:00:00Z",
            actor="agent",
            op="edit",
            why="it stops",
            targets=("fact.twice-b", "fact.twice-a"),
            edits=(
                ProposedEdit.between(f"{FACTS}/twice-a.md", "fact.twice-a", twice("twice-a"), None),
                ProposedEdit.between(f"{FACTS}/twice-b.md", "fact.twice-b", twice("twice-b"), _CHANGED),
            ),
        )
    ).decode(),
}
"""A proposal that removes and changes a document. One that makes a document would write ids into it, which
differ with everything that was drawn before."""
GARDENED = (
    ("add", "fact", "Twice A", "--tag", "net", "--body", _SAME),
    ("add", "fact", "Twice B", "--tag", "net", "--body", "Something else."),
    ("edit", "fact.twice-b", "--set", "title=Twice A", "--body", _SAME),
    ("garden", "--apply"),
)
COMMANDS = (
    Command("init", ("init",), heal=("init",), fresh=True),
    Command("add", ("add", "fact", "Ports", "--tag", "net", "--body", "The service listens on 8080.")),
    Command("edit", ("edit", "fact.retries", "--body", "Requests are tried five times.", "--tag", "x")),
    Command("remove", ("remove", "fact.retries", "-m", "gone")),
    Command("supersede", ("supersede", "fact.retries", "fact.limits", "-m", "newer")),
    Command("link", ("link", "fact.retries", "refers_to", "fact.limits")),
    Command(
        "garden",
        ("garden", "--apply"),
        files={f"{FACTS}/twice-a.md": twice("twice-a"), f"{FACTS}/twice-b.md": twice("twice-b")},
    ),
    Command(
        "garden-propose",
        ("garden", "--propose"),
        files={f"{FACTS}/twice-a.md": twice("twice-a"), f"{FACTS}/twice-b.md": twice("twice-b")},
    ),
    Command("patch-approve", ("review", "approve", "--all", "--yes"), files=PROPOSED),
    Command("patch-reject", ("review", "reject", "--all", "--yes", "-m", "no"), files=PROPOSED),
    Command("restore", ("undo", "snap_0"), prepare=GARDENED),
    Command(
        "lint-fix",
        ("lint", "--fix"),
        files={f"{FACTS}/early.md": twice("early", "It was early.", "2026-01-19T09:00:00Z")},
    ),
    Command(
        "import",
        ("import", "markdown", "notes", "--kind", "fact", "--tag", "old"),
        files={"notes/a.md": "# Caches\n\nThey live an hour.\n", "notes/b.md": "# Queues\n\nThey are two.\n"},
    ),
    Command(
        "rename",
        ("rename", "fact.retries", "fact.attempts"),
        prepare=(("link", "fact.limits", "refers_to", "fact.retries"),),
    ),
    Command("archive", ("archive", "fact.retries", "fact.limits", "-m", "no longer needed")),
    Command(
        "undo",
        # A copy is another tree than the one its changes were made in.
        ("undo",),
        prepare=(
            ("link", "fact.limits", "refers_to", "fact.retries"),
            ("rename", "fact.retries", "fact.attempts"),
        ),
    ),
    Command(
        "verify",
        ("verify", "fact.limits", "-m", "looked at it"),
        prepare=(("anchor", "fact.limits", ".thunderus/config.toml"),),
    ),
    Command("resolve", ("resolve", "--stage"), ours=_OURS, theirs=_THEIRS, keeps=_BOTH),
    Command(
        "migrate",
        ("migrate", "--apply"),
        files={
            f"{FACTS}/old.md": _OLD,
            f"{FACTS}/older.md": _OLD.replace("fact.old", "fact.older"),
            ".thunderus/schemas/memory_store.sql": "-- a schema of old\n",
        },
        keeps=("# Written by hand.", "mine: stays"),
    ),
)
_EDIT = ("edit", "fact.retries", "--body", "Requests are tried five times.")
_NOTE = ("events", "add", "--kind", "note", "--body", "next")
_TORN = b'{"id":"evt_01KFFZYA8Z","ts":"2026-01-21T09:40:00.000Z","kind":"note","body":{"text":"b\xc3'
RECOVERIES = (
    Command("recover-committed", _NOTE, killed=_EDIT, at="after-sync-log"),
    Command("recover-uncommitted", _NOTE, killed=_EDIT, at="after-sync-folder-staging"),
    Command(
        "recover-published", _NOTE, killed=("remove", "fact.limits", "-m", "old"), at="before-unlink-taken"
    ),
    Command("recover-both", _NOTE, killed=_EDIT, at="after-sync-log", torn=_TORN),
    Command("recover-both-uncommitted", _NOTE, killed=_EDIT, at="before-write-log", torn=_TORN),
    Command(
        "recover-resolved",
        ("resolve", "--stage"),
        killed=("resolve", "--stage"),
        at="after-sync-log",
        ours=_OURS,
        theirs=_THEIRS,
        keeps=_BOTH,
    ),
)
"""Recovery is a command like any other: it is killed too."""

FURTHER = (
    Command("index-rebuild", ("index", "rebuild")),
    Command("manifest", ("index", "manifest")),
    Command(
        "schema-update",
        ("migrate", "--apply"),
        files={".thunderus/schemas/memory_store.sql": "old\n"},
    ),
    Command("hook-run", ("hooks", "run", "pre-commit"), staged=True),
    Command(
        "doctor-fix",
        ("doctor", "--fix"),
        files={
            ".thunderus/schemas/memory_store.sql": "-- a schema of old\n",
            ".thunderus/.staging/not ours": "something strange\n",
            ".thunderus/.gitignore": "lines of our own/\n",
        },
        heal=("doctor", "--fix"),
        keeps=("a schema of old", "something strange", "lines of our own"),
    ),
)
"""Commands that write projections, or little else."""


def missing_words(root: str, command: Command) -> list[str]:
    """The words of ``keeps`` that are in no file of the store."""
    left = set(command.keeps)
    for folder, _, names in os.walk(os.path.join(root, ".thunderus")) if left else ():
        for name in names:
            with open(os.path.join(folder, name), "rb") as stream:
                data = stream.read()
            left = {words for words in left if words.encode() not in data}
    return sorted(left)


def call(server: Server, root: str, arguments: tuple[str, ...], now: str, **more: Any) -> Done:
    """One command; its ids follow from its time and its words."""
    seed = str(zlib.crc32(repr((arguments, now)).encode()))
    env = {"THUNDERUS_MEM_NOW": now, "THUNDERUS_MEM_SEED": seed, **more.pop("env", {})}
    return server.run(*arguments, cwd=root, env=env, **more)


def state(root: str) -> State:
    """The documents and proposals on disk, and how many events speak of a command: see `_counts`."""
    documents, events = [], 0
    places = (os.path.join(root, ".thunderus", name) for name in ("memory", "patches"))
    for folder, folders, names in chain.from_iterable(map(os.walk, places)):
        if "indexes" in folders:
            folders.remove("indexes")
        for name in sorted(names):
            path = os.path.join(folder, name)
            if not name.endswith(".tmp"):
                with open(path, "rb") as stream:
                    documents.append(_known_by(os.path.relpath(path, root), stream.read()))
    for shard in shards(root):
        with open(shard, "rb") as stream:
            for line in stream.read().splitlines():
                events += _counts(parse_line(line))
    return State(tuple(sorted(documents)), events)


def _known_by(path: str, data: bytes) -> tuple[str, str]:
    """Path and hash of a document; of a proposal what it says, whatever id and time a second run gave it."""
    if not (path.startswith(".thunderus/patches/") and path.endswith(".json")):
        return path, normal_hash(data)
    try:
        said = parse_line(data)
    except ValueError:
        return path, normal_hash(data)
    kept = {key: value for key, value in said.items() if key not in ("id", "created")}
    return ".thunderus/patches", normal_hash(json.dumps(kept, sort_keys=True).encode())


def _counts(event: dict[str, Any]) -> bool:
    """Whether an event counts: not a recovery note, a recorded hand edit or the event before a change."""
    if event["kind"] == "patch":
        return bool(event["body"]["op"] != "hand-edit")
    if event["kind"] == "approval":
        return event["body"].get("decision") in ("rejected", "expired")
    return "session" in event.get("origin", {})  # brought from elsewhere


def named(name: str) -> Command:
    """The command of a name among `COMMANDS`."""
    (found,) = (command for command in COMMANDS if command.name == name)
    return found
