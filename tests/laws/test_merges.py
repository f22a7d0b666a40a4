"""Law 9: git merges anything two branches add and log without a driver, and the log still verifies.

Every test runs the real git on real files.
"""

from __future__ import annotations

import random
import shutil
from typing import TYPE_CHECKING

import pytest

from tests.support.git_repository import Repository
from tests.support.log_findings import log_findings
from tests.support.tree_writer import FACTS, IGNORED, Clock, Writer
from tests.support.verb_tree import VerbTree
from thunderus_mem.diagnostic import Severity

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(params=[Writer, VerbTree], ids=["rules", "verbs"])
def tree(request: pytest.FixtureRequest, tmp_path: Path, clock: Clock) -> Writer:
    """A repository on branch main with a store, one document and two lines in the log; no attributes.

    Written once by a minimal conforming writer, once by the program.
    """
    repository = Repository(tmp_path / "tree", tmp_path / "home").init()
    repository.write("code.py", "x = 1\n")
    writer = request.param(repository, clock)
    if isinstance(writer, VerbTree):
        writer.begin()
        # Line endings must also survive without attributes.
        (writer.root / ".thunderus" / ".gitattributes").unlink()
    else:
        repository.write(".thunderus/.gitignore", IGNORED)
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
    assert "  - two\n" in tree.text("base")
    assert "status: verified" in tree.text("base")
    tree.check()


TOP, BOTTOM = "The first line.\n", "The last line.\n"
PADDING = "".join(f"Line {number} stays.\n" for number in range(9))


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (("  - one\n", "  - one\n  - two\n"), (TOP, "The first line, changed.\n")),
        (("title: big", "title: Bigger"), ("status: unknown", "status: stale")),
        ((TOP, "Ours.\n"), (BOTTOM, "Theirs.\n")),
        (("kind: fact\n", "kind: fact\ncategory: net\n"), ("status: unknown", "status: stale")),
    ],
    ids=["tag-body", "title-status", "two-places", "new-key-status"],
)
def test_edits_of_different_sections_merge(
    tree: Writer, ours: tuple[str, str], theirs: tuple[str, str]
) -> None:
    tree.add("big", TOP + PADDING + BOTTOM)
    tree.save("Big")
    branch_and_write(tree, lambda: tree.edit("big", *ours), lambda: tree.edit("big", *theirs))
    merged = tree.repository.try_git("merge", "-q", "--no-edit", "topic")
    # Both sides may have changed `updated`: only that line may conflict.
    assert all(block.count("\n") == 2 for block in conflicts(tree.text("big"))), merged.stdout
    assert ours[1] in tree.text("big")
    assert theirs[1] in tree.text("big")
    if merged.returncode == 0:
        tree.check()


def conflicts(text: str) -> list[str]:
    """The lines between the conflict markers, both sides, without the markers."""
    return [
        block.partition("\n")[2].replace("=======\n", "").rpartition("\n")[0] + "\n"
        for block in text.replace(">>>>>>>", "<<<<<<<").split("<<<<<<<")[1::2]
    ]


def test_edits_of_one_line_conflict_only_there(tree: Writer) -> None:
    tree.add("big", TOP + PADDING + BOTTOM)
    tree.save("Big")
    made: list[str] = []
    branch_and_write(
        tree,
        lambda: made.extend((tree.edit("big", TOP, "Ours.\n"), tree.add("ours"))),
        lambda: made.extend((tree.edit("big", TOP, "Theirs.\n"), tree.add("theirs"))),
    )
    assert tree.repository.try_git("merge", "-q", "--no-edit", "topic").returncode != 0
    unmerged = set(tree.git("diff", "--name-only", "--diff-filter=U").split())
    assert unmerged == {f"{FACTS}/big.md"}
    assert "Ours.\nTheirs.\n" in conflicts(tree.text("big"))
    assert BOTTOM in tree.text("big")
    tree.git("checkout", "-q", "--ours", f"{FACTS}/big.md")
    tree.save("Ours it is")
    assert set(made) <= set(tree.events())
    tree.check()


def test_hand_edit_recorded_on_both_sides_is_one_event(tree: Writer) -> None:
    recorded: list[str] = []

    def by_hand() -> None:
        recorded.append(tree.edit_by_hand("base", "is so", "is not so"))

    branch_and_write(tree, by_hand, by_hand)
    tree.git("merge", "-q", "--no-edit", "topic")
    assert len(set(recorded)) == 1
    assert tree.events().count(recorded[0]) == 1
    tree.check()


def test_hand_edit_undone_twice_keeps_the_log_intact(tree: Writer) -> None:
    for old, new in [("is so", "is not so"), ("is not so", "is so")] * 2:
        tree.edit_by_hand("base", old, new)
    tree.save("There and back")
    assert len(set(tree.events())) == len(tree.events())
    tree.check()


def test_writes_never_change_a_committed_shard(tree: Writer) -> None:
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
    # The branch continues after its squash and is merged again.
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
    other = type(tree)(Repository(origin.root, tmp_path / "home").clone(tmp_path / "other"), clock)
    other.add("other")
    other.save("Other")
    other.git("push", "-q", "origin", "main")
    tree.git("reset", "-q", mode, "HEAD~1")
    tree.add("again")
    tree.save("Again, differently")
    # The documents left by the reset equal the pushed ones, so both sides add the same bytes.
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
    other = type(tree)(copy, clock)
    shard = (other.root / next(iter(other.shards()))).read_bytes()
    converted = setting == "true" and not attributes
    assert (b"\r\n" in shard) == converted
    assert [one.rule for one in log_findings(other.reader)] == ["TM508"] * converted
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
    linked = type(tree)(Repository(tmp_path / "linked", tmp_path / "home"), clock)
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
    copy = type(tree)(Repository(tmp_path / "copy", tmp_path / "home"), clock)
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
    findings = log_findings(tree.reader)
    assert [(one.rule, one.severity) for one in findings] == [("TM504", Severity.NOTE)]


OPERATIONS = (
    *("write", "write", "write", "commit", "commit", "branch", "switch", "merge", "merge"),
    *("cherry-pick", "rebase", "revert", "amend", "soft", "mixed", "hard", "stash", "pop", "stage"),
)


def act(tree: Writer, operation: str, chance: random.Random, number: int) -> None:
    """One random step; steps that git does not allow now are skipped."""
    branches = tree.git("branch", "--format=%(refname:short)").split()
    dirty = bool(tree.git("status", "--porcelain"))
    if operation == "write":
        # Git treats similar removed and added files as a rename, and two removals of
        # it as a conflict; this test is about additions and the log.
        tree.add(f"doc{number}", "".join(f"{chance.random()}\n" for _ in range(60)))
    elif operation == "stage":
        tree.git("add", "-A")
    elif operation == "commit" and dirty:
        tree.save(f"Commit {number}")
    elif operation == "amend" and tree.repository.try_git("rev-parse", "HEAD~1").returncode == 0:
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
        # Reverting a reverted commit is empty, and git stops.
        if commits and tree.repository.try_git("revert", "--no-edit", chance.choice(commits)).returncode:
            assert tree.git("ls-files", "--unmerged") == ""
            tree.repository.try_git("revert", "--abort")
    elif operation == "hard" and tree.repository.try_git("rev-parse", "HEAD~1").returncode == 0:
        tree.git("reset", "-q", "--hard", "HEAD~1")


@pytest.mark.parametrize("seed", range(3))
def test_any_repository_history_merges_cleanly(tree: Writer, seed: int) -> None:
    chance = random.Random(seed)
    for number in range(14):
        act(tree, chance.choice(OPERATIONS), chance, number)
        tree.check()
