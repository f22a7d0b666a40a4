"""Work on many things at once in processes of our own, for what takes seconds of reading and counting."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Final, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["processors", "spread"]

_MOST: Final = 4
Thing = TypeVar("Thing")


def processors() -> int:
    """How many processes are worth starting, this one included."""
    if not hasattr(os, "fork") or _threads() > 1:
        return 1
    count = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(count, _MOST)


def _threads() -> int:
    """Threads of this process, those of libraries too: a lock that one of them holds, or work that one of
    them would have to do, is waited for in a started process for ever."""
    try:
        return len(os.listdir("/proc/self/task"))
    except OSError:
        import threading

        return threading.active_count()


def spread(things: Sequence[Thing], work: Callable[[Sequence[Thing]], list[Any]]) -> list[Any]:
    """What ``work`` gives for things, one after another, in their order; each share in a process of its own.

    ``work`` gives for each thing something that can be pickled, changes no document and uses no connection,
    pipe or lock of this process. Where a process cannot be started or fails, its share is ``None``
    throughout: the caller does that part itself.
    """
    count = processors()
    size = -(-len(things) // count) if things else 1
    shares = [things[at : at + size] for at in range(0, len(things), size)]
    started = [_start(share, work) for share in shares[1:]]
    answers = work(shares[0]) if shares else []
    for share, child in zip(shares[1:], started, strict=True):
        answers += _answer(child, len(share))
    return answers


def _start(share: Sequence[Thing], work: Callable[[Sequence[Thing]], list[Any]]) -> tuple[int, int] | None:
    """Process and pipe of one share; ``None`` when the system starts no more."""
    reading, writing = os.pipe()
    try:
        child = os.fork()
    except OSError:
        os.close(reading)
        os.close(writing)
        return None
    if child:
        os.close(writing)
        return child, reading
    status = 1
    try:
        os.close(reading)
        import pickle

        with open(writing, "wb") as pipe:
            pickle.dump(work(share), pipe, pickle.HIGHEST_PROTOCOL)
        status = 0
    finally:
        # Nothing of the parent's is closed or written out a second time.
        os._exit(status)


def _answer(child: tuple[int, int] | None, count: int) -> list[Any]:
    nothing: list[Any] = [None] * count
    if child is None:
        return nothing
    import pickle

    process, reading = child
    with open(reading, "rb") as pipe:
        data = pipe.read()
    _, status = os.waitpid(process, 0)
    # What a process that ended well wrote is whole; nobody else has the pipe.
    found = pickle.loads(data) if status == 0 else nothing
    return found if len(found) == count else nothing
