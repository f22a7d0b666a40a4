"""What was taken back, for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from thunderus_mem.surfaces.render import finding_lines
from thunderus_mem.surfaces.text import aligned, minute, one_line

if TYPE_CHECKING:
    from collections.abc import Iterable

    from thunderus_mem.surfaces.cli.console import Console
    from thunderus_mem.surfaces.style import Style
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
        return "\n".join(line for document in documents for line in _diff(document, style))
    rows = [(_BECAME[one.op], style.name(one.id), one.path) for one in documents]
    return "\n".join(aligned(rows))


def _told(event: UndoneEvent, style: Style, *, dry_run: bool) -> str:
    begin = ("bring back" if event.again else "take back") if dry_run else ""
    begin = f"Nothing is written; this would {begin}:" if dry_run else _DONE[event.again]
    reason = f": {one_line(event.why)}" if event.why else ""
    left = "" if event.documents else " (nothing of it was left)"
    what = f"{event.op} {style.name(event.id)} of {minute(event.ts)} by {event.author}"
    return f"{begin} {what}{reason}{left}"


def _diff(document: UndoneDocument, style: Style) -> Iterable[str]:
    if document.moved_from:
        yield f"rename from {document.moved_from}"
        yield f"rename to {document.path}"
    if document.diff is None and not document.moved_from:
        yield f"{document.op} {document.path} (the diff is too long, or would show a secret)"
    for line in (document.diff or "").splitlines():
        paint = {"+": style.good, "-": style.error}.get(line[:1])
        yield paint(line) if paint is not None else line
