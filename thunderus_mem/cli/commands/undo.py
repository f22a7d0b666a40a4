"""``undo restore resolve merge-driver``: the way back, and the way on after a merge.

`undo` takes back one change and `restore` a whole run of the gardener, each as a new event. `resolve` and
`merge-driver` settle what a merge left in conflict: only what both sides wrote is left to people. The
commands parse, call and render; what they call writes documents, log, and git's index.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from thunderus_mem.cli.params import DryRun, Plan, Why
from thunderus_mem.cli.text import Style, aligned, counted, diff_lines, finding_lines, minute, one_line
from thunderus_mem.errors import ThunderusError
from thunderus_mem.history import undo
from thunderus_mem.history.reverse import UndoChoice
from thunderus_mem.merge import resolve

if TYPE_CHECKING:
    from thunderus_mem.cli.console import Console

app = typer.Typer()

# ``undo restore``

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
    value = undo.undo(console.memory(), choice, why=why, dry_run=dry_run)
    return undone_code(console, "undo", value, again=not dry_run and not redo)


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
        value = undo.snapshots(console.memory(), limit=limit)
        if not value.snapshots:
            console.say("There is no snapshot: garden --apply takes one.")
        console.emit("restore listed", value, snapshot_list, long=True)
        if value.left_out:
            console.say(f"{value.left_out:,} older left out; -n shows more.")
        return 0
    done = undo.restore(console.memory(), snapshot, why=why, dry_run=dry_run)
    return undone_code(console, "restore", done, again=not dry_run)


def undone_code(console: Console, command: str, value: undo.Undone, *, again: bool = True) -> int:
    """Print what was taken back, and how to have it ``again``; the exit code."""
    console.emit(command, value, undone)
    if again:
        console.say("To have it again: thunderus-mem undo --redo")
    return console.published_code(value.published)


def undone(value: undo.Undone, console: Console) -> str:
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


def _told(event: undo.UndoneEvent, style: Style, *, dry_run: bool) -> str:
    begin = ("bring back" if event.again else "take back") if dry_run else ""
    begin = f"Nothing is written; this would {begin}:" if dry_run else _DONE[event.again]
    reason = f": {one_line(event.why)}" if event.why else ""
    left = "" if event.documents else " (nothing of it was left)"
    what = f"{event.op} {style.name(event.id)} of {minute(event.ts)} by {event.author}"
    return f"{begin} {what}{reason}{left}"


def snapshot_list(value: undo.SnapshotList, console: Console) -> str:
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


# ``resolve merge-driver``

_STATES = {
    "merged": "",
    "kept": "kept",
    "done": "settled before",
    "apart": "has a file of its own",
    "unreadable": "left as it is",
}
_WIDEST = 160


@app.command("resolve")
def resolve_command(
    ctx: typer.Context,
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[ID|PATH]…", help="Only these; default: all in conflict.")
    ] = None,
    plan: Plan = False,
    stage: Annotated[
        bool, typer.Option("--stage", help="Then `git add` what is settled, and the log that tells of it.")
    ] = False,
    why: Why = "",
) -> int:
    """Settle documents that a merge, rebase, cherry-pick, revert or stash left in conflict.

    Keys that one side changed, lists, times and verification are decided; markers stay around text that both
    sides wrote. Exits with 1 while people must decide something.
    """
    if plan and stage:
        raise ThunderusError("--plan and --stage exclude each other.")
    console: Console = ctx.obj
    value = resolve.resolve(console.memory(), tuple(names or ()), plan=plan, stage=stage, why=why)
    console.emit("resolve", value, resolved)
    say_more(value, console)
    return console.published_code(value.published) or int(value.is_left)


@app.command("merge-driver")
def merge_driver_command(
    ctx: typer.Context,
    base: Annotated[str, typer.Argument(metavar="BASE", help="What was before; %O.")],
    ours: Annotated[str, typer.Argument(metavar="OURS", help="Our file, which gets the result; %A.")],
    theirs: Annotated[str, typer.Argument(metavar="THEIRS", help="Their file; %B.")],
    path: Annotated[str, typer.Argument(metavar="PATH", help="What the document is called; %P.")],
) -> int:
    """Merge one document for git, as `resolve` would. Exits with 1 when people must decide something.

    Git calls this when it is configured as a merge driver; nobody needs to.
    """
    console: Console = ctx.obj
    value = resolve.merge_driver(base, ours, theirs, path, environ=console.environ)
    console.emit("merge-driver", value, driven)
    return int(bool(value.left))


def resolved(value: resolve.Resolved, console: Console) -> str:
    """The sides by git's names, a paragraph a document, and other files."""
    style = console.style
    console.say_recorded(value.recorded)
    for name in value.clear:
        console.say(f"{name} is not in conflict.")
    if not value.documents and not value.others:
        if not value.clear:
            console.say("Nothing to resolve: no document is in conflict.")
        return ""
    if value.ours:
        console.say(f"Ours is {one_line(value.ours)}, theirs is {one_line(value.theirs)}.")
    lines = [line for document in value.documents for line in _document(document, style)]
    for other in value.others:
        word = "settled" if other.settled else "left"
        lines += [style.name(other.path), *_rows([(word, "", other.advice)], style)]
    if value.planned:
        lines += ["", value.diff.rstrip("\n")] if value.diff else []
    return "\n".join(lines)


def _document(document: resolve.ResolvedDocument, style: Style) -> list[str]:
    rows = [("settled", one.key, one.how) for one in document.settled]
    rows += [("removed", "", f"{path}, the other file of it") for path in document.removed]
    rows += [("left", one.key, one.why) for one in document.left]
    state = _STATES[document.state]
    says = [text for text in (state, document.note) if text]
    head = f"{style.name(document.id or document.path)}  {document.path if document.id else ''}".rstrip()
    return [head, *([f"    {one_line(': '.join(says))}"] if says else []), *_rows(rows, style)]


def _rows(rows: list[tuple[str, str, str]], style: Style) -> list[str]:
    paint = {"settled": style.good, "removed": style.dim, "left": style.warning}
    cells = [
        (paint[word](word), one_line(f"{key}: {how}" if key else how)[:_WIDEST]) for word, key, how in rows
    ]
    return [f"    {line}" for line in aligned(cells)]


def say_more(value: resolve.Resolved, console: Console) -> None:
    """After the documents: what was staged, how many are settled and left, and the next step."""
    if value.unstaged:
        console.talk(f"Nothing is staged: {value.unstaged}.")
    if value.staged:
        console.say(f"Staged {counted(len(value.staged), 'file')}.")
    if value.documents or value.others:
        console.say(_summary(value))


def _summary(value: resolve.Resolved) -> str:
    left = [one for one in value.documents if one.left] + [one for one in value.others if not one.settled]
    clean = len(value.documents) + len(value.others) - len(left)
    parts = [f"{counted(clean, 'file')} {'would be ' if value.planned else ''}settled"] if clean else []
    parts += [f"{len(left)} left to you"] if left else []
    step = f" Next: {value.next_step}." if value.next_step else ""
    return f"{', '.join(parts)}.{step}"


def driven(value: resolve.Driven, console: Console) -> str:
    """A line among git's own, on stderr as theirs are."""
    if value.settled:
        console.say(f"{value.path}: settled {', '.join(value.settled)}")
    for left in value.left:
        console.say(f"{value.path}: left {left.key + ', ' if left.key else ''}{one_line(left.why)}")
    return ""
