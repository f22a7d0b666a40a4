"""Wait for another process: the only use of a clock in unit tests; the duration does not matter."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PATIENCE = 30.0
"""Seconds after which what is waited for will not come: far more than it takes on a slow machine."""


def patiently(seconds: float = PATIENCE) -> Iterator[None]:
    """Turns of a loop that looks for something at its own pace; none once it has taken so long."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        yield


def until(happened: Callable[[], object], seconds: float = PATIENCE) -> None:
    """Look every hundredth of a second until something happened."""
    for _ in patiently(seconds):
        if happened():
            return
        time.sleep(0.01)
    raise AssertionError(f"it did not happen within {seconds:g} s")
