"""Parallel work: in forked processes for CPU-bound work, or in a thread in the background. No disk access."""

from __future__ import annotations

import os
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from multiprocessing.connection import Connection
    from multiprocessing.context import ForkProcess

_MOST: Final = 4
_BEGIN_SECONDS: Final = 10.0
"""Time in which a thread begins, unless it ended at once."""
Thing = TypeVar("Thing")
Answer = TypeVar("Answer")


def processors() -> int:
    """Return how many processes to use, including this one."""
    if not hasattr(os, "fork") or _threads() > 1:
        return 1
    count = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(count, _MOST)


def _threads() -> int:
    """Count the threads of this process, including those of libraries.

    A forked process would wait forever for a lock that one of them holds, or for work it should do.
    """
    try:
        return len(os.listdir("/proc/self/task"))
    except OSError:
        from _thread import _count

        return 1 + _count()


def spread(things: Sequence[Thing], work: Callable[[Sequence[Thing]], list[Any]]) -> list[Any]:
    """Return the results of ``work`` in the order of ``things``, computed in several processes.

    ``work`` returns one picklable result per thing; it must not change documents or use a connection, pipe or
    lock of this process. If a process cannot be started or fails, all its results are ``None``, and the
    caller computes them itself.
    """
    count = processors()
    size = -(-len(things) // count) if things else 1
    shares = [things[at : at + size] for at in range(0, len(things), size)]
    if len(shares) < 2:
        return work(things) if shares else []
    with _started(shares[1:], work) as children:
        answers = work(shares[0])
        for share, child in zip(shares[1:], children, strict=True):
            answers += _answer(child, len(share))
    return answers


@contextmanager
def _started(
    shares: Sequence[Sequence[Thing]], work: Callable[[Sequence[Thing]], list[Any]]
) -> Iterator[list[Connection | None]]:
    """Start a process per share; yield the pipe of each result, ``None`` if a process could not be started.

    The processes are killed afterwards, also when the caller is interrupted. No pool: it would start a
    thread before forking the next process, and lose all results when one process dies.
    """
    from multiprocessing import get_context

    context = get_context("fork")
    processes: list[ForkProcess] = []
    ends: list[Connection | None] = []
    try:
        for share in shares:
            try:
                reading, writing = context.Pipe(duplex=False)
            except OSError:
                ends.append(None)
                continue
            process = context.Process(target=_send, args=(writing, share, work), daemon=True)
            ends.append(reading)
            try:
                process.start()
                processes.append(process)
            except OSError:
                pass  # the pipe has no writer: there is no result
            finally:
                writing.close()
        yield ends
    finally:
        for end in ends:
            if end is not None:
                end.close()
        for process in processes:
            process.kill()
            process.join()


def _send(writing: Connection, share: Sequence[Thing], work: Callable[[Sequence[Thing]], list[Any]]) -> None:
    status = 1
    try:
        writing.send(work(share))
        status = 0
    finally:
        # Report no failure, and do not close or flush anything inherited from the parent.
        os._exit(status)


def _answer(end: Connection | None, count: int) -> list[Any]:
    """Receive the results of a process. Only it has the other end of the pipe, so they can be trusted."""
    try:
        found: list[Any] = end.recv() if end is not None else []
    except (EOFError, OSError):
        found = []
    return found if len(found) == count else [None] * count


def in_background(work: Callable[[], Answer]) -> Callable[[], Answer]:
    """Run ``work`` in a thread; the returned function waits for the result, or raises its exception.

    If no thread can be started or it fails, e.g. because memory is short, ``work`` is done by the caller.
    """
    # `Thread.start` waits forever for a thread that has too little memory to report that it started.
    from _thread import allocate_lock, start_new_thread

    begun: list[bool] = []
    answers: list[Answer] = []
    errors: list[Exception] = []
    running = allocate_lock()

    def run() -> None:
        try:
            begun.append(True)
            answers.append(work())
        except Exception as error:  # noqa: BLE001 - raised again by the returned function
            errors.append(error)
        finally:
            running.release()

    running.acquire()
    try:
        start_new_thread(run, ())
    except (RuntimeError, MemoryError):
        running.release()

    def answer() -> Answer:
        # A thread may also end before the first line of `run`: its call takes memory.
        while not running.acquire(timeout=_BEGIN_SECONDS):
            if not begun:
                break
        if errors:
            raise errors[0]
        return answers[0] if answers else work()

    return answer


_AT_ONCE: Final = 8
_FEW: Final = 16


def overlap(things: Sequence[Thing], work: Callable[[Thing], object]) -> None:
    """Call ``work``, which mostly waits for the disk, for each thing; for many things, several at a time.

    Raises the first exception once all calls have ended.
    """
    count = _AT_ONCE if len(things) > _FEW else 1
    errors: list[Exception] = []

    def share(at: int) -> None:
        try:
            for thing in things[at::count]:
                work(thing)
        except Exception as error:  # noqa: BLE001 - raised below
            errors.append(error)

    others = [in_background(partial(share, at)) for at in range(1, count)]
    share(0)
    for ended in others:
        ended()
    if errors:
        raise errors[0]


@contextmanager
def gc_paused() -> Iterator[None]:
    """Pause garbage collection while thousands of values without cycles are created.

    It stays paused after an interrupt: the process ends, and a collection would delay that.
    """
    import gc

    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    except Exception:
        if collecting:
            gc.enable()
        raise
    if collecting:
        gc.enable()
