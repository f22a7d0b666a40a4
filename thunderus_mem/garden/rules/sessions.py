"""The gardening rules that use the history: `recaps` and `consolidate`. Pure.

`recaps` writes the missing recaps of the schedule for periods that are over. It only creates files: a recap
that exists, existed once, or was archived is never written again.

`consolidate` proposes documents for what sessions have shown: decisions with a reason, failures with a known
fix, commands that repeatedly succeeded, and workflows. Anything already in the documents or the code, or
recalled from the memory itself, is skipped.
"""

from __future__ import annotations

import hashlib
import json
import re
from datetime import date, timedelta
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from thunderus_mem.document.document import read_document
from thunderus_mem.document.frontmatter.write import compose
from thunderus_mem.document.ids import file_name, is_document_id, new_document_id, short_hash, slug
from thunderus_mem.document.timestamp import format_timestamp, parse_timestamp, utc_key
from thunderus_mem.document.unicode import visible
from thunderus_mem.errors import InvalidDocument, NotFound
from thunderus_mem.garden.plan import DocumentEdit, Step
from thunderus_mem.log.event import changes_of
from thunderus_mem.recap import events as recap_events
from thunderus_mem.recap.page import last_day, month_of, recap_page, rollup_id, rollup_page, week_of
from thunderus_mem.recap.scope import day_scope, session_scope
from thunderus_mem.recap.template import cut, one_line, span, spans
from thunderus_mem.store.layout import DOCUMENT_FOLDERS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from thunderus_mem.document.document import Document
    from thunderus_mem.garden.plan import GardenInput
    from thunderus_mem.log.line import Event
    from thunderus_mem.recap.page import Page
    from thunderus_mem.recap.scope import Activity, RecapScope
    from thunderus_mem.store.config import Config


# The rule `recaps`


def plan_recaps(material: GardenInput, config: Config) -> tuple[Step, ...]:
    """A step for each missing recap of ``recap.schedule``; sessions and days first, because weeks and months
    are made from them."""
    if not config.recap_schedule or not material.today or "recap" not in config.kinds_allowed:
        return ()
    return _Planner(material, config, material.history()).run()


class _Planner:
    """Plans the missing recaps of a schedule."""

    def __init__(self, material: GardenInput, config: Config, history: Activity) -> None:
        self._material = material
        self._config = config
        self._history = history
        self._today = material.today
        earliest = date.fromisoformat(material.today) - timedelta(
            days=min(config.recap_days_back, date.fromisoformat(material.today).toordinal() - 1)
        )
        self._first = earliest.isoformat()
        self._documents: list[Document] = [*material.documents, *material.archived]
        self._taken = {doc_id for one in self._documents for doc_id in (one.id, *one.aliases)}
        # A recap that was written and no longer exists was removed on purpose.
        self._taken |= {
            change.doc_id for event in history.events for change in changes_of(event)
            if change.doc_id.startswith("recap.")
        }  # fmt: skip
        self._steps: list[Step] = []

    def run(self) -> tuple[Step, ...]:
        """The steps, in the order in which they build on each other."""
        for scope in self._scopes():
            if scope.doc_id not in self._taken:
                self._add(self._page_of(scope), scope.label)
        for kind, name in self._spans():
            if rollup_id(name) not in self._taken:
                self._add(self._rollup(kind, name), f"in {name}")
        return tuple(self._steps)

    def _scopes(self) -> Iterator[RecapScope]:
        if "session" in self._config.recap_schedule:
            threads: dict[str, list[Event]] = {}
            for event in self._history.events:
                threads.setdefault(recap_events.thread_of(event), []).append(event)
            for name in sorted(threads):
                last = max(utc_key(event.ts)[:10] for event in threads[name])
                if self._first <= last < self._today:
                    yield session_scope(name, threads[name])
        if "day" in self._config.recap_schedule:
            moments = [event.ts for event in self._history.events]
            moments += [commit.date for commit in self._history.commits]
            for day in sorted({utc_key(moment)[:10] for moment in moments}):
                if self._first <= day < self._today:
                    yield day_scope(day)

    def _spans(self) -> Iterator[tuple[str, str]]:
        first, today = date.fromisoformat(self._first), date.fromisoformat(self._today)
        days = [(first + timedelta(days=number)).isoformat() for number in range((today - first).days)]
        for kind, name_of in (("week", week_of), ("month", month_of)):
            if kind in self._config.recap_schedule:
                for name in dict.fromkeys(map(name_of, days)):
                    if last_day(kind, name) < self._today:
                        yield kind, name

    def _page_of(self, scope: RecapScope) -> Page | None:
        try:
            return recap_page(scope, self._history, self._material.documents, self._config)
        except NotFound:
            return None

    def _rollup(self, kind: str, name: str) -> Page | None:
        private = self._history.private_anywhere
        try:
            return rollup_page(kind, name, self._documents, self._config, private)
        except NotFound:
            return None

    def _add(self, page: Page | None, label: str) -> None:
        """Plan the page if it cites events; a day with commits only is covered by git log."""
        if page is None or not page.header["provenance"]["events"]:
            return
        doc_id, text = str(page.header["id"]), page.text
        path = f"{DOCUMENT_FOLDERS['recap']}/{doc_id.removeprefix('recap.')}.md"
        document = read_document(path, text.encode("utf-8", "surrogatepass")).document
        if document is None:
            return
        self._taken.add(doc_id)
        self._documents.append(document)
        events = page.header["provenance"]["events"]
        self._steps.append(
            Step(
                "write-recap",
                f"no recap yet of the events {label}",
                (f"`{doc_id}` cites {len(events)} event{'s' if len(events) > 1 else ''}",),
                (doc_id,),
                (DocumentEdit(path, doc_id, "", text),),
                rule="recaps",
                op=recap_events.RECAP_OP,
                private=page.private,
            )
        )


