"""``events``: the log itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from thunderus_mem.surfaces.cli.console import Console

app = typer.Typer()
events_app = typer.Typer(help="Read and verify the log's events.", no_args_is_help=True)
app.add_typer(events_app, name="events")

Kinds = Annotated[list[str] | None, typer.Option("--kind", "-k", help="Only this kind; repeat.")]
Limit = Annotated[int, typer.Option("--limit", "-n", min=1, help="How many, newest first.")]


@events_app.command("list")
def events_list(
    ctx: typer.Context,
    kind: Kinds = None,
    limit: Limit = 50,
) -> None:
    """Events of every kind, newest first."""
    from thunderus_mem.surfaces.render_log import event_listing
    from thunderus_mem.verbs import history

    console: Console = ctx.obj
    value = history.events_list(console.memory(), kinds=tuple(kind or ()), limit=limit)
    console.emit("events list", value, event_listing, long=True)
    if value.left_out:
        console.say(f"{value.left_out:,} older left out; -n shows more.")


@events_app.command("show")
def events_show(
    ctx: typer.Context,
    event: Annotated[str, typer.Argument(metavar="ID", help="An event's id.")],
) -> None:
    """One event, whole."""
    from thunderus_mem.surfaces.render_log import shown_event
    from thunderus_mem.verbs import history

    console: Console = ctx.obj
    console.emit("events show", history.events_show(console.memory(), event), shown_event, long=True)


@events_app.command("verify")
def events_verify(ctx: typer.Context) -> int:
    """Check every shard: schema, chain, torn lines. Exits with 1 when something is wrong."""
    from thunderus_mem.model.diagnostic import Severity
    from thunderus_mem.surfaces.render_log import verify_report
    from thunderus_mem.verbs import history

    console: Console = ctx.obj
    value = history.events_verify(console.memory())
    console.emit("events verify", value, verify_report, long=True)
    return int(any(finding.severity is not Severity.NOTE for finding in value.diagnostics))


@events_app.command("replay")
def events_replay(
    ctx: typer.Context,
    check: Annotated[
        bool, typer.Option("--check", help="Is every text explained by the log or by git? 1 when not.")
    ] = False,
    every: Annotated[bool, typer.Option("--all", help="List the documents the log rebuilds, too.")] = False,
) -> int:
    """Rebuild every document from the log alone, and say which ones are not what is on disk.

    With --check, git may explain a text as well; what nobody explains is named. Writes nothing.
    """
    from thunderus_mem.surfaces.render_log import replay_report
    from thunderus_mem.verbs import replaying

    console: Console = ctx.obj
    memory = console.memory()
    value = replaying.replay_check(memory) if check else replaying.replay(memory, every=every)
    console.emit("events replay", value, replay_report, long=True)
    return int(check and bool(value.unexplained))
