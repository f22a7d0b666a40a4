"""Extract what a recap reports from events: commands and their outcome, problems and their solution, edited
files and marked decisions. Pure.
"""

from __future__ import annotations

import json
import re
import shlex
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

from thunderus_mem.document.paths import is_archived
from thunderus_mem.document.state import state_in
from thunderus_mem.document.timestamp import utc_key
from thunderus_mem.log.actor import by_whom
from thunderus_mem.log.event import HAND_EDIT, changes_of, named_ids, text_in, texts_in, undone_by
from thunderus_mem.log.imported import is_imported
from thunderus_mem.recap.template import one_line
from thunderus_mem.startup import NamedTuple, lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from thunderus_mem.log.event import Change
    from thunderus_mem.log.line import Event

# Commands

_SHELLS: Final = frozenset(
    (
        *("shell", "bash", "sh", "zsh", "fish", "terminal", "exec", "execute", "run", "command"),
        *("cmd", "powershell", "console"),
    )
)
_EDITORS: Final = frozenset(
    (
        *("edit", "write", "patch", "replace", "create", "insert", "multiedit", "update"),
        *("delete", "rename"),
    )
)
_VIEWS: Final = frozenset(("view", "read", "list"))
_PREFIXES: Final = frozenset(("sudo", "time", "command", "env", "exec", "nohup"))
_READ_ONLY: Final = frozenset(
    (
        *("ls", "cd", "cat", "pwd", "echo", "grep", "rg", "find", "fd", "head", "tail", "awk"),
        *("wc", "which", "less", "more", "tree", "stat", "file", "type", "ps", "du", "df"),
        *("diff", "cmp", "sort", "true", "date"),
    )
)
"""Programs that only read or print."""
_RUNNERS: Final = frozenset(
    (
        *("npm", "pnpm", "yarn", "bun", "uv", "poetry", "pdm", "hatch", "npx", "uvx", "pipx"),
        *("bundle", "git", "docker", "dotnet", "go", "cargo", "make", "just", "task", "kubectl"),
        *("mvn", "gradle", "rake"),
    )
)
"""Programs whose first argument is a subcommand."""
_INTERPRETERS: Final = frozenset(("python", "python3", "node", "ruby", "perl", "bash", "sh"))
_WORDS = lazy_pattern(r"[A-Za-z]+")
_LEADING_CD = lazy_pattern(r"cd [^&|;]{1,300}(?:&&|;) *")
_ASSIGNED = lazy_pattern(r"[A-Za-z_]\w*=\S*")
_MISSING_BY_CODE: Final = {126: "not executable", 127: "not found"}
"""Exit codes of shells."""
_MISSING: Final = {"No module named": "module not found", "can't open file": "file not found"}
"""What an interpreter says if it cannot start a program, or import what it needs."""
_LONGEST_COMMAND: Final = 160
_LONGEST_TEXT: Final = 20_000
_NAMED: Final = 3


class Run(NamedTuple):
    """One execution of a command: whether it succeeded (``None``: unknown), its events, the position of the
    last of them, its error text, and in a few words why it failed, if the exit code or the error says that
    something was missing."""

    command: str
    ok: bool | None
    events: tuple[str, ...]
    place: int
    thread: str
    error: str = ""
    cause: str = ""


class Attempt(NamedTuple):
    """A run of a command, and the files edited and commands run since the attempt before it.

    ``times`` counts runs that failed with the same error without a recorded change between them.
    """

    run: Run
    times: int = 1
    files: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()


class CommandProblem(NamedTuple):
    """The attempts of a command from its first failure to its success, if there is one, and all events
    involved."""

    attempts: tuple[Attempt, ...]
    events: tuple[str, ...]

    @property
    def command(self) -> str:
        """The command that failed."""
        return self.attempts[0].run.command

    @property
    def solved(self) -> bool:
        """Whether it succeeded in the end."""
        return bool(self.attempts[-1].run.ok)


def thread_of(event: Event) -> str:
    """The session of an event: the name given by its importer, else our session id."""
    return text_in(event.origin, "session") or event.session_id


def said(event: Event) -> str:
    """The text of a message or note."""
    for key in ("text", "content"):
        if isinstance(text := event.body.get(key), str):
            return text
    return ""


