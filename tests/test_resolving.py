"""`resolve` after real merges, rebases, cherry-picks, reverts and stashes: what is settled, what is left."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from git_repository import Repository
from tree_writer import FACTS, Clock
from verb_tree import VerbTree

from thunderus_mem.model.diagnostic import Severity
from thunderus_mem.model.document import content_hash, read_document
from thunderus_mem.model.event import changes_of
from thunderus_mem.verbs.linting import lint
from thunderus_mem.verbs.reading import status
from thunderus_mem.verbs.resolving import Resolved, resolve
from thunderus_mem.verbs.writing import edit, remove

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

TOP, MIDDLE, BOTTOM = "The first line.", "The middle stays.", "The last line."
BODY = f"{TOP}\n\n{MIDDLE}\n\n{BOTTOM}\n"
BIG = f"{FACTS}/big.md"


@pytest.fixture
def tree(tmp_path: Path) -> VerbTree:
    """A store with a document of three paragraphs, committed on main."""
    made = VerbTree(Repository(tmp_path / "tree", tmp_path / "home").init(), Clock())
    made.begin()
    made.add("big", BODY)
    made.save("Begin")
    return made


def diverge(tree: VerbTree, theirs: Callable[[], object], ours: Callable[[], object]) -> None:
    """``theirs`` on a branch topic, ``ours`` on main, each committed; ends on main."""
    tree.git("switch", "-q", "-c", "topic")
    theirs()
    tree.save("Theirs")
    tree.git("switch", "-q", "main")
    ours()
    tree.save("Ours")


def merge(tree: VerbTree, *arguments: str) -> None:
    assert tree.repository.try_git("merge", "--no-edit", "topic", *arguments).returncode == 1


def rewrite(tree: VerbTree, old: str, new: str, name: str = "big") -> None:
    tree.edit(name, old, new)


def settled(value: Resolved, at: int = 0) -> dict[str, str]:
    return {one.key: one.how for one in value.documents[at].settled}


def left(value: Resolved, at: int = 0) -> list[str]:
    return [one.key for one in value.documents[at].left]


def finish(tree: VerbTree) -> None:
    """Nothing is in conflict any more; the merge is committed, the log whole and every text explained."""
    assert tree.git("ls-files", "--unmerged") == ""
    tree.save("Merged")
    tree.check()
    memory = tree.memory()
    assert [one for one in lint(memory).diagnostics if one.severity is Severity.ERROR] == []
    assert status(memory).unrecorded == ()


def test_nothing_to_resolve(tree: VerbTree) -> None:
    value = resolve(tree.memory())
    assert (value.documents, value.others, value.is_left) == ((), (), False)


def test_a_merge_of_header_and_body(tree: VerbTree) -> None:
    def theirs() -> None:
        edit(tree.memory(), "fact.big", add_tags=["beta"], sets={"author": "them"})
        rewrite(tree, BOTTOM, "Their last line.")

    def ours() -> None:
        edit(tree.memory(), "fact.big", add_tags=["alpha"], sets={"credibility": 0.5})
        rewrite(tree, TOP, "Our first line.")

    diverge(tree, theirs, ours)
    merge(tree)
    value = resolve(tree.memory(), stage=True)
    assert not value.is_left
    assert (value.ours, value.theirs, value.next_step) == ("HEAD", "topic", "git commit")
    assert set(settled(value)) == {"tags", "author", "credibility", "updated"}
    text = tree.text("big")
    assert "tags:\n  - alpha\n  - beta\n  - one\n" in text
    assert "Our first line." in text
    assert "Their last line." in text
    finish(tree)


def test_only_what_both_wrote_is_left(tree: VerbTree) -> None:
    diverge(tree, lambda: rewrite(tree, TOP, "Theirs."), lambda: rewrite(tree, TOP, "Ours."))
    merge(tree)
    value = resolve(tree.memory(), stage=True)
    assert left(value) == ["text"]
    assert value.staged == ()
    text = tree.text("big")
    assert "<<<<<<< HEAD\nOurs.\n=======\nTheirs.\n>>>>>>> topic\n\nThe middle" in text
    assert read_document(BIG, text.encode()).document is not None
    assert "lines 21 to 25" in value.documents[0].left[0].why
    assert text.splitlines()[20] == "<<<<<<< HEAD"
    # Asked again, nothing moves and nothing is logged.
    events = tree.events()
    assert left(resolve(tree.memory())) == ["text"]
    assert tree.text("big") == text
    assert tree.events() == events
    # A person decides; what is staged then is what the person wrote.
    (tree.root / BIG).write_text(
        text.replace("<<<<<<< HEAD\nOurs.\n=======\n", "").replace(">>>>>>> topic\n", "")
    )
    value = resolve(tree.memory(), stage=True)
    assert [one.state for one in value.documents] == ["done"]
    assert "Theirs." in tree.text("big")
    finish(tree)


def test_a_key_that_both_wrote_is_left_and_the_rest_is_not(tree: VerbTree) -> None:
    diverge(
        tree,
        lambda: rewrite(tree, "title: big", "title: Theirs"),
        lambda: rewrite(tree, "title: big", "title: Ours"),
    )
    merge(tree)
    value = resolve(tree.memory())
    assert left(value) == ["title"]
    assert settled(value) == {"updated": "the newer, ours"}
    text = tree.text("big")
    assert text.count("<<<<<<<") == 1
    assert "<<<<<<< HEAD\ntitle: Ours\n=======\ntitle: Theirs\n>>>>>>> topic\nkind: fact\n" in text
    (tree.root / BIG).write_text(
        text.replace("<<<<<<< HEAD\ntitle: Ours\n=======\n", "").replace(">>>>>>> topic\n", "")
    )
    assert [one.state for one in resolve(tree.memory(), stage=True).documents] == ["done"]
    finish(tree)


def test_the_event_leads_from_our_text_to_the_merged_one(tree: VerbTree) -> None:
    diverge(tree, lambda: rewrite(tree, BOTTOM, "Theirs."), lambda: rewrite(tree, TOP, "Ours."))
    ours = content_hash(tree.text("big"))
    merge(tree)
    value = resolve(tree.memory())
    (logged,) = [one.event for one in tree.reader.read_all().events if one.event.body.get("op") == "resolve"]
    (change,) = changes_of(logged)
    assert value.documents[0].event_id == logged.id
    assert (change.doc_id, change.before, change.after) == ("fact.big", ours, content_hash(tree.text("big")))
    assert "+Theirs." in (change.diff or "")
    assert "<<<<<<<" not in (change.diff or "")
    assert logged.why == "settled updated"


def test_a_plan_writes_nothing(tree: VerbTree) -> None:
    diverge(tree, lambda: rewrite(tree, BOTTOM, "Theirs."), lambda: rewrite(tree, TOP, "Ours."))
    merge(tree)
    before, events, staged = tree.text("big"), tree.events(), tree.git("ls-files", "-s")
    value = resolve(tree.memory(), plan=True)
    assert "-<<<<<<< HEAD\n" in value.diff
    assert (tree.text("big"), tree.events(), tree.git("ls-files", "-s")) == (before, events, staged)


def test_without_stage_gits_index_stays_as_it_is(tree: VerbTree) -> None:
    diverge(tree, lambda: rewrite(tree, BOTTOM, "Theirs."), lambda: rewrite(tree, TOP, "Ours."))
    merge(tree)
    before = tree.git("ls-files", "-s")
    value = resolve(tree.memory())
    assert tree.git("ls-files", "-s") == before
    assert "resolve --stage" in value.next_step
    tree.git("add", "-A")
    finish(tree)


def test_a_rebase(tree: VerbTree) -> None:
    diverge(tree, lambda: rewrite(tree, BOTTOM, "Theirs."), lambda: rewrite(tree, TOP, "Ours."))
    tree.git("switch", "-q", "topic")
    assert tree.repository.try_git("rebase", "main").returncode == 1
    value = resolve(tree.memory(), stage=True)
    assert (value.is_left, value.next_step) == (False, "git rebase --continue")
    tree.git("rebase", "--continue")
    assert {"Theirs.", "Ours."} <= set(tree.text("big").splitlines())
    finish_clean(tree)


def finish_clean(tree: VerbTree) -> None:
    tree.check()
    assert tree.git("status", "--porcelain") == ""
    assert status(tree.memory()).unrecorded == ()


def test_a_cherry_pick_and_its_revert(tree: VerbTree) -> None:
    diverge(tree, lambda: rewrite(tree, BOTTOM, "Theirs."), lambda: rewrite(tree, TOP, "Ours."))
    assert tree.repository.try_git("cherry-pick", "topic").returncode == 1
    assert resolve(tree.memory(), stage=True).next_step == "git cherry-pick --continue"
    tree.git("cherry-pick", "--continue")
    assert "Theirs." in tree.text("big")
    tree.edit("big", "Theirs.", "Theirs and more.")
    tree.save("More")
    assert tree.repository.try_git("revert", "--no-edit", "HEAD~2").returncode == 1
    value = resolve(tree.memory(), stage=True)
    assert (value.is_left, value.next_step) == (False, "git revert --continue")
    tree.git("revert", "--continue")
    assert TOP in tree.text("big")
    assert "Theirs and more." in tree.text("big")
    finish_clean(tree)


def test_a_stash(tree: VerbTree) -> None:
    tree.edit("big", BOTTOM, "Stashed.")
    tree.git("stash", "push", "-q")
    tree.edit("big", TOP, "Ours.")
    tree.save("Ours")
    assert tree.repository.try_git("stash", "pop").returncode == 1
    value = resolve(tree.memory(), stage=True)
    assert not value.is_left
    assert value.theirs == "Stashed changes"
    assert {"Ours.", "Stashed."} <= set(tree.text("big").splitlines())
    finish(tree)


def test_one_document_added_on_both_sides(tree: VerbTree) -> None:
    diverge(tree, lambda: tree.add("new", "Theirs.\n"), lambda: tree.add("new", "Ours.\n"))
    merge(tree)
    value = resolve(tree.memory())
    assert left(value) == ["text"]
    assert {"created", "updated", "provenance.events"} <= set(settled(value))
    document = read_document(f"{FACTS}/new.md", tree.text("new").encode()).document
    assert document is not None
    assert len(document.events) == 2
    assert "new is so.\n<<<<<<< HEAD\nOurs.\n=======\nTheirs.\n>>>>>>> topic\n" in tree.text("new")


def test_the_same_text_added_on_both_sides_is_clean(tree: VerbTree) -> None:
    diverge(tree, lambda: tree.add("new", "Same.\n"), lambda: tree.add("new", "Same.\n"))
    merge(tree)
    assert not resolve(tree.memory(), stage=True).is_left
    finish(tree)


@pytest.mark.parametrize("by_us", [True, False])
def test_removed_on_one_side_and_changed_on_the_other_stays(tree: VerbTree, by_us: bool) -> None:
    def gone() -> None:
        remove(tree.memory(), "fact.big", why="no longer so")

    def changed() -> None:
        rewrite(tree, TOP, "Changed.")

    diverge(tree, *((changed, gone) if by_us else (gone, changed)))
    merge(tree)
    value = resolve(tree.memory(), stage=True)
    (document,) = value.documents
    assert (document.state, document.id) == ("kept", "fact.big")
    assert document.note == (
        "theirs changed the document, ours removed it"
        if by_us
        else "ours changed the document, theirs removed it"
    )
    assert "Changed." in tree.text("big")
    finish(tree)


def test_a_text_that_nothing_explains_is_logged_when_it_is_kept(tree: VerbTree) -> None:
    def by_hand() -> None:
        (tree.root / BIG).write_text(tree.text("big").replace(TOP, "By hand."))

    diverge(tree, by_hand, lambda: remove(tree.memory(), "fact.big", why="gone"))
    merge(tree)
    assert resolve(tree.memory()).documents[0].event_id
    events = tree.events()
    assert not resolve(tree.memory(), stage=True).documents[0].event_id
    assert tree.events() == events
    finish(tree)


def test_verification_settles_for_less_trust(tree: VerbTree) -> None:
    def verdict(status_word: str, commit: str) -> None:
        path = tree.root / BIG
        text = path.read_text().replace("status: unknown", f"status: {status_word}")
        path.write_text(text.replace("last_verified_commit: null", f"last_verified_commit: {commit}"))

    diverge(tree, lambda: verdict("stale", "abcd1234"), lambda: verdict("verified", "1234abcd"))
    merge(tree)
    value = resolve(tree.memory(), stage=True)
    assert settled(value)["verification"].startswith("stale")
    assert "last_verified_commit: abcd1234\n  status: stale\n" in tree.text("big")
    finish(tree)
