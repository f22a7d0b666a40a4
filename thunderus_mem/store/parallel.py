"""Work on many things at once: in processes of our own, for what takes seconds of reading and counting, or in
a thread while its asker does something else. Touches no disk.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from multiprocessing.connection import Connection
    from multiprocessing.context import ForkProcess

_MOST: Final = 4
Thing = TypeVar("Thing")
Answer = TypeVar("Answer")


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
    """The end of the pipe that each share's answer comes from, ``None`` where the system starts no process.
    All are gone afterwards, also when the caller is interrupted: nobody waits for what they are at.

    No pool: it would start a thread before the next process is forked, and lose the answers of all when one
    process dies.
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
                pass  # nobody has the other end: there is no answer
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
        # Nothing is said of a failure, and nothing of the parent's is closed or written out a second time.
        os._exit(status)


def _answer(end: Connection | None, count: int) -> list[Any]:
    """What a process found. Nobody else has the pipe: what came whole is its own."""
    try:
        found: list[Any] = end.recv() if end is not None else []
    except (EOFError, OSError):
        found = []
    return found if len(found) == count else [None] * count


def in_background(work: Callable[[], Answer]) -> Callable[[], Answer]:
    """Start to work; the function given back waits for the answer, and raises what the work did."""
    from threading import Thread

    answers: list[Answer] = []
    troubles: list[Exception] = []

    def run() -> None:
        try:
            answers.append(work())
        except Exception as error:  # noqa: BLE001 - raised again where the answer is wanted
            troubles.append(error)

    thread = Thread(target=run, daemon=True)
    thread.start()

    def answer() -> Answer:
        thread.join()
        if troubles:
            raise troubles[0]
        return answers[0]

    return answer


@contextmanager
def paused() -> Iterator[None]:
    """No collection of cycles inside, while thousands of values without cycles are made: it would walk every
    value again and again and find nothing."""
    import gc

    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()
