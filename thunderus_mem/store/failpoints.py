"""Named places where a test may make a write fail or die, and a trace of what was asked of the disk.

A failpoint does nothing unless ``THUNDERUS_MEM_FAILPOINTS=1`` and ``FAILPOINT=<name>[:raise|kill][:<n>]``
are both in the environment; ``n`` is the pass at which it fires (the first when absent). Several are joined
by commas; ``FAILPOINT=trace=<file>`` lists every pass in a file instead.
"""

from __future__ import annotations

import errno
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["NAMES", "armed", "hit", "note", "recording"]

NAMES: Final = (
    "replace.opened",
    "replace.half-written",
    "replace.written",
    "replace.synced",
    "replace.renamed",
    "replace.done",
    "remove.checked",
    "remove.unlinked",
    "append.opened",
    "append.half-written",
    "append.written",
    "append.synced",
    "append.rolled-back",
    "batch.set-aside",
    "batch.truncated",
    "repair.set-aside",
    "repair.truncated",
    "repair.completed",
    "stage.begun",
    "stage.half-written",
    "stage.bytes",
    "stage.operation",
    "stage.done",
    "commit.before",
    "commit.after",
    "publish.checked",
    "publish.linked",
    "publish.moved",
    "publish.taken",
    "publish.each",
    "publish.done",
    "drop.each",
    "drop.done",
    "heal.found",
    "heal.known",
    "heal.set-aside",
    "heal.done",
)
"""Every failpoint there is; a test holds this list equal to the calls in the code."""

_KILLED: Final = 137
_TRACE: Final = "trace="
_passes: dict[str, int] = {}
_recorder: list[Callable[[str, str, bytes], None]] = []


def _wanted() -> list[str]:
    wanted = os.environ.get("FAILPOINT")
    if not wanted or os.environ.get("THUNDERUS_MEM_FAILPOINTS") != "1":
        return []
    return wanted.split(",")


def armed(name: str) -> bool:
    """Whether a test asked for ``name``: only then a write is cut in two around it."""
    return any(spec.startswith(_TRACE) or spec.partition(":")[0] == name for spec in _wanted())


def hit(name: str) -> None:
    """Fail here when a test asked for it: ``raise`` an ``OSError`` (EIO), or ``kill`` the process (137)."""
    wanted = _wanted()
    if not wanted:
        return
    _passes[name] = turn = _passes.get(name, 0) + 1
    for spec in wanted:
        if spec.startswith(_TRACE):
            with open(spec.removeprefix(_TRACE), "a", encoding="utf-8") as stream:
                stream.write(f"{name}:{turn}\n")
            continue
        point, kind, at = (*spec.split(":"), "", "")[:3]
        if point != name or turn != int(at or 1):
            continue
        if kind == "kill":
            os._exit(_KILLED)
        raise OSError(errno.EIO, f"failpoint {name}")


def note(operation: str, path: str, detail: bytes = b"") -> None:
    """Tell the recorder, if a test set one, what is asked of the disk: operation, path, and its bytes."""
    for recorder in _recorder:
        recorder(operation, path, detail)


@contextmanager
def recording(recorder: Callable[[str, str, bytes], None]) -> Iterator[None]:
    """Call ``recorder(operation, path, detail)`` after each operation on the disk while this is open.

    Operations: ``create``, ``write`` (detail: bytes), ``sync``, ``sync-folder``, ``rename`` and ``link``
    (detail: the new path), ``unlink``, ``truncate`` (detail: the new size in digits), ``mkdir``, ``rmdir``.
    """
    _recorder.append(recorder)
    try:
        yield
    finally:
        _recorder.remove(recorder)
