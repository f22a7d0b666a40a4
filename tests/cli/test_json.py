"""JSON that an agent can afford: its form, its schema, its size in tokens, and ``--budget``."""

from __future__ import annotations

import importlib
import json
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from tests.support.git_repository import begin_repository
from tests.support.output_schema import SCHEMA, definitions, read_output
from thunderus_mem.cli.output import (
    DETAILS,
    LISTS,
    OMITTED,
    envelope,
    field_names,
    is_empty,
    plain,
    within_budget,
)
from thunderus_mem.cli.table import VALUES
from thunderus_mem.document.unicode import token_count

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.support.command_server import Done

CODE = """ORDINAL_STEP = 1000


def place_between(before: int, after: int) -> int:
    return (before + after) // 2
"""
DOCUMENT = """---
id: fact.{id}
title: {title}
kind: fact
tags:
  - tasks
created: "2026-01-02T03:04:05Z"
updated: "2026-01-02T03:04:05Z"
provenance:
  events: []
  patches: []
  commits: []
verification:
  last_verified_commit: null
  status: unknown
---

{body}
"""
TITLES = (
    "Add ordinal field for custom task ordering in web UI",
    "Default ordinals for created tasks",
    "Expose and honor task ordinal in MCP task tools",
    "Preserve updated_date for ordinal-only task reorders",
    "TUI sequences: move tasks with dependency updates",
    "Extract task reordering logic to core module",
    "Add priority sorting to Kanban columns",
    "Implement TUI view for sequences",
    "Invert task order in Done column only",
    "Cross-branch task ID checking and branch info",
    "Fix loading screen border rendering and improve UX",
    "Add browser UI initialization flow",
)
SENTENCES = (
    "Each task has an ordinal, and a new task takes the ordinal of the last one plus the ordinal step.",
    "Moving a task between two others gives it the mean of both ordinals; columns are sorted by it.",
    "Two tasks with the same ordinal are renumbered by the step when one of them is moved in the web UI.",
    "The value is validated before it is written, so that a file never has a negative or infinite number.",
)


def _id(title: str) -> str:
    return "-".join("".join(char if char.isalnum() else " " for char in title.lower()).split())


@pytest.fixture
def store(tmp_path: Path, run: Callable[..., Done], once: Callable[..., None]) -> Path:
    """A store with 36 facts, two of them stale, and code in five folders."""

    def make() -> None:
        begin_repository(tmp_path, ("init", "-q"))
        folder = tmp_path / ".thunderus/memory/semantic/FACTS"
        for name in ("core", "web", "mcp", "ui", "test"):
            (tmp_path / "src" / name).mkdir(parents=True)
            (tmp_path / "src" / name / "order.py").write_text(CODE, encoding="utf-8")
        assert run("init").code == 0
        for number in range(36):
            title = TITLES[number % len(TITLES)] + (f" {number}" if number >= len(TITLES) else "")
            start = number % len(SENTENCES)
            body = "\n\n".join((SENTENCES[start:] + SENTENCES[:start]) * 2)
            text = DOCUMENT.format(id=_id(title), title=json.dumps(title), body=body)
            (folder / f"{_id(title)}.md").write_text(text, encoding="utf-8")
        for name, anchor, body in (
            ("The ordinal step is 1000", "ORDINAL_STEP", "So a task fits between two others."),
            ("A moved task takes the mean of its neighbours", "place_between", SENTENCES[1]),
        ):
            done = run(
                *("add", "fact", name, "--tag", "tasks"),
                *("--anchor", f"src/core/order.py#{anchor}", "--body", body),
            )
            assert done.code == 0, done.err
        for arguments in (("add", "-A"), ("commit", "-qm", "Add the order")):
            subprocess.run(("git", *arguments), cwd=tmp_path, check=True)
        changed = CODE.replace("1000", "500").replace("// 2", "// 3")
        (tmp_path / "src/core/order.py").write_text(changed, encoding="utf-8")

    once(make)
    return tmp_path


FACT = "fact.add-ordinal-field-for-custom-task-ordering-in-web-ui"
LONG = "# The order of tasks\n\n" + "\n".join(SENTENCES * 20)
GOALS = (
    (("search", "ordinal", "step"), 1100, 0.0),
    (("show", FACT), 0, 1.3),
    (("show", "the-ordinal-step-is-1000"), 0, 1.3),
    (("check",), 500, 0.0),
    (("list",), 39 * 45, 0.0),
    (("coverage",), 0, 2.0),
)


