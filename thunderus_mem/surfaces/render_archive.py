"""What `archive` and `unarchive` did, for people: each document and where it stands now."""

from __future__ import annotations

from typing import TYPE_CHECKING

from thunderus_mem.surfaces.text import aligned

if TYPE_CHECKING:
    from thunderus_mem.surfaces.cli.console import Console
    from thunderus_mem.verbs.archiving import Archived


def archived(value: Archived, console: Console) -> str:
    """Ids and new paths, in columns."""
    if value.recorded:
        console.say(f"Recorded edits made by hand: {', '.join(value.recorded)}")
    if value.kept:
        state = "in the archive" if value.op == "archive" else "in use"
        console.say(f"Already {state}: {', '.join(value.kept)}")
    if value.documents:
        console.say("Archived:" if value.op == "archive" else "Back in use:")
    return "\n".join(aligned([(console.style.name(one.id), one.path) for one in value.documents]))
