"""``context``: the passages that an agent needs for a task."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from thunderus_mem.cli.options import Argument, Call, Commands, Option
from thunderus_mem.cli.params import Kinds

if TYPE_CHECKING:
    from thunderus_mem.cli.console import Console
    from thunderus_mem.search.context import Context

app = Commands()

_LIMIT = "Print at most N passages besides core documents; default: context.passages, 5."
_BUDGET = "Print at most this many tokens (characters / 4), at least 64; default: 2000."


@app.command("context")
def context_command(
    ctx: Call,
    task: Annotated[list[str] | None, Argument(metavar="[TASK]...", help="The task, in words.")] = None,
    paths: Annotated[
        list[str] | None,
        Option(
            "--paths",
            metavar="PATH",
            help="Begin with documents anchored to this file, folder or symbol (repeatable).",
        ),
    ] = None,
    kind: Kinds = None,
    core: Annotated[
        bool, Option("--core", help="Begin with the core documents, or their sections about the task.")
    ] = False,
    limit: Annotated[
        int | None, Option("--limit", "-n", metavar="N", min=1, max=50, show_default=False, help=_LIMIT)
    ] = None,
    budget: Annotated[
        int, Option("--budget", metavar="TOKENS", min=0, max=100_000, show_default=False, help=_BUDGET)
    ] = 0,
    unreviewed: Annotated[
        bool, Option("--unreviewed", help="Include documents by agents that no user has verified.")
    ] = False,
) -> None:
    """Print the passages that help with a task, for an agent; nothing if nothing is relevant.

    Superseded documents and rejected decisions are omitted. Defaults: `config show`, context.*.
    """
    console: Console = ctx.obj
    from thunderus_mem.errors import ThunderusError
    from thunderus_mem.search.context import ContextRequest, context

    if not (task or paths or core):
        raise ThunderusError("missing argument TASK", hint="describe the task, or pass --paths or --core")
    request = ContextRequest(
        " ".join(task or ()), budget, paths or (), kind or (), core, unreviewed, limit or 0, console.start
    )
    memory = console.memory()
    value = context(memory, request)
    if console.json:
        console.budget = budget or memory.config.context_budget
    console.emit("context", value, rendered)
    if value.omitted_unreviewed:
        console.say("To include unreviewed documents: --unreviewed")


def rendered(value: Context, console: Console) -> str:
    """Format the passages as they are for an agent."""
    from thunderus_mem.search.context import render

    return render(value)
