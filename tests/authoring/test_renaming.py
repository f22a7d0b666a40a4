"""`rename`: id, file, alias, and everything in the memory that names the document; no other line changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.tree_writer import FACTS
from tests.support.verb_tree import VerbTree, begun
from thunderus_mem.authoring import add
from thunderus_mem.authoring.add import NewDocument
from thunderus_mem.authoring.edit import DocumentEdits, edit
from thunderus_mem.authoring.rename import Name, mentions, new_path, rename, retarget, with_new_id
from thunderus_mem.authoring.show import show, status
from thunderus_mem.diagnostic import Severity
from thunderus_mem.document.diff import apply_diff
from thunderus_mem.document.document import Document, read_document
from thunderus_mem.errors import DocumentExists, InvalidDocument, NotFound, NotWritable
from thunderus_mem.history.blame import blame
from thunderus_mem.history.log import log
from thunderus_mem.history.replay import replay_check
from thunderus_mem.history.reverse import UndoChoice
from thunderus_mem.history.undo import undo
from thunderus_mem.history.why import why
from thunderus_mem.lint.lint import lint
from thunderus_mem.log.event import changes_of
from thunderus_mem.search.search import search

if TYPE_CHECKING:
    from pathlib import Path

LAWS = settings(deadline=None, max_examples=60, derandomize=True)
OLD = Name("fact.net.frames", f"{FACTS}/net.frames.md")
NEW = Name("fact.wire.header", f"{FACTS}/wire.header.md")
HEADER = """---
id: fact.other
title: Other
kind: fact
tags: [x]
created: 2026-01-21T09:00:00Z
updated: 2026-01-21T09:00:00Z
{links}provenance: {{events: [], patches: [], commits: []}}
verification: {{last_verified_commit: null, status: unknown}}
---
{body}"""


def other(body: str = "", links: str = "", eol: str = "\n") -> Document:
    text = HEADER.format(body=body, links=links).replace("\n", eol)
    read = read_document(f"{FACTS}/other.md", text.encode()).document
    assert read is not None
    return read


def means(name: str) -> bool:
    return name.removesuffix(".md") in (OLD.id, "net.frames")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("[[fact.net.frames]]", "[[fact.wire.header]]"),
        ("[[fact.net.frames|as we know]]", "[[fact.wire.header|as we know]]"),
        ("[[ fact.net.frames#A heading|x]]", "[[ fact.wire.header#A heading|x]]"),
        ("[[net.frames]] [[net.frames.md]]", "[[fact.wire.header]] [[fact.wire.header]]"),
        ("[a](net.frames.md)", "[a](wire.header.md)"),
        ("[a](./net.frames.md#x 'title')", "[a](./wire.header.md#x 'title')"),
        ("[a](<../FACTS/net.frames.md>)", "[a](<../FACTS/wire.header.md>)"),
        ("[a](net%2Eframes.md?raw=1#x)", "[a](wire.header.md?raw=1#x)"),
        ("[a](net.frames)", "[a](wire.header)"),
        ("see [a].\n\n[a]: ../FACTS/net.frames.md\n", "see [a].\n\n[a]: ../FACTS/wire.header.md\n"),
        (f"`{OLD.path}`", f"`{NEW.path}`"),
        (f"` {OLD.path}:12`", f"` {NEW.path}:12`"),
        (f"[[{OLD.path}]]", f"[[{NEW.path}]]"),
        ("- [[fact.net.frames]] and [[fact.net.frames]]", "- [[fact.wire.header]] and [[fact.wire.header]]"),
    ],
)
@pytest.mark.parametrize("eol", ["\n", "\r\n"])
def test_references_are_updated(before: str, after: str, eol: str) -> None:
    document = other(f"# Title\n\nBefore. {before} After.\n", eol=eol)
    text = retarget(document, OLD, NEW, means)
    assert text == document.text.replace(before.replace("\n", eol), after.replace("\n", eol))


@pytest.mark.parametrize(
    "body",
    [
        "fact.net.frames in prose and `fact.net.frames` in code",
        "[[fact.net.frames-too]] [[fact.net]] [[Other]]",
        "[a](../other/net.frames.md) [b](https://example.org/net.frames.md) ![c](net.frames.png)",
        "```\n[[fact.net.frames]] [a](net.frames.md)\n```\n",
        "<!--\n[[fact.net.frames]]\n-->\n",
        "`[[fact.net.frames]]`",
        "`src/net.frames.md`",
    ],
)
def test_other_names_and_code_are_kept(body: str) -> None:
    document = other(body)
    assert retarget(document, OLD, NEW, means) == document.text


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "links:\n  refers_to:\n    - fact.a  # why\n    - 'fact.net.frames'   # kept\n",
            "links:\n  refers_to:\n    - fact.a  # why\n    - 'fact.wire.header'   # kept\n",
        ),
        (
            "links: {supersedes: [fact.net.frames, adr.b]}\n",
            "links: {supersedes: [fact.wire.header, adr.b]}\n",
        ),
        (
            "links:\n  derives_from: [net.frames]\n  duplicates:\n  - fact.net.frames\n",
            "links:\n  derives_from: [fact.wire.header]\n  duplicates:\n  - fact.wire.header\n",
        ),
        (
            "links:\n  refers_to:\n    - fact.net.frames\n    - fact.wire.header\n",
            "links:\n  refers_to:\n    - fact.wire.header\n",
        ),
        ("links:\n  refers_to: [fact.a]\n", "links:\n  refers_to: [fact.a]\n"),
        ("x-other: [fact.net.frames]\n", "x-other: [fact.net.frames]\n"),
    ],
)
def test_links_are_updated(before: str, after: str) -> None:
    document = other("Text.\n", before)
    assert retarget(document, OLD, NEW, means) == document.text.replace(before, after)


def test_id_path_and_aliases_of_the_document_are_updated() -> None:
    text = other("Text.\n", "aliases: ['fact.new', a phrase]\n").text
    after = read_document("x", with_new_id(text, "fact.other", "fact.new").encode()).document
    assert after is not None
    assert (after.id, after.aliases) == ("fact.new", ("a phrase", "fact.other"))
    assert with_new_id(text, "fact.other", "fact.new", keeps_old=False) == text.replace(
        "id: fact.other", "id: fact.new"
    ).replace("['fact.new', a phrase]", "[a phrase]")


@pytest.mark.parametrize(
    ("path", "kind", "new_id", "wanted"),
    [
        ("m/FACTS/a.md", "fact", "fact.b.c", "m/FACTS/b.c.md"),
        ("m/FACTS/sub/a.md", "fact", "other.b", "m/FACTS/sub/other.b.md"),
        ("m/DECISIONS/ADR-0007-a.md", "adr", "adr.use-jwt", "m/DECISIONS/ADR-0007-use-jwt.md"),
        ("m/DECISIONS/adr-7.md", "adr", "adr.use-jwt", "m/DECISIONS/adr-7-use-jwt.md"),
        ("m/DECISIONS/use.md", "adr", "adr.use-jwt", "m/DECISIONS/use-jwt.md"),
    ],
)
def test_file_is_named_after_the_id(path: str, kind: str, new_id: str, wanted: str) -> None:
    assert new_path(other()._replace(path=path, kind=kind), new_id) == wanted


def test_mentions_are_whole_names() -> None:
    lines = (f"{OLD.id}.", f"{OLD.id}-2", f"x{OLD.id}", f"({OLD.id})", f"../{OLD.path}", f"{OLD.id}.x")
    text = "\n".join(lines)
    assert mentions(text, OLD) == (1, 4, 5)
    assert mentions("core is a word\n", Name("core", "core/CORE.md")) == ()


PIECES = st.lists(
    st.sampled_from(
        [
            "[[fact.net.frames]]",
            "[a](net.frames.md)",
            "`x`",
            "text",
            "```",
            "\n",
            "\r\n",
            "<!-- ",
            " -->",
            "[[b]]",
            "é",
        ]
    ),
    max_size=12,
)


@given(PIECES)
@LAWS
def test_only_lines_with_the_name_change_and_only_once(pieces: list[str]) -> None:
    document = other(" ".join(pieces))
    text = retarget(document, OLD, NEW, means)
    before, after = document.text.split("\n"), text.split("\n")
    assert len(before) == len(after)
    for old, new in zip(before, after, strict=True):
        assert old == new or "net.frames" in old
        assert (
            new.replace("fact.wire.header", "fact.net.frames").replace("wire.header.md", "net.frames.md")
            == old
        )
    again = read_document(document.path, text.encode()).document
    assert again is not None
    assert retarget(again, OLD, NEW, means) == text


@pytest.fixture
def tree(tmp_path: Path) -> VerbTree:
    made = begun(tmp_path / "tree")
    add.add(
        made.memory(), NewDocument("fact", "Frames", body="They have four bytes.\n", tags=["one"], id=OLD.id)
    )
    made.add("other", "See [[fact.net.frames]] and [it](net.frames.md).\n")
    edit(made.memory(), "fact.other", DocumentEdits(sets={"links.refers_to": ["fact.net.frames"]}))
    made.add("calm", "Nothing to see.\n")
    made.save("Begin")
    return made


def test_rename_updates_all_documents_in_one_event(tree: VerbTree) -> None:
    before = {name: tree.text(name) for name in ("net.frames", "other", "calm")}
    events = len(tree.events())
    value = rename(tree.memory(), "fact.net.frames", "fact.wire.header", why="clearer")
    assert (value.id, value.path, value.followed) == (NEW.id, NEW.path, ("fact.other",))
    assert tree.names() == {"wire.header", "other", "calm"}
    wanted = before["net.frames"].replace("id: fact.net.frames", "id: fact.wire.header")
    wanted = wanted.replace("kind:", "aliases:\n  - fact.net.frames\nkind:")
    assert tree.text("wire.header") == wanted
    assert tree.text("other") == before["other"].replace("net.frames", "wire.header")
    assert tree.text("calm") == before["calm"]
    assert len(tree.events()) == events + 1
    memory = tree.memory()
    assert [one for one in lint(memory).diagnostics if one.severity is Severity.ERROR] == []
    assert status(memory).unrecorded == ()
    tree.check()


def test_event_contains_all_texts(tree: VerbTree) -> None:
    before = {path: tree.text(path) for path in ("net.frames", "other")}
    value = rename(tree.memory(), "fact.net.frames", "fact.wire.header")
    (event,) = [one.event for one in tree.reader.read_all().events if one.event.id == value.event_id]
    changes = {change.path: change for change in changes_of(event)}
    assert [change.op for change in changes_of(event)] == ["rename", "rename", "update"]
    assert apply_diff(before["net.frames"], changes[OLD.path].diff or "") == ""
    assert apply_diff("", changes[NEW.path].diff or "") == tree.text("wire.header")
    assert apply_diff(before["other"], changes[f"{FACTS}/other.md"].diff or "") == tree.text("other")


def test_old_id_still_finds_the_document(tree: VerbTree) -> None:
    rename(tree.memory(), "fact.net.frames", "fact.wire.header")
    memory = tree.memory()
    assert show(memory, "fact.net.frames").id == "fact.wire.header"
    assert search(memory, "fact.net.frames").hits[0].id == "fact.wire.header"
    assert [entry.op for entry in log(memory, "fact.net.frames").events] == ["rename", "add"]
    assert [entry.op for entry in log(memory, "fact.wire.header").events] == ["rename", "add"]
    labels = [node.label for node in why(memory, "fact.net.frames").nodes if node.kind == "event"]
    assert [word for label in labels for word in ("add", "rename") if word in label] == ["add", "rename"]
    rename(memory, "fact.net.frames", "fact.third")
    assert show(memory, "fact.net.frames").id == "fact.third"
    assert [entry.op for entry in log(memory, "fact.third").events] == ["rename", "rename", "add"]


def test_rename_back_restores_the_texts(tree: VerbTree) -> None:
    before = tree.text("other")
    rename(tree.memory(), "fact.net.frames", "fact.wire.header")
    rename(tree.memory(), "fact.wire.header", "fact.net.frames")
    assert tree.text("other") == before
    assert "aliases:\n  - fact.wire.header\n" in tree.text("net.frames")
    tree.check()


def test_names_in_other_spellings_are_updated(tree: VerbTree) -> None:
    text = tree.text("calm").replace("Nothing", "[a](net%2eframes.md) [[NET.Frames]]")
    (tree.root / FACTS / "calm.md").write_text(text)
    value = rename(tree.memory(), "fact.net.frames", "fact.wire.header")
    assert value.followed == ("fact.calm", "fact.other")
    assert "[a](wire.header.md) [[fact.wire.header]] to see." in tree.text("calm")


def test_modification_times_are_kept(tree: VerbTree) -> None:
    read = {name: read_document("", tree.text(name).encode()).document for name in ("net.frames", "other")}
    rename(tree.memory(), "fact.net.frames", "fact.wire.header")
    for old, new in (("net.frames", "wire.header"), ("other", "other")):
        after, was = read_document("", tree.text(new).encode()).document, read[old]
        assert after is not None
        assert was is not None
        assert (after.title, after.created, after.updated) == (was.title, was.created, was.updated)


def test_plan_writes_nothing(tree: VerbTree) -> None:
    before = {path: path.read_bytes() for path in tree.root.rglob("*.md")}
    events = tree.events()
    value = rename(tree.memory(), "fact.net.frames", "fact.wire.header", dry_run=True)
    assert f"rename from {OLD.path}\nrename to {NEW.path}\n" in value.diff
    assert "-See [[fact.net.frames]] and [it](net.frames.md).\n" in value.diff
    assert "+See [[fact.wire.header]] and [it](wire.header.md).\n" in value.diff
    assert {path: path.read_bytes() for path in tree.root.rglob("*.md")} == before
    assert tree.events() == events


def test_unchanged_mentions_are_reported(tree: VerbTree) -> None:
    tree.repository.write("README.md", f"x\nsee [it]({OLD.path})\n")
    tree.repository.write("docs/a.md", f"see ../{OLD.path} and fact.net.frames\n")
    tree.repository.write("untracked.md", OLD.path)
    tree.git("add", "README.md", "docs")
    tree.edit("calm", "Nothing to see.", "In prose fact.net.frames is not touched.")
    value = rename(tree.memory(), "fact.net.frames", "fact.wire.header")
    named = {(one.path, one.line) for one in value.mentions}
    line = tree.text("calm").split("\n").index("In prose fact.net.frames is not touched.") + 1
    assert named == {("README.md", 2), ("docs/a.md", 1), (f"{FACTS}/calm.md", line)}
    assert OLD.path in (tree.root / "README.md").read_text()


def test_invalid_renames_are_rejected(tree: VerbTree) -> None:
    edit(tree.memory(), "fact.calm", DocumentEdits(sets={"aliases": ["the calm"]}))
    (tree.root / FACTS / "Taken.md").write_text("no document\n")
    for new_id, error, message in (
        ("fact.calm", DocumentExists, "already exists"),
        ("calm", DocumentExists, "already an alias of 'fact.calm'"),
        ("fact.taken", DocumentExists, "already exists"),
        ("FACT.calm", DocumentExists, "already exists"),
        ("a b", InvalidDocument, "invalid id"),
        ("nul", InvalidDocument, "invalid id"),
        ("../x", InvalidDocument, "invalid id"),
        ("adr.frames", InvalidDocument, "of the kind 'adr', but the document is of kind 'fact'"),
    ):
        with pytest.raises(error, match=message):
            rename(tree.memory(), "fact.net.frames", new_id)
    with pytest.raises(NotFound):
        rename(tree.memory(), "fact.nobody", "fact.x")
    with pytest.raises(InvalidDocument, match="cannot be renamed"):
        rename(tree.memory(), "core", "fact.x")
    assert not rename(tree.memory(), "fact.net.frames", "fact.net.frames").changed
    assert "rename" not in [one.event.body.get("op") for one in tree.reader.read_all().events]


def test_id_that_differs_only_in_case_already_exists(tree: VerbTree) -> None:
    text = tree.text("calm").replace("id: fact.calm", "id: Fact.Calm")
    (tree.root / FACTS / "calm.md").write_text(text)
    with pytest.raises(DocumentExists, match=r"Fact\.Calm' already exists"):
        rename(tree.memory(), "fact.net.frames", "fact.calm")
    # On some systems the file already has that name.
    value = rename(tree.memory(), "Fact.Calm", "fact.calm")
    assert (value.id, value.path) == ("fact.calm", f"{FACTS}/calm.md")


def test_named_file_of_two_with_one_id_is_renamed(tree: VerbTree) -> None:
    (tree.root / FACTS / "zz.md").write_text(tree.text("net.frames").replace("four", "five"))
    other_text = tree.text("other")
    with pytest.raises(InvalidDocument, match="2 files have the id"):
        rename(tree.memory(), "fact.net.frames", "fact.five")
    value = rename(tree.memory(), f"{FACTS}/zz.md", "fact.five")
    assert (value.followed, tree.text("other")) == ((), other_text)
    assert "aliases" not in tree.text("five")
    assert show(tree.memory(), "fact.net.frames").path == OLD.path
    assert [one for one in lint(tree.memory()).diagnostics if one.rule == "TM103"] == []


def test_decision_keeps_its_number(tree: VerbTree) -> None:
    add.add(
        tree.memory(),
        NewDocument(
            "adr", "Use JWT", body="## Context\n\nx\n\n## Decision\n\ny\n\n## Consequences\n\nz\n", tags=["x"]
        ),
    )
    value = rename(tree.memory(), "ADR-1", "adr.use-paseto")
    assert value.path.endswith("DECISIONS/ADR-0001-use-paseto.md")
    assert [one.rule for one in lint(tree.memory()).diagnostics if one.path == value.path] == []


def test_hand_edit_is_recorded_first(tree: VerbTree) -> None:
    (tree.root / FACTS / "other.md").write_text(tree.text("other").replace("See", "Look at"))
    value = rename(tree.memory(), "fact.net.frames", "fact.wire.header")
    assert value.recorded == ("fact.other",)
    assert "Look at [[fact.wire.header]]" in tree.text("other")
    tree.check()


def test_rename_can_be_undone_blamed_and_replayed(tree: VerbTree) -> None:
    before = {name: tree.text(name) for name in ("net.frames", "other", "calm")}
    rename(tree.memory(), "fact.net.frames", "fact.wire.header")
    assert {line.source for line in blame(tree.memory(), "fact.net.frames").lines} <= {
        source.id for source in blame(tree.memory(), "fact.wire.header").sources
    }
    assert replay_check(tree.memory()).unexplained == 0
    undo(tree.memory())
    assert {name: tree.text(name) for name in before} == before
    undo(tree.memory(), UndoChoice(redo=True))
    assert tree.names() == {"wire.header", "other", "calm"}
    assert replay_check(tree.memory()).unexplained == 0
    tree.check()


def test_unreadable_document_stops_a_rename(tree: VerbTree, monkeypatch: pytest.MonkeyPatch) -> None:
    from thunderus_mem.authoring import rename as rename_module
    from thunderus_mem.store import files

    before = {name: tree.text(name) for name in tree.names()}
    read = files.read_file

    def refuse(path: str, limit: int) -> bytes:
        if path.endswith("other.md"):
            raise NotWritable(f"{path} could not be read", hint="mend its permissions")
        return read(path, limit)

    monkeypatch.setattr(rename_module, "read_file", refuse)
    with pytest.raises(NotWritable, match="other"):
        rename(tree.memory(), OLD.id, NEW.id)
    monkeypatch.undo()
    assert {name: tree.text(name) for name in tree.names()} == before
    assert rename(tree.memory(), OLD.id, NEW.id).followed == ("fact.other",)
