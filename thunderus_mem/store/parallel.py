"""Work on many things at once in processes of our own, for what takes seconds of reading and counting."""

from __future__ import annotations

import os
import signal
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, BinaryIO, Final, NamedTuple, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

_MOST: Final = 4
_LENGTH: Final = 8
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
    with _started(shares[1:], work) as children:
        answers = work(shares[0]) if shares else []
        for share, child in zip(shares[1:], children, strict=True):
            answers += _answer(child, len(share))
    return answers


class _Child(NamedTuple):
    """A started process, and the end of the pipe that its answer comes from."""

    process: int
    answer: BinaryIO


@contextmanager
def _started(
    shares: Sequence[Sequence[Thing]], work: Callable[[Sequence[Thing]], list[Any]]
) -> Iterator[list[_Child | None]]:
    """A process for each share, ``None`` for one that the system does not start. All are gone afterwards,
    also when the caller is interrupted: nobody waits for what they are at."""
    children: list[_Child | None] = []
    try:
        children.extend(_start(share, work) for share in shares)
        yield children
    finally:
        for child in children:
            if child is not None:
                child.answer.close()
                os.kill(child.process, signal.SIGKILL)
                os.waitpid(child.process, 0)


def _start(share: Sequence[Thing], work: Callable[[Sequence[Thing]], list[Any]]) -> _Child | None:
    try:
        reading, writing = os.pipe()
    except OSError:
        return None
    try:
        child = os.fork()
    except OSError:
        os.close(reading)
        os.close(writing)
        return None
    if child:
        os.close(writing)
        return _Child(child, open(reading, "rb"))
    status = 1
    try:
        os.close(reading)
        import pickle

        with open(writing, "wb") as pipe:
            data = pickle.dumps(work(share), pickle.HIGHEST_PROTOCOL)
            pipe.write(len(data).to_bytes(_LENGTH, "big") + data)
        status = 0
    finally:
        # Nothing of the parent's is closed or written out a second time.
        os._exit(status)


def _answer(child: _Child | None, count: int) -> list[Any]:
    """What a process found. Nobody else has the pipe: what came whole is its own."""
    nothing: list[Any] = [None] * count
    if child is None:
        return nothing
    import pickle

    length = int.from_bytes(child.answer.read(_LENGTH), "big")
    data = child.answer.read(length)
    found = pickle.loads(data) if length and len(data) == length else nothing
    return found if len(found) == count else nothing


# One piece of work in a thread while its asker does something else.

Answer = TypeVar("Answer")


def meanwhile(work: Callable[[], Answer]) -> Callable[[], Answer]:
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


# Python's collector of cycles, kept still while thousands of values without cycles are made.


@contextmanager
def paused() -> Iterator[None]:
    """No collection inside: it would walk every value again and again and find nothing."""
    import gc

    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()
