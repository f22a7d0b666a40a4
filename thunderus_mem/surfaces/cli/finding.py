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
    query: Annotated[
        list[str] | None, typer.Argument(help='Words; "a phrase"; -without; tag: kind: since: …')
    ] = None,
    limit: Annotated[int, typer.Option("--limit", "-n", min=0, max=1000, show_default="10")] = 0,
    archived: Annotated[bool, typer.Option("--archived", help="Look in the archive as well.")] = False,
    ids: Annotated[bool, typer.Option("--ids", help="Print only the ids.")] = False,
    explain: Annotated[bool, typer.Option("--explain", help="Say how each score came about.")] = False,
    interactive: Annotated[
        bool, typer.Option("--interactive", "-i", help="Choose while typing, and show what was chosen.")
    ] = False,
    lines: Annotated[bool, typer.Option("--choices", hidden=True)] = False,
) -> int:
    """Find passages, best first.

    Filters: tag: kind: path: status: since: before:. Put -- before words that begin with a dash.
    With -i you choose in fzf, or from a list where fzf is not installed; -i --ids prints the id chosen.
    """
    console: Console = ctx.obj
    text = " ".join(query or ())
    if interactive:
        return _chosen(console, text, ids=ids)
    if lines:
        from thunderus_mem.surfaces.cli.choosing import choice_lines, choices

        console.data(choice_lines(choices(console.memory(), text)))
        return 0
    if not query:
        from thunderus_mem.model.errors import ThunderusError

        raise ThunderusError("There are no words to search for.", hint="Help: thunderus-mem search --help")
    _found(console, text, limit, ids=ids, explain=explain, archived=archived)
    return 0


def _found(console: Console, text: str, limit: int, *, ids: bool, explain: bool, archived: bool) -> None:
    from thunderus_mem.surfaces.render_search import hit_ids, search_result
    from thunderus_mem.verbs import finding

    memory = console.memory()
    most = limit or memory.config.search_limit
    found = finding.search(memory, text, limit=most, explain=explain, archived=archived)
    for remark in found.notes:
        console.say(remark)
    if not found.hits:
        console.say("Nothing found.")
        console.tell_others()
    console.plain &= not ids  # ids alone are plain already
    console.emit("search", found, hit_ids if ids else search_result, long=not ids)


def _chosen(console: Console, text: str, *, ids: bool) -> int:
    """What a person chose: shown, or its id where that is asked for or nobody looks."""
    from thunderus_mem.surfaces.cli.choosing import choose
    from thunderus_mem.surfaces.render import shown
    from thunderus_mem.verbs.reading import show

    memory = console.memory()
    document, code = choose(memory, text, console)
    if document and (ids or console.width is None):
        console.data(document)
    elif document:
        console.emit("show", show(memory, document), shown, long=True)
    else:
        console.say("Nothing chosen.")
    return code
