"""``tag``: the tags of the documents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from thunderus_mem.authoring import show
from thunderus_mem.cli.options import Call, Commands, Option
from thunderus_mem.cli.text import aligned

if TYPE_CHECKING:
    from thunderus_mem.cli.console import Console

app = Commands()
tag_app = app.group("tag")


@tag_app.command("list")
def tag_list_command(
    ctx: Call,
    limit: Annotated[int, Option("--limit", "-n", metavar="N", min=0, help="Tags to show; 0 for all.")] = 0,
) -> None:
    """List the tags of all documents with the number of documents, the most frequent first.

    `thunderus-mem tag` does the same.
    """
    console: Console = ctx.obj
    value = show.list_tags(console.memory(), limit=limit)
    if not value.tags:
        console.say("No tags")
    console.emit("tag list", value, listing, long=True)
    if value.left_out:
        console.say(f"{value.left_out:,} less frequent not shown; use -n")


def listing(value: show.TagList, console: Console) -> str:
    """Format the tags, one per line: the number of documents and the name."""
    most = max((len(f"{one.documents:,}") for one in value.tags), default=0)
    return "\n".join(
        aligned([(f"{one.documents:,}".rjust(most), console.style.name(one.tag)) for one in value.tags])
    )
