"""``log events why``: history and provenance.

`log` and `events` show, verify, extend and export the log; `why` prints the provenance of a document as a
tree, or that of each line. The commands parse, call and render; only `events add` and `events record` write
to the log, and `events export` a file.
"""

from __future__ import annotations

import os
import re
import sys
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Final

from thunderus_mem.authoring import edit
from thunderus_mem.cli.input import read_stdin, text_of
from thunderus_mem.cli.options import Argument, Call, Commands, Option
from thunderus_mem.cli.output import dumps, plain
from thunderus_mem.cli.params import Budget, Kinds, Newest, Patch, Why
from thunderus_mem.cli.text import (
    LEAST_LAST,
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
    wrapped,
)
from thunderus_mem.diagnostic import Severity
from thunderus_mem.document.diff import stretches
from thunderus_mem.errors import ThunderusError
from thunderus_mem.history import blame, log, replay, why
from thunderus_mem.history.log import SHORT_COMMIT
from thunderus_mem.interop.events import MAX_INPUT, AddedEvents, Export, Exported, events_add, given_event
from thunderus_mem.log.actor import OUTSIDE, by_whom, is_outside
from thunderus_mem.startup import lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from thunderus_mem.cli.console import Console


app = Commands()

# ``log events``

events_app = app.group("events")

_MOST_NAMED = 2
_MOST_REFUSED = 20
"""Maximum number of refused lines listed."""
_MOST_IDS = 5
"""Maximum number of added ids listed on a terminal."""


@app.command("log")
def log_command(
    ctx: Call,
    document: Annotated[str | None, Argument(metavar="[ID]", help="Only this document.")] = None,
    every: Annotated[
        bool, Option("--all", help="Show all events with their ids, also messages and tool calls.")
    ] = False,
    kind: Kinds = None,
    limit: Newest = 50,
    budget: Budget = 0,
) -> int:
    """Show the history of the memory, or of one document, newest first.

    It lists changes, reviews and notes; with --all or --kind, events of other kinds and the ids too.
    """
    console: Console = ctx.obj
    console.budget = budget
    detailed = every or bool(kind)
    kinds = tuple(kind or ()) if detailed else log.HISTORY
    value = log.log(console.memory(), document, kinds=kinds, limit=limit)
    if not value.events and not value.damaged:
        console.say("No events")
    console.emit("log", value, event_listing if detailed else log_listing, long=True)
    if value.left_out:
        console.say(f"{value.left_out:,} older not shown; use -n")
    return console.served_code(value.damaged)


@events_app.command("add")
def events_add_command(
    ctx: Call,
    kind: Annotated[
        str, Option("--kind", "-k", metavar="KIND", help="message, tool_call, tool_result or note.")
    ] = "",
    body: Annotated[
        str | None,
        Option(
            "--body",
            metavar="TEXT|-|@FILE",
            help="The text, or the command that was run; - reads stdin, @FILE a file.",
        ),
    ] = None,
    about: Annotated[
        list[str] | None, Option(metavar="ID", help="A document it is about (repeatable).")
    ] = None,
    share: Annotated[
        bool, Option("--share", help="Commit imported events too, except kinds in events.private.")
    ] = False,
    why: Why = "",
) -> int:
    """Add events to the log.

    Reads JSON Lines from stdin, or adds one event with --kind and --body. Lines of a Thunderus log are
    accepted too. Events of the kinds in events.private stay in this working tree, and so do imported
    events (lines with an id or a session). Exits with 1 if a line was refused.
    """
    console: Console = ctx.obj
    if kind and body == "":
        raise ThunderusError("the body is empty", hint="pass --body TEXT, or --body - to read stdin")
    if bool(kind) != bool(body):
        raise ThunderusError(
            "--kind and --body must be used together", hint="or omit both and pipe JSON Lines to stdin"
        )
    if about and not kind:
        raise ThunderusError("--about needs --kind and --body")
    if kind and body:
        text = text_of(body, console) or ""
        one = given_event(kind, text, actor=console.actor, about=about or ())
        value = events_add(console.memory(), one, why=why)
    else:
        if sys.stdin.isatty():
            raise ThunderusError("no events given", hint="pipe JSON Lines to stdin, or use --kind and --body")
        value = events_add(
            console.memory(), read_stdin(console, MAX_INPUT + 1, "events"), why=why, share=share
        )
    console.emit("events add", value, added_events)
    return int(bool(value.refused))