@pytest.mark.usefixtures("store")
def test_json_is_within_the_goals(run: Callable[..., Done]) -> None:
    for command, most, times in GOALS:
        text, found = run(*command), run(*command, "--json")
        limit = most or times * token_count(text.out)
        assert token_count(found.out) <= limit, command
        assert found.json["schema"] == f"thunderus-mem.{command[0]}/2"
    assert len(run("search", "ordinal", "step", "--json").json["hits"]) == 10
    assert len(run("check", "--json").json["findings"]) == 2


@pytest.mark.usefixtures("store")
def test_budget_limits_text_and_json(run: Callable[..., Done]) -> None:
    commands: dict[str, tuple[str, ...]] = dict.fromkeys(LISTS, ())
    del commands["context"]  # cuts its passages instead
    commands |= {"search": ("ordinal",), "for": ("src/core/order.py",)}
    for name, arguments in commands.items():
        whole, printed = run(*name.split(), *arguments, "--json"), run(*name.split(), *arguments)
        for most in (70, 150, 400):
            found, text = (
                run(*name.split(), *arguments, "--json", "--budget", str(most)),
                run(*name.split(), *arguments, "--budget", str(most)),
            )
            assert token_count(text.out) <= most
            assert token_count(found.out) <= most
            kept, total = (sum(len(done.json[field]) for field in LISTS[name]) for done in (found, whole))
            assert found.json.get("more", 0) == total - kept, (name, most)
            if token_count(printed.out) <= most:
                assert text.out == printed.out
            else:
                assert text.out.endswith(" more\n"), (name, most)
    refused = run("list", "--json", "--budget", "5")
    assert (refused.code, refused.out) == (2, "")
    assert "--budget 5 is too small" in refused.err
    assert run("lint", "--format", "sarif", "--budget", "500").code == 2
    assert run("lint", "--statistics", "--format", "sarif").code == 2
    assert run("lint", "--statistics", "-o", "report.txt").code == 2


@pytest.mark.usefixtures("store")
def test_summary_within_a_budget_counts_everything(run: Callable[..., Done]) -> None:
    for command, most in (
        (("check", "--format", "markdown"), "45"),
        (("lint", "--profile", "shodh", "--format", "full"), "60"),
    ):
        summary, more = run(*command, "--budget", most).out.splitlines()[-2:]
        assert more.endswith(" more")
        assert summary == run(*command).out.splitlines()[-1]


@pytest.mark.usefixtures("store")
def test_json_is_indented_on_request_and_has_diffs_on_request(run: Callable[..., Done]) -> None:
    short, long = run("check", "--json"), run("check", "--pretty")
    assert short.out.count("\n") == 1
    assert long.out.count("\n") > 10
    assert json.loads(short.out) == json.loads(long.out)
    assert "diff" not in json.loads(short.out)["findings"][0]
    assert "-ORDINAL_STEP" in "".join(one["diff"] for one in run("check", "--json", "-p").json["findings"])
    (hit, *_) = json.loads(run("search", "ordinal", "--json").out)["hits"]
    assert not {"marks", "explain", "path"} & hit.keys()
    (hit, *_) = json.loads(run("search", "ordinal", "--json", "--explain").out)["hits"]
    assert {"marks", "score", "explain", "path"} <= hit.keys()
    shown = json.loads(run("show", FACT, "--json").out)
    raw = json.loads(run("show", FACT, "--json", "--raw").out)
    assert ("text" in shown, "body" in shown) == (False, True)
    assert ("text" in raw, "body" in raw) == (True, False)
    assert raw["text"].endswith(f"---\n\n{shown['body']}\n")


def test_log_names_the_first_documents_of_an_import(tmp_path: Path, run: Callable[..., Done]) -> None:
    for number in range(8):
        (tmp_path / "notes").mkdir(exist_ok=True)
        (tmp_path / f"notes/n{number}.md").write_text(f"# Note {number}\n\nText {number}.\n")
    assert run("init").code == 0
    assert run("import", "markdown", "notes", "--kind", "fact").code == 0
    (event, *_) = run("log", "-n", "1", "--json").json["events"]
    assert (len(event["doc_ids"]), event["more_documents"]) == (5, 3)
    assert " and 7 more" in run("log", "-n", "1").out
    whole = run("events", "show", event["id"], "--json").json["event"]
    assert len(whole["refs"]["memory_doc_ids"]) == 8


