"""Law 9: whatever two branches add and log, git merges it without a driver, and the log still verifies.

Every test drives the real git on real files; the writer below is the smallest that follows the rules of a
session: ask git, write documents and one line, remember the line.
"""

from __future__ import annotations

import random
import shutil
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from git_repository import Repository

from thunderus_mem.model.diagnostic import Severity
from thunderus_mem.model.document import content_hash
from thunderus_mem.model.event import Change, encode, note_event, patch_event, unified_diff
from thunderus_mem.model.ids import UlidSource
from thunderus_mem.model.timestamp import format_precise
from thunderus_mem.store.events import EventLog
from thunderus_mem.store.git import Git
from thunderus_mem.store.journal import Journal, Write
from thunderus_mem.store.sessions import Sessions

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

MEMORY = ".thunderus/memory"
FACTS = f"{MEMORY}/semantic/FACTS"
IGNORED = "memory/indexes/\nlocal/\n.staging/\n.quarantine/\n.lock\n"
DOCUMENT = """---
id: fact.{name}
title: {name}
kind: fact
tags:
  - one
created: 2026-01-21T09:00:00Z
updated: 2026-01-21T09:00:00Z
provenance:
  events:
    - {event}
  patches: []
  commits: []
verification:
  last_verified_commit: null
  status: unknown
---
{name} is so.
"""


class Clock:
    """Moves on by a second at every look, shared by all trees of a test."""

    def __init__(self) -> None:
        self.moment = datetime(2026, 1, 21, 9, tzinfo=UTC)

    def __call__(self) -> datetime:
        self.moment += timedelta(seconds=1)
        return self.moment


class Writer:
    """One working tree with a store in it, written the way the verbs write."""

    def __init__(self, repository: Repository, clock: Clock, seed: int = 1) -> None:
        self.repository = repository
        self.git = repository.git
        self.root = repository.root
        self._clock = clock
        self._ids = UlidSource(clock, random.Random(f"{seed}:{repository.root.name}").getrandbits)
        store = self.root / ".thunderus"
        local = store / "local"
        self._sessions = Sessions(str(self.root), str(store / "sessions"), str(local))
        self._journal = Journal(str(self.root), str(store / ".staging"), str(store / ".quarantine"))
        legacy = str(store / "events.jsonl")
        self.reader = EventLog(str(self.root), str(store / "sessions"), str(local / "sessions"), legacy)

    def _write(self, changes: list[tuple[str, str | None]], text: str = "") -> str:
        git = Git.find(str(self.root), self.repository.env)
        state = self._sessions.ask(git, MEMORY)
        state = self._sessions.ask_again(git, state, MEMORY)
        session = self._sessions.current(state, self._clock(), self._ids.new)
        event_id, ts = self._ids.new("evt"), format_precise(self._clock())
        links = {"prev": session.prev_line_hash, "head": session.head_hint}
        writes, logged = [], []
        for path, new in changes:
            target = self.root / path
            old = target.read_bytes().decode() if target.exists() else None
            name = target.stem
            new = None if new is None else new.format(name=name, event=event_id)
            before = "" if old is None else content_hash(old)
            after = "" if new is None else content_hash(new)
            op = "create" if old is None else "remove" if new is None else "update"
            diff = unified_diff(old, new, path)
            logged.append(Change(op, f"fact.{name}", path, before, after, diff))
            writes.append(Write(path, before, None if new is None else new.encode()))
        shared = {"id": event_id, "ts": ts, "session_id": session.id, "actor": "user"}
        if logged:
            patch_id = self._ids.new("patch")
            op = "add" if logged[0].op == "create" else "edit"
            event = patch_event(**shared, **links, patch_id=patch_id, op=op, changes=logged)  # type: ignore[arg-type]
        else:
            event = note_event(**shared, **links, text=text)  # type: ignore[arg-type]
        line = encode(event)
        assert self._journal.commit(event_id, session.shard, line, writes).published
        self._sessions.wrote(session, line)
        return event_id

    def add(self, name: str) -> str:
        return self._write([(f"{FACTS}/{name}.md", DOCUMENT)])

    def note(self, text: str) -> str:
        return self._write([], text)

    def edit(self, name: str, old: str, new: str) -> str:
        path = f"{FACTS}/{name}.md"
        text = (self.root / path).read_text()
        assert old in text
        return self._write([(path, text.replace(old, new))])

    def events(self) -> list[str]:
        return [logged.event.id for logged in self.reader.read_all().events]

    def names(self) -> set[str]:
        folder = self.root / FACTS
        return {path.stem for path in folder.glob("*.md")} if folder.exists() else set()

    def shards(self) -> set[str]:
        return set(self.reader.shards())

    def save(self, message: str) -> str:
        return self.repository.commit(message)

    def check(self) -> None:
        """The log has no error (notes are fine), and nothing under the store holds a conflict."""
        findings = self.reader.verify()
        assert [one for one in findings if one.severity is not Severity.NOTE] == []
        assert self.git("ls-files", "--unmerged") == ""


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def tree(tmp_path: Path, clock: Clock) -> Writer:
    """A repository on branch main with a store, one document and two lines in the log; no attributes."""
    repository = Repository(tmp_path / "tree", tmp_path / "home").init()
    repository.write(".thunderus/.gitignore", IGNORED)
    repository.write("code.py", "x = 1\n")
    writer = Writer(repository, clock)
    writer.add("base")
    writer.note("begun")
    writer.save("Begin")
    return writer


