"""``migrate``: an older store, brought up to date."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from thunderus_mem.model.errors import ThunderusError

if TYPE_CHECKING:
    from thunderus_mem.surfaces.cli.console import Console

app = typer.Typer()


@app.command("migrate")
def migrate(
    ctx: typer.Context,
    apply: Annotated[bool, typer.Option("--apply", help="Write it; without, it is only shown.")] = False,
    check: Annotated[
        bool, typer.Option("--check", help="Only name what is to migrate; exit with 1 if anything is.")
    ] = False,
    why: Annotated[str, typer.Option("-m", "--why", metavar="WHY", help="The reason, kept in the log.")] = "",
) -> int:
    """Show what brings an older store up to date, as a diff; with --apply do it.

    Only lines of fields that have an older shape change; texts, comments and unknown fields stay as they are,
    and the log's old lines are never rewritten. `undo` takes all of it back.
    """
    from thunderus_mem.surfaces.cli.done import published_code
    from thunderus_mem.surfaces.render_undo import migration, migration_names
    from thunderus_mem.verbs import migrating

    if apply and check:
        raise ThunderusError("--apply and --check exclude each other.")
    console: Console = ctx.obj
    value = migrating.migrate(console.memory(), apply=apply, why=why)
    console.emit("migrate", value, migration_names if apply or check else migration)
    if check:
        return int(value.due)
    return published_code(console, published=value.published)
