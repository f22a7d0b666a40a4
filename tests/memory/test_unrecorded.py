"""Edits made outside the tool: what the next write records, and what it leaves to git."""

from __future__ import annotations

import os
import random
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.support.events import note
from thunderus_mem.authoring import add, edit, init
from thunderus_mem.authoring.add import NewDocument
from thunderus_mem.authoring.edit import DocumentEdits
from thunderus_mem.document.diff import apply_diff, unified_diff
from thunderus_mem.document.document import content_hash
from thunderus_mem.history.log import log_findings
from thunderus_mem.log.event import Change, changes_of, is_hand_edit
from thunderus_mem.memory.memory import Memory, open_memory

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.support.command_server import Done

ALPHA = ".thunderus/memory/semantic/FACTS/alpha.md"


def ticking() -> Iterator[datetime]:
    moment = datetime(2026, 1, 21, 9, tzinfo=UTC)
    while True:
        yield moment
        moment += timedelta(seconds=1)


@pytest.fixture(params=["git", "plain"])
def memory(request: pytest.FixtureRequest, tmp_path: Path) -> Memory:
    if request.param == "git":
        git(tmp_path, "init", "-q")
    clock, chance = ticking(), random.Random(7)

    def opened() -> Memory:
        return open_memory(
            str(tmp_path),
            environ={**os.environ, "THUNDERUS_MEM_EVENTS_ORIGIN": "false"},
            now=lambda: next(clock),
            random_bits=chance.getrandbits,
        )

    init.init(str(tmp_path), opened)
    made = opened()
    add.add(made, NewDocument("fact", "Alpha", body="One line.", tags=["a"]))
    return made


def git(folder: Path, *arguments: str) -> None:
    subprocess.run(["git", *arguments], cwd=folder, check=True)


def recorded(memory: Memory) -> list[Change]:
    events = [entry.event for entry in memory.log.read_all().events]
    return [change for event in events if is_hand_edit(event) for change in changes_of(event)]


def alpha(memory: Memory) -> str:
    return os.path.join(memory.root, ALPHA)


def test_hand_edit_is_recorded_once_with_its_diff(memory: Memory) -> None:
    with open(alpha(memory), "a", encoding="utf-8") as file:
        file.write("By hand.\n")

    first = note(memory, "one")
    note(memory, "two")

    (change,) = recorded(memory)
    assert (change.op, change.doc_id) == ("update", "fact.alpha")
    assert change.diff is not None
    assert "+By hand." in change.diff
    assert first


def test_second_hand_edit_is_recorded_from_the_first(memory: Memory) -> None:
    for line in ("first", "second"):
        with open(alpha(memory), "a", encoding="utf-8") as file:
            file.write(f"By hand, {line}.\n")
        note(memory, line)

    one, two = recorded(memory)
    assert one.after == two.before
    assert two.diff is not None
    assert "+By hand, second." in two.diff


def test_removal_by_hand_of_an_uncommitted_file_is_recorded(memory: Memory) -> None:
    os.unlink(alpha(memory))

    note(memory, "gone")
    note(memory, "still gone")

    (change,) = recorded(memory)
    assert (change.op, change.doc_id, change.after) == ("remove", "fact.alpha", "")


def test_file_created_by_hand_is_recorded_as_created(memory: Memory) -> None:
    with open(alpha(memory), encoding="utf-8") as file:
        text = file.read()
    with open(alpha(memory).replace("alpha", "beta"), "w", encoding="utf-8") as file:
        file.write(text.replace("fact.alpha", "fact.beta").replace("One", "Another"))

    note(memory, "copied")

    (change,) = recorded(memory)
    assert (change.op, change.doc_id, change.before) == ("create", "fact.beta", "")


def test_committed_edit_is_not_logged_again(tmp_path: Path, memory: Memory) -> None:
    if memory.git is None:
        git(tmp_path, "init", "-q")
        memory = open_memory(str(tmp_path))
    with open(alpha(memory), "a", encoding="utf-8") as file:
        file.write("By hand.\n")
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-qm", "by hand")
    git(tmp_path, "rm", "-q", ALPHA)
    git(tmp_path, "commit", "-qm", "gone")

    note(memory, "after")

    assert recorded(memory) == []


