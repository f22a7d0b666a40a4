"""Which events of a day a page tells of when there is no room for all. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from thunderus_mem.model.event import Event

# In characters; what is longer takes the room of many others.
_LONG: Final = 500


def most_telling(events: Sequence[Event]) -> list[int]:
    """The places of ``events`` from the most to the least telling: what people wrote, then changes with a
    reason, then other changes, and last what is very long; earlier ones first."""
    return sorted(range(len(events)), key=lambda place: (_weight(events[place]), place))


def _weight(event: Event) -> int:
    text = event.body.get("text")
    if len(event.why) + len(text if isinstance(text, str) else "") > _LONG:
        return 3
    if event.kind != "patch":
        return 0
    return 1 if event.why else 2


def most_that_fits(most: int, fits: Callable[[int], bool]) -> int:
    """The largest number up to ``most`` that ``fits``, where less fits whenever more does; 0 when none."""
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(middle) else (low, middle - 1)
    return low
