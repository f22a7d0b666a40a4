"""The watcher on real folders, with saves as editors and git make them."""

from __future__ import annotations

import errno
import io
import json
import os
import queue
import re
import shutil
import subprocess
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.lint.test_check import change, run, store
from thunderus_mem import watch as watch_module
from thunderus_mem.cli.app import run as main
from thunderus_mem.cli.commands.lint import _turn
from thunderus_mem.cli.console import Console
from thunderus_mem.cli.output import envelope
from thunderus_mem.diagnostic import Diagnostic, Severity
from thunderus_mem.errors import Busy
from thunderus_mem.git.repository import Git
from thunderus_mem.memory.memory import open_memory
from thunderus_mem.watch import (
    LONGEST,
    QUIET,
    Debounce,
    WatchedMemory,
    WatchTurn,
    compare,
    git_operation,
    watch,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["run", "store"]

PATIENCE = 8.0
FACTS = ".thunderus/memory/semantic/FACTS"


class Folder:
    """A folder with documents, with the interface that the watcher needs."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.store = str(root / ".thunderus")
        self.refreshed = 0
        self.busy = 0
        self.git: Git | None = None
        self.code: list[str] = []
        self.watched: set[str] = set()
        self.glob = ""

    def git_operation(self) -> str:
        return git_operation(self.git, 0.0)

    def stamps(self) -> dict[str, object]:
        return self.document_stamps() | self.code_stamps()

    def document_stamps(self) -> dict[str, object]:
        found: dict[str, object] = {}
        for path in (self.root / ".thunderus/memory").rglob("*.md"):
            try:
                state = path.stat()
            except FileNotFoundError:
                continue
            found[path.relative_to(self.root).as_posix()] = (state.st_mtime_ns, state.st_size, state.st_ino)
        return found

    def code_stamps(self) -> dict[str, object]:
        globbed = {path.name for path in self.root.glob(self.glob)} if self.glob else set()
        files = [self.root / name for name in self.watched | globbed]
        return {code.name: code.read_bytes() if code.exists() else None for code in files}

    def is_indexed(self) -> bool:
        return (self.root / ".thunderus/memory/indexes/memory.db").exists()

    def refresh(self) -> None:
        if self.busy:
            self.busy -= 1
            raise Busy("Another process holds the lock.")
        self.refreshed += 1
        self.watched = self.watched or set(self.code)
        indexes = self.root / ".thunderus/memory/indexes"
        indexes.mkdir(parents=True, exist_ok=True)
        (indexes / "memory.db").write_text(str(self.refreshed))

    def lint(self, paths: tuple[str, ...]) -> list[Diagnostic]:
        return [
            Diagnostic("TM110", Severity.WARNING, path, 1, 1, "empty")
            for path in paths
            if path in self.code or ((self.root / path).exists() and not (self.root / path).read_text())
        ]


class Watching:
    """A watcher on its own thread, with its messages and reports."""

    def __init__(self, folder: Folder, **options: object) -> None:
        self.turns: queue.Queue[WatchTurn] = queue.Queue()
        self.said: list[str] = []
        self.stop = threading.Event()
        self.begun = threading.Event()
        self.thread = threading.Thread(target=self._run, args=(folder,), kwargs=options, daemon=True)
        self.thread.start()
        assert self.begun.wait(PATIENCE)

    def _run(self, folder: Folder, **options: object) -> None:
        watch(folder, self.turns.put, self._say, self.stop, every=0.1, **options)  # type: ignore[arg-type]

    def _say(self, text: str) -> None:
        self.said.append(text)
        if text.startswith("Watching"):
            self.begun.set()

    def until_said(self, text: str) -> None:
        """Wait for a message."""
        deadline = time.monotonic() + PATIENCE
        while text not in self.said and time.monotonic() < deadline:
            self.stop.wait(0.02)
        assert text in self.said

    def until(self, enough: Callable[[set[str], set[str]], bool]) -> tuple[set[str], set[str]]:
        """Collect turns until paths seen (added or modified) and removed are ``enough``."""
        seen: set[str] = set()
        removed: set[str] = set()
        while not enough(seen, removed):
            turn = self.turns.get(timeout=PATIENCE)
            seen.update(turn.added, turn.modified)
            removed.update(turn.removed)
        return seen, removed


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    (tmp_path / FACTS).mkdir(parents=True)
    return Folder(tmp_path)


@pytest.fixture(params=[False, True], ids=["watched", "polled"])
def watching(folder: Folder, request: pytest.FixtureRequest) -> Iterator[Watching]:
    it = Watching(folder, poll=request.param)
    yield it
    it.stop.set()
    it.thread.join(PATIENCE)
    assert not it.thread.is_alive()


def test_new_file_is_refreshed_and_linted(folder: Folder, watching: Watching) -> None:
    (folder.root / FACTS / "a.md").write_text("")
    turn = watching.turns.get(timeout=PATIENCE)
    assert turn.added == (f"{FACTS}/a.md",)
    assert [found.rule for found in turn.diagnostics] == ["TM110"]
    assert folder.refreshed >= 2


def test_save_by_temporary_file_and_rename_is_detected(folder: Folder, watching: Watching) -> None:
    target = folder.root / FACTS / "a.md"
    target.write_text("one")
    watching.until(lambda seen, removed: f"{FACTS}/a.md" in seen)
    temporary = target.with_name(".a.md.swp")
    temporary.write_text("two!")
    os.replace(temporary, target)
    turn = watching.turns.get(timeout=PATIENCE)
    assert turn.modified == (f"{FACTS}/a.md",)
    assert (turn.added, turn.removed) == ((), ())


def test_save_that_renames_the_old_file_ends_with_the_new_one(folder: Folder, watching: Watching) -> None:
    target = folder.root / FACTS / "a.md"
    target.write_text("one")
    watching.until(lambda seen, removed: f"{FACTS}/a.md" in seen)
    os.rename(target, f"{target}~")
    target.write_text("two!")
    os.unlink(f"{target}~")
    seen, _ = watching.until(lambda seen, removed: f"{FACTS}/a.md" in seen)
    assert seen == {f"{FACTS}/a.md"}


@pytest.mark.skipif(shutil.which("vim") is None, reason="no vim here")
def test_vim_save_is_detected(folder: Folder) -> None:
    target = folder.root / FACTS / "a.md"
    target.write_text("one\n")
    it = Watching(folder)
    subprocess.run(
        [
            "vim",
            "-u",
            "NONE",
            "-i",
            "NONE",
            "-es",
            "-c",
            "set backup backupcopy=no",
            "-c",
            "normal Atwo",
            "-c",
            "wq",
            str(target),
        ],
        check=False,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        env={"PATH": os.environ["PATH"], "HOME": str(folder.root), "TERM": "dumb"},
    )
    assert target.read_text() == "onetwo\n"
    seen, _ = it.until(lambda seen, removed: f"{FACTS}/a.md" in seen)
    assert seen == {f"{FACTS}/a.md"}
    it.stop.set()
    it.thread.join(PATIENCE)


def test_two_hundred_files_are_reported_in_few_turns(folder: Folder, watching: Watching) -> None:
    for number in range(200):
        (folder.root / FACTS / f"{number}.md").write_text("x")
    seen: set[str] = set()
    turns = 0
    while len(seen) < 200:
        turn = watching.turns.get(timeout=PATIENCE)
        seen.update(turn.added, turn.modified)
        turns += 1
    assert turns <= 10


def test_renamed_and_removed_folders_are_detected(folder: Folder, watching: Watching) -> None:
    (folder.root / FACTS / "deep").mkdir()
    (folder.root / FACTS / "deep/a.md").write_text("x")
    watching.until(lambda seen, removed: f"{FACTS}/deep/a.md" in seen)
    os.rename(folder.root / FACTS / "deep", folder.root / FACTS / "other")
    watching.until(lambda seen, removed: f"{FACTS}/other/a.md" in seen and f"{FACTS}/deep/a.md" in removed)
    shutil.rmtree(folder.root / FACTS / "other")
    watching.until(lambda seen, removed: f"{FACTS}/other/a.md" in removed)


def test_recreated_store_is_watched_again(folder: Folder, watching: Watching) -> None:
    (folder.root / FACTS / "a.md").write_text("x")
    watching.until(lambda seen, removed: f"{FACTS}/a.md" in seen)
    os.rename(folder.root / ".thunderus", folder.root / "away")
    shutil.copytree(folder.root / "away", folder.root / "copy")
    os.rename(folder.root / "copy", folder.root / ".thunderus")
    (folder.root / FACTS / "b.md").write_text("x")
    watching.until(lambda seen, removed: f"{FACTS}/b.md" in seen)
    (folder.root / FACTS / "c.md").write_text("x")
    watching.until(lambda seen, removed: f"{FACTS}/c.md" in seen)


def test_writing_the_index_triggers_no_scan(folder: Folder) -> None:
    it = Watching(folder)
    (folder.root / FACTS / "a.md").write_text("x")
    it.until(lambda seen, removed: f"{FACTS}/a.md" in seen)
    refreshed = folder.refreshed
    (folder.root / ".thunderus/memory/indexes/memory.db").write_text("by another process")
    (folder.root / FACTS / "b.md").write_text("x")
    it.until(lambda seen, removed: f"{FACTS}/b.md" in seen)
    assert folder.refreshed == refreshed + 1
    it.stop.set()
    it.thread.join(PATIENCE)


def test_busy_store_is_retried(folder: Folder) -> None:
    it = Watching(folder)
    folder.busy = 1
    (folder.root / FACTS / "a.md").write_text("x")
    it.until(lambda seen, removed: f"{FACTS}/a.md" in seen)
    assert any("Another process holds the lock" in text for text in it.said)
    it.stop.set()
    it.thread.join(PATIENCE)


class NoWatchesLeft:
    """An observer on a system without free watches."""

    def __init__(self, code: int) -> None:
        self.code = code

    def schedule(self, *arguments: object, **options: object) -> None:
        """Accept; the limit is reached when the thread starts."""

    def start(self) -> None:
        raise OSError(self.code, os.strerror(self.code))

    def unschedule_all(self) -> None:
        """Do nothing."""

    def is_alive(self) -> bool:
        return False


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EMFILE])
def test_without_watches_falls_back_to_polling_with_one_message(folder: Folder, code: int) -> None:
    it = Watching(folder, observer_factory=lambda: NoWatchesLeft(code))
    for name in ("a.md", "b.md"):
        (folder.root / FACTS / name).write_text("x")
        it.until(lambda seen, removed, name=name: f"{FACTS}/{name}" in seen)  # type: ignore[misc]
    assert len([text for text in it.said if "cannot watch" in text]) == 1
    it.stop.set()
    it.thread.join(PATIENCE)


class Deaf:
    """An observer that runs without events, as the library's may after a folder was replaced."""

    emitters = ()

    def schedule(self, *arguments: object, **options: object) -> None:
        """Accepted."""

    def start(self) -> None:
        """Running."""

    def unschedule_all(self) -> None:
        """Do nothing."""

    def is_alive(self) -> bool:
        return True

    def stop(self) -> None:
        """No events."""

    def join(self, timeout: float) -> None:
        """Nothing to wait for."""


def test_changes_without_events_are_detected(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch_module, "SAFETY", 0.3)
    it = Watching(folder, observer_factory=Deaf)
    for name in ("a.md", "b.md"):
        (folder.root / FACTS / name).write_text("x")
        it.until(lambda seen, removed, name=name: f"{FACTS}/{name}" in seen)  # type: ignore[misc]
    assert not any("cannot watch" in text for text in it.said)
    it.stop.set()
    it.thread.join(PATIENCE)


def test_changed_and_deleted_code_is_linted(folder: Folder) -> None:
    folder.code = ["a.py"]
    (folder.root / "a.py").write_text("one")
    it = Watching(folder, poll=True)
    (folder.root / "a.py").write_text("two")
    turn = it.turns.get(timeout=PATIENCE)
    assert (turn.added, turn.modified, turn.removed) == ((), ("a.py",), ())
    assert [one.path for one in turn.diagnostics] == ["a.py"]
    (folder.root / "a.py").unlink()
    turn = it.turns.get(timeout=PATIENCE)
    assert (turn.modified, turn.removed, len(turn.diagnostics)) == ((), ("a.py",), 1)
    it.stop.set()
    it.thread.join(PATIENCE)


def test_new_code_is_linted_and_new_anchors_are_no_change(folder: Folder) -> None:
    folder.glob = "*.py"
    (folder.root / "a.py").write_text("one")
    it = Watching(folder, poll=True)
    (folder.root / "b.py").write_text("two")
    turn = it.turns.get(timeout=PATIENCE)
    assert (turn.added, turn.modified, turn.removed) == (("b.py",), (), ())
    (folder.root / "a.py").unlink()
    turn = it.turns.get(timeout=PATIENCE)
    assert (turn.added, turn.modified, turn.removed) == ((), (), ("a.py",))
    (folder.root / "c.txt").write_text("three")
    folder.code = ["c.txt"]
    (folder.root / FACTS / "new.md").write_text("x")
    turn = it.turns.get(timeout=PATIENCE)
    assert (turn.added, turn.modified, turn.removed) == ((f"{FACTS}/new.md",), (), ())
    (folder.root / "c.txt").write_text("four")
    turn = it.turns.get(timeout=PATIENCE)
    assert (turn.added, turn.modified, turn.removed) == ((), ("c.txt",), ())
    it.stop.set()
    it.thread.join(PATIENCE)


def test_deleted_index_is_rebuilt(folder: Folder) -> None:
    it = Watching(folder, poll=True)
    assert folder.refreshed == 1
    shutil.rmtree(folder.root / ".thunderus/memory/indexes")
    it.until_said("Rebuilt the index, which was deleted")
    assert folder.is_indexed()
    it.stop.set()
    it.thread.join(PATIENCE)
    assert it.turns.empty()


def test_documents_anchored_to_changed_code_are_reported(store: Path) -> None:
    watched = WatchedMemory(lambda: open_memory(str(store)))
    watched.refresh()
    before = watched.stamps()
    assert {path for path in before if path.endswith(".py")} == {"src/god.py", "src/jwt.py"}
    assert watched.lint(("src/jwt.py",)) == ()
    change(store, "src/jwt.py", "ttl=3600", "ttl=60")
    assert compare(before, watched.stamps())[1] == ("src/jwt.py",)
    assert [(one.rule, one.doc_id) for one in watched.lint(("src/jwt.py",))] == [("TM701", "fact.tokens")]
    (store / "src/jwt.py").unlink()
    assert watched.stamps()["src/jwt.py"] is None
    assert [one.rule for one in watched.lint(("src/jwt.py",))] == ["TM702"]
    assert watched.is_indexed()


def test_json_is_one_line_for_each_turn() -> None:
    finding = Diagnostic("TM110", Severity.WARNING, "a.md", 1, 1, "empty\ntext")
    line = envelope("watch", WatchTurn(("a.md",), (), (), (finding,)))
    assert "\n" not in line
    assert json.loads(line)["added"] == ["a.md"]


def test_watch_waits_during_a_git_merge(folder: Folder) -> None:
    subprocess.run(["git", "init", "-q"], cwd=folder.root, check=True)
    folder.git = Git.find(str(folder.root))
    (folder.root / ".git/MERGE_HEAD").write_text("0" * 40)
    it = Watching(folder)
    (folder.root / FACTS / "a.md").write_text("x")
    with pytest.raises(queue.Empty):
        it.turns.get(timeout=1.0)
    (folder.root / ".git/MERGE_HEAD").unlink()
    it.until(lambda seen, removed: f"{FACTS}/a.md" in seen)
    assert [text for text in it.said if "git merge" in text] == ["Waiting for the git merge to finish"]
    it.stop.set()
    it.thread.join(PATIENCE)


def test_recent_index_lock_counts_and_an_old_one_does_not(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    git = Git.find(str(tmp_path))
    lock = tmp_path / ".git/index.lock"
    lock.write_text("")
    made = lock.stat().st_mtime
    assert git_operation(git, made + 1) == "index.lock"
    assert git_operation(git, made + 60) == ""
    assert git_operation(None, made) == ""


@settings(deadline=None, max_examples=50, derandomize=True)
@given(st.lists(st.floats(min_value=0.0, max_value=1.0), min_size=1, max_size=20))
def test_scan_follows_a_quiet_moment_within_the_longest_wait(gaps: list[float]) -> None:
    bell = Debounce()
    now = 100.0
    bell.add(now)
    for gap in gaps:
        wait = bell.wait(now)
        assert wait is not None
        assert wait <= QUIET
        assert now + wait <= 100.0 + LONGEST + 1e-9
        if wait <= gap:
            break
        now += gap
        bell.add(now)
    bell.clear()
    assert bell.wait(now) is None


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ("", (False, 0.3, 2.0)),
        ("quiet_ms = 50\nlongest_ms = 700\npoll = true\n", (True, 0.05, 0.7)),
    ],
)
def test_command_uses_the_configured_delays(
    lines: str,
    expected: tuple[bool, float, float],
    repo: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(repo)
    assert main(["--quiet", "init"]) == 0
    (repo / ".thunderus" / "config.toml").write_text(f"[watch]\n{lines}")
    begun: list[tuple[bool, float, float]] = []

    def begin(*_: object, poll: bool, debounce: Debounce, **__: object) -> None:
        begun.append((poll, debounce.quiet, debounce.longest))

    monkeypatch.setattr("thunderus_mem.watch.watch", begin)
    assert main(["watch"]) == 0
    assert begun == [expected]


def test_comparing_two_scans_lists_added_changed_and_removed() -> None:
    assert compare({"a": 1, "b": 1, "c": 1}, {"b": 2, "c": 1, "d": 1}) == (("d",), ("b",), ("a",))


def test_documented_problem_matcher_reads_the_output() -> None:
    page = (Path(__file__).resolve().parents[2] / "docs/guide/linting.md").read_text()
    task = json.loads(page.partition("```json\n")[2].partition("```")[0])["tasks"][0]
    matcher = task["problemMatcher"]
    ones = tuple(
        Diagnostic("TM110", severity, "a b.md", 3, 1, "Empty: body", doc_id=severity) for severity in Severity
    )
    for found in ((), ones[:1], ones):
        turn = WatchTurn((), ("a b.md",), (), found)
        begin, *lines, end = _turn(turn, Console(io.StringIO(), io.StringIO(), {})).splitlines()
        assert re.search(matcher["background"]["beginsPattern"], begin)
        assert re.search(matcher["background"]["endsPattern"], end)
        read = [re.fullmatch(matcher["pattern"]["regexp"], line) for line in lines]
        fields = [(one[1], one[2], one[4], one[5], one[6]) for one in read if one is not None]
        wanted = [("a b.md", "3", str(one.severity), "TM110", "Empty: body") for one in found]
        assert sorted(fields) == sorted(wanted)
