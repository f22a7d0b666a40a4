"""``rename``: another id for a document."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from thunderus_mem.surfaces.cli.console import Console

app = typer.Typer()


@app.command("rename")
def rename(
    ctx: typer.Context,
    document: Annotated[str, typer.Argument(metavar="ID", help="Its id, or the path of its file.")],
    new_id: Annotated[str, typer.Argument(metavar="NEW-ID", help="What it is to be called.")],
    plan: Annotated[bool, typer.Option("--plan", help="Show what would change; write nothing.")] = False,
    why: Annotated[str, typer.Option("-m", "--why", metavar="WHY", help="The reason, kept in the log.")] = "",
) -> int:
    """Give a document another id and its file the name that follows from it.

    Links and references in other documents follow; the old id stays as an alias. A decision keeps its number.
    """
    from thunderus_mem.surfaces.cli.done import published_code
    from thunderus_mem.surfaces.render_rename import renamed, say_more
    from thunderus_mem.verbs import renaming

    console: Console = ctx.obj
    value = renaming.rename(console.memory(), document, new_id, plan=plan, why=why)
    console.emit("rename", value, renamed)
    say_more(value, console)
    return published_code(console, published=value.published)