def who(actor: str, origin: Mapping[str, Any]) -> str:
    """Who acted: the author if it is known, or else an agent; "" otherwise."""
    author = text_in(origin, "author")
    if not author or actor == "tool":
        return "an agent" if actor == "agent" else ""
    return one_line(by_whom(actor, author))


def runs(events: Sequence[Event], hide: Mapping[str, str]) -> tuple[Run, ...]:
    """The commands that were run, in the order in which they ended.

    A call is paired with the next result of its tool that names the same command or none. ``hide`` maps
    machine-specific path prefixes to their replacement.
    """
    found: list[Run] = []
    waiting: dict[tuple[str, str], list[Run]] = {}
    for place, event in enumerate(events):
        if event.kind not in ("tool_call", "tool_result") or _SHELLS.isdisjoint(_words_of_tool(event)):
            continue
        command = _tidy(_command(event), hide)
        key = (thread_of(event), str(event.body.get("tool")))
        if event.kind == "tool_call":
            if command:
                waiting.setdefault(key, []).append(Run(command, None, (event.id,), place, key[0]))
            continue
        calls = waiting.get(key, [])
        call = next((one for one in calls if not command or one.command == command), None)
        if call is not None:
            calls.remove(call)
        if command or call is not None:
            ids = (*(call.events if call else ()), event.id)
            ok, command = _ended(event), command or (call.command if call else "")
            error = "" if ok else _shortened(_error(event), hide)
            cause = _cause(_exit_code(event), error) if ok is False else ""
            found.append(Run(command, ok, ids, place, key[0], error, cause))
    found += [call for calls in waiting.values() for call in calls]
    return tuple(sorted(found, key=lambda run: (run.place, run.events)))


def _words_of_tool(event: Event) -> frozenset[str]:
    """The words in the name of an event's tool: ``str_replace_editor`` has three."""
    return frozenset(_WORDS.findall(str(event.body.get("tool", ""))[:100].lower()))


def _tables(event: Event) -> Iterable[Mapping[str, Any]]:
    yield event.body
    for key in ("arguments", "result"):
        value = event.body.get(key)
        if isinstance(value, str) and value[:1] == "{":
            try:
                value = json.loads(value)
            except (ValueError, RecursionError):
                continue
        if isinstance(value, dict):
            yield value


def _command(event: Event) -> str:
    for table in _tables(event):
        for key in ("command", "cmd"):
            value = table.get(key)
            if isinstance(value, str) and value.strip():
                return value
            if isinstance(value, list) and value and all(isinstance(word, str) for word in value):
                return shlex.join(value)
    return ""


def _exit_code(event: Event) -> int | None:
    codes = (table.get("exit_code", table.get("returncode")) for table in _tables(event))
    return next((code for code in codes if isinstance(code, int) and not isinstance(code, bool)), None)


def _ended(event: Event) -> bool | None:
    for table in _tables(event):
        if isinstance(ok := table.get("success"), bool):
            return ok
    if (code := _exit_code(event)) is not None:
        return code == 0
    return False if event.body.get("error") else None


def _cause(code: int | None, error: str) -> str:
    """What was missing when a command failed; "" if that is not known for sure."""
    said = (cause for phrase, cause in _MISSING.items() if phrase in error)
    return _MISSING_BY_CODE.get(code or 0) or next(said, "")


def _error(event: Event) -> str:
    """The line of a result that says what failed: the first with the word error, or else the last one."""
    texts = (text_in(table, key) for table in _tables(event) for key in ("error", "stderr", "output"))
    lines = [line.strip() for line in next(filter(None, texts), "")[-_LONGEST_TEXT:].splitlines()]
    found = [line for line in lines if line]
    return next((line for line in found if "error" in line.lower()), found[-1] if found else "")


def _tidy(command: str, hide: Mapping[str, str]) -> str:
    """A command as one line, without a leading ``cd``."""
    lines = command.strip()[: 4 * _LONGEST_COMMAND].splitlines()
    text = " ".join(lines[0].split()) + (" …" if len(lines) > 1 else "") if lines else ""
    if (stood := _LEADING_CD.match(text)) is not None and stood.end() < len(text):
        text = text[stood.end() :]
    text = _shortened(text, hide)
    return text if len(text) <= _LONGEST_COMMAND else text[: _LONGEST_COMMAND - 1] + "…"


def _shortened(text: str, hide: Mapping[str, str]) -> str:
    for path, shown in hide.items():
        text = text.replace(path, shown)
    return text


