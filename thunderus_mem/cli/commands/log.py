"""``log events why blame``: what happened, and where documents come from.

`log` and `events` show the log, check it, add to it and take it elsewhere; `why` draws where a document comes
from, as a tree, for Mermaid or for Graphviz, and `blame` says it line by line. The commands parse, call and
render; of what they call only `events add` writes into the log, and `events export` a file.
"""

from __future__ import annotations

import os
import re
import sys
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from thunderus_mem.cli.input import text_of
from thunderus_mem.cli.output import dumps, plain
from thunderus_mem.cli.params import DocumentId, Kinds, Newest, Patch, Why
from thunderus_mem.cli.text import (
    Style,
    aligned,
    columns,
    counted,
    cut,
    finding_lines,
    minute,
    one_line,
    padded,
    verdict_word,
)
from thunderus_mem.diagnostic import Severity
from thunderus_mem.document.diff import stretches
from thunderus_mem.errors import InvalidQuery, ThunderusError
from thunderus_mem.history import blame, log, replay, why
from thunderus_mem.interop.events import MAX_INPUT, AddedEvents, Export, Exported, events_add, given_event

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from thunderus_mem.cli.console import Console


app = typer.Typer()

# ``log events``

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
    value = log.log(console.memory(), document, limit=limit)
    if not value.events and not value.damaged:
        console.say("Nothing happened yet.")
    return _listed_code(console, "log", value, log_listing)


@events_app.command("list")
def events_list_command(
    ctx: typer.Context,
    kind: Kinds = None,
    limit: Newest = 50,
) -> int:
    """Events of every kind, newest first."""
    console: Console = ctx.obj
    value = log.events_list(console.memory(), kinds=tuple(kind or ()), limit=limit)
    return _listed_code(console, "events list", value, event_listing)


def _listed_code(
    console: Console, command: str, value: log.LogListing, render: Callable[[log.LogListing, Console], str]
) -> int:
    console.emit(command, value, render, long=True)
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
    value = log.events_show(console.memory(), event)
    console.emit("events show", value, shown_event, long=True)
    return console.served_code(value.damaged)


@events_app.command("verify")
def events_verify_command(ctx: typer.Context) -> int:
    """Check every shard: schema, chain, torn lines. Exits with 1 when something is wrong."""
    console: Console = ctx.obj
    value = log.events_verify(console.memory())
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
    value = replay.replay_check(memory) if check else replay.replay(memory, every=every)
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


def log_listing(value: log.LogListing, console: Console) -> str:
    """Events, newest first: when, who, what, on which documents, and why."""
    style = console.style
    rows = []
    for event in value.events:
        what = event.op or event.kind
        about = _about(event.doc_ids)
        reason = one_line(event.why or event.text)
        rows.append(
            (style.dim(minute(event.ts)), event.author or event.actor, what, style.name(about), reason)
        )
    return columns(rows, console.width, whole=1)


def event_listing(value: log.LogListing, console: Console) -> str:
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


def shown_event(value: log.ShownEvent, console: Console) -> str:
    """One event as JSON, indented, whole; its shard and line before it."""
    console.say(f"{value.shard}:{value.line}")
    return dumps(plain(value.event))


def verify_report(value: log.VerifyReport, console: Console) -> str:
    """Findings, or one calm line."""
    console.say(f"{counted(value.events, 'event')} in {counted(value.shards, 'shard')} read.")
    if not value.diagnostics:
        return "The log is whole."
    return "\n".join(finding_lines(value.diagnostics, console.style))


def replay_report(value: replay.ReplayReport, console: Console) -> str:
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


# ``why blame``

_FORMATS = ("tree", "mermaid", "dot")
_SHORT_EVENT = 14


_OLDER = "^"
_WIDEST_LABEL = 80
# Mermaid reads its labels as HTML; entities are written with # there.
_MERMAID = {ord(char): f"#{ord(char)};" for char in '#"<>&`'}
_NARROW = 100
"""Columns that code then and now needs to stand side by side."""
_SAID_AS = {"change": "note", "missing": "note"}
_UNNAMED = ("change", "note", "code")
_LINES = re.compile(r"([0-9]{1,9})?(?:(,)([0-9]{1,9})?)?", re.ASCII)


