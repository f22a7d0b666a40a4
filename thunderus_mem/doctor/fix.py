"""The verb `doctor --fix`: mends by moving; nothing is deleted, and no document is changed.

Under the lock the store is examined anew, and each step looks at what is there when its turn comes. A step
that fails is told and stops no other.
"""

from __future__ import annotations

import os
import stat
from functools import partial
from typing import TYPE_CHECKING, Final

from thunderus_mem.authoring.init import FILES, amended, lacking
from thunderus_mem.doctor.checks import doctor, leftovers, places
from thunderus_mem.doctor.context import DoctorContext, Fix, FixStep, Quarantine, Treatment, way_back
from thunderus_mem.errors import Busy, NotFound, ThunderusError
from thunderus_mem.index.refresh import rebuild
from thunderus_mem.lint.runner import packaged_schemas
from thunderus_mem.memory.transaction import Transaction
from thunderus_mem.store.disk import explain
from thunderus_mem.store.files import read_file, replace_file
from thunderus_mem.store.layout import linked_places
from thunderus_mem.store.lock import held
from thunderus_mem.store.root import refuse_newer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from thunderus_mem.doctor.context import Check
    from thunderus_mem.memory.journal import Healed
    from thunderus_mem.memory.memory import Memory

COMMAND: Final = "doctor --fix"
_LIMIT: Final = 1 << 20
_SAYS: Final = {
    "set-aside": "set {} aside",
    "recover": "finish or undo what a killed command left in {}",
    "end": "set the torn end of {} aside",
    "write": "write {} as it should be, and keep the old text",
    "rebuild": "make index and manifest anew in {}",
}
_OUTCOMES: Final = {
    "published": "finished: {}",
    "dropped": "finished already: {}",
    "removed": "undone, it had not been acknowledged: {}",
    "aborted": "{} has a newer text, which stays; ours is kept",
    "tail": "set the torn end of {} aside",
    "damaged": "the staged change {} could not be read; it is kept",
    "pending": "{} still waits",
}


def planned(memory: Memory) -> Treatment:
    """What `treat` would do now, and what it would leave; nothing is written."""
    report = doctor(memory)
    steps = tuple(_step(mend) for mend in report.mends)
    return Treatment(
        steps, tuple(check for check in report.checks if check.is_trouble and not check.mends), False
    )


def treat(open_store: Callable[[], Memory]) -> Treatment:
    """Mend what can be mended; ``open_store`` opens the store anew each time it is asked.

    Raises `Busy` when another process holds the lock, `NotWritable` when the store cannot be written at all,
    `Refused` when a newer version of the program must write it.
    """
    memory = open_store()
    refuse_newer(memory.layout, memory.config)
    aside = Quarantine(memory.layout, f"{memory.now():%Y%m%dT%H%M%SZ}")
    # Links and other things in the places of our own files go first: with them there is no lock to take.
    steps = [_moved(memory, aside, mend) for mend in _mends(places(DoctorContext(memory)))]
    memory = open_store()
    if not linked_places(memory.root):
        steps += _treated(memory, aside)
        # One that was killed may have set something aside and not written it anew.
        open_store().refresh()
    left = doctor(open_store()).checks
    return Treatment(tuple(steps), tuple(check for check in left if check.is_trouble), True)


def _treated(memory: Memory, aside: Quarantine) -> list[FixStep]:
    """Everything that takes the lock; git is asked before."""
    mends = doctor(memory).mends
    rebuilding = [mend for mend in mends if mend.action == "rebuild"]
    git, origin, timeout = memory.git_state(), memory.origin(), memory.config.write_lock_timeout
    with held(memory.layout.lock_file, timeout=timeout, command=COMMAND):
        if not memory.sessions.still_holds(memory.git, git):
            raise Busy("git moved HEAD while we looked", hint="Run the command again.")
        transaction = Transaction(memory, git, origin)
        late = _mends(leftovers(DoctorContext(memory, alone=True)))
        wanted = dict.fromkeys((*late, *(mend for mend in mends if mend not in rebuilding)))
        steps = [step for mend in wanted for step in _taken(memory, transaction, aside, mend)]
    return steps + [_tried(mend, partial(_rebuilt, memory, mend)) for mend in rebuilding]


