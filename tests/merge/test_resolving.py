"""`resolve` after real merges, rebases, cherry-picks, reverts and stashes: what is resolved, what is left."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.support.events import note
from tests.support.git_repository import Repository
from tests.support.tree_writer import FACTS, Clock
from tests.support.verb_tree import VerbTree
from thunderus_mem.authoring.edit import DocumentEdits, edit, remove
from thunderus_mem.authoring.rename import rename
from thunderus_mem.authoring.show import status
from thunderus_mem.diagnostic import Severity
from thunderus_mem.document.document import content_hash, read_document
from thunderus_mem.errors import Conflict, InvalidConfig, NotFound
from thunderus_mem.history.replay import replay_check
from thunderus_mem.history.undo import undo
from thunderus_mem.lint.lint import lint
from thunderus_mem.log.event import changes_of
from thunderus_mem.merge import resolve as resolve_module
from thunderus_mem.merge.resolve import Resolved, merge_lines, resolve

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.support.command_server import Done

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
    """Check that no conflict remains, the merge is committed, the log intact and every text explained."""
    assert tree.git("ls-files", "--unmerged") == ""
    tree.save("Merged")
    tree.check()
    memory = tree.memory()
    assert [one for one in lint(memory).diagnostics if one.severity is Severity.ERROR] == []
    assert status(memory).unrecorded == ()
    assert replay_check(memory).unexplained == 0


def test_nothing_to_resolve(tree: VerbTree) -> None:
    value = resolve(tree.memory())
    assert (value.documents, value.others, value.is_left) == ((), (), False)


def test_merge_of_header_and_body(tree: VerbTree) -> None:
    def theirs() -> None:
        edit(tree.memory(), "fact.big", DocumentEdits(add_tags=["beta"], sets={"author": "them"}))
        rewrite(tree, BOTTOM, "Their last line.")

    def ours() -> None:
        edit(tree.memory(), "fact.big", DocumentEdits(add_tags=["alpha"], sets={"credibility": 0.5}))
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


def test_only_lines_changed_by_both_are_left(tree: VerbTree) -> None:
    diverge(tree, lambda: rewrite(tree, TOP, "Theirs."), lambda: rewrite(tree, TOP, "Ours."))
    merge(tree)
    value = resolve(tree.memory(), stage=True)
    assert left(value) == ["text"]
    assert value.staged == ()
    text = tree.text("big")
    assert "<<<<<<< HEAD\nOurs.\n=======\nTheirs.\n>>>>>>> topic\n\nThe middle" in text
    assert read_document(BIG, text.encode()).document is not None
    assert "lines 20 to 24" in value.documents[0].left[0].why
    assert text.splitlines()[19] == "<<<<<<< HEAD"
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


def test_only_keys_changed_by_both_are_left(tree: VerbTree) -> None:
    diverge(
        tree,
        lambda: rewrite(tree, "title: big", "title: Theirs"),
        lambda: rewrite(tree, "title: big", "title: Ours"),
    )
    merge(tree)
    value = resolve(tree.memory())
    assert left(value) == ["title"]
    assert settled(value) == {"updated": "the newer time (ours)"}
    text = tree.text("big")
    assert text.count("<<<<<<<") == 1
    assert "<<<<<<< HEAD\ntitle: Ours\n=======\ntitle: Theirs\n>>>>>>> topic\nkind: fact\n" in text
    (tree.root / BIG).write_text(
        text.replace("<<<<<<< HEAD\ntitle: Ours\n=======\n", "").replace(">>>>>>> topic\n", "")
    )
    assert [one.state for one in resolve(tree.memory(), stage=True).documents] == ["done"]
    finish(tree)


def test_event_has_our_text_before_and_the_merged_text_after(tree: VerbTree) -> None:
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
    assert logged.why == "resolved updated"


def test_plan_writes_nothing(tree: VerbTree) -> None:
    diverge(tree, lambda: rewrite(tree, BOTTOM, "Theirs."), lambda: rewrite(tree, TOP, "Ours."))
    merge(tree)
    before, events, staged = tree.text("big"), tree.events(), tree.git("ls-files", "-s")
    value = resolve(tree.memory(), dry_run=True)
    assert "-<<<<<<< HEAD\n" in value.diff
    assert (tree.text("big"), tree.events(), tree.git("ls-files", "-s")) == (before, events, staged)


def test_nothing_is_staged_without_stage(tree: VerbTree) -> None:
    diverge(tree, lambda: rewrite(tree, BOTTOM, "Theirs."), lambda: rewrite(tree, TOP, "Ours."))
    merge(tree)
    before = tree.git("ls-files", "-s")
    value = resolve(tree.memory())
    assert tree.git("ls-files", "-s") == before
    assert "resolve --stage" in value.next_step
    tree.git("add", "-A")
    finish(tree)


def test_rebase(tree: VerbTree) -> None:
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


def test_cherry_pick_and_its_revert(tree: VerbTree) -> None:
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


def test_stash(tree: VerbTree) -> None:
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


def test_document_added_on_both_sides(tree: VerbTree) -> None:
    diverge(tree, lambda: tree.add("new", "Theirs.\n"), lambda: tree.add("new", "Ours.\n"))
    merge(tree)
    value = resolve(tree.memory())
    assert left(value) == ["text"]
    assert {"created", "updated", "provenance.events"} <= set(settled(value))
    document = read_document(f"{FACTS}/new.md", tree.text("new").encode()).document
    assert document is not None
    assert len(document.events) == 2
    assert "new is so.\n<<<<<<< HEAD\nOurs.\n=======\nTheirs.\n>>>>>>> topic\n" in tree.text("new")


def test_same_text_added_on_both_sides_is_clean(tree: VerbTree) -> None:
    diverge(tree, lambda: tree.add("new", "Same.\n"), lambda: tree.add("new", "Same.\n"))
    merge(tree)
    assert not resolve(tree.memory(), stage=True).is_left
    finish(tree)


@pytest.mark.parametrize("by_us", [True, False])
def test_document_removed_on_one_side_and_changed_on_the_other_is_kept(tree: VerbTree, by_us: bool) -> None:
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


def test_kept_text_without_an_event_is_logged(tree: VerbTree) -> None:
    def by_hand() -> None:
        (tree.root / BIG).write_text(tree.text("big").replace(TOP, "By hand."))

    diverge(tree, by_hand, lambda: remove(tree.memory(), "fact.big", why="gone"))
    merge(tree)
    assert resolve(tree.memory()).documents[0].event_id
    events = tree.events()
    assert not resolve(tree.memory(), stage=True).documents[0].event_id
    assert tree.events() == events
    finish(tree)


def test_less_trusted_verification_is_used(tree: VerbTree) -> None:
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


DECISIONS = ".thunderus/memory/semantic/DECISIONS"
DECISION = """---
id: adr.{name}
title: {name}
kind: adr
tags: [one]
created: 2026-01-2{day}T09:00:00Z
updated: 2026-01-2{day}T09:00:00Z
provenance: {{events: [], patches: [], commits: []}}
verification: {{last_verified_commit: null, status: unknown}}
---
## Status

