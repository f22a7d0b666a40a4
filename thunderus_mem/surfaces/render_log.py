"""The log and provenance for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from thunderus_mem.surfaces.render import columns, finding_lines
from thunderus_mem.surfaces.text import counted, minute, one_line

if TYPE_CHECKING:
    from thunderus_mem.evidence.provenance import WhyNode
    from thunderus_mem.surfaces.cli.console import Console
    from thunderus_mem.surfaces.style import Style
    from thunderus_mem.verbs.bringing import AddedEvents
    from thunderus_mem.verbs.exporting import Exported
    from thunderus_mem.verbs.history import LogListing, ShownEvent, VerifyReport, WhyReport
    from thunderus_mem.verbs.replaying import ReplayReport

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
    from thunderus_mem.surfaces.output import dumps, plain

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