def branch_and_write(tree: Writer, ours: Callable[[], object], theirs: Callable[[], object]) -> None:
    """``theirs`` on a branch topic, ``ours`` on main, each committed; ends on main."""
    tree.git("switch", "-q", "-c", "topic")
    theirs()
    tree.save("Theirs")
    tree.git("switch", "-q", "main")
    ours()
    tree.save("Ours")


def test_add_and_add(tree: Writer) -> None:
    made: list[str] = []
    branch_and_write(
        tree,
        lambda: made.extend((tree.add("ours"), tree.add("ours-too"))),
        lambda: made.extend((tree.add("theirs"), tree.add("theirs-too"))),
    )
    tree.git("merge", "-q", "--no-edit", "topic")
    assert tree.names() == {"base", "ours", "ours-too", "theirs", "theirs-too"}
    assert set(made) <= set(tree.events())
    tree.check()


def test_log_and_log(tree: Writer) -> None:
    made: list[str] = []
    branch_and_write(
        tree,
        lambda: made.extend(tree.note(f"ours {n}") for n in range(3)),
        lambda: made.extend(tree.note(f"theirs {n}") for n in range(3)),
    )
    tree.git("merge", "-q", "--no-edit", "topic")
    assert set(made) <= set(tree.events())
    assert len(tree.shards()) == 3
    tree.check()


def test_edit_and_edit_of_other_keys_of_one_document(tree: Writer) -> None:
    branch_and_write(
        tree,
        lambda: tree.edit("base", "  - one\n", "  - one\n  - two\n"),
        lambda: tree.edit("base", "status: unknown", "status: verified"),
    )
    tree.git("merge", "-q", "--no-edit", "topic")
    text = (tree.root / FACTS / "base.md").read_text()
    assert "  - two\n" in text
    assert "status: verified" in text
    tree.check()


def test_writing_between_commits_of_one_branch_never_touches_a_shard_git_knows(tree: Writer) -> None:
    for number in range(3):
        before = {shard: (tree.root / shard).read_bytes() for shard in tree.shards()}
        tree.note(f"a{number}")
        tree.note(f"b{number}")
        after = {shard: (tree.root / shard).read_bytes() for shard in before}
        assert after == before
        tree.save("More")
    assert len(tree.shards()) == 4
    tree.check()


def test_both_sides_edit_after_a_merge_and_merge_again(tree: Writer) -> None:
    branch_and_write(tree, lambda: tree.add("ours"), lambda: tree.add("theirs"))
    tree.git("merge", "-q", "--no-edit", "topic")
    tree.add("after")
    tree.save("After")
    tree.git("switch", "-q", "topic")
    tree.add("topic-again")
    tree.save("Again")
    tree.git("merge", "-q", "--no-edit", "main")
    assert tree.names() == {"base", "ours", "theirs", "after", "topic-again"}
    tree.check()


def test_squash(tree: Writer) -> None:
    def theirs() -> None:
        tree.add("theirs")
        tree.save("First")
        tree.add("theirs-too")

    branch_and_write(tree, lambda: tree.add("ours"), theirs)
    tree.git("merge", "-q", "--squash", "topic")
    tree.note("while the squash is staged")
    tree.save("Squashed")
    # The branch goes on after its squash, and comes again.
    tree.git("switch", "-q", "topic")
    tree.add("later")
    tree.save("Later")
    tree.git("switch", "-q", "main")
    tree.git("merge", "-q", "--no-edit", "topic")
    assert tree.names() == {"base", "ours", "theirs", "theirs-too", "later"}
    tree.check()


