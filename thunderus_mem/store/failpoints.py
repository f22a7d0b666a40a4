"""Named places where a test may make a write fail or die, and a trace of what was asked of the disk.

A failpoint does nothing unless ``THUNDERUS_MEM_FAILPOINTS=1`` and ``FAILPOINT=<name>[:raise|kill][:<n>]``
are both in the environment; ``n`` is the pass at which it fires (the first when absent).
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
_passes: dict[str, int] = {}
_recorder: list[Callable[[str, str, bytes], None]] = []


def armed(name: str) -> bool:
    """Whether ``name`` is the failpoint this process was started with."""
    wanted = os.environ.get("FAILPOINT", "")
    return (
        bool(wanted)
        and wanted.partition(":")[0] == name
        and os.environ.get("THUNDERUS_MEM_FAILPOINTS") == "1"
    )


def hit(name: str) -> None:
    """Fail here when a test asked for it: ``raise`` an ``OSError`` (EIO), or ``kill`` the process (137)."""
    if not armed(name):
        return
    _, kind, turn = (*os.environ["FAILPOINT"].split(":"), "", "")[:3]
    _passes[name] = _passes.get(name, 0) + 1
    if _passes[name] != int(turn or 1):
        return
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
