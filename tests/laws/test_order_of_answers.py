"""Law 2 for orders: what ties in score, time or name is sorted by the documents themselves. Every answer is
the same in whatever order the files arrived, in every process."""

from __future__ import annotations

import os
import random
import shutil
from typing import TYPE_CHECKING

import pytest

from tests.laws.test_laws import tree_bytes
from tests.support.every_command import calls
from tests.support.git_repository import begin_repository
from tests.support.in_process import run_here
from tests.support.index_support import document, new_store, put
from thunderus_mem.cli.complete import candidates
from thunderus_mem.index.database import PASSAGES_PER_DOCUMENT, create
from thunderus_mem.index.refresh import refresh
from thunderus_mem.index.sqlite_index import SqliteIndex
from thunderus_mem.memory.memory import open_memory
from thunderus_mem.search.query import parse_query
from thunderus_mem.search.search import find

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from tests.support.command_server import Done, Server

AT = {
    "THUNDERUS_MEM_NOW": "2026-01-21T09:30:00Z",
    "THUNDERUS_MEM_SEED": "99",
    "THUNDERUS_MEM_TEST": "1",
    "SHELL": "/bin/bash",
}
FACTS = ".thunderus/memory/semantic/FACTS"
BODY = "A page of the answer has 100 rows; see `src/pages.py`.\n\n## Why\n\nA page of rows is small."
NOT_ASKED = frozenset({"index", "doctor", "hooks"})
"""Commands whose answer is the state of the index, or which write outside of the store."""

VALUES = {
    name: (text,)
    for name, text in {
        "kind": "fact", "title": "New", "document": "fact.zeta-note", "documents": "fact.zeta-note",
        "places": "src/pages.py", "source": "fact.zeta-note", "rel": "refers_to", "target": "fact.alfa-note",
        "text": "Words.", "new_id": "fact.new", "names": "fact.zeta-note", "old": "fact.zeta-note",
        "new": "fact.alfa-note", "event": "evt_none", "proposal": "patch_none", "proposals": "patch_none",
        "change": "evt_none", "value": "10", "query": "page rows", "task": "page rows",
        "place": "src/pages.py", "path": "src", "filters": "kind:fact",
        "period": "2026-01-21", "form": "markdown",
        "paths": FACTS, "code": "TM201", "name": "memory_manifest", "key": "search.limit", "shell": "bash",
        "directory": "notes", "hook": "pre-commit", "base": "README.md", "ours": "README.md",
        "theirs": "README.md", "why": "said so",
    }.items()
}  # fmt: skip
MORE_READS = (
    ("search", "pages"),
    ("search", "kind:fact", "page"),
    ("search", "kind:fact"),
    ("search", "-n", "2", "answer"),
    ("list", "--tag", "net"),
    ("log", "-n", "2"),
    ("garden",),
    ("recap", "2026-01-21", "--dry-run"),
    ("show", "the-shared-name"),
)
COMPLETED = (("show", ""), ("undo", ""), ("events", "show", ""), ("review", "show", ""))
EVENTS = '{"kind": "tool_call", "body": {"tool": "bash", "arguments": {"command": "make"}}}\n'
PAGES = "def pages():\n    return 100\n"


def _commands() -> Iterator[tuple[tuple[str, ...], str]]:
    """What makes the store, with its stdin; everything happens in one second."""
    yield ("init",), ""
    for title in ("Zeta note", "Alfa note", "Mid note", "Old note", "Past note"):
        body = f"{BODY}\n\n{title}."
        yield ("add", "fact", title, "--tag", "net", "--body", body, "--anchor", "src/pages.py"), ""
    for title in ("Use pages", "Keep pages"):
        body = f"## Context\n\n{BODY}\n\n## Decision\n\n{title}.\n\n## Consequences\n\nFew.\n"
        yield ("add", "adr", title, "--tag", "net", "--body", body), ""
    yield ("supersede", "fact.old-note", "fact.zeta-note", "-m", "newer"), ""
    yield ("supersede", "fact.old-note", "fact.alfa-note", "-m", "newer"), ""
    yield ("archive", "fact.past-note"), ""
    yield ("edit", "fact.mid-note", "--set", 'aliases=["the shared name"]'), ""
    yield ("edit", "fact.alfa-note", "--set", 'aliases=["the shared name"]'), ""
    yield (
        ("events", "add", "--kind", "note", "--body", "Looked at the pages.", "--about", "fact.zeta-note"),
        "",
    )
    yield ("events", "add"), EVENTS * 3
    yield ("garden", "--propose"), ""


