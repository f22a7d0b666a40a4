"""`list --sort` and `-n`, filters by date, and `tag list`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.support.command_server import Done

    Run = Callable[..., Done]


@pytest.fixture
def facts(run: Run, repo: Path) -> Run:
    """Three facts, one a day; the oldest has the longest text."""
    run("init", env={"THUNDERUS_MEM_NOW": "2026-01-18T09:00:00Z"})
    for day, (title, tags, text) in enumerate(
        [("Bread", ("food", "net"), "It rises. " * 9), ("Cats", ("net",), "They sleep."), ("apes", (), "Up.")]
    ):
        named = [word for tag in tags for word in ("--tag", tag)]
        now = f"2026-01-{19 + day}T09:00:00Z"
        env = {"THUNDERUS_MEM_NOW": now, "THUNDERUS_MEM_SEED": str(day)}
        assert run("add", "fact", title, "--body", text, *named, env=env).code == 0
    return run


@pytest.mark.parametrize(
    ("key", "ids"),
    [
        ("id", ["fact.apes", "fact.bread", "fact.cats"]),
        ("updated", ["fact.apes", "fact.cats", "fact.bread"]),
        ("created", ["fact.apes", "fact.cats", "fact.bread"]),
        ("title", ["fact.apes", "fact.bread", "fact.cats"]),
        ("tokens", ["fact.bread", "fact.cats", "fact.apes"]),
    ],
)
def test_list_is_sorted_and_limited(facts: Run, key: str, ids: list[str]) -> None:
    ran = facts("list", "--kind", "fact", "--sort", key, "--ids")
    assert ran.out.split() == ids
    ran = facts("list", "--kind", "fact", "--sort", key, "-n", "2", "--ids")
    assert (ran.out.split(), ran.err) == (ids[:2], "1 more not shown; use -n\n")
    assert facts("list", "--kind", "fact", "--sort", key, "-n", "3", "--json").json.get("left_out", 0) == 0


def test_unknown_order_is_an_error(facts: Run) -> None:
    ran = facts("list", "--sort", "size")
    assert (ran.code, "use one of: id, updated" in ran.err) == (2, True)
    assert facts("--complete", "list", "--sort", "up").out == "updated\t\n"
    assert facts("--complete", "--actor", "agent", "list", "--sort", "up").out == "updated\t\n"


@pytest.mark.parametrize(
    ("since", "ids"),
    [
        *[("1d", "fact.apes fact.cats"), ("yesterday", "fact.apes fact.cats"), ("today", "fact.apes")],
        *[("2026-01-20", "fact.apes fact.cats"), ("26h", "fact.apes fact.cats"), ("2026-02", "")],
    ],
)
def test_dates_are_read_the_same_everywhere(facts: Run, since: str, ids: str) -> None:
    env = {"THUNDERUS_MEM_NOW": "2026-01-21T10:00:00Z"}
    assert facts("list", "--kind", "fact", f"since:{since}", "--ids", env=env).out.split() == ids.split()
    found = facts("search", "kind:fact", f"since:{since}", "--ids", env=env).out.split()
    assert sorted(found) == ids.split()
    exported = facts("events", "export", "--since", since, env=env).out
    assert {name for name in ("apes", "bread", "cats") if f'"fact.{name}"' in exported} == {
        one.removeprefix("fact.") for one in ids.split()
    }
    if ids:
        assert facts("recap", "--since", since, "--dry-run", env=env).code == 0


def test_decisions_are_listed_by_number(facts: Run) -> None:
    for title in ("Use wire", "Buy bread"):
        text = f"## Context\n\n{title}?\n\n## Decision\n\n{title}.\n\n## Consequences\n\nFew.\n"
        assert facts("add", "adr", title, "--body", text).code == 0
    listed = facts("list", "--kind", "adr", "--json").json["documents"]
    assert [(one["id"], one["number"]) for one in listed] == [("adr.use-wire", 1), ("adr.buy-bread", 2)]
    assert all(one["number"] is None for one in facts("list", "--kind", "fact", "--json").json["documents"])


def test_tags_are_counted(facts: Run) -> None:
    assert facts("tag", "list").out == "2  net\n1  core\n1  fact\n1  food\n"
    ran = facts("tag", "list", "-n", "1")
    assert (ran.out, ran.err) == ("2  net\n", "3 less frequent not shown; use -n\n")
    assert facts("tag", "list", "--json").json["tags"][0] == {"tag": "net", "documents": 2}


def test_category_and_run_select_documents_in_list_and_search(facts: Run) -> None:
    facts("edit", "fact.bread", "--set", "category=risk_rule", "--set", "run_id=r1")
    facts("edit", "fact.cats", "--set", "category=postmortem", "--set", "run_id=r1")
    assert facts("list", "category:Risk_Rule", "--ids").out.split() == ["fact.bread"]
    assert facts("list", "run_id:r1", "--ids").out.split() == ["fact.bread", "fact.cats"]
    assert facts("list", "run_id:R1", "--ids").out == ""
    assert facts("list", "run_id:r1", "--ids", "--", "-category:risk_rule").out.split() == ["fact.cats"]
    found = facts("search", "they sleep run_id:r1 category:postmortem", "--json").json
    assert [hit["id"] for hit in found["hits"]] == ["fact.cats"]
    assert facts("search", "they sleep category:risk_rule", "--json").json["hits"] == []
