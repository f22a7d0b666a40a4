"""Sessions: what ends one, and that an invalid state only starts a new one."""

from __future__ import annotations

import errno
import json
import os
from datetime import UTC, datetime
from itertools import count
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.git_repository import Repository
from thunderus_mem.git.repository import Git, GitState
from thunderus_mem.log.line import line_hash
from thunderus_mem.log.sessions import Session, Sessions
from thunderus_mem.store import disk

if TYPE_CHECKING:
    from pathlib import Path

NOW = datetime(2026, 1, 21, 23, 30, tzinfo=UTC)
LATER = datetime(2026, 1, 22, 0, 30, tzinfo=UTC)
STATE = GitState("a" * 40, 100, shard_known=False, changed=())
MEMORY = ".thunderus/memory"
LOCAL = ".thunderus/local/session.json"


class Tree:
    """A store in ``root`` that writes lines under any git state."""

    def __init__(self, root: Path, first: int = 1) -> None:
        self.root = root
        self._numbers = count(first)
        self.sessions = self.opened()

    def opened(self) -> Sessions:
        store = self.root / ".thunderus"
        return Sessions(str(self.root), str(store / "sessions"), str(store / "local"))

    def new_id(self, prefix: str) -> str:
        return f"{prefix}_{next(self._numbers):03d}"

    def current(self, state: GitState | None = STATE, now: datetime = NOW) -> Session:
        return self.opened().current(state, now, self.new_id)

    def write(self, text: str, state: GitState | None = STATE, now: datetime = NOW) -> Session:
        session = self.current(state, now)
        line = text.encode() + b"\n"
        path = self.root / session.shard
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab") as file:
            file.write(line)
        self.opened().wrote(session, line)
        return session


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    return Tree(tmp_path)


def test_writes_on_one_head_share_a_session_and_chain(tree: Tree) -> None:
    first, second, third = (tree.write(text) for text in ("one", "two", "three"))
    assert first.shard == ".thunderus/sessions/sess_001/events.jsonl"
    assert (first.id, second.id, third.id) == ("sess_001",) * 3
    assert (first.prev_line_hash, second.prev_line_hash) == (None, line_hash(b"one"))
    assert third.prev_line_hash == line_hash(b"two")


def test_current_session_lookup_writes_nothing(tree: Tree) -> None:
    tree.current()
    tree.sessions.known_shard()
    assert list(tree.root.iterdir()) == []


@pytest.mark.parametrize(
    "state",
    [
        STATE._replace(head="b" * 40),
        STATE._replace(head=None),
        STATE._replace(reflog_size=101),
        STATE._replace(shard=".thunderus/sessions/sess_001/events.jsonl", shard_known=True),
        None,
    ],
    ids=["head-moved", "no-head", "reflog-grew", "shard-in-index", "git-gone"],
)
def test_git_state_change_ends_a_session(tree: Tree, state: GitState | None) -> None:
    tree.write("one")
    session = tree.write("two", state)
    assert session.id == "sess_002"
    assert session.prev_line_hash is None


@pytest.mark.parametrize("change", ["more\n", "torn", ""])
def test_shard_changed_by_others_is_not_continued(tree: Tree, change: str) -> None:
    shard = tree.root / tree.write("one").shard
    text = shard.read_text() + change if change else "other\n"
    shard.write_text(text)
    assert tree.write("two").id == "sess_002"
    assert shard.read_text() == text


def test_removed_shard_is_not_recreated(tree: Tree) -> None:
    shard = tree.root / tree.write("one").shard
    shard.unlink()
    assert tree.write("two").id == "sess_002"
    assert not shard.exists()


@pytest.mark.parametrize(
    "state",
    [
        "",
        "not json",
        "[]",
        "{}",
        '{"version": 2}',
        "[" * 50_000,
        '{"version": 1, "session_id": 7}',
        '{"version": 1, "session_id": "../../escape"}',
    ],
)
def test_unreadable_state_starts_a_new_session(tree: Tree, state: str) -> None:
    tree.write("one")
    (tree.root / LOCAL).write_text(state)
    assert tree.sessions.known_shard() == ""
    assert tree.write("two").id == "sess_002"