@events_app.command("record")
def events_record_command(
    ctx: Call,
    yes: Annotated[bool, Option("--yes", "-y", help="Record even if many documents were deleted.")] = False,
    why: Why = "",
) -> None:
    """Log edits made by hand. Every command that writes also does this first."""
    console: Console = ctx.obj
    value = edit.record(console.memory(), accept_loss=yes, why=why)
    if not value.recorded:
        console.say("Nothing to record")
    for path in value.not_logged:
        console.talk(f"warning: edits of {path} are not logged: its name may contain a secret; rename it")
    console.emit("events record", value, recorded)


@events_app.command("show")
def events_show_command(
    ctx: Call,
    event: Annotated[str, Argument(metavar="ID", help="Event id, or a unique prefix of it.")],
) -> int:
    """Print one event as JSON."""
    console: Console = ctx.obj
    value = log.events_show(console.memory(), event)
    console.emit("events show", value, shown_event, long=True)
    return console.served_code(value.damaged)


@events_app.command("verify")
def events_verify_command(
    ctx: Call,
    since: Annotated[
        str, Option("--since", metavar="REV", help="Shards must contain all lines they had in REV.")
    ] = "",
) -> int:
    """Verify the log: schema, hash chain, incomplete lines. Exits with 1 on errors or warnings.

    Each shard must begin with its committed lines. With --since (e.g. in a pull request), it must also begin
    with its lines in the merge base of HEAD and REV, and no shard from there may be missing.
    """
    console: Console = ctx.obj
    value = log.events_verify(console.memory(), since)
    console.emit("events verify", value, verify_report, long=True)
    return int(any(finding.severity is not Severity.NOTE for finding in value.diagnostics))


@events_app.command("replay")
def events_replay_command(
    ctx: Call,
    check: Annotated[
        bool,
        Option("--check", help="Exit with 1 if the text of a document is neither in the log nor in git."),
    ] = False,
) -> int:
    """Rebuild documents from the log and list differences.

    Writes nothing. With --check, text that is committed to git also counts, and documents whose text is in
    neither the log nor git are listed.
    """
    console: Console = ctx.obj
    memory = console.memory()
    value = replay.replay_check(memory) if check else replay.replay(memory)
    console.emit("events replay", value, replay_report, long=True)
    return int(check and bool(value.unexplained)) or console.served_code(value.damaged)


@events_app.command("export")
def events_export_command(
    ctx: Call,
    output: Annotated[
        str, Option("--output", "-o", metavar="FILE", help="Write to this file instead of stdout.")
    ] = "",
    document: Annotated[str, Option("--about", metavar="ID", help="Only events about this document.")] = "",
    kind: Kinds = None,
    since: Annotated[str, Option(metavar="DATE", help="Only events on or after this day.")] = "",
    private: Annotated[bool, Option("--private", help="Include local events (not committed).")] = False,
    user: Annotated[
        str, Option("--user", metavar="NAME", help="Only conversations and executions of this user (local).")
    ] = "",
    form: Annotated[
        str, Option("--format", metavar="FORMAT", help="jsonl or prov-json (W3C PROV).")
    ] = "jsonl",
) -> int:
    """Export all events in order, one per line. A file is written completely or not at all.

    Each line is an object with shard, line and event; the event is unchanged, except that an imported one
    has its original id and session.
    """
    console: Console = ctx.obj
    memory = console.memory()
    if user and document:
        raise ThunderusError("--user and --about are mutually exclusive")
    export = Export(
        memory,
        form=form,
        document=document or None,
        kinds=tuple(kind or ()),
        since=since,
        private=private,
        user=user,
    )
    if output and output != "-":
        value = export.write(memory, os.path.abspath(os.path.join(console.start, output)))
        console.emit("events export", value, exported)
    elif console.json:
        from dataclasses import replace

        text = "".join(export.pieces())
        console.emit("events export", replace(export.done(), text=text), exported)
    else:
        for piece in export.pieces():
            console.raw(piece)
    console.say(export_summary(export.done()))
    return console.served_code(export.done().damaged)


