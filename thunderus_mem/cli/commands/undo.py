"""``undo``: the way back, as a new event."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from thunderus_mem.cli.text import aligned, counted, finding_lines, minute, one_line
from thunderus_mem.errors import ThunderusError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from thunderus_mem.cli.console import Console
    from thunderus_mem.cli.text import Style
    from thunderus_mem.history.undo import Undone, UndoneDocument, UndoneEvent
    from thunderus_mem.interop.thunderus import MigratedFile, MigrationReport
    from thunderus_mem.merge.resolve import Driven, Resolved, ResolvedDocument

app = typer.Typer()


@app.command("undo")
def undo(
    ctx: typer.Context,
    event: Annotated[
        str | None, typer.Argument(metavar="[EVENT]", help="This event or patch; the last one when none.")
    ] = None,
    number: Annotated[
        int, typer.Option("--number", "-n", metavar="N", min=1, help="How many changes to take back.")
    ] = 1,
    redo: Annotated[bool, typer.Option("--redo", help="Take back the last undo instead.")] = False,
    anywhere: Annotated[bool, typer.Option("--any", help="Changes of other working trees, too.")] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", "--plan", help="Show what would change; write nothing.")
    ] = False,
    why: Annotated[str, typer.Option("-m", "--why", metavar="WHY", help="The reason, kept in the log.")] = "",
) -> int:
    """Take back the last change made here, as a new event; again for the one before it.

    A change is what one command wrote, an import of many documents too. Edits made since, by hand or by later
    commands, stay where they are in another place of the text; else nothing is written and you are told what
    is in the way.
    """
    from thunderus_mem.cli.render import published_code
    from thunderus_mem.history import undo as undo_module

    if event is not None and (redo or anywhere or number != 1):
        raise ThunderusError("--number, --redo and --any choose among the last changes; EVENT names one.")
    console: Console = ctx.obj
    value = undo_module.undo(
        console.memory(), event, number=number, redo=redo, anywhere=anywhere, why=why, dry_run=dry_run
    )
    console.emit("undo", value, undone)
    if not dry_run and not redo:
        console.say("To have it again: thunderus-mem undo --redo")
    return published_code(console, published=value.published)


# What was taken back or migrated, for people.

_DONE = {False: "Took back:", True: "Brought back:"}
_BECAME = {"create": "restored", "update": "changed", "remove": "removed", "rename": "moved"}


def undone(value: Undone, console: Console) -> str:
    """What was taken back on stderr; then each document and what became of it, or the diff of a dry run."""
    style = console.style
    for line in finding_lines(value.warnings, style):
        console.talk(line)
    if value.recorded:
        console.say(f"Recorded edits made by hand: {', '.join(value.recorded)}")
    for event in value.events:
        console.say(_told(event, style, dry_run=value.dry_run))
    documents = [document for event in value.events for document in event.documents]
    if value.dry_run:
        return "\n".join(line for document in documents for line in _document_diff(document, style))
    rows = [(_BECAME[one.op], style.name(one.id), one.path) for one in documents]
    return "\n".join(aligned(rows))


def _told(event: UndoneEvent, style: Style, *, dry_run: bool) -> str:
    begin = ("bring back" if event.again else "take back") if dry_run else ""
    begin = f"Nothing is written; this would {begin}:" if dry_run else _DONE[event.again]
    reason = f": {one_line(event.why)}" if event.why else ""
    left = "" if event.documents else " (nothing of it was left)"
    what = f"{event.op} {style.name(event.id)} of {minute(event.ts)} by {event.author}"
    return f"{begin} {what}{reason}{left}"


def _document_diff(document: UndoneDocument, style: Style) -> Iterable[str]:
    return diff_lines(document.path, document.op, document.diff, document.moved_from, style)


def diff_lines(path: str, what: str, diff: str | None, moved_from: str, style: Style) -> Iterable[str]:
    """A diff in colour; ``what`` happens to the file is told where there is none."""
    if moved_from:
        yield f"rename from {moved_from}"
        yield f"rename to {path}"
    elif diff is None:
        yield f"{what} {path} (the diff is too long, or would show a secret)"
    for line in (diff or "").splitlines():
        paint = {"+": style.good, "-": style.error}.get(line[:1])
        yield paint(line) if paint is not None else line


def migration(value: MigrationReport, console: Console) -> str:
    """The diff of what would be migrated; what it is on stderr."""
    _tell(value, console)
    lines = [line for change in value.changes for line in _migration_diff(change, console.style)]
    lines += [f"write {path}" for path in value.files]
    return "\n".join(lines)


def migration_names(value: MigrationReport, console: Console) -> str:
    """What is to migrate, or was: each file and the steps it takes."""
    _tell(value, console)
    rows = [(console.style.name(change.path), ", ".join(change.steps)) for change in value.changes]
    rows += [(console.style.name(path), "file of the store") for path in value.files]
    return "\n".join(aligned(rows))


def _tell(value: MigrationReport, console: Console) -> None:
    for file in value.left:
        console.say(f"{console.style.warning('left')} {file.path}: {file.reason}")
    if value.recorded:
        console.say(f"Recorded edits made by hand: {', '.join(value.recorded)}")
    if not value.due:
        console.say(f"Everything has its present shape (version {value.present}).")
        return
    parts = [counted(len(value.changes), "document")] if value.changes else []
    parts += [counted(len(value.files), "file") + " beside them"] if value.files else []
    what = " and ".join(parts)
    if not value.applied:
        console.say(f"To migrate to version {value.present}: {what}. Only --apply writes.")
        return
    console.say(f"Migrated to version {value.present}: {what}.")
    if value.changes:
        console.say("To take the documents back: thunderus-mem undo")


def _migration_diff(change: MigratedFile, style: Style) -> Iterable[str]:
    yield style.dim(f"# {change.path}: {', '.join(change.steps)}")
    yield from diff_lines(change.path, "update", change.diff, change.moved_from, style)


# ``resolve``: after a merge, only what both sides wrote is left to people.


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
    from thunderus_mem.cli.render import published_code
    from thunderus_mem.merge import resolve as resolve_module

    if plan and stage:
        raise ThunderusError("--plan and --stage exclude each other.")
    console: Console = ctx.obj
    value = resolve_module.resolve(console.memory(), tuple(names or ()), plan=plan, stage=stage, why=why)
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
    from thunderus_mem.merge import resolve as driver

    console: Console = ctx.obj
    value = driver.merge_driver(base, ours, theirs, path, environ=console.environ)
    console.emit("merge-driver", value, driven)
    return int(bool(value.left))


# What `resolve` did, for people: each document with what was settled and what is left.

_STATES = {
    "merged": "",
    "kept": "kept",
    "done": "settled before",
    "apart": "has a file of its own",
    "unreadable": "left as it is",
}
_SHOWN = 160


def resolved(value: Resolved, console: Console) -> str:
    """The sides by git's names, a paragraph a document, and other files."""
    style = console.style
    if value.recorded:
        console.say(f"Recorded edits made by hand: {', '.join(value.recorded)}")
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