def test_secret_added_by_hand_is_not_logged(memory: Memory) -> None:
    token = "ghp_" + "a8Kd02mXq7LrT5vW9zYc3BnHf6JsPe1UgQ4i"
    with open(alpha(memory), "a", encoding="utf-8") as file:
        file.write(f"{token}\n")

    note(memory, "oops")

    (change,) = recorded(memory)
    assert (change.diff, change.diff_omitted) == (None, True)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("", "one\ntwo\n"),
        ("one\ntwo\n", ""),
        ("one\ntwo", "one\ntwo\n"),
        ("a\nb\nc\nd\ne\nf\ng\nh\ni\nj\n", "a\nB\nc\nd\ne\nf\ng\nh\nI\nj\nk"),
        ("--- a\n+++ b\n@@ x\n", "--- a\n+++ c\n@@ x\n"),
    ],
)
def test_diff_applies_to_its_old_text(old: str, new: str) -> None:
    diff = unified_diff(old or None, new or None, "x.md")

    assert diff is not None
    assert apply_diff(old, diff) == new
    assert apply_diff(old + "other\n", diff) != new


def test_edit_after_a_committed_edit_is_recorded_from_the_commit(memory: Memory) -> None:
    if memory.git is None:
        return
    git(Path(memory.root), "add", "-A")
    git(Path(memory.root), "commit", "-q", "-m", "Begin")
    for line in ("Committed.\n", "Not yet.\n"):
        with open(alpha(memory), "a", encoding="utf-8") as file:
            file.write(line)
        if line == "Committed.\n":
            git(Path(memory.root), "commit", "-q", "-a", "-m", "By hand")
            base = content_hash(Path(alpha(memory)).read_bytes())

    note(memory, "one")

    (change,) = recorded(memory)
    assert change.before == base
    assert "+Not yet." in (change.diff or "")
    assert "+Committed." not in (change.diff or "")


def test_edit_after_a_tool_write_is_recorded_from_that_write(memory: Memory) -> None:
    if memory.git is None:
        return
    git(Path(memory.root), "add", "-A")
    git(Path(memory.root), "commit", "-q", "-m", "Begin")
    with open(alpha(memory), "a", encoding="utf-8") as file:
        file.write("Committed.\n")
    git(Path(memory.root), "commit", "-q", "-a", "-m", "By hand")
    text = Path(alpha(memory)).read_text(encoding="utf-8")
    edit.edit(memory, "fact.alpha", DocumentEdits(text=text + "By the tool.\n"))
    base = content_hash(Path(alpha(memory)).read_bytes())
    with open(alpha(memory), "a", encoding="utf-8") as file:
        file.write("By hand again.\n")

    note(memory, "one")

    (change,) = recorded(memory)
    assert change.before == base


def test_two_new_files_with_one_text_are_two_events(memory: Memory) -> None:
    with open(alpha(memory), encoding="utf-8") as file:
        text = file.read().replace("fact.alpha", "fact.beta")
    for name in ("beta", "gamma"):
        with open(alpha(memory).replace("alpha", name), "w", encoding="utf-8") as file:
            file.write(text)

    note(memory, "copied twice")

    assert [os.path.basename(change.path) for change in recorded(memory)] == ["beta.md", "gamma.md"]
    assert list(log_findings(memory)) == []


def test_file_whose_name_may_contain_a_secret_is_reported_as_not_logged(
    repo: Path, run: Callable[..., Done]
) -> None:
    run("init")
    key = "gh" + "p_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    folder = repo / ".thunderus/memory/semantic/FACTS"
    run("add", "fact", "Plain", "--body", "Text.", "--tag", "x")
    text = (folder / "plain.md").read_text().replace("fact.plain", "fact.key")
    (folder / f"{key}.md").write_text(text)
    said = run("events", "record").err
    assert "Nothing to record" in said
    assert "are not logged: its name may contain a secret; rename it\n" in said
    assert key not in said
    status = run("status")
    assert "1 whose name may contain a secret; rename it" in " ".join(status.out.split())
    assert "Next: thunderus-mem lint" in status.out
    assert run("status", "--json").json["not_logged"]
