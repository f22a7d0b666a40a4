"""A command on a pseudo-terminal of 80 columns and 24 lines."""

from __future__ import annotations

import errno
import fcntl
import os
import pty
import select
import struct
import subprocess
import termios
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path


def on_terminal(
    words: Sequence[str],
    *,
    cwd: Path,
    env: Mapping[str, str],
    keys: Sequence[tuple[bytes, bytes]] = (),
    timeout: float = 120,
) -> tuple[int, bytes]:
    """How a command ended and what its terminal got; ``keys``: once the first is seen, type the second."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    process = subprocess.Popen(
        words,
        cwd=cwd,
        env=dict(env),
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
    )
    os.close(theirs)
    try:
        data = _read(ours, list(keys), time.monotonic() + timeout)
    finally:
        os.close(ours)
        try:
            code = process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            code = process.wait()
    return code, data.replace(b"\r\n", b"\n")


def _read(terminal: int, keys: list[tuple[bytes, bytes]], until: float) -> bytes:
    data, at = b"", 0
    while time.monotonic() < until:
        if not select.select([terminal], [], [], 0.1)[0]:
            continue
        try:
            piece = os.read(terminal, 65536)
        except OSError as error:
            if error.errno != errno.EIO:
                raise
            return data
        if not piece:
            return data
        data += piece
        while keys and (place := data.find(keys[0][0], at)) >= 0:
            at = place + len(keys[0][0])
            os.write(terminal, keys.pop(0)[1])
    raise AssertionError(f"it did not end; so far: {data[-2000:]!r}; still to type: {keys!r}")
