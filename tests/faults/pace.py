"""The current speed of this machine, to scale time limits."""

from __future__ import annotations

import time
from functools import cache

_ORDINARY = 0.0186
"""Seconds that `_work` takes where the limits were set."""
_TURNS = 7


def _work() -> float:
    begun = time.process_time()
    total = 0
    for number in range(200_000):
        total += len(str(number)) & 3
    return time.process_time() - begun


@cache
def pace() -> float:
    """How many times longer the same work takes here; never less than 1."""
    return max(1.0, min(_work() for _ in range(_TURNS)) / _ORDINARY)