# The rule `consolidate`

LEARN = "learn"
_LESSON_KINDS = frozenset(("message", "tool_call", "tool_result", "note"))


def plan_consolidation(material: GardenInput, config: Config) -> tuple[Step, ...]:
    """A proposal for each new lesson from sessions, at most ``consolidate.max_per_session`` of a session."""
    if not config.consolidate_max_per_session:
        return ()
    history = material.history()
    heard = sorted(
        (event for event in history.events if event.kind in _LESSON_KINDS),
        key=lambda event: (utc_key(event.ts), event.id),
    )
    if not heard:
        return ()
    documents = [*material.documents, *material.archived]
    found = lessons(heard, config, history.reading, documents, history.build_files())
    taken = {doc_id for document in documents for doc_id in (document.id, *document.aliases)}
    # A lesson that was written and no longer exists was removed on purpose.
    gone = {change.doc_id for event in history.events for change in changes_of(event)} - taken
    names = {document.path.rpartition("/")[2] for document in documents if document.kind == "adr"}
    by_id = {event.id: event for event in heard}
    steps = []
    for lesson in _chosen(found, config, taken, gone):
        name = file_name(lesson.id, lesson.kind, names)
        names.add(name)
        step = _step(lesson, f"{DOCUMENT_FOLDERS[lesson.kind]}/{name}", by_id, history)
        if step is not None:
            steps.append(step)
    return tuple(steps)


def _chosen(found: Iterable[Lesson], config: Config, taken: set[str], gone: set[str]) -> Iterator[Lesson]:
    """The lessons of allowed kinds, each with a unique id, up to the limit for each session."""
    of_session: dict[str, int] = {}
    seen: set[tuple[str, str]] = set()
    for lesson in found:
        if lesson.kind not in config.kinds_allowed or (lesson.kind, lesson.alike) in seen:
            continue
        seen.add((lesson.kind, lesson.alike))
        if lesson.id in taken:
            lesson = lesson._replace(id=f"{lesson.id[:100].rstrip('.-_')}-{short_hash(lesson.alike)}")
        number = of_session.get(lesson.thread, 0)
        usable = is_document_id(lesson.id) and lesson.id not in taken and lesson.id not in gone
        if not usable or number >= config.consolidate_max_per_session:
            continue
        of_session[lesson.thread] = number + 1
        taken.add(lesson.id)
        yield lesson


