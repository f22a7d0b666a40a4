"""Which events a page tells of when there is no room for all, and which texts stand for many. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from thunderus_mem.model.event import changes_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from thunderus_mem.model.event import Event

# In characters; what is longer takes the room of many others.
_LONG: Final = 500
_WORD = re.compile(r"[^\W\d_]{4,}")


def most_telling(events: Sequence[Event]) -> list[int]:
    """The places of ``events`` from the most to the least telling: what people wrote and decided, then
    changes with a reason and commands that failed, then other changes and commands, and last what is very
    long; earlier ones first."""
    return sorted(range(len(events)), key=lambda place: (_weight(events[place]), place))


def _weight(event: Event) -> int:
    text = event.body.get("text")
    # Of a message only the sentence that decides is told.
    length = len(text) if isinstance(text, str) and event.kind == "note" else 0
    if len(event.why) + length > _LONG:
        return 3
    if event.kind == "patch":
        # A decision is what a later reader misses most.
        if event.body.get("op") == "add" and any(one.doc_id.startswith("adr.") for one in changes_of(event)):
            return 0
        return 1 if event.why else 2
    if event.kind in ("tool_call", "tool_result"):
        return 2 if event.body.get("success", True) else 1
    return 0


def most_that_fits(most: int, fits: Callable[[int], bool]) -> int:
    """The largest number up to ``most`` that ``fits``, where less fits whenever more does; 0 when none."""
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(middle) else (low, middle - 1)
    return low


def standing_for(texts: Sequence[str], number: int) -> list[int]:
    """The places of at most ``number`` texts that together speak of most of what all speak of, in order.

    Each word weighs as many texts as have it; the text whose words of those not told yet weigh most, for its
    length, comes next.
    """
    words = [frozenset(_WORD.findall(text.casefold())) for text in texts]
    weight: dict[str, int] = {}
    for each in words:
        for word in each:
            weight[word] = weight.get(word, 0) + 1
    told: set[str] = set()
    chosen: list[int] = []
    left = set(range(len(texts)))
    while left and len(chosen) < number:
        # A word that one text alone has says nothing of the others.
        gain = {
            at: sum(weight[word] for word in words[at] - told if weight[word] > 1)
            / (len(words[at]) + 4) ** 0.5
            for at in left
        }
        best = min(left, key=lambda at: (-gain[at], at))
        chosen.append(best)
        told |= words[best]
        left.discard(best)
    return sorted(chosen)