def _about(event: log.LogEntry) -> str:
    """Format the documents of an event; of many, the first and a count."""
    total = len(event.doc_ids) + (event.more_documents or 0)
    if total <= _MOST_NAMED:
        return ", ".join(event.doc_ids)
    return f"{event.doc_ids[0]} and {total - 1:,} more"


def _by(event: log.LogEntry | blame.BlameSource, style: Style) -> str:
    """Format who acted, and the mark of the event."""
    return _marked(by_whom(event.actor, event.author, event.op), event.mark, style)


def _what(event: log.LogEntry) -> str:
    """Format the operation of an event, or its kind."""
    return OUTSIDE if is_outside(event.actor, event.op) else event.op or event.kind


def _marked(who: str, mark: str, style: Style) -> str:
    return f"{who} {style.warning(f'({mark})')}" if mark else who


def log_listing(value: log.LogListing, console: Console) -> str:
    """Format events, newest first: time, author, operation, documents and reason."""
    style = console.style
    rows = []
    for event in value.events:
        about = _about(event)
        reason = one_line(event.why or event.text)
        rows.append((style.dim(minute(event.ts)), _by(event, style), _what(event), style.name(about), reason))
    return columns(rows, console.width, whole=1)


def event_listing(value: log.LogListing, console: Console) -> str:
    """Format events, newest first: id, time, actor, kind and documents or text."""
    style = console.style
    rows = [
        (
            style.name(event.id),
            style.dim(minute(event.ts)),
            _marked(event.actor, event.mark, style),
            event.kind + (f" {event.op}" if event.op else ""),
            one_line(_about(event) or event.text),
        )
        for event in value.events
    ]
    return columns(rows, console.width, whole=1)


def added_events(value: AddedEvents, console: Console) -> str:
    """Format the added ids (on a terminal only the first and last of many); report local and known events,
    and refused lines."""
    for line in value.refused[:_MOST_REFUSED]:
        console.talk(f"line {line.line}: {line.reason}")
    if value.refused:
        refused = counted(len(value.refused), "line")
        console.talk(f"{refused} refused; run `thunderus-mem config schemas events` for the format")
    if value.private:
        console.say(f"{counted(value.private, 'event')} kept local (not committed)")
    if value.known:
        console.say(f"{counted(len(value.known), 'event')} already in the log, skipped")
    ids = [console.style.name(id) for id in value.added]
    if console.width is None or len(ids) <= _MOST_IDS:
        return "\n".join(ids)
    console.say(f"{counted(len(ids), 'event')} added; see: thunderus-mem log --all")
    return f"{ids[0]} … {ids[-1]}"


def recorded(value: edit.Recorded, console: Console) -> str:
    """Format the documents whose edits were recorded, one per line."""
    return "\n".join(console.style.name(one) for one in value.recorded)


def shown_event(value: log.ShownEvent, console: Console) -> str:
    """Format one event as wrapped JSON, after its shard and line."""
    console.say(f"{value.shard}:{value.line}")
    return dumps(plain(value.event), indent=2)


def verify_report(value: log.VerifyReport, console: Console) -> str:
    """Format the findings, or one line without findings."""
    console.say(f"{counted(value.events, 'event')} in {counted(value.shards, 'shard')} checked")
    if not value.diagnostics:
        return "The log is intact"
    return "\n".join(finding_lines(value.diagnostics, console.style))


_REPLAYED: Final = {"gone": "missing"}
_EXPLAINED: Final = "The text of every document is in the log or in git"


def replay_report(value: replay.ReplayReport, console: Console) -> str:
    """Format the documents that the log does not rebuild, or findings; report the counts."""
    style = console.style
    if value.checked:
        console.say(_explained(value.counts))
        return "\n".join(finding_lines(value.diagnostics, style)) or _EXPLAINED
    states = ", ".join(f"{number:,} {_REPLAYED.get(state, state)}" for state, number in value.counts.items())
    console.say(f"{counted(sum(value.counts.values()), 'document')}: {states or 'none'}")
    rows = [
        (
            style.name(one.id),
            _REPLAYED.get(one.state, one.state),
            _short_hash(one.reached),
            _short_hash(one.found),
            one.path,
        )
        for one in value.documents
    ]
    return columns(rows, console.width, whole=1) or "The log rebuilds every document"


