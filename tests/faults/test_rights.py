"""E5: a read-only tree, an unreadable folder, files of another user."""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import tempfile
from typing import TYPE_CHECKING, Any

import pytest
import report
from commands import FURTHER, Command, call, named
from harness import Tally, copy
from judging import said_plainly
from tidying import EVERY

from tests.support.verify_store import verify

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.support.command_server import Done, Server

NOBODY = 65534
ROOT = hasattr(os, "geteuid") and os.geteuid() == 0
FACTS = ".thunderus/memory/semantic/FACTS"
READS = (
    ("search", "page rows"),
    ("list", "--ids"),
    ("show", "fact.limits"),
    ("status",),
    ("log",),
    ("why", "fact.limits"),
    ("log", "--all"),
    ("lint",),
    ("garden",),
    ("doctor",),
    ("index", "manifest", "--check"),
)
WRITES = tuple(command for command in (*EVERY, *FURTHER) if command.name not in ("init", "hook-run"))


@pytest.fixture
def folder() -> Iterator[str]:
    """A folder that other users may read."""
    place = tempfile.mkdtemp(prefix="rights-")
    os.chmod(place, 0o755)
    yield place
    for above, folders, _ in os.walk(place):
        for name in folders:
            with contextlib.suppress(OSError):
                os.chmod(os.path.join(above, name), 0o755)
    shutil.rmtree(place)


def _give(root: str, uid: int, *, files: int = 0o644, folders: int = 0o755) -> None:
    """Make everything below belong to a user, with these rights."""
    for above, _, names in os.walk(root):
        for path, mode in ((above, folders), *((os.path.join(above, name), files) for name in names)):
            if stat.S_ISREG(os.lstat(path).st_mode) or os.path.isdir(path):
                if ROOT:
                    os.chown(path, uid, uid)
                os.chmod(path, mode)


def _as_somebody(server: Server, root: str, words: tuple[str, ...], second: int = 0, **more: Any) -> Done:
    return call(server, root, words, f"2026-01-21T10:00:{second:02d}Z", uid=NOBODY if ROOT else None, **more)


def _snapshot(root: str) -> dict[str, bytes]:
    found = {}
    for above, _, names in os.walk(root):
        for name in names:
            with open(os.path.join(above, name), "rb") as stream:
                found[os.path.join(above, name)] = stream.read()
    return found


def _read_all(server: Server, root: str, tally: Tally) -> None:
    for words in READS:
        done = _as_somebody(server, root, words)
        said_plainly(done)
        assert done.code in (0, 1), (words, done)
        if words[0] in ("search", "list"):
            assert "fact.limits" in done.out, (words, done)
        tally.tried += 1


@pytest.mark.parametrize("command", WRITES, ids=lambda command: command.name)
def test_read_only_tree(command: Command, folder: str, server: Server) -> None:
    base, root = command.made(server, folder)
    tally = Tally()
    for owner in (0, NOBODY) if ROOT else (os.geteuid(),):
        copy(base, root)
        _give(root, owner, files=0o444, folders=0o555)
        before = _snapshot(root)
        if command is WRITES[0]:
            _read_all(server, root, tally)
        done = _as_somebody(server, root, command.arguments, stdin=command.stdin)
        said_plainly(done)
        # Commands that only write a projection work in memory; all others must fail.
        # A manifest that cannot be written is judged instead, and there is none here.
        assert done.code == {"index-rebuild": 0, "manifest": 1}.get(command.name, 4), done
        assert _snapshot(root) == before
        tally.tried += 1
        _give(root, 0 if ROOT else os.geteuid())
    report.add("E5", f"read-only {command.name}", **vars(tally))


@pytest.mark.parametrize("command", WRITES, ids=lambda command: command.name)
def test_unreadable_folder_loses_no_document(command: Command, folder: str, server: Server) -> None:
    base, root = command.made(server, folder)
    _give(copy(base, root), NOBODY)
    tally = Tally()
    listed = _as_somebody(server, root, ("list", "--ids"))
    assert "fact.limits" in listed.out
    for mode in (0o000, 0o111, 0o444):
        os.chmod(os.path.join(root, FACTS), mode)
        for words in (*READS[:6], command.arguments, ("index", "refresh"), ("list", "--ids")):
            done = _as_somebody(server, root, words, tally.tried % 60, stdin=command.stdin)
            said_plainly(done)
            assert done.code in (0, 1, 3, 4, 5, 6), (words, done)
            tally.tried += 1
        seen = _as_somebody(server, root, ("list", "--ids"))
        # The archive is in another folder, so the gardener may write there.
        leaves = {"garden-both": {"recap.2025-01-02"}}.get(command.name, set())
        assert set(listed.out.split()) - leaves <= set(seen.out.split()), (mode, seen)
        os.chmod(os.path.join(root, FACTS), 0o755)
        after = _as_somebody(server, root, ("list", "--ids"))
        gone = set(listed.out.split()) - set(after.out.split())
        # Unreadable documents are not recorded as removed.
        assert gone <= ({"fact.retries"} if command.name == "remove" else leaves), (mode, after)
    assert verify(root) == []
    report.add("E5", f"unreadable {command.name}", **vars(tally))


WAITING = tuple(
    command
    for command in WRITES
    if command.name in ("add", "edit", "remove", "rename", "supersede", "link", "undo", "lint-fix")
)


@pytest.mark.parametrize("then", ["undo", "note"])
@pytest.mark.parametrize("command", WAITING, ids=lambda command: command.name)
def test_change_waits_for_a_folder_that_is_not_writable(
    command: Command, then: str, folder: str, server: Server
) -> None:
    """The change is logged; `undo` takes it back unwritten, else the next write completes it."""
    base, root = command.made(server, folder)
    _give(copy(base, root), NOBODY)
    tally = Tally()

    def run(*words: str) -> Done:
        tally.tried += 1
        return _as_somebody(server, root, words, tally.tried, stdin=command.stdin)

    old = _documents(root)
    os.chmod(os.path.join(root, FACTS), 0o555)
    done = run(*command.arguments)
    said_plainly(done)
    assert done.code == 6, done
    seen = run("status", "--json").json
    assert (seen["pending"], seen["unrecorded"]) == (1, []), seen
    event = run("--json", "log", "--all", "-n", "1").json["events"][0]["id"]
    if then == "undo":
        undone = run("undo", event)
        said_plainly(undone)
        assert undone.code == 0, undone
    assert run("events", "add", "--kind", "note", "--body", "still read-only").code == 0
    os.chmod(os.path.join(root, FACTS), 0o755)
    assert run("events", "add", "--kind", "note", "--body", "writable again").code == 0
    assert (_documents(root) == old) is (then == "undo")
    assert run("events", "replay", "--check").code == 0
    assert verify(root, settled=True) == []
    report.add("E5", f"waiting {command.name} {then}", **vars(tally))


def _documents(root: str) -> dict[str, bytes]:
    memory = os.path.join(root, ".thunderus", "memory")
    return {path: data for path, data in _snapshot(memory).items() if path.endswith(".md")}


def test_files_of_another_user_are_read(folder: str, server: Server) -> None:
    if not ROOT:
        pytest.skip("only root may give files away")
    base, root = named("add").made(server, folder)
    tally = Tally()
    _give(copy(base, root), 12345)
    _read_all(server, root, tally)
    done = _as_somebody(server, root, named("add").arguments)
    said_plainly(done)
    assert done.code == 4, done
    report.add("E5", "foreign", **vars(tally))
