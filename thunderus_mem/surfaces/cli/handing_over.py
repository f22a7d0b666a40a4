"""How a report of findings leaves the program: in which format, with which paths, printed or in a file."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, TypeVar

from thunderus_mem.model.errors import ThunderusError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from thunderus_mem.memory import Memory
    from thunderus_mem.model.diagnostic import Diagnostic
    from thunderus_mem.surfaces.cli.console import Console

Value = TypeVar("Value")


def chosen_form(console: Console, given: str, formats: Sequence[str], usual: str, *, named: str = "") -> str:
    """The format to write: ``given`` by option, ``named`` by THUNDERUS_MEM_OUTPUT_FORMAT, what GitHub's log
    understands, or the ``usual`` one. Raises `ThunderusError` for one that is not among ``formats``."""
    form = given or named or ("github" if console.environ.get("GITHUB_ACTIONS") == "true" else usual)
    if form not in formats:
        where = "" if given else " (THUNDERUS_MEM_OUTPUT_FORMAT)"
        raise ThunderusError(f"There is no format {form}{where}.", hint=f"Formats: {', '.join(formats)}")
    return form


def seen_from_top(memory: Memory, found: Sequence[Diagnostic], form: str) -> tuple[Diagnostic, ...]:
    """Findings with paths from the top of the repository, where a format is read there."""
    from thunderus_mem.surfaces.report import REPOSITORY_PATHS

    prefix = memory.git.prefix if form in REPOSITORY_PATHS and memory.git is not None else ""
    return tuple([one._replace(path=prefix + one.path) for one in found] if prefix else found)


def hand_over(
    console: Console,
    command: str,
    value: Value,
    text: Callable[[Value, Console], str],
    output: str,
    *,
    drawn: bool,
    for_people: bool,
) -> None:
    """The report to stdout, or whole to the file ``output``; what people read is safe to print.

    ``drawn``: it is laid out for a terminal, and may be long.
    """
    if output:
        from thunderus_mem.store.files import replace_file

        written = text(value, console)
        kept = console.safe(written) if for_people else written
        replace_file(
            os.path.join(console.start, output), f"{kept}\n".encode() if kept else b"", durable=False
        )
    if console.json or not output:
        console.emit(command, value, text, long=drawn, safe=not for_people)