def _short_hash(text: str) -> str:
    return text.removeprefix("sha256:")[:SHORT_COMMIT] or "-"


def _explained(counts: dict[str, int]) -> str:
    """Count the documents by explanation."""
    total = sum(number for state, number in counts.items() if state != "gone")
    parts = [f"{counts['log']:,} in the log", f"{counts['git']:,} in git"]
    parts += [
        f"{counts[state]:,} {state}" for state in ("personal", "unrecorded", "unreadable") if counts[state]
    ]
    parts += [f"{counts['gone']:,} in the log but missing"] if counts["gone"] else []
    return f"{counted(total, 'document')}: {', '.join(parts)}"


def exported(value: Exported, console: Console) -> str:
    """Format the path of the written file."""
    return console.style.name(value.file)


def export_summary(value: Exported) -> str:
    """Count the exported events and the omitted local ones."""
    omitted = f"; {value.private:,} local omitted, use --private" if value.private else ""
    return f"{counted(value.events, 'event')} exported{omitted}"


# ``why``

_SHORT_EVENT = 14


_OLDER = "^"
_NARROW = 100
"""Minimum width to show old and new code side by side."""
_NOTES = ("change", "missing", "note")
_UNNAMED = ("change", "note", "code")
_BY_ID = ("event", "session")
"""Kinds of nodes whose ids are shown only on request."""
_LINES = lazy_pattern(r"(.+):([0-9]{1,9})(?:-([0-9]{1,9}))?", re.ASCII)


@app.command("why")
def why_command(
    ctx: Call,
    document: Annotated[
        str, Argument(metavar="ID[:LINES]", help="Document id, or a unique prefix of it; lines: 10-20 or 7.")
    ],
    lines: Annotated[
        bool, Option("--lines", help="Show which event or commit last changed each line.")
    ] = False,
    patch: Patch = False,
    verbose: Annotated[
        bool, Option("--verbose", "-v", help="Also show the ids of events, sessions and patches.")
    ] = False,
) -> int:
    """Show where a document comes from: who changed it, when, why and in which commit, and its code.

    With --lines, or for ID:10-20, show which event or commit last changed each line, with author and time.
    The log is searched first, then git. Lines that are in neither are marked unrecorded.
    """
    console: Console = ctx.obj
    console.details = patch
    extent = _LINES.fullmatch(document)
    if lines or extent:
        first = int(extent[2]) if extent else 0
        wanted = (first, int(extent[3] or first)) if extent else None
        return _lines(console, extent[1] if extent else document, wanted, patch=patch)
    value = why.why(console.memory(), document)
    render = partial(why_tree, verbose=verbose)
    console.emit("why", value, partial(with_code, render) if patch else render, long=True)
    return console.served_code(value.damaged)


def _lines(console: Console, document: str, wanted: tuple[int, int] | None, *, patch: bool) -> int:
    """Print the origin of each line of a document."""
    value = blame.blame(console.memory(), document, lines=wanted)
    console.emit("why lines", value, partial(with_code, blame_report) if patch else blame_report, long=True)
    return console.served_code(value.damaged)


def blame_report(value: blame.BlameReport, console: Console) -> str:
    """Format lines: short id of event or commit, time, author, number, text; ``^`` if it may be older."""
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
                _by(source, style),
                style.dim(str(line.number).rjust(widest)),
                line.text,
            )
        )
        above = line.source
    if any(not line.exact for line in value.lines):
        console.say("^ marks lines that may be older than the known history")
    return "\n".join(aligned(rows))


def _short_names(sources: Iterable[blame.BlameSource]) -> dict[str, str]:
    """Return unique prefixes of ids that `events show` and git accept; "unrecorded" has no id."""
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
    return {id: name[:length] if id.startswith("evt_") else name[:SHORT_COMMIT] for id, name in names.items()}


