"""``log events``: what happened, and the log itself."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from thunderus_mem.cli.input import text_of
from thunderus_mem.cli.output import dumps, plain
from thunderus_mem.cli.params import Kinds, Newest, Why
from thunderus_mem.cli.text import columns, counted, finding_lines, minute, one_line
from thunderus_mem.diagnostic import Severity
from thunderus_mem.errors import ThunderusError
from thunderus_mem.history.log import (
    LogListing,
    ShownEvent,
    VerifyReport,
    events_list,
    events_show,
    events_verify,
    log,
)
from thunderus_mem.history.replay import ReplayReport, replay, replay_check
from thunderus_mem.interop.events import MAX_INPUT, AddedEvents, Export, Exported, events_add, given_event

if TYPE_CHECKING:
    from thunderus_mem.cli.console import Console

app = typer.Typer()
events_app = typer.Typer(no_args_is_help=True)
app.add_typer(events_app, name="events")

_SHORT_COMMIT = 12
_MOST_NAMED = 2
_MOST_IDS = 5
"""Ids of added events that a terminal shows one by one."""


@app.command("log")
def log_command(
    ctx: typer.Context,
    document: Annotated[str | None, typer.Argument(metavar="[ID]", help="Only this document.")] = None,
    limit: Newest = 50,
) -> int:
    """What happened, newest first."""
    console: Console = ctx.obj
    value = log(console.memory(), document, limit=limit)
    if not value.events and not value.damaged:
        console.say("Nothing happened yet.")
    console.emit("log", value, log_listing, long=True)
    if value.left_out:
        console.say(f"{value.left_out:,} older left out; -n shows more.")
    return console.served_code(value.damaged)


@events_app.command("list")
def events_list_command(
    ctx: typer.Context,
    kind: Kinds = None,
    limit: Newest = 50,
) -> int:
    """Events of every kind, newest first."""
    console: Console = ctx.obj
    value = events_list(console.memory(), kinds=tuple(kind or ()), limit=limit)
    console.emit("events list", value, event_listing, long=True)
    if value.left_out:
        console.say(f"{value.left_out:,} older left out; -n shows more.")
    return console.served_code(value.damaged)


@events_app.command("add")
def events_add_command(
    ctx: typer.Context,
    kind: Annotated[
        str, typer.Option("--kind", "-k", metavar="KIND", help="message, tool_call, tool_result or note.")
    ] = "",
    body: Annotated[
        str,
        typer.Option(
            "--body", metavar="TEXT", help="What was said, or the command that was run; - is stdin."
        ),
    ] = "",
    exit_code: Annotated[
        int | None, typer.Option("--exit-code", metavar="N", help="How the command of a tool_result ended.")
    ] = None,
    actor: Annotated[str, typer.Option("--actor", metavar="WHO", help="user, agent or tool.")] = "",
    why: Why = "",
) -> int:
    """Add what happened: JSON lines on stdin, or one event by --kind and --body. All of them or none.

    Lines of Thunderus's own log are taken as well. Kinds in events.private stay in this working tree.
    """
    console: Console = ctx.obj
    if bool(kind) != bool(body):
        raise ThunderusError(
            "--kind and --body go together.", hint="Without both, JSON lines are read from stdin."
        )
    if kind:
        one = given_event(kind, text_of(body, console) or "", actor=actor, exit_code=exit_code)
        value = events_add(console.memory(), [one], why=why)
    else:
        if sys.stdin.isatty():
            raise ThunderusError(
                "There is nothing on stdin.", hint="Pipe JSON lines in, or give --kind and --body."
            )
        value = events_add(console.memory(), sys.stdin.buffer.read(MAX_INPUT + 1), why=why)
    console.emit("events add", value, added_events)
    return 0


@events_app.command("show")
def events_show_command(
    ctx: typer.Context,
    event: Annotated[str, typer.Argument(metavar="ID", help="An event's id.")],
) -> int:
    """One event, whole."""
    console: Console = ctx.obj
    value = events_show(console.memory(), event)
    console.emit("events show", value, shown_event, long=True)
    return console.served_code(value.damaged)


@events_app.command("verify")
def events_verify_command(ctx: typer.Context) -> int:
    """Check every shard: schema, chain, torn lines. Exits with 1 when something is wrong."""
    console: Console = ctx.obj
    value = events_verify(console.memory())
    console.emit("events verify", value, verify_report, long=True)
    return int(any(finding.severity is not Severity.NOTE for finding in value.diagnostics))


@events_app.command("replay")
def events_replay_command(
    ctx: typer.Context,
    check: Annotated[
        bool, typer.Option("--check", help="Is every text explained by the log or by git? 1 when not.")
    ] = False,
    every: Annotated[bool, typer.Option("--all", help="List the documents the log rebuilds, too.")] = False,
) -> int:
    """Rebuild every document from the log alone, and say which ones are not what is on disk.

    With --check, git may explain a text as well; what nobody explains is named. Writes nothing.
    """
    console: Console = ctx.obj
    memory = console.memory()
    value = replay_check(memory) if check else replay(memory, every=every)
    console.emit("events replay", value, replay_report, long=True)
    return int(check and bool(value.unexplained)) or console.served_code(value.damaged)


@events_app.command("export")
def events_export_command(
    ctx: typer.Context,
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FILE", help="Write this file; without it, print.")
    ] = "",
    document: Annotated[str, typer.Option("--document", metavar="ID", help="Only about this one.")] = "",
    kind: Kinds = None,
    since: Annotated[str, typer.Option(metavar="DATE", help="On this day or later.")] = "",
    private: Annotated[
        bool, typer.Option("--private", help="With the events private to this working tree.")
    ] = False,
    form: Annotated[
        str, typer.Option("--format", metavar="FORMAT", help="jsonl or prov-json (W3C PROV).")
    ] = "jsonl",
) -> int:
    """Print all events in order, one a line, each with its shard and line. A file is written whole or not.

    Each line is an object: shard, line, and event as it stands in the log.
    """
    console: Console = ctx.obj
    memory = console.memory()
    export = Export(
        memory, form=form, document=document or None, kinds=tuple(kind or ()), since=since, private=private
    )
    if output and output != "-":
        value = export.write(memory, os.path.abspath(os.path.join(console.start, output)))
        console.emit("events export", value, exported)
    elif console.json:
        text = "".join(export.pieces())
        console.emit("events export", replace(export.done(), text=text), exported)
    else:
        for piece in export.pieces():
            console.raw(piece)
    console.say(export_summary(export.done()))
    return console.served_code(export.done().damaged)


def _about(doc_ids: tuple[str, ...]) -> str:
    """The documents of an event; of many the first and how many more there are."""
    if len(doc_ids) <= _MOST_NAMED:
        return ", ".join(doc_ids)
    return f"{doc_ids[0]} and {len(doc_ids) - 1:,} more"


def log_listing(value: LogListing, console: Console) -> str:
    """Events, newest first: when, who, what, on which documents, and why."""
    style = console.style
    rows = []
    for event in value.events:
        what = event.op or event.kind
        about = _about(event.doc_ids)
        reason = one_line(event.why or event.text)
        rows.append(
            (
                style.dim(minute(event.ts)),
                event.author or event.actor,
                what,
                style.name(about),
                reason,
            )
        )
    return columns(rows, console.width, whole=1)


def event_listing(value: LogListing, console: Console) -> str:
    """Events by id, newest first: the id to show it by, when, its kind, and what it is about."""
    style = console.style
    rows = [
        (
            style.name(event.id),
            style.dim(minute(event.ts)),
            event.actor,
            event.kind + (f" {event.op}" if event.op else ""),
            one_line(_about(event.doc_ids) or event.text),
        )
        for event in value.events
    ]
    return columns(rows, console.width, whole=1)


def added_events(value: AddedEvents, console: Console) -> str:
    """The ids of what was added, of many on a terminal the first and the last; how many stayed private and
    how many were known, beside it."""
    if value.private:
        console.say(f"{counted(value.private, 'event')} private to this working tree.")
    if value.known:
        console.say(f"{counted(len(value.known), 'event')} known already, left out.")
    ids = [console.style.name(id) for id in value.added]
    if console.width is None or len(ids) <= _MOST_IDS:
        return "\n".join(ids)
    console.say(f"{counted(len(ids), 'event')} added; `thunderus-mem events list` shows them.")
    return f"{ids[0]} … {ids[-1]}"


def shown_event(value: ShownEvent, console: Console) -> str:
    """One event as JSON, indented, whole; its shard and line before it."""
    console.say(f"{value.shard}:{value.line}")
    return dumps(plain(value.event))


def verify_report(value: VerifyReport, console: Console) -> str:
    """Findings, or one calm line."""
    console.say(f"{counted(value.events, 'event')} in {counted(value.shards, 'shard')} read.")
    if not value.diagnostics:
        return "The log is whole."
    return "\n".join(finding_lines(value.diagnostics, console.style))


def replay_report(value: ReplayReport, console: Console) -> str:
    """Documents whose text the log alone does not rebuild; or findings; the counts beside it."""
    style = console.style
    if value.checked:
        console.say(_explained(value.counts))
        return "\n".join(finding_lines(value.diagnostics, style)) or "Every document is explained."
    states = ", ".join(f"{number:,} {state}" for state, number in value.counts.items())
    console.say(f"{counted(sum(value.counts.values()), 'document')}: {states or 'none'}.")
    rows = [
        (style.name(one.id), one.state, _short_hash(one.reached), _short_hash(one.found), one.path)
        for one in value.documents
    ]
    return columns(rows, console.width, whole=1) or "The log rebuilds every document."


def _short_hash(text: str) -> str:
    return text.removeprefix("sha256:")[:_SHORT_COMMIT] or "-"


def _explained(counts: dict[str, int]) -> str:
    """How many documents are explained by what, in one sentence."""
    total = sum(number for state, number in counts.items() if state != "gone")
    parts = [f"{counts['log']:,} explained by the log", f"{counts['git']:,} by git"]
    parts += [
        f"{counts[state]:,} {state}" for state in ("personal", "unrecorded", "unreadable") if counts[state]
    ]
    missing = f" {counted(counts['gone'], 'document')} of the log gone." if counts["gone"] else ""
    return f"{counted(total, 'document')}: {', '.join(parts)}.{missing}"


def exported(value: Exported, console: Console) -> str:
    """The file that was written."""
    return console.style.name(value.file)


def export_summary(value: Exported) -> str:
    """How many events, and how many private ones were left out."""
    told = f"{counted(value.events, 'event')} exported."
    return told + (f" {value.private:,} private left out; --private adds them." if value.private else "")