def first_words(command: str) -> str:
    """The words that identify a command across attempts: the program, with its subcommand if it has one."""
    words = command.split()
    while words and (words[0] in _PREFIXES or _ASSIGNED.fullmatch(words[0])):
        words = words[1:]
    if not words:
        return command
    program, *rest = words
    if program in _INTERPRETERS and rest[:1] == ["-m"]:
        return " ".join(words[:3])
    if program not in _RUNNERS | _INTERPRETERS:
        return program
    plain = [word for word in rest if not word.startswith("-")]
    return " ".join((program, *plain[: 2 if plain[:1] == ["run"] else 1]))


def is_read_only(command: str) -> bool:
    """Whether a command only reads or prints; its failure is not reported as a problem."""
    return first_words(command).partition(" ")[0].rpartition("/")[2] in _READ_ONLY


def edited_paths(event: Event) -> tuple[str, ...]:
    """Files below the root that a tool call edits."""
    if event.kind not in ("tool_call", "tool_result"):
        return ()
    words = _words_of_tool(event)
    arguments = event.body.get("arguments")
    table = arguments if isinstance(arguments, dict) else {}
    if words.isdisjoint(_EDITORS) or "memory" in words or text_in(table, "command") in _VIEWS:
        return ()
    named = [*texts_in(event.refs, "paths"), *(text_in(table, key) for key in ("path", "file_path", "file"))]
    return tuple(dict.fromkeys(path for path in named if path and is_inside(path)))


def problems(events: Sequence[Event], ran: Sequence[Run]) -> tuple[CommandProblem, ...]:
    """Failures, each with the success of the same command that followed in its session, if there is one.

    A failure is omitted if the command succeeded later only as a variant (the same first words), in another
    session or without a recorded change: what the solution was is unknown.
    """
    found: list[CommandProblem] = []
    open_ones: dict[tuple[str, str], list[Run]] = {}
    last_success: dict[str, int] = {}
    for run in ran:
        key = (run.thread, run.command)
        if run.ok:
            last_success[first_words(run.command)] = run.place
        if run.ok is False:
            open_ones.setdefault(key, []).append(run)
        elif run.ok and key in open_ones:
            one = _problem(events, ran, [*open_ones.pop(key), run])
            found += [one] if any(each.files or each.commands for each in one.attempts) else []
    found += [
        _problem(events, ran, failed)
        for failed in open_ones.values()
        if last_success.get(first_words(failed[0].command), -1) < failed[-1].place
    ]
    return tuple(sorted(found, key=lambda one: (one.attempts[0].run.place, one.events)))


def _problem(events: Sequence[Event], ran: Sequence[Run], runs: Sequence[Run]) -> CommandProblem:
    attempts = [Attempt(runs[0])]
    seen = dict.fromkeys(runs[0].events)
    for before, run in pairwise(runs):
        files: dict[str, None] = {}
        for event in events[before.place + 1 : run.place]:
            if thread_of(event) == run.thread and (paths := edited_paths(event)):
                files |= dict.fromkeys(paths)
                seen[event.id] = None
        between = [
            one for one in ran if before.place < one.place < run.place and one.thread == run.thread and one.ok
        ][-_NAMED:]
        seen |= dict.fromkeys(id for one in (*between, run) for id in one.events)
        last = attempts[-1]
        if files or between or (run.ok, run.error) != (last.run.ok, last.run.error):
            commands = tuple(dict.fromkeys(one.command for one in between))
            attempts.append(Attempt(run, 1, tuple(files)[:_NAMED], commands))
        else:
            attempts[-1] = last._replace(times=last.times + 1)
    return CommandProblem(tuple(attempts), tuple(seen))


def is_inside(path: str) -> bool:
    """Whether a path is relative and below the root."""
    parts = path.replace("\\", "/").split("/")
    return bool(path) and not path.startswith(("/", "\\", "~")) and ".." not in parts and ":" not in parts[0]


# Decisions in texts

_DECISION = lazy_pattern(
    r"[ \t]*(?:[-*+][ \t]+)?(?:\*\*)?(?:decision|decided)(?:\*\*)?[ \t]*:", re.IGNORECASE
)