def why_tree(value: why.WhyReport, console: Console, *, verbose: bool = False) -> str:
    """Format the graph as a tree from the document to its commits; show each session once.

    Without ``verbose``, omit sessions, patches and changes, and the ids of events.
    """
    if any(node.mark == why.SHALLOW for node in value.nodes):
        console.say(f"{_OLDER} marks commits where this shallow clone begins; what they add may be older")
    return "\n".join(_Tree(value, console.style, verbose=verbose).lines(value.nodes[0], console.width))


class _Tree:
    """Draws a graph as a tree from its root, and expands each node only once."""

    def __init__(self, value: why.WhyReport, style: Style, *, verbose: bool) -> None:
        self._style = style
        self._verbose = verbose
        self._nodes = {node.id: node for node in value.nodes}
        self._below: dict[str, list[tuple[why.WhyNode, str]]] = {}
        for edge in value.edges:
            self._below.setdefault(edge.from_, []).append((self._nodes[edge.to], edge.relation))
        self._sessions: set[str] = set()

    def lines(self, node: why.WhyNode, room: int | None, relation: str = "") -> list[str]:
        """Return the lines of a node and its children, wrapped to ``room`` columns."""
        drawn = wrapped(self._label(node, relation), room)
        below = [(child, how) for child, how in self._below.pop(node.id, ()) if self._is_shown(child)]
        self._sessions.update(child.id for child, _ in below if child.kind == "session")
        for number, (child, how) in enumerate(below):
            first, rest = ("└─ ", "   ") if number == len(below) - 1 else ("├─ ", "│  ")
            head, *more = self.lines(child, None if room is None else max(room - len(first), LEAST_LAST), how)
            drawn += [self._style.dim(first) + head, *(self._style.dim(rest) + line for line in more)]
        return drawn

    def _is_shown(self, node: why.WhyNode) -> bool:
        """Whether to show a node: a session once, and without ids only for what its label says."""
        if node.kind == "session":
            return node.id not in self._sessions and (self._verbose or bool(node.label))
        return self._verbose or node.kind not in ("patch", "change")

    def _label(self, node: why.WhyNode, relation: str) -> str:
        """Format kind, id and label of a node."""
        bare = node.kind in _NOTES or (node.kind in _BY_ID and not self._verbose)
        kind = "" if bare else f"{self._style.dim(node.kind)} "
        shown = "" if node.kind in _UNNAMED or (bare and node.kind in _BY_ID) else _shown_id(node)
        label = relation if node.kind == "document" and relation else node.label
        name = self._style.name(shown) + "  " if shown else ""
        return f"{kind}{name}{one_line(label)}".rstrip()


def _shown_id(node: why.WhyNode) -> str:
    """The id; that of a commit is short, and marked where a shallow clone begins."""
    if node.kind != "commit":
        return node.id
    return (_OLDER if node.mark == why.SHALLOW else "") + node.id[:SHORT_COMMIT]


def with_code(
    render: Callable[[Any, Console], str], value: blame.BlameReport | why.WhyReport, console: Console
) -> str:
    """Format a value, then its anchored code as recorded and now."""
    blocks = ["\n".join(_block(one, console)) for one in value.code]
    return "\n\n".join([render(value, console), *blocks])


def _block(one: why.CodeThen, console: Console) -> Iterator[str]:
    style = console.style
    yield f"{style.bold(one.place)}  {verdict_word(one.verdict, style)}: {one.reason}"
    if one.commit:
        yield style.dim(f"by {one.commit[:SHORT_COMMIT]} {one_line(one.subject)}")
    then, now = one.then.splitlines(), one.now.splitlines()
    if one.verdict in ("changed", "missing") and not then:
        yield style.dim("the recorded code is not in the known history")
        then = now
    if then == now:
        yield from (f"  {line}" for line in now)
        return
    room = console.width
    if room is None or room < _NARROW:
        yield from _above(then, now, style)
    else:
        yield from _beside(then, now, (room - 5) // 2, style)


def _pairs(then: Sequence[str], now: Sequence[str]) -> Iterator[tuple[str | None, str | None, bool]]:
    """Pair old and new lines, with a flag for equal ones."""
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