def test_session_id_from_the_state_stays_inside_the_store(tree: Tree) -> None:
    tree.write("one")
    state = json.loads((tree.root / LOCAL).read_text())
    for session_id in ("../escape", "sess_/../x", "sess_..", "/etc", "sess_a\0b"):
        (tree.root / LOCAL).write_text(json.dumps(state | {"session_id": session_id}))
        assert tree.sessions.known_shard() == ""


def test_unwritable_state_does_not_fail_a_write(tree: Tree) -> None:
    (tree.root / LOCAL).mkdir(parents=True)
    assert tree.write("one").id == "sess_001"
    assert tree.write("two").id == "sess_002"


def test_session_outside_git_lasts_a_day(tree: Tree) -> None:
    ids = [tree.write("x", None, now).id for now in (NOW, NOW, LATER)]
    assert ids == ["sess_001", "sess_001", "sess_002"]


def test_ignored_store_counts_as_outside_git(tree: Tree) -> None:
    ignored = STATE._replace(ignored=True)
    moved = ignored._replace(head="b" * 40, reflog_size=7)
    assert [tree.write("x", state).id for state in (ignored, moved)] == ["sess_001", "sess_001"]


def test_copied_tree_gets_its_own_session(tree: Tree, tmp_path: Path) -> None:
    tree.write("one")
    copy = Tree(tmp_path / "copy", first=50)
    os.makedirs(copy.root)
    (tree.root / ".thunderus").rename(copy.root / ".thunderus")
    assert copy.write("two").id == "sess_050"


def test_used_session_id_is_not_reused(tree: Tree) -> None:
    (tree.root / ".thunderus/sessions/sess_001").mkdir(parents=True)
    assert tree.write("one").id == "sess_002"


def test_private_lines_share_the_session_in_their_own_shard(tree: Tree) -> None:
    for line in (b"private\n", b"more\n"):
        session = tree.current()
        assert (session.id, session.prev_line_hash) == ("sess_001", None)
        tree.opened().wrote(session, line, private=True)
    assert tree.write("shared").id == "sess_001"
    session = tree.current()
    tree.opened().wrote(session, b"private again\n", private=True)
    assert tree.current().prev_line_hash == line_hash(b"shared")


def test_git_is_queried_again_only_after_a_change(tmp_path: Path) -> None:
    repository = Repository(tmp_path / "tree", tmp_path / "home").init()
    tree = Tree(repository.root)
    git = Git.find(str(tree.root), repository.env)
    assert git is not None
    asked = tree.sessions.ask(git, MEMORY)
    assert tree.sessions.still_holds(git, asked)
    tree.write("another process began a session", asked)
    assert not tree.sessions.still_holds(git, asked)
    again = tree.sessions.ask(git, MEMORY)
    assert again is not None
    assert not again.shard_known
    repository.commit("Meanwhile")
    assert not tree.sessions.still_holds(git, again)
    moved = tree.sessions.ask(git, MEMORY)
    assert moved is not None
    assert (moved.shard_known, moved.head) == (True, repository.git("rev-parse", "HEAD"))
    assert tree.sessions.still_holds(None, None)


@pytest.mark.parametrize("refused", [10**6, 8, 3])
def test_command_waits_once_for_a_state_open_elsewhere(
    refused: int, tree: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Like Windows: the rename is denied this many times for each write."""
    slept: list[float] = []
    left = 0
    replace = os.replace

    def held(source: str, target: str, **options: Any) -> None:
        nonlocal left
        if left:
            left -= 1
            error = PermissionError(errno.EACCES, "another program has it open", target)
            error.winerror = 32  # type: ignore[attr-defined]
            raise error
        replace(source, target, **options)

    monkeypatch.setattr(os, "replace", held)
    monkeypatch.setattr(disk.time, "sleep", slept.append)
    for _ in range(2):
        command = tree.opened()
        session = command.current(STATE, NOW, tree.new_id)
        before = len(slept)
        for number in range(5):
            left = refused
            command.wrote(session, b"%d\n" % number)
        assert 0.07 < sum(slept[before:]) < 2.5
        left = 0
        command.wrote(session, b"last\n")
        assert command.last_written() == (session.id, line_hash(b"last"))
