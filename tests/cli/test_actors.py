"""Commands log who acted: a person at a terminal, an agent by its environment, else a tool."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.conftest import sealed_environment
from tests.support.terminal import on_terminal
from thunderus_mem.log.actor import AGENTS

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.support.command_server import Done, Server

    Run = Callable[..., Done]

NOBODY = {"THUNDERUS_MEM_ACTOR": ""}
FACT = ".thunderus/memory/semantic/FACTS/ports.md"


@pytest.fixture
def store(repo: Path, run: Run, once: Callable[..., None]) -> Path:
    def make() -> None:
        (repo / "ports.py").write_text("def port():\n    return 80\n")
        assert run("--quiet", "init").code == 0
        assert run("add", "fact", "Ports", "--tag", "net", "--body", "It is 80.").code == 0
        assert run("anchor", "fact.ports", "ports.py#port").code == 0

    once(make)
    return repo


def last(store: Path, count: int = 1) -> list[dict[str, Any]]:
    shards = (store / ".thunderus/sessions").glob("*/events.jsonl")
    found = [json.loads(line) for shard in shards for line in shard.read_text().splitlines()]
    return sorted(found, key=lambda event: (event["ts"], event["id"]))[-count:]


@pytest.mark.parametrize("agent", AGENTS, ids=lambda agent: agent.client)
def test_verification_by_an_agent_is_its_own(agent: Any, store: Path, run: Run) -> None:
    done = run("verify", "fact.ports", env={**NOBODY, agent.variables[0]: "1"})
    assert (done.code, "Verified by agent:" in done.err) == (0, True)
    assert "by: agent" in (store / FACT).read_text()
    assert [event["actor"] for event in last(store, 2)] == ["agent", "agent"]
    assert last(store)[0]["origin"] == {"author": "Ada Example", "client": agent.client}
    assert "verified by an agent" in run("show", "fact.ports").out


@pytest.mark.parametrize(
    "words",
    [
        ["verify", "fact.ports"],
        ["verify", "--all-moved"],
        ["review", "approve", "--all", "--yes"],
        ["review", "reject", "--all", "--yes", "-m", "no"],
    ],
    ids=" ".join,
)
def test_tool_cannot_verify_or_decide(words: list[str], store: Path, run: Run) -> None:
    if "--all-moved" in words:
        assert run("verify", "fact.ports").code == 0
        (store / "ports.py").rename(store / "moved.py")
    before = (store / FACT).read_text()
    for env in (NOBODY, {"THUNDERUS_MEM_ACTOR": "tool"}, {**NOBODY, "CI": "true"}):
        done = run(*words, env=env)
        assert (done.code, done.out) == (5, "")
        assert "needs a user or an agent, but the actor is 'tool'" in done.err
        assert "--actor user" in done.err
    assert (store / FACT).read_text() == before
    assert run(*words, "--actor", "user", env=NOBODY).code == 0
    assert run("--actor", "agent", *words, env=NOBODY).code == 0


def test_everything_else_runs_as_a_tool(store: Path, run: Run) -> None:
    assert run("verify", "fact.ports").code == 0
    (store / "ports.py").rename(store / "moved.py")
    for words in (
        ["--update-status", "--dry-run"],
        ["--fix-moved", "--yes"],
        ["--restamp"],
        ["--update-status"],
    ):
        assert run("verify", *words, env=NOBODY).code == 0
    assert last(store)[0]["body"]["op"] == "anchor"
    assert run("events", "add", "--kind", "note", "--body", "Built it", env=NOBODY).code == 0
    assert [event["actor"] for event in last(store, 2)] == ["tool", "tool"]
    assert run("events", "add", "--kind", "note", "--body", "Built", env=NOBODY).code == 0
    assert last(store)[0]["actor"] == "tool"
    assert run("log", "-n", "1").out.split("  ")[1:3] == ["Ada Example (tool)", "note"]


def test_actor_option_overrides_every_command(store: Path, run: Run) -> None:
    run(
        "events",
        "add",
        "--kind",
        "note",
        "--body",
        "Mine",
        "--actor",
        "user",
        env={**NOBODY, "CLAUDECODE": "1"},
    )
    assert last(store)[0]["actor"] == "user"
    run("events", "add", "--kind", "note", "--body", "By a bot", "--actor", "agent")
    assert last(store)[0]["actor"] == "agent"
    assert "Ada Example (agent)" in run("log", "-n", "1").out
    wrong = run("events", "add", "--kind", "note", "--body", "Whose?", "--actor", "Ada")
    assert (wrong.code, "use user, agent or tool" in wrong.err) == (2, True)


@pytest.mark.parametrize(
    ("env", "actor"),
    [(NOBODY, "tool"), ({**NOBODY, "CLAUDECODE": "1"}, "tool"), ({}, "user")],
    ids=["nobody", "agent", "user"],
)
def test_hand_edit_is_by_a_user_only_if_one_records_it(
    env: dict[str, str], actor: str, store: Path, run: Run
) -> None:
    (store / FACT).write_text((store / FACT).read_text().replace("It is 80", "It is 443"))
    assert run("events", "record", env=env).code == 0
    assert (last(store)[0]["actor"], last(store)[0]["body"]["op"]) == (actor, "hand-edit")
    shown = "tool  edited outside the tool" if actor == "tool" else "Ada Example  hand-edit"
    assert shown in run("log", "-n", "1").out
    label = "edited outside the tool" if actor == "tool" else "hand-edit by Ada Example"
    assert f"2026-01-21 09:00 {label}\n" in run("why", "fact.ports").out
    assert run("events", "verify").code == 0


def test_why_shows_the_agent(store: Path, run: Run) -> None:
    run("edit", "fact.ports", "--body", "It is 8080.", "-m", "moved", "--actor", "agent")
    assert "edit by Ada Example (agent): moved" in run("why", "fact.ports").out


def test_person_at_a_terminal_is_a_user(store: Path, sealed: Path, server: Server) -> None:
    def acts(number: int, *words: str, **env: str) -> str:
        fixed = {"THUNDERUS_MEM_NOW": f"2026-01-21T10:00:0{number}Z", "THUNDERUS_MEM_SEED": f"10{number}"}
        surroundings = sealed_environment(sealed) | NOBODY | fixed | env
        assert on_terminal(words, cwd=store, env=surroundings, server=server).code == 0
        actor: str = last(store)[0]["actor"]
        return actor

    assert acts(1, "verify", "fact.ports") == "user"
    assert "by: user" in (store / FACT).read_text()
    assert acts(2, "events", "add", "--kind", "note", "--body", "Here", CLAUDECODE="1") == "agent"
    assert acts(3, "events", "add", "--kind", "note", "--body", "Here", CI="true") == "tool"
