"""The verb `doctor --fix`: mends by moving; nothing is deleted, and no document is changed.

Under the lock the store is examined anew, and each step looks at what is there when its turn comes. A step
that fails is reported and stops no other.
"""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from thunderus_mem.authoring.init import FILES, amended, lacking
from thunderus_mem.doctor.checks import ACTIONS, Check, DoctorContext, Fix, doctor, leftovers, places
from thunderus_mem.errors import Busy, NotFound, ThunderusError, explain
from thunderus_mem.index.refresh import rebuild
from thunderus_mem.lint.runner import packaged_schemas
from thunderus_mem.memory.transaction import Transaction
from thunderus_mem.store.config_reader import refuse_newer
from thunderus_mem.store.files import read_file, replace_file
from thunderus_mem.store.layout import linked_places
from thunderus_mem.store.lock import held
from thunderus_mem.store.quarantine import Quarantine, way_back

if TYPE_CHECKING:
    from collections.abc import Callable

    from thunderus_mem.memory.journal import RecoveredFile
    from thunderus_mem.memory.memory import Memory

COMMAND: Final = "doctor --fix"
_LIMIT: Final = 1 << 20
_RECOVERED: Final = {
    "published": "finished: {}",
    "dropped": "finished already: {}",
    "removed": "undone, it had not been acknowledged: {}",
    "aborted": "{} has a newer text, which stays; ours is kept",
    "tail": "set the torn end of {} aside",
    "damaged": "the staged change {} could not be read; it is kept",
    "pending": "{} still waits",
}
"""What recovery did with a staged change."""


class FixStep(NamedTuple):
    """One step of ``doctor --fix``. ``state`` is planned, done or failed (``problem`` says why).

    ``kept`` is where the old file is now, ``back`` the command that puts it back.
    """

    action: str
    path: str
    says: str
    state: str = "planned"
    kept: str = ""
    back: str = ""
    problem: str = ""


@dataclass(frozen=True, slots=True)
class FixReport:
    """What ``doctor --fix`` did, or with ``--plan`` would do, and the checks that need a person."""

    steps: tuple[FixStep, ...]
    left: tuple[Check, ...]
    applied: bool


def plan_fixes(memory: Memory) -> FixReport:
    """What `apply_fixes` would do now, and what it would leave; nothing is written."""
    report = doctor(memory)
    left = tuple(check for check in report.checks if check.is_trouble and not check.mends)
    return FixReport(tuple(map(_step, report.mends)), left, applied=False)


def apply_fixes(open_store: Callable[[], Memory]) -> FixReport:
    """Fix what can be fixed; ``open_store`` opens the store anew each time it is asked.

    Raises `Busy` when another process holds the lock, `NotWritable` when the store cannot be written at all,
    `Refused` when a newer version of the program must write it.
    """
    memory = open_store()
    refuse_newer(memory.layout, memory.config)
    quarantine = Quarantine(memory.layout, f"{memory.now():%Y%m%dT%H%M%SZ}")
    # Links and other things in the places of our own files go first: with them there is no lock to take.
    fixer = _Fixer(memory, quarantine)
    steps = [fixer.make(fix) for check in places(DoctorContext(memory)) for fix in check.mends]
    memory = open_store()
    if not linked_places(memory.root):
        steps += _fix_locked(memory, quarantine)
        # One that was killed may have set something aside and not written it anew.
        open_store().refresh()
    left = doctor(open_store()).checks
    return FixReport(tuple(steps), tuple(check for check in left if check.is_trouble), applied=True)


def _fix_locked(memory: Memory, quarantine: Quarantine) -> list[FixStep]:
    """Everything that takes the lock, and the rebuilding after it; git is asked before."""
    fixes = doctor(memory).mends
    fixer = _Fixer(memory, quarantine)
    git, origin, timeout = memory.git_state(), memory.origin(), memory.config.write_lock_timeout
    steps: list[FixStep] = []
    with held(memory.layout.lock_file, timeout=timeout, command=COMMAND):
        if not memory.sessions.still_holds(memory.git, git):
            raise Busy("git moved HEAD while we looked", hint="Run the command again.")
        transaction = Transaction(memory, git, origin)
        late = [fix for check in leftovers(DoctorContext(memory, alone=True)) for fix in check.mends]
        for fix in dict.fromkeys((*late, *(fix for fix in fixes if fix.action != "rebuild"))):
            if fix.action == "recover":
                steps += fixer.recover(fix, transaction)
            elif fix.action != "set-aside" or os.path.lexists(memory.layout.at(fix.path)):
                steps.append(fixer.make(fix))
    return steps + [fixer.make(fix) for fix in fixes if fix.action == "rebuild"]


