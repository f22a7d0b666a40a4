"""Events sorted into what a recap tells of: documents, commands, problems, decisions, notes, files. Pure.

Decisions are sentences found by keywords, with the reason given beside them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple

from thunderus_mem.log.event import changes_of
from thunderus_mem.recap.commands import edited_paths, only_looks, problems, runs, said
from thunderus_mem.recap.template import one_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from thunderus_mem.log.event import Change
    from thunderus_mem.log.line import Event
    from thunderus_mem.recap.commands import CommandProblem, Run

_LONGEST_TEXT: Final = 20_000
_SHORTEST: Final = 4
_LONGEST: Final = 400
_SENTENCE = re.compile(r"(?<=[.!?])[ \t]+(?=[A-Z`\"(])|\n+")
_MARK = re.compile(r"^[ \t]*(?:[-*+]|\d{1,3}[.)]|#{1,6})[ \t]+")
_BEFORE: Final = frozenset(
    (
        *("i", "we", "they", "team", "i've", "we've", "have", "has", "had", "been", "was", "were", "is"),
        *("are", "finally", "then", "and", "so", "also", "therefore"),
    )
)
_UNDECIDED = re.compile(
    r"\b(?:not|never|if|whether|should|could|would|unless|until|once|when|before|cannot)\b|n't\b|\bto be\b"
)
# "For" tells mostly what a thing is for, and "since" often when: either is a reason by what follows alone.
_FOR = (
    r"for (?:(?:its|their|the sake|fear|lack|want|(?:(?:this|that|these|those|two|three|many) )?reasons?)\b|"
    r"(?:the )?(?:better|best|fewer|less|more|lower|higher|greater|smaller|faster|easier|simpler|cheaper)\b|"
    r"(?:\w+ )?(?:performance|speed|simplicity|safety|security|privacy|consistency|compatibility|"
    r"readability|reliability|portability|maintainability|stability|isolation|clarity|robustness|"
    r"scalability|latency|throughput)(?=[ ]?(?:[.,;:!)]|$|and\b|or\b|reasons?\b)))"
)
_SINCE = (
    r"since (?!then\b|\d|v\d|version\b|release\b|last\b|yesterday\b|today\b|day\b|"
    r"(?:mon|tues|wednes|thurs|fri|satur|sun)day\b|"
    r"(?:january|february|march|april|may|june|july|august|september|october|november|december)\b|"
    r"the (?:last|first|beginning|start|release|upgrade|migration)\b)"
)
_REASON = re.compile(
    r"\b(?:(?:because|so that|so as to|due to|in order to|to avoid|to keep|as it|as they|as this)\b|"
    rf"{_SINCE}|{_FOR})",
    re.IGNORECASE,
)
_REASON_FIRST = re.compile(
    rf"(?:because|{_SINCE}|this |that |it |the reason|reason:|otherwise)", re.IGNORECASE
)
_LEADING = re.compile(r"[ :,]*(?:to|on|for|that|in favou?r of)? *", re.IGNORECASE)
_WORD = re.compile(r"[\w'’-]+")


class DecisionSentence(NamedTuple):
    """A sentence that tells of a decision. ``reason`` is the part of it that says why, or else the sentence
    after it that does; "" when none is given. ``context`` is the sentence before, ``subject`` what was
    decided, in few words."""

    sentence: str
    reason: str
    context: str
    subject: str

    @property
    def whole(self) -> str:
        """The sentence, with its reason when that is another one."""
        return self.sentence if self.reason in self.sentence else f"{self.sentence} {self.reason}"


def decisions_in(text: str, keywords: Sequence[str]) -> Iterator[DecisionSentence]:
    """The decisions that a text tells of: sentences with a keyword said of somebody, not asked, not denied.

    Code, quotations and what is longer than a page are passed over.
    """
    sentences = list(_sentences(text[:_LONGEST_TEXT]))
    for at, sentence in enumerate(sentences):
        keyword = _deciding(sentence, keywords)
        if not keyword:
            continue
        following = sentences[at + 1] if at + 1 < len(sentences) else ""
        core, reason = _parts(sentence, keyword)
        if not reason and _REASON_FIRST.match(following):
            reason = following
        yield DecisionSentence(sentence, reason, sentences[at - 1] if at else "", _subject(core, keyword))


def _parts(sentence: str, keyword: str) -> tuple[str, str]:
    """What a sentence says without its reason, and the reason: behind what was decided, or before it. What
    follows the keyword at once is the decision: in "decided to keep it small" nothing is a reason."""
    begins = max(sentence.lower().find(keyword.lower()), 0)
    behind = _LEADING.match(sentence, begins + len(keyword))
    word = _WORD.match(sentence, behind.end() if behind else 0)
    within = _REASON.search(sentence, word.end() if word else begins)
    if within is not None:
        return sentence[: within.start()], sentence[within.start() :]
    before = _REASON_FIRST.match(sentence, 0, begins)
    return sentence, sentence[:begins].rpartition(",")[0] if before else ""


def _subject(core: str, keyword: str) -> str:
    """What was decided, without who did and how it was called; all of it when little is left then."""
    core = core.strip(" ,;:.-")
    after = core.lower().partition(keyword.lower())[2]
    left = _LEADING.sub("", core[len(core) - len(after) :], count=1) if after else ""
    chosen = left if len(left.split()) > 1 else core
    return chosen[:1].upper() + chosen[1:]


def _sentences(text: str) -> Iterator[str]:
    fenced = False
    for line in text.splitlines():
        if line.lstrip().startswith(("```", "~~~")):
            fenced = not fenced
        elif not fenced and not line.lstrip().startswith((">", "|", "$ ")) and not line.startswith("    "):
            for piece in _SENTENCE.split(_MARK.sub("", line)):
                if piece.strip():
                    yield " ".join(piece.split())


def _deciding(sentence: str, keywords: Sequence[str]) -> str:
    """The keyword by which the sentence tells of a decision; "" when it tells of none."""
    words = _WORD.findall(sentence.lower().replace("’", "'"))
    if not len(words) >= _SHORTEST or len(sentence) > _LONGEST or sentence.endswith("?"):
        return ""
    for keyword in keywords:
        wanted = _WORD.findall(keyword.lower())
        for at in range(len(words) - len(wanted) + 1) if wanted else ():
            if words[at : at + len(wanted)] != wanted:
                continue
            before = words[max(0, at - 2) : at]
            if (not before or not _BEFORE.isdisjoint(before)) and not _UNDECIDED.search(" ".join(words[:at])):
                return keyword
    return ""


# Sorting events

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
class DocumentRecap:
    """What happened to one document: how often each operation, why, and the ids of the events that say so.

    ``made_for`` is the reason given when it was added.
    """

    operations: dict[str, int] = field(default_factory=dict)
    reasons: dict[str, None] = field(default_factory=dict)
    events: dict[str, None] = field(default_factory=dict)
    made_for: str = ""


class EventReading(NamedTuple):
    """How events are read: the keywords of a decision, what stands for paths of this machine, and which texts
    are unfit for a page (a secret, an order to its reader)."""

    keywords: Sequence[str] = ()
    hide: Mapping[str, str] = {}
    unfit: Callable[[str], bool] = lambda _: False


@dataclass(slots=True)
class SortedEvents:
    """Events, sorted into what a recap tells.

    ``bulk`` are events that changed many documents, with their operation and those documents' ids;
    ``approvals`` are approvals and snapshots, ``decided`` sentences of messages and notes; ``paths`` says how
    often each file was named. ``unfit`` counts the texts that were left out for what they hold, ``looks`` the
    commands that only looked around.
    """

    stories: dict[str, DocumentRecap] = field(default_factory=dict)
    bulk: list[tuple[Event, str, list[str]]] = field(default_factory=list)
    notes: list[Event] = field(default_factory=list)
    open_ends: list[Event] = field(default_factory=list)
    approvals: list[Event] = field(default_factory=list)
    decided: list[tuple[Event, DecisionSentence]] = field(default_factory=list)
    paths: dict[str, int] = field(default_factory=dict)
    ran: tuple[Run, ...] = ()
    problems: tuple[CommandProblem, ...] = ()
    unfit: int = 0
    looks: int = 0

    def count_paths(self, paths: Iterable[object]) -> None:
        """Count files that were named once more; what is no text is passed over."""
        for path in paths:
            if isinstance(path, str):
                self.paths[path] = self.paths.get(path, 0) + 1


def note_text(event: Event) -> str:
    """What a note says, as one line."""
    text = event.body.get("text")
    return one_line(text) if isinstance(text, str) else ""


def operation_name(op: str, change_op: str = "") -> str:
    """The word for what a patch of ``op`` did to one document."""
    if op == "garden" and change_op == "remove":
        return "merged into another"
    if change_op == "rename":
        return _DONE[op] if op in ("archive", "unarchive") else "renamed"
    return _DONE.get(op, "changed")


def sort_events(
    events: Iterable[Event], own_id: str, reading: EventReading | None = None
) -> tuple[SortedEvents, list[Event]]:
    """The events in order of time, sorted, and those of them that have something to tell; what happened to
    the recap ``own_id`` itself is left out."""
    ordered = list(events)
    found, reading = SortedEvents(), reading or EventReading()
    telling = {event.id for event in ordered if _sort(found, event, own_id, reading)}
    _sort_runs(found, ordered, reading)
    telling.update(id for run in found.ran for id in run.events)
    telling.update(id for problem in found.problems for id in problem.events)
    used = [event for event in ordered if event.id in telling]
    for event in used:
        paths = event.refs.get("paths") if event.kind in _NAMING else ()
        found.count_paths(paths if isinstance(paths, list) else ())
    for event in ordered:
        found.count_paths(edited_paths(event))
    return found, used


def _sort(found: SortedEvents, event: Event, own_id: str, reading: EventReading) -> bool:
    """Sort one event in; false when it has nothing to tell by itself."""
    if event.kind == "patch":
        return _sort_patch(found, event, own_id)
    if event.kind in ("message", "note"):
        return _sort_text(found, event, reading)
    if event.kind in ("approval", "snapshot") or event.body.get("tool") == "approval":
        found.approvals.append(event)
        return True
    return False


def _sort_text(found: SortedEvents, event: Event, reading: EventReading) -> bool:
    """Of a message only the sentences that decide are told, of a note the whole text."""
    text = said(event)
    is_note = event.kind == "note"
    decided = [] if is_note else [(event, one) for one in decisions_in(text, reading.keywords)]
    shown = text if is_note else " ".join(one.sentence for _, one in decided)
    if text and reading.unfit(shown):
        found.unfit += 1
        return False
    if not is_note:
        found.decided += decided
        return bool(decided)
    text = note_text(event)
    if text:
        (found.open_ends if _OPEN.match(text) or text.endswith("?") else found.notes).append(event)
    return bool(text)


def _sort_patch(found: SortedEvents, event: Event, own_id: str) -> bool:
    """Sort one patch event in; false when it only tells of recaps."""
    op = str(event.body.get("op", ""))
    changes = [change for change in changes_of(event) if change.doc_id != own_id]
    if op == RECAP_OP or not changes:
        return False
    if len(changes) > _BULK:
        found.bulk.append((event, op, sorted(change.doc_id for change in changes)))
        return True
    # A document that only got another file keeps its id.
    kept = {change.doc_id for change in changes if change.after}
    gone = [change.doc_id for change in changes if change.op == "rename" and not change.after]
    former = [doc_id for doc_id in gone if doc_id not in kept]
    if len(former) == 1:  # one document, told of under the id it has now
        changes = [change for change in changes if change.doc_id not in former]
        _carry_over(found, former[0], changes)
    reason = one_line(event.why).rstrip(".") if event.why else ""
    for change in {(change.doc_id, change.op): change for change in changes}.values():
        story = found.stories.setdefault(change.doc_id, DocumentRecap())
        operation = operation_name(op, change.op)
        story.operations[operation] = story.operations.get(operation, 0) + 1
        story.events[event.id] = None
        if change.op == "rename" and len(former) == 1:
            story.reasons[f"it was `{former[0]}`"] = None
        if event.why and operation == "added":
            story.made_for = story.made_for or reason
        if event.why:
            story.reasons[reason] = None
    return True


def _carry_over(found: SortedEvents, former: str, changes: Sequence[Change]) -> None:
    """Tell what happened to a document before it was renamed under its new id."""
    new = next((change.doc_id for change in changes if change.op == "rename"), None)
    if new is not None and former in found.stories and new not in found.stories:
        found.stories = {new if name == former else name: story for name, story in found.stories.items()}


def _sort_runs(found: SortedEvents, events: Sequence[Event], reading: EventReading) -> None:
    ran = runs(events, reading.hide)
    unfit = {run.events for run in ran if reading.unfit(run.command)}
    fit = [run for run in ran if run.events not in unfit]
    found.unfit += len(unfit)
    found.ran = tuple(run for run in fit if not only_looks(run.command))
    found.looks = len(fit) - len(found.ran)
    found.problems = problems(events, found.ran)


def texts_by_us(events: Iterable[Event]) -> frozenset[tuple[str, str]]:
    """Ids and hashes of the texts that `recap` itself has written, or the gardener made of those, as the log
    says; ``events`` in its order."""
    found: set[tuple[str, str]] = set()
    for event in events:
        op = event.body.get("op") if event.kind == "patch" else ""
        for change in changes_of(event) if op in (RECAP_OP, "garden") else ():
            if op == RECAP_OP or (change.doc_id, change.before) in found:
                found.add((change.doc_id, change.after))
    return frozenset(found)
