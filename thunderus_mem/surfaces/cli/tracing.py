"""``why blame``: where a document comes from, as a whole and line by line."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from thunderus_mem.model.errors import InvalidQuery, ThunderusError

if TYPE_CHECKING:
    from thunderus_mem.surfaces.cli.console import Console

app = typer.Typer()

DocumentId = Annotated[str, typer.Argument(metavar="ID", help="An id, or a unique beginning of it.")]

_FORMATS = ("tree", "mermaid", "dot")
_LINES = re.compile(r"([0-9]{1,9})?(?:(,)([0-9]{1,9})?)?", re.ASCII)


@app.command("why")
def why(
    ctx: typer.Context,
    document: DocumentId,
    form: Annotated[str, typer.Option("--format", metavar="FORMAT", help="tree, mermaid or dot.")] = "tree",
    patch: Annotated[bool, typer.Option("--patch", "-p", help="Show the code then and now.")] = False,
) -> int:
    """Where a document comes from: events, sessions, patches, commits, and the code it talks about."""
    from thunderus_mem.surfaces import render_graph, render_log
    from thunderus_mem.surfaces.cli.done import served_code
    from thunderus_mem.surfaces.render_code import with_code
    from thunderus_mem.verbs import history

    console: Console = ctx.obj
    if form not in _FORMATS:
        raise ThunderusError(f"There is no format {form}.", hint=f"Formats: {', '.join(_FORMATS)}")
    render = {"mermaid": render_graph.mermaid, "dot": render_graph.dot}.get(form, render_log.why_report)
    value = history.why(console.memory(), document)
    if patch and form == "tree":
        render = partial(with_code, render)
    console.emit("why", value, render, long=True)
    return served_code(console, value.damaged)


@app.command("blame")
def blame(
    ctx: typer.Context,
    document: DocumentId,
    lines: Annotated[
        str, typer.Option("--lines", "-L", metavar="FROM,TO", help="Only these lines: 10,20 or 10, or 7.")
    ] = "",
    patch: Annotated[bool, typer.Option("--patch", "-p", help="Show the code then and now.")] = False,
) -> int:
    """Which event or commit last changed each line of a document, who did it and when.

    The log comes first, then git's history. Lines nobody recorded yet say so.
    """
    from thunderus_mem.surfaces.cli.done import served_code
    from thunderus_mem.surfaces.render_blame import blame_report
    from thunderus_mem.surfaces.render_code import with_code
    from thunderus_mem.verbs import blaming

    console: Console = ctx.obj
    wanted = _wanted(lines) if lines else None
    value = blaming.blame(console.memory(), document, lines=wanted)
    render = partial(with_code, blame_report) if patch else blame_report
    console.emit("blame", value, render, long=True)
    return served_code(console, value.damaged)


def _wanted(text: str) -> tuple[int, int]:
    """First and last line of ``10,20``, ``10,`` (to the end), ``,20`` or ``7``."""
    match = _LINES.fullmatch(text.replace(" ", ""))
    if match is None or not (match[1] or match[3]):
        raise InvalidQuery(f"--lines takes two line numbers, such as 10,20, not {text!r}")
    first = int(match[1] or 1)
    return (first, int(match[3] or 0)) if match[2] else (first, first)
