"""Values for people: calm, aligned, readable without colour.

Every function takes a value and the console it is for, and returns text; the console prints it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from thunderus_mem.cli.text import aligned, cut, finding_lines, width
from thunderus_mem.errors import Degraded

if TYPE_CHECKING:
    from collections.abc import Sequence

    from thunderus_mem.authoring.edit import Noted
    from thunderus_mem.cli.console import Console
    from thunderus_mem.memory.transaction import Written

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


# How a command ends that could do only a part: 6 when a file waits, or lines of the log cannot be read.


def written_code(console: Console, command: str, value: Written) -> int:
    """Print what was written and return the exit code."""

    console.emit(command, value, written)
    console.tell_others()
    return published_code(console, published=value.published)


def published_code(console: Console, *, published: bool) -> int:
    """0, or 6 with a word: the event is on disk, the file is not yet."""
    if published:
        return 0
    console.talk("The change is in the log; its file could not be put in place yet: the next command does.")
    return Degraded.exit_code


def served_code(console: Console, damaged: int) -> int:
    """0, or 6 with a word: what is whole of the log was told, and so many lines of it cannot be read."""
    if not damaged:
        return 0
    from thunderus_mem.cli.text import counted

    console.talk(f"{counted(damaged, 'line')} of the log cannot be read; see: thunderus-mem events verify")
    return Degraded.exit_code
