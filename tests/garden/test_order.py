"""The rules numbers, links, tags, sizes and archive: golden folders and property tests.

Set ``WRITE_CASES=1`` to write ``plan.json``, ``after/`` and ``approved/`` of every golden folder: the
result of the applied steps, and of the proposals.
"""

from __future__ import annotations

import json
import os
import shutil
import tomllib
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.order_support import MEMORY, ORDER, Files, applied, document_text, material, plan_of
from thunderus_mem.store.config import Config

if TYPE_CHECKING:
    from thunderus_mem.garden.plan import Plan

CASES = Path(__file__).parent.parent / "cases" / "order"
SHOWN = ("rule", "action", "reach", "why", "evidence", "targets", "edits")


def read_folder(folder: Path) -> Files:
    found = sorted(folder.rglob("*.md"))
    return {MEMORY + path.relative_to(folder).as_posix(): path.read_bytes() for path in found}


def write_folder(folder: Path, files: Files) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    for path, data in files.items():
        place = folder / path.removeprefix(MEMORY)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)


def shown(plan: Plan) -> str:
    """A plan without the complete texts, which are in the folders."""
    data = [{key: asdict(step)[key] for key in SHOWN} for step in plan.steps]
    for step in data:
        step["edits"] = [f"{_deed(edit)} {edit['path']}" for edit in step["edits"]]
    return json.dumps(data, indent=2, ensure_ascii=False) + "\n"


def _deed(edit: dict[str, Any]) -> str:
    if edit["after_text"] is None:
        return "remove"
    return "update" if edit["before"] else "create"


def changed(before: Files, after: Files) -> Files:
    return {path: data for path, data in after.items() if before.get(path) != data}


@pytest.mark.parametrize("name", sorted(path.name for path in CASES.iterdir()))
def test_golden_folder(name: str) -> None:
    folder = CASES / name
    about: dict[str, Any] = tomllib.loads((folder / "about.toml").read_text(encoding="utf-8"))
    config = Config(**about.get("config", {}))
    former = {MEMORY + path: doc_id for path, doc_id in about.get("former", {}).items()}
    rules = about.get("rules", ORDER)
    before = read_folder(folder / "before")
    seen = material(before, former=former, ours=about.get("ours", ()))
    plan = plan_of(seen, config, rules)
    after = applied(before, plan.applicable)
    approved = applied(before, plan.proposals)
    if os.environ.get("WRITE_CASES"):
        (folder / "plan.json").write_text(shown(plan), encoding="utf-8")
        write_folder(folder / "after", changed(before, after))
        write_folder(folder / "approved", changed(before, approved))
    assert shown(plan) == (folder / "plan.json").read_text(encoding="utf-8")
    assert changed(before, after) == read_folder(folder / "after")
    assert changed(before, approved) == read_folder(folder / "approved")
    # A removed file becomes a former path, as in the log.
    gone = {
        edit.path: edit.doc_id for step in plan.applicable for edit in step.edits if edit.path not in after
    }
    again = plan_of(material(after, former=former | gone, ours=about.get("ours", ())), config, rules)
    assert again.applicable == ()


def test_singular_and_plural_of_a_tag_are_only_reported_on_request() -> None:
    seen = material(read_folder(CASES / "tags" / "before"))
    assert plan_of(seen, Config(), ["tags"]).reports == plan_of(seen, Config(), ["tags"]).proposals == ()
    plan = plan_of(replace(seen, verbose=True), Config(), ["tags"])
    assert plan.proposals == ()
    assert [(step.why, step.targets) for step in plan.reports] == [
        ("`tests` and `test` may be singular and plural of the same tag", ("fact.c",)),
        ("`Unit-Tests` and `unit-test` may be singular and plural of the same tag", ("fact.d",)),
    ]


@pytest.mark.parametrize(("state", "archived"), [("Accepted", 1), ("Proposed", 0), ("Rejected", 0)])
def test_decision_is_archived_only_if_its_successor_is_in_force(state: str, archived: int) -> None:
    old = document_text("adr.old", "We do a.", day="2024-01-01")
    links = "links:\n  supersedes: [adr.old]\n"
    new = document_text("adr.new", f"## Status\n\n{state}\n\nWe do b.", day="2024-06-01", more=links)
    folder = f"{MEMORY}semantic/DECISIONS"
    seen = material({f"{folder}/ADR-0001-old.md": old.encode(), f"{folder}/ADR-0002-new.md": new.encode()})
    assert len(plan_of(seen, Config(), ["archive"]).proposals) == archived


def _long_ones() -> Files:
    body = "".join(
        f"## {name}\n\n" + f"{name} has a line. " * 30 + "\n\n" for name in ("One", "Two", "Three")
    )
    return {
        f"{MEMORY}semantic/FACTS/long.md": document_text("fact.long", "It is long.\n\n" + body).encode(),
        f"{MEMORY}procedural/PLAYBOOKS/long.md": document_text("playbook.long", body).encode(),
    }


@pytest.mark.parametrize(
    ("kinds", "told"),
    [
        ((), [("split", "fact.long")]),
        (("fact = 100",), [("split", "fact.long")]),
        (("fact = 3000", "playbook=100"), []),
    ],
)
def test_only_facts_above_their_cap_are_split(kinds: tuple[str, ...], told: list[tuple[str, str]]) -> None:
    config = Config(caps_document_soft=100, caps_document_hard=200, caps_kinds=kinds)
    plan = plan_of(material(_long_ones()), config, ["sizes"])
    assert [(step.action, step.targets[0]) for step in plan.steps] == told


def test_fact_is_not_split_where_its_kind_is_not_allowed() -> None:
    config = Config(caps_document_soft=100, caps_document_hard=200, kinds_allowed=("core", "playbook"))
    assert plan_of(material(_long_ones()), config, ["sizes"]).steps == ()


def test_imported_fact_is_split_only_if_the_rule_is_named() -> None:
    config = Config(caps_document_soft=100, caps_document_hard=200)
    files = {
        path: data.replace(b"kind: fact\n", b"kind: fact\nmetadata:\n  imported_from: docs/long.md\n")
        for path, data in _long_ones().items()
    }
    assert plan_of(material(files), config, ["sizes"]).steps == ()
    named = replace(material(files), named=frozenset(["sizes"]))
    assert [step.action for step in plan_of(named, config, ["sizes"]).steps] == ["split"]


def test_fact_is_split_down_to_the_cap() -> None:
    def parts(cap: int) -> int:
        config = Config(caps_document_soft=400, caps_document_hard=400, caps_kinds=(f"fact = {cap}",))
        (step,) = plan_of(material(_long_ones()), config, ["sizes"]).proposals
        return len(step.edits) - 1

    assert (parts(400), parts(100)) == (1, 3)
