"""``undo restore``: the way back, as a new event, of one change or of a whole run of the gardener."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from thunderus_mem.cli.params import DryRun, Why
from thunderus_mem.cli.text import aligned, counted, diff_lines, finding_lines, minute, one_line
from thunderus_mem.errors import ThunderusError
from thunderus_mem.history.undo import SnapshotList, Undone, UndoneEvent, restore, snapshots, undo
from thunderus_mem.history.undo_choice import UndoChoice

if TYPE_CHECKING:
    from thunderus_mem.cli.console import Console
    from thunderus_mem.cli.style import Style

app = typer.Typer()

_DONE = {False: "Took back:", True: "Brought back:"}
_BECAME = {"create": "restored", "update": "changed", "remove": "removed", "rename": "moved"}


@app.command("undo")
def undo_command(
    ctx: typer.Context,
    event: Annotated[
        str | None, typer.Argument(metavar="[EVENT]", help="This event or patch; the last one when none.")
    ] = None,
    number: Annotated[
        int, typer.Option("--number", "-n", metavar="N", min=1, help="How many changes to take back.")
    ] = 1,
    redo: Annotated[bool, typer.Option("--redo", help="Take back the last undo instead.")] = False,
    anywhere: Annotated[bool, typer.Option("--any", help="Changes of other working trees, too.")] = False,
    dry_run: DryRun = False,
    why: Why = "",
) -> int:
    """Take back the last change made here, as a new event; again for the one before it.

    A change is what one command wrote, an import of many documents too. Edits made since, by hand or by later
    commands, stay where they are in another place of the text; else nothing is written and you are told what
    is in the way.
    """
    if event is not None and (redo or anywhere or number != 1):
        raise ThunderusError("--number, --redo and --any choose among the last changes; EVENT names one.")
    console: Console = ctx.obj
    choice = UndoChoice(event, number, redo, anywhere)
    value = undo(console.memory(), choice, why=why, dry_run=dry_run)
    console.emit("undo", value, undone)
    if not dry_run and not redo:
        console.say("To have it again: thunderus-mem undo --redo")
    return console.published_code(value.published)


@app.command("restore")
def restore_command(
    ctx: typer.Context,
    snapshot: Annotated[
        str | None, typer.Argument(metavar="[SNAP]", help="A snapshot's id, or a unique beginning of it.")
    ] = None,
    listed: Annotated[bool, typer.Option("--list", help="Show what there is to go back to.")] = False,
    limit: Annotated[int, typer.Option("--limit", "-n", metavar="N", min=1, help="How many to list.")] = 20,
    dry_run: DryRun = False,
    why: Why = "",
) -> int:
    """Put everything back to how it was before a run of the gardener: to the byte, all or nothing.

    When somebody has changed one of its documents since, nothing is written and the document is named.
    """
    console: Console = ctx.obj
    if listed == (snapshot is not None):
        raise ThunderusError("Name one snapshot, or give --list.", hint="thunderus-mem restore --list")
    if snapshot is None:
        value = snapshots(console.memory(), limit=limit)
        if not value.snapshots:
            console.say("There is no snapshot: garden --apply takes one.")
        console.emit("restore listed", value, snapshot_list, long=True)
        if value.left_out:
            console.say(f"{value.left_out:,} older left out; -n shows more.")
        return 0
    done = restore(console.memory(), snapshot, why=why, dry_run=dry_run)
    console.emit("restore", done, undone)
    if not dry_run:
        console.say("To have it again: thunderus-mem undo --redo")
    return console.published_code(done.published)


def undone(value: Undone, console: Console) -> str:
    """What was taken back on stderr; then each document and what became of it, or the diff of a dry run."""
    style = console.style
    for line in finding_lines(value.warnings, style):
        console.talk(line)
    console.say_recorded(value.recorded)
    for event in value.events:
        console.say(_told(event, style, dry_run=value.dry_run))
    documents = [document for event in value.events for document in event.documents]
    if value.dry_run:
        return "\n".join(
            line
            for one in documents
            for line in diff_lines(one.path, one.op, one.diff, one.moved_from, style)
        )
    rows = [(_BECAME[one.op], style.name(one.id), one.path) for one in documents]
    return "\n".join(aligned(rows))


def _told(event: UndoneEvent, style: Style, *, dry_run: bool) -> str:
    begin = ("bring back" if event.again else "take back") if dry_run else ""
    begin = f"Nothing is written; this would {begin}:" if dry_run else _DONE[event.again]
    reason = f": {one_line(event.why)}" if event.why else ""
    left = "" if event.documents else " (nothing of it was left)"
    what = f"{event.op} {style.name(event.id)} of {minute(event.ts)} by {event.author}"
    return f"{begin} {what}{reason}{left}"


def snapshot_list(value: SnapshotList, console: Console) -> str:
    """Snapshots, newest first: id, when, who, and what is left of the run."""
    style = console.style
    rows = []
    for one in value.snapshots:
        left = "restored" if one.is_restored and one.steps else counted(one.steps, "step")
        if 0 < one.taken_back < one.steps:
            left = f"{left}, {one.taken_back:,} taken back"
        place = "" if one.here else "elsewhere"
        documents = counted(one.documents, "document")
        rows.append(
            (style.name(one.id), style.dim(minute(one.ts)), one.author, one.command, left, documents, place)
        )
    return "\n".join(aligned(rows))
