"""The ten laws of the design, tested on real stores through the functions and the command line."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import tempfile
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from tests.support.events import note
from tests.support.git_repository import Repository
from tests.support.index_support import content, document
from tests.support.tree_writer import FACTS, Clock
from tests.support.verb_tree import VerbTree
from tests.support.verify_store import normal_hash, parse_line, shards, verify
from thunderus_mem.authoring import add, edit, init, show
from thunderus_mem.authoring.add import NewDocument
from thunderus_mem.authoring.edit import DocumentEdits
from thunderus_mem.authoring.show import status
from thunderus_mem.cli.output import envelope
from thunderus_mem.doctor import checks, upkeep
from thunderus_mem.errors import ThunderusError
from thunderus_mem.garden import apply
from thunderus_mem.garden.apply import garden_report
from thunderus_mem.history import log, why
from thunderus_mem.index.database import create
from thunderus_mem.index.questions import Filter
from thunderus_mem.index.refresh import rebuild, refresh
from thunderus_mem.index.sqlite_index import SqliteIndex
from thunderus_mem.interop import markdown
from thunderus_mem.interop.events import events_add, given_event
from thunderus_mem.lint import lint
from thunderus_mem.log.event import changes_of
from thunderus_mem.memory.memory import Memory, open_memory
from thunderus_mem.recap import recap
from thunderus_mem.search import search

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tests.support.command_server import Server

HEAD = datetime(2026, 1, 21, 9, tzinfo=UTC)
PRIVATE = ("indexes", "local", ".staging", ".quarantine", ".git")


def tree_bytes(root: str | Path) -> dict[str, bytes]:
    """The bytes of every file that git could track."""
    found = {}
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if name not in PRIVATE]
        for name in names:
            path = os.path.join(folder, name)
            if not name.startswith(".lock"):
                found[os.path.relpath(path, root)] = Path(path).read_bytes()
    return found


def documents(root: str | Path) -> dict[str, bytes]:
    """The documents on disk."""
    return {path: data for path, data in tree_bytes(root).items() if path.endswith(".md")}


def logged(root: str) -> dict[str, bytes]:
    """The bytes of each shard."""
    return {path: Path(path).read_bytes() for path in shards(root)}


def git(root: str, *words: str) -> None:
    subprocess.run(["git", *words], cwd=root, check=True, capture_output=True)


def opened(root: str | Path, at: datetime = HEAD, seed: int = 1) -> Memory:
    """The store with a fixed time and fixed ids."""
    return open_memory(str(root), now=lambda: at, random_bits=random.Random(seed).getrandbits)


@pytest.fixture
def store(repo: Path, once: Callable[..., None]) -> Path:
    """A store with CORE.md, three facts with links between them, a decision and a note."""

    def make() -> None:
        init.init(str(repo), lambda: opened(repo))
        for position, make in enumerate(FILL):
            make(opened(repo, HEAD + timedelta(minutes=position + 1), position))

    once(make)
    return repo


FILL: tuple[Callable[[Memory], object], ...] = (
    lambda memory: add.add(memory, NewDocument("fact", "Retries", body="Tried three times.", tags=("net",))),
    lambda memory: add.add(
        memory, NewDocument("fact", "Limits", body="A page has 100 rows.", tags=("net", "api"))
    ),
    lambda memory: add.add(
        memory, NewDocument("fact", "Old limits", body="A page has 50 rows.", tags=("api",))
    ),
    lambda memory: add.add(
        memory,
        NewDocument(
            "adr",
            "Use SQLite",
            body="## Context\n\nx\n\n## Decision\n\ny\n\n## Consequences\n\nz\n",
            tags=("db",),
        ),
    ),
    lambda memory: edit.link(memory, "fact.retries", "refers_to", "fact.limits"),
    lambda memory: edit.supersede(memory, "fact.old-limits", "fact.limits", why="counted")[0],
    lambda memory: note(memory, "The limit was raised.", "fact.limits"),
)

READS: dict[str, Callable[[Memory], Any]] = {
    "search": lambda memory: search.search(memory, "page rows"),
    "show": lambda memory: show.show(memory, "fact.limits"),
    "list": lambda memory: show.list_documents(memory, Filter(tags=("net",))),
    "status": status,
    "log": lambda memory: log.log(memory, "fact.limits"),
    "why": lambda memory: why.why(memory, "fact.limits"),
    "events verify": log.events_verify,
    "lint": lint.lint,
    "garden": lambda memory: garden_report(memory, apply.garden_plan(memory)),
    "index manifest": lambda memory: upkeep.manifest(memory, check=True),
    "doctor": checks.doctor,
    "index status": upkeep.index_status,
    "index verify": upkeep.index_verify,
    "recap": lambda memory: recap.recap(memory, "2026-01-21", dry_run=True),
}


def answers(root: str | Path) -> dict[str, str]:
    """The result of every reading function, each on a newly opened store, without the state of the index."""
    at = HEAD + timedelta(hours=5)
    told = {}
    for name, ask in READS.items():
        if name not in ("doctor", "index status", "status"):
            told[name] = envelope(name, ask(opened(root, at)))
    return told


# --- 1 -----------------------------------------------------------------------------------------------

HAND = """---
# who: the platform group
id: fact.hand
title:   'Written by hand'   # keep
kind: fact
aliases:

  - "Hand  made"