def _step(lesson: Lesson, path: str, by_id: dict[str, Event], history: Activity) -> Step | None:
    body = visible(lesson.body)
    moments = sorted(utc_key(by_id[id].ts) for id in lesson.events if id in by_id)
    last = parse_timestamp(moments[-1]) if moments else None
    if last is None or history.reading.unfit(body):
        return None
    header: dict[str, Any] = {
        "id": lesson.id,
        "title": visible(lesson.title),
        "kind": lesson.kind,
        "tags": sorted(lesson.tags),
        "created": format_timestamp(last),
        "updated": format_timestamp(last),
        "provenance": {"events": list(lesson.events), "patches": [], "commits": []},
        "verification": {"last_verified_commit": None, "status": "unknown"},
        "source": "consolidation",
    }
    if anchors := history.anchors(body):
        header["anchors"] = anchors
    try:
        text = compose(header, "\n" + body)
    except InvalidDocument:
        return None
    if read_document(path, text.encode("utf-8", "surrogatepass")).document is None:
        return None
    digest = hashlib.sha256(f"{lesson.kind}\0{lesson.alike}".encode("utf-8", "surrogatepass")).hexdigest()
    return Step(
        LEARN,
        lesson.why,
        tuple(f"`{id}`" for id in lesson.events[:10]),
        (lesson.id,),
        (DocumentEdit(path, lesson.id, "", text),),
        rule="consolidate",
        reach="propose",
        texts=((lesson.id, digest),),
        private=tuple(id for id in lesson.events if id in history.private),
    )


# Lessons of the events

_OFTEN = 2
_LONGEST_FLOW = 12
_TITLE = 90
_CONTEXT = 5


class Lesson(NamedTuple):
    """A document to propose: its content, the events it is based on, and the reason. ``alike`` identifies the
    lesson when it is learned again."""

    kind: str
    id: str
    title: str
    body: str
    tags: tuple[str, ...]
    events: tuple[str, ...]
    why: str
    thread: str
    alike: str


class _Seen(NamedTuple):
    """The context for finding lessons."""

    config: Config
    reading: recap_events.EventReading
    known: KnownLessons
    memory: KnownLessons
    code: Mapping[str, str]


def lessons(
    events: Sequence[Event],
    config: Config,
    reading: recap_events.EventReading,
    documents: Sequence[Document],
    code: Mapping[str, str],
) -> list[Lesson]:
    """The lessons of the events that are in neither ``documents`` nor ``code``, the most important kind
    first.

    Something that only a recap mentions can still be learned; but text quoted from a recap in a session
    counts as recalled from the memory.
    """
    known = KnownLessons([document for document in documents if document.kind != "recap"])
    how = _Seen(config, reading, known, KnownLessons(documents), code)
    ran = [run for run in recap_events.runs(events, reading.hide) if not reading.unfit(run.command)]
    found = [*_decisions(events, how), *_fixes(recap_events.problems(events, ran), how), *_commands(ran, how)]
    return [*found, *_workflows(events, ran, how)]


def _decisions(events: Sequence[Event], how: _Seen) -> Iterator[Lesson]:
    """Decisions with a reason in messages and notes, except those recalled from the memory."""
    recalled: dict[str, Recalled] = {}
    for event in events:
        heard = recalled.setdefault(recap_events.thread_of(event), Recalled(how.memory))
        if event.kind in ("message", "note"):
            for one in recap_events.decisions_in(recap_events.said(event), how.config.consolidate_keywords):
                if not one.reason or how.known.says(one.sentence) or heard.has(one.sentence):
                    continue
                if not how.reading.unfit(f"{one.context} {one.whole}"):
                    yield _decision(event, one)
        heard.hear(event)


def _decision(event: Event, one: recap_events.DecisionSentence) -> Lesson:
    title = cut(" ".join(one.subject.replace("`", "").split()), _TITLE)
    has_context = len(one.context.split()) >= _CONTEXT
    background = f"{one_line(cut(one.context))}\n\n" if has_context else ""
    reason = one.reason
    if reason[:8].lower() == "because " and not reason[8:].startswith("of "):
        reason = reason[8:]
    body = (
        f"# {one_line(title)}\n\n## Status\n\nProposed\n\n"
        f"## Context\n\n{background}Reason given: {one_line(cut(reason))}\n\n"
        f"## Decision\n\n{one_line(one.sentence)}\n\n"
        "## Consequences\n\nNone stated.\n"
    )
    return Lesson(
        "adr",
        new_document_id("adr", cut(title, 60)),
        title,
        body,
        ("decision", "learned"),
        (event.id,),
        "a decision and its reason; no document contains them yet",
        recap_events.thread_of(event),
        one.sentence,
    )