def _document(document: ResolvedDocument, style: Style) -> list[str]:
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
        (paint[word](word), one_line(f"{key}: {how}" if key else how)[:_SHOWN]) for word, key, how in rows
    ]
    return [f"    {line}" for line in aligned(cells)]


def say_more(value: Resolved, console: Console) -> None:
    """After the documents: what was staged, how many are settled and left, and the next step."""
    if value.unstaged:
        console.talk(f"Nothing is staged: {value.unstaged}.")
    if value.staged:
        console.say(f"Staged {counted(len(value.staged), 'file')}.")
    if value.documents or value.others:
        console.say(_summary(value))


def _summary(value: Resolved) -> str:
    left = [one for one in value.documents if one.left] + [one for one in value.others if not one.settled]
    clean = len(value.documents) + len(value.others) - len(left)
    parts = [f"{counted(clean, 'file')} {'would be ' if value.planned else ''}settled"] if clean else []
    parts += [f"{len(left)} left to you"] if left else []
    step = f" Next: {value.next_step}." if value.next_step else ""
    return f"{', '.join(parts)}.{step}"


def driven(value: Driven, console: Console) -> str:
    """A line among git's own, on stderr as theirs are."""
    if value.settled:
        console.say(f"{value.path}: settled {', '.join(value.settled)}")
    for left in value.left:
        console.say(f"{value.path}: left {left.key + ', ' if left.key else ''}{one_line(left.why)}")
    return ""
