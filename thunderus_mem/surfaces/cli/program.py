"""Other programs of the person: found by their full path, started without a shell, waited for in order."""

from __future__ import annotations

import os
import signal
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from subprocess import Popen

_PATIENCE: Final = 2.0


def found_program(name: str, environ: Mapping[str, str]) -> str | None:
    """The full path of a program by its name, or by its full path; ``None`` when there is none.

    Only the absolute folders of PATH count, so that no program of the working tree is taken.
    """
    from shutil import which

    if os.path.dirname(name) and not os.path.isabs(name):
        return None
    folders = environ.get("PATH", os.defpath).split(os.pathsep)
    return which(name, path=os.pathsep.join(folder for folder in folders if os.path.isabs(folder)))


@contextmanager
def interrupts_are_its_own() -> Iterator[None]:
    """Ctrl-C stops what the other program does, not us before it has ended.

    A function, since a program started meanwhile would inherit that the signal is ignored.
    """
    before = signal.signal(signal.SIGINT, lambda number, frame: None)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def leaving_in_order(process: Popen[bytes]) -> Iterator[None]:
    """When we are ended, the other program is first: it has to give the terminal back."""
    import subprocess

    try:
        yield
    except BaseException:
        process.terminate()
        with suppress(subprocess.TimeoutExpired):
            process.wait(_PATIENCE)
        raise


def give(process: Popen[bytes], data: bytes) -> None:
    """All of ``data`` to the program's input, or as much as it reads."""
    assert process.stdin is not None
    with suppress(BrokenPipeError):
        process.stdin.write(data)
    with suppress(BrokenPipeError):
        process.stdin.close()
