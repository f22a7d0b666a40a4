"""Work that may end its process or never come back, tried in a child that can be lost."""

from __future__ import annotations

import contextlib
import os
import warnings
from typing import TYPE_CHECKING, Final, NoReturn

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["FAILS", "SLOW", "UNTRIED", "trial"]

FAILS: Final = "its parser fails on it"
SLOW: Final = "its parser takes too long"
UNTRIED: Final = "its parser may fail on it, which cannot be tried here"

_SECONDS: Final = 3
"""Of processor time: what else the machine does says nothing of the file."""
_PATIENCE: Final = 20_000
"""Milliseconds of the clock, for work that waits instead of working."""
_MEMORY: Final = 1 << 30
_MOST_FILES: Final = 65_536


def trial(work: Callable[[], object]) -> str:
    """Do the work in a child process, and say why it did not end well; "" when it did.

    All modules the work needs are to be imported before. Nothing it does is seen here.
    """
    if not hasattr(os, "fork"):
        return UNTRIED
    import resource as _  # noqa: F401  the child shall import nothing
    from select import poll

    reading, writing = os.pipe()
    try:
        child = _fork()
    except OSError:
        os.close(reading)
        os.close(writing)
        return UNTRIED
    if not child:
        _try(work, writing)
    os.close(writing)
    answer, ended = b"", False
    try:
        waiting = poll()
        waiting.register(reading)
        ended = bool(waiting.poll(_PATIENCE))
        answer = os.read(reading, 1) if ended else b""
    finally:
        os.close(reading)
        late = _end(child, kill=not ended)
    return "" if answer else SLOW if late else FAILS


def _fork() -> int:
    with warnings.catch_warnings():
        # Other threads may run: the child does not need what they may hold, and is given up when it waits.
        warnings.simplefilter("ignore", DeprecationWarning)
        return os.fork()


def _end(child: int, *, kill: bool) -> bool:
    """Whether the child was ended by a limit of time; it is gone afterwards."""
    from signal import SIGKILL, SIGXCPU

    with contextlib.suppress(ProcessLookupError, ChildProcessError):  # somebody else may wait for children
        if kill:
            os.kill(child, SIGKILL)
        status = os.waitpid(child, 0)[1]
        return os.WIFSIGNALED(status) and os.WTERMSIG(status) in (SIGKILL, SIGXCPU)
    return kill


def _try(work: Callable[[], object], writing: int) -> NoReturn:
    """What the child does. No way leads out of here, not even an exception."""
    code = 1
    try:
        _limit()
        silent = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(silent, stream)
        # A lock, a database or a pipe of the parent must not stay open because the child lives on.
        os.closerange(3, writing)
        os.closerange(writing + 1, _MOST_FILES)
        work()
        os.write(writing, b"1")
        code = 0
    finally:
        os._exit(code)


def _limit() -> None:
    import resource

    limits = {resource.RLIMIT_CORE: 0, resource.RLIMIT_CPU: _SECONDS}
    with contextlib.suppress(OSError), open("/proc/self/statm", "rb") as stream:
        limits[resource.RLIMIT_AS] = int(stream.read().split()[0]) * resource.getpagesize() + _MEMORY
    for what, most in limits.items():
        hard = resource.getrlimit(what)[1]
        soft = most if hard == resource.RLIM_INFINITY else min(most, hard)
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(what, (soft, hard))