def _fixes(found: Sequence[recap_events.CommandProblem], how: _Seen) -> Iterator[Lesson]:
    """Failures with a known fix: edited files, commands run, or a different command."""
    for one in found:
        solved = one.solved
        if solved is None or is_trivial(one.failed.command) or "…" in one.failed.command + solved.command:
            continue
        changed = solved.command != one.failed.command
        commands = [command for command in one.commands if not is_trivial(command)]
        if not (changed or one.files or commands):
            continue
        alike = f"{one.failed.command} -> {solved.command}"
        if how.known.names_command(one.failed.command) and how.known.names_command(solved.command):
            continue
        lines = [f"{span(one.failed.command)} failed."]
        if changed:
            lines.append(f"{span(solved.command)} works instead.")
        if one.files or commands:
            done = [f"editing {spans(one.files)}"] if one.files else []
            done += [f"running {spans(commands)}"] if commands else []
            lines.append(f"It {'worked' if changed else 'succeeded'} after {' and '.join(done)}.")
        yield Lesson(
            "fact",
            f"fact.gotchas.{_name(one.failed.command)}-{short_hash(alike)}",
            cut(f"Fix for {recap_events.first_words(one.failed.command)}".replace("`", ""), _TITLE),
            "\n".join(lines) + "\n",
            ("gotcha", "learned"),
            one.events,
            f"{span(one.failed.command)} failed and later succeeded; no document has the fix",
            one.failed.thread,
            alike,
        )


def _name(command: str) -> str:
    return slug(recap_events.first_words(command))[:40].strip("-") or "command"


def _commands(ran: Sequence[recap_events.Run], how: _Seen) -> Iterator[Lesson]:
    """For each kind of work, the commands that repeatedly succeeded and are not documented."""
    tries: dict[str, list[recap_events.Run]] = {}
    for run in ran:
        tries.setdefault(run.command, []).append(run)
    by_class: dict[str, list[str]] = {}
    for command, each in tries.items():
        worked = sum(run.ok is True for run in each)
        failed = sum(run.ok is False for run in each)
        sort = class_of(command)
        if not sort or worked < _OFTEN or failed >= worked:
            continue
        if not how.known.names_command(command) and not command_is_in(command, how.code):
            by_class.setdefault(sort, []).append(command)
    for sort, commands in by_class.items():
        listed = "".join(f"- {span(command)}\n" for command in commands)
        supporting = [run for command in commands for run in tries[command] if run.ok]
        yield Lesson(
            "fact",
            f"fact.commands.{sort}",
            f"Commands to {sort}",
            f"These commands repeatedly succeeded in this repository:\n\n{listed}",
            ("commands", "learned", sort),
            tuple(dict.fromkeys(id for run in supporting for id in run.events))[-20:],
            f"{spans(commands[:3])} succeeded {len(supporting)} times, not documented",
            max(supporting, key=lambda run: run.place).thread,
            "\n".join(sorted(commands)),
        )


def _workflows(events: Sequence[Event], ran: Sequence[recap_events.Run], how: _Seen) -> Iterator[Lesson]:
    """Commands that succeeded in a row after one request of the user."""
    for flow in _flows(events, ran):
        steps = list(dict.fromkeys(run.command for run in flow if not is_trivial(run.command)))
        if not how.config.consolidate_workflow_steps <= len(steps) <= _LONGEST_FLOW:
            continue
        if any("…" in step for step in steps) or all(
            how.known.names_command(step) or command_is_in(step, how.code) for step in steps
        ):
            continue
        alike = "\n".join(steps)
        numbered = "".join(f"{number}. {span(step)}\n" for number, step in enumerate(steps, 1))
        first, last = recap_events.first_words(steps[0]), recap_events.first_words(steps[-1])
        yield Lesson(
            "playbook",
            f"playbook.{_name(steps[0])}-to-{_name(steps[-1])}-{short_hash(alike)}"[:100],
            cut(f"From {first} to {last}".replace("`", ""), _TITLE),
            f"# From {one_line(first)} to {one_line(last)}\n\n## Preconditions\n\nNone stated.\n\n"
            f"## Steps\n\n{numbered}\n## Verification\n\n{span(steps[-1])} succeeds.\n\n"
            "## Rollback\n\nNone stated.\n",
            ("learned", "workflow"),
            tuple(dict.fromkeys(id for run in flow for id in run.events))[-20:],
            f"{len(steps)} commands succeeded in a row for one request",
            flow[0].thread,
            alike,
        )


