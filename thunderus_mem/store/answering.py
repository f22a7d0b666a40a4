"""A command of a person's own that is asked once: text in, text out, within a time and a size."""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from thunderus_mem.model.errors import NotFound, ThunderusError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from subprocess import Popen

__all__ = ["MOST_ANSWER", "answer_of"]

MOST_ANSWER: Final = 64 * 1024
"""Bytes of the longest answer."""
_CHUNK: Final = 8_192


def answer_of(
    command: Sequence[str], text: str, *, timeout: float, folder: str, environ: Mapping[str, str]
) -> str:
    """What ``command`` prints when it is given ``text`` on its input; no shell is in between.

    Raises `NotFound` when it cannot be started, `ThunderusError` when it fails, answers nothing, too much or
    no UTF-8, or takes more than ``timeout`` seconds: it is ended then, with what it started.
    """
    import subprocess
    import tempfile

    name = command[0]
    with tempfile.TemporaryFile() as given:
        given.write(text.encode("utf-8", "replace"))
        given.seek(0)
        try:
            process = subprocess.Popen(
                list(command),
                stdin=given,
                stdout=subprocess.PIPE,
                cwd=folder,
                env=dict(environ),
                start_new_session=True,
            )
        except OSError as error:
            raise NotFound(
                f"{name} cannot be started: {error.strerror or error}",
                hint="give the command as a shell would",
            ) from error
    data = _read(process, name, timeout)
    if process.returncode:
        raise ThunderusError(f"{name} ended with {process.returncode}; nothing was written")
    try:
        answer = data.decode("utf-8-sig").strip()
    except UnicodeDecodeError as error:
        raise ThunderusError(f"{name} answered something that is not UTF-8") from error
    if not answer:
        raise ThunderusError(f"{name} answered nothing")
    return answer


def _read(process: Popen[bytes], name: str, timeout: float) -> bytes:
    """All it prints, up to the end; the process is gone afterwards."""
    import selectors
    import time

    assert process.stdout is not None
    until, data = time.monotonic() + timeout, b""
    try:
        with selectors.DefaultSelector() as selector:
            selector.register(process.stdout, selectors.EVENT_READ)
            while True:
                left = until - time.monotonic()
                if left <= 0 or not selector.select(left):
                    raise _late(name, timeout)
                piece = os.read(process.stdout.fileno(), _CHUNK)
                if not piece:
                    break
                data += piece
                if len(data) > MOST_ANSWER:
                    raise ThunderusError(
                        f"{name} answered more than {MOST_ANSWER // 1024} KiB", hint="have it be shorter"
                    )
        _wait(process, name, max(until - time.monotonic(), 0.1), timeout)
    finally:
        _end(process)
    return data


def _wait(process: Popen[bytes], name: str, left: float, timeout: float) -> None:
    from subprocess import TimeoutExpired

    try:
        process.wait(left)
    except TimeoutExpired as error:
        raise _late(name, timeout) from error


def _late(name: str, timeout: float) -> ThunderusError:
    return ThunderusError(f"{name} took more than {timeout:g} seconds", hint="--timeout gives it longer")


def _end(process: Popen[bytes]) -> None:
    """End the process and what it started, also where it has ended itself and that goes on; one that was
    waited for is left as it is."""
    # Until it is waited for its number is its own, so that the group cannot be another one.
    if process.returncode is None:
        with suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    if process.stdout is not None:
        process.stdout.close()
