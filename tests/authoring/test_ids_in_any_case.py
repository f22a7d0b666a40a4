"""Ids in any case: kept as written, unique without regard to case, found in any case."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.support.command_server import Done

    Run = Callable[..., Done]

FACTS = ".thunderus/memory/semantic/FACTS"


def add(run: Run, id: str, title: str = "Testing", *more: str) -> Done:
    return run("add", "fact", title, "--id", id, "--tag", "x", "--body", f"About {title} and {id}.", *more)


def test_id_is_kept_as_written(repo: Path, run: Run) -> None:
    run("init")
    assert add(run, "fact.LLVM-Cov").code == 0
    text = (repo / FACTS / "llvm-cov.md").read_text(encoding="utf-8")
    assert "\nid: fact.LLVM-Cov\n" in text
    assert run("lint").code == 0
    assert run("list", "--kind", "fact", "--json").json["documents"][0]["id"] == "fact.LLVM-Cov"


@pytest.mark.parametrize("given", ["fact.LLVM-Cov", "fact.llvm-cov", "FACT.LLVM-COV", "llvm-C", "fact.llvm"])
def test_document_is_found_in_any_case(repo: Path, run: Run, given: str) -> None:
    run("init")
    add(run, "fact.LLVM-Cov")
    assert run("show", given, "--json").json["id"] == "fact.LLVM-Cov"
    run("note", "More", "--title", "More")
    assert add(run, "fact.more", "More").code == 0
    (repo / FACTS / "more.md").open("a").write("See [[FACT.llvm-cov]].\n")
    assert [one["rule"] for one in run("lint", "--json").json["diagnostics"]] == []


def test_ids_that_differ_in_case_alone_are_refused(repo: Path, run: Run) -> None:
    run("init")
    add(run, "fact.Testing")
    refused = add(run, "FACT.testing", "Another")
    assert refused.code == 3
    assert "'fact.Testing' already exists" in refused.err
    assert add(run, "fact.other", "Other").code == 0
    refused = run("rename", "fact.other", "fact.TESTING")
    assert refused.code == 3
    assert "'fact.Testing' already exists" in refused.err
    assert run("rename", "fact.Testing", "fact.testing").code == 0
    assert sorted(path.name for path in (repo / FACTS).iterdir()) == ["other.md", "testing.md"]


def test_hand_written_ids_that_differ_in_case_alone_are_reported(repo: Path, run: Run) -> None:
    run("init")
    add(run, "fact.Testing")
    text = (repo / FACTS / "testing.md").read_text(encoding="utf-8")
    (repo / FACTS / "two.md").write_text(text.replace("fact.Testing", "FACT.testing"), encoding="utf-8")
    found = {(one["rule"], one["key"]) for one in run("lint", "--json").json["diagnostics"]}
    assert ("TM112", "id") in found


def test_import_keeps_ids_and_treats_case_as_taken(repo: Path, run: Run) -> None:
    run("init")
    (repo / "docs").mkdir()
    for name, id in (("a", "ADR-0001"), ("b", "adr-0001")):
        (repo / f"docs/{name}.md").write_text(
            f"---\nid: {id}\ntitle: Page {name}\n---\n# Page {name}\n\nText {name}.\n"
        )
    assert run("import", "markdown", "docs", "--kind", "fact").code == 0
    assert [one["id"] for one in run("list", "--json").json["documents"] if one["kind"] == "fact"] == [
        "ADR-0001",
        "fact.page-b",
    ]
    assert not [one for one in run("lint", "--json").json["diagnostics"] if one["severity"] == "error"]


def test_migrate_keeps_ids_in_upper_case(repo: Path, run: Run) -> None:
    run("init")
    add(run, "fact.Testing")
    before = (repo / FACTS / "testing.md").read_bytes()
    assert run("migrate", "--apply").code == 0
    assert (repo / FACTS / "testing.md").read_bytes() == before


def test_relation_in_another_case_is_reported_with_the_id(repo: Path, run: Run) -> None:
    run("init")
    add(run, "fact.Testing")
    add(run, "fact.other", "Other", "--link", "refers_to:FACT.TESTING")
    text = (repo / FACTS / "other.md").read_text(encoding="utf-8")
    assert "fact.Testing" in text
    (repo / FACTS / "other.md").write_text(text.replace("fact.Testing", "FACT.TESTING", 1), encoding="utf-8")
    hints = [one["hint"] for one in run("lint", "--json").json["diagnostics"] if one["rule"] == "TM204"]
    assert hints == ["Did you mean fact.Testing?"]


def test_rename_updates_references_in_any_case(repo: Path, run: Run) -> None:
    run("init")
    add(run, "fact.Testing")
    add(run, "fact.other", "Other")
    (repo / FACTS / "other.md").open("a").write("See [[FACT.testing]] and [[fact.Testing]].\n")
    assert run("rename", "FACT.TESTING", "fact.Checks").code == 0
    text = (repo / FACTS / "other.md").read_text(encoding="utf-8")
    assert "See [[fact.Checks]] and [[fact.Checks]]." in text