Accepted

## Context

{text}

## Decision

## Consequences
"""


def decide(tree: VerbTree, file: str, name: str, day: int, text: str = "") -> None:
    tree.repository.write(
        f"{DECISIONS}/{file}", DECISION.format(name=name, day=day, text=text or f"About {name}.")
    )


def test_file_renamed_on_both_sides_keeps_our_name(tree: VerbTree) -> None:
    """Both sides renumber the same decision and change its text."""
    decide(tree, "ADR-0001-a.md", "a", 1, "\n".join(f"Line {number}." for number in range(30)))
    tree.save("One")

    def moved(number: str, old: str, new: str) -> None:
        tree.git("mv", f"{DECISIONS}/ADR-0001-a.md", f"{DECISIONS}/ADR-{number}-a.md")
        path = tree.root / DECISIONS / f"ADR-{number}-a.md"
        path.write_text(
            path.read_text().replace(old, new).replace("T09:00:00Z\nprov", f"T09:00:{number[2:]}Z\nprov")
        )

    diverge(tree, lambda: moved("0011", "Line 3.", "Theirs."), lambda: moved("0022", "Line 27.", "Ours."))
    merge(tree)
    value = resolve(tree.memory(), stage=True)
    assert not value.is_left
    (document,) = value.documents
    assert (document.id, document.path) == ("adr.a", f"{DECISIONS}/ADR-0022-a.md")
    assert document.removed == (f"{DECISIONS}/ADR-0011-a.md",)
    assert sorted(path.name for path in (tree.root / DECISIONS).iterdir()) == ["ADR-0022-a.md"]
    text = (tree.root / DECISIONS / "ADR-0022-a.md").read_text()
    assert "Theirs." in text
    assert "Ours." in text
    assert "updated: 2026-01-21T09:00:22Z" in text
    finish(tree)


def test_document_renamed_on_both_sides_gets_an_alias(tree: VerbTree) -> None:
    diverge(
        tree,
        lambda: rename(tree.memory(), "fact.big", "fact.their-name"),
        lambda: rename(tree.memory(), "fact.big", "fact.our-name"),
    )
    merge(tree)
    value = resolve(tree.memory(), stage=True)
    assert not value.is_left
    document = read_document("x", tree.text("our-name").encode()).document
    assert document is not None
    assert (document.id, document.aliases) == ("fact.our-name", ("fact.big", "fact.their-name"))
    assert tree.names() == {"our-name"}
    finish(tree)


def test_renamed_by_theirs_and_changed_by_ours(tree: VerbTree) -> None:
    diverge(
        tree,
        lambda: rename(tree.memory(), "fact.big", "fact.new-name"),
        lambda: edit(tree.memory(), "fact.big", DocumentEdits(sets={"title": "Bigger"})),
    )
    merge(tree)
    value = resolve(tree.memory(), stage=True)
    assert not value.is_left
    document = read_document("x", tree.text("new-name").encode()).document
    assert document is not None
    assert (document.id, document.title, document.aliases) == ("fact.new-name", "Bigger", ("fact.big",))
    finish(tree)


@pytest.mark.parametrize("by_us", [True, False])
def test_document_renamed_on_one_side_and_removed_on_the_other_is_kept(tree: VerbTree, by_us: bool) -> None:
    def gone() -> None:
        remove(tree.memory(), "fact.big", why="gone")

    def moved() -> None:
        tree.git("mv", BIG, f"{FACTS}/other.md")

    diverge(tree, *((moved, gone) if by_us else (gone, moved)))
    merge(tree)
    value = resolve(tree.memory(), stage=True)
    assert [(one.state, one.id) for one in value.documents] == [("kept", "fact.big")]
    assert tree.names() == {"other"}
    finish(tree)


def test_documents_confused_by_git_are_separated(tree: VerbTree) -> None:
    """Theirs removes a document and adds a similar one, while ours changes the first."""
    lines = "".join(f"Line {number} is the same in both.\n" for number in range(20))
    tree.add("old", lines)
    tree.save("Old")

    def theirs() -> None:
        remove(tree.memory(), "fact.old", why="replaced")
        tree.add("fresh", lines.replace("Line 3 is", "Line 3 was"))

    diverge(tree, theirs, lambda: rewrite(tree, "Line 3 is", "Line 3 may be", "old"))
    merge(tree)
    assert tree.names() == {"big", "fresh"}
    ours = tree.git("show", f"HEAD:{FACTS}/old.md")
    value = resolve(tree.memory(), stage=True)
    assert not value.is_left
    assert {one.id: one.path for one in value.documents} == {
        "fact.fresh": f"{FACTS}/fresh.md",
        "fact.old": f"{FACTS}/old.md",
    }
    assert all("as if they were one document" in one.note for one in value.documents)
    assert tree.text("old").strip() == ours
    assert tree.text("fresh").strip() == tree.git("show", f"topic:{FACTS}/fresh.md")
    finish(tree)


def test_documents_with_the_same_file_name_are_separated(tree: VerbTree) -> None:
    diverge(
        tree,
        lambda: decide(tree, "ADR-0001-same.md", "same", 1),
        lambda: decide(tree, "ADR-0001-same.md", "other", 2),
    )
    merge(tree)
    value = resolve(tree.memory(), stage=True)
    assert not value.is_left
    assert {one.id: one.path for one in value.documents} == {
        "adr.same": f"{DECISIONS}/ADR-0001-same.md",
        "adr.other": f"{DECISIONS}/ADR-0002-other.md",
    }
    finish(tree)


def test_manual_edits_in_the_file_are_kept(tree: VerbTree) -> None:
    def change(word: str) -> None:
        text = tree.text("big").replace(TOP, f"{word} top.").replace(BOTTOM, f"{word} bottom.")
        edit(tree.memory(), "fact.big", DocumentEdits(text=text.replace("title: big", f"title: {word}")))

    diverge(tree, lambda: change("Their"), lambda: change("Our"))
    merge(tree)
    assert left(resolve(tree.memory())) == ["title", "text", "text"]
    path = tree.root / BIG
    text = path.read_text()
    text = text.replace("<<<<<<< HEAD\ntitle: Our\n=======\ntitle: Their\n>>>>>>> topic\n", "title: Mine\n")
    text = text.replace("<<<<<<< HEAD\nOur top.\n=======\nTheir top.\n>>>>>>> topic\n", "My top.\n")
    path.write_text(text.replace("  - one\n", "  - one\n  - two\n"))
    value = resolve(tree.memory())
    assert left(value) == ["text"]
    text = tree.text("big")
    assert "title: Mine\n" in text
    assert "tags:\n  - one\n  - two\n" in text
    assert "My top.\n" in text
    assert "<<<<<<< HEAD\nOur bottom.\n=======\nTheir bottom.\n>>>>>>> topic\n" in text


@pytest.mark.parametrize("style", ["merge", "diff3", "zdiff3"])
def test_every_marker_style(tree: VerbTree, style: str) -> None:
    tree.git("config", "merge.conflictStyle", style)
    diverge(tree, lambda: rewrite(tree, TOP, "Theirs."), lambda: rewrite(tree, TOP, "Ours."))
    merge(tree)
    value = resolve(tree.memory())
    assert (left(value), set(settled(value))) == (["text"], {"updated"})
    assert (f"||||||| base\n{TOP}\n" in tree.text("big")) == (style != "merge")
    assert read_document(BIG, tree.text("big").encode()).document is not None
    # Committed like that, git knows of no conflict any more.
    tree.save("Markers")
    assert left(resolve(tree.memory())) == ["text"]


@pytest.mark.parametrize("style", ["merge", "diff3"])
def test_committed_markers(tree: VerbTree, style: str) -> None:
    tree.git("config", "merge.conflictStyle", style)

    def change(tag: str, title: str, old: str) -> None:
        edit(tree.memory(), "fact.big", DocumentEdits(add_tags=[tag], sets={"title": title}))
        rewrite(tree, old, f"{title}.")

    diverge(tree, lambda: change("beta", "big", BOTTOM), lambda: change("alpha", "Ours", TOP))
    merge(tree)
    tree.save("Markers")
    value = resolve(tree.memory(), [BIG])
    # Only where the markers show the base it can be told that they left the title alone.
    assert left(value) == ([] if style == "diff3" else left(value))
    assert {"tags", "updated"} <= set(settled(value))
    assert "tags:\n  - alpha\n  - beta\n  - one\n" in tree.text("big")
    assert "Ours" in tree.text("big")
    if not value.is_left:
        finish(tree)


def test_document_with_an_example_conflict_is_not_changed(tree: VerbTree) -> None:
    shown = "<<<<<<< HEAD\none\n=======\ntwo\n>>>>>>> topic\n"
    comment = "<!-- thunderus-mem: ignore-file TM012 it explains merging -->\n"
    tree.add("merging", comment + BODY + shown)
    tree.save("Shown")
    assert resolve(tree.memory()).documents == ()
    diverge(
        tree,
        lambda: rewrite(tree, BOTTOM, "Theirs.", "merging"),
        lambda: rewrite(tree, TOP, "Ours.", "merging"),
    )
    merge(tree)
    value = resolve(tree.memory(), stage=True)
    assert not value.is_left
    assert tree.text("merging").endswith(f"Theirs.\n{shown}")
    finish(tree)


def test_line_that_looks_like_a_marker(tree: VerbTree) -> None:
    """One side has a heading underlined with seven signs."""
    diverge(tree, lambda: rewrite(tree, TOP, "Theirs.\n=======\nMore."), lambda: rewrite(tree, TOP, "Ours."))
    merge(tree)
    value = resolve(tree.memory())
    assert left(value) == ["text"]
    assert "=======\nTheirs.\n=======\nMore.\n>>>>>>> topic\n" in tree.text("big")
    # A person who has begun to work on it is not overruled, only asked to go on.
    text = tree.text("big").replace(MIDDLE, "The middle has changed.")
    (tree.root / BIG).write_text(text)
    value = resolve(tree.memory())
    assert value.documents[0].state == "unreadable"
    assert "looks like a conflict marker" in value.documents[0].left[0].why
    assert tree.text("big") == text


@pytest.mark.parametrize("setting", ["true", "input", "false"])
def test_line_ends_and_byte_order_mark_are_kept(tree: VerbTree, setting: str) -> None:
    tree.git("config", "core.autocrlf", setting)
    path = tree.root / BIG
    eol = b"\n" if setting == "input" else b"\r\n"
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", eol))
    tree.save("Windows")
    diverge(tree, lambda: rewrite(tree, BOTTOM, "Theirs."), lambda: rewrite(tree, TOP, "Ours."))
    merge(tree)
    assert not resolve(tree.memory(), stage=True).is_left
    data = path.read_bytes()
    assert data.startswith(b"\xef\xbb\xbf---")
    assert data.count(b"\n") == data.count(eol)
    assert b"Theirs." in data
    finish(tree)


def test_line_ends_changed_on_one_side(tree: VerbTree) -> None:
    path = tree.root / BIG

    def windows() -> None:
        path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n").replace(TOP.encode(), b"Theirs."))

    diverge(tree, windows, lambda: rewrite(tree, BOTTOM, "Ours."))
    merge(tree)
    value = resolve(tree.memory(), stage=True)
    assert settled(value)["line ends"] == "CRLF"
    assert not value.is_left
    assert path.read_bytes().count(b"\r\n") == path.read_bytes().count(b"\n")
    assert {"Theirs.", "Ours."} <= set(path.read_text().splitlines())
    finish(tree)


def test_comments_order_and_quotes_of_our_side_are_kept(tree: VerbTree) -> None:
    path = tree.root / BIG
    path.write_text(
        path.read_text().replace("kind: fact\n", "kind: 'fact'   # as ever\nx-own: {b: 1, a: 2}\n# times\n")
    )
    tree.save("By hand")
    diverge(
        tree,
        lambda: rewrite(tree, "title: big", "title: 'Their title'  # better"),
        lambda: edit(tree.memory(), "fact.big", DocumentEdits(add_tags=["two"], body="Ours.\n")),
    )
    merge(tree)
    assert not resolve(tree.memory(), stage=True).is_left
    text = tree.text("big")
    assert "title: 'Their title'  # better\nkind: 'fact'   # as ever\nx-own: {b: 1, a: 2}\n" in text
    assert "# times\n" in text
    finish(tree)


def test_odd_file_names(tree: VerbTree) -> None:
    names = ("with blank", "grüße", "new\nline", "*")
    for name in names:
        tree.repository.write(
            f"{FACTS}/{name}.md", tree.text("big").replace("fact.big", f"fact.n{len(name)}")
        )
    tree.save("Odd")

    def change(word: str) -> None:
        for name in names:
            path = tree.root / FACTS / f"{name}.md"
            text = path.read_text().replace("kind: fact", f"kind: fact\nauthor: {word}")
            path.write_text(text.replace(TOP if word == "Theirs" else BOTTOM, word))

    diverge(tree, lambda: change("Theirs"), lambda: change("Ours"))
    merge(tree)
    value = resolve(tree.memory(), stage=True)
    assert {one.path.rpartition("/")[2]: one.state for one in value.documents} == {
        "with blank.md": "merged",
        "grüße.md": "merged",
        "new\nline.md": "unreadable",
        "*.md": "unreadable",
    }
    assert set(value.staged) >= set()
    for name in names[:2]:
        text = (tree.root / FACTS / f"{name}.md").read_text()
        assert "Theirs" in text.partition("author")[2]
        assert text.count("<<<<<<<") == 1


@pytest.mark.damaged
def test_other_files_are_not_changed_and_have_advice(tree: VerbTree) -> None:
    shard = next(iter(tree.shards()))
    files = {
        shard: '{"odd": "%s"}\n',
        ".thunderus/.gitignore": "# %s\n",
        ".thunderus/schemas/memory_store.sql": "-- %s\n",
    }

    def change(word: str) -> None:
        for name, line in files.items():
            path = tree.root / name
            path.write_text(path.read_text() + line % word)

    diverge(tree, lambda: change("theirs"), lambda: change("ours"))
    merge(tree)
    before = {name: (tree.root / name).read_bytes() for name in files}
    value = resolve(tree.memory(), stage=True)
    assert value.is_left
    advice = {other.path: other.advice for other in value.others}
    assert advice.keys() == files.keys()
    assert "keep the lines of both sides" in advice[shard]
    assert "migrate --apply" in advice[".thunderus/schemas/memory_store.sql"]
    assert {name: (tree.root / name).read_bytes() for name in files} == before


def test_conflict_in_the_configuration_has_advice(tree: VerbTree) -> None:
    config = tree.root / ".thunderus" / "config.toml"
    diverge(
        tree,
        lambda: config.write_text("[events]\norigin = false\n"),
        lambda: config.write_text("[events]\norigin = true\n"),
    )
    merge(tree)
    with pytest.raises(InvalidConfig) as raised:
        resolve(tree.memory())
    assert "resolve the conflict" in (raised.value.hint or "")


def test_markers_are_not_a_hand_edit(tree: VerbTree) -> None:
    """Other writing commands during a merge log neither markers nor changes merged by git."""

    def theirs() -> None:
        rewrite(tree, TOP, "Theirs.")
        path = tree.root / f"{FACTS}/hand.md"
        path.write_text(tree.text("big").replace("fact.big", "fact.hand"))

    diverge(tree, theirs, lambda: rewrite(tree, TOP, "Ours."))
    merge(tree)
    assert status(tree.memory()).unrecorded == ()
    note(tree.memory(), "in the middle")
    ops = [one.event.body.get("op") for one in tree.reader.read_all().events]
    assert "hand-edit" not in ops
    # A document that somebody writes meanwhile is recorded all the same.
    (tree.root / FACTS / "mine.md").write_text(tree.text("hand").replace("fact.hand", "fact.mine"))
    assert status(tree.memory()).unrecorded == ("fact.mine",)


def test_status_and_lint_show_the_next_step(tree: VerbTree) -> None:
    diverge(tree, lambda: rewrite(tree, TOP, "Theirs."), lambda: rewrite(tree, TOP, "Ours."))
    merge(tree)
    report = status(tree.memory())
    assert (report.conflicts, report.next_step) == ((BIG,), "thunderus-mem resolve")
    hints = [one.hint for one in lint(tree.memory()).diagnostics if one.rule == "TM012"]
    assert hints
    assert all("thunderus-mem resolve" in hint for hint in hints)


def test_names(tree: VerbTree) -> None:
    tree.add("other", BODY)
    tree.add("calm", BODY)
    tree.save("More")

    def change(word: str) -> None:
        rewrite(tree, TOP, word)
        rewrite(tree, TOP, word, "other")

    diverge(tree, lambda: change("Theirs."), lambda: change("Ours."))
    merge(tree)
    for name in ("fact.other", "other", f"{FACTS}/other.md", str(tree.root / FACTS / "other.md")):
        assert [one.id for one in resolve(tree.memory(), [name], dry_run=True).documents] == ["fact.other"]
    value = resolve(tree.memory(), ["fact.calm", "fact.big"])
    assert (value.clear, [one.id for one in value.documents]) == (("fact.calm",), ["fact.big"])
    assert tree.text("other").count("<<<<<<<") == 2
    with pytest.raises(NotFound):
        resolve(tree.memory(), ["fact.nobody"])


def test_invalid_side_is_not_changed(tree: VerbTree) -> None:
    diverge(
        tree,
        lambda: (tree.root / BIG).write_text(tree.text("big").replace("title: big", "title: [open")),
        lambda: rewrite(tree, "title: big", "title: Ours"),
    )
    merge(tree)
    before = tree.text("big")
    value = resolve(tree.memory(), stage=True)
    assert [one.state for one in value.documents] == ["unreadable"]
    assert "invalid frontmatter" in value.documents[0].left[0].why
    assert (tree.text("big"), value.staged) == (before, ())


def test_files_with_a_filter_are_not_staged(tree: VerbTree) -> None:
    tree.git("config", "filter.odd.clean", "cat")
    tree.repository.write(".gitattributes", "*.md filter=odd\n")
    diverge(tree, lambda: rewrite(tree, BOTTOM, "Theirs."), lambda: rewrite(tree, TOP, "Ours."))
    merge(tree)
    value = resolve(tree.memory(), stage=True)
    assert (value.is_left, value.staged) == (False, ())
    assert "filter" in value.unstaged


def test_store_in_a_folder_of_a_linked_worktree(tmp_path: Path) -> None:
    main = Repository(tmp_path / "main", tmp_path / "home").init()
    main.write("README.md", "x\n")
    main.commit("Begin")
    main.git("worktree", "add", "-q", "-b", "here", str(tmp_path / "linked"))
    (tmp_path / "linked" / "sub dir").mkdir()
    tree = VerbTree(Repository(tmp_path / "linked" / "sub dir", tmp_path / "home"), Clock())
    tree.begin()
    tree.add("big", BODY)
    tree.save("Store")
    tree.git("switch", "-q", "-c", "topic")
    rewrite(tree, BOTTOM, "Theirs.")
    tree.save("Theirs")
    tree.git("switch", "-q", "here")
    rewrite(tree, TOP, "Ours.")
    tree.save("Ours")
    merge(tree)
    value = resolve(tree.memory(), stage=True)
    assert (value.is_left, value.next_step) == (False, "git commit")
    finish(tree)


def test_markers_outside_git(tmp_path: Path) -> None:
    tree = VerbTree(Repository(tmp_path / "bare", tmp_path / "home"), Clock())
    tree.root.mkdir()
    tree.begin()
    tree.add("big", BODY)
    text = tree.text("big").replace(
        "title: big\n", "<<<<<<< a\ntitle: big\n=======\ntitle: big\nauthor: me\n>>>>>>> b\n"
    )
    (tree.root / BIG).write_text(text.replace(f"{TOP}\n", f"<<<<<<< a\n{TOP}\n=======\nOther.\n>>>>>>> b\n"))
    value = resolve(tree.memory())
    assert (left(value), settled(value)) == (["text"], {"author": "only theirs changed it"})
    assert "title: big\nauthor: me\nkind: fact\n" in tree.text("big")
    assert value.next_step.startswith("resolve the remaining")


def test_concurrently_changed_file_is_not_overwritten(
    tree: VerbTree, monkeypatch: pytest.MonkeyPatch
) -> None:
    diverge(tree, lambda: rewrite(tree, TOP, "Theirs."), lambda: rewrite(tree, TOP, "Ours."))
    merge(tree)

    def slow(*arguments: Any) -> str:
        (tree.root / BIG).write_text("somebody else\n")
        return merge_lines(*arguments)

    monkeypatch.setattr(resolve_module, "merge_lines", slow)
    with pytest.raises(Conflict):
        resolve(tree.memory())
    assert tree.text("big") == "somebody else\n"


def test_resolve_command(repo: Path, run: Callable[..., Done]) -> None:
    run("init")
    calm = run("resolve")
    assert (calm.code, calm.out) == (0, "")
    assert calm.err == "Nothing to resolve\n"
    assert run("resolve", "core").err == "core: no conflict\n"
    assert run("resolve", "fact.nobody").code == 4
    assert run("resolve", "--dry-run", "--stage").code == 2
    core = repo / ".thunderus" / "memory" / "core" / "CORE.md"
    core.write_text(core.read_text() + "<<<<<<< a\none\n=======\ntwo\n>>>>>>> b\n")
    ran = run("resolve", "--json")
    assert ran.code == 1
    assert [one["left"][0]["key"] for one in ran.json["documents"]] == ["text"]
    core.write_text(core.read_text().replace("two", "one"))
    ran = run("resolve")
    assert (ran.code, "<<<<<<<" in core.read_text()) == (0, False)
    assert "1 file resolved" in ran.err


def test_resolve_can_be_undone_and_replayed(tree: VerbTree) -> None:
    diverge(tree, lambda: rewrite(tree, BOTTOM, "Theirs."), lambda: rewrite(tree, TOP, "Ours."))
    ours = tree.text("big")
    merge(tree)
    resolve(tree.memory(), stage=True)
    finish(tree)
    assert replay_check(tree.memory()).unexplained == 0
    undo(tree.memory())
    assert tree.text("big") == ours
    tree.check()
