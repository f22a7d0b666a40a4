"""``show list status``: reading documents, and how the memory is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from thunderus_mem.authoring import show
from thunderus_mem.cli.params import DocumentId, Kinds, OnlyIds
from thunderus_mem.cli.text import Style, aligned, columns, counted, day, fitting, one_line, verdict_word

if TYPE_CHECKING:
    from collections.abc import Sequence

    from thunderus_mem.cli.console import Console

app = typer.Typer()

_MOST_NAMED = 3


@app.command("show")
def show_command(
    ctx: typer.Context,
    document: DocumentId,
    raw: Annotated[bool, typer.Option("--raw", help="The file as it is, fields and all.")] = False,
) -> None:
    """Print a document: what it is, then its text."""
    console: Console = ctx.obj
    value = show.show(console.memory(), document)
    if raw and not console.json:
        console.raw(value.text)
        return
    console.emit("show", value, shown, long=True)


@app.command("list")
def list_command(
    ctx: typer.Context,
    kind: Kinds = None,
    tag: Annotated[list[str] | None, typer.Option("--tag", "-t", help="Only with this tag; repeat.")] = None,
    statuses: Annotated[list[str] | None, typer.Option("--status", help="Only this status; repeat.")] = None,
    path: Annotated[str, typer.Option(help="Only paths that contain this.")] = "",
    since: Annotated[str, typer.Option(metavar="DATE", help="Updated on this day or later.")] = "",
    before: Annotated[str, typer.Option(metavar="DATE", help="Updated before this day.")] = "",
    archived: Annotated[bool, typer.Option("--archived", help="Those in the archive as well.")] = False,
    ids: OnlyIds = False,
) -> None:
    """List documents, by id."""
    console: Console = ctx.obj
    value = show.list_documents(
        console.memory(),
        kinds=tuple(kind or ()),
        tags=tuple(tag or ()),
        statuses=tuple(statuses or ()),
        path=path,
        since=since,
        before=before,
        archived=archived,
    )
    if not value.documents:
        console.say("No documents.")
    console.plain &= not ids  # ids alone are plain already
    console.emit("list", value, listing_ids if ids else listing, long=not ids)


@app.command("status")
def status_command(ctx: typer.Context) -> None:
    """Counts by kind, what is stale or unrecorded, how fresh the index is, and one next step."""
    console: Console = ctx.obj
    console.emit("status", show.status(console.memory()), state_of_memory)


def shown(value: show.Shown, console: Console) -> str:
    """A document: title, facts about it in a column, then its text, drawn where that can be."""
    style = console.style
    facts = [
        ("id", style.name(value.id)),
        ("kind", value.kind),
        ("path", value.path),
        ("archived", "set aside; `thunderus-mem unarchive` brings it back" if value.archived else ""),
        ("tags", ", ".join(value.tags)),
        ("also", ", ".join(value.aliases)),
        ("status", _said_status(value)),
        ("updated", day(value.updated) + (f" (created {day(value.created)})" if value.created else "")),
        ("links", ", ".join(f"{link.rel} {link.target}" for link in value.links if not link.incoming)),
        ("linked by", ", ".join(f"{link.target} ({link.rel})" for link in value.links if link.incoming)),
        ("replaced by", style.warning(value.superseded_by)),
    ]
    facts += _anchors(value, style) if value.anchors else []
    rows = [(style.dim(name), text) for name, text in facts if text]
    return "\n".join(
        [style.bold(one_line(value.title)), "", *aligned(rows), "", _body(value, console)]
    ).rstrip()


def _said_status(value: show.Shown) -> str:
    if value.status == "unknown" and not value.anchors:
        return "" if value.archived else "unanchored"
    who = {"user": "confirmed by a person", "agent": "confirmed by an agent"}.get(value.confirmed_by, "")
    return f"{value.status} ({who})" if who and value.status != "stale" else value.status


def _anchors(value: show.Shown, style: Style) -> list[tuple[str, str]]:
    """What the code says, an anchor a line."""
    rows = []
    for one in value.anchors:
        more = one.reason if one.verdict != "verified" else one.note
        rows.append(
            ("code", f"{one.place}  {verdict_word(one.verdict, style)}" + (f": {more}" if more else ""))
        )
    return rows


def _body(value: show.Shown, console: Console) -> str:
    """The text as it is; where it is drawn, without a heading that says the title again."""
    body = value.body.replace("\r\n", "\n").strip("\n")
    room = console.room
    if room is None:
        return body
    from thunderus_mem.cli.drawing import markdown

    first, _, rest = body.partition("\n")
    if first.startswith("# ") and one_line(first[2:]) == one_line(value.title):
        body = rest.strip("\n")
    return markdown(console.clean(body), console, room)


def listing(value: show.Listing, console: Console) -> str:
    """Documents by id, kind, last change, standing (where any has one) and title; on a terminal with a
    headline, and only what fits."""
    style = console.style
    rows: list[tuple[str, ...]] = [
        (style.name(doc.id), doc.kind, day(doc.updated), _standing(doc), one_line(doc.title))
        for doc in value.documents
    ]
    head: tuple[str, ...] = tuple(map(style.dim, ("ID", "KIND", "UPDATED", "STATUS", "TITLE")))
    if not any(row[3] for row in rows):
        head, rows = _without_fourth(head), [_without_fourth(row) for row in rows]
    if console.width is None or not rows:
        return columns(rows, None)
    # An id says its kind, and a day matters least.
    kept = fitting([head, *rows], console.width)
    return columns([[row[at] for at in kept] for row in (head, *rows)], console.width, whole=1)


def _without_fourth(row: tuple[str, ...]) -> tuple[str, ...]:
    return (*row[:3], *row[4:])


def _standing(doc: show.ListedDocument) -> str:
    """In a word; nothing of a document that no code could speak for or against, and nobody has confirmed."""
    if doc.archived:
        return "archived"
    status = doc.status if doc.anchored or doc.status != "unknown" else ""
    return "superseded" if doc.superseded_by else status


def listing_ids(value: show.Listing, console: Console) -> str:
    """Only the ids, one a line."""
    return "\n".join(doc.id for doc in value.documents)


def state_of_memory(value: show.StatusReport, console: Console) -> str:
    """The state of the memory on a few lines, and the next step."""
    style = console.style
    total = sum(value.counts.values())
    kinds = ", ".join(f"{number:,} {kind}" for kind, number in sorted(value.counts.items()) if number)
    rows = [("memory", value.root), *(("above it", root) for root in value.also)]
    rows += [("documents", f"{total:,}" + (f" ({kinds})" if kinds else ""))]
    if value.archived:
        rows.append(("archived", f"{value.archived:,} more; --archived finds them"))
    troubles = [
        ("in conflict", len(value.conflicts), "could not be merged by git", value.conflicts),
        ("gone", len(value.gone), "are gone, and nothing was written since", value.gone),
        ("stale", len(value.stale), "no longer agree with the code", value.stale),
        ("unreadable", len(value.unreadable), "cannot be read", value.unreadable),
        ("unrecorded", len(value.unrecorded), "edited by hand; the next write records it", value.unrecorded),
        ("pending", value.pending, "waiting to be put in place", ()),
        ("expired", value.expired, "proposed, and nobody decided in time", ()),
    ]
    for name, number, text, names in troubles:
        if number:
            rows.append((name, f"{style.warning(f'{number:,}')} {text}{_some(names)}"))
    if value.proposals:
        verb = "waits" if value.proposals == 1 else "wait"
        age = counted(value.oldest_days, "day") if value.oldest_days else "from today"
        rows.append(("review", f"{counted(value.proposals, 'proposal')} {verb}, the oldest {age}"))
    rows += [("log", counted(value.events, "event")), ("index", value.index)]
    lines = aligned([(style.dim(name), text) for name, text in rows])
    if value.next_step:
        lines += ["", f"Next: {value.next_step}"]
    return "\n".join(lines)


def _some(names: Sequence[str]) -> str:
    """The first names in brackets."""
    if not names:
        return ""
    more = ", …" if len(names) > _MOST_NAMED else ""
    return f" ({', '.join(names[:_MOST_NAMED])}{more})"