@app.command("why")
def why_command(
    ctx: typer.Context,
    document: DocumentId,
    form: Annotated[str, typer.Option("--format", metavar="FORMAT", help="tree, mermaid or dot.")] = "tree",
    patch: Patch = False,
) -> int:
    """Where a document comes from: events, sessions, patches, commits, and the code it talks about."""
    console: Console = ctx.obj
    if form not in _FORMATS:
        raise ThunderusError(f"There is no format {form}.", hint=f"Formats: {', '.join(_FORMATS)}")
    render = {"mermaid": mermaid, "dot": dot}.get(form, why_tree)
    value = why.why(console.memory(), document)
    if patch and form == "tree":
        render = partial(with_code, render)
    console.emit("why", value, render, long=True)
    return console.served_code(value.damaged)


@app.command("blame")
def blame_command(
    ctx: typer.Context,
    document: DocumentId,
    lines: Annotated[
        str, typer.Option("--lines", "-L", metavar="FROM,TO", help="Only these lines: 10,20 or 10, or 7.")
    ] = "",
    patch: Patch = False,
) -> int:
    """Which event or commit last changed each line of a document, who did it and when.

    The log comes first, then git's history. Lines nobody recorded yet say so.
    """
    console: Console = ctx.obj
    wanted = _wanted(lines) if lines else None
    value = blame.blame(console.memory(), document, lines=wanted)
    render = partial(with_code, blame_report) if patch else blame_report
    console.emit("blame", value, render, long=True)
    return console.served_code(value.damaged)


def _wanted(text: str) -> tuple[int, int]:
    """First and last line of ``10,20``, ``10,`` (to the end), ``,20`` or ``7``."""
    match = _LINES.fullmatch(text.replace(" ", ""))
    if match is None or not (match[1] or match[3]):
        raise InvalidQuery(f"--lines takes two line numbers, such as 10,20, not {text!r}")
    first = int(match[1] or 1)
    return (first, int(match[3] or 0)) if match[2] else (first, first)


def blame_report(value: blame.BlameReport, console: Console) -> str:
    """Short id of the event or commit, when, who, line number, text; ``^`` where the line may be older."""
    style = console.style
    names = _short_names(value.sources)
    sources = {source.id: source for source in value.sources}
    widest = len(str(value.lines[-1].number)) if value.lines else 0
    rows, above = [], None
    for line in value.lines:
        source = sources[line.source]
        name = ("" if line.exact else _OLDER) + names[line.source]
        rows.append(
            (
                style.dim(name) if line.source == above else style.name(name),
                style.dim(minute(source.ts)),
                source.author or source.actor,
                style.dim(str(line.number).rjust(widest)),
                line.text,
            )
        )
        above = line.source
    if any(not line.exact for line in value.lines):
        console.say("^ marks lines that may be older: what was before is not known here.")
    return "\n".join(aligned(rows))


def _short_names(sources: Iterable[blame.BlameSource]) -> dict[str, str]:
    """Beginnings that tell events apart and that `events show` and git take; an unrecorded line has none."""
    names = {source.id: source.id for source in sources}
    for source in sources:
        if source.kind == "event":
            names[source.id] = source.id.removeprefix("evt_")
        elif source.kind == "unrecorded":
            names[source.id] = "unrecorded"
    events = [name for id, name in names.items() if id.startswith("evt_")]
    length = _SHORT_EVENT
    while len({name[:length] for name in events}) < len(set(events)):
        length += 1
    return {
        id: name[:length] if id.startswith("evt_") else name[:_SHORT_COMMIT] for id, name in names.items()
    }


def why_tree(value: why.WhyReport, console: Console) -> str:
    """The graph as a tree from the document to its commits; a session is told where it is first met."""
    return "\n".join(_Tree(value, console.style).lines(value.nodes[0]))


class _Tree:
    """Draws a graph from its root; what was drawn whole is not drawn whole again."""

    def __init__(self, value: why.WhyReport, style: Style) -> None:
        self._style = style
        self._nodes = {node.id: node for node in value.nodes}
        self._below: dict[str, list[tuple[why.WhyNode, str]]] = {}
        for edge in value.edges:
            self._below.setdefault(edge.from_, []).append((self._nodes[edge.to], edge.relation))
        self._sessions: set[str] = set()

    def lines(self, node: why.WhyNode, relation: str = "") -> list[str]:
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

    def _label(self, node: why.WhyNode, relation: str) -> str:
        """Kind, id and what is known of it."""
        kind = _SAID_AS.get(node.kind, node.kind)
        shown = "" if node.kind in _UNNAMED else node.id
        shown = shown[:_SHORT_COMMIT] if node.kind == "commit" else shown
        label = relation if node.kind == "document" and relation else node.label
        name = self._style.name(shown) + "  " if shown else ""
        return f"{self._style.dim(kind)} {name}{one_line(label)}".rstrip()


