"""ULIDs, the ids of what happens: 48 bits of milliseconds and 80 random bits in Crockford's base 32.

Source: github.com/ulid/spec. Clock and chance come from outside.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

_CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_RANDOM_BITS = 80


def encode_ulid(milliseconds: int, randomness: int) -> str:
    """Write a ULID of 26 characters from a time in milliseconds and 80 random bits."""
    value = (milliseconds << _RANDOM_BITS) | randomness
    return "".join(_CROCKFORD[(value >> shift) & 31] for shift in range(125, -1, -5))


def ulid_time(ulid: str) -> datetime | None:
    """When a ULID was made, in UTC; ``None`` when the text is none."""
    from datetime import UTC, datetime

    if len(ulid) != 26 or not set(ulid) <= set(_CROCKFORD):
        return None
    milliseconds = 0
    for letter in ulid[:10]:
        milliseconds = milliseconds * 32 + _CROCKFORD.index(letter)
    try:
        return datetime.fromtimestamp(milliseconds / 1000, UTC)
    except (ValueError, OverflowError, OSError):
        return None


class UlidSource:
    """Makes ULIDs that only grow, even when the clock stands still or steps back.

    ``now`` and ``random_bits`` come from outside, so that tests fix both.
    """

    def __init__(self, now: Callable[[], datetime], random_bits: Callable[[int], int]) -> None:
        self._now = now
        self._random_bits = random_bits
        self._last = (-1, 0)

    def new(self, prefix: str) -> str:
        """The next id, as ``<prefix>_<ULID>``."""
        milliseconds = max(int(self._now().timestamp() * 1000), 0)
        last_ms, last_random = self._last
        if milliseconds > last_ms:
            self._last = (milliseconds, self._random_bits(_RANDOM_BITS))
        elif last_random + 1 < 1 << _RANDOM_BITS:
            self._last = (last_ms, last_random + 1)
        else:
            self._last = (last_ms + 1, 0)
        return f"{prefix}_{encode_ulid(*self._last)}"
