"""Partner carriers: the only module that opens a connection to them."""

from __future__ import annotations

import hashlib
import hmac
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

FIRST_PAUSE = 2.0
LONGEST_PAUSE = 120.0
TRIES = 5


def pauses(random: Callable[[], float]) -> Iterator[float]:
    """Seconds to wait before each further try: exponential, with full jitter."""
    for attempt in range(TRIES - 1):
        yield random() * min(LONGEST_PAUSE, FIRST_PAUSE * 2**attempt)


def is_signed(body: bytes, signature: str, key: bytes) -> bool:
    """Whether a callback's body carries the signature that its carrier would have made."""
    return hmac.compare_digest(hmac.new(key, body, hashlib.sha256).hexdigest(), signature)
