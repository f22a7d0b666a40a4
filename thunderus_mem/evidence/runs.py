"""Runs of transitions: each from the text the last one left, from one known text to another. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from thunderus_mem.evidence.transitions import NOTHING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from thunderus_mem.evidence.transitions import Transition

__all__ = ["Runs"]


class Runs:
    """The transitions of one document, found by the texts they join. Those taken are used no more."""

    def __init__(self, transitions: Sequence[Transition]) -> None:
        self.end = max((transition.number for transition in transitions), default=-1) + 1
        self._taken: set[int] = set()
        self._to: dict[str, list[Transition]] = {}
        self._from: dict[str, list[Transition]] = {}
        for transition in transitions:
            if transition.before != transition.after:
                self._to.setdefault(transition.after, []).append(transition)
                self._from.setdefault(transition.before, []).append(transition)

    def take(self, transitions: Iterable[Transition]) -> None:
        """Transitions that found their place."""
        self._taken.update(transition.number for transition in transitions)

    def between(self, starts: Collection[str], goal: str, limit: int) -> tuple[Transition, ...]:
        """The latest run from one of the texts ``starts`` to the text ``goal``, before transition ``limit``.

        Clocks of several machines differ: when no run is in order, one out of order will do.
        """
        return self._back(starts, goal, limit, ordered=True) or self._back(
            starts, goal, self.end, ordered=False
        )

    def _back(
        self, starts: Collection[str], goal: str, limit: int, *, ordered: bool
    ) -> tuple[Transition, ...]:
        """Depth first from the end, the latest first; no text is tried twice with no more room."""
        tried: dict[str, int] = {goal: limit}
        path: list[Transition] = []
        ways: list[Iterator[Transition]] = [self._into(goal, limit)]
        while ways:
            transition = next(ways[-1], None)
            if transition is None:
                ways.pop()
                if path:
                    path.pop()
                continue
            if transition.before in starts:
                return (transition, *reversed(path))
            room = transition.number if ordered else self.end
            if transition.before == NOTHING or tried.get(transition.before, -1) >= room:
                continue
            tried[transition.before] = room
            path.append(transition)
            ways.append(self._into(transition.before, room))
        return ()

    def _into(self, text: str, limit: int) -> Iterator[Transition]:
        return (transition for transition in reversed(self._to.get(text, ())) if transition.number < limit)

    def back_from(self, goal: str, limit: int) -> tuple[Transition, ...]:
        """The latest run of transitions not taken that ends in a text, as far back as it goes."""
        found: list[Transition] = []
        while transition := next(
            (one for one in self._into(goal, limit) if one.number not in self._taken), None
        ):
            found.append(transition)
            goal, limit = transition.before, transition.number
        return tuple(reversed(found))

    def ahead_from(self, start: str, limit: int) -> tuple[Transition, ...]:
        """The earliest run of transitions not taken that begins at a text, as far ahead as it goes."""
        found: list[Transition] = []
        number = -1
        while True:
            transition = next(
                (
                    one
                    for one in self._from.get(start, ())
                    if number < one.number < limit and one.number not in self._taken and one.own
                ),
                None,
            )
            if transition is None:
                return tuple(found)
            found.append(transition)
            start, number = transition.after, transition.number
