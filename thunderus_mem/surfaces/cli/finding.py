"""``search``: alone in its module, since every millisecond of its start is felt."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from thunderus_mem.surfaces.cli.console import Console

app = typer.Typer()


@app.command("search")
def search(
    ctx: typer.Context,
    query: Annotated[list[str], typer.Argument(help='Words; "a phrase"; -without; tag: kind: since: …')],
    limit: Annotated[int, typer.Option("--limit", "-n", min=0, max=1000, show_default="10")] = 0,
    ids: Annotated[bool, typer.Option("--ids", help="Print only the ids.")] = False,
    explain: Annotated[bool, typer.Option("--explain", help="Say how each score came about.")] = False,
) -> None:
    """Find passages, best first.

    Filters: tag: kind: path: status: since: before:. Put -- before words that begin with a dash.
    """
    from thunderus_mem.surfaces.render_search import hit_ids, search_result
    from thunderus_mem.verbs import finding

    console: Console = ctx.obj
    memory = console.memory()
    found = finding.search(
        memory, " ".join(query), limit=limit or memory.config.search_limit, explain=explain
    )
    for remark in found.notes:
        console.say(remark)
    if not found.hits:
        console.say("Nothing found.")
    console.plain &= not ids  # ids alone are plain already
    console.emit("search", found, hit_ids if ids else search_result, long=not ids)
