"""``events``: the log itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from thunderus_mem.cli.render import columns
from thunderus_mem.cli.text import counted, finding_lines, minute, one_line

if TYPE_CHECKING:
    from thunderus_mem.cli.console import Console
    from thunderus_mem.cli.text import Style
    from thunderus_mem.history.log import LogListing, ShownEvent, VerifyReport, WhyReport
    from thunderus_mem.history.replay import ReplayReport
    from thunderus_mem.history.why import WhyNode
    from thunderus_mem.interop.events import AddedEvents, Exported

app = typer.Typer()
events_app = typer.Typer(help="Add to the log, read, verify, replay and export it.", no_args_is_help=True)
app.add_typer(events_app, name="events")

Kinds = Annotated[list[str] | None, typer.Option("--kind", "-k", help="Only this kind; repeat.")]
Limit = Annotated[int, typer.Option("--limit", "-n", min=1, help="How many, newest first.")]


@events_app.command("list")
def events_list(
    ctx: typer.Context,
    kind: Kinds = None,
    limit: Limit = 50,
) -> int:
    """Events of every kind, newest first."""
    from thunderus_mem.cli.render import served_code
    from thunderus_mem.history import log

    console: Console = ctx.obj
    value = log.events_list(console.memory(), kinds=tuple(kind or ()), limit=limit)
    console.emit("events list", value, event_listing, long=True)
    if value.left_out:
        console.say(f"{value.left_out:,} older left out; -n shows more.")
    return served_code(console, value.damaged)


@events_app.command("add")
def events_add(
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
    why: Annotated[str, typer.Option("-m", "--why", metavar="WHY", help="The reason, kept in the log.")] = "",
) -> int:
    """Add what happened: JSON lines on stdin, or one event by --kind and --body. All of them or none.

    Lines of Thunderus's own log are taken as well. Kinds in events.private stay in this working tree.
    """
    import sys

    from thunderus_mem.cli.input import text_of
    from thunderus_mem.errors import ThunderusError
    from thunderus_mem.interop import events
    from thunderus_mem.interop.events import MAX_INPUT

    console: Console = ctx.obj
    if bool(kind) != bool(body):
        raise ThunderusError(
            "--kind and --body go together.", hint="Without both, JSON lines are read from stdin."
        )
    if kind:
        one = events.given_event(kind, text_of(body, console) or "", actor=actor, exit_code=exit_code)
        value = events.events_add(console.memory(), [one], why=why)
    else:
        if sys.stdin.isatty():
            raise ThunderusError(
                "There is nothing on stdin.", hint="Pipe JSON lines in, or give --kind and --body."
            )
        value = events.events_add(console.memory(), sys.stdin.buffer.read(MAX_INPUT + 1), why=why)
    console.emit("events add", value, added_events)
    return 0


@events_app.command("show")
def events_show(
    ctx: typer.Context,
    event: Annotated[str, typer.Argument(metavar="ID", help="An event's id.")],
) -> int:
    """One event, whole."""
    from thunderus_mem.cli.render import served_code
    from thunderus_mem.history import log

    console: Console = ctx.obj
    value = log.events_show(console.memory(), event)
    console.emit("events show", value, shown_event, long=True)
    return served_code(console, value.damaged)


@events_app.command("verify")
def events_verify(ctx: typer.Context) -> int:
    """Check every shard: schema, chain, torn lines. Exits with 1 when something is wrong."""
    from thunderus_mem.diagnostic import Severity
    from thunderus_mem.history import log

    console: Console = ctx.obj
    value = log.events_verify(console.memory())
    console.emit("events verify", value, verify_report, long=True)
    return int(any(finding.severity is not Severity.NOTE for finding in value.diagnostics))


@events_app.command("replay")
def events_replay(
    ctx: typer.Context,
    check: Annotated[
        bool, typer.Option("--check", help="Is every text explained by the log or by git? 1 when not.")
    ] = False,
    every: Annotated[bool, typer.Option("--all", help="List the documents the log rebuilds, too.")] = False,
) -> int:
    """Rebuild every document from the log alone, and say which ones are not what is on disk.

    With --check, git may explain a text as well; what nobody explains is named. Writes nothing.
    """
    from thunderus_mem.cli.render import served_code
    from thunderus_mem.history import replay

    console: Console = ctx.obj
    memory = console.memory()
    value = replay.replay_check(memory) if check else replay.replay(memory, every=every)
    console.emit("events replay", value, replay_report, long=True)
    return int(check and bool(value.unexplained)) or served_code(console, value.damaged)


@events_app.command("export")
def events_export(
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
    import os
    from dataclasses import replace

    from thunderus_mem.cli.render import served_code
    from thunderus_mem.interop.events import Export

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
    return served_code(console, export.done().damaged)


# The log and provenance for people.

_SHORT_COMMIT = 12
_SAID_AS = {"change": "note", "missing": "note"}
_UNNAMED = ("change", "note", "code")
_NAMED = 2
_MOST_IDS = 5
"""Ids of added events that a terminal shows one by one."""


def _about(doc_ids: tuple[str, ...]) -> str:
    """The documents of an event; of many the first and how many more there are."""
    if len(doc_ids) <= _NAMED:
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
    return columns(rows, console, whole=1)


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
    return columns(rows, console, whole=1)


def why_report(value: WhyReport, console: Console) -> str:
    """The graph as a tree from the document to its commits; a session is told where it is first met."""
    return "\n".join(_Tree(value, console.style).lines(value.nodes[0]))


class _Tree:
    """Draws a graph from its root; what was drawn whole is not drawn whole again."""

    def __init__(self, value: WhyReport, style: Style) -> None:
        self._style = style
        self._nodes = {node.id: node for node in value.nodes}
        self._below: dict[str, list[tuple[WhyNode, str]]] = {}
        for edge in value.edges:
            self._below.setdefault(edge.from_, []).append((self._nodes[edge.to], edge.relation))
        self._sessions: set[str] = set()

    def lines(self, node: WhyNode, relation: str = "") -> list[str]:
        """A node and, below it, what it leads to."""
        drawn = [self._label(node, relation)]
        below = [
            (child, how)
            for child, how in self._below.pop(node.id, ())
            if child.kind != "session" or child.id not in self._sessions
        ]
        self._sessions.update(child.id for child, _ in below if child.kind == "session")
        for number, (child, how) in enumerate(below):
            first, rest = ("└─ ", "   ") if number == len(below) - 1 else ("├─ ", "│  ")
            head, *more = self.lines(child, how)
            drawn += [self._style.dim(first) + head, *(self._style.dim(rest) + line for line in more)]
        return drawn

    def _label(self, node: WhyNode, relation: str) -> str:
        """Kind, id and what is known of it."""
        kind = _SAID_AS.get(node.kind, node.kind)
        shown = "" if node.kind in _UNNAMED else node.id
        shown = shown[:_SHORT_COMMIT] if node.kind == "commit" else shown
        label = relation if node.kind == "document" and relation else node.label
        name = self._style.name(shown) + "  " if shown else ""
        return f"{self._style.dim(kind)} {name}{one_line(label)}".rstrip()


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
    from thunderus_mem.cli.output import dumps, plain

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
    return columns(rows, console, whole=1) or "The log rebuilds every document."


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
