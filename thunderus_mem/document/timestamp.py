"""Times in documents and the log: RFC 3339 texts, in UTC (``Z``) where the tool writes them, and ULIDs, the
ids of events. Pure: clock and random source are passed in.
"""

from __future__ import annotations

import hashlib
import re
from contextlib import suppress
from datetime import UTC, datetime, timedelta, timezone
from typing import TYPE_CHECKING

from thunderus_mem.startup import lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Callable

_RFC3339 = lazy_pattern(
    r"(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(\.\d{1,9})?(?:([Zz])|([+-])(\d\d):(\d\d))", re.ASCII
)
_OURS = lazy_pattern(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", re.ASCII)
_DATE = lazy_pattern(r"\d{4}-\d\d-\d\d", re.ASCII)


def parse_timestamp(text: str) -> datetime | None:
    """Parse an RFC 3339 date-time (section 5.6) with its offset; ``None`` when it is not one.

    A leap second (``:60``) is read as the second before it, because ``datetime`` has none.
    """
    match = _RFC3339.fullmatch(text)
    if match is None:
        return None
    year, month, day, hour, minute, second, fraction, _, sign, off_hour, off_minute = match.groups()
    offset = timedelta(0)
    if sign:
        if int(off_hour) > 23 or int(off_minute) > 59:
            return None
        offset = timedelta(hours=int(off_hour), minutes=int(off_minute))
        if sign == "-":
            offset = -offset
    micro = int((fraction or ".0")[1:7].ljust(6, "0"))
    whole_second = int(second)
    if whole_second == 60:
        whole_second, micro = 59, 999_999
    try:
        return datetime(
            int(year), int(month), int(day), int(hour), int(minute), whole_second, micro, timezone(offset)
        )
    except ValueError:
        return None


def format_timestamp(moment: datetime) -> str:
    """Write a time in UTC with whole seconds: ``2026-01-21T09:00:00Z``."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def format_precise(moment: datetime) -> str:
    """Write a time in UTC with milliseconds, the sort order of the log: ``2026-01-21T09:00:00.123Z``."""
    utc = moment.astimezone(UTC)
    return f"{utc.strftime('%Y-%m-%dT%H:%M:%S')}.{utc.microsecond // 1000:03d}Z"


def utc_key(text: str) -> str:
    """A string that sorts by time, whatever offset the text has; "" when it is not a time."""
    if _OURS.fullmatch(text):
        with suppress(ValueError):  # a leap second, or not a valid time
            datetime.fromisoformat(text)
            return f"{text[:-1]}.000000Z"
    moment = parse_timestamp(text)
    if moment is None and _DATE.fullmatch(text):
        moment = parse_timestamp(text + "T00:00:00Z")
    if moment is None:
        return ""
    try:
        utc = moment.astimezone(UTC)
    except OverflowError:
        return ""
    return f"{utc.year:04d}-{utc.month:02d}-{utc.day:02d}T{utc:%H:%M:%S}.{utc.microsecond:06d}Z"


_AGE = lazy_pattern(r"(\d{1,4})([hdw])", re.ASCII)
_UNITS = {"h": "hours", "d": "days", "w": "weeks"}
MOMENTS = "2026, 2026-01, 2026-01-21, 2026-01-21T09:00:00Z, today, yesterday, 2d, 36h or 3w"
"""What `read_moment` accepts, for a hint."""


def read_moment(text: str, now: datetime | None) -> str:
    """The `utc_key` of a time, day, month or year, of an age (``2d``), today or yesterday.

    "" for any other text, and for an age without ``now``. Days and weeks begin at midnight, so that one
    command line means the same all day.
    """
    text = {"today": "0d", "yesterday": "1d"}.get(text.lower(), text)
    age = _AGE.fullmatch(text)
    if age is None or now is None:
        return utc_key(text) or utc_key(f"{text}-01") or utc_key(f"{text}-01-01")
    span, earliest = timedelta(**{_UNITS[age[2]]: int(age[1])}), datetime.min.replace(tzinfo=UTC)
    now = now.astimezone(UTC)
    moment = now - span if now - earliest > span else earliest
    moment = moment if age[2] == "h" else moment.replace(hour=0, minute=0)
    return utc_key(format_timestamp(moment.replace(second=0, microsecond=0)))


# ULIDs (github.com/ulid/spec): 48 bits of milliseconds and 80 random bits in Crockford's base 32

_CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_RANDOM_BITS = 80


def encode_ulid(milliseconds: int, randomness: int) -> str:
    """Write a ULID of 26 characters from a time in milliseconds and 80 random bits."""
    value = (milliseconds << _RANDOM_BITS) | randomness
    return "".join(_CROCKFORD[(value >> shift) & 31] for shift in range(125, -1, -5))


def derived_ulid(*parts: str) -> str:
    """Return a ULID made from ``parts``: equal parts give the same one everywhere; its time means nothing."""
    digest = hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).digest()
    return encode_ulid(int.from_bytes(digest[:6]), int.from_bytes(digest[6:16]))


def ulid_time(ulid: str) -> datetime | None:
    """The time of a ULID, in UTC; ``None`` when the text is not one."""
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
    """Makes strictly increasing ULIDs, even when the clock stops or goes back.

    ``now`` and ``random_bits`` are passed in, so that tests can fix both.
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
