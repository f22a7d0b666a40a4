"""Long output a screen at a time, by the person's own pager.

Which one is said by the environment alone, never by a file of the repository; it is started without a shell.
"""

from __future__ import annotations

import os
import shlex
import signal
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from subprocess import Popen

    from thunderus_mem.surfaces.cli.console import Console

VARIABLES: Final = ("THUNDERUS_MEM_PAGER", "PAGER")
_NO_PAGER: Final = ("", "cat")
# Quit when it fits, pass colours on, leave the text on the screen.
_LESS: Final = "FRX"
_PATIENCE: Final = 2.0


def pager_command(environ: Mapping[str, str]) -> list[str]:
    """The pager's words, its program by its full path; empty when output shall just be printed.

    A program is looked for in the absolute folders of PATH, so that none of the working tree is taken.
    """
    given = next((environ[name] for name in VARIABLES if name in environ), "less").strip()
    if given in _NO_PAGER:
        return []
    try:
        words = shlex.split(given)
    except ValueError:
        return []
    program = found_program(words[0], environ)
    return [program, *words[1:]] if program else []


def found_program(name: str, environ: Mapping[str, str]) -> str | None:
    """The full path of a program by its name, or by its full path; ``None`` when there is none."""
    from shutil import which

    folders = [
        folder for folder in environ.get("PATH", os.defpath).split(os.pathsep) if os.path.isabs(folder)
    ]
    if os.path.dirname(name) and not os.path.isabs(name):
        return None
    return which(name, path=os.pathsep.join(folders))


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

    command = pager_command(console.environ)
    if not command:
        return False
    environment = {"LESS": _LESS, "LESSCHARSET": "utf-8", **console.environ}
    console.flush()
    with _interrupts_are_its_own():
        try:
            process = subprocess.Popen(command, stdin=subprocess.PIPE, env=environment)
        except OSError:
            return False
        with _leaving_in_order(process):
            assert process.stdin is not None
            with suppress(BrokenPipeError):
                process.stdin.write(text.encode("utf-8", "backslashreplace"))
            with suppress(BrokenPipeError):
                process.stdin.close()
            process.wait()
    return True


@contextmanager
def _interrupts_are_its_own() -> Iterator[None]:
    """Ctrl-C stops what the pager does, not the pager, and not us before it has ended.

    A function, since a program started meanwhile would inherit that the signal is ignored.
    """
    before = signal.signal(signal.SIGINT, lambda number, frame: None)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def _leaving_in_order(process: Popen[bytes]) -> Iterator[None]:
    """When we are ended, the pager is first: it has to give the terminal back."""
    import subprocess

    try:
        yield
    except BaseException:
        process.terminate()
        with suppress(subprocess.TimeoutExpired):
            process.wait(_PATIENCE)
        raise
