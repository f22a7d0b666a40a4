"""``undo resolve merge-driver``: revert changes and resolve merge conflicts.

`undo` reverts changes or a run of the gardener, each as a new event. `resolve` and `merge-driver`
settle merge conflicts; only text that both sides changed is left to the user. The commands parse, call and
render; the functions they call write documents, log and git's index.
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Annotated

from thunderus_mem.cli.options import Argument, Call, Commands, Option
from thunderus_mem.cli.params import MOST, DryRun, Why
from thunderus_mem.cli.text import Style, aligned, counted, diff_lines, finding_lines, minute, one_line
from thunderus_mem.errors import Conflict, ThunderusError
from thunderus_mem.history import undo
from thunderus_mem.history.reverse import UndoChoice
from thunderus_mem.merge import resolve

if TYPE_CHECKING:
    from thunderus_mem.cli.console import Console

app = Commands()

# ``undo``

_DONE = {False: "Undid:", True: "Redid:"}
_LISTED = 20
_NAMED = 3
"""Of more events in a row that differ only in their documents, only the number is reported."""
_BECAME = {
    "create": "restored",
    "update": "changed",
    "remove": "removed",
    "rename": "moved",
    "aborted": "not written",
}


@app.command("undo")
def undo_command(
    ctx: Call,
    change: Annotated[
        str | None,
        Argument(
            metavar="[EVENT|SNAPSHOT]",
            help="This event, patch or gardener run; default: the last change.",
        ),
    ] = None,
    number: Annotated[
        int | None,
        Option("-n", metavar="N", min=1, max=MOST, help="Undo the last N changes; with --list, list N runs."),
    ] = None,
    redo: Annotated[bool, Option("--redo", help="Redo: revert the last undo.")] = False,
    listed: Annotated[bool, Option("--list", help="List gardener runs, with snapshots.")] = False,
    partial: Annotated[bool, Option("--partial", help="Skip documents in conflict; undo the rest.")] = False,
    dry_run: DryRun = False,
    why: Why = "",
) -> int:
    """Undo the last change made in this working tree, as a new event. Repeat to undo earlier changes.

    A change is everything that one command wrote. Later edits elsewhere in the text are kept; if a later edit
    overlaps, nothing is written and the conflict is reported. With --partial, such documents are skipped, the
    others are reverted, and the exit code is 3. With a SNAPSHOT, as `undo --list` prints it,
    documents return to their state before that gardener run, byte for byte; if one of them has changed since,
    nothing is written.
    """
    console: Console = ctx.obj
    if listed:
        if change is not None or redo or partial or dry_run:
            raise ThunderusError("--list and EVENT, --redo, --partial or --dry-run are mutually exclusive")
        return _list(console, number or _LISTED)
    if change is not None and (redo or number is not None):
        raise ThunderusError("EVENT and -n or --redo are mutually exclusive")
    if change is not None and change.strip().lower().startswith("snap_"):
        if partial:
            raise ThunderusError("SNAPSHOT and --partial are mutually exclusive")
        value = undo.restore(console.memory(), change, why=why, dry_run=dry_run)
    else:
        choice = UndoChoice(change, number or 1, redo)
        value = undo.undo(console.memory(), choice, why=why, dry_run=dry_run, partial=partial)
    console.emit("undo", value, undone)
    if not (dry_run or redo) and not all(one.is_aborted for one in value.events):
        console.say("To redo: thunderus-mem undo --redo")
    skipped = any(event.skipped for event in value.events)
    return console.published_code(value.published) or (Conflict.exit_code if skipped else 0)


def _list(console: Console, limit: int) -> int:
    """List the gardener runs that can be undone."""
    value = undo.snapshots(console.memory(), limit=limit)
    if not value.snapshots:
        console.say("No gardener runs; `thunderus-mem log --all` lists all changes with their ids")
    console.emit("undo list", value, snapshot_list, long=True)
    if value.left_out:
        console.say(f"{value.left_out:,} older not shown; use -n")
    return 0


def undone(value: undo.Undone, console: Console) -> str:
    """Report the undone events on stderr; format the documents, or the diff of a dry run."""
    style = console.style
    for line in finding_lines(value.warnings, style):
        console.talk(line)
    console.say_recorded(value.recorded)
    if value.resumed:
        console.say("An earlier run of this undo was interrupted; this is the rest of it")
    done = [event for event in value.events if event.undo_id or value.dry_run]
    for _, alike in groupby(done, lambda one: (one.op, one.author, one.why, one.again, bool(one.documents))):
        events = list(alike)
        for some in [events] if len(events) > _NAMED else [[event] for event in events]:
            console.say(_description(some, style, dry_run=value.dry_run))
    for one in (one for event in value.events for one in event.skipped):
        console.talk(f"skipped: {one_line(one.reason)}")
    documents = [document for event in value.events for document in event.documents]
    if value.dry_run:
        return "\n".join(
            line
            for one in documents
            for line in diff_lines(one.path, one.op, one.diff, one.moved_from, style)
        )
    for kept in (one.kept for one in documents if one.kept):
        console.say(f"The text that was not written is in {kept}")
    lines = aligned([(_BECAME[one.op], style.name(one.id), one.path) for one in documents[:_LISTED]])
    if len(documents) > _LISTED:
        made = [event.undo_id for event in value.events if event.undo_id]
        where = f"events show {made[0]}" if len(made) == 1 else f"log -n {len(made)} --json"
        lines.append(f"and {len(documents) - _LISTED:,} more; see: thunderus-mem {where}")
    return "\n".join(lines)


def _description(events: list[undo.UndoneEvent], style: Style, *, dry_run: bool) -> str:
    """Describe one event, or the number of several with one op, author and reason; newest first."""
    event = events[0]
    begin = f"Dry run; would {'redo' if event.again else 'undo'}:" if dry_run else _DONE[event.again]
    reason = f": {one_line(event.why)}" if event.why else ""
    left = "" if event.documents else " (no changes left)"
    what = (
        f"{event.op} {style.name(event.id)}" if len(events) == 1 else f"{len(events):,} events ({event.op})"
    )
    first, last = minute(min(one.ts for one in events)), minute(max(one.ts for one in events))
    when = first if first == last else f"{first} to {last}"
    return f"{begin} {what} from {when} by {event.author}{reason}{left}"


def snapshot_list(value: undo.SnapshotList, console: Console) -> str:
    """Format snapshots, newest first: id, time, author, command, and the state of the run."""
    style = console.style
    rows = []
    for one in value.snapshots:
        left = "undone" if one.is_restored and one.steps else counted(one.steps, "step")
        if 0 < one.taken_back < one.steps:
            left = f"{left}, {one.taken_back:,} undone"
        place = "" if one.here else "other working tree"
        documents = counted(one.documents, "document")
        rows.append(
            (style.name(one.id), style.dim(minute(one.ts)), one.author, one.command, left, documents, place)
        )
    return "\n".join(aligned(rows))


# ``resolve merge-driver``

_STATES = {
    "merged": "",
    "kept": "kept",
    "done": "already resolved",
    "apart": "in a separate file",
    "unreadable": "unchanged",
}
_WIDEST = 160


@app.command("resolve")
def resolve_command(
    ctx: Call,
    names: Annotated[
        list[str] | None, Argument(metavar="[ID|PATH]…", help="Only these; default: all conflicts.")
    ] = None,
    dry_run: DryRun = False,
    stage: Annotated[
        bool, Option("--stage", help="Run `git add` on the resolved files and the log.")
    ] = False,
    why: Why = "",
) -> int:
    """Resolve conflicts in documents after a merge, rebase, cherry-pick, revert or stash.

    Lists, times, verification, and keys that only one side changed are resolved automatically; markers stay
    around text that both sides changed. Exits with 1 if conflicts remain.
    """
    if dry_run and stage:
        raise ThunderusError("--dry-run and --stage are mutually exclusive")
    console: Console = ctx.obj
    value = resolve.resolve(console.memory(), tuple(names or ()), dry_run=dry_run, stage=stage, why=why)
    console.emit("resolve", value, resolved)
    say_more(value, console)
    return console.published_code(value.published) or int(value.is_left)


@app.command("merge-driver")
def merge_driver_command(
    ctx: Call,
    base: Annotated[str, Argument(metavar="BASE", help="The common ancestor; %O.")],
    ours: Annotated[str, Argument(metavar="OURS", help="Our file, overwritten with the result; %A.")],
    theirs: Annotated[str, Argument(metavar="THEIRS", help="Their file; %B.")],
    path: Annotated[str, Argument(metavar="PATH", help="The path of the document; %P.")],
) -> int:
    """Merge one document for git, like `resolve`. Exits with 1 if conflicts remain.

    Git runs this when it is configured as a merge driver.
    """
    console: Console = ctx.obj
    value = resolve.merge_driver(base, ours, theirs, path, environ=console.environ)
    console.emit("merge-driver", value, driven)
    return int(bool(value.left))


def resolved(value: resolve.Resolved, console: Console) -> str:
    """Format the names of the sides, a paragraph per document, and other files."""
    style = console.style
    console.say_recorded(value.recorded)
    for name in value.clear:
        console.say(f"{name}: no conflict")
    if not value.documents and not value.others:
        if not value.clear:
            console.say("Nothing to resolve")
        return ""
    if value.ours:
        console.say(f"ours: {one_line(value.ours)}, theirs: {one_line(value.theirs)}")
    lines = [line for document in value.documents for line in _document(document, style)]
    for other in value.others:
        word = "resolved" if other.settled else "unresolved"
        lines += [style.name(other.path), *_rows([(word, "", other.advice)], style)]
    if value.planned:
        lines += ["", value.diff.rstrip("\n")] if value.diff else []
    return "\n".join(lines)


def _document(document: resolve.ResolvedDocument, style: Style) -> list[str]:
    rows = [("resolved", one.key, one.how) for one in document.settled]
    rows += [("removed", "", f"{path} (duplicate of this document)") for path in document.removed]
    rows += [("unresolved", one.key, one.why) for one in document.left]
    state = _STATES[document.state]
    says = [text for text in (state, document.note) if text]
    head = f"{style.name(document.id or document.path)}  {document.path if document.id else ''}".rstrip()
    return [head, *([f"    {one_line(': '.join(says))}"] if says else []), *_rows(rows, style)]


def _rows(rows: list[tuple[str, str, str]], style: Style) -> list[str]:
    paint = {"resolved": style.good, "removed": style.dim, "unresolved": style.warning}
    cells = [
        (paint[word](word), one_line(f"{key}: {how}" if key else how)[:_WIDEST]) for word, key, how in rows
    ]
    return [f"    {line}" for line in aligned(cells)]


def say_more(value: resolve.Resolved, console: Console) -> None:
    """Report staged files, the counts of resolved and remaining files, and the next step."""
    if value.unstaged:
        console.talk(f"warning: nothing staged: {value.unstaged}")
    if value.staged:
        console.say(f"Staged {counted(len(value.staged), 'file')}")
    if value.documents or value.others:
        console.say(_summary(value))


def _summary(value: resolve.Resolved) -> str:
    left = [one for one in value.documents if one.left] + [one for one in value.others if not one.settled]
    clean = len(value.documents) + len(value.others) - len(left)
    parts = [f"{counted(clean, 'file')} {'would be ' if value.planned else ''}resolved"] if clean else []
    parts += [f"{len(left)} unresolved"] if left else []
    step = f"\nNext: {value.next_step}" if value.next_step else ""
    return f"{', '.join(parts)}{step}"


def driven(value: resolve.Driven, console: Console) -> str:
    """Report the result on stderr, like git's own lines."""
    if value.settled:
        console.say(f"{value.path}: resolved {', '.join(value.settled)}")
    for left in value.left:
        console.say(f"{value.path}: unresolved {left.key + ', ' if left.key else ''}{one_line(left.why)}")
    return ""
