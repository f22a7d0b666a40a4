"""The command `doctor --fix`: repairs by moving files; deletes nothing and changes no document.

The store is checked again under the lock, and each step checks its file before it acts. A failed step is
reported and does not stop the others.
"""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from thunderus_mem.authoring.init import FILES, amended, lacking
from thunderus_mem.doctor.checks import ACTIONS, Check, DoctorContext, Fix, doctor, leftovers, places
from thunderus_mem.document.schema import packaged_schemas
from thunderus_mem.errors import Busy, NotFound, ThunderusError, explain
from thunderus_mem.index.refresh import rebuild
from thunderus_mem.memory.transaction import Transaction
from thunderus_mem.startup import NamedTuple
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
    "published": "finished the interrupted write of {}",
    "dropped": "already written: {}",
    "removed": "undid the interrupted write of {}",
    "aborted": "{} was changed since; moved the interrupted text to quarantine",
    "tail": "moved the incomplete end of {} to quarantine",
    "damaged": "moved the unreadable staged change {} to quarantine",
    "pending": "recover {}",
}
"""Result of the recovery of a staged change → its description."""


class FixStep(NamedTuple):
    """One step of ``doctor --fix``. ``state`` is planned, done or failed (``problem`` says why).

    ``kept`` is the new location of the old file, ``back`` the command that restores it.
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
    """What ``doctor --fix`` did, or with ``--dry-run`` would do, and the checks that need manual action."""

    steps: tuple[FixStep, ...]
    left: tuple[Check, ...]
    applied: bool


def plan_fixes(memory: Memory) -> FixReport:
    """Return what `apply_fixes` would do, and the remaining problems; writes nothing."""
    report = doctor(memory)
    left = tuple(check for check in report.checks if check.is_trouble and not check.mends)
    return FixReport(tuple(map(_step, report.fixes)), left, applied=False)


def apply_fixes(open_store: Callable[[], Memory]) -> FixReport:
    """Apply all safe fixes; ``open_store`` opens the store again on each call.

    Raises `Busy` when another process holds the lock, `NotWritable` when the store cannot be written at all,
    `Refused` when a newer version of the program must write it.
    """
    memory = open_store()
    refuse_newer(memory.layout, memory.config)
    quarantine = Quarantine(memory.layout, f"{memory.now():%Y%m%dT%H%M%SZ}")
    # First move links and other obstacles away, because they can prevent locking.
    fixer = _Fixer(memory, quarantine)
    steps = [fixer.make(fix) for check in places(DoctorContext(memory)) for fix in check.mends]
    memory = open_store()
    if not linked_places(memory.root):
        steps += _fix_locked(memory, quarantine)
        # An interrupted run may have moved a file to quarantine without rewriting it.
        open_store().refresh()
    left = doctor(open_store()).checks
    return FixReport(tuple(steps), tuple(check for check in left if check.is_trouble), applied=True)


def _fix_locked(memory: Memory, quarantine: Quarantine) -> list[FixStep]:
    """Apply the fixes that need the lock, then rebuild; git is queried before locking."""
    fixes = doctor(memory).fixes
    fixer = _Fixer(memory, quarantine)
    git, origin, timeout = memory.git_state(), memory.origin(), memory.config.write_lock_timeout
    steps: list[FixStep] = []
    with held(memory.layout.lock_file, timeout=timeout, command=COMMAND):
        if not memory.sessions.still_holds(memory.git, git):
            raise Busy("HEAD moved during the check", hint="run the command again")
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
    """Applies fixes, with one method per action in `ACTIONS`."""

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
        """Apply a fix that is a single step. Only ``rebuild`` takes the lock itself."""
        return _attempt(fix, self._ways[fix.action])

    def recover(self, fix: Fix, transaction: Transaction) -> list[FixStep]:
        """Recover staged changes; quarantine what remains, because it is not a staged change."""

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
        """Move the incomplete end of a log to quarantine, or complete its last line."""
        repaired = self._memory.journal.repair(fix.path)
        if repaired is None:
            return _step(fix)
        if not repaired.kept:
            return _step(fix)._replace(says=f"add the missing newline at the end of {fix.path}")
        return _step(fix)._replace(kept=self._layout.relative(repaired.kept))

    def _write(self, fix: Fix) -> FixStep:
        """Rewrite a file, keeping the old one in quarantine."""
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
    """Return the bytes of a readable regular file, else ``None``."""
    try:
        return read_file(place, _LIMIT) if stat.S_ISREG(os.lstat(place).st_mode) else None
    except (ThunderusError, OSError):
        return None


def _wanted(path: str, place: str, old: bytes | None) -> bytes:
    """Return the text that `init` would write: with the missing lines added, or the packaged schema."""
    if path in FILES:
        text = (old or b"").decode("utf-8", "surrogateescape")
        return amended(path, text, lacking(path, place)).encode("utf-8", "surrogateescape")
    texts = packaged_schemas()
    name = os.path.basename(path)
    if name not in texts:
        raise NotFound(f"{path} is not a file of this program")
    return texts[name].encode()