def _flows(events: Sequence[Event], ran: Sequence[recap_events.Run]) -> Iterator[list[recap_events.Run]]:
    """Successful runs in a row within a session, up to a failure or the next message of the user."""
    threads: dict[str, list[tuple[int, recap_events.Run | None]]] = {}
    for run in ran:
        threads.setdefault(run.thread, []).append((run.place, run if run.ok else None))
    for place, event in enumerate(events):
        if event.kind == "message" and event.actor == "user":
            threads.setdefault(recap_events.thread_of(event), []).append((place, None))
    for steps in threads.values():
        flow: list[recap_events.Run] = []
        for _, step in [*sorted(steps, key=lambda one: one[0]), (0, None)]:
            if step is not None:
                flow.append(step)
            elif flow:
                yield flow
                flow = []


# What is already known: documents, text recalled in a session, and commands in the code

_WORD = re.compile(r"[^\W_]+")
_SHINGLE: Final = 4
_REPEATED: Final = 0.5
"""A text repeats the memory if at least this share of its word runs is in it."""
_NEAR: Final = 0.8
"""A document says the same as a text if it has at least this share of its significant words."""
_FEWEST: Final = 4
_PASSAGE: Final = 6
"""The output of a tool comes from the memory if it shares at least this many word runs with it."""
_LONGEST: Final = 200_000
_TARGET = re.compile(r"(?m)^([A-Za-z0-9_.-]+)[ \t]*:(?!=)")


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())


def _runs(words: Sequence[str]) -> set[tuple[str, ...]]:
    return {tuple(words[at : at + _SHINGLE]) for at in range(len(words) - _SHINGLE + 1)}


def _significant(words: Iterable[str]) -> frozenset[str]:
    return frozenset(word for word in words if len(word) > 3 or word.isdigit())


class KnownLessons:
    """The content of documents, looked up by word runs and by words."""

    def __init__(self, documents: Iterable[Document]) -> None:
        self._documents = list(documents)

    @cached_property
    def texts(self) -> list[str]:
        """The title and body of every document, with single spaces."""
        return [" ".join(f"{document.title}\n{document.body}".split()) for document in self._documents]

    @cached_property
    def runs(self) -> set[tuple[str, ...]]:
        """The word runs of all documents."""
        return {run for text in self.texts for run in _runs(_words(text))}

    @cached_property
    def _having(self) -> dict[str, list[int]]:
        having: dict[str, list[int]] = {}
        for at, text in enumerate(self.texts):
            for word in _significant(_words(text)):
                having.setdefault(word, []).append(at)
        return having

    def names_command(self, command: str) -> bool:
        """Whether a document contains the exact command."""
        return any(_has(text, command) for text in self.texts)

    def says(self, text: str) -> bool:
        """Whether the documents repeat most of a text, or one of them has most of its significant words."""
        words = _words(text)
        if _share(_runs(words), self.runs) >= _REPEATED:
            return True
        significant = _significant(words)
        if len(significant) < _FEWEST:
            return False
        hits: dict[int, int] = {}
        for word in significant:
            for at in self._having.get(word, ()):
                hits[at] = hits.get(at, 0) + 1
        return max(hits.values(), default=0) >= _NEAR * len(significant)


class Recalled:
    """Text recalled from the memory in one session, collected event by event.

    All output of a tool that reads the memory counts; other output and messages count if they repeat a
    passage of a document.
    """

    def __init__(self, known: KnownLessons) -> None:
        self._known = known
        self._runs: set[tuple[str, ...]] = set()
        self._passages: list[frozenset[str]] = []

    def hear(self, event: Event) -> None:
        """Process an event."""
        if event.kind == "tool_result":
            text = "\n".join(_texts(event.body))[:_LONGEST]
        elif event.kind == "message":
            text = recap_events.said(event)[:_LONGEST]
        else:
            return
        runs = _runs(_words(text))
        if not runs:
            return
        from_memory = event.kind == "tool_result" and _is_memory(event.body)
        if from_memory or len(runs & self._known.runs) >= _PASSAGE:
            for passage in text.splitlines():
                words = _words(passage)
                own = _runs(words)
                if from_memory or _share(own, self._known.runs) >= _REPEATED:
                    self._runs |= own
                    self._passages.append(_significant(words))

    def has(self, text: str) -> bool:
        """Whether the text repeats something recalled, or has most of its significant words in common with
        it."""
        words = _words(text)
        if _share(_runs(words), self._runs) >= _REPEATED:
            return True
        significant = _significant(words)
        return len(significant) >= _FEWEST and any(
            len(significant & passage) >= _NEAR * len(significant) for passage in self._passages
        )


