"""``undo``: the way back, as a new event."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from thunderus_mem.model.errors import ThunderusError

if TYPE_CHECKING:
    from thunderus_mem.surfaces.cli.console import Console

app = typer.Typer()


@app.command("undo")
def undo(
    ctx: typer.Context,
    event: Annotated[
        str | None, typer.Argument(metavar="[EVENT]", help="This event or patch; the last one when none.")
    ] = None,
    number: Annotated[
        int, typer.Option("--number", "-n", metavar="N", min=1, help="How many changes to take back.")
    ] = 1,
    redo: Annotated[bool, typer.Option("--redo", help="Take back the last undo instead.")] = False,
    anywhere: Annotated[bool, typer.Option("--any", help="Changes of other working trees, too.")] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", "--plan", help="Show what would change; write nothing.")
    ] = False,
    why: Annotated[str, typer.Option("-m", "--why", metavar="WHY", help="The reason, kept in the log.")] = "",
) -> int:
    """Take back the last change made here, as a new event; again for the one before it.

    A change is what one command wrote, an import of many documents too. Edits made since, by hand or by later
    commands, stay where they are in another place of the text; else nothing is written and you are told what
    is in the way.
    """
    from thunderus_mem.surfaces.cli.done import published_code
    from thunderus_mem.surfaces.render_undo import undone
    from thunderus_mem.verbs import undoing

    if event is not None and (redo or anywhere or number != 1):
        raise ThunderusError("--number, --redo and --any choose among the last changes; EVENT names one.")
    console: Console = ctx.obj
    value = undoing.undo(
        console.memory(), event, number=number, redo=redo, anywhere=anywhere, why=why, dry_run=dry_run
    )
    console.emit("undo", value, undone)
    if not dry_run and not redo:
        console.say("To have it again: thunderus-mem undo --redo")
    return published_code(console, published=value.published)
