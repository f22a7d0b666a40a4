"""Why: the events, session, patch and commits of a document; unavailable ones are noted."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.events import make_event
from tests.support.git_repository import Repository
from tests.support.tree_writer import DOCUMENT, FACTS, IGNORED, Clock, Writer
from thunderus_mem.document.document import Document, read_document
from thunderus_mem.git.repository import Git
from thunderus_mem.history.why import WhyGraph, WhyNode, event_label, explain
from thunderus_mem.log.transitions import past_of

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


def graph_of(tree: Writer, git: Git | None) -> WhyGraph:
    logged = tree.reader.read_all().events
    past = past_of(document(tree), [entry.event for entry in logged])
    return explain(document(tree), logged, past, tree.reader, git, {})


def nodes(graph: WhyGraph, kind: str) -> list[WhyNode]:
    return [node for node in graph.nodes if node.kind == kind]


def labels(graph: WhyGraph, kind: str) -> list[str]:
    return [node.label for node in nodes(graph, kind)]


def ids(graph: WhyGraph, kind: str) -> list[str]:
    return [node.id for node in nodes(graph, kind)]


def below(graph: WhyGraph, source: str) -> list[tuple[str, str]]:
    """The edges from a node: relation and kind of the target."""
    kinds = {node.id: node.kind for node in graph.nodes}
    return [(edge.relation, kinds[edge.to]) for edge in graph.edges if edge.from_ == source]


def test_new_document_has_its_event_session_and_patch(tree: Writer) -> None:
    event_id = tree.add("base")
    tree.add("other")
    graph = graph_of(tree, git_of(tree))
    assert (graph.nodes[0].kind, graph.nodes[0].id) == ("document", "fact.base")
    assert below(graph, "fact.base") == [("changed_by", "event")]
    assert ids(graph, "event") == [event_id]
    assert below(graph, event_id) == [("in_session", "session"), ("carries", "patch"), ("says", "note")]
    assert labels(graph, "note") == ["not committed yet"]
    (change,) = nodes(graph, "change")
    assert change.label.startswith("create: (new) → ")
    assert (change.op, change.path, change.before, change.after) == (
        "create", PATH, "", document(tree).hash,
    )  # fmt: skip
    assert {*labels(graph, "session"), *labels(graph, "patch")} == {""}
    event = nodes(graph, "event")[0]
    assert (event.actor, event.op, event.ts[:10]) == ("user", "add", "2026-01-21")


def test_events_have_the_commit_that_added_them(tree: Writer) -> None:
    tree.add("base")
    first = tree.save("Add base")
    tree.edit("base", "is so", "is not so")
    edit = tree.edit("base", "is not so", "may be so")
    second = tree.save("Correct base")
    graph = graph_of(tree, git_of(tree))
    leads = [edge.to for edge in graph.edges if edge.relation == "committed_in"]
    assert leads == [first, second, second]
    assert ids(graph, "event")[-1] == edit
    assert ids(graph, "commit") == [first, second]
    assert labels(graph, "commit")[0].endswith("Ann Author: Add base")


def test_commit_where_a_shallow_clone_begins_is_marked(tree: Writer, tmp_path: Path) -> None:
    tree.add("base")
    tree.save("Add base")
    tree.repository.write("README.md", "Other.\n")
    cut = tree.save("Describe")
    tree.edit("base", "is so", "is not so")
    last = tree.save("Correct base")
    copy = Writer(tree.repository.clone(tmp_path / "copy", "--depth", "2", "--no-local"), Clock())
    graph = graph_of(copy, git_of(copy))
    assert [(node.id, node.mark) for node in nodes(graph, "commit")] == [(cut, "shallow"), (last, "")]
    assert {node.mark for node in nodes(graph_of(tree, git_of(tree)), "commit")} == {""}


def test_graph_is_complete_and_deterministic(tree: Writer) -> None:
    tree.add("base")
    tree.edit("base", "verification:", "links:\n  supersedes:\n    - fact.base\nverification:")
    tree.save("Add base")
    graph = graph_of(tree, git_of(tree))
    assert graph == graph_of(tree, git_of(tree))
    known = [node.id for node in graph.nodes]
    assert len(known) == len(set(known))
    assert {end for edge in graph.edges for end in (edge.from_, edge.to)} == set(known)
    assert ("supersedes", "document") in below(graph, "fact.base")


def test_moved_file_keeps_its_commits(tree: Writer) -> None:
    tree.repository.write(PATH, DOCUMENT.format(name="base", event="evt_1"))
    first = tree.save("First")
    tree.edit("base", "is so", "is not so")
    tree.git("mv", PATH, f"{FACTS}/moved.md")
    second = tree.save("Move")
    moved = read_document(f"{FACTS}/moved.md", (tree.root / FACTS / "moved.md").read_bytes()).document
    assert moved is not None
    logged = tree.reader.read_all().events
    past = past_of(moved, [entry.event for entry in logged])
    graph = explain(moved, logged, past, tree.reader, git_of(tree), {})
    assert set(ids(graph, "commit")) == {first, second}


def test_committed_hand_edit_is_found_in_git(tree: Writer) -> None:
    tree.add("base")
    tree.save("Add base")
    (tree.root / PATH).write_text((tree.root / PATH).read_text() + "By hand.\n")
    assert any(label.startswith("unrecorded") for label in labels(graph_of(tree, git_of(tree)), "note"))
    sha = tree.save("By hand")
    graph = graph_of(tree, git_of(tree))
    assert sha in ids(graph, "commit")
    assert not any(label.startswith("unrecorded") for label in labels(graph, "note"))
    assert any(label.startswith("unrecorded") for label in labels(graph_of(tree, None), "note"))


def test_unknown_origin_in_the_frontmatter_is_a_note(tree: Writer) -> None:
    tree.add("base")
    sha = tree.save("Add base")
    tree.edit(
        "base",
        "  patches: []\n  commits: []",
        f"  patches:\n    - patch_away\n  commits:\n    - {sha}\n    - {'0' * 40}",
    )
    tree.edit("base", "  events:\n", "  events:\n    - evt_away\n")
    graph = graph_of(tree, git_of(tree))
    notes = {one.id: one.label for one in nodes(graph, "missing")}
    assert set(notes) == {"evt_away", "patch_away", "0" * 40}
    assert "private to another working tree" in notes["evt_away"]
    assert "not in this clone" in notes["0" * 40]


def test_links_to_older_documents_are_listed(tree: Writer) -> None:
    tree.add("base")
    tree.edit("base", "verification:", "links:\n  supersedes:\n    - fact.older\nverification:")
    assert ids(graph_of(tree, None), "document") == ["fact.base", "fact.older"]


def test_events_about_an_alias_belong_to_the_document(tree: Writer) -> None:
    tree.add("base")
    tree.add("twin")
    tree.edit("base", "verification:", "aliases:\n  - fact.twin\nverification:")
    assert len(ids(graph_of(tree, None), "event")) == 3


def test_document_outside_git_is_explained_by_the_log(tree: Writer) -> None:
    tree.add("base")
    assert below(graph_of(tree, None), "fact.base") == [("changed_by", "event")]


def test_event_line_contains_time_operation_actor_and_reason() -> None:
    shared = {"id": "evt_1", "ts": "2026-01-21T09:00:00Z", "session_id": "sess_1", "actor": "agent"}
    event = make_event("patch", {"op": "add"}, why="because\n  of  it", origin={"author": "Ann"}, **shared)  # type: ignore[arg-type]
    assert event_label(event) == "2026-01-21 09:00 add by Ann (agent): because of it"
    long = make_event("note", {"text": "x" * 100}, **shared)  # type: ignore[arg-type]
    assert event_label(long).endswith("x…")
    assert event_label(make_event("tool_call", {}, **shared)) == "2026-01-21 09:00 tool call by agent"  # type: ignore[arg-type]
