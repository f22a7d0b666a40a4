"""The log and provenance for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from thunderus_mem.surfaces.render import columns, finding_lines
from thunderus_mem.surfaces.text import counted, minute, one_line

if TYPE_CHECKING:
    from thunderus_mem.evidence.provenance import WhyNode
    from thunderus_mem.surfaces.cli.console import Console
    from thunderus_mem.surfaces.style import Style
    from thunderus_mem.verbs.history import LogListing, ShownEvent, VerifyReport, WhyReport

_SHORT_COMMIT = 12
_NAMED = 2


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
    return columns(rows, console)


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
    return columns(rows, console)


def why_report(value: WhyReport, console: Console) -> str:
    """The tree from a document to its commits; a session is told where it is first met."""
    return "\n".join(_tree(value.tree, console.style, set()))


def _tree(node: WhyNode, style: Style, told: set[str]) -> list[str]:
    lines = [_label(node, style)]
    children = [child for child in node.children if child.kind != "session" or child.id not in told]
    told.update(child.id for child in children if child.kind == "session")
    for number, child in enumerate(children):
        last = number == len(children) - 1
        first, rest = ("└─ ", "   ") if last else ("├─ ", "│  ")
        head, *below = _tree(child, style, told)
        lines += [style.dim(first) + head, *(style.dim(rest) + line for line in below)]
    return lines


def _label(node: WhyNode, style: Style) -> str:
    """Kind, id and what is known of it."""
    shown = node.id[:_SHORT_COMMIT] if node.kind == "commit" else node.id
    name = style.name(shown) + "  " if shown else ""
    return f"{style.dim(node.kind)} {name}{one_line(node.label)}".rstrip()


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
