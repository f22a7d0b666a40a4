"""Names by which a document can be found, and the message if there is none, on the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.support.command_server import Done

    Run = Callable[..., Done]


@pytest.fixture
def store(repo: Path, run: Run, once: Callable[..., None]) -> Path:

    def make() -> None:
        run("init")
        (repo / "docs").mkdir()
        (repo / "docs/0007-use-jwt.md").write_text("# 7. Use JWT\n\nIt is a token.\n")
        run("import", "markdown", "docs", "--kind", "adr")
        run("add", "fact", "Gone soon", "--tag", "x", "--body", "Nobody needs this for long.")
        run("remove", "fact.gone-soon", "-m", "it is over")

    once(make)
    return repo


@pytest.mark.parametrize("given", ["7", "0007", "ADR-7", "adr-0007", "docs/0007-use-jwt.md", "use-j"])
def test_decision_is_found_by_number_and_by_original_path(store: Path, run: Run, given: str) -> None:
    assert run("show", given, "--json").json["id"] == "adr.use-jwt"


def test_removed_document_is_not_found_with_a_hint_to_the_log(store: Path, run: Run) -> None:
    ran = run("show", "fact.gone-soon")
    assert ran.code == 4
    assert "it was removed" in ran.err
    assert "thunderus-mem log fact.gone-soon" in ran.err


@pytest.mark.parametrize("command", ["show", "why", "log"])
@pytest.mark.parametrize("given", ["", "  "])
def test_empty_id_is_rejected(store: Path, run: Run, command: str, given: str) -> None:
    ran = run(command, given)
    assert (ran.code, ran.out) == (2, "")
    assert "the id is empty" in ran.err
    assert "adr.use-jwt" not in ran.err


@pytest.mark.parametrize(
    ("given", "hint"),
    [
        ("adr.use-jwtt", "did you mean adr.use-jwt?"),
        ("fact.go", "thunderus-mem list"),
        ("cor.e", "did you mean core?"),
        ("nope", "thunderus-mem list"),
        ("adr.a-jet", "thunderus-mem list"),
    ],
)
def test_only_similar_names_are_suggested(store: Path, run: Run, given: str, hint: str) -> None:
    ran = run("show", given)
    assert ran.code == 4
    assert hint in ran.err


@pytest.mark.parametrize(
    ("filters", "named"),
    [
        (("--kind", "fct"), "fct"),
        (("since:2026-13-01",), "2026-13-01"),
        (("before:soon",), "soon"),
        (("status:accepted",), "`state:accepted`"),
        (("tokens",), "'tokens' is not a filter"),
        (("verdct:stale",), "did you mean `verdict:`?"),
        (("https://stale",), "'https://stale' is not a filter"),
    ],
)
def test_invalid_filter_is_an_error(store: Path, run: Run, filters: tuple[str, ...], named: str) -> None:
    ran = run("list", *filters)
    assert (ran.code, ran.out) == (2, "")
    assert named in ran.err


def test_imported_core_replaces_the_empty_template(store: Path, run: Run) -> None:
    (store / "CLAUDE.md").write_text("# Our house\n\nBuild with make.\n")
    done = run("import", "markdown", "CLAUDE.md", "--kind", "core", "--json").json
    assert [(file["id"], file["path"]) for file in done["files"]] == [
        ("core", ".thunderus/memory/core/CORE.md")
    ]
    assert "Build with make." in run("show", "core").out
    (store / "OTHER.md").write_text("# Another house\n\nBuild with cargo.\n")
    again = run("import", "markdown", "OTHER.md", "--kind", "core", "--json").json
    assert again["files"][0]["id"] == "core.another-house"
    assert run("events", "verify").code == 0


def test_remove_and_undo_name_the_documents_whose_texts_link_to_it(store: Path, run: Run) -> None:
    run("add", "fact", "One", "--tag", "x", "--body", "It is the first.")
    added = run("--json", "log", "--all", "-n", "1").json["events"][0]["id"]
    texts = {
        "Two": "See [[fact.one#why]].",
        "Three": "See [it](one.md).",
        "Four": "Nothing about `[[fact.one]]`.",
    }
    for title, text in texts.items():
        run("add", "fact", title, "--tag", "x", "--body", f"{text} It is about {title.lower()}.")
    facts = ".thunderus/memory/semantic/FACTS"
    for command in (
        ["undo", added, "--dry-run"],
        ["undo", added],
        ["undo", "--redo"],
        ["remove", "one", "-m", "x"],
    ):
        warned = [line for line in run(*command).err.splitlines() if "still links" in line]
        assert (
            warned == []
            if "--redo" in command
            else [
                f"{facts}/three.md: warning TM201 fact.three still links to fact.one",
                f"{facts}/two.md: warning TM201 fact.two still links to fact.one",
            ]
        )
