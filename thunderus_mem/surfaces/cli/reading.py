"""``show list status log why events``: everything that reads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from thunderus_mem.surfaces.cli.console import Console

app = typer.Typer()
events_app = typer.Typer(help="Read and verify the log's events.", no_args_is_help=True)
app.add_typer(events_app, name="events")

DocumentId = Annotated[str, typer.Argument(metavar="ID", help="An id, or a unique beginning of it.")]
Limit = Annotated[int, typer.Option("--limit", "-n", min=1, help="How many, newest first.")]


@app.command("show")
def show(
    ctx: typer.Context,
    document: DocumentId,
    raw: Annotated[bool, typer.Option("--raw", help="The file as it is, fields and all.")] = False,
) -> None:
    """Print a document: what it is, then its text."""
    from thunderus_mem.surfaces.render import shown
    from thunderus_mem.verbs import reading

    console: Console = ctx.obj
    value = reading.show(console.memory(), document)
    if raw and not console.json:
        console.raw(value.text)
        return
    console.emit("show", value, shown, long=True)


@app.command("list")
def list_documents(
    ctx: typer.Context,
    kind: Annotated[list[str] | None, typer.Option("--kind", "-k", help="Only this kind; repeat.")] = None,
    tag: Annotated[list[str] | None, typer.Option("--tag", "-t", help="Only with this tag; repeat.")] = None,
    status: Annotated[list[str] | None, typer.Option(help="Only this status; repeat.")] = None,
    path: Annotated[str, typer.Option(help="Only paths that contain this.")] = "",
    since: Annotated[str, typer.Option(metavar="DATE", help="Updated on this day or later.")] = "",
    before: Annotated[str, typer.Option(metavar="DATE", help="Updated before this day.")] = "",
    ids: Annotated[bool, typer.Option("--ids", help="Print only the ids.")] = False,
) -> None:
    """List documents, by id."""
    from thunderus_mem.surfaces.render import listing, listing_ids
    from thunderus_mem.verbs import reading

    console: Console = ctx.obj
    value = reading.list_documents(
        console.memory(),
        kinds=tuple(kind or ()),
        tags=tuple(tag or ()),
        statuses=tuple(status or ()),
        path=path,
        since=since,
        before=before,
    )
    if not value.documents:
        console.say("No documents.")
    console.plain &= not ids  # ids alone are plain already
    console.emit("list", value, listing_ids if ids else listing, long=not ids)


@app.command("status")
def status(ctx: typer.Context) -> None:
    """Counts by kind, what is stale or unrecorded, how fresh the index is, and one next step."""
    from thunderus_mem.surfaces.render import status as render
    from thunderus_mem.verbs import reading

    console: Console = ctx.obj
    console.emit("status", reading.status(console.memory()), render)


@app.command("log")
def log(
    ctx: typer.Context,
    document: Annotated[str | None, typer.Argument(metavar="[ID]", help="Only this document.")] = None,
    limit: Limit = 50,
) -> None:
    """What happened, newest first."""
    from thunderus_mem.surfaces.render_log import log_listing
    from thunderus_mem.verbs import history

    console: Console = ctx.obj
    value = history.log(console.memory(), document, limit=limit)
    if not value.events:
        console.say("Nothing happened yet.")
    console.emit("log", value, log_listing, long=True)
    if value.left_out:
        console.say(f"{value.left_out:,} older left out; -n shows more.")


@app.command("why")
def why(ctx: typer.Context, document: DocumentId) -> None:
    """Where a document comes from: events, sessions, patches and commits, as a tree."""
    from thunderus_mem.surfaces.render_log import why_report
    from thunderus_mem.verbs import history

    console: Console = ctx.obj
    console.emit("why", history.why(console.memory(), document), why_report, long=True)


@events_app.command("list")
def events_list(
    ctx: typer.Context,
    kind: Annotated[list[str] | None, typer.Option("--kind", "-k", help="Only this kind; repeat.")] = None,
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
