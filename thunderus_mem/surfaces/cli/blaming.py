"""``blame``: where each line of a document comes from."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from thunderus_mem.surfaces.cli.console import Console

app = typer.Typer()

_LINES = re.compile(r"([0-9]{1,9})?(?:(,)([0-9]{1,9})?)?", re.ASCII)


@app.command("blame")
def blame(
    ctx: typer.Context,
    document: Annotated[str, typer.Argument(metavar="ID", help="An id, or a unique beginning of it.")],
    lines: Annotated[
        str, typer.Option("--lines", "-L", metavar="FROM,TO", help="Only these lines: 10,20 or 10, or 7.")
    ] = "",
) -> None:
    """Which event or commit last changed each line of a document, who did it and when.

    The log comes first, then git's history. Lines nobody recorded yet say so.
    """
    from thunderus_mem.surfaces.render_blame import blame_report
    from thunderus_mem.verbs import blaming

    console: Console = ctx.obj
    wanted = _wanted(lines) if lines else None
    console.emit("blame", blaming.blame(console.memory(), document, lines=wanted), blame_report)


def _wanted(text: str) -> tuple[int, int]:
    """First and last line of ``10,20``, ``10,`` (to the end), ``,20`` or ``7``."""
    from thunderus_mem.model.errors import InvalidQuery

    match = _LINES.fullmatch(text.replace(" ", ""))
    if match is None or not (match[1] or match[3]):
        raise InvalidQuery(f"--lines takes two line numbers, such as 10,20, not {text!r}")
    first = int(match[1] or 1)
    return (first, int(match[3] or 0)) if match[2] else (first, first)