# The form of the values


class Inner(NamedTuple):
    name: str = ""
    count: int = 0
    parts: tuple[str, ...] = ()
    flag: bool = False
    rest: str | None = None


@dataclass(frozen=True, slots=True)
class Outer:
    items: tuple[Inner, ...]
    one: Inner
    words: tuple[str, ...]
    note: str


INNERS = st.builds(
    Inner, st.text(max_size=2), st.integers(), st.tuples(), st.booleans(), st.none() | st.text(min_size=1)
)


@settings(deadline=None, max_examples=100, derandomize=True)
@given(st.builds(Outer, st.lists(INNERS, max_size=3).map(tuple), INNERS, st.just(()), st.text(max_size=2)))
def test_only_empty_fields_are_omitted(value: Outer) -> None:
    found = json.loads(envelope("x", value))
    assert found["words"] == []
    assert "note" in found or value.note == ""
    assert [item.get("name", "") for item in found["items"]] == [one.name for one in value.items]
    for written, one in [*zip(found["items"], value.items, strict=True), (found.get("one", {}), value.one)]:
        assert not any(is_empty(item) for item in written.values())
        assert Inner(**written) == one._replace(parts=()), "defaults fill in what is omitted"
        assert "count" in written


def test_data_of_the_user_is_never_omitted() -> None:
    assert plain({"a": "", "b": [], "c": False}) == {"a": "", "b": [], "c": False}


# The schema


def test_shipped_schema_is_valid_and_has_every_command(run: Callable[..., Done]) -> None:
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    Draft202012Validator.check_schema(schema)
    names = {name.replace(" ", "-").replace("_", "-") for name in VALUES}
    assert names <= schema["$defs"].keys()
    chosen = {one["$ref"].rpartition("/")[2] for one in schema["oneOf"]}
    assert names <= chosen
    assert json.loads(run("config", "schemas", "output").out) == schema
    whole = Draft202012Validator(schema)
    assert whole.is_valid({"schema": "thunderus-mem.list/2", "documents": [], "left_out": 0})
    assert not whole.is_valid({"schema": "thunderus-mem.search/2"})


def test_unknown_or_wrong_field_fails() -> None:
    one = {"id": "fact.a", "kind": "fact", "title": "A"}
    right = {"schema": "thunderus-mem.list/2", "documents": [one], "left_out": 0}
    read = read_output(json.dumps(right))
    assert read["documents"][0]["superseded_by"] == ""
    for wrong in ({"other": 1}, {"id": 1}, {"path": "a.md"}):
        bad = {**right, "documents": [{**right["documents"][0], **wrong}]}  # type: ignore[dict-item]
        with pytest.raises(AssertionError, match="list: documents/0"):
            read_output(json.dumps(bad))


def test_hidden_fields_exist() -> None:
    types: dict[str, Any] = {}
    modules = {where.partition(":")[0] for where in VALUES.values()}
    for name in (*modules, "diagnostic", "garden.plan", "garden.apply", "search.search"):
        types |= vars(importlib.import_module(f"thunderus_mem.{name}"))
    for name, fields in [*OMITTED.items(), *DETAILS.items()]:
        assert set(fields) <= set(field_names(types[name]) or ()), name
    assert not OMITTED.keys() & definitions().keys() - {name for name in types if name in definitions()}


@settings(deadline=None, max_examples=100, derandomize=True)
@given(st.lists(st.integers(0, 60), max_size=12), st.integers(1, 120))
def test_budget_keeps_as_much_as_fits(sizes: list[int], budget: int) -> None:
    class Found(NamedTuple):
        documents: tuple[str, ...]

    def printed(value: Found, more: int) -> str:
        return "\n".join([*value.documents, *([f"{more} more"] if more else [])])

    value = Found(tuple("x" * size for size in sizes))
    fitting = [
        kept
        for kept in range(len(sizes) + 1)
        if token_count(printed(Found(value.documents[:kept]), len(sizes) - kept)) <= budget
    ]
    if fitting:
        kept = max(fitting)
        assert within_budget("list", value, budget, printed) == printed(
            Found(value.documents[:kept]), len(sizes) - kept
        )
    else:
        with pytest.raises(Exception, match="too small"):
            within_budget("list", value, budget, printed)