def decisions_in(text: str) -> list[str]:
    """The decisions in a text: its lines marked with ``Decision:`` or ``Decided:``, without the mark."""
    lines = text[:_LONGEST_TEXT].splitlines()
    marked = ((line, mark) for line in lines if (mark := _DECISION.match(line)) is not None)
    return [said for line, mark in marked if (said := line[mark.end() :].strip("* \t"))]


# Sorting events

RECAP_OP: Final = "recap"
_DONE: Final = {
    "add": "added",
    "edit": "edited",
    "remove": "removed",
    "supersede": "linked",
    "link": "linked",
    "import": "imported",
    "garden": "cleaned up",
    "archive": "archived",
    "unarchive": "unarchived",
    "undo": "undone",
    "redo": "redone",
    "migrate": "migrated",
    "resolve": "resolved",
    "anchor": "anchored",
    "verify": "verified",
    HAND_EDIT: "edited by hand",
    "aborted": "aborted",
}
_BY_HAND: Final = {"create": "added by hand", "remove": "removed by hand"}
_PROPOSED: Final = {op: op for op in ("add", "edit", "remove", "rename", "link", "anchor")}
BY_HAND: Final = frozenset((_DONE[HAND_EDIT], *_BY_HAND.values()))
IN_COMMIT: Final = {"added": "added in a commit", "edited": "edited in a commit"}
"""What a commit did to a document whose text is the result of no event."""
ADDED: Final = frozenset(("added", _BY_HAND["create"], IN_COMMIT["added"]))
DECIDED: Final = frozenset(("accepted", "rejected", "deprecated"))
"""Operations that edit the state of a decision."""
IMPORTED: Final = _DONE["import"]
SUPERSEDED: Final = "superseded"
SUPERSEDING: Final = "superseding"
"""What the successor did in a supersession that was undone later."""
EXPIRED: Final = "expired"
MERGED: Final = "merged"
_NAMING: Final = frozenset({"patch", "note", "approval", "snapshot"})
TITLE: Final = lazy_pattern(r"(?m)^[-+ ]title: *(.+)$")
_REVERSAL = lazy_pattern(r"(undo|redo) [a-z-]+(?::|$)")
_STATE = lazy_pattern(r"(?mi)^([-+])(?:[-*+ ]*\W{0,3}status\W{1,5})?(\w+)\W{0,3}$")
# "Open the port before the deploy" is a note; "open: who owns the port" is a question.
_OPEN = lazy_pattern(
    r"\?|\[ \]|(?:to[ -]?do|fixme|unclear|undecided)\b(?:\s*:)?"
    r"|(?:open(?: end)?|(?:open )?question|proposal|proposed|follow[ -]?up|next)\s*:",
    re.IGNORECASE,
)


class RecapStep(NamedTuple):
    """One operation on a document, its reason, and the document it was superseded by, merged into or renamed
    from. ``review`` is the decision about the proposal to do it: approved, or rejected or expired; then
    ``operation`` is what was proposed (``add``). ``comment`` is the reason for that decision. ``by`` is who
    did or decided it, ``proposer`` who proposed it, each "" if unknown."""

    operation: str
    reason: str = ""
    other: str = ""
    review: str = ""
    comment: str = ""
    by: str = ""
    proposer: str = ""

    @property
    def is_refused(self) -> bool:
        """Whether it was only proposed, and not done."""
        return self.review in ("rejected", EXPIRED)


@dataclass(slots=True)
class DocumentRecap:
    """What happened to one document: its distinct steps in order, the count of each operation, the ids of the
    events, and the time of the last event, or commit without one (`utc_key`)."""

    steps: dict[RecapStep, None] = field(default_factory=dict)
    operations: dict[str, int] = field(default_factory=dict)
    events: dict[str, None] = field(default_factory=dict)
    last: str = ""

    def add(self, step: RecapStep, ts: str, event_id: str = "") -> None:
        """Add a step of an event, or of a commit, at a time."""
        self.steps[step] = None
        self.operations[step.operation] = self.operations.get(step.operation, 0) + 1
        self.events |= {event_id: None} if event_id else {}
        self.last = max(self.last, utc_key(ts))