def test_rebase_with_a_dropped_and_two_reordered_commits(tree: Writer) -> None:
    def theirs() -> None:
        for name in ("first", "second", "third"):
            tree.add(name)
            tree.note(f"about {name}")
            tree.save(name)
        tree.add("fourth")

    branch_and_write(tree, lambda: tree.add("ours"), theirs)
    tree.git("switch", "-q", "topic")
    # Todo lines are first, second, third, Theirs: take the last one first and drop "second".
    script = "sed -i.bak -e '2s/^pick/drop/' -e '1{h;d}' -e '4G'"
    tree.git("rebase", "-q", "-i", "main", GIT_SEQUENCE_EDITOR=script)
    assert tree.names() == {"base", "ours", "first", "third", "fourth"}
    tree.check()
    tree.add("after-rebase")
    tree.save("After")
    tree.git("switch", "-q", "main")
    tree.git("merge", "-q", "--no-edit", "topic")
    tree.check()


def test_writing_in_the_middle_of_a_rebase(tree: Writer) -> None:
    def theirs() -> None:
        tree.add("first")
        tree.save("first")
        tree.add("second")

    branch_and_write(tree, lambda: tree.add("ours"), theirs)
    tree.git("switch", "-q", "topic")
    tree.git("rebase", "-q", "-i", "main", GIT_SEQUENCE_EDITOR="sed -i.bak -e '1s/^pick/edit/'")
    tree.add("between")
    tree.git("add", "-A")
    tree.git("commit", "-q", "--amend", "--no-edit")
    tree.note("still between")
    tree.save("Between")
    tree.git("rebase", "--continue")
    assert tree.names() == {"base", "ours", "first", "between", "second"}
    tree.check()


def test_cherry_pick_then_merge(tree: Writer) -> None:
    def theirs() -> None:
        tree.add("picked")
        tree.save("Picked")
        tree.add("left")

    branch_and_write(tree, lambda: tree.add("ours"), theirs)
    tree.git("cherry-pick", "topic~1")
    assert tree.names() == {"base", "ours", "picked"}
    tree.check()
    tree.note("after the pick")
    tree.save("More")
    tree.git("merge", "-q", "--no-edit", "topic")
    assert tree.names() == {"base", "ours", "picked", "left"}
    tree.check()


def test_revert_and_revert_of_the_revert(tree: Writer) -> None:
    branch_and_write(tree, lambda: tree.add("ours"), lambda: tree.add("theirs"))
    tree.git("merge", "-q", "--no-edit", "topic")
    tree.git("revert", "--no-edit", "-m", "1", "HEAD")
    assert tree.names() == {"base", "ours"}
    tree.check()
    tree.note("between")
    tree.save("Between")
    tree.git("revert", "--no-edit", "HEAD~1")
    assert tree.names() == {"base", "ours", "theirs"}
    tree.check()
    tree.git("switch", "-q", "topic")
    tree.add("goes-on")
    tree.save("Goes on")
    tree.git("merge", "-q", "--no-edit", "main")
    tree.check()


def test_stash_and_pop_over_new_writes(tree: Writer) -> None:
    stashed = tree.add("stashed")
    tree.git("stash", "push", "-q", "--include-untracked")
    assert tree.names() == {"base"}
    tree.check()
    kept = tree.add("kept")
    tree.git("stash", "pop", "-q")
    assert {stashed, kept} <= set(tree.events())
    tree.note("after the pop")
    tree.save("All")
    tree.check()


def test_stash_without_untracked_files_and_pop_on_another_branch(tree: Writer) -> None:
    tree.edit("base", "is so", "is not so")
    tree.git("stash", "push", "-q")
    tree.note("the shard stayed")
    tree.save("Main")
    tree.git("switch", "-q", "-c", "topic", "HEAD~1")
    tree.add("topic")
    tree.save("Topic")
    tree.git("stash", "pop", "-q")
    tree.note("popped")
    tree.save("Popped")
    tree.git("merge", "-q", "--no-edit", "main")
    tree.check()


def test_amend_against_a_branch_from_before_it(tree: Writer) -> None:
    tree.add("first")
    tree.save("First")
    tree.git("branch", "old")
    tree.add("second")
    tree.git("add", "-A")
    tree.git("commit", "-q", "--amend", "-m", "First and second")
    tree.note("after")
    tree.save("After")
    tree.git("switch", "-q", "old")
    tree.add("on-old")
    tree.save("Old goes on")
    tree.git("merge", "-q", "--no-edit", "main")
    assert tree.names() == {"base", "first", "second", "on-old"}
    tree.check()