tags: [ zebra,  "ape" ]
custom: {a: 1,   b: [2, 3]}
created: 2026-01-01T00:00:00Z
updated: 2026-01-02T00:00:00Z   # by me
provenance:
    events: []
    patches: []
    commits: []
verification:
  last_verified_commit: ~
  status: unknown
---

Body  with two  spaces.
"""


@pytest.mark.parametrize(("ends", "mark"), [("\n", ""), ("\r\n", "\ufeff")])
@pytest.mark.parametrize(
    ("change", "names"),
    [
        (lambda memory: edit.edit(memory, "fact.hand", DocumentEdits(add_tags=("bee",))), "tags:"),
        (
            lambda memory: edit.edit(memory, "fact.hand", DocumentEdits(sets={"metadata.owner": "ada"})),
            "owner:",
        ),
        (lambda memory: edit.edit(memory, "fact.hand", DocumentEdits(sets={"category": "net"})), "category:"),
        (lambda memory: edit.link(memory, "fact.hand", "refers_to", "fact.limits"), "links:"),
    ],
    ids=["tag", "nested", "new-key", "link"],
)
def test_law_1_the_file_is_the_memory(
    store: Path, change: Callable[[Memory], object], names: str, ends: str, mark: str
) -> None:
    path = store / FACTS / "hand.md"
    before = (mark + HAND.replace("\n", ends)).encode()
    path.write_bytes(before)
    answers(store)
    assert path.read_bytes() == before
    change(opened(store, HEAD + timedelta(hours=1)))
    old, new = before.decode().splitlines(keepends=True), path.read_bytes().decode().splitlines(keepends=True)
    kept = [line for line in old if line in new]
    gone = [line for line in old if line not in new]
    come = [line for line in new if line not in old]
    assert [line for line in new if line in old] == kept
    assert len(gone) <= 1
    assert come
    assert any(names in line for line in come), come
    assert all(line.endswith(ends) for line in new)
    assert path.read_bytes().startswith(mark.encode())


# --- 2, 3, 6, 7, 10: a random life --------------------------------------------------------------------

WORDS = ("alpha", "beta", "gamma", "delta", "epsilon", "zeta")


@pytest.mark.filterwarnings("ignore")
class Life(RuleBasedStateMachine):
    """A store under random commands, hand edits and commits; the laws are checked after each step."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.mkdtemp(prefix="laws-")
        self.root = os.path.join(self.folder, "tree")
        os.makedirs(self.root)
        git(self.root, "init", "-q", "--template=", ".")
        git(self.root, "commit", "-q", "--allow-empty", "-m", "Begin")
        self.moment = HEAD
        self.turn = 0
        self.log: dict[str, bytes] = {}
        self.acknowledged: set[str] = set()
        self.expected: dict[str, str] = {}

    def teardown(self) -> None:
        shutil.rmtree(self.folder)

    def memory(self) -> Memory:
        self.moment += timedelta(seconds=1)
        self.turn += 1
        return opened(self.root, self.moment, self.turn)

    def ids(self) -> list[str]:
        return [row.id for row in self.memory().index.documents() if row.id.startswith("fact.")]

    def done(self, value: Any) -> None:
        """Remember the reported result of a command."""
        if value.event_id:
            self.acknowledged.add(value.event_id)
            self.expected[value.path] = normal_hash(value.text.encode()) if value.text else ""

    @initialize()
    def begin(self) -> None:
        init.init(self.root, self.memory)

    @rule(title=st.sampled_from(WORDS), body=st.sampled_from(WORDS), copies=st.booleans())
    def add(self, title: str, body: str, copies: bool) -> None:
        kind = "playbook" if copies else "fact"
        with suppress(ThunderusError):
            self.done(
                add.add(self.memory(), NewDocument(kind, title, body=f"It is {body}, always.", tags=(body,)))
            )

    @precondition(lambda self: self.expected)
    @rule(data=st.data(), tag=st.sampled_from(WORDS), body=st.none() | st.sampled_from(WORDS))
    def edit(self, data: st.DataObject, tag: str, body: str | None) -> None:
        if ids := self.ids():
            text = None if body is None else f"Now {body}."
            self.done(
                edit.edit(
                    self.memory(), data.draw(st.sampled_from(ids)), DocumentEdits(add_tags=(tag,), body=text)
                )
            )

    @precondition(lambda self: len(self.expected) > 1)
    @rule(data=st.data(), verb=st.sampled_from(["link", "supersede"]))
    def relate(self, data: st.DataObject, verb: str) -> None:
        if len(ids := self.ids()) > 1:
            one, other = data.draw(st.permutations(ids))[:2]
            with suppress(ThunderusError):
                if verb == "link":
                    self.done(edit.link(self.memory(), one, "refers_to", other))
                else:
                    self.done(edit.supersede(self.memory(), one, other, why="newer")[0])

    @precondition(lambda self: self.expected)
    @rule(data=st.data())
    def remove(self, data: st.DataObject) -> None:
        if ids := self.ids():
            self.done(edit.remove(self.memory(), data.draw(st.sampled_from(ids)), why="gone"))

    @rule(text=st.sampled_from(WORDS))
    def note(self, text: str) -> None:
        self.acknowledged.add(note(self.memory(), text))

    @precondition(lambda self: self.expected)
    @rule(data=st.data(), how=st.sampled_from(["line", "early", "broken", "gone", "copy"]))
    def by_hand(self, data: st.DataObject, how: str) -> None:
        there = sorted(path for path in self.expected if os.path.exists(os.path.join(self.root, path)))
        if not there:
            return
        path = data.draw(st.sampled_from(there))
        place = Path(self.root, path)
        text = place.read_bytes()
        if how == "gone":
            place.unlink()
            self.expected[path] = ""
            return
        if how == "copy":
            path = path.replace(".md", "-copy.md")
            text = text.replace(b"\nid: ", b"\nid: copied.", 1)
        changed = {
            "line": text + b"By hand.\n",
            "early": text.replace(b"updated: 2026-01-21", b"updated: 2025-01-21"),
            "broken": text.replace(b"kind:", b"kind: [", 1),
            "copy": text,
        }[how]
        Path(self.root, path).write_bytes(changed)
        self.expected[path] = normal_hash(changed)

    @rule()
    def lint_fix(self) -> None:
        for path in lint.lint(self.memory(), fix=True).fixed:
            self.expected[path] = self.last_hash(path)

    @rule()
    def garden(self) -> None:
        memory = self.memory()
        applied = apply.garden_apply(memory, apply.garden_plan(memory))
        self.acknowledged |= {step.event_id for step in applied.steps}
        for written in applied.written:
            self.expected[written.path] = self.last_hash(written.path)

    @rule()
    def commit(self) -> None:
        git(self.root, "add", "-A")
        git(self.root, "commit", "-q", "--allow-empty", "-m", "Save")

    def last_hash(self, path: str) -> str:
        events = [entry.event for entry in self.memory().log.read_all().events]
        changes = [change for event in events for change in changes_of(event) if change.path == path]
        return changes[-1].after.removeprefix("sha256:")

    @invariant()
    def the_log_has_grown_by_appending(self) -> None:
        now = logged(self.root)
        for path, before in self.log.items():
            assert now[path].startswith(before), path
        self.log = now

    @invariant()
    def what_was_acknowledged_is_in_log_and_on_disk(self) -> None:
        ids = {parse_line(line)["id"] for data in self.log.values() for line in data.splitlines()}
        assert self.acknowledged <= ids
        on_disk = documents(self.root)
        for path, expected in self.expected.items():
            assert (normal_hash(on_disk[path]) if path in on_disk else "") == expected, path
        assert set(on_disk) - {path for path, expected in self.expected.items() if expected} <= {
            ".thunderus/memory/core/CORE.md"
        }

    @invariant()
    def refresh_is_rebuild_and_reading_changes_nothing(self) -> None:
        if not os.path.isdir(os.path.join(self.root, ".thunderus")):
            return
        before = tree_bytes(self.root)
        memory = self.memory()
        memory.refresh()
        rebuilt = SqliteIndex(create())
        refresh(memory.layout, rebuilt)
        assert content(memory.index) == content(rebuilt)
        rebuilt.close()
        found = upkeep.manifest(self.memory(), check=True)
        assert found.path not in {one.path for one in found.diagnostics}, "the others are invalid documents"
        search.search(memory, "always")
        status(memory)
        lint.lint(memory)
        assert tree_bytes(self.root) == before

    @invariant()
    def an_independent_reader_finds_nothing(self) -> None:
        assert verify(self.root) == []


