"""``for coverage``: from the code to the memories about it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from thunderus_mem.surfaces.cli.console import Console

app = typer.Typer()


@app.command("for")
def for_code(
    ctx: typer.Context,
    place: Annotated[str, typer.Argument(metavar="PATH[#SYMBOL|:LINE]", help="A place in the code.")],
    mentions: Annotated[
        bool | None,
        typer.Option(
            "--mentions/--no-mentions",
            help="Also documents that only name the file; by default where few govern it.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Which memories govern this code, the most specific first, each with today's verdict.

    A place is a file or folder, a symbol (src/jwt.py#Token.issue) or lines (src/jwt.py:10-20).
    It may be gone. Put -- before a path that begins with a dash.
    """
    from thunderus_mem.surfaces.render_governing import governed, governed_note
    from thunderus_mem.verbs.governing import governing

    console: Console = ctx.obj
    value = governing(console.memory(), place, mentions=mentions, start=console.start)
    note = governed_note(value)
    if note:
        console.say(note)
    console.emit("for", value, governed, long=True)


@app.command("coverage")
def coverage(
    ctx: typer.Context,
    path: Annotated[str, typer.Argument(metavar="[PATH]", help="Only this folder.", show_default=False)] = "",
    depth: Annotated[int, typer.Option("--depth", "-d", min=0, max=100, help="How many folders down.")] = 2,
) -> None:
    """Which folders have code and which of it has memories; which memories have no anchor, or a weak one.

    Files further down are counted in their folder at that depth, so that all lines add up.
    """
    from thunderus_mem.surfaces.render_governing import coverage as render
    from thunderus_mem.verbs import covering

    console: Console = ctx.obj
    value = covering.coverage(console.memory(), path, depth=depth, start=console.start)
    if not value.folders:
        console.say("There is no code here.")
    console.emit("coverage", value, render, long=True)
