"""K8: two clones live apart and meet again by merge, rebase, cherry-pick, squash and revert, at random.

Whatever git and `resolve` make of it: no event is lost, no chain breaks, repeated events are one, every
document reads, and an event id with different bytes is reported.
"""

from __future__ import annotations

import json
import random
import time
from typing import TYPE_CHECKING

import pytest
import report
from tier import points

from tests.support.git_repository import Repository
from tests.support.log_findings import log_findings
from tests.support.tree_writer import FACTS, Clock
from tests.support.verb_tree import VerbTree
from thunderus_mem.authoring.edit import DocumentEdits, edit, remove
from thunderus_mem.authoring.rename import rename
from thunderus_mem.diagnostic import Severity
from thunderus_mem.document.document import read_document
from thunderus_mem.memory.transaction import open_transaction
from thunderus_mem.merge.documents import find_conflict, parse, sides
from thunderus_mem.merge.resolve import resolve

if TYPE_CHECKING:
    from pathlib import Path

    from thunderus_mem.diagnostic import Diagnostic
    from thunderus_mem.log.reader import EventLog

STEPS = 14
OPERATIONS = (
    *(["add"] * 3 + ["change"] * 6 + ["tag"] * 3 + ["note"] * 2 + ["twin"] * 2 + ["commit"] * 3),
    *(["merge"] * 3 + ["rebase"] * 3 + ["pick"] * 2 + ["squash"] + ["revert"] + ["rename"] + ["remove"]),
)
WORDS = ("north", "south", "east", "west")


