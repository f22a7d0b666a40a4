"""Faults at each operation on the disk, and a record of these operations, without a word in the program.

Everything that changes a store goes through a few functions of ``store.disk``. Here they are wrapped: a
**point** is the moment before or after one of them, or half-way through a write, named by what it does to
which kind of file: ``before-rename-staged``, ``half-write-log``, ``after-sync-folder-staging``.

``FAILPOINT=<point>:raise|interrupt|kill[:<n>]`` in the environment of a process that calls
`arm_by_environment` makes the ``n``-th pass (the first when absent) of a point raise an ``OSError`` (EIO) or
``KeyboardInterrupt``, or kill the process (137).
Several are joined by commas; ``trace=<file>`` lists every pass in a file.
"""

from __future__ import annotations

import errno
import os
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

from thunderus_mem.memory.journal import OPERATION
from thunderus_mem.store import disk
from thunderus_mem.store.files import TEMP_PREFIX

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Recorder = Callable[[str, str, bytes], None]

_KILLED = 137
_TRACE = "trace="

OPERATIONS = {
    "create": "create",
    "write_all": "write",
    "sync_file": "sync",
    "sync_folder": "sync-folder",
    "make_folder": "mkdir",
    "remove_folder": "rmdir",
    "rename": "rename",
    "link": "link",
    "unlink": "unlink",
    "truncate": "truncate",
}
"""Function of ``store.disk`` → the operation it is, as a recorder is told."""


def _path_and_detail(name: str, given: tuple[Any, ...]) -> tuple[str, bytes]:
    """The path an operation is on, and its bytes: what is written, the new path, the new size in digits."""
    if name in ("write_all", "sync_file", "truncate"):
        path, *more = given[1:]
        return path, str(more[0]).encode() if name == "truncate" else bytes(*more)
    path, *more = given
    return path, os.fsencode(more[0]) if name in ("rename", "link") else b""


def _kind(path: str, detail: bytes) -> str:
    """What kind of file it is, by its place and name."""
    folder, name = os.path.split(path)
    if os.fsdecode(detail).endswith(".taken") or name.endswith(".taken"):
        return "taken"
    if os.path.basename(folder) == ".staging":
        return "change"
    if os.path.basename(os.path.dirname(folder)) == ".staging":
        return "operation" if name == OPERATION else "staged"
    if name == ".staging":
        return "staging"
    if name.startswith(TEMP_PREFIX):
        return "temporary"
    return "log" if name == "events.jsonl" else "other"


@contextmanager
def recording(recorder: Recorder) -> Iterator[None]:
    """Call ``recorder(operation, path, detail)`` after each operation on the disk while this is open.

    ``detail`` are the bytes of a write, the new path of a rename and a link, the new size of a cut file.
    """
    before = {name: getattr(disk, name) for name in OPERATIONS}
    record(recorder)
    try:
        yield
    finally:
        for name, function in before.items():
            setattr(disk, name, function)


def record(recorder: Recorder) -> None:
    """The same for as long as the process lives."""
    for name, operation in OPERATIONS.items():
        setattr(disk, name, partial(_recorded, getattr(disk, name), name, operation, recorder))


def _recorded(
    real: Callable[..., Any], name: str, operation: str, recorder: Recorder, *given: Any, **named: Any
) -> Any:
    done = real(*given, **named)
    recorder(operation, *_path_and_detail(name, given))
    return done


def tried(passes: list[str], kind: str) -> list[str]:
    """The passes of a trace that are worth a try: a process killed before an operation leaves what one does
    that is killed after the operation before."""
    return [one for one in passes if kind != "kill" or not one.startswith("before-")]


class Failpoints:
    """The points that ``wanted`` names, of which each fires at one of its passes."""

    def __init__(self, wanted: str) -> None:
        specs = wanted.split(",")
        self._traces = [spec.removeprefix(_TRACE) for spec in specs if spec.startswith(_TRACE)]
        self._specs = [spec.split(":") for spec in specs if not spec.startswith(_TRACE)]
        self._passes: dict[str, int] = {}

    def around(self, real: Callable[..., Any], name: str, *given: Any, **named: Any) -> Any:
        """An operation with its points."""
        path, detail = _path_and_detail(name, given)
        point = f"{OPERATIONS[name]}-{_kind(path, detail)}"
        self.hit(f"before-{point}")
        if name == "write_all":
            self.hit(f"half-{point}", lambda: os.write(given[0], detail[: max(len(detail) // 2, 1)]))
        done = real(*given, **named)
        self.hit(f"after-{point}")
        return done

    def hit(self, point: str, action: Callable[[], object] = lambda: None) -> None:
        """Pass a point; ``action`` is done where it fires."""
        self._passes[point] = turn = self._passes.get(point, 0) + 1
        for trace in self._traces:
            with open(trace, "a", encoding="utf-8") as stream:
                stream.write(f"{point}:{turn}\n")
        for named, kind, *at in self._specs:
            if named == point and turn == int(at[0] if at else 1):
                action()
                if kind == "kill":
                    os._exit(_KILLED)
                if kind == "interrupt":
                    raise KeyboardInterrupt
                raise OSError(errno.EIO, f"failpoint {point}")


def arm(wanted: str, replace: Callable[[Any, str, Any], None] = setattr) -> None:
    """Put points around the operations of this process. ``replace`` is how: `setattr`, or a monkeypatch's."""
    points = Failpoints(wanted)
    for name in OPERATIONS:
        replace(disk, name, partial(points.around, getattr(disk, name), name))


@contextmanager
def not_writable(folder: str | os.PathLike[str]) -> Iterator[None]:
    """Refuse to change entries of ``folder`` while this is open, as without permission (which root has)."""
    names = ("create", "rename", "link", "unlink", "make_folder", "remove_folder")
    before = {name: getattr(disk, name) for name in names}

    def refusing(name: str, *given: Any, **named: Any) -> Any:
        for path in given:
            if isinstance(path, str) and os.path.dirname(path) == os.fspath(folder):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
        return before[name](*given, **named)

    for name in names:
        setattr(disk, name, partial(refusing, name))
    try:
        yield
    finally:
        for name, function in before.items():
            setattr(disk, name, function)


def arm_by_environment() -> None:
    """Arm the points that ``FAILPOINT`` names, if it does."""
    if wanted := os.environ.get("FAILPOINT"):
        arm(wanted)


def main(arguments: list[str]) -> None:
    """The program with the points of its environment: ``python -m tests.support.failpoints WORD…``."""
    import sys

    from thunderus_mem.__main__ import main as program

    arm_by_environment()
    sys.argv = ["thunderus-mem", *arguments]
    program()


if __name__ == "__main__":
    import sys

    main(sys.argv[1:])