class EventReading(NamedTuple):
    """How to read events: replacements for machine-specific path prefixes (``hide``), and a test for text
    that must be omitted (``unfit``: a possible secret or prompt injection).

    The texts of ``private`` events, the requests of the user and error texts are only shown with ``quote``.
    ``omit`` are commands that are unfit beside the others on a page.
    """

    hide: Mapping[str, str] = {}
    unfit: Callable[[str], bool] = lambda _: False
    private: Collection[str] = frozenset()
    quote: bool = False
    omit: Collection[str] = frozenset()

    def shows(self, event: Event) -> bool:
        """Whether the text of a note, or a marked decision, may be quoted."""
        return self.quote or event.id not in self.private


@dataclass(slots=True)
class SortedEvents:
    """Events, sorted by the sections of a recap.

    ``requests`` are messages of the user, ``approvals`` reviews of proposals and of tool calls, ``decided``
    marked decisions in texts; ``paths`` counts how often each file is mentioned, ``edited`` are those edited
    by tools; ``titles`` are those in diffs. ``verified`` are documents that the last verification changed;
    ``unfit`` are the events of texts omitted because of their content, ``created`` is whether the memory was.
    """

    stories: dict[str, DocumentRecap] = field(default_factory=dict)
    requests: list[Event] = field(default_factory=list)
    notes: list[Event] = field(default_factory=list)
    open_ends: list[Event] = field(default_factory=list)
    approvals: list[Event] = field(default_factory=list)
    decided: list[tuple[Event, str]] = field(default_factory=list)
    paths: dict[str, int] = field(default_factory=dict)
    edited: set[str] = field(default_factory=set)
    titles: dict[str, str] = field(default_factory=dict)
    verified: set[str] = field(default_factory=set)
    ran: tuple[Run, ...] = ()
    problems: tuple[CommandProblem, ...] = ()
    unfit: list[tuple[str, ...]] = field(default_factory=list)
    created: bool = False

    def count_paths(self, paths: Iterable[str]) -> None:
        """Add one to the count of each file."""
        for path in filter(str.strip, paths):
            self.paths[path] = self.paths.get(path, 0) + 1


def note_text(event: Event) -> str:
    """The text of a note as one line."""
    return one_line(text_in(event.body, "text"))


def is_open_text(text: str) -> bool:
    """Whether a note or title is a question, or begins with a mark of an open item."""
    return _OPEN.match(text) is not None or text.endswith("?")


def open_text(event: Event) -> str:
    """The text of an open item without a mark such as ``TODO:`` before it."""
    text = note_text(event)
    mark = _OPEN.match(text)
    return text[mark.end() :].strip() if mark is not None and mark[0][-1] in ":]?" else text


def outcome_of(event: Event) -> str:
    """What an approval event decided: approved, rejected or expired."""
    decision = event.body.get("decision")
    if decision in ("approved", "rejected", "expired"):
        return str(decision)
    return "rejected" if event.body.get("approved") is False else "approved"


def operation_name(op: str, change_op: str = "", path: str = "") -> str:
    """A past participle for what a patch with ``op`` did to the document that is now at ``path``."""
    if op == "garden" and change_op == "remove":
        return "merged into another document"
    if change_op == "rename":
        return _DONE[op] if op in ("archive", "unarchive") else "archived" if is_archived(path) else "renamed"
    if op == HAND_EDIT and change_op in _BY_HAND:
        return _BY_HAND[change_op]
    return _DONE.get(op, "changed")


def sort_events(
    events: Iterable[Event], own_id: str, reading: EventReading | None = None
) -> tuple[SortedEvents, list[Event]]:
    """Sort events (in order of time), and return with them those that the recap uses; changes of the recap
    ``own_id`` itself are skipped."""
    ordered = list(events)
    found, reading = SortedEvents(), reading or EventReading()
    telling = {event.id for event in ordered if _sort(found, event, own_id, reading)}
    _sort_runs(found, ordered, reading)
    telling.update(id for run in found.ran for id in run.events)
    telling.update(id for ids in found.unfit for id in ids)
    telling.update(id for problem in found.problems for id in problem.events)
    if telling:
        telling.update(event.id for event in found.requests)
    used = [event for event in ordered if event.id in telling]
    for event in used:
        found.count_paths(texts_in(event.refs, "paths") if event.kind in _NAMING else ())
    for event in ordered:
        found.count_paths(paths := edited_paths(event))
        found.edited.update(paths)
    return found, used


