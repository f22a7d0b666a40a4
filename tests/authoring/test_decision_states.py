"""The state of a decision in commands: added, changed, listed, filtered and searched."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Run

RECORDS = {
    "0001-jwt.md": "# 1. Use JWT\n\n## Status\n\nApproved\n\nAmends [2](0002-push.md)\n\n## Why\n\nTokens.\n",
    "0002-push.md": "---\nstatus: proposed\n---\n# Let carriers call us\n\nThey do, with tokens.\n",
    "0003-log.md": "# Logging\n\n* Status: **rejected**\n* Date: 2020-01-01\n\nTokens are logged.\n",
    "0004-old.md": "# 4. Cookies\n\n## Status\n\nSuperseded by [1](0001-jwt.md)\n\n## Why\n\nNo tokens.\n",
}


@pytest.fixture
def adopted(run: Run, repo: Path) -> Path:
    """Four imported decisions of three dialects and a fact that replaces another one."""
    run("init")
    (repo / "adr").mkdir()
    for name, text in RECORDS.items():
        (repo / "adr" / name).write_text(text)
    assert run("import", "markdown", "adr", "--kind", "adr").code == 0
    return repo


def states(run: Run, *options: str) -> dict[str, str]:
    found = json.loads(run("list", "--kind", "adr", "--json", *options).out)["documents"]
    return {doc["id"]: doc["state"] for doc in found}


def test_decision_states_are_listed_and_filtered(adopted: Path, run: Run) -> None:
    assert states(run) == {
        "adr.let-carriers-call-us": "proposed",
        "adr.logging": "rejected",
        "adr.cookies": "superseded",
        "adr.use-jwt": "accepted",
    }
    assert list(states(run, "state:accepted")) == ["adr.use-jwt"]
    assert list(states(run, "state:rejected", "state:superseded")) == ["adr.logging", "adr.cookies"]
    assert run("list", "state:accepted").out == "adr.use-jwt  adr  2026-01-21  accepted  Use JWT\n"
    assert run("search", "state:accepted", "tokens", "--ids").out == "adr.use-jwt\n"
    assert "adr.logging" in run("search", "tokens", "--ids").out
    assert "adr.logging" not in run("search", "--ids", "--", "-state:rejected", "tokens").out
    assert "state    accepted\n" in run("show", "adr.use-jwt").out
    hits = json.loads(run("search", "logged tokens", "--json").out)["hits"]
    assert (hits[0]["id"], hits[0]["state"]) == ("adr.logging", "rejected")
    assert ", rejected)" in run("search", "logged tokens").out
    for words in (["status:accepted"], ["state:approved"], ["verdict:accepted"]):
        ran = run("list", *words)
        assert (ran.code, ran.out) == (2, "")
    assert "'accepted' is a state: use `state:accepted`" in run("list", "status:accepted").err


def test_set_state_changes_only_the_state_in_the_files_dialect(adopted: Path, run: Run) -> None:
    for number in (1, 2, 3):
        path = next(adopted.glob(f".thunderus/memory/semantic/DECISIONS/ADR-000{number}-*.md"))
        before = path.read_text().splitlines()
        assert run("edit", f"adr-{number}", "--set", "state=deprecated", "-m", "Moved on").code == 0
        after = path.read_text().splitlines()
        changed = {new for old, new in zip(before, after, strict=True) if old != new}
        written = {1: "Deprecated", 2: "status: deprecated", 3: "* Status: **deprecated**"}[number]
        assert {line for line in changed if not line.startswith("updated: ")} == {written}
    assert set(states(run).values()) == {"deprecated", "superseded"}
    (adopted / "push.py").write_text("def push(): ...\n")
    assert run("anchor", "adr-2", "push.py").code == 0
    assert "    this decision is deprecated\n" in run("for", "push.py").out
    assert json.loads(run("for", "push.py", "--json").out)["documents"][0]["state"] == "deprecated"
    ran = run("edit", "adr-1", "--set", "state=done")
    assert (ran.code, "use one of: proposed, accepted" in ran.err) == (2, True)


def test_add_writes_the_state_where_the_text_has_it(run: Run, repo: Path) -> None:
    run("init")
    add = ("add", "adr", "--tag", "x", "--body")
    run(*add, "We do.", "One", "--state", "Proposed")
    run(*add, "## Status\n\nAccepted\n\n## Context\n\nWhy two.", "Two", "--state", "rejected")
    run(*add, "We do three.", "Three", "--set", "status=Proposed")
    run(*add, "## Status\n\nDeprecated\n\n## Context\n\nWhy four.", "Four")
    run(*add, "We do five.", "Five")
    assert states(run) == {
        "adr.five": "accepted",
        "adr.four": "deprecated",
        "adr.one": "proposed",
        "adr.three": "proposed",
        "adr.two": "rejected",
    }
    assert "## Status" not in run("show", "adr.three").out
    ran = run("add", "fact", "A fact", "--tag", "x", "--body", "So.", "--state", "accepted")
    assert (ran.code, "kind 'fact' has no state" in ran.err) == (2, True)


def test_superseded_documents_of_any_kind_have_that_state(run: Run, repo: Path) -> None:
    run("init")
    for name in ("old", "new"):
        run(
            "add",
            "fact",
            f"The {name} one",
            "--id",
            f"fact.{name}",
            "--tag",
            "x",
            "--body",
            f"A {name} text.",
        )
    run("add", "adr", "Kept", "--tag", "x", "--body", "We keep it.")
    run("supersede", "fact.old", "fact.new", "-m", "Moved")
    assert run("list", "state:superseded", "--ids").out == "fact.old\n"
    assert run("list", "state:accepted", "--ids").out == "adr.kept\n"
    run("supersede", "adr.kept", "fact.new", "-m", "Moved")
    assert run("list", "state:accepted", "--ids").out == ""
