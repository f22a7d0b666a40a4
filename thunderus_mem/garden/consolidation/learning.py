"""What sessions show: commands that work, failures with what mended them, decisions, workflows. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from thunderus_mem.garden.consolidation.kinds import class_of, is_trivial
from thunderus_mem.garden.consolidation.known import Known, Recalled, command_stands
from thunderus_mem.garden.recaps.deciding import decisions_in
from thunderus_mem.garden.recaps.lines import cut, one_line, span, spans
from thunderus_mem.garden.recaps.runs import Run, first_words, problems, runs, said, thread_of
from thunderus_mem.model.ids import new_document_id, short_hash, slug

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from thunderus_mem.garden.recaps.day import Reading
    from thunderus_mem.garden.recaps.deciding import Decided
    from thunderus_mem.garden.recaps.runs import Problem
    from thunderus_mem.model.document import Document
    from thunderus_mem.model.event import Event
    from thunderus_mem.store.config import Config

__all__ = ["Lesson", "lessons"]

_REPEATED = 2
_LONGEST_FLOW = 12
_TITLE = 90
_CONTEXT = 5


class Lesson(NamedTuple):
    """A document to propose: what it says, the events that show it, why it is worth it. ``alike`` is what is
    compared when the same thing is learned again."""

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
    """What sessions are looked at with."""

    config: Config
    reading: Reading
    known: Known
    memory: Known
    code: Mapping[str, str]


def lessons(
    events: Sequence[Event],
    config: Config,
    reading: Reading,
    documents: Sequence[Document],
    code: Mapping[str, str],
) -> list[Lesson]:
    """What the events show and neither ``documents`` nor ``code`` say, the most telling kind first.

    A recap tells what happened in a session, which is no reason not to learn from it; what is read aloud from
    one has come out of the memory all the same.
    """
    known = Known([document for document in documents if document.kind != "recap"])
    how = _Seen(config, reading, known, Known(documents), code)
    ran = [run for run in runs(events, reading.hide) if not reading.unfit(run.command)]
    found = [*_decisions(events, how), *_fixes(problems(events, ran), how), *_commands(ran, how)]
    return [*found, *_workflows(events, ran, how)]


def _decisions(events: Sequence[Event], how: _Seen) -> Iterator[Lesson]:
    """Decisions with a reason, told in messages and notes; nothing that was recalled before."""
    recalled: dict[str, Recalled] = {}
    for event in events:
        heard = recalled.setdefault(thread_of(event), Recalled(how.memory))
        if event.kind in ("message", "note"):
            for one in decisions_in(said(event), how.config.consolidate_keywords):
                if not one.reason or how.known.says(one.sentence) or heard.has(one.sentence):
                    continue
                if not how.reading.unfit(f"{one.context} {one.whole}"):
                    yield _decision(event, one)
        heard.hear(event)


def _decision(event: Event, one: Decided) -> Lesson:
    title = cut(" ".join(one.subject.replace("`", "").split()), _TITLE)
    told = len(one.context.split()) >= _CONTEXT
    background = f"{one_line(cut(one.context))}\n\n" if told else ""
    reason = one.reason[:1].upper() + one.reason[1:]
    body = (
        f"# {one_line(title)}\n\n## Status\n\nProposed\n\n"
        f"## Context\n\n{background}The reason that was given: {one_line(cut(reason))}\n\n"
        f"## Decision\n\n{one_line(one.sentence)}\n\n"
        "## Consequences\n\nNone were told when it was decided.\n"
    )
    return Lesson(
        "adr",
        new_document_id("adr", cut(title, 60)),
        title,
        body,
        ("decision", "learned"),
        (event.id,),
        "a decision with a reason was told and no document says it",
        thread_of(event),
        one.sentence,
    )


def _fixes(found: Sequence[Problem], how: _Seen) -> Iterator[Lesson]:
    """Failures whose mending is known: files edited, commands run, or the command itself said otherwise."""
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
            cut(f"What mended {first_words(one.failed.command)}".replace("`", ""), _TITLE),
            "\n".join(lines) + "\n",
            ("gotcha", "learned"),
            one.events,
            f"{span(one.failed.command)} failed and then worked, and no document says why",
            one.failed.thread,
            alike,
        )


def _name(command: str) -> str:
    return slug(first_words(command))[:40].strip("-") or "command"


def _commands(ran: Sequence[Run], how: _Seen) -> Iterator[Lesson]:
    """For each kind of work the commands that worked again and again, and that are written nowhere."""
    tries: dict[str, list[Run]] = {}
    for run in ran:
        tries.setdefault(run.command, []).append(run)
    by_class: dict[str, list[str]] = {}
    for command, each in tries.items():
        worked = sum(run.ok is True for run in each)
        failed = sum(run.ok is False for run in each)
        sort = class_of(command)
        if not sort or worked < _REPEATED or failed >= worked:
            continue
        if not how.known.names_command(command) and not command_stands(command, how.code):
            by_class.setdefault(sort, []).append(command)
    for sort, commands in by_class.items():
        listed = "".join(f"- {span(command)}\n" for command in commands)
        supporting = [run for command in commands for run in tries[command] if run.ok]
        yield Lesson(
            "fact",
            f"fact.commands.{sort}",
            f"Commands to {sort}",
            f"These have worked here, again and again:\n\n{listed}",
            ("commands", "learned", sort),
            tuple(dict.fromkeys(id for run in supporting for id in run.events))[-20:],
            f"{spans(commands[:3])} worked {len(supporting)} times and no file says so",
            max(supporting, key=lambda run: run.place).thread,
            "\n".join(sorted(commands)),
        )


def _workflows(events: Sequence[Event], ran: Sequence[Run], how: _Seen) -> Iterator[Lesson]:
    """Commands that succeeded one after the other for one request of a person."""
    for flow in _flows(events, ran):
        steps = list(dict.fromkeys(run.command for run in flow if not is_trivial(run.command)))
        if not how.config.consolidate_workflow_steps <= len(steps) <= _LONGEST_FLOW:
            continue
        if any("…" in step for step in steps) or all(
            how.known.names_command(step) or command_stands(step, how.code) for step in steps
        ):
            continue
        alike = "\n".join(steps)
        numbered = "".join(f"{number}. {span(step)}\n" for number, step in enumerate(steps, 1))
        first, last = first_words(steps[0]), first_words(steps[-1])
        yield Lesson(
            "playbook",
            f"playbook.{_name(steps[0])}-to-{_name(steps[-1])}-{short_hash(alike)}"[:100],
            cut(f"From {first} to {last}".replace("`", ""), _TITLE),
            f"# From {one_line(first)} to {one_line(last)}\n\n## Preconditions\n\nNone were told.\n\n"
            f"## Steps\n\n{numbered}\n## Verification\n\n{span(steps[-1])} succeeds.\n\n"
            "## Rollback\n\nNone was told.\n",
            ("learned", "workflow"),
            tuple(dict.fromkeys(id for run in flow for id in run.events))[-20:],
            f"{len(steps)} commands succeeded one after the other for one request",
            flow[0].thread,
            alike,
        )


def _flows(events: Sequence[Event], ran: Sequence[Run]) -> Iterator[list[Run]]:
    """Successful runs in a row, within a session, up to a failure or to the next message of a person."""
    threads: dict[str, list[tuple[int, Run | None]]] = {}
    for run in ran:
        threads.setdefault(run.thread, []).append((run.place, run if run.ok else None))
    for place, event in enumerate(events):
        if event.kind == "message" and event.actor == "user":
            threads.setdefault(thread_of(event), []).append((place, None))
    for steps in threads.values():
        flow: list[Run] = []
        for _, step in [*sorted(steps, key=lambda one: one[0]), (0, None)]:
            if step is not None:
                flow.append(step)
            elif flow:
                yield flow
                flow = []
