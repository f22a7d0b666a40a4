"""The command line in this process: half the work of a process for each command, which copies memory.

What needs a process is left to `Server`: another user, a signal, a failpoint, variables that an interpreter
reads when it starts.
"""

from __future__ import annotations

import io
import os
import signal
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from tests.support.command_server import Done, Server
from thunderus_mem.cli.app import run

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_NEEDS_A_PROCESS = ("PYTHON", "LANG", "LC_", "TZ", "MALLOC", "LD_", "FAILPOINT")
"""Beginnings of variables that are read when a process starts, not by a command."""


@contextmanager
def _streams(stdin: bytes) -> Iterator[tuple[io.BytesIO, io.BytesIO]]:
    """No terminal; what is printed is kept."""
    before = sys.stdin, sys.stdout, sys.stderr
    handlers = [(number, signal.getsignal(number)) for number in (signal.SIGTERM, signal.SIGHUP)]
    out, err = io.BytesIO(), io.BytesIO()
    sys.stdin = io.TextIOWrapper(io.BytesIO(stdin), "utf-8")
    sys.stdout = io.TextIOWrapper(out, "utf-8")
    sys.stderr = io.TextIOWrapper(err, "utf-8", "backslashreplace")
    try:
        yield out, err
    finally:
        sys.stdin, sys.stdout, sys.stderr = before
        for number, handler in handlers:
            signal.signal(number, handler)


def run_here(*arguments: str, stdin: bytes = b"") -> Done:
    """Run one command line in this process, with its folder and environment."""
    with _streams(stdin) as (out, err):
        code = run(list(arguments))
        sys.stdout.flush()
        sys.stderr.flush()
        texts: list[Any] = [stream.getvalue().decode("utf-8", "surrogateescape") for stream in (out, err)]
    return Done(code, *texts)


@contextmanager
def _placed(folder: str, environment: Mapping[str, str]) -> Iterator[None]:
    """Be in this folder, with this environment."""
    variables, before = dict(os.environ), os.getcwd()
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(variables)
        os.chdir(before)


class NearServer(Server):
    """Runs commands in this process, except those that need one of their own."""

    def run(  # type: ignore[override]
        self,
        *arguments: str,
        cwd: str,
        env: Mapping[str, str] | None = None,
        stdin: bytes = b"",
        apart: bool = False,
        timeout: float = 60,
        **more: Any,
    ) -> Done:
        """`Server.run`; ``apart`` asks for a process."""
        environ = self._environ | dict(env or {})
        started = any(
            name.startswith(_NEEDS_A_PROCESS) and value != self._environ.get(name)
            for name, value in environ.items()
        )
        # Completion is answered before the command line is loaded.
        if apart or started or any(more.values()) or arguments[:1] == ("--complete",):
            return super().run(*arguments, cwd=cwd, env=env, stdin=stdin, timeout=timeout, **more)
        with _placed(cwd, environ):
            return run_here(*arguments, stdin=stdin)
