"""``show list status log``: reading documents, and what happened to them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from thunderus_mem.surfaces.cli.console import Console

app = typer.Typer()

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
    archived: Annotated[bool, typer.Option("--archived", help="Those in the archive as well.")] = False,
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
        archived=archived,
    )
    if not value.documents:
        console.say("No documents.")
    console.plain &= not ids  # ids alone are plain already
    console.emit("list", value, listing_ids if ids else listing, long=not ids)


@app.command("status")
def status(ctx: typer.Context) -> None:
    """Counts by kind, what is stale or unrecorded, how fresh the index is, and one next step."""
    from thunderus_mem.surfaces.render import status as render
    from thunderus_mem.verbs import status

    console: Console = ctx.obj
    console.emit("status", status.status(console.memory()), render)


@app.command("log")
def log(
    ctx: typer.Context,
    document: Annotated[str | None, typer.Argument(metavar="[ID]", help="Only this document.")] = None,
    limit: Limit = 50,
) -> int:
    """What happened, newest first."""
    from thunderus_mem.surfaces.cli.done import served_code
    from thunderus_mem.surfaces.render_log import log_listing
    from thunderus_mem.verbs import history

    console: Console = ctx.obj
    value = history.log(console.memory(), document, limit=limit)
    if not value.events and not value.damaged:
        console.say("Nothing happened yet.")
    console.emit("log", value, log_listing, long=True)
    if value.left_out:
        console.say(f"{value.left_out:,} older left out; -n shows more.")
    return served_code(console, value.damaged)
