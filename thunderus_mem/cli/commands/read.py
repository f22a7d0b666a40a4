"""``show list status``: read documents and the state of the memory."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Annotated, Final

from thunderus_mem.authoring import show
from thunderus_mem.cli.options import Call, Commands, Option
from thunderus_mem.cli.params import (
    Archived,
    Budget,
    DocumentId,
    Episode,
    Filters,
    Kinds,
    OnlyIds,
    Tags,
    filter_of,
)
from thunderus_mem.cli.text import (
    GAP,
    LEAST_CELL,
    Style,
    aligned,
    columns,
    counted,
    cut,
    day,
    flowing,
    found_lines,
    one_line,
    verdict_word,
    width,
    wrapped,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from thunderus_mem.cli.console import Console

app = Commands()

_MOST_NAMED = 3
_ID_PART = 3
"""An id takes at most one part of so many of the terminal, and what whole titles leave."""
_LEAST_TITLE = 40
"""Columns of a title that matter more than the last change."""


@app.command("show")
def show_command(
    ctx: Call,
    document: DocumentId,
    raw: Annotated[bool, Option("--raw", help="Print the file unchanged, with its frontmatter.")] = False,
) -> None:
    """Print a document: metadata, then its text."""
    console: Console = ctx.obj
    value = show.show(console.memory(), document)
    if raw and not console.json:
        console.raw(value.text)
        return
    console.details = raw
    console.emit("show", value._replace(body="") if raw else value, shown, long=True)


@app.command("list")
def list_command(
    ctx: Call,
    filters: Filters = None,
    kind: Kinds = None,
    tag: Tags = None,
    episode: Episode = "",
    archived: Archived = False,
    order: Annotated[
        str, Option("--sort", metavar="KEY", help="Sort by id, updated, created, title or tokens.")
    ] = "id",
    limit: Annotated[
        int, Option("--limit", "-n", metavar="N", min=0, help="Documents to show; 0 for all.")
    ] = 0,
    ids: OnlyIds = False,
    budget: Budget = 0,
) -> None:
    """List documents, sorted by id, decisions by number. Times are sorted newest first, tokens most first.

    Filters: tag: kind: path: state: verdict: status: category: run_id: since: before:.
    """
    console: Console = ctx.obj
    console.budget = budget
    wanted = filter_of(kind, tag, episode, archived=archived)
    value = show.list_documents(console.memory(), wanted, " ".join(filters or ()), order=order, limit=limit)
    if not value.documents:
        console.say("No documents")
    console.emit("list", value, listing_ids if ids else listing, long=not ids)
    if value.left_out:
        console.say(f"{value.left_out:,} more not shown; use -n")


@app.command("status")
def status_command(ctx: Call) -> None:
    """Show counts by kind, stale or unrecorded documents, the state of the index, and the next step."""
    console: Console = ctx.obj
    console.emit("status", show.status(console.memory()), state_of_memory)


def shown(value: show.Shown, console: Console) -> str:
    """Format a document: title, metadata, then its text, rendered on a capable terminal."""
    style = console.style
    facts = [
        ("id", style.name(value.id)),
        ("kind", value.kind),
        ("path", value.path),
        ("archived", "yes; to reverse: `thunderus-mem archive --undo`" if value.archived else ""),
        ("tags", ", ".join(value.tags)),
        ("aliases", ", ".join(value.aliases)),
        ("state", value.state),
        ("verdict", _verdict(value, style)),
        ("updated", day(value.updated) + (f" (created {day(value.created)})" if value.created else "")),
        ("reads", value.access_count and f"{value.access_count:,}, last on {day(value.last_accessed_at)}"),
        ("links", ", ".join(f"{link.rel} {link.target}" for link in value.links if not link.incoming)),
        ("linked by", ", ".join(f"{link.target} ({link.rel})" for link in value.links if link.incoming)),
        ("replaced by", style.warning(value.superseded_by)),
        ("warning", style.warning(value.injection and f"possible prompt injection: {value.injection}")),
    ]
    facts += _anchors(value, style) if value.anchors else []
    rows = [(style.dim(name), text) for name, text in facts if text]
    return "\n".join(
        [style.bold(one_line(value.title)), "", *aligned(rows), "", _body(value, console)]
    ).rstrip()


def _verdict(value: show.Shown, style: Style) -> str:
    """Return the verdict, and who verified the document; "" for an archived one, which has its own line."""
    who = {"user": "verified by a person", "agent": "verified by an agent"}.get(value.confirmed_by, "")
    if value.archived:
        return who
    if value.verdict == "verified" and value.status == "unknown":
        return "verified (code unchanged since it was anchored; not confirmed)"
    if value.verdict == "verified" and who:
        return who
    return verdict_word(value.verdict, style) if value.verdict else ""


def _anchors(value: show.Shown, style: Style) -> list[tuple[str, str]]:
    """Format the anchors with their verdicts, one per line."""
    rows = []
    for one in value.anchors:
        more = one.reason if one.verdict != "verified" else one.note
        rows.append(
            ("code", f"{one.place}  {verdict_word(one.verdict, style)}" + (f": {more}" if more else ""))
        )
    return rows


def _body(value: show.Shown, console: Console) -> str:
    """Return the text; when rendered, without a heading that repeats the title."""
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
    """Format documents as id, kind, last change, state and verdict (if any has one), and title.

    On a terminal the title comes first, and titles and ids are cut to fit.
    """
    style = console.style
    if console.width is not None and value.documents:
        return _fitted_listing(value.documents, style, console.width)
    rows: list[tuple[str, ...]] = [
        (style.name(doc.id), doc.kind, day(doc.updated), doc.state, _list_verdict(doc), one_line(doc.title))
        for doc in value.documents
    ]
    used = [at for at in range(6) if at not in (3, 4) or any(row[at] for row in rows)]
    return columns([tuple(row[at] for at in used) for row in rows], None)


def _fitted_listing(documents: Sequence[show.ListedDocument], style: Style, room: int) -> str:
    """Format documents as title, short id, what to note, and the last change if there is room for it."""
    numbers = Counter(doc.number for doc in documents)
    rows = [
        [
            one_line(doc.title),
            style.name(_short_id(doc, numbers)),
            _noted(doc, style),
            day(doc.updated),
        ]
        for doc in documents
    ]
    rows = [[*map(style.dim, ("TITLE", "ID", "NOTE", "UPDATED"))], *rows]
    if not any(row[2] for row in rows[1:]):
        rows = [[title, id, updated] for title, id, _, updated in rows]
    titles, ids = (max(width(row[at]) for row in rows) for at in (0, 1))
    most = max(room // _ID_PART, _beside_title(rows, room) + ids - titles)
    rows = [[title, cut(id, most), *others] for title, id, *others in rows]
    wanted = min(titles, _LEAST_TITLE)
    if _beside_title(rows, room) < wanted:
        rows = [row[:-1] for row in rows]
    left = max(_beside_title(rows, room), LEAST_CELL)
    return "\n".join(aligned([[cut(title, left), *others] for title, *others in rows]))


def _beside_title(rows: Sequence[Sequence[str]], room: int) -> int:
    """Return the columns that the other cells leave for the title."""
    return room - sum(GAP + max(map(width, cells)) for cells in list(zip(*rows, strict=True))[1:])


def _short_id(doc: show.ListedDocument, numbers: Mapping[int | None, int]) -> str:
    """Return the number of a decision if no other one listed has it, as commands accept it; else the id."""
    return f"ADR-{doc.number}" if doc.number and numbers[doc.number] == 1 else doc.id


def _noted(doc: show.ListedDocument, style: Style) -> str:
    """Return what to know before relying on a document: its verdict, and the state if not accepted."""
    verdict = _list_verdict(doc)
    words = [verdict_word(verdict, style)] if verdict not in ("", "verified") else []
    words += [doc.state] if doc.state not in ("", "accepted") else []
    return ", ".join(words) or verdict_word(verdict, style)


def _list_verdict(doc: show.ListedDocument) -> str:
    """Return the verdict; "" for a document without anchors that was never verified."""
    return "" if doc.verdict == "unanchored" else doc.verdict


def listing_ids(value: show.Listing, console: Console) -> str:
    """Format only the ids, one per line."""
    return "\n".join(doc.id for doc in value.documents)


_INDEX: Final = {"fresh": "up to date", "behind": "out of date"}


def state_of_memory(value: show.StatusReport, console: Console) -> str:
    """Format the state of the memory, and the next step."""
    style = console.style
    total = sum(value.counts.values())
    kinds = ", ".join(f"{number:,} {kind}" for kind, number in sorted(value.counts.items()) if number)
    rows = [("memory", value.root), *(("parent", root) for root in value.also)]
    rows += [("documents", f"{total:,}" + (f" ({kinds})" if kinds else ""))]
    if value.archived:
        rows.append(("archived", f"{value.archived:,} (use --archived)"))
    files = "file" if len(value.unreadable) == 1 else "files"
    proposals = "proposal" if value.expired == 1 else "proposals"
    troubles = [
        ("conflicts", len(value.conflicts), "with merge conflicts", value.conflicts),
        ("missing", len(value.gone), "deleted outside this program; writing is blocked", value.gone),
        ("stale", len(value.stale), "may be out of date; see: thunderus-mem check", ()),
        ("invalid", len(value.unreadable), files, value.unreadable),
        (
            "unrecorded",
            len(value.unrecorded),
            "edited by hand; will be recorded by the next write",
            value.unrecorded,
        ),
        (
            "not logged",
            len(value.not_logged),
            "whose name may contain a secret; rename it",
            value.not_logged,
        ),
        ("interrupted", value.pending, "interrupted; will be recovered by the next write", ()),
        ("expired", value.expired, f"{proposals} not reviewed in time", ()),
    ]
    for name, number, text, names in troubles:
        if number:
            rows.append((name, f"{style.warning(f'{number:,}')} {text}{_some(names)}"))
    if value.proposals:
        age = f"{counted(value.oldest_days, 'day')} old" if value.oldest_days else "from today"
        rows.append(("review", f"{counted(value.proposals, 'pending proposal')}, the oldest {age}"))
    rows += [("log", counted(value.events, "event")), ("index", _INDEX.get(value.index, value.index))]
    lines = flowing([(style.dim(name), text) for name, text in rows], console.width)
    lines += found_lines(value.found)
    if value.next_step:
        lines += ["", *wrapped(f"Next: {value.next_step}", console.width)]
    return "\n".join(lines)


def _some(names: Sequence[str]) -> str:
    """The first names in brackets."""
    if not names:
        return ""
    more = ", …" if len(names) > _MOST_NAMED else ""
    return f" ({', '.join(names[:_MOST_NAMED])}{more})"
