"""What was taken back or migrated, for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from thunderus_mem.surfaces.render import finding_lines
from thunderus_mem.surfaces.text import aligned, counted, minute, one_line

if TYPE_CHECKING:
    from collections.abc import Iterable

    from thunderus_mem.surfaces.cli.console import Console
    from thunderus_mem.surfaces.style import Style
    from thunderus_mem.verbs.migrating import MigratedFile, MigrationReport
    from thunderus_mem.verbs.undoing import Undone, UndoneDocument, UndoneEvent

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
