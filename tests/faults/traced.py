"""strace on a command that is about to run: count its calls to the system, or let one of them kill or fail.

Only the thread that writes is followed: git runs beside it, and is not what is tried. A kill comes before the
call is done, so that trying every call which changes the disk tries every state the disk goes through.
"""

from __future__ import annotations

import os
import re
import select
import shutil
import subprocess
import warnings
from functools import cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

CHANGES: Final = (
    "openat,write,pwrite64,fsync,fdatasync,rename,renameat,renameat2,link,linkat,unlink,unlinkat,ftruncate,"
    "mkdir,mkdirat,rmdir,chmod,fchmod,fchmodat,utimensat"
)
"""Calls that change the disk; of the openings only those that may make or change a file count."""

LOOKS: Final = "openat,pread64,read,newfstatat,flock,fcntl"
"""Calls that only ask, yet may be refused."""

_CALL: Final = re.compile(r"(\w+)\(")
_ASKING: Final = re.compile(r"\bO_RDONLY\b(?!.*\bO_(?:CREAT|TRUNC)\b)")
_ATTACHED: Final = b"attached"


class Place(NamedTuple):
    """The ``at``-th call of this name by the thread that writes."""

    call: str
    at: int


@cache
def works() -> bool:
    """Whether strace is here and may follow a process."""
    strace = shutil.which("strace")
    return (
        bool(strace)
        and subprocess.run([strace, "-o", "/dev/null", "true"], capture_output=True).returncode == 0
    )


def skip_loudly(row: str) -> None:
    """Skip a test that needs strace, and say so where it is seen."""
    import pytest
    import report

    report.skip(row, "strace is absent or barred")
    warnings.warn(f"SKIPPED: strace is absent or barred; {row} was not run", UserWarning, stacklevel=2)
    pytest.skip("strace is absent or barred")


def follow(log: str, calls: str, inject: str = "") -> Callable[[], dict[str, Any]]:
    """In a process that is about to run one command: have strace follow it, and wait until it does.

    Every run is followed from the same call on, or counts of one run would be other calls in the next:
    strace begins only when it is told to, and while it begins we are in a call that is never counted.
    """
    arguments = ["strace", "-y", "-s", "0", "-o", log, "-p", str(os.getpid()), "-e", f"trace={calls}"]
    if inject:
        arguments += ["-e", f"inject={inject}"]
    tracer = subprocess.Popen(
        ["sh", "-c", 'read go; exec "$@"', "sh", *arguments],
        bufsize=0,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    assert tracer.stdin is not None
    assert tracer.stderr is not None
    tracer.stdin.write(b"\n")
    select.select([tracer.stderr], [], [])
    output = b""
    while _ATTACHED not in output:
        piece = os.read(tracer.stderr.fileno(), 1000)
        assert piece, output
        output += piece
    return dict


def places(log: str, root: str, *, asking: bool = False) -> list[Place]:
    """The calls in a log that touch the store at ``root``; ``asking``: also those that change nothing."""
    counts: dict[str, int] = {}
    found = []
    with open(log, encoding="utf-8", errors="replace") as stream:
        for line in stream:
            if not (match := _CALL.match(line)):
                continue
            call = match.group(1)
            counts[call] = counts.get(call, 0) + 1
            touches = f"{root}/" in line
            if touches and (asking or not (call == "openat" and _ASKING.search(line))):
                found.append(Place(call, counts[call]))
    return found


def kill(place: Place, log: str) -> dict[str, list[str]]:
    """What to arm a command with so that it is killed at this place."""
    return {"traced:follow": [log, place.call, f"{place.call}:signal=KILL:when={place.at}"]}


def fail(place: Place, errno_name: str, log: str) -> dict[str, list[str]]:
    """What to arm a command with so that the system refuses it this call."""
    return {"traced:follow": [log, place.call, f"{place.call}:error={errno_name}:when={place.at}"]}


def refused(log: str, root: str) -> list[str]:
    """The lines of a log where a call was refused that names the store at ``root`` or what is in it."""
    with open(log, encoding="utf-8", errors="replace") as stream:
        return [line for line in stream if "(INJECTED)" in line and root in line]


def count(log: str, calls: str = CHANGES) -> dict[str, list[str]]:
    """What to arm a command with so that its calls are listed in ``log``."""
    return {"traced:follow": [log, calls]}
