"""A fixed clock and fixed random bits, for tests and the examples in the documentation.

``THUNDERUS_MEM_NOW`` (RFC 3339) and ``THUNDERUS_MEM_SEED`` (a whole number) count only when
``THUNDERUS_MEM_TEST=1`` stands beside them, so that a stray variable never falsifies a log.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from thunderus_mem.model.errors import InvalidConfig

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime


def fixed_clock(
    environ: Mapping[str, str],
) -> tuple[Callable[[], datetime] | None, Callable[[int], int] | None]:
    """Clock and source of random bits as the environment fixes them; ``None`` for the real ones.

    Raises ``InvalidConfig`` when a variable has no such value.
    """
    if environ.get("THUNDERUS_MEM_TEST") != "1":
        return None, None
    now: Callable[[], datetime] | None = None
    bits: Callable[[int], int] | None = None
    text = environ.get("THUNDERUS_MEM_NOW")
    if text is not None:
        from thunderus_mem.model.timestamp import parse_timestamp

        moment = parse_timestamp(text)
        if moment is None:
            raise InvalidConfig(f"THUNDERUS_MEM_NOW is no RFC 3339 time: {text}.")

        def now() -> datetime:
            return moment

    seed = environ.get("THUNDERUS_MEM_SEED")
    if seed is not None:
        import random

        if not seed.isdigit():
            raise InvalidConfig(f"THUNDERUS_MEM_SEED is no whole number: {seed}.")
        bits = random.Random(int(seed)).getrandbits
    return now, bits
