"""Why: a document leads to its events, session, patch and commits; what nobody here has is said so."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from git_repository import Repository
from tree_writer import FACTS, IGNORED, Clock, Writer

from thunderus_mem.evidence.provenance import WhyNode, event_label, explaining_commit, why
from thunderus_mem.model.document import Document, read_document
from thunderus_mem.model.event import make_event
from thunderus_mem.store.git import Git

if TYPE_CHECKING:
    from pathlib import Path

PATH = f"{FACTS}/base.md"


@pytest.fixture
def tree(tmp_path: Path) -> Writer:
    repository = Repository(tmp_path / "tree", tmp_path / "home").init()
    repository.write(".thunderus/.gitignore", IGNORED)
    return Writer(repository, Clock())


def document(tree: Writer, name: str = "base") -> Document:
    path = f"{FACTS}/{name}.md"
    found = read_document(path, (tree.root / path).read_bytes()).document
    assert found is not None
    return found


def git_of(tree: Writer) -> Git:
    git = Git.find(str(tree.root), tree.repository.env)
    assert git is not None
    return git


def told(tree: Writer, git: Git | None) -> WhyNode:
    return why(document(tree), tree.reader, git)


def labels(node: WhyNode, kind: str) -> list[str]:
    found = [node.label] if node.kind == kind else []
    return found + [label for child in node.children for label in labels(child, kind)]


def ids(node: WhyNode, kind: str) -> list[str]:
    found = [node.id] if node.kind == kind else []
    return found + [one for child in node.children for one in ids(child, kind)]


def test_a_new_document_leads_to_its_event_session_and_patch(tree: Writer) -> None:
    event_id = tree.add("base")
    tree.add("other")
    node = told(tree, git_of(tree))
    assert (node.kind, node.id) == ("document", "fact.base")
    assert [child.kind for child in node.children] == ["event"]
    event = node.children[0]
    assert event.id == event_id
    assert [child.kind for child in event.children] == ["session", "patch", "note"]
    assert event.children[2].label == "not committed yet"
    assert event.children[1].children[0].label.startswith("create: nothing → ")
    assert {event.children[0].label, event.children[1].label} == {""}


def test_events_lead_to_the_commit_that_brought_them_in(tree: Writer) -> None:
    tree.add("base")
    first = tree.save("Add base")
    edit = tree.edit("base", "is so", "is not so")
    second = tree.save("Correct base")
    node = told(tree, git_of(tree))
    events = node.children[:2]
    assert events[1].id == edit
    assert [ids(event, "commit") for event in events] == [[first], [second]]
    assert len(ids(node, "commit")) == 2
    assert labels(node, "commit")[0].endswith("Ann Author: Add base")


def test_an_edit_by_hand_that_was_committed_is_told_by_git(tree: Writer) -> None:
    tree.add("base")
    tree.save("Add base")
    (tree.root / PATH).write_text((tree.root / PATH).read_text() + "By hand.\n")
    assert any(label.startswith("unrecorded") for label in labels(told(tree, git_of(tree)), "note"))
    sha = tree.save("By hand")
    node = told(tree, git_of(tree))
    assert sha in ids(node, "commit")
    assert not any(label.startswith("unrecorded") for label in labels(node, "note"))
    assert any(label.startswith("unrecorded") for label in labels(told(tree, None), "note"))


def test_what_the_frontmatter_names_and_nobody_here_has_is_a_note(tree: Writer) -> None:
    tree.add("base")
    sha = tree.save("Add base")
    tree.edit(
        "base",
        "  patches: []\n  commits: []",
        f"  patches:\n    - patch_away\n  commits:\n    - {sha}\n    - {'0' * 40}",
    )
    tree.edit("base", "  events:\n", "  events:\n    - evt_away\n")
    node = told(tree, git_of(tree))
    notes = {child.id: child.label for child in node.children if child.kind == "note"}
    assert set(notes) == {"evt_away", "patch_away", "0" * 40}
    assert "private to another working tree" in notes["evt_away"]
    assert "not in this clone" in notes["0" * 40]


def test_links_to_older_documents_are_named(tree: Writer) -> None:
    tree.add("base")
    tree.edit("base", "verification:", "links:\n  supersedes:\n    - fact.older\nverification:")
    assert ids(told(tree, None), "document") == ["fact.base", "fact.older"]


def test_events_about_an_alias_belong_to_the_document(tree: Writer) -> None:
    tree.add("base")
    tree.add("twin")
    tree.edit("base", "verification:", "aliases:\n  - fact.twin\nverification:")
    assert len(ids(told(tree, None), "event")) == 3


def test_a_document_outside_git_is_told_from_the_log(tree: Writer) -> None:
    tree.add("base")
    assert [child.kind for child in told(tree, None).children] == ["event"]


def test_an_old_text_is_found_in_history(tree: Writer) -> None:
    tree.add("base")
    old = document(tree).hash
    sha = tree.save("Add base")
    tree.edit("base", "is so", "is not so")
    tree.save("Change")
    commit = explaining_commit(old, PATH, git_of(tree))
    assert commit is not None
    assert commit.sha == sha
    assert explaining_commit("sha256:0", PATH, git_of(tree)) is None


def test_the_line_of_an_event_says_when_what_who_and_why() -> None:
    shared = {"id": "evt_1", "ts": "2026-01-21T09:00:00Z", "session_id": "sess_1", "actor": "agent"}
    event = make_event("patch", {"op": "add"}, why="because\n  of  it", origin={"author": "Ann"}, **shared)  # type: ignore[arg-type]
    assert event_label(event) == "2026-01-21 09:00 add by agent Ann: because of it"
    long = make_event("note", {"text": "x" * 100}, **shared)  # type: ignore[arg-type]
    assert event_label(long).endswith("x…")
    assert event_label(make_event("tool_call", {}, **shared)) == "2026-01-21 09:00 tool call by agent"  # type: ignore[arg-type]
