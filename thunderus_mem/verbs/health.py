"""What `doctor` finds and does, as values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple


def many(number: int, one: str, more: str) -> str:
    """The sentence for one thing, or for so many (``{}`` in ``more``)."""
    return one if number == 1 else more.format(f"{number:,}")


class Mend(NamedTuple):
    """A safe way to mend a finding. ``action`` is one of:

    ``set-aside``: move ``path`` into the quarantine. ``recover``: finish or undo what a killed command left.
    ``end``: set the torn end of the log ``path`` aside. ``write``: write ``path`` as it should be, keeping
    the old text. ``rebuild``: make index and manifest anew.
    """

    action: str
    path: str


@dataclass(frozen=True, slots=True)
class Check:
    """One thing `doctor` looked at. ``state`` is ok, note, warning or error; ``hint`` says what mends it.

    ``affects`` are root-relative paths (``path:line`` in a log). ``lost`` says what is gone for good,
    ``command`` what to run next; ``mends`` is what ``doctor --fix`` would do.
    """

    name: str
    state: str
    message: str
    hint: str = ""
    affects: tuple[str, ...] = ()
    lost: str = ""
    command: str = ""
    mends: tuple[Mend, ...] = ()

    @property
    def is_trouble(self) -> bool:
        """Whether somebody has to do something."""
        return self.state in ("warning", "error")


class KeptFile(NamedTuple):
    """A file in the quarantine: where it is, where it was ("" when it is a part of something), its size and
    time, and the command that puts it back or compares it."""

    path: str
    was: str
    size: int
    time: str
    what: str
    back: str


@dataclass(frozen=True, slots=True)
class DoctorReport:
    """All checks, in the order they were made, and what the quarantine holds."""

    checks: tuple[Check, ...]
    kept: tuple[KeptFile, ...] = ()

    @property
    def mends(self) -> tuple[Mend, ...]:
        """Everything that ``doctor --fix`` would do, in its order."""
        order = ("set-aside", "recover", "end", "write", "rebuild")
        wanted = dict.fromkeys(mend for check in self.checks for mend in check.mends)
        return tuple(sorted(wanted, key=lambda mend: (order.index(mend.action), mend.path)))


class Step(NamedTuple):
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
class Treatment:
    """What ``doctor --fix`` did, or with ``--plan`` would do, and the checks that need a person."""

    steps: tuple[Step, ...]
    left: tuple[Check, ...]
    applied: bool
