"""``record``: what people edited by hand goes into the log now."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from thunderus_mem.surfaces.cli.console import Console
    from thunderus_mem.verbs.recording import Recorded

app = typer.Typer()


@app.command("record")
def record(
    ctx: typer.Context,
    yes: Annotated[
        bool, typer.Option("--yes", help="Also when many documents are gone: they are meant to be.")
    ] = False,
    why: Annotated[str, typer.Option("-m", "--why", metavar="WHY", help="The reason, kept in the log.")] = "",
) -> None:
    """Log now what was edited by hand; every command that writes does so first anyway."""
    from thunderus_mem.verbs import recording

    console: Console = ctx.obj
    value = recording.record(console.memory(), accept_loss=yes, why=why)
    if not value.recorded:
        console.say("Nothing was edited by hand.")
    console.emit("record", value, _recorded)


def _recorded(value: Recorded, console: Console) -> str:
    return "\n".join(console.style.name(one) for one in value.recorded)