def test_one_write_split_over_two_commits(tree: Writer) -> None:
    tree.git("switch", "-q", "-c", "topic")
    tree.add("one")
    tree.add("two")
    tree.git("add", f"{FACTS}/one.md")
    tree.git("commit", "-q", "-m", "One document without its log")
    tree.note("the shard is not committed, HEAD has moved")
    tree.save("The rest")
    tree.git("reset", "-q", "HEAD~2")
    tree.note("and split again")
    tree.git("add", ".thunderus/sessions")
    tree.note("the index has the shard already")
    tree.git("commit", "-q", "-m", "The log first")
    tree.save("Then the documents")
    tree.git("switch", "-q", "main")
    tree.add("ours")
    tree.save("Ours")
    tree.git("merge", "-q", "--no-edit", "topic")
    assert tree.names() == {"base", "one", "two", "ours"}
    tree.check()


@pytest.mark.parametrize("mode", ["--soft", "--mixed", "--hard"])
def test_reset_after_push(tree: Writer, tmp_path: Path, clock: Clock, mode: str) -> None:
    origin = Repository(tmp_path / "origin.git", tmp_path / "home")
    tree.git("clone", "-q", "--bare", ".", str(origin.root))
    tree.git("remote", "add", "origin", str(origin.root))
    tree.add("pushed")
    tree.note("pushed too")
    tree.save("Pushed")
    tree.git("push", "-q", "origin", "main")
    other = Writer(Repository(origin.root, tmp_path / "home").clone(tmp_path / "other"), clock)
    other.add("other")
    other.save("Other")
    other.git("push", "-q", "origin", "main")
    tree.git("reset", "-q", mode, "HEAD~1")
    tree.add("again")
    tree.save("Again, differently")
    # Documents the reset left in the tree are equal to the pushed ones, so both sides add the same bytes.
    tree.git("pull", "-q", "--no-rebase", "--no-edit", "origin", "main")
    assert tree.names() == {"base", "pushed", "other", "again"}
    tree.check()


@pytest.mark.parametrize("attributes", ["", "sessions/** text eol=lf linguist-generated\n"])
@pytest.mark.parametrize("setting", ["true", "input"])
def test_a_clone_with_autocrlf(
    tree: Writer, tmp_path: Path, clock: Clock, attributes: str, setting: str
) -> None:
    if attributes:
        tree.repository.write(".thunderus/.gitattributes", attributes)
        tree.save("Attributes")
    copy = tree.repository.clone(tmp_path / "copy", "-c", f"core.autocrlf={setting}")
    other = Writer(copy, clock)
    shard = (other.root / next(iter(other.shards()))).read_bytes()
    assert (b"\r\n" in shard) == (setting == "true" and not attributes)
    other.check()
    other.add("windows")
    other.note("there")
    other.check()
    other.save("There")
    tree.add("here")
    tree.save("Here")
    tree.git("pull", "-q", "--no-rebase", "--no-edit", str(other.root), "main")
    assert tree.names() == {"base", "windows", "here"}
    tree.check()
    other.git("pull", "-q", "--no-rebase", "--no-edit", str(tree.root), "main")
    other.note("and back")
    other.check()
    assert sorted(other.events())[: len(tree.events())] == sorted(tree.events())


def test_two_working_trees_of_one_repository_write_at_once(
    tree: Writer, tmp_path: Path, clock: Clock
) -> None:
    tree.git("worktree", "add", "-q", "-b", "topic", str(tmp_path / "linked"))
    linked = Writer(Repository(tmp_path / "linked", tmp_path / "home"), clock)
    for number in range(3):
        tree.add(f"main-{number}")
        linked.add(f"linked-{number}")
    tree.save("Main")
    linked.save("Linked")
    tree.git("merge", "-q", "--no-edit", "topic")
    assert len(tree.names()) == 7
    tree.check()


def test_a_copied_working_tree_starts_its_own_session(tree: Writer, tmp_path: Path, clock: Clock) -> None:
    tree.note("before the copy")
    shutil.copytree(tree.root, tmp_path / "copy")
    copy = Writer(Repository(tmp_path / "copy", tmp_path / "home"), clock)
    copy.add("there")
    tree.save("Here, as it was when the copy was made")
    copy.save("There")
    tree.add("here")
    tree.save("Here")
    tree.git("pull", "-q", "--no-rebase", "--no-edit", str(copy.root), "main")
    assert tree.names() == {"base", "here", "there"}
    tree.check()


