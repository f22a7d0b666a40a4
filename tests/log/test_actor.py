"""Who acts is found in what is given, in the environment, and at the terminal."""

from __future__ import annotations

import pytest

from thunderus_mem.errors import Refused, ThunderusError
from thunderus_mem.log.actor import ACTOR, AGENTS, actor_of, agent_in, by_whom, refuse_tool
from thunderus_mem.log.line import ACTORS

OF_EACH = [(agent.client, name) for agent in AGENTS[:-1] for name in agent.variables]


@pytest.mark.parametrize(("client", "name"), OF_EACH)
def test_agent_is_recognized_in_a_terminal_too(client: str, name: str) -> None:
    assert agent_in({name: "1"}) == client
    assert actor_of({name: "1"}, terminal=True) == actor_of({name: "1", "CI": "true"}) == "agent"
    for unset in ("", "0", "false"):
        assert actor_of({name: unset}, terminal=True) == "user"


def test_issued_agents_are_known() -> None:
    names = {agent.name for agent in AGENTS}
    assert names >= {"Claude Code", "Cursor", "Codex", "Gemini CLI", "opencode", "GitHub Copilot"}


@pytest.mark.parametrize("environ", [{"CURSOR_TRACE_ID": "1"}, {"CODEX_HOME": "/home/ada/.codex"}])
def test_variables_of_a_person_beside_an_agent_are_no_agent(environ: dict[str, str]) -> None:
    assert actor_of(environ, terminal=True) == "user"


def test_convention_names_the_agent() -> None:
    assert agent_in({"AI_AGENT": "goose"}) == agent_in({"AGENT": "goose"}) == "goose"
    assert agent_in({"AGENT": "1"}) == agent_in({"AI_AGENT": "true"}) == "agent"
    assert agent_in({"CLAUDECODE": "1", "AI_AGENT": "claude-code_2-1-330_agent"}) == "claude-code"
    assert len(agent_in({"AI_AGENT": "x" * 999})) == 40


@pytest.mark.parametrize("given", ACTORS)
def test_actor_that_is_set_overrides(given: str) -> None:
    for terminal in (True, False):
        assert actor_of({ACTOR: given, "CI": "1"}, terminal=terminal) == given
    assert actor_of({ACTOR: given, "CLAUDECODE": "1", "CI": "1"}, terminal=True) == given


def test_no_terminal_or_ci_means_a_tool() -> None:
    assert actor_of({}) == actor_of({"CI": "true"}) == actor_of({"CI": "true"}, terminal=True) == "tool"
    assert actor_of({}, terminal=True) == actor_of({"CI": "false"}, terminal=True) == "user"


def test_unknown_actor_in_the_environment_is_an_error() -> None:
    with pytest.raises(
        ThunderusError, match="THUNDERUS_MEM_ACTOR must be one of user, agent, tool, not 'Ada'"
    ):
        actor_of({ACTOR: "Ada"})


def test_tool_decides_nothing() -> None:
    refuse_tool("user", "verify")
    refuse_tool("agent", "verify")
    with pytest.raises(Refused, match="`verify` needs a user or an agent") as caught:
        refuse_tool("tool", "verify")
    assert "--actor user" in str(caught.value.hint)


def test_actor_is_shown_with_the_author() -> None:
    assert [by_whom(actor, "Ada") for actor in ACTORS] == ["Ada", "Ada (agent)", "Ada (tool)"]
    assert [by_whom(actor, "") for actor in ACTORS] == list(ACTORS)
    assert by_whom("tool", "Ada", "hand-edit") == "tool"
    assert by_whom("user", "Ada", "hand-edit") == "Ada"
