"""`--plain`: tab-separated fields, one record per line, for every command with a value."""

from __future__ import annotations

import ast
import importlib
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from thunderus_mem.cli.output import PAIRS, TABLES, field_names, records
from thunderus_mem.cli.table import VALUES
from thunderus_mem.document.unicode import escaped, visible

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.conftest import Ran

    Run = Callable[..., Ran]


@settings(deadline=None, max_examples=300, derandomize=True)
@given(st.text(alphabet=st.characters()) | st.text(alphabet="a\\\t\n\r\x1b\x85\u202e\u200d\U000e0041"))
def test_escaped_field_is_one_line_and_reversible(text: str) -> None:
    field = escaped(text)
    assert not {"\t", "\n", "\r"} & set(field)
    assert visible(field) == field
    assert ast.literal_eval('"' + field.replace('"', '\\"') + '"') == text


@pytest.mark.parametrize("command", sorted(set(TABLES) & set(VALUES)))
def test_table_fields_are_fields_of_the_value(command: str) -> None:
    of, fields = TABLES[command]
    if TABLES[command] is PAIRS or command == "garden":
        return
    module, _, name = VALUES[command].partition(":")
    value = getattr(importlib.import_module(f"thunderus_mem.{module}"), name)
    if of in ("", "*"):
        assert set(fields) <= set(field_names(value) or ())
    else:
        assert of in (field_names(value) or ())


def test_every_table_belongs_to_a_command() -> None:
    assert set(TABLES) - set(VALUES) - {"garden apply"} == set()


@pytest.fixture
def store(repo: Path, run: Run) -> Path:
    assert run("init").code == 0
    for title, body in (("Ports", "It listens on 8080."), ("A\ttab \\ and \u202eturn", "One\n\ntwo ports.")):
        assert run("add", "fact", title, "--tag", "net", "--tag", "b c", "--body", body).code == 0
    return repo


def test_plain_list_has_one_record_per_document(run: Run, store: Path) -> None:
    lines = run("list", "--plain").out.splitlines()
    assert [line.split("\t")[0] for line in lines] == ["core", "fact.a-tab-and-turn", "fact.ports"]
    assert {line.count("\t") for line in lines} == {len(TABLES["list"][1]) - 1}
    fields = dict(zip(TABLES["list"][1], lines[1].split("\t"), strict=True))
    assert (fields["title"], fields["tags"], fields["kind"]) == (
        r"A tab \\ and \u202eturn",
        "b c,net",
        "fact",
    )


def test_plain_search_has_complete_passages(run: Run, store: Path) -> None:
    lines = run("--plain", "search", "two", "ports").out.splitlines()
    fields = dict(zip(TABLES["search"][1], lines[0].split("\t"), strict=True))
    assert fields["id"] == "fact.a-tab-and-turn"
    assert "two ports." in fields["snippet"]
    assert "\x1b" not in run("search", "ports", "--plain", "--color", "always").out


def test_plain_pairs_have_names_and_values(run: Run, store: Path) -> None:
    found = dict(line.split("\t") for line in run("status", "--plain").out.splitlines())
    assert (found["counts.fact"], found["root"]) == ("2", str(store))


def test_findings_events_and_trees(run: Run, store: Path) -> None:
    (store / ".thunderus/memory/semantic/FACTS/broken.md").write_text("---\nid: x\n")
    ran = run("lint", "--plain")
    assert ran.code == 1
    assert ran.out.startswith(".thunderus/memory/semantic/FACTS/broken.md\t")
    assert run("log", "--plain", "-n", "1").out.split("\t")[5] == "add"
    assert [line.split("\t")[0] for line in run("why", "ports", "--plain").out.splitlines()][:2] == [
        "document",
        "event",
    ]


def test_command_without_a_table_prints_text(run: Run, store: Path) -> None:
    assert run("schema", "print", "config", "--plain").out == run("schema", "print", "config").out
    assert run("list", "--ids", "--plain").out == run("list", "--ids").out


def test_plain_output_redacts_secrets() -> None:
    from thunderus_mem.cli.commands.lint import SchemaList

    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    (line,) = records("schema list", SchemaList((f"x {token}\ty",)))
    assert token not in line
    assert line.endswith("\\ty")
