"""The actor of an event (user, agent or tool), from an option, the environment and the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from thunderus_mem.errors import Refused, ThunderusError
from thunderus_mem.log.event import HAND_EDIT
from thunderus_mem.log.line import ACTORS
from thunderus_mem.startup import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

ACTOR: Final = "THUNDERUS_MEM_ACTOR"
"""The environment variable that sets the actor."""


class Agent(NamedTuple):
    """An agent, and the variables it sets for the commands it runs; ``client`` is its name in the log."""

    client: str
    name: str
    variables: tuple[str, ...]
    where: str


AGENTS: Final = (
    Agent("claude-code", "Claude Code", ("CLAUDECODE",), "Commands, hooks and MCP servers."),
    # Not CURSOR_TRACE_ID: the terminal in which a person types inside Cursor has it too.
    Agent("cursor", "Cursor", ("CURSOR_AGENT",), "Commands of the agent, in the editor and in the CLI."),
    # Not every CODEX_*: people set CODEX_HOME. Older versions set only those of the sandbox.
    Agent(
        "codex",
        "Codex",
        ("CODEX_THREAD_ID", "CODEX_CI", "CODEX_SANDBOX", "CODEX_SANDBOX_NETWORK_DISABLED"),
        "Commands; the last two only in a sandbox.",
    ),
    Agent("gemini-cli", "Gemini CLI", ("GEMINI_CLI",), "Commands of its shell tool."),
    Agent("opencode", "opencode", ("OPENCODE",), "All processes it starts."),
    Agent(
        "copilot",
        "GitHub Copilot",
        ("COPILOT_CLI", "COPILOT_AGENT_SESSION_ID", "COPILOT_AGENT"),
        "Commands of Copilot CLI and the cloud agent; the last one in VS Code.",
    ),
    Agent(
        "agent", "Others", ("AI_AGENT", "AGENT"), "A convention, e.g. Amp and Goose; the value is the name."
    ),
)
"""The agents that are recognized; the first match counts."""

_UNSET: Final = frozenset(("", "0", "false"))
_LONGEST_NAME: Final = 40


def agent_in(environ: Mapping[str, str]) -> str:
    """Return the name in the log of the agent that runs this process, "" if none is recognized."""
    for agent in AGENTS:
        for name in agent.variables:
            value = environ.get(name, "")
            if value.lower() not in _UNSET:
                is_named = agent is AGENTS[-1] and value.lower() not in ("1", "true")
                return value[:_LONGEST_NAME] if is_named else agent.client
    return ""


def actor_of(environ: Mapping[str, str], *, terminal: bool = False) -> str:
    """Return the actor: the one set in the environment, an agent, or else a user at a terminal.

    Everything else is a tool, also in a terminal of continuous integration (``CI``). Raises `ThunderusError`
    for an unknown actor in the environment.
    """
    found = environ.get(ACTOR, "")
    if found and found not in ACTORS:
        raise ThunderusError(f"{ACTOR} must be one of {', '.join(ACTORS)}, not {found!r}")
    if found:
        return found
    if agent_in(environ):
        return "agent"
    return "user" if terminal and environ.get("CI", "").lower() in _UNSET else "tool"


def refuse_tool(actor: str, command: str) -> None:
    """Raise `Refused` for the actor ``tool``: only people and agents confirm and decide."""
    if actor == "tool":
        raise Refused(
            f"`{command}` needs a user or an agent, but the actor is 'tool'",
            hint="pass `--actor user` or `--actor agent`; without a terminal and a known agent, "
            "the actor is 'tool'",
        )


OUTSIDE: Final = "edited outside the tool"
"""The operation of a hand edit that no user recorded, as it is shown."""


def is_outside(actor: str, op: str) -> bool:
    """Whether an event is a hand edit that no user recorded: it is not known who made it."""
    return actor == "tool" and op == HAND_EDIT


def by_whom(actor: str, author: str, op: str = "") -> str:
    """Format who acted: the author, with the actor if it is not a user."""
    if not author or is_outside(actor, op):
        return actor
    return author if actor == "user" else f"{author} ({actor})"
