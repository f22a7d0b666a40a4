"""Events sorted into what a recap tells of: documents, commands, problems, decisions, notes, files."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple

from thunderus_mem.garden.recaps.deciding import Decided, decisions_in
from thunderus_mem.garden.recaps.lines import one_line
from thunderus_mem.garden.recaps.runs import Problem, Run, edited_paths, only_looks, problems, runs, said
from thunderus_mem.model.event import changes_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from thunderus_mem.model.event import Change, Event

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
    "anchor": "tied to code",
    "verify": "verified",
    "hand-edit": "edited by hand",
    "aborted": "set aside",
}
_NAMING: Final = frozenset({"patch", "note", "approval", "snapshot"})
# An event that changed more documents than this (an import) is told in one line.
_BULK = 20
# "Open the port before the deploy" is a note; "open: who owns the port" is a question.
_OPEN = re.compile(
    r"\?|\[ \]|(?:to[ -]?do|fixme|unclear|undecided)\b"
    r"|(?:open(?: end)?|(?:open )?question|follow[ -]?up|next)\s*:",
    re.IGNORECASE,
)


@dataclass(slots=True)
class Story:
    """What happened to one document: how often which operation, why, and the events that say so.

    ``made_for`` is the reason given when it was added.
    """

    deeds: dict[str, int] = field(default_factory=dict)
    reasons: dict[str, None] = field(default_factory=dict)
    events: dict[str, None] = field(default_factory=dict)
    made_for: str = ""


def _never(text: str) -> bool:
    return not isinstance(text, str)


class Reading(NamedTuple):
    """How events are read: the keywords of a decision, what stands for paths of this machine, and which texts
    are unfit for a page (a secret, an order to its reader)."""

    keywords: Sequence[str] = ()
    hide: Mapping[str, str] = {}
    unfit: Callable[[str], bool] = _never


@dataclass(slots=True)
class Day:
    """Events, sorted into what a recap tells. ``unfit`` counts the texts that were left out for what they
    hold, ``looks`` the commands that only looked around,
    ``paths`` how often each file was named."""

    stories: dict[str, Story] = field(default_factory=dict)
    bulk: list[tuple[Event, str, list[str]]] = field(default_factory=list)
    notes: list[Event] = field(default_factory=list)
    open_ends: list[Event] = field(default_factory=list)
    decisions: list[Event] = field(default_factory=list)
    paths: dict[str, int] = field(default_factory=dict)
    ran: tuple[Run, ...] = ()
    problems: tuple[Problem, ...] = ()
    decided: list[tuple[Event, Decided]] = field(default_factory=list)
    unfit: int = 0
    looks: int = 0


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


def _carry_over(day: Day, former: str, changes: Sequence[Change]) -> None:
    """Tell what happened to a document before it was renamed under its new id."""
    new = next((change.doc_id for change in changes if change.op == "rename"), None)
    if new is not None and former in day.stories and new not in day.stories:
        day.stories = {new if name == former else name: story for name, story in day.stories.items()}


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
        _carry_over(day, former[0], changes)
    for change in {(change.doc_id, change.op): change for change in changes}.values():
        story = day.stories.setdefault(change.doc_id, Story())
        deed = deed_of(op, change.op)
        story.deeds[deed] = story.deeds.get(deed, 0) + 1
        story.events[event.id] = None
        if change.op == "rename" and len(former) == 1:
            story.reasons[f"it was `{former[0]}`"] = None
        if event.why and deed == "added":
            story.made_for = story.made_for or one_line(event.why).rstrip(".")
        if event.why:
            story.reasons[one_line(event.why).rstrip(".")] = None
    return True


def sort_events(
    events: Iterable[Event], own_id: str, reading: Reading | None = None
) -> tuple[Day, list[Event]]:
    """The events in order of time, sorted, and those of them that have something to tell."""
    how = reading or Reading()
    ordered = list(events)
    day, telling = Day(), set[str]()
    for event in ordered:
        if _tell(day, event, own_id, how):
            telling.add(event.id)
    _tell_runs(day, ordered, how)
    telling.update(id for run in day.ran for id in run.events)
    telling.update(id for one in day.problems for id in one.events)
    used = [event for event in ordered if event.id in telling]
    for event in used:
        paths = event.refs.get("paths") if event.kind in _NAMING else ()
        listed = paths if isinstance(paths, list) else []
        for path in listed:
            if isinstance(path, str):
                day.paths[path] = day.paths.get(path, 0) + 1
    for event in ordered:
        for path in edited_paths(event):
            day.paths[path] = day.paths.get(path, 0) + 1
    return day, used


def _tell(day: Day, event: Event, own_id: str, how: Reading) -> bool:
    """Sort one event in; false when it has nothing to tell by itself."""
    if event.kind == "patch":
        return _tell_patch(day, event, own_id)
    if event.kind in ("message", "note"):
        text = said(event)
        found = [(event, one) for one in decisions_in(text, how.keywords)] if how.keywords else []
        if unfit := bool(text) and how.unfit(
            text if event.kind == "note" else " ".join(o.sentence for _, o in found)
        ):
            day.unfit += 1
        if event.kind == "message":
            day.decided += [] if unfit else found
            return bool(found) and not unfit
        if not note_text(event) or unfit:
            return False
        text = note_text(event)
        is_open = _OPEN.match(text) or text.endswith("?")
        (day.open_ends if is_open else day.notes).append(event)
        return True
    if event.kind in ("approval", "snapshot") or event.body.get("tool") == "approval":
        day.decisions.append(event)
        return True
    return False


def _tell_runs(day: Day, events: Sequence[Event], how: Reading) -> None:
    ran = runs(events, how.hide)
    unfit = {run.events for run in ran if how.unfit(run.command)}
    day.unfit += len(unfit)
    fit = [run for run in ran if run.events not in unfit]
    day.ran = tuple(run for run in fit if not only_looks(run.command))
    day.looks = len(fit) - len(day.ran)
    day.problems = problems(events, day.ran)