class Clones:
    """Two working trees of one repository; ``acknowledged`` are the events reported as written."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.chance = random.Random(seed)
        self.seed = seed
        first = VerbTree(Repository(folder / "a", folder / "home").init(), Clock(), seed)
        first.begin()
        for number in range(3):
            first.add(f"shared{number}", self._lines())
        first.save("Begin")
        second = VerbTree(first.repository.clone(folder / "b"), first._clock, seed)
        self.trees = (first, second)
        self.acknowledged = set(first.events())
        self.dropped: set[str] = set()
        self.conflicts = 0
        self._count = 0

    def _lines(self) -> str:
        return "".join(f"Line {number}: {self.chance.random()}.\n" for number in range(12))

    def step(self) -> None:
        self._count += 1
        tree = self.chance.choice(self.trees)
        other = self.trees[1 - self.trees.index(tree)]
        operation = self.chance.choice(OPERATIONS)
        getattr(self, operation)(tree, other)
        check(tree)

    def acknowledge(self, *events: str) -> None:
        self.acknowledged |= {event for event in events if event}

    def document(self, tree: VerbTree) -> str:
        return self.chance.choice(sorted(tree.names()))

    def add(self, tree: VerbTree, _other: VerbTree) -> None:
        self.acknowledge(tree.add(f"new{self._count}", self._lines()))

    def note(self, tree: VerbTree, _other: VerbTree) -> None:
        self.acknowledge(tree.note(f"note {self._count}"))

    def change(self, tree: VerbTree, _other: VerbTree) -> None:
        name = self.document(tree)
        lines = tree.text(name).splitlines(keepends=True)
        at = self.chance.randrange(len(lines) - 6, len(lines))
        lines[at] = f"Line changed in step {self._count}.\n"
        memory = tree.memory()
        self.acknowledge(edit(memory, f"{FACTS}/{name}.md", DocumentEdits(text="".join(lines))).event_id)

    def tag(self, tree: VerbTree, _other: VerbTree) -> None:
        word, gone = self.chance.sample(WORDS, 2)
        path = f"{FACTS}/{self.document(tree)}.md"
        self.acknowledge(
            edit(tree.memory(), path, DocumentEdits(add_tags=[word], remove_tags=[gone])).event_id
        )

    def twin(self, tree: VerbTree, other: VerbTree) -> None:
        """One edit by hand in both clones: both record it, and it is one event."""
        same = sorted(name for name in tree.names() & other.names() if tree.text(name) == other.text(name))
        if not same:
            return
        name = self.chance.choice(same)
        text = tree.text(name) + f"By hand in step {self._count}.\n"
        for one in (tree, other):
            (one.root / FACTS / f"{name}.md").write_bytes(text.encode())
            with open_transaction(one.memory(), "look") as transaction:
                recorded = transaction.outcome.recorded
            assert len(recorded) == 1
        ids = [set(one.events()) - self.acknowledged for one in (tree, other)]
        assert ids[0] & ids[1]
        self.acknowledge(*(ids[0] & ids[1]))

    def rename(self, tree: VerbTree, _other: VerbTree) -> None:
        path = f"{FACTS}/{self.document(tree)}.md"
        self.acknowledge(rename(tree.memory(), path, f"fact.renamed{self._count}").event_id)

    def remove(self, tree: VerbTree, _other: VerbTree) -> None:
        if len(tree.names()) > 2:
            self.acknowledge(remove(tree.memory(), f"{FACTS}/{self.document(tree)}.md", why="gone").event_id)

    def commit(self, tree: VerbTree, _other: VerbTree) -> None:
        if tree.git("status", "--porcelain"):
            tree.save(f"Step {self._count}")

    def fetched(self, tree: VerbTree, other: VerbTree) -> str:
        for one in (tree, other):
            self.commit(one, one)
        tree.git("fetch", "-q", str(other.root), "main")
        return "FETCH_HEAD"

    def merge(self, tree: VerbTree, other: VerbTree) -> None:
        theirs = self.fetched(tree, other)
        if tree.repository.try_git("merge", "-q", "--no-edit", theirs).returncode:
            self.settle(tree)
            tree.git("commit", "-q", "--no-edit")

    def squash(self, tree: VerbTree, other: VerbTree) -> None:
        theirs = self.fetched(tree, other)
        if tree.repository.try_git("merge", "-q", "--squash", theirs).returncode:
            self.settle(tree)
        self.commit(tree, other)

    def rebase(self, tree: VerbTree, other: VerbTree) -> None:
        """A rebase leaves out merge commits, and with them what was logged while they were made; and a picked
        commit whose change the other side had, and has taken back by now."""
        theirs = self.fetched(tree, other)
        head, before = tree.git("rev-parse", "HEAD"), by_shard(tree)
        self.through(tree, "rebase", "rebase", "-q", theirs)
        for shard in before.keys() - by_shard(tree).keys():
            added = tree.git("log", "--no-merges", "--format=%h", "--diff-filter=A", head, "--", shard)
            assert added == "" or before[shard] <= self.dropped
            self.dropped |= before[shard]

    def pick(self, tree: VerbTree, other: VerbTree) -> None:
        theirs = self.fetched(tree, other)
        commits = tree.git("rev-list", "--no-merges", "-n", "4", f"HEAD..{theirs}").split()
        if commits:
            self.through(tree, "cherry-pick", "cherry-pick", "--allow-empty", self.chance.choice(commits))

    def revert(self, tree: VerbTree, other: VerbTree) -> None:
        self.commit(tree, other)
        commits = tree.git("rev-list", "--no-merges", "--min-parents=1", "-n", "4", "HEAD").split()
        if commits:
            before = by_shard(tree)
            self.through(tree, "revert", "revert", "--no-edit", self.chance.choice(commits))
            for shard in before.keys() - by_shard(tree).keys():
                self.dropped |= before[shard]

    def through(self, tree: VerbTree, operation: str, *arguments: str) -> None:
        """Run what may stop at several commits; each time settle and go on, past what is empty by then."""
        stopped = tree.repository.try_git(*arguments).returncode
        for _ in range(40):
            if not stopped:
                break
            self.settle(tree)
            empty = tree.repository.try_git("diff", "--cached", "--quiet").returncode == 0
            stopped = tree.repository.try_git(operation, "--skip" if empty else "--continue").returncode
        assert not stopped, tree.git("status")

    def settle(self, tree: VerbTree) -> None:
        """Resolve as a user does: `resolve`, a choice for what is left, and `resolve --stage`."""
        self.conflicts += 1
        value = resolve(tree.memory(), stage=True)
        self.acknowledge(*(one.event_id for one in value.documents))
        assert [other for other in value.others if not other.settled] == []
        for document in value.documents:
            path = tree.root / document.path
            assert document.state != "unreadable", (self.seed, document)
            if document.left:
                text = path.read_bytes().decode()
                if all(left.key == "text" for left in document.left):
                    assert read_document(document.path, text.encode()).document is not None
                path.write_bytes(sides(parse(text)).ours.encode())
        assert not resolve(tree.memory(), stage=True).is_left
        assert tree.git("ls-files", "--unmerged") == ""

    def reunite(self) -> VerbTree:
        """Both clones in one tree."""
        first, second = self.trees
        self.merge(first, second)
        self.merge(second, first)
        check(first)
        check(second)
        return first


def by_shard(tree: VerbTree) -> dict[str, set[str]]:
    return {shard: {one.event.id for one in tree.reader.read_shard(shard).events} for shard in tree.shards()}


def alarms(log: EventLog) -> list[Diagnostic]:
    return [one for one in log_findings(log) if one.severity is not Severity.NOTE]


def check(tree: VerbTree) -> None:
    """No false alarm, no duplicate event, every document is readable."""
    assert alarms(tree.reader) == []
    events = tree.events()
    assert len(set(events)) == len(events)
    for path in (tree.root / FACTS).glob("*.md"):
        data = path.read_bytes()
        assert read_document(path.name, data).document is not None, path
        assert find_conflict(data.decode()) == ()


def forged(tree: VerbTree) -> EventLog:
    """The log with one event a second time, under its id but saying something else."""
    sessions = tree.root / ".thunderus" / "sessions"
    shard = min(sessions.iterdir()) / "events.jsonl"
    event = json.loads(shard.read_bytes().split(b"\n")[0])
    event |= {"why": "forged", "prev": None}
    folder = sessions / "sess_forged"
    folder.mkdir()
    (folder / "events.jsonl").write_text(json.dumps(event) + "\n")
    return tree.reader


@pytest.mark.damaged
def test_diverged_clones_merge(tmp_path: Path) -> None:
    slowest = 0.0
    lost = conflicts = 0
    for seed in range(points(8, 200)):
        begun = time.process_time()
        clones = Clones(tmp_path / str(seed), seed)
        for _ in range(STEPS):
            clones.step()
        tree = clones.reunite()
        missing = clones.acknowledged - clones.dropped - set(tree.events())
        assert missing == set(), (seed, missing)
        lost += len(missing)
        conflicts += clones.conflicts
        assert alarms(forged(tree)) != []
        slowest = max(slowest, time.process_time() - begun)
    report.add("K8", "diverged clones", tried=points(8, 200), lost=lost, healed=conflicts, slowest=slowest)
