"""Open a transaction: under the lock, on documents as git and log know them, with hand edits recorded."""

from __future__ import annotations

import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from thunderus_mem.evidence.losses import refusal
from thunderus_mem.evidence.unrecorded import still_unrecorded
from thunderus_mem.model.errors import Busy, Degraded, NotWritable
from thunderus_mem.store.meanwhile import meanwhile
from thunderus_mem.store.standstill import Standstill
from thunderus_mem.transaction.by_hand import hand_edits, mass_loss
from thunderus_mem.transaction.writing import Writing

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from thunderus_mem.evidence.unrecorded import HandEdit
    from thunderus_mem.memory import Memory

__all__ = ["settle", "writing"]

_TRIES = 3
_LOOKS, _PAUSE = 3, 0.2


@contextmanager
def writing(
    memory: Memory, command: str, *, accept_loss: bool = False, edited_for: str = ""
) -> Iterator[Writing]:
    """Open a transaction for ``command`` (named to whoever waits for the lock).

    Raises `Busy` when another process holds the lock for too long, `NotWritable` when the disk refuses,
    `Refused` when the store is of a later version, or when more documents are gone than anybody takes away by
    hand, unless ``accept_loss``. ``edited_for`` is the reason of edits made by hand until now.
    """
    from thunderus_mem.store.version import refuse_newer

    refuse_newer(memory.layout, memory.config)
    until = time.monotonic() + memory.config.write_lock_timeout
    tries = 0
    while tries < _TRIES or time.monotonic() < until:
        tries += 1
        Standstill(memory.git, memory.environ).wait()
        # Git takes as long to answer as the index to refresh; neither needs the other.
        asked = meanwhile(lambda: (memory.git_state(), memory.origin()))
        from thunderus_mem.store.lock import held, prepare

        prepare()
        written = memory.sessions.last_written()
        memory.refresh()
        git, origin = asked()
        unrecorded: Sequence[HandEdit] = hand_edits(memory, git)
        if gone := 0 if accept_loss else len(mass_loss(memory, unrecorded)):
            if tries > _LOOKS and not (memory.git and memory.git.index_locked(time.time())):
                raise refusal(gone, memory.index.count())
            time.sleep(_PAUSE)  # git may be in the middle of a checkout
            continue
        with held(memory.layout.lock_file, timeout=memory.config.write_lock_timeout, command=command):
            if not memory.sessions.still_holds(memory.git, git):
                continue  # git is asked again, without the lock
            transaction = Writing(memory, git, origin)
            transaction.recover()
            if transaction.healed or memory.sessions.last_written() != written:
                # What another process wrote before we had the lock is known, and no edit by hand.
                memory.refresh()
                log_index = memory.log_index()
                unrecorded = still_unrecorded(unrecorded, log_index.explains, log_index.removed)
            transaction.record([edit for edit in unrecorded if edit.still_there(memory.layout)], edited_for)
            yield transaction
            # The change is on disk; an index that cannot be renewed is renewed by the next command.
            with suppress(Busy, Degraded, NotWritable):
                memory.refresh()
            return
    raise Busy("git keeps moving HEAD while we try to write", hint="wait for the other git command to end")


def settle(memory: Memory, command: str) -> None:
    """Finish or undo what a command that died has left, for ``command``, which is about to look at documents
    and to decide by them whether there is anything to write. Raises as `writing`."""
    if memory.journal.pending():
        with writing(memory, command):
            pass
