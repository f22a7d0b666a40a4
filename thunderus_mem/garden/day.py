"""One day of the shared log, sorted into what a recap tells of: documents, notes, open ends, files."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from thunderus_mem.model.event import changes_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from thunderus_mem.model.event import Event

SHARED_KINDS: Final = frozenset({"patch", "note", "approval", "snapshot"})
RECAP_OP: Final = "recap"
_DONE: Final = {
    "add": "added",
    "edit": "edited",
    "remove": "removed",
    "supersede": "superseded",
    "link": "linked",
    "import": "imported",
    "garden": "tidied",
    "archive": "archived",
    "unarchive": "brought back from the archive",
    "undo": "taken back",
    "migrate": "migrated",
    "resolve": "resolved",
    "hand-edit": "edited by hand",
    "aborted": "set aside",
}
# An event that changed more documents than this (an import) is told in one line.
_BULK = 20
_RELATIVE = re.compile(r"\]\((?!https?://)")
# "Open the port before the deploy" is a note; "open: who owns the port" is a question.
_OPEN = re.compile(
    r"\?|\[ \]|(?:to[ -]?do|fixme|unclear|undecided)\b"
    r"|(?:open(?: end)?|(?:open )?question|follow[ -]?up|next)\s*:",
    re.IGNORECASE,
)


@dataclass(slots=True)
class Story:
    """What happened to one document: how often which operation, why, and the events that say so."""

    deeds: dict[str, int] = field(default_factory=dict)
    reasons: dict[str, None] = field(default_factory=dict)
    events: dict[str, None] = field(default_factory=dict)


@dataclass(slots=True)
class Day:
    """The day's events, sorted into what a recap tells."""

    stories: dict[str, Story] = field(default_factory=dict)
    bulk: list[tuple[Event, str, list[str]]] = field(default_factory=list)
    notes: list[Event] = field(default_factory=list)
    open_ends: list[Event] = field(default_factory=list)
    decisions: list[Event] = field(default_factory=list)
    paths: dict[str, None] = field(default_factory=dict)


def one_line(text: str) -> str:
    """Free text as one list line that cannot open a comment or a code span over the rest of the page.

    Neither is a relative link one from here: the page would be refused for it.
    """
    line = _RELATIVE.sub(r"]\\(", " ".join(text.split())).replace("<!--", "&lt;!--")
    return line if line.count("`") % 2 == 0 else line.replace("`", "'")


def note_text(event: Event) -> str:
    """What a note says, as one line."""
    text = event.body.get("text")
    return one_line(text) if isinstance(text, str) else ""


def deed_of(op: str, change_op: str) -> str:
    """The word for what a patch of ``op`` did to one document."""
    if op == "garden" and change_op == "remove":
        return "merged into another"
    if change_op == "rename":
        return _DONE[op] if op in ("archive", "unarchive") else "renamed"
    return _DONE.get(op, "changed")


def _tell_patch(day: Day, event: Event, own_id: str) -> bool:
    """Sort one patch event in; false when it only tells of recaps."""
    op = str(event.body.get("op", ""))
    changes = [change for change in changes_of(event) if change.doc_id != own_id]
    if op == RECAP_OP or not changes:
        return False
    if len(changes) > _BULK:
        day.bulk.append((event, op, sorted(change.doc_id for change in changes)))
        return True
    # A document that only got another file keeps its id.
    kept = {change.doc_id for change in changes if change.after}
    gone = [change.doc_id for change in changes if change.op == "rename" and not change.after]
    former = [doc_id for doc_id in gone if doc_id not in kept]
    if len(former) == 1:  # one document, told of under the id it has now
        changes = [change for change in changes if change.doc_id not in former]
    for change in {(change.doc_id, change.op): change for change in changes}.values():
        story = day.stories.setdefault(change.doc_id, Story())
        deed = deed_of(op, change.op)
        story.deeds[deed] = story.deeds.get(deed, 0) + 1
        story.events[event.id] = None
        if change.op == "rename" and len(former) == 1:
            story.reasons[f"it was `{former[0]}`"] = None
        if event.why:
            story.reasons[one_line(event.why).rstrip(".")] = None
    return True


def sort_events(events: Iterable[Event], own_id: str) -> tuple[Day, list[Event]]:
    """The day in order of time, and the events it was made from."""
    day, used = Day(), []
    for event in events:
        if event.kind == "patch":
            if not _tell_patch(day, event, own_id):
                continue
        elif event.kind == "note":
            text = note_text(event)
            is_open = _OPEN.match(text) or text.endswith("?")
            (day.open_ends if is_open else day.notes).append(event)
        else:
            day.decisions.append(event)
        used.append(event)
        paths = event.refs.get("paths")
        listed = paths if isinstance(paths, list) else []
        day.paths |= {path: None for path in listed if isinstance(path, str)}
    return day, used
