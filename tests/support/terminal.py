"""Run a command on a real pseudo-terminal; returns its output and exit code."""

from __future__ import annotations

import errno
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
from dataclasses import dataclass
from fcntl import ioctl
from typing import TYPE_CHECKING

from tests.support.waiting import patiently

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tests.support.command_server import Server


@dataclass(frozen=True, slots=True)
class Seen:
    """How a command ended, and the bytes its terminal got, stdout and stderr as they came."""

    code: int
    data: bytes

    @property
    def text(self) -> str:
        """The bytes as text, line ends as the program wrote them."""
        return self.data.decode("utf-8", "surrogateescape").replace("\r\n", "\n")


def on_terminal(
    arguments: Sequence[str],
    *,
    cwd: object,
    env: Mapping[str, str],
    columns: int = 80,
    lines: int = 24,
    keys: Sequence[tuple[bytes, bytes]] = (),
    program: Sequence[str] = (sys.executable, "-m", "thunderus_mem"),
    server: Server | None = None,
    timeout: float = 30,
) -> Seen:
    """Run a command with all three streams on a terminal of that size.

    ``keys`` are pairs: once the first has been printed, the second is typed. With a ``server`` the command
    is forked from it, which takes a tenth of the time, and ``program`` says nothing.
    """
    ours, theirs = pty.openpty()
    ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
    plain = {name: value for name, value in env.items() if name not in ("COLUMNS", "LINES")}
    if server is not None:
        surroundings = {"TERM": "xterm-256color", **plain}
        ended = server.begin_on_terminal(
            *arguments, cwd=str(cwd), env=surroundings, terminal=os.ttyname(theirs)
        )
        os.close(theirs)
        try:
            data = _read(ours, list(keys), timeout)
        finally:
            os.close(ours)
            code = ended()
        return Seen(code, data)
    process = subprocess.Popen(
        [*program, *arguments],
        cwd=str(cwd),
        env={"TERM": "xterm-256color", **plain},
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
        preexec_fn=lambda: ioctl(0, termios.TIOCSCTTY, 0),
    )
    os.close(theirs)
    try:
        data = _read(ours, list(keys), timeout)
    finally:
        os.close(ours)
        try:
            code = process.wait(5)
        except subprocess.TimeoutExpired:
            process.kill()
            code = process.wait()
    return Seen(code, data)


_PROGRESS = re.compile(rb"\r(?:[A-Z][^\r\n]* \(\d+ s\))?\x1b\[K")
"""The progress line, which a slow machine shows."""


def _read(terminal: int, keys: list[tuple[bytes, bytes]], timeout: float) -> bytes:
    data, at = b"", 0
    for _ in patiently(timeout):
        if not select.select([terminal], [], [], 0.1)[0]:
            continue
        try:
            piece = os.read(terminal, 65536)
        except OSError as error:
            if error.errno != errno.EIO:  # EIO: the other end is closed
                raise
            return _PROGRESS.sub(b"", data)
        if not piece:
            return _PROGRESS.sub(b"", data)
        data += piece
        while keys and (place := data.find(keys[0][0], at)) >= 0:
            at = place + len(keys[0][0])
            os.write(terminal, keys.pop(0)[1])
    raise AssertionError(f"it did not end; so far: {data[-2000:]!r}; still to type: {keys!r}")