def _step(fix: Fix) -> FixStep:
    return FixStep(fix.action, fix.path, ACTIONS[fix.action].format(fix.path))


def _attempt(fix: Fix, work: Callable[[Fix], FixStep]) -> FixStep:
    try:
        return work(fix)._replace(state="done")
    except ThunderusError as error:
        problem = str(error)
    except OSError as error:
        problem = str(explain(error, fix.path))
    return _step(fix)._replace(state="failed", problem=problem)


class _Fixer:
    """Makes fixes, one way for each of `ACTIONS`."""

    def __init__(self, memory: Memory, quarantine: Quarantine) -> None:
        self._memory = memory
        self._layout = memory.layout
        self._quarantine = quarantine
        self._ways = {
            "set-aside": self._set_aside,
            "end": self._end_log,
            "write": self._write,
            "rebuild": self._rebuild,
        }

    def make(self, fix: Fix) -> FixStep:
        """Make a fix that is one step. Only ``rebuild`` takes the lock itself."""
        return _attempt(fix, self._ways[fix.action])

    def recover(self, fix: Fix, transaction: Transaction) -> list[FixStep]:
        """Finish or undo staged changes; what recovery could not clear away is no change of ours."""

        def work(fix: Fix) -> FixStep:
            transaction.recover()
            return _step(fix)

        outcome = _attempt(fix, work)
        if outcome.state == "failed":
            return [outcome]
        steps = list(map(self._recovered, transaction.recovered))
        waiting = {recovered.event_id for recovered in transaction.recovered if recovered.action == "pending"}
        try:
            names = sorted(os.listdir(self._layout.staging_dir))
        except OSError:
            names = []
        strange = [Fix("set-aside", f"{fix.path}/{name}") for name in names if name not in waiting]
        return steps + list(map(self.make, strange))

    def _recovered(self, recovered: RecoveredFile) -> FixStep:
        what = recovered.path or recovered.event_id
        says = _RECOVERED[recovered.action].format(what)
        if recovered.action == "pending":
            return FixStep("recover", what, says, "failed", problem=recovered.problem)
        kept = self._layout.relative(recovered.kept) if recovered.kept else ""
        return FixStep("recover", what, says, "done", kept)

    def _set_aside(self, fix: Fix) -> FixStep:
        kept = self._quarantine.move(fix.path)
        return _step(fix)._replace(kept=kept, back=way_back(kept, fix.path))

    def _end_log(self, fix: Fix) -> FixStep:
        """Set the torn end of a log aside, or finish its last line."""
        repaired = self._memory.journal.repair(fix.path)
        if repaired is None:
            return _step(fix)
        if not repaired.kept:
            return _step(fix)._replace(says=f"give the last line of {fix.path} its end")
        return _step(fix)._replace(kept=self._layout.relative(repaired.kept))

    def _write(self, fix: Fix) -> FixStep:
        """Write a file as it should be, and keep what was there."""
        place = self._layout.at(fix.path)
        old = _text_of(place)
        kept = ""
        if old is not None:
            kept = self._quarantine.copy(fix.path, old)
        elif os.path.lexists(place):
            kept = self._quarantine.move(fix.path)
        replace_file(place, _wanted(fix.path, place, old))
        return _step(fix)._replace(kept=kept, back=way_back(kept, fix.path) if kept else "")

    def _rebuild(self, fix: Fix) -> FixStep:
        rebuild(self._layout, COMMAND, self._memory.tell)
        return _step(fix)


def _text_of(place: str) -> bytes | None:
    """The bytes of a regular file that can be read; ``None`` for anything else, or nothing."""
    try:
        return read_file(place, _LIMIT) if stat.S_ISREG(os.lstat(place).st_mode) else None
    except (ThunderusError, OSError):
        return None


def _wanted(path: str, place: str, old: bytes | None) -> bytes:
    """What `init` would write there: lines that are lacking added, or a schema as it is packaged."""
    if path in FILES:
        text = (old or b"").decode("utf-8", "surrogateescape")
        return amended(path, text, lacking(path, place)).encode("utf-8", "surrogateescape")
    texts = packaged_schemas()
    name = os.path.basename(path)
    if name not in texts:
        raise NotFound(f"{path} is no file that this program writes")
    return texts[name].encode()
