"""How a writing command ends: the value printed, and 6 when the file waits for the next command."""

from __future__ import annotations

from typing import TYPE_CHECKING

from thunderus_mem.model.errors import Degraded

if TYPE_CHECKING:
    from thunderus_mem.surfaces.cli.console import Console
    from thunderus_mem.verbs.written import Written


def written_code(console: Console, command: str, value: Written) -> int:
    """Print what was written and return the exit code."""
    from thunderus_mem.surfaces.render import written

    console.emit(command, value, written)
    console.tell_others()
    return published_code(console, published=value.published)


def published_code(console: Console, *, published: bool) -> int:
    """0, or 6 with a word: the event is on disk, the file is not yet."""
    if published:
        return 0
    console.talk("The change is in the log; its file could not be put in place yet: the next command does.")
    return Degraded.exit_code