def _sort(found: SortedEvents, event: Event, own_id: str, reading: EventReading) -> bool:
    """Add one event; false if it contributes nothing on its own."""
    if event.kind == "patch":
        return _sort_patch(found, event, own_id)
    if event.kind in ("message", "note"):
        return _sort_text(found, event, reading)
    if is_imported(event):
        return False
    if event.kind == "approval" and event.body.get("action") == "verify":
        return _sort_verification(found, event, own_id)
    if event.kind == "approval":
        found.approvals.append(event)
        if (outcome := outcome_of(event)) != "approved":
            proposed = text_in(event.body, "proposed")
            step = RecapStep(
                _PROPOSED.get(proposed, "change"),
                _as_reason(text_in(event.body, "proposed_why")),
                review=outcome,
                comment=_as_reason(event.why),
                by=who(event.actor, event.origin),
                proposer=_proposer(event),
            )
            for doc_id in named_ids(event):
                story = found.stories.setdefault(doc_id, DocumentRecap())
                story.steps[step] = None
                story.last = max(story.last, utc_key(event.ts))
        return True
    return False


def _sort_text(found: SortedEvents, event: Event, reading: EventReading) -> bool:
    """Add a request, the marked decisions of a message or note, or else the whole text of a note."""
    text = said(event)
    is_note = event.kind == "note"
    is_request = not is_note and (event.body.get("role") or event.actor) == "user"
    decided = decisions_in(text)
    used = text if is_note or (is_request and reading.quote) else "\n".join(decided)
    if used and reading.unfit(used):
        found.unfit.append((event.id,))
        return True
    if is_request and text.strip():
        found.requests.append(event)
    found.decided += [(event, one) for one in decided]
    if decided or not is_note:
        return bool(decided)
    text = open_text(event) and note_text(event)  # nothing may follow the mark of an open item
    if text:
        (found.open_ends if is_open_text(text) else found.notes).append(event)
    return bool(text)


def _sort_patch(found: SortedEvents, event: Event, own_id: str) -> bool:
    """Add one patch event; false if it only changes recaps."""
    op = text_in(event.body, "op")
    changes = [_named(change) for change in changes_of(event) if change.doc_id != own_id]
    if op == RECAP_OP or not changes:
        return False
    if op == "verify":
        found.verified = {change.doc_id for change in changes}
    reason = "" if _is_automatic(found, event) else _as_reason(event.why)
    patch = text_in(event.refs, "patch_id")
    if op == "add" and reason == "init" and [change.doc_id for change in changes] == ["core"]:
        found.stories.setdefault("core", DocumentRecap()).events[event.id] = None  # a template says nothing
        found.created = True
        return True
    approval = next((one for one in found.approvals if text_in(one.refs, "patch_id") == patch != ""), None)
    comment = _as_reason(approval.why) if approval is not None else ""
    done = partial(
        RecapStep,
        review="approved" if approval is not None else "",
        # An approval logged by an earlier version replaced the reason of the proposal.
        comment=comment if comment != reason else "",
        by=who(event.actor, event.origin),
        proposer=_proposer(approval) if approval is not None else "",
    )
    for change in changes:
        if (title := TITLE.search(change.diff or "")) is not None:
            found.titles[change.doc_id] = title[1].strip("\"' ")
    replaced = [doc_id for doc_id in named_ids(event) if doc_id != changes[0].doc_id]
    if op == "supersede" and len(changes) == 1 and replaced:
        for doc_id in replaced:  # the event changes their successor
            step = done(SUPERSEDED, reason, changes[0].doc_id)
            found.stories.setdefault(doc_id, DocumentRecap()).add(step, event.ts, event.id)
        return True
    # A document that was only moved keeps its id.
    kept = {change.doc_id for change in changes if change.after}
    changes = [one for one in changes if one.op != "rename" or one.after or one.doc_id not in kept]
    former = [change.doc_id for change in changes if change.op == "rename" and not change.after]
    if len(former) == 1:  # one renamed document, listed under its new id
        changes = [change for change in changes if change.doc_id not in former]
        _carry_over(found, former[0], changes)
    kept_ones = [change for change in changes if op != "garden" or change.op != "remove"]
    into = kept_ones[0].doc_id if len(kept_ones) == 1 < len(changes) else ""
    for change in {(change.doc_id, change.op): change for change in changes}.values():
        story = found.stories.setdefault(change.doc_id, DocumentRecap())
        if change.doc_id == into:
            story.events[event.id] = None
        elif into:  # the reason of a merge repeats the ids
            story.add(done(MERGED, "", into), event.ts, event.id)
        else:
            if op == "undo":
                story.steps |= dict.fromkeys(_supersessions(found, undone_by(event), change.doc_id))
            other = former[0] if change.op == "rename" and len(former) == 1 else ""
            operation = _decided(change) or operation_name(op, change.op, change.path)
            story.add(done(operation, reason, other), event.ts, event.id)
    return True


