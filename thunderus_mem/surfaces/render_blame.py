"""``blame`` for people: a line of the document a line, and before it where it comes from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from thunderus_mem.surfaces.text import aligned, minute

if TYPE_CHECKING:
    from collections.abc import Iterable

    from thunderus_mem.surfaces.cli.console import Console
    from thunderus_mem.verbs.blaming import BlameReport, BlameSource

_EVENT_CHARS = 14
_COMMIT_CHARS = 12
_OLDER = "^"


def blame_report(value: BlameReport, console: Console) -> str:
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


def _short_names(sources: Iterable[BlameSource]) -> dict[str, str]:
    """Beginnings that tell events apart and that `events show` and git take; an unrecorded line has none."""
    names = {source.id: source.id for source in sources}
    for source in sources:
        if source.kind == "event":
            names[source.id] = source.id.removeprefix("evt_")
        elif source.kind == "unrecorded":
            names[source.id] = "unrecorded"
    events = [name for id, name in names.items() if id.startswith("evt_")]
    length = _EVENT_CHARS
    while len({name[:length] for name in events}) < len(set(events)):
        length += 1
    return {
        id: name[:length] if id.startswith("evt_") else name[:_COMMIT_CHARS] for id, name in names.items()
    }