def _labels(node: why.WhyNode) -> list[str]:
    """What stands on the lines of a box: kind and id, then what is known."""
    shown = node.id[:_SHORT_COMMIT] if node.kind == "commit" else node.id
    head = node.kind if node.kind in _UNNAMED else f"{node.kind} {shown}"
    return [cut(one_line(text), _WIDEST_LABEL) for text in (head, node.label) if text]


def mermaid(value: why.WhyReport, console: Console) -> str:
    """A Mermaid flowchart, as hosting servers draw it in Markdown."""
    names = {node.id: f"n{number}" for number, node in enumerate(value.nodes)}
    texts = ("<br/>".join(text.translate(_MERMAID) for text in _labels(node)) for node in value.nodes)
    nodes = [f'    {name}["{text}"]' for name, text in zip(names.values(), texts, strict=True)]
    edges = [f'    {names[edge.from_]} -- "{edge.relation}" --> {names[edge.to]}' for edge in value.edges]
    return "\n".join(["flowchart LR", *nodes, *edges])


def dot(value: why.WhyReport, console: Console) -> str:
    """A digraph in Graphviz's language."""
    names = {node.id: f"n{number}" for number, node in enumerate(value.nodes)}
    nodes = [f"    {names[node.id]} [label={_quoted(*_labels(node))}];" for node in value.nodes]
    edges = [
        f"    {names[edge.from_]} -> {names[edge.to]} [label={_quoted(edge.relation)}];"
        for edge in value.edges
    ]
    return "\n".join(["digraph why {", "    rankdir=LR;", "    node [shape=box];", *nodes, *edges, "}"])


def _quoted(*lines: str) -> str:
    return '"' + "\\n".join(line.replace("\\", "\\\\").replace('"', '\\"') for line in lines) + '"'


def with_code(
    render: Callable[[Any, Console], str], value: blame.BlameReport | why.WhyReport, console: Console
) -> str:
    """What a value prints, and below it the code it speaks of, then and now."""
    blocks = ["\n".join(_block(one, console)) for one in value.code]
    return "\n\n".join([render(value, console), *blocks])


def _block(one: why.CodeThen, console: Console) -> Iterator[str]:
    style = console.style
    yield f"{style.bold(one.place)}  {verdict_word(one.verdict, style)}: {one.reason}"
    if one.commit:
        yield style.dim(f"by {one.commit[:_SHORT_COMMIT]} {one_line(one.subject)}")
    then, now = one.then.splitlines(), one.now.splitlines()
    if then == now:
        yield from (f"  {line}" for line in now)
        return
    room = console.width
    if room is None or room < _NARROW:
        yield from _above(then, now, style)
    else:
        yield from _beside(then, now, (room - 5) // 2, style)


def _pairs(then: Sequence[str], now: Sequence[str]) -> Iterator[tuple[str | None, str | None, bool]]:
    """Lines beside each other, and whether they are the same."""
    at = 0
    edits = stretches(then, now)
    if edits is None:
        edits = [(0, len(then), 0, len(now))]
    for old_start, old_stop, new_start, new_stop in edits:
        yield from ((line, line, True) for line in then[at:old_start])
        for place in range(max(old_stop - old_start, new_stop - new_start)):
            left = then[old_start + place] if old_start + place < old_stop else None
            right = now[new_start + place] if new_start + place < new_stop else None
            yield left, right, False
        at = old_stop
    yield from ((line, line, True) for line in then[at:])


def _beside(then: Sequence[str], now: Sequence[str], room: int, style: Style) -> Iterator[str]:
    for left, right, same in _pairs(then, now):
        before, after = (cut((text or "").expandtabs(4), room) for text in (left, right))
        if same:
            yield f"{padded(before, room)}   {after}".rstrip()
        else:
            yield f"{padded(style.error(before), room)} | {style.good(after)}".rstrip()


def _above(then: Sequence[str], now: Sequence[str], style: Style) -> Iterator[str]:
    for left, right, same in _pairs(then, now):
        if same:
            yield f"  {left}"
            continue
        if left is not None:
            yield style.error(f"- {left}")
        if right is not None:
            yield style.good(f"+ {right}")
