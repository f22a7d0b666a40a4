"""``restore``: back to what a snapshot tells of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from thunderus_mem.model.errors import ThunderusError

if TYPE_CHECKING:
    from thunderus_mem.surfaces.cli.console import Console

app = typer.Typer()


@app.command("restore")
def restore(
    ctx: typer.Context,
    snapshot: Annotated[
        str | None, typer.Argument(metavar="[SNAP]", help="A snapshot's id, or a unique beginning of it.")
    ] = None,
    listed: Annotated[bool, typer.Option("--list", help="Show what there is to go back to.")] = False,
    limit: Annotated[int, typer.Option("--limit", "-n", metavar="N", min=1, help="How many to list.")] = 20,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", "--plan", help="Show what would change; write nothing.")
    ] = False,
    why: Annotated[str, typer.Option("-m", "--why", metavar="WHY", help="The reason, kept in the log.")] = "",
) -> int:
    """Put everything back to how it was before a run of the gardener: to the byte, all or nothing.

    When somebody has changed one of its documents since, nothing is written and the document is named.
    """
    from thunderus_mem.surfaces.cli.done import published_code
    from thunderus_mem.surfaces.render_garden import snapshot_list
    from thunderus_mem.surfaces.render_undo import undone
    from thunderus_mem.verbs import restoring

    console: Console = ctx.obj
    if listed == (snapshot is not None):
        raise ThunderusError("Name one snapshot, or give --list.", hint="thunderus-mem restore --list")
    if snapshot is None:
        value = restoring.snapshots(console.memory(), limit=limit)
        if not value.snapshots:
            console.say("There is no snapshot: garden --apply takes one.")
        console.emit("restore listed", value, snapshot_list, long=True)
        if value.left_out:
            console.say(f"{value.left_out:,} older left out; -n shows more.")
        return 0
    done = restoring.restore(console.memory(), snapshot, why=why, dry_run=dry_run)
    console.emit("restore", done, undone)
    if not dry_run:
        console.say("To have it again: thunderus-mem undo --redo")
    return published_code(console, published=done.published)
