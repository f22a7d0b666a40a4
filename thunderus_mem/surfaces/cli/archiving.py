"""``archive unarchive``: documents are set aside, and brought back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from thunderus_mem.surfaces.cli.console import Console
    from thunderus_mem.verbs.archiving import Archived

app = typer.Typer()

Documents = Annotated[list[str], typer.Argument(metavar="ID...", help="Ids, or paths of their files.")]
Why = Annotated[str, typer.Option("-m", "--why", metavar="WHY", help="The reason, kept in the log.")]


@app.command("archive")
def archive(ctx: typer.Context, documents: Documents, why: Why = "") -> int:
    """Set documents aside: they leave search and list, and keep their text, ids and history.

    --archived finds them again, show and links always do, unarchive and undo bring them back.
    """
    from thunderus_mem.verbs import archiving

    console: Console = ctx.obj
    return _told(console, archiving.archive(console.memory(), documents, why=why))


@app.command("unarchive")
def unarchive(ctx: typer.Context, documents: Documents, why: Why = "") -> int:
    """Bring archived documents back to where they came from."""
    from thunderus_mem.verbs import archiving

    console: Console = ctx.obj
    return _told(console, archiving.unarchive(console.memory(), documents, why=why))


def _told(console: Console, value: Archived) -> int:
    from thunderus_mem.surfaces.cli.done import published_code
    from thunderus_mem.surfaces.render_archive import archived

    console.emit(value.op, value, archived)
    return published_code(console, published=value.published)