Life.TestCase.settings = settings(
    max_examples=8,
    stateful_step_count=12,
    deadline=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)
TestLawsTogether = Life.TestCase


def test_law_2_derived_from_earlier(store: Path) -> None:
    first = answers(store)
    shutil.rmtree(store / ".thunderus/memory/indexes")
    assert answers(store) == first
    memory = opened(store)
    manifest = (store / ".thunderus/memory/indexes/manifest.json").read_bytes()
    edit.edit(
        opened(store, HEAD + timedelta(hours=1)), "fact.limits", DocumentEdits(body="A page has 200 rows.")
    )
    refreshed = content(memory.index) if memory.refresh() else {}
    rebuild(opened(store).layout)
    assert content(opened(store).index) == refreshed
    assert (store / ".thunderus/memory/indexes/manifest.json").read_bytes() != manifest


def test_law_3_the_log_is_append_only(store: Path) -> None:
    seen = logged(str(store))
    for position, write in enumerate(WRITES.values()):
        write(opened(store, HEAD + timedelta(hours=2, minutes=position), 100 + position))
        now = logged(str(store))
        assert all(now[path].startswith(data) for path, data in seen.items())
        assert sum(map(len, now.values())) > sum(map(len, seen.values()))
        seen = now


WRITES: dict[str, Callable[[Memory], Any]] = {
    "add": lambda memory: add.add(
        memory, NewDocument("fact", "Ports", body="It is 8080.", tags=("net",)), why="new"
    ),
    "edit": lambda memory: edit.edit(
        memory, "fact.retries", DocumentEdits(add_tags=("slow",), body="Tried five times.")
    ),
    "link": lambda memory: edit.link(memory, "fact.old-limits", "refers_to", "fact.retries"),
    "supersede": lambda memory: edit.supersede(memory, "fact.retries", "adr.use-sqlite", why="so")[0],
    "events add": lambda memory: events_add(memory, given_event("note", "Looked at it.")),
    "remove": lambda memory: edit.remove(memory, "fact.retries", why="gone"),
    "recap": lambda memory: recap.recap(memory, "2026-01-21"),
    "import markdown": lambda memory: markdown.import_markdown(
        memory, os.path.join(memory.root, "notes"), "fact", tags=("old",)
    ),
}