def _named(change: Change) -> Change:
    """The change, by its path if the file has no id."""
    return change if change.doc_id.strip() else change._replace(doc_id=change.path)


def _proposer(approval: Event) -> str:
    """Who made a proposal, according to the event that decided it."""
    if text_in(approval.body, "rule"):
        return "the gardener"
    return "an agent" if text_in(approval.body, "proposed_by") == "agent" else ""


def _supersessions(found: SortedEvents, events: Sequence[str], doc_id: str) -> list[RecapStep]:
    """The steps in which these events made a document supersede others."""
    return [
        RecapStep(SUPERSEDING, step.reason, old)
        for old, story in found.stories.items()
        if not story.events.keys().isdisjoint(events)
        for step in story.steps
        if step.operation == SUPERSEDED and step.other == doc_id
    ]


def _is_automatic(found: SortedEvents, event: Event) -> bool:
    """Whether the reason was not given by the author and repeats what a line says: of an undo or redo, if the
    event undone is here, too."""
    op, why = text_in(event.body, "op"), event.why or ""
    if op == "import":
        return why.startswith("imported from ")
    match = _REVERSAL.match(why)
    return (
        match is not None
        and match[1] == op
        and any(not story.events.keys().isdisjoint(undone_by(event)) for story in found.stories.values())
    )


def _decided(change: Change) -> str:
    """The new state of a decision if the change edits it, e.g. from proposed to accepted; else ""."""
    if change.op != "update" or not change.doc_id.startswith("adr."):
        return ""
    words = {sign: state_in(word) for sign, word in _STATE.findall(change.diff or "")}
    state = words.get("+", "")
    return state if state in DECIDED and words.get("-", state) not in ("", state) else ""


def _as_reason(why: str | None) -> str:
    return one_line(why).rstrip(".") if why else ""


def _sort_verification(found: SortedEvents, event: Event, own_id: str) -> bool:
    """Add the verification of documents, which are counted already if it changed them; false if none is
    left."""
    about = [doc_id for doc_id in named_ids(event) if doc_id != own_id]
    step = RecapStep(_DONE["verify"], _as_reason(event.why), by=who(event.actor, event.origin))
    for doc_id in about:
        story = found.stories.get(doc_id)
        if story is not None and doc_id in found.verified:
            story.events[event.id] = None
            story.steps[step] = None
        else:
            found.stories.setdefault(doc_id, DocumentRecap()).add(step, event.ts, event.id)
    found.verified.clear()
    return bool(about)


def _carry_over(found: SortedEvents, former: str, changes: Sequence[Change]) -> None:
    """Move the history of a renamed document to its new id."""
    new = next((change.doc_id for change in changes if change.op == "rename"), None)
    if new is not None and former in found.stories and new not in found.stories:
        found.stories = {new if name == former else name: story for name, story in found.stories.items()}


def _sort_runs(found: SortedEvents, events: Sequence[Event], reading: EventReading) -> None:
    ran = runs(events, reading.hide)
    fit = [
        run._replace(error="" if reading.quote and reading.unfit(run.error) else run.error)
        for run in ran
        if run.command not in reading.omit and not reading.unfit(run.command)
    ]
    kept = {run.events for run in fit}
    found.unfit += [run.events for run in ran if run.events not in kept]
    found.ran = tuple(run for run in fit if not is_read_only(run.command))
    found.problems = problems(events, found.ran)


def generated_texts(events: Iterable[Event]) -> frozenset[tuple[str, str]]:
    """Ids and hashes of the texts that `recap` wrote, or that the gardener or `rename` derived from those,
    according to ``events`` (in log order)."""
    found: set[tuple[str, str]] = set()
    for event in events:
        op = event.body.get("op") if event.kind == "patch" else ""
        for change in changes_of(event) if op in (RECAP_OP, "garden", "rename") else ():
            if op == RECAP_OP or (change.doc_id, change.before) in found:
                found.add((change.doc_id, change.after))
    return frozenset(found)