def _share(part: set[tuple[str, ...]], whole: set[tuple[str, ...]]) -> float:
    return len(part & whole) / len(part) if part else 0.0


def _is_memory(body: Mapping[str, Any]) -> bool:
    arguments = body.get("arguments")
    asked = [body.get("tool"), body.get("command")]
    asked += [arguments.get("command")] if isinstance(arguments, dict) else []
    result = body.get("result")
    asked += [result.get("cmd"), result.get("command")] if isinstance(result, dict) else []
    return any(isinstance(text, str) and ("thunderus" in text or "memory" in text) for text in asked)


def _texts(value: Any) -> Iterable[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from _texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)


def _has(text: str, command: str) -> bool:
    """Whether a text contains a command, not as part of a longer word."""
    at = text.find(command)
    while at >= 0:
        end = at + len(command)
        if not _goes_on(text[at - 1 : at] if at else "") and not _goes_on(text[end : end + 1]):
            return True
        at = text.find(command, at + 1)
    return False


def _goes_on(char: str) -> bool:
    return char.isalnum() or char in ("-", "_", "/", ":")


def command_is_in(command: str, files: Mapping[str, str]) -> bool:
    """Whether the build files contain the command: literally, as a make target, or as a script of
    package.json."""
    words = command.split()
    if words[:1] == ["make"] and len(words) > 1:
        makefiles = [text for path, text in files.items() if path.lower().endswith("makefile")]
        targets = {name for text in makefiles for name in _TARGET.findall(text)}
        if all(word in targets or word.startswith("-") or "=" in word for word in words[1:]):
            return True
    if words[:1] and words[0] in ("npm", "pnpm", "yarn", "bun"):
        plain = [word for word in words[1:] if word != "run" and not word.startswith("-")]
        if plain[:1] and plain[0] in _scripts(files.get("package.json", "")):
            return True
    return any(_has(" ".join(text.split()), command) for text in files.values())


def _scripts(text: str) -> frozenset[str]:
    try:
        data = json.loads(text) if text else {}
    except (ValueError, RecursionError):
        return frozenset()
    scripts = data.get("scripts") if isinstance(data, dict) else None
    return frozenset(scripts) if isinstance(scripts, dict) else frozenset()


# Kinds of work that commands do

_COMMAND_WORD = re.compile(r"[a-z0-9]+")
_TRIVIAL: Final = frozenset(
    (
        *("git", "mkdir", "rm", "cp", "mv", "touch", "chmod", "ln", "sed", "sleep", "kill", "curl", "wget"),
        *("env", "export", "clear", "history", "man", "thunderus-mem"),
    )
)
_OF_CLASS: Final[tuple[tuple[str, frozenset[str]], ...]] = tuple(
    (name, frozenset(words.split()))
    for name, words in (
        ("test", "test tests pytest tox nox jest vitest mocha rspec ctest phpunit unittest nextest"),
        ("lint", "lint ruff flake8 eslint mypy clippy pylint pyright shellcheck typecheck golangci"),
        ("format", "fmt format prettier black gofmt rustfmt isort"),
        ("build", "build compile tsc webpack cmake ninja make wheel bundle"),
        ("deploy", "deploy release publish terraform helm"),
        ("install", "install sync ci bootstrap setup"),
        ("run", "run start serve dev up runserver"),
    )
)
CLASSES: Final = tuple(name for name, _ in _OF_CLASS)
"""Kinds of work, in the order in which they are checked."""


def is_trivial(command: str) -> bool:
    """Whether a command is read-only or too common to be worth documenting."""
    words = recap_events.first_words(command).split()
    return not words or recap_events.is_read_only(command) or words[0].rpartition("/")[2] in _TRIVIAL


def class_of(command: str) -> str:
    """The kind of work of a command, one of `CLASSES`; "" if its first words do not identify one."""
    if is_trivial(command) or "…" in command:
        return ""
    beginning = " ".join(command.split()[:4]).lower()
    words = set(_COMMAND_WORD.findall(beginning))
    if words & {"run"} and words & {"npm", "pnpm", "yarn", "bun", "uv", "poetry", "hatch", "pdm"}:
        words -= {"run"}
    return next((name for name, known in _OF_CLASS if not words.isdisjoint(known)), "")
