"""K3: writers, garden, rebuilds, a watcher, readers, an editor and two branches at once."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import report
from commands import FACTS, twice
from hands import PROJECT, Hand, Said, hands, together
from tier import points

from tests.conftest import sealed_environment
from tests.support.verify_store import parse_line, verify

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

SECONDS = int(os.environ.get("K3_SECONDS", "0")) or points(8, 600)
CODES = {0, 3, 4, 6, 75}
"""Success; text changed; document on the other branch; not published yet; another writer."""


@dataclass
class Diary:
    """Everything that was acknowledged."""

    root: Path
    said: list[Said] = field(default_factory=list)
    events: dict[str, str] = field(default_factory=dict)
    documents: dict[str, str] = field(default_factory=dict)
    typed: set[str] = field(default_factory=set)
    until: float = 0.0

    def goes_on(self, pause: float) -> bool:
        """Whether there is time left, after a pause."""
        time.sleep(pause)
        return time.monotonic() < self.until

    def note(self, said: Said) -> Said:
        self.said.append(said)
        return said


def git(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True, check=False)


def writer(diary: Diary, hand: Hand, name: int) -> Callable[[], None]:
    """Adds documents, edits its own, writes notes; remembers what was acknowledged."""
    chance = random.Random(name)

    def work() -> None:
        turn, mine = 0, list[str]()
        while diary.goes_on(0.1):
            turn += 1
            title = f"Of {name}, turn {turn}"
            choices: list[tuple[str, ...]] = [
                ("add", "fact", title, "--tag", "k3", "--body", f"{title}: words.")
            ]
            if mine:
                choices.append(("edit", chance.choice(mine), "--body", f"Edited by {name} in turn {turn}."))
            choices.append(("events", "add", "--kind", "note", "--body", f"Note {turn} of {name}."))
            said = diary.note(hand.run("--json", *chance.choice(choices)))
            if said.code in (0, 6):
                assert said.out, said
                result = said.json
                event = result["event_id"] if "event_id" in result else result["added"][0]
                diary.events[event] = said.arguments[1]
                if said.arguments[1] == "add":
                    mine.append(result["id"])
                    diary.documents[result["id"]] = result["path"]

    return work


def repeat(diary: Diary, hand: Hand, pause: float, *commands: tuple[str, ...]) -> Callable[[], None]:
    """The same commands again and again."""

    def work() -> None:
        turn = 0
        while diary.goes_on(pause):
            diary.note(hand.run(*commands[turn % len(commands)]))
            turn += 1

    return work


def typist(diary: Diary) -> Callable[[], None]:
    """Saves its own document by rename, as editors do."""

    def work() -> None:
        turn = 0
        while diary.goes_on(0.25):
            turn += 1
            path = diary.root / FACTS / "mine.md"
            aside = path.with_name(".mine.md.swp")
            text = twice("mine", f"Typed by hand, version {turn}.")
            aside.write_text(text)
            diary.typed.add(text)
            os.replace(aside, path)

    return work


def brancher(diary: Diary) -> Callable[[], None]:
    """Commits everything and switches to the other branch; sometimes leaves two equal documents there."""

    def work() -> None:
        turn = 0
        while diary.goes_on(0.7):
            turn += 1
            if turn % 2:
                for letter in "ab":
                    text = twice(
                        f"same-{letter}-{turn}", f"The exporter {turn} waits thirty seconds for a page."
                    )
                    (diary.root / FACTS / f"same-{letter}-{turn}.md").write_text(text)
            git(diary.root, "add", "-A")
            git(diary.root, "commit", "-qm", f"Turn {turn}")
            branch = git(diary.root, "symbolic-ref", "--short", "HEAD").stdout.strip()
            git(diary.root, "checkout", "-q", "other" if branch == "main" else "main")

    return work


def test_concurrent_mixed_use_loses_nothing(repo: Path, sealed: Path) -> None:
    plain = {k: v for k, v in sealed_environment(sealed).items() if not k.startswith("THUNDERUS_MEM_")}
    plain["THUNDERUS_MEM_WRITE_LOCK_TIMEOUT"] = "60"
    diary = Diary(repo)
    with hands(8, str(repo), plain) as team:
        assert team[0].run("init").code == 0
        assert team[0].run("add", "fact", "Begun", "--tag", "k3", "--body", "The beginning.").code == 0
        begun = twice("mine", "Typed by hand, version 0.")
        (repo / FACTS / "mine.md").write_text(begun)
        for words in (["add", "-A"], ["commit", "-qm", "Begin"], ["branch", "other"]):
            assert git(repo, *words).returncode == 0
        watcher = subprocess.Popen(
            [sys.executable, "-m", "thunderus_mem", "watch"],
            cwd=repo,
            env=plain | {"PYTHONPATH": PROJECT},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        heard = _reader_of(watcher)
        diary.until = time.monotonic() + SECONDS
        try:
            together(
                [
                    *(writer(diary, hand, name) for name, hand in enumerate(team[:4])),
                    repeat(diary, team[4], 0.3, ("garden", "--apply")),
                    repeat(diary, team[5], 0.4, ("index", "rebuild")),
                    repeat(diary, team[6], 0.05, ("search", "turn words"), ("list",), ("status",)),
                    repeat(diary, team[7], 0.05, ("search", "exporter"), ("show", "fact.mine"), ("log",)),
                    typist(diary),
                    brancher(diary),
                ]
            )
        finally:
            code = _ended(watcher)
        lost = _missing(diary, team[0])
    report.add(
        "K3",
        f"{SECONDS} s",
        tried=len(diary.said),
        lost=len(lost),
        slowest=max(said.seconds for said in diary.said),
    )
    _nothing_went_wrong(diary, "".join(heard), code)
    assert lost == []
    assert (repo / FACTS / "mine.md").read_text() in diary.typed | {begun}


def _reader_of(process: subprocess.Popen[str]) -> list[str]:
    """The output of a process, read while it runs."""
    lines: list[str] = []
    stream = process.stdout
    assert stream is not None
    threading.Thread(target=lambda: lines.extend(stream), daemon=True).start()
    return lines


def _ended(process: subprocess.Popen[str]) -> int:
    """Interrupt it with SIGINT; return its exit code."""
    process.send_signal(signal.SIGINT)
    try:
        return process.wait(20)
    finally:
        process.kill()
        process.wait()


def _nothing_went_wrong(diary: Diary, heard: str, code: int) -> None:
    for said in diary.said:
        assert said.code in CODES, said
        assert "Traceback" not in said.err, said
        assert "database is locked" not in said.out + said.err, said
    busy = [said for said in diary.said if said.code == 75]
    assert len(busy) <= len(diary.said) // 20, busy
    assert "Traceback" not in heard, heard
    assert "database is locked" not in heard, heard
    assert code in (0, 130), heard


def _missing(diary: Diary, hand: Hand) -> list[str]:
    """What was acknowledged but is on neither branch. Each branch is checked out to read it."""
    root = diary.root
    git(root, "add", "-A")
    git(root, "commit", "-qm", "The end")
    events: set[str] = set()
    documents: set[str] = set()
    for branch in ("main", "other"):
        moved = git(root, "checkout", "-q", branch)
        assert moved.returncode == 0, moved
        for words in (
            ("events", "verify"),
            ("events", "add", "--kind", "note", "--body", "Seen."),
            ("index", "verify"),
            ("index", "manifest", "--check"),
        ):
            said = hand.run(*words)
            assert said.code == 0, f"{said.out}\n{said.err}"
        assert verify(str(root)) == []
        events |= {event["id"] for event in _events_below(root)}
        documents |= {path.name for path in (root / FACTS).glob("*.md")}
        git(root, "add", "-A")
        git(root, "commit", "-qm", f"Seen on {branch}")
    lost = [f"{event} ({what})" for event, what in diary.events.items() if event not in events]
    return lost + [one for one, path in diary.documents.items() if os.path.basename(path) not in documents]


def _events_below(root: Path) -> list[dict[str, Any]]:
    found = []
    for shard in (root / ".thunderus").rglob("events.jsonl"):
        found += [parse_line(line) for line in shard.read_bytes().splitlines()]
    return json.loads(json.dumps(found))