def _mends(found: Iterable[Check]) -> list[Fix]:
    return [mend for check in found for mend in check.mends]


def _step(mend: Fix) -> FixStep:
    return FixStep(mend.action, mend.path, _SAYS[mend.action].format(mend.path))


def _taken(memory: Memory, transaction: Transaction, aside: Quarantine, mend: Fix) -> Iterator[FixStep]:
    if mend.action == "recover":
        yield from _recovered(memory, transaction, aside, mend)
    elif mend.action == "end":
        yield _tried(mend, partial(_ended, memory, mend))
    elif mend.action == "write":
        yield _tried(mend, partial(_written, memory, aside, mend))
    elif os.path.lexists(memory.layout.at(mend.path)):
        yield _moved(memory, aside, mend)


def _tried(mend: Fix, work: Callable[[], FixStep]) -> FixStep:
    try:
        return work()
    except ThunderusError as error:
        return _step(mend)._replace(state="failed", problem=str(error))
    except OSError as error:
        return _step(mend)._replace(state="failed", problem=str(explain(error, mend.path)))


def _moved(memory: Memory, aside: Quarantine, mend: Fix) -> FixStep:
    def work() -> FixStep:
        kept = aside.move(mend.path)
        return _step(mend)._replace(state="done", kept=kept, back=way_back(kept, mend.path))

    return _tried(mend, work)


def _recovered(memory: Memory, transaction: Transaction, aside: Quarantine, mend: Fix) -> Iterator[FixStep]:
    outcome = _tried(mend, lambda: _recover(transaction, mend))
    if outcome.state == "failed":
        yield outcome
        return
    for healed in transaction.healed:
        yield _healed(memory, mend, healed)
    waiting = {healed.event_id for healed in transaction.healed if healed.action == "pending"}
    # What recovery could not clear away is no change of ours.
    for name in _names(memory.layout.staging_dir):
        if name not in waiting:
            yield _moved(memory, aside, Fix("set-aside", f"{mend.path}/{name}"))


def _recover(transaction: Transaction, mend: Fix) -> FixStep:
    transaction.recover()
    return _step(mend)._replace(state="done")


def _names(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []


def _healed(memory: Memory, mend: Fix, healed: Healed) -> FixStep:
    what = healed.path or healed.event_id
    says = _OUTCOMES[healed.action].format(what)
    if healed.action == "pending":
        return FixStep("recover", what, says, "failed", problem=healed.problem)
    kept = memory.layout.relative(healed.kept) if healed.kept else ""
    return FixStep("recover", what, says, "done", kept)


def _ended(memory: Memory, mend: Fix) -> FixStep:
    mended = memory.journal.repair(mend.path)
    kept = memory.layout.relative(mended.kept) if mended is not None and mended.kept else ""
    says = f"give the last line of {mend.path} its end" if mended and not kept else _step(mend).says
    return _step(mend)._replace(state="done", kept=kept, says=says)


def _written(memory: Memory, aside: Quarantine, mend: Fix) -> FixStep:
    place = memory.layout.at(mend.path)
    old = _old_text(place)
    if old is None and os.path.lexists(place):
        kept = aside.move(mend.path)
    else:
        kept = aside.copy(mend.path, old) if old is not None else ""
    replace_file(place, _wanted(mend.path, place, old))
    back = way_back(kept, mend.path) if kept else ""
    return _step(mend)._replace(state="done", kept=kept, back=back)


def _old_text(place: str) -> bytes | None:
    """The bytes of a regular file that can be read; ``None`` for anything else, or nothing."""
    try:
        return read_file(place, _LIMIT) if stat.S_ISREG(os.lstat(place).st_mode) else None
    except (ThunderusError, OSError):
        return None


def _wanted(path: str, place: str, old: bytes | None) -> bytes:
    if path in FILES:
        text = (old or b"").decode("utf-8", "surrogateescape")
        return amended(path, text, lacking(path, place)).encode("utf-8", "surrogateescape")
    texts = packaged_schemas()
    name = os.path.basename(path)
    if name not in texts:
        raise NotFound(f"{path} is no file that this program writes")
    return texts[name].encode()


def _rebuilt(memory: Memory, mend: Fix) -> FixStep:
    rebuild(memory.layout, COMMAND, memory.tell)
    return _step(mend)._replace(state="done")
