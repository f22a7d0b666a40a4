"""``garden recap``: what the gardener would do, does, and tells of a day."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from thunderus_mem.model.errors import ThunderusError

if TYPE_CHECKING:
    from thunderus_mem.surfaces.cli.console import Console

app = typer.Typer()


@app.command("garden")
def garden(
    ctx: typer.Context,
    plan: Annotated[bool, typer.Option("--plan", help="Say what would be done (the default).")] = False,
    apply: Annotated[bool, typer.Option("--apply", help="Do it, step by step.")] = False,
) -> None:
    """Find documents that say the same; with --apply one of them keeps all ids, tags and links."""
    from thunderus_mem.surfaces.render_upkeep import applied
    from thunderus_mem.surfaces.render_upkeep import plan as render_plan
    from thunderus_mem.verbs import gardening

    if plan and apply:
        raise ThunderusError("--plan and --apply exclude each other.")
    console: Console = ctx.obj
    memory = console.memory()
    found = gardening.garden_plan(memory)
    if not found.steps:
        console.say("Nothing to do.")
    if apply and found.steps:
        console.emit("garden apply", gardening.garden_apply(memory, found), applied)
    else:
        console.emit("garden", found, render_plan)


@app.command("recap")
def recap(
    ctx: typer.Context,
    day: Annotated[str, typer.Option("--day", metavar="DATE", help="As 2026-01-21; default: today.")] = "",
) -> None:
    """Write a recap of a day from its events, documents and commits; every line cites its events."""
    from datetime import date

    from thunderus_mem.surfaces.render import written
    from thunderus_mem.verbs import gardening

    console: Console = ctx.obj
    memory = console.memory()
    try:
        asked = date.fromisoformat(day) if day else memory.now().date()
    except ValueError as error:
        raise ThunderusError(f"--day takes a date as 2026-01-21, not {day}.") from error
    console.emit("recap", gardening.recap(memory, asked.isoformat()), written)
