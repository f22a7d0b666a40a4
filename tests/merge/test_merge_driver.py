"""Git calls the merge driver for every document, as configured by a user."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from tests.conftest import PROJECT
from tests.support.tree_writer import FACTS
from tests.support.verb_tree import VerbTree, begun
from thunderus_mem.authoring.edit import DocumentEdits, edit
from thunderus_mem.merge.resolve import resolve

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.support.command_server import Done

BODY = "The first line.\n\nThe middle stays.\n\nThe last line.\n"


@pytest.fixture
def tree(tmp_path: Path) -> VerbTree:
    made = begun(tmp_path / "my tree")
    made.add("big", BODY)
    made.save("Begin")
    program = f"PYTHONPATH='{PROJECT}' '{sys.executable}' -m thunderus_mem"
    made.git("config", "merge.thunderus-mem.driver", f"{program} merge-driver %O %A %B %P")
    attributes = made.root / ".git" / "info" / "attributes"
    attributes.parent.mkdir(exist_ok=True)
    attributes.write_text(".thunderus/memory/**/*.md merge=thunderus-mem\n")
    return made


def diverge(tree: VerbTree, theirs: tuple[str, str], ours: tuple[str, str]) -> None:
    for branch, tag, change in (("topic", "beta", theirs), ("main", "alpha", ours)):
        tree.git("switch", "-q", *(("-c", "topic") if branch == "topic" else ("main",)))
        edit(tree.memory(), "fact.big", DocumentEdits(add_tags=[tag]))
        tree.edit("big", *change)
        tree.save(branch)


def test_driver_merges_what_git_alone_cannot(tree: VerbTree) -> None:
    diverge(tree, ("The last line.", "Theirs."), ("The first line.", "Ours."))
    merged = tree.repository.try_git("merge", "--no-edit", "topic")
    assert merged.returncode == 0, merged.stdout + merged.stderr
    assert f"{FACTS}/big.md: resolved tags, updated" in merged.stderr
    text = tree.text("big")
    assert "  - alpha\n  - beta\n  - one\n" in text
    assert {"Ours.", "Theirs."} <= set(text.splitlines())
    tree.check()


def test_remaining_conflicts_are_marked_for_resolve(tree: VerbTree) -> None:
    diverge(tree, ("The first line.", "Theirs."), ("The first line.", "Ours."))
    merged = tree.repository.try_git("merge", "--no-edit", "topic")
    assert merged.returncode == 1
    assert "unresolved text, lines 22 to 26: both sides changed them" in merged.stderr
    assert tree.text("big").count("<<<<<<<") == 1
    assert "  - alpha\n  - beta\n  - one\n" in tree.text("big")
    value = resolve(tree.memory())
    assert [one.key for one in value.documents[0].left] == ["text"]


def test_two_documents_in_one_file_are_not_mixed(tree: VerbTree) -> None:
    lines = "".join(f"Line {number} is the same in both.\n" for number in range(20))
    tree.add("old", lines)
    tree.save("Old")
    tree.git("switch", "-q", "-c", "topic")
    (tree.root / FACTS / "old.md").unlink()
    tree.add("fresh", lines)
    tree.save("Theirs")
    tree.git("switch", "-q", "main")
    tree.edit("old", "Line 3 is", "Line 3 was")
    tree.save("Ours")
    # Git alone would put our change into their new document, without a word.
    merged = tree.repository.try_git("merge", "--no-edit", "topic")
    assert merged.returncode == 1
    assert "resolve` to separate them" in merged.stderr
    assert not resolve(tree.memory(), stage=True).is_left
    assert "Line 3 was" in tree.text("old")
    assert "Line 3 was" not in tree.text("fresh")


def test_invalid_documents_are_merged_by_line(tmp_path: Path, run: Callable[..., Done]) -> None:
    for name, line in (("o", "0"), ("a", "1"), ("b", "0")):
        (tmp_path / name).write_text(f"{line}\nx\ny\nz\n{'2' if name == 'b' else '0'}\n")
    assert run("merge-driver", "o", "a", "b", "notes/any file.md").code == 0
    assert (tmp_path / "a").read_text() == "1\nx\ny\nz\n2\n"
    (tmp_path / "b").write_text("3\nx\ny\nz\n0\n")
    ran = run("merge-driver", "o", "a", "b", "notes/any file.md")
    assert ran.code == 1
    assert "<<<<<<< ours\n1\n=======\n3\n>>>>>>> theirs\n" in (tmp_path / "a").read_text()
    (tmp_path / "b").write_bytes(b"\xff\n")
    assert run("merge-driver", "o", "a", "b", "x.md").code == 2
    assert run("merge-driver", "o", "a", "gone", "x.md").code == 4
