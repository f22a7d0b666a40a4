"""How a command ends that could do only a part: 6 when a file waits, or lines of the log cannot be read."""

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


def served_code(console: Console, damaged: int) -> int:
    """0, or 6 with a word: what is whole of the log was told, and so many lines of it cannot be read."""
    if not damaged:
        return 0
    from thunderus_mem.surfaces.text import counted

    console.talk(f"{counted(damaged, 'line')} of the log cannot be read; see: thunderus-mem events verify")
    return Degraded.exit_code