def test_a_repository_without_reflogs(tree: Writer) -> None:
    tree.git("config", "core.logAllRefUpdates", "false")
    shutil.rmtree(tree.root / ".git" / "logs")
    branch_and_write(tree, lambda: tree.add("ours"), lambda: tree.add("theirs"))
    tree.git("merge", "-q", "--no-edit", "topic")
    tree.git("reset", "-q", "--soft", "HEAD~1")
    tree.note("after a reset")
    tree.save("Again")
    tree.git("merge", "-q", "--no-edit", "topic")
    tree.check()


def test_three_branches_in_one_merge(tree: Writer) -> None:
    for name in ("a", "b", "c"):
        tree.git("switch", "-q", "-c", name, "main")
        tree.add(name)
        tree.save(name)
    tree.git("switch", "-q", "main")
    tree.git("merge", "-q", "--no-edit", "a", "b", "c")
    assert tree.names() == {"base", "a", "b", "c"}
    tree.check()


def test_a_dropped_branch_leaves_notes_not_errors(tree: Writer) -> None:
    tree.git("switch", "-q", "-c", "topic")
    tree.note("will be dropped")
    tree.save("Dropped")
    tree.git("switch", "-q", "-c", "next")
    tree.note("names the line above as the newest")
    tree.save("Next")
    tree.git("rebase", "-q", "--onto", "main", "topic")
    findings = tree.reader.verify()
    assert [(one.rule, one.severity) for one in findings] == [("TM504", Severity.NOTE)]


OPERATIONS = (
    *("write", "write", "write", "commit", "commit", "branch", "switch", "merge", "merge"),
    *("cherry-pick", "rebase", "revert", "amend", "soft", "mixed", "hard", "stash", "pop", "stage"),
)


def act(tree: Writer, operation: str, chance: random.Random, number: int) -> None:
    """One step of a random life; steps that git does not allow right now are left out."""
    branches = tree.git("branch", "--format=%(refname:short)").split()
    dirty = bool(tree.git("status", "--porcelain"))
    if operation == "write":
        tree.add(f"doc{number}")
    elif operation == "stage":
        tree.git("add", "-A")
    elif operation == "commit" and dirty:
        tree.save(f"Commit {number}")
    elif operation == "amend":
        tree.git("add", "-A")
        tree.git("commit", "-q", "--amend", "--allow-empty", "-m", f"Amend {number}")
    elif operation in ("soft", "mixed") and tree.repository.try_git("rev-parse", "HEAD~1").returncode == 0:
        tree.git("reset", "-q", f"--{operation}", "HEAD~1")
    elif operation == "pop" and tree.git("stash", "list") and not dirty:
        tree.git("stash", "pop", "-q")
    elif operation == "stash" and dirty:
        tree.git("stash", "push", "-q", "--include-untracked")
    elif dirty:
        return
    elif operation == "branch":
        tree.git("switch", "-q", "-c", f"b{number}")
    elif operation == "switch":
        tree.git("switch", "-q", chance.choice(branches))
    elif operation == "merge":
        tree.git("merge", "-q", "--no-edit", chance.choice(branches))
    elif operation == "rebase":
        tree.git("rebase", "-q", chance.choice(branches))
    elif operation == "cherry-pick":
        commits = tree.git("rev-list", "--no-merges", "--min-parents=1", "--all", "-n", "5").split()
        if commits:
            tree.git("cherry-pick", "--keep-redundant-commits", "--allow-empty", chance.choice(commits))
    elif operation == "revert":
        commits = tree.git("rev-list", "--no-merges", "--min-parents=1", "-n", "3", "HEAD").split()
        # A revert of what is reverted already is empty, and git stops.
        if commits and tree.repository.try_git("revert", "--no-edit", chance.choice(commits)).returncode:
            assert tree.git("ls-files", "--unmerged") == ""
            tree.repository.try_git("revert", "--abort")
    elif operation == "hard" and tree.repository.try_git("rev-parse", "HEAD~1").returncode == 0:
        tree.git("reset", "-q", "--hard", "HEAD~1")


@pytest.mark.parametrize("seed", range(8))
def test_any_life_of_a_repository_stays_clean(tree: Writer, seed: int) -> None:
    chance = random.Random(seed)
    for number in range(14):
        act(tree, chance.choice(OPERATIONS), chance, number)
        tree.check()
