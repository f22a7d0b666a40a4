"""``events``: the log itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from thunderus_mem.surfaces.cli.console import Console

app = typer.Typer()
events_app = typer.Typer(help="Add to the log, read, verify, replay and export it.", no_args_is_help=True)
app.add_typer(events_app, name="events")

Kinds = Annotated[list[str] | None, typer.Option("--kind", "-k", help="Only this kind; repeat.")]
Limit = Annotated[int, typer.Option("--limit", "-n", min=1, help="How many, newest first.")]


@events_app.command("list")
def events_list(
    ctx: typer.Context,
    kind: Kinds = None,
    limit: Limit = 50,
) -> int:
    """Events of every kind, newest first."""
    from thunderus_mem.surfaces.cli.done import served_code
    from thunderus_mem.surfaces.render_log import event_listing
    from thunderus_mem.verbs import history

    console: Console = ctx.obj
    value = history.events_list(console.memory(), kinds=tuple(kind or ()), limit=limit)
    console.emit("events list", value, event_listing, long=True)
    if value.left_out:
        console.say(f"{value.left_out:,} older left out; -n shows more.")
    return served_code(console, value.damaged)


@events_app.command("add")
def events_add(
    ctx: typer.Context,
    kind: Annotated[
        str, typer.Option("--kind", "-k", metavar="KIND", help="message, tool_call, tool_result or note.")
    ] = "",
    body: Annotated[
        str,
        typer.Option(
            "--body", metavar="TEXT", help="What was said, or the command that was run; - is stdin."
        ),
    ] = "",
    exit_code: Annotated[
        int | None, typer.Option("--exit-code", metavar="N", help="How the command of a tool_result ended.")
    ] = None,
    actor: Annotated[str, typer.Option("--actor", metavar="WHO", help="user, agent or tool.")] = "",
    why: Annotated[str, typer.Option("-m", "--why", metavar="WHY", help="The reason, kept in the log.")] = "",
) -> int:
    """Add what happened: JSON lines on stdin, or one event by --kind and --body. All of them or none.

    Lines of Thunderus's own log are taken as well. Kinds in events.private stay in this working tree.
    """
    import sys

    from thunderus_mem.model.errors import ThunderusError
    from thunderus_mem.model.incoming import MAX_INPUT
    from thunderus_mem.surfaces.cli.given import text_of
    from thunderus_mem.surfaces.render_log import added_events
    from thunderus_mem.verbs import bringing

    console: Console = ctx.obj
    if bool(kind) != bool(body):
        raise ThunderusError(
            "--kind and --body go together.", hint="Without both, JSON lines are read from stdin."
        )
    if kind:
        one = bringing.given_event(kind, text_of(body, console) or "", actor=actor, exit_code=exit_code)
        value = bringing.events_add(console.memory(), [one], why=why)
    else:
        if sys.stdin.isatty():
            raise ThunderusError(
                "There is nothing on stdin.", hint="Pipe JSON lines in, or give --kind and --body."
            )
        value = bringing.events_add(console.memory(), sys.stdin.buffer.read(MAX_INPUT + 1), why=why)
    console.emit("events add", value, added_events)
    return 0


@events_app.command("show")
def events_show(
    ctx: typer.Context,
    event: Annotated[str, typer.Argument(metavar="ID", help="An event's id.")],
) -> int:
    """One event, whole."""
    from thunderus_mem.surfaces.cli.done import served_code
    from thunderus_mem.surfaces.render_log import shown_event
    from thunderus_mem.verbs import history

    console: Console = ctx.obj
    value = history.events_show(console.memory(), event)
    console.emit("events show", value, shown_event, long=True)
    return served_code(console, value.damaged)


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
    from thunderus_mem.surfaces.cli.done import served_code
    from thunderus_mem.surfaces.render_log import replay_report
    from thunderus_mem.verbs import replaying

    console: Console = ctx.obj
    memory = console.memory()
    value = replaying.replay_check(memory) if check else replaying.replay(memory, every=every)
    console.emit("events replay", value, replay_report, long=True)
    return int(check and bool(value.unexplained)) or served_code(console, value.damaged)


@events_app.command("export")
def events_export(
    ctx: typer.Context,
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FILE", help="Write this file; without it, print.")
    ] = "",
    document: Annotated[str, typer.Option("--document", metavar="ID", help="Only about this one.")] = "",
    kind: Kinds = None,
    since: Annotated[str, typer.Option(metavar="DATE", help="On this day or later.")] = "",
    private: Annotated[
        bool, typer.Option("--private", help="With the events private to this working tree.")
    ] = False,
    form: Annotated[
        str, typer.Option("--format", metavar="FORMAT", help="jsonl or prov-json (W3C PROV).")
    ] = "jsonl",
) -> int:
    """Print all events in order, one a line, each with its shard and line. A file is written whole or not.

    Each line is an object: shard, line, and event as it stands in the log.
    """
    import os
    from dataclasses import replace

    from thunderus_mem.surfaces.cli.done import served_code
    from thunderus_mem.surfaces.render_log import export_summary, exported
    from thunderus_mem.verbs.exporting import Export

    console: Console = ctx.obj
    memory = console.memory()
    export = Export(
        memory, form=form, document=document or None, kinds=tuple(kind or ()), since=since, private=private
    )
    if output and output != "-":
        value = export.write(memory, os.path.abspath(os.path.join(console.start, output)))
        console.emit("events export", value, exported)
    elif console.json:
        text = "".join(export.pieces())
        console.emit("events export", replace(export.done(), text=text), exported)
    else:
        for piece in export.pieces():
            console.raw(piece)
    console.say(export_summary(export.done()))
    return served_code(console, export.done().damaged)
