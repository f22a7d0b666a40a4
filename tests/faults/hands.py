"""People and agents who use one store at the same time: each a process that runs real commands one by one.

``Hand`` talks to such a process; run as a script this file is the process. A command is the program's own
``run`` within it, so that eight of them cost no eight starts a second.
"""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

HERE = os.path.dirname(os.path.abspath(__file__))
PROJECT = os.path.dirname(os.path.dirname(HERE))

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence


@dataclass(frozen=True)
class Said:
    """How a command ended."""

    arguments: tuple[str, ...]
    code: int
    out: str
    err: str
    seconds: float = 0.0

    @property
    def json(self) -> Any:
        """Its stdout as JSON; see `read_output`."""
        from tests.support.output_schema import read_output

        return read_output(self.out)


class Hand:
    """One process at work in ``root``; with ``version`` as a program of that version of the index."""

    def __init__(self, root: str, environ: Mapping[str, str], version: int = 0) -> None:
        self._process = subprocess.Popen(
            [sys.executable, os.path.abspath(__file__), *([str(version)] if version else [])],
            cwd=root,
            env={**environ, "PYTHONPATH": PROJECT},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def begin(self, *arguments: str) -> None:
        """Start a command."""
        assert self._process.stdin is not None
        self._begun = time.monotonic()
        self._process.stdin.write(json.dumps(arguments) + "\n")
        self._process.stdin.flush()

    def end(self) -> Said:
        """Wait for the command that was started."""
        assert self._process.stdout is not None
        arguments, code, out, err = json.loads(self._process.stdout.readline())
        return Said(tuple(arguments), code, out, err, time.monotonic() - self._begun)

    def run(self, *arguments: str) -> Said:
        """Run one command."""
        self.begin(*arguments)
        return self.end()

    @property
    def pid(self) -> int:
        """The number of the process."""
        return self._process.pid

    def close(self) -> None:
        """End the process."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()


@contextmanager
def hands(count: int, root: str, environ: Mapping[str, str], version: int = 0) -> Iterator[list[Hand]]:
    """So many processes in one store."""
    found = [Hand(root, environ, version) for _ in range(count)]
    try:
        yield found
    finally:
        for hand in found:
            hand.close()


def together(works: Sequence[Callable[[], object]]) -> None:
    """Do all of it at the same time; the first error of any is raised."""
    troubles: list[BaseException] = []

    def guarded(work: Callable[[], object]) -> None:
        try:
            work()
        except BaseException as error:  # noqa: BLE001 - raised again below
            troubles.append(error)

    threads = [threading.Thread(target=guarded, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if troubles:
        raise troubles[0]


def _answer(arguments: list[str]) -> tuple[int, str, str]:
    from thunderus_mem.cli.app import run

    out, err = io.StringIO(), io.StringIO()
    kept = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = out, err
    try:
        code = run(arguments)
    finally:
        sys.stdout, sys.stderr = kept
    return code, out.getvalue(), err.getvalue()


def _serve() -> None:
    talk = sys.stdout
    for line in sys.stdin:
        arguments = json.loads(line)
        talk.write(json.dumps([arguments, *_answer(arguments)]) + "\n")
        talk.flush()


def _be_of_version(version: int) -> None:
    from thunderus_mem.index import database

    database.VERSION = version  # type: ignore[misc]


if __name__ == "__main__":
    if len(sys.argv) > 1:
        _be_of_version(int(sys.argv[1]))
    _serve()
