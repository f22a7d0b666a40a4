"""Values for people: calm, aligned, readable without colour.

Every function takes a value and the console it is for, and returns text; the console prints it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from thunderus_mem.model.diagnostic import Severity
from thunderus_mem.surfaces.text import aligned, counted, cut, day, one_line, width

if TYPE_CHECKING:
    from collections.abc import Sequence

    from thunderus_mem.model.diagnostic import Diagnostic
    from thunderus_mem.surfaces.cli.console import Console
    from thunderus_mem.surfaces.cli.settings import Settings
    from thunderus_mem.surfaces.style import Style
    from thunderus_mem.verbs.reading import Listed, Listing, Shown
    from thunderus_mem.verbs.status import StatusReport
    from thunderus_mem.verbs.writing import Noted
    from thunderus_mem.verbs.written import Written

_NAMED = 3
_GAP, _LAST, _LEAST = 2, 24, 12
_DONE = {
    "add": "Added",
    "edit": "Changed",
    "remove": "Removed",
    "supersede": "Superseded",
    "link": "Linked",
    "recap": "Wrote",
}


def columns(rows: Sequence[Sequence[str]], console: Console, *, whole: int = 0) -> str:
    """Rows in columns; on a terminal they are cut to what fits: the last one first, then the widest.

    The first ``whole`` columns are never cut.
    """
    room = console.width
    if not rows or room is None:
        return "\n".join(aligned(rows))
    *lead, last = ([row[at] for row in rows] for at in range(len(rows[0])))
    widths = [max(map(width, column)) for column in lead]
    while sum(widths) + _GAP * len(widths) > room - _LAST and max(widths[whole:], default=0) > _LEAST:
        widths[widths.index(max(widths[whole:]), whole)] -= 1
    rest = max(room - sum(widths) - _GAP * len(widths), _LEAST)
    fitted = [[cut(cell, most) for cell in column] for column, most in zip(lead, widths, strict=True)]
    return "\n".join(aligned(list(zip(*fitted, [cut(cell, rest) for cell in last], strict=True))))


def severity_word(severity: Severity, style: Style) -> str:
    """``error``, ``warning`` or ``note``, in its colour."""
    if severity is Severity.ERROR:
        return style.error(severity.value)
    return style.warning(severity.value) if severity is Severity.WARNING else style.dim(severity.value)


def finding_line(finding: Diagnostic, style: Style) -> str:
    """One finding in one line: place, weight, rule (what `add` alone finds has none), message."""
    place = finding.path + (f":{finding.line}:{finding.column}" if finding.line else "")
    head = f"{style.name(place)}: " if place else ""
    rule = f" {finding.rule}" if finding.rule else ""
    return f"{head}{severity_word(finding.severity, style)}{rule} {finding.message}"


def finding_lines(findings: Sequence[Diagnostic], style: Style) -> list[str]:
    """Findings with their hints below."""
    lines: list[str] = []
    for finding in findings:
        lines.append(finding_line(finding, style))
        if finding.hint:
            lines.append(f"    {style.dim(finding.hint)}")
    return lines


def written(value: Written, console: Console) -> str:
    """What was written: findings on stderr, then id and path."""
    style = console.style
    for line in finding_lines(value.warnings, style):
        console.talk(line)
    if value.recorded:
        console.say(f"Recorded edits made by hand: {', '.join(value.recorded)}")
    if value.proposed:
        console.say(f"Filed for review; nothing is written yet: thunderus-mem patch show {value.proposed}")
        return f"{style.name(value.proposed)}  {style.name(value.id)}  {value.path}"
    if value.dry_run:
        console.say(f"Nothing is written; this would be {value.path}:")
        return value.text.rstrip("\n")
    if not value.changed:
        console.say("Nothing to change.")
    else:
        console.say(f"{_DONE.get(value.op, 'Wrote')}:")
    return f"{style.name(value.id)}  {value.path}"


def noted(value: Noted, console: Console) -> str:
    """The id of the note's event."""
    return console.style.name(value.event_id)


def shown(value: Shown, console: Console) -> str:
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


def _said_status(value: Shown) -> str:
    if value.status == "unknown" and not value.anchors:
        return "" if value.archived else "unanchored"
    who = {"user": "confirmed by a person", "agent": "confirmed by an agent"}.get(value.confirmed_by, "")
    return f"{value.status} ({who})" if who and value.status != "stale" else value.status


def _anchors(value: Shown, style: Style) -> list[tuple[str, str]]:
    """What the code says, an anchor a line."""
    from thunderus_mem.surfaces.render_evidence import verdict_word

    rows = []
    for one in value.anchors:
        more = one.reason if one.verdict != "verified" else one.note
        rows.append(
            ("code", f"{one.place}  {verdict_word(one.verdict, style)}" + (f": {more}" if more else ""))
        )
    return rows


def _body(value: Shown, console: Console) -> str:
    """The text as it is; where it is drawn, without a heading that says the title again."""
    body = value.body.replace("\r\n", "\n").strip("\n")
    room = console.room
    if room is None:
        return body
    from thunderus_mem.surfaces.drawing import markdown

    first, _, rest = body.partition("\n")
    if first.startswith("# ") and one_line(first[2:]) == one_line(value.title):
        body = rest.strip("\n")
    return markdown(console.clean(body), console, room)


def listing(value: Listing, console: Console) -> str:
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
        return columns(rows, console)
    kept = _fitting([head, *rows], console.width)
    return columns([[row[at] for at in kept] for row in (head, *rows)], console, whole=1)


def _without_fourth(row: tuple[str, ...]) -> tuple[str, ...]:
    return (*row[:3], *row[4:])


def _fitting(rows: Sequence[Sequence[str]], room: int) -> list[int]:
    """The columns of a listing that leave its titles room: an id says its kind, and a day matters least."""
    kept = list(range(len(rows[0])))
    for column in kept[1:-1]:
        taken = sum(max(width(row[at]) for row in rows) + _GAP for at in kept[:-1])
        if taken <= room - _LAST - _LEAST:
            break
        kept.remove(column)
    return kept


def _standing(doc: Listed) -> str:
    """In a word; nothing of a document that no code could speak for or against, and nobody has confirmed."""
    if doc.archived:
        return "archived"
    status = doc.status if doc.anchored or doc.status != "unknown" else ""
    return "superseded" if doc.superseded_by else status


def listing_ids(value: Listing, console: Console) -> str:
    """Only the ids, one a line."""
    return "\n".join(doc.id for doc in value.documents)


def status(value: StatusReport, console: Console) -> str:
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
    more = ", …" if len(names) > _NAMED else ""
    return f" ({', '.join(names[:_NAMED])}{more})"


def settings(value: Settings, console: Console, *, origin: bool) -> str:
    """Settings as ``key = value``, and where each value comes from."""
    from thunderus_mem.store.config_text import toml_value

    style = console.style
    rows = []
    for item in value.settings:
        text = f"{style.name(item.key)} = {toml_value(item.value)}"
        place = {"default": "default", "file": item.file, "environment": item.variable}[item.origin]
        rows.append((text, style.dim(place)) if origin else (text,))
    return "\n".join(aligned(rows))
