"""Runs of steps: which lead, each from the text the last one left, from one known text to another. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from thunderus_mem.evidence.steps import NOTHING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from thunderus_mem.evidence.steps import Step

__all__ = ["Runs"]


class Runs:
    """The steps of one document, found by the texts they join. Steps that are taken are used no more."""

    def __init__(self, steps: Sequence[Step]) -> None:
        self.end = max((step.number for step in steps), default=-1) + 1
        self._taken: set[int] = set()
        self._to: dict[str, list[Step]] = {}
        self._from: dict[str, list[Step]] = {}
        for step in steps:
            if step.before != step.after:
                self._to.setdefault(step.after, []).append(step)
                self._from.setdefault(step.before, []).append(step)

    def take(self, steps: Iterable[Step]) -> None:
        """Steps that found their place."""
        self._taken.update(step.number for step in steps)

    def between(self, starts: Collection[str], goal: str, limit: int) -> tuple[Step, ...]:
        """The latest run from one of the texts ``starts`` to the text ``goal``, before step ``limit``.

        Clocks of several machines differ: when no run is in order, one out of order will do.
        """
        return self._back(starts, goal, limit, ordered=True) or self._back(
            starts, goal, self.end, ordered=False
        )

    def _back(self, starts: Collection[str], goal: str, limit: int, *, ordered: bool) -> tuple[Step, ...]:
        """Depth first from the end, the latest steps first; no text is tried twice with no more room."""
        tried: dict[str, int] = {goal: limit}
        path: list[Step] = []
        ways: list[Iterator[Step]] = [self._into(goal, limit)]
        while ways:
            step = next(ways[-1], None)
            if step is None:
                ways.pop()
                if path:
                    path.pop()
                continue
            if step.before in starts:
                return (step, *reversed(path))
            room = step.number if ordered else self.end
            if step.before == NOTHING or tried.get(step.before, -1) >= room:
                continue
            tried[step.before] = room
            path.append(step)
            ways.append(self._into(step.before, room))
        return ()

    def _into(self, text: str, limit: int) -> Iterator[Step]:
        return (step for step in reversed(self._to.get(text, ())) if step.number < limit)

    def back_from(self, goal: str, limit: int) -> tuple[Step, ...]:
        """The latest run of steps not taken that ends in a text, as far back as it goes."""
        found: list[Step] = []
        while step := next((one for one in self._into(goal, limit) if one.number not in self._taken), None):
            found.append(step)
            goal, limit = step.before, step.number
        return tuple(reversed(found))

    def ahead_from(self, start: str, limit: int) -> tuple[Step, ...]:
        """The earliest run of steps not taken that begins at a text, as far ahead as it goes."""
        found: list[Step] = []
        number = -1
        while True:
            step = next(
                (
                    one
                    for one in self._from.get(start, ())
                    if number < one.number < limit and one.number not in self._taken and one.own
                ),
                None,
            )
            if step is None:
                return tuple(found)
            found.append(step)
            start, number = step.after, step.number
