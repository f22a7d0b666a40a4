"""F2: a store full of harmful headers: each is reported with rule and line, none is parsed."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest
import report
from commands import FACTS, call, twice
from hazards import HAZARDS, VALUES

if TYPE_CHECKING:
    from pathlib import Path

    from hazards import Hazard

    from tests.support.command_server import Server

pytestmark = pytest.mark.damaged
NOW = "2026-01-21T09:00:00Z"
REQUIRED = {
    "tags": "tags:\n  - odd\n",
    "created": "created: 2026-01-20T09:00:00Z\n",
    "updated": "updated: 2026-01-20T09:00:00Z\n",
    "provenance": "provenance:\n  events: []\n  patches: []\n  commits: []\n",
    "verification": "verification:\n  last_verified_commit: null\n  status: unknown\n",
}


def text_of(name: str, hazard: Hazard) -> str:
    """A document whose fifth line is where the hazard begins; keys it leaves out follow."""
    rest = "".join(text for key, text in REQUIRED.items() if not hazard.text.startswith(key))
    return f"---\nid: fact.{name}\ntitle: Hazard\nkind: fact\n{hazard.text}{rest}---\nBody.\n"


@pytest.fixture
def store(tmp_path: Path, server: Server) -> Path:
    assert call(server, str(tmp_path), ("init",), NOW).code == 0
    (tmp_path / FACTS / "good.md").write_text(twice("good", "It is served."))
    return tmp_path


def findings(server: Server, store: Path) -> dict[str, list[tuple[str, int]]]:
    """What lint says of each file."""
    done = call(server, str(store), ("lint", "--json", "--ignore", "TM501"), NOW)
    assert done.code == 1, done
    found: dict[str, list[tuple[str, int]]] = {}
    for one in done.json["diagnostics"]:
        found.setdefault(one["path"].rpartition("/")[2], []).append((one["rule"], one["line"]))
    return found


def listed(server: Server, store: Path) -> set[str]:
    done = call(server, str(store), ("list", "--ids"), NOW)
    assert done.code == 0, done
    return set(done.out.split())


def test_each_parser_bomb_is_rejected_with_rule_and_line(store: Path, server: Server) -> None:
    assert len(HAZARDS) >= 60
    for name, hazard in HAZARDS.items():
        text = text_of(name, hazard)
        (store / FACTS / f"{name}.md").write_bytes(text.encode("utf-8", "surrogatepass"))
    start = time.monotonic()
    found = findings(server, store)
    slowest = time.monotonic() - start
    for name, hazard in HAZARDS.items():
        rules = set(found[f"{name}.md"]) - {("TM402", hazard.line)}
        assert rules == {(hazard.rule, hazard.line)}, (name, found[f"{name}.md"])
    assert listed(server, store) == {"core", "fact.good"}
    report.add("F2", "bombs", tried=len(HAZARDS), slowest=slowest)


def test_values_harmful_to_other_readers_are_strings_with_a_finding(store: Path, server: Server) -> None:
    for name, hazard in VALUES.items():
        (store / FACTS / f"{name}.md").write_text(text_of(name, hazard))
    found = findings(server, store)
    for name, hazard in VALUES.items():
        assert (hazard.rule, hazard.line) in found[f"{name}.md"], (name, found[f"{name}.md"])
    assert listed(server, store) == {"core", "fact.good", *(f"fact.{name}" for name in VALUES)}
    shown = call(server, str(store), ("show", "fact.no-such-day"), NOW)
    assert shown.code == 0, shown
    report.add("F2", "values", tried=len(VALUES))
