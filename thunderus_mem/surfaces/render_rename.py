"""What `rename` did, for people: the new name, who followed, and where the old one still stands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from thunderus_mem.surfaces.text import counted

if TYPE_CHECKING:
    from thunderus_mem.surfaces.cli.console import Console
    from thunderus_mem.verbs.renaming import Renamed

_SHOWN = 20


def renamed(value: Renamed, console: Console) -> str:
    """The new id and path; with a plan the diff."""
    style = console.style
    if value.recorded:
        console.say(f"Recorded edits made by hand: {', '.join(value.recorded)}")
    if value.proposed:
        console.say(f"Filed for review; nothing is written yet: thunderus-mem patch show {value.proposed}")
        return f"{style.name(value.proposed)}  {style.name(value.id)}  {value.path}"
    if not value.changed:
        console.say("Nothing to change.")
    elif not value.planned:
        console.say(f"Renamed {value.old_id}:")
    lines = [f"{style.name(value.id)}  {value.path}"]
    if value.planned and value.diff:
        console.say(f"Nothing is written; {value.old_id} would be:")
        lines += ["", value.diff.rstrip("\n")]
    return "\n".join(lines)


def say_more(value: Renamed, console: Console) -> None:
    """After the new name: who followed, and where the old one stands."""
    if value.followed:
        verb = "would follow" if value.planned else "followed"
        console.say(
            f"{counted(len(value.followed), 'document')} {verb}: {', '.join(value.followed[:_SHOWN])}"
        )
    if value.mentions:
        shown = ", ".join(f"{one.path}:{one.line}" for one in value.mentions[:_SHOWN])
        more = f" and {len(value.mentions) - _SHOWN} more" if len(value.mentions) > _SHOWN else ""
        console.say(f"The old name still stands in {shown}{more}.")
