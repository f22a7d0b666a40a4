"""``resolve``: after a merge, only what both sides wrote is left to people."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from thunderus_mem.model.errors import ThunderusError

if TYPE_CHECKING:
    from thunderus_mem.surfaces.cli.console import Console

app = typer.Typer()


@app.command("resolve")
def resolve(
    ctx: typer.Context,
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[ID|PATH]…", help="Only these; default: all in conflict.")
    ] = None,
    plan: Annotated[bool, typer.Option("--plan", help="Show what would change; write nothing.")] = False,
    stage: Annotated[
        bool, typer.Option("--stage", help="Then `git add` what is settled, and the log that tells of it.")
    ] = False,
    why: Annotated[str, typer.Option("-m", "--why", metavar="WHY", help="The reason, kept in the log.")] = "",
) -> int:
    """Settle documents that a merge, rebase, cherry-pick, revert or stash left in conflict.

    Keys that one side changed, lists, times and verification are decided; markers stay around text that both
    sides wrote. Exits with 1 while people must decide something.
    """
    from thunderus_mem.surfaces.cli.done import published_code
    from thunderus_mem.surfaces.render_resolve import resolved, say_more
    from thunderus_mem.verbs import resolving

    if plan and stage:
        raise ThunderusError("--plan and --stage exclude each other.")
    console: Console = ctx.obj
    value = resolving.resolve(console.memory(), tuple(names or ()), plan=plan, stage=stage, why=why)
    console.emit("resolve", value, resolved)
    say_more(value, console)
    return published_code(console, published=value.published) or int(value.is_left)


@app.command("merge-driver")
def merge_driver(
    ctx: typer.Context,
    base: Annotated[str, typer.Argument(metavar="BASE", help="What was before; %O.")],
    ours: Annotated[str, typer.Argument(metavar="OURS", help="Our file, which gets the result; %A.")],
    theirs: Annotated[str, typer.Argument(metavar="THEIRS", help="Their file; %B.")],
    path: Annotated[str, typer.Argument(metavar="PATH", help="What the document is called; %P.")],
) -> int:
    """Merge one document for git, as `resolve` would. Exits with 1 when people must decide something.

    Git calls this when it is configured as a merge driver; nobody needs to.
    """
    from thunderus_mem.surfaces.render_resolve import driven
    from thunderus_mem.verbs import merge_driver as driver

    console: Console = ctx.obj
    value = driver.merge_driver(base, ours, theirs, path, environ=console.environ)
    console.emit("merge-driver", value, driven)
    return int(bool(value.left))