@pytest.fixture(autouse=True)
def notes_to_import(tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir(exist_ok=True)
    (tmp_path / "notes" / "queues.md").write_text("# Queues\n\nThere are two queues.\n")
    os.utime(tmp_path / "notes" / "queues.md", (1_700_000_000, 1_700_000_000))


def test_law_4_same_input_same_bytes(tmp_path: Path, store: Path) -> None:
    trees = []
    for name in ("one", "two"):
        root = tmp_path / name
        shutil.copytree(store, root, ignore=shutil.ignore_patterns("one", "two", "indexes"))
        for position, write in enumerate(WRITES.values()):
            write(opened(root, HEAD + timedelta(hours=2, minutes=position), 100 + position))
        manifest = (root / ".thunderus/memory/indexes/manifest.json").read_bytes()
        trees.append(tree_bytes(root / ".thunderus") | {"manifest": manifest})
    assert trees[0] == trees[1]


def test_law_5_check_before_answering(store: Path) -> None:
    answers(store)
    git(str(store), "add", "-A")
    git(str(store), "commit", "-q", "-m", "Save")
    path = store / FACTS / "limits.md"
    path.write_text(path.read_text().replace("title: Limits", "title: Ceilings").replace("100", "quux"))
    (store / FACTS / "fresh.md").write_text(document("fact.fresh", "The zanzibar page.\n", tags=("net",)))
    (store / FACTS / "old-limits.md").unlink()
    memory = [opened(store) for _ in range(6)]
    assert search.search(memory[0], "quux").hits[0].id == "fact.limits"
    assert search.search(memory[1], "zanzibar").hits[0].id == "fact.fresh"
    listed = {row.id: row.title for row in show.list_documents(memory[2]).documents}
    assert listed["fact.limits"] == "Ceilings"
    assert "fact.old-limits" not in listed
    assert show.show(memory[3], "fact.limits").title == "Ceilings"
    assert set(status(memory[4]).unrecorded) == {"fact.limits", "fact.fresh", "fact.old-limits"}
    found = {finding.rule for finding in lint.lint(memory[5]).diagnostics}
    assert "TM204" in found or "TM201" in found


@pytest.mark.parametrize("name", READS)
def test_law_6_a_read_changes_no_tracked_file(store: Path, name: str) -> None:
    (store / FACTS / "limits.md").write_bytes(b"\xff broken")
    (store / FACTS / "retries.md").unlink()
    before = tree_bytes(store)
    with suppress(ThunderusError):
        READS[name](opened(store, HEAD + timedelta(hours=5)))
    assert tree_bytes(store) == before


BROKEN: dict[str, bytes] = {
    "not-utf8": b"---\nid: fact.b\n\xff\xfe---\n",
    "nul": b"---\nid: fact.b\x00\n---\n",
    "open": b"---\nid: fact.b\ntitle: x\n",
    "no-header": b"Just text.\n",
    "syntax": b"---\nid: [fact.b\n---\nx\n",
    "types": b"---\nid: {a: 1}\ntitle: [x]\nkind: 7\n---\nx\n",
    "markers": b"<<<<<<< HEAD\n---\nid: fact.b\n=======\n>>>>>>> x\n",
}


@pytest.mark.parametrize("name", BROKEN)
def test_law_7_one_broken_document_never_hides_the_others(store: Path, name: str) -> None:
    healthy = {row.id for row in show.list_documents(opened(store)).documents}
    (store / FACTS / "a-broken.md").write_bytes(BROKEN[name])
    memory = opened(store, HEAD + timedelta(hours=1))
    assert {row.id for row in show.list_documents(memory).documents} == healthy
    assert search.search(memory, "page rows").hits[0].id == "fact.limits"
    report = lint.lint(memory)
    assert report.checked == len(healthy) + 1
    assert any(finding.path.endswith("a-broken.md") for finding in report.diagnostics)
    assert status(memory).unreadable == (f"{FACTS}/a-broken.md",)
    assert edit.edit(memory, "fact.limits", DocumentEdits(add_tags=("still",))).changed
    assert upkeep.manifest(memory).documents == len(healthy)


CASES: dict[str, tuple[tuple[str, ...], Callable[[Memory], Any]]] = {
    "search": (("search", "page rows"), READS["search"]),
    "show": (("show", "fact.limits"), READS["show"]),
    "list": (("list", "--tag", "net"), READS["list"]),
    "status": (("status",), READS["status"]),
    "log": (("log", "fact.limits"), READS["log"]),
    "why": (("why", "fact.limits"), READS["why"]),
    "events verify": (("events", "verify"), READS["events verify"]),
    "lint": (("lint",), READS["lint"]),
    "garden": (("garden",), READS["garden"]),
    "index manifest": (("index", "manifest", "--check"), READS["index manifest"]),
    "doctor": (("doctor",), READS["doctor"]),
    "index status": (("index", "status"), READS["index status"]),
    "index verify": (("index", "verify"), READS["index verify"]),
    "index refresh": (("index", "refresh"), lambda memory: memory.refresh()),
    "index rebuild": (("index", "rebuild"), lambda memory: rebuild(memory.layout)),
    "add": (("add", "fact", "Ports", "--body", "It is 8080.", "--tag", "net", "-m", "new"), WRITES["add"]),
    "edit": (
        ("edit", "fact.retries", "--tag", "slow", "--body", "Tried five times."),
        WRITES["edit"],
    ),
    "link": (("link", "fact.old-limits", "refers_to", "fact.retries"), WRITES["link"]),
    "supersede": (("supersede", "fact.retries", "adr.use-sqlite", "-m", "so"), WRITES["supersede"]),
    "events add": (("events", "add", "--kind", "note", "--body", "Looked at it."), WRITES["events add"]),
    "remove": (("remove", "fact.retries", "-m", "gone"), WRITES["remove"]),
    "recap": (("recap", "2026-01-21"), WRITES["recap"]),
}


@pytest.mark.parametrize("name", CASES)
def test_law_8_one_verb_thin_surfaces(name: str, store: Path, tmp_path: Path, server: Server) -> None:
    arguments, verb = CASES[name]
    root, kept = tmp_path / "place", tmp_path / "kept"
    shutil.copytree(store, kept, ignore=shutil.ignore_patterns("kept", "place"))
    at, seed = HEAD + timedelta(hours=3), 77
    shutil.copytree(kept, root)
    env = {"THUNDERUS_MEM_NOW": f"{at:%Y-%m-%dT%H:%M:%SZ}", "THUNDERUS_MEM_SEED": str(seed)}
    done = server.run("--json", *arguments, cwd=str(root), env=env)
    assert done.code in (0, 1), done
    by_command = tree_bytes(root)
    shutil.rmtree(root)
    shutil.copytree(kept, root)
    told = envelope(name, verb(opened(root, at, seed))) + "\n"
    assert done.out == told
    assert by_command == tree_bytes(root)


@given(
    ours=st.lists(st.sampled_from(["add", "note", "link", "remove", "commit"]), min_size=1, max_size=4),
    theirs=st.lists(st.sampled_from(["add", "note", "link", "commit"]), min_size=1, max_size=4),
)
@settings(max_examples=6, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
def test_law_9_merge_clean(ours: list[str], theirs: list[str]) -> None:
    with tempfile.TemporaryDirectory(prefix="laws-") as folder:
        repository = Repository(Path(folder, "tree"), Path(folder, "home")).init()
        tree = VerbTree(repository, Clock())
        tree.begin()
        for name in ("base", "other", "ours-0", "theirs-0"):
            tree.add(name)
        tree.save("Begin")
        made: list[str] = []

        def live(side: str, steps: list[str]) -> None:
            for number, step in enumerate(steps, 1):
                if step == "add":
                    made.append(tree.add(f"{side}-{number}", f"Only {side} has {number}.\n" * 9))
                elif step == "note":
                    made.append(tree.note(f"{side} {number}"))
                elif step == "link":
                    done = edit.link(tree.memory(), f"fact.{side}-0", "refers_to", "fact.base")
                    made.extend([done.event_id] if done.changed else [])
                elif step == "remove" and "other" in tree.names():
                    made.append(edit.remove(tree.memory(), "fact.other", why="gone").event_id)
                elif step == "commit":
                    tree.git("add", "-A")
                    tree.git("commit", "-q", "--allow-empty", "-m", f"{side} {number}")
            tree.git("add", "-A")
            tree.git("commit", "-q", "--allow-empty", "-m", side)

        tree.git("switch", "-q", "-c", "topic")
        live("theirs", theirs)
        tree.git("switch", "-q", "main")
        live("ours", ours)
        tree.git("merge", "-q", "--no-edit", "topic")
        assert set(made) <= set(tree.events())
        tree.check()
        assert verify(str(tree.root)) == []


@pytest.mark.parametrize("name", ["add", "edit", "remove", "supersede", "link"])
def test_law_10_nothing_acknowledged_is_lost(name: str, store: Path, server: Server) -> None:
    arguments, _ = CASES[name]
    fault = {"FAILPOINT": "before-rename-staged:raise,before-rename-taken:raise,before-link-staged:raise"}
    done = _at(server, store, arguments, 3, fault)
    assert done.code == 6, done
    assert "Logged, but not written yet:\n" in done.err
    assert "the next write retries" in done.err
    for word in ("Added", "Changed", "Removed", "Superseded", "Linked"):
        assert word not in done.err
    event = _at(server, store, ("--json", "log", "--all", "-n", "1"), 4).json["events"][0]
    assert event["op"] == name
    assert _at(server, store, ("events", "add", "--kind", "note", "--body", "on we go"), 5).code == 0
    change = _at(server, store, ("--json", "events", "show", event["id"]), 6).json["event"]["body"][
        "changes"
    ][0]
    path = store / change["path"]
    found = normal_hash(path.read_bytes()) if path.exists() else ""
    assert found == change["after"].removeprefix("sha256:")
    assert verify(str(store), settled=True) == []


def _at(
    server: Server, store: Path, words: tuple[str, ...], hour: int, env: Mapping[str, str] | None = None
) -> Any:
    now = {"THUNDERUS_MEM_NOW": f"2026-01-21T1{hour}:00:00Z", "THUNDERUS_MEM_SEED": str(hour)}
    return server.run(*words, cwd=str(store), env=now | dict(env or {}))