def _make(root: Path, server: Server) -> None:
    """A store whose documents and events tie in every respect but their names."""
    begin_repository(root, ("init", "-q"), ("commit", "-q", "--allow-empty", "-m", "Begin"))
    for name, text in (("src/pages.py", PAGES), ("notes/a.md", "# A\n\nText.\n"), ("README.md", "# It\n")):
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text(text)
    for seed, (words, given_text) in enumerate(_commands(), 1):
        env = {"THUNDERUS_MEM_NOW": "2026-01-21T09:00:00Z", "THUNDERUS_MEM_SEED": str(seed)}
        done = server.run(*words, cwd=str(root), env=env, stdin=given_text.encode())
        assert done.code in (0, 1), (words, done)
    for name, text in {
        "zeta-copy.md": document("fact.mid-note", BODY),
        "alfa-copy.md": document("fact.mid-note", BODY),
        "broken.md": "---\nid: [\n---\n",
        "zulu.md": document("fact.zulu", BODY, updated="2026-01-21T10:00:00+01:00"),
        "lima.md": document("fact.lima", BODY, updated="2026-01-21T09:00:00Z"),
    }.items():
        (root / FACTS / name).write_text(text)


class Store:
    """The store in the current folder: its files can arrive in any order."""

    def __init__(self, root: Path, server: Server) -> None:
        self.root = root
        self.files = self._found()
        self.reads = self._reads()
        # In other processes, where sets have another order.
        self.answers = self.ask(lambda *words: server.run(*words, cwd=str(root), env=AT, apart=True))

    def _found(self) -> dict[str, bytes]:
        folder = self.root / ".thunderus"
        return {
            str(path.relative_to(self.root)): path.read_bytes()
            for path in sorted(folder.rglob("*"))
            if path.is_file() and "indexes" not in path.parts and path.name != ".lock"
        }

    def _reads(self) -> list[tuple[str, ...]]:
        """Every call that answers and changes nothing."""
        found = list(MORE_READS)
        for call in calls(VALUES):
            if call[0] not in NOT_ASKED:
                before = tree_bytes(self.root)
                done = run_here(*call)
                if tree_bytes(self.root) != before:
                    self.begin()
                    self.arrive(self.files)
                elif done.code in (0, 1):
                    found.append(call)
        return found

    def begin(self) -> None:
        """Remove everything."""
        shutil.rmtree(self.root / ".thunderus")

    def arrive(self, names: Iterable[str]) -> None:
        """Write some of the files."""
        for name in names:
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(self.files[name])

    def refresh(self) -> None:
        """Bring the index up to date with the files that are there."""
        memory = open_memory(str(self.root))
        memory.refresh()
        memory.log_index()
        memory.index.close()

    def ask(self, run: Callable[..., Done] = run_here) -> dict[str, str]:
        """What every read says, and what completion offers."""
        found = {" ".join(words): run("--json", *words).out for words in self.reads}
        for words in COMPLETED:
            offered = list(candidates(words, os.environ))
            found[f"complete {' '.join(words)}"] = repr(offered)
        return found


@pytest.fixture
def store(tmp_path: Path, server: Server, monkeypatch: pytest.MonkeyPatch) -> Store:
    """A store as its commands left it, in the current folder."""
    _make(tmp_path, server)
    monkeypatch.chdir(tmp_path)
    for name, value in AT.items():
        monkeypatch.setenv(name, value)
    return Store(tmp_path, server)


def test_answers_do_not_depend_on_the_order_of_arrival(store: Store) -> None:
    assert {"search page rows", "log", "lint", "garden", "why fact.zeta-note"} <= store.answers.keys()

    names = list(store.files)
    random.Random(1).shuffle(names)
    store.begin()
    for at, name in enumerate(names):
        store.arrive([name])
        if at % 7 == 0:
            store.refresh()
    assert store.ask() == store.answers


def test_equal_scores_are_sorted_by_id_and_position(tmp_path: Path) -> None:
    for turn in range(8):
        layout = new_store(tmp_path / str(turn))
        names = [f"n{number}" for number in range(70)]
        random.Random(turn).shuffle(names)
        index = SqliteIndex(create())
        for some in (names[:20], names[20:]):
            for name in some:
                put(layout, f"{name}.md", document(f"fact.{name}", "# A\n\nwords\n\n# B\n\nwords\n"))
            refresh(layout, index)
        found = find(index, parse_query("words"), limit=50)
        ids = [found.documents[row].id for row in found.ordered()]
        places = {
            tuple(passage % PASSAGES_PER_DOCUMENT for passage in candidate.passages)
            for candidate in found.candidates.values()
        }
        index.close()
        assert ids == sorted(f"fact.{name}" for name in names)[:60]
        assert places == {(0, 1)}
