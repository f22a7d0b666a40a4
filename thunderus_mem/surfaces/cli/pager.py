"""Long output a screen at a time, by the person's own pager.

Which one is said by the environment alone, never by a file of the repository; it is started without a shell.
"""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

    from thunderus_mem.surfaces.cli.console import Console

VARIABLES: Final = ("THUNDERUS_MEM_PAGER", "PAGER")
_NO_PAGER: Final = ("", "cat")
# Quit when it fits, pass colours on, leave the text on the screen.
_LESS: Final = "FRX"


def pager_command(environ: Mapping[str, str]) -> list[str]:
    """The pager's words, its program by its full path; empty when output shall just be printed."""
    from thunderus_mem.surfaces.cli.program import found_program

    given = next((environ[name] for name in VARIABLES if name in environ), "less").strip()
    if given in _NO_PAGER:
        return []
    try:
        words = shlex.split(given)
    except ValueError:
        return []
    program = found_program(words[0], environ)
    return [program, *words[1:]] if program else []


def is_long(text: str, columns: int, lines: int) -> bool:
    """Whether a text takes more rows than the terminal has, one of them for the prompt."""
    from thunderus_mem.surfaces.text import width

    rows = 0
    for line in text.split("\n"):
        rows += max(1, -(-width(line) // max(columns, 1)))
        if rows >= lines:
            return True
    return False


def paged(text: str, console: Console) -> bool:
    """Show ``text`` in the pager and wait for it; false when there is none, and nothing was shown.

    A person who leaves early has read enough: that is no error.
    """
    import subprocess

    from thunderus_mem.surfaces.cli.program import give, interrupts_are_its_own, leaving_in_order

    command = pager_command(console.environ)
    if not command:
        return False
    environment = {"LESS": _LESS, "LESSCHARSET": "utf-8", **console.environ}
    console.flush()
    with interrupts_are_its_own():
        try:
            process = subprocess.Popen(command, stdin=subprocess.PIPE, env=environment)
        except OSError:
            return False
        with leaving_in_order(process):
            give(process, text.encode("utf-8", "backslashreplace"))
            process.wait()
    return True
