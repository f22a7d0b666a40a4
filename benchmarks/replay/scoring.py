"""Score verdicts against the ground truth, with confidence intervals. Pure."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, NamedTuple

from benchmarks.replay.truth import FOLLOWED, HELD, STALE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from benchmarks.replay.truth import Expected

RIGHT: Final = "correct"
FALSE_ALARM: Final = "false alarm"
MISSED: Final = "missed"
WRONG_PLACE: Final = "wrong location"
NO_ANSWER: Final = "unknown"
NOT_SCORED: Final = "not scored"


class Given(NamedTuple):
    """A verdict as it is scored: status, and where the code was found ("" if nowhere)."""

    status: str
    path: str = ""
    symbol: str = ""
    reason: str = ""

    @property
    def stale(self) -> bool:
        """Whether the verdict marks the anchor as stale."""
        return self.status in ("changed", "missing")


class Case(NamedTuple):
    """One anchor between two commits: ground truth, our verdict in each situation, and the results of other
    methods.

    ``origin`` is "walk" for real history, else the planted change: "moves", "reverts" or a formatter.
    """

    origin: str
    repository: str
    language: str
    a: str
    b: str
    distance: int
    path: str
    symbol: str
    small: bool
    changing: bool
    truth: Expected
    given: dict[str, Given]
    others: dict[str, bool]


def outcome(path: str, symbol: str, truth: Expected, given: Given) -> str:
    """Whether the verdict on an anchor is correct, or how it is wrong."""
    if truth.kind not in (*HELD, *FOLLOWED, *STALE):
        return NOT_SCORED
    if given.status == "unknown":
        return NO_ANSWER
    if truth.kind in STALE:
        return RIGHT if given.stale else MISSED
    if given.stale:
        return FALSE_ALARM
    found = (given.path, given.symbol)
    if truth.kind in HELD:
        return RIGHT if found == (path, symbol) else WRONG_PLACE
    return RIGHT if given.status == "moved" and found in truth.places else WRONG_PLACE


class Rate(NamedTuple):
    """``hits`` of ``total``."""

    hits: int
    total: int

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % Wilson interval, as shares; (0, 1) without data."""
        if not self.total:
            return 0.0, 1.0
        z, n, share = 1.959964, self.total, self.hits / self.total
        middle = share + z * z / (2 * n)
        spread = z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
        scale = 1 + z * z / n
        return max(0.0, (middle - spread) / scale), min(1.0, (middle + spread) / scale)

    def __str__(self) -> str:
        if not self.total:
            return "–"
        low, high = (100 * edge for edge in self.interval)
        return f"{100 * self.hits / self.total:.2f} % ({low:.2f}–{high:.2f}), {self.hits:,}/{self.total:,}"


def _rate(cases: Iterable[Case], of: Callable[[Case], bool], hit: Callable[[Case], bool]) -> Rate:
    chosen = [case for case in cases if of(case)]
    return Rate(sum(map(hit, chosen)), len(chosen))


def scored(case: Case) -> bool:
    """Whether the ground truth is known."""
    return case.truth.kind in (*HELD, *FOLLOWED, *STALE)


def rates(cases: list[Case], says_stale: Callable[[Case], bool]) -> dict[str, Rate]:
    """Precision and recall of an alarm, and how often it is raised on cosmetic edits and unchanged code."""
    known = [case for case in cases if scored(case)]
    return {
        "precision": _rate(known, says_stale, lambda case: case.truth.kind in STALE),
        "recall": _rate(known, lambda case: case.truth.kind in STALE, says_stale),
        "cosmetic edits flagged": _rate(known, lambda case: case.truth.kind == "cosmetic", says_stale),
        "unchanged code flagged": _rate(known, lambda case: case.truth.kind not in STALE, says_stale),
    }


def right(cases: Iterable[Case], history: str, kinds: Iterable[str]) -> Rate:
    """How many verdicts of some classes are correct, including the location."""
    wanted = frozenset(kinds)
    return _rate(
        cases,
        lambda case: case.truth.kind in wanted,
        lambda case: outcome(case.path, case.symbol, case.truth, case.given[history]) == RIGHT,
    )
