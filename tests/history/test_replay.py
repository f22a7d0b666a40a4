"""Replay: every text on disk is in the log or in git, whatever git did; others are reported."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from tests.support.events import patch_event
from tests.support.random_history import NOBODY, PATH, RandomHistory
from tests.support.tree_writer import FACTS, Writer
from tests.support.verb_tree import VerbTree, begun
from thunderus_mem.authoring import edit
from thunderus_mem.diagnostic import Severity
from thunderus_mem.git.repository import GitProcess
from thunderus_mem.history.replay import ReplayReport, replay, replay_check
from thunderus_mem.log.event import Change
from thunderus_mem.memory.journal import FileChange
from thunderus_mem.memory.memory import open_memory
from thunderus_mem.memory.transaction import open_transaction

if TYPE_CHECKING:
    from pathlib import Path

PRIVATE = ".thunderus/local/sessions"
DOCUMENT = "---\nid: fact.{name}\ntitle: {name}\nkind: fact\ntags: [a]\n---\nOne.\nTwo.\n"


@pytest.fixture
def tree(tmp_path: Path) -> VerbTree:
    made = begun(tmp_path / "tree")
    made.save("Begin")
    return made


@pytest.fixture
def plain(tmp_path: Path) -> VerbTree:
    """A store outside git."""
    return begun(tmp_path / "plain", git=False)


def counts(tree: VerbTree) -> dict[str, int]:
    """The non-zero counts of a check, without the core document."""
    found = replay_check(tree.memory())
    numbers = {**found.counts, "log": found.counts["log"] - 1}
    assert len(found.diagnostics) == sum(numbers[one] for one in ("unrecorded", "unreadable", "gone"))
    return {state: number for state, number in numbers.items() if number}


def named(report: ReplayReport) -> list[str]:
    return [finding.path for finding in report.diagnostics]


def states(tree: VerbTree) -> dict[str, str]:
    """What the log cannot rebuild."""
    return {one.id: one.state for one in replay(tree.memory()).documents if one.id != "core"}


@pytest.mark.parametrize("seed", range(20, 24))
def test_random_history_is_recorded_except_hand_edits(seed: int, tmp_path: Path) -> None:
    history = RandomHistory(tmp_path, seed)
    history.live(14)
    memory = open_memory(str(history.tree.root), environ=history.tree.repository.env)
    found = replay_check(memory)
    edited = [PATH] if NOBODY in history.writers.values() else []
    assert named(found) == edited
    assert found.counts["log"] + found.counts["git"] == 1 - len(edited)


def test_hand_edit_is_unrecorded_until_logged_or_committed(tree: VerbTree) -> None:
    tree.add("base", "One.\n")
    assert counts(tree) == {"log": 1}
    (tree.root / PATH).write_bytes(tree.text("base").replace("One.", "By hand.").encode())
    found = replay_check(tree.memory())
    assert named(found) == [PATH]
    assert "Run any command that writes" in found.diagnostics[0].hint
    tree.save("By hand")
    assert counts(tree) == {"git": 1}
    tree.edit_by_hand("base", "By hand.", "Recorded.")
    assert counts(tree) == {"log": 1}


@pytest.mark.parametrize("ends", [b"\r\n", b"\r"])
def test_line_ends_are_ignored(tree: VerbTree, ends: bytes) -> None:
    tree.add("base", "One.\n")
    tree.repository.write(f"{FACTS}/hand.md", DOCUMENT.format(name="hand"))
    tree.save("Both")
    for name in ("base", "hand"):
        path = tree.root / FACTS / f"{name}.md"
        path.write_bytes(path.read_bytes().replace(b"\n", ends))
    assert counts(tree) == {"log": 1, "git": 1}


def test_texts_in_git_with_mixed_line_ends_or_another_name_are_found(tree: VerbTree) -> None:
    text = DOCUMENT.format(name="hand")
    tree.git("config", "core.autocrlf", "false")
    tree.repository.write(f"{FACTS}/hand.md", text.replace("One.\n", "One.\r\n"))
    tree.save("Mixed")
    tree.repository.write(f"{FACTS}/hand.md", text + "More.\n")
    tree.repository.write(f"{FACTS}/other.md", DOCUMENT.format(name="other"))
    tree.save("Later")
    tree.repository.write(f"{FACTS}/hand.md", text)
    (tree.root / FACTS / "other.md").rename(tree.root / FACTS / "moved.md")
    assert counts(tree) == {"git": 2}


def test_git_merges_reverts_and_renames_leave_nothing_unrecorded(tree: VerbTree) -> None:
    tree.add("base", "".join(f"Line {number}.\n" for number in range(12)))
    tree.save("Base")
    tree.git("switch", "-q", "-c", "topic")
    Writer.edit(tree, "base", "Line 1.", "Theirs.")
    tree.add("theirs")
    tree.save("Theirs")
    tree.git("switch", "-q", "main")
    Writer.edit(tree, "base", "Line 10.", "Ours.")
    tree.save("Ours")
    tree.git("merge", "-q", "--no-edit", "topic")
    assert counts(tree) == {"log": 1, "git": 1}
    tree.git("revert", "--no-edit", "-m", "1", "HEAD")
    # The log lines were removed together with the change.
    assert counts(tree) == {"log": 1}
    tree.git("revert", "--no-edit", "HEAD")
    assert counts(tree) == {"log": 1, "git": 1}
    tree.git("mv", f"{FACTS}/theirs.md", f"{FACTS}/moved.md")
    assert counts(tree) == {"log": 1, "git": 1}
    tree.save("Move")
    assert counts(tree) == {"log": 1, "git": 1}


def test_git_texts_remain_without_a_shard(tree: VerbTree) -> None:
    tree.add("base", "One.\n")
    (shard,) = [shard for shard in tree.shards() if "fact.base" in (tree.root / shard).read_text()]
    shutil.rmtree((tree.root / shard).parent)
    assert counts(tree) == {"unrecorded": 1}
    tree.save("Base")
    assert counts(tree) == {"git": 1}
    assert states(tree) == {"fact.base": "unlogged"}


def test_private_shard_is_read(plain: VerbTree) -> None:
    plain.add("base", "One.\n")
    (shard,) = plain.shards()
    folder = plain.root / PRIVATE
    folder.mkdir(parents=True)
    (plain.root / shard).parent.rename(folder / "sess_private")
    assert counts(plain) == {"log": 1}


def test_outside_git_only_the_log_is_read(plain: VerbTree) -> None:
    plain.add("base", "One.\n")
    plain.repository.write(f"{FACTS}/hand.md", DOCUMENT.format(name="hand"))
    assert counts(plain) == {"log": 1, "unrecorded": 1}


def test_unreadable_documents_are_reported_and_personal_ones_omitted(tree: VerbTree) -> None:
    tree.repository.write(".thunderus/memory/core/CORE.local.md", "---\nid: core.local\n---\nMine.\n")
    (tree.root / FACTS).mkdir(parents=True, exist_ok=True)
    (tree.root / FACTS / "linked.md").symlink_to("/etc/hostname")
    found = replay_check(tree.memory())
    assert named(found) == [f"{FACTS}/linked.md"]
    assert (found.counts["personal"], found.counts["unreadable"], found.unexplained) == (1, 1, 1)


def test_missing_document_is_a_note_unless_it_was_removed(tree: VerbTree) -> None:
    for name in ("tool", "hand", "lost"):
        tree.add(name)
    tree.save("Three")
    edit.remove(tree.memory(), "fact.tool", why="wrong")
    (tree.root / FACTS / "hand.md").unlink()
    tree.save("Two less")
    assert counts(tree) == {"log": 1}
    (tree.root / FACTS / "lost.md").unlink()
    found = replay_check(tree.memory())
    assert named(found) == [f"{FACTS}/lost.md"]
    assert (found.diagnostics[0].severity, found.unexplained) == (Severity.NOTE, 0)
    with open_transaction(tree.memory(), "look"):
        pass
    assert counts(tree) == {}


def test_document_dropped_by_a_merge_is_found_in_git(tree: VerbTree) -> None:
    tree.git("switch", "-q", "-c", "topic")
    tree.add("theirs")
    tree.save("Theirs")
    tree.git("switch", "-q", "main")
    tree.git("merge", "-q", "--no-ff", "--no-commit", "topic")
    tree.git("rm", "-q", "-f", f"{FACTS}/theirs.md")
    assert counts(tree) == {"gone": 1}
    tree.git("commit", "-q", "-m", "Without the document")
    assert counts(tree) == {}


def test_aborted_change_is_not_expected(plain: VerbTree) -> None:
    plain.add("base", "One.\n")
    lost = plain.text("base").replace("base", "never")
    event = plain._patch("add", plain._change("never", None, lost), (), plain._ids.new("evt"))
    assert counts(plain) == {"log": 1, "gone": 1}
    plain._append(
        lambda common: patch_event(
            id=plain._ids.new("evt"),
            patch_id=plain._ids.new("patch"),
            op="aborted",
            changes=[Change("aborted", "", f"{FACTS}/never.md", "", "")],
            why=f"{event} found other text; ours is in x",
            **common,
        )
    )
    assert counts(plain) == {"log": 1}
    assert replay(plain.memory()).counts == {"rebuilt": 2}


def test_log_alone_rebuilds_edited_and_renamed_documents(plain: VerbTree) -> None:
    plain.add("base", "One.\n")
    plain.edit("base", "One.", "Two.")
    text, moved = plain.text("base"), f"{FACTS}/moved.md"
    with open_transaction(plain.memory(), "rename") as transaction:
        transaction.commit(
            "rename",
            [
                FileChange("fact.base", moved, None, text, renames=True),
                FileChange("fact.base", PATH, text, None, renames=True),
            ],
        )
    assert replay(plain.memory()).counts == {"rebuilt": 2}
    assert replay(plain.memory()).documents == ()
    (plain.root / moved).write_text(text + "By hand.\n")
    assert states(plain) == {"fact.base": "differs"}
    (plain.root / moved).unlink()
    (row,) = replay(plain.memory()).documents
    assert (row.state, row.path, row.found) == ("gone", moved, "")
    assert row.reached.startswith("sha256:")


def test_unlogged_long_text_is_known_but_not_rebuilt(plain: VerbTree) -> None:
    plain.add("base", "漢" * 6_000 + "\n")
    plain.edit("base", "漢" * 6_000, "字" * 6_000)
    assert states(plain) == {"fact.base": "known"}
    assert counts(plain) == {"log": 1}


def test_number_of_git_calls_does_not_depend_on_documents(
    tree: VerbTree, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(30):
        tree.repository.write(f"{FACTS}/d{number}.md", DOCUMENT.format(name=f"d{number}"))
    tree.save("Thirty")
    for number in range(0, 30, 2):
        tree.repository.write(f"{FACTS}/d{number}.md", DOCUMENT.format(name=f"d{number}") + "More.\n")
    tree.save("Half of them again")
    for number in range(0, 30, 3):
        tree.repository.write(f"{FACTS}/d{number}.md", DOCUMENT.format(name=f"d{number}"))
    asked: list[str] = []
    run = GitProcess.run

    def counted(process: GitProcess, *arguments: str, **more: object) -> object:
        asked.append(arguments[0])
        return run(process, *arguments, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(GitProcess, "run", counted)
    assert counts(tree) == {"git": 30}
    assert len(asked) <= 4


@pytest.mark.parametrize("path", ["../../outside.md", f"{FACTS}/a\0b.md", "/etc/hostname"])
def test_forged_path_in_the_log_is_not_read(tree: VerbTree, path: str) -> None:
    change = Change("create", "fact.never", path, "", tree._change("never", None, "x").after)
    tree._patch("add", change, (), tree._ids.new("evt"))
    tree.save("Begin")
    found = replay_check(tree.memory())
    assert (named(found), found.counts["gone"]) == ([path], 1)
