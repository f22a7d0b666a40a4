"""Days as people write them in records, read as ``YYYY-MM-DD``. Pure."""

from __future__ import annotations

import re
from datetime import date
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

_MONTHS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH: Final = rf"({'|'.join(_MONTHS)})[a-z]{{0,6}}\.?"
_YEAR_FIRST = re.compile(r"\b(\d{4})([-/.])(\d{1,2})\2(\d{1,2})\b", re.ASCII)
_YEAR_LAST = re.compile(r"\b(\d{1,2})([/.-])(\d{1,2})\2(\d{4})\b", re.ASCII)
_DAY_NAMED = re.compile(rf"\b(\d{{1,2}})(?:st|nd|rd|th)?\.? {_MONTH},? (\d{{4}})\b", re.ASCII | re.IGNORECASE)
_MONTH_NAMED = re.compile(rf"\b{_MONTH} (\d{{1,2}})(?:st|nd|rd|th)?,? (\d{{4}})\b", re.ASCII | re.IGNORECASE)


def day_in(text: str, *, day_first: bool | None = None) -> str:
    """The first day a text names, "" when there is none.

    ``04/07/2019`` is two days in two countries: it counts when only one of them exists, or when ``day_first``
    says how its neighbours write.
    """
    if found := _YEAR_FIRST.search(text):
        return _day(found[1], found[3], found[4])
    if found := _DAY_NAMED.search(text):
        return _day(found[3], _month(found[2]), found[1])
    if found := _MONTH_NAMED.search(text):
        return _day(found[3], _month(found[1]), found[2])
    if found := _YEAR_LAST.search(text):
        first, second = int(found[1]), int(found[3])
        if first > 12 or (day_first and second <= 12):
            return _day(found[4], second, first)
        if second > 12 or day_first is False or first == second:
            return _day(found[4], first, second)
    return ""


def writes_day_first(texts: Iterable[str]) -> bool | None:
    """Whether days written with the year last begin with the day; ``None`` when nothing or both shows."""
    seen = set()
    for text in texts:
        for found in _YEAR_LAST.finditer(text):
            first, second = int(found[1]), int(found[3])
            if (first > 12) != (second > 12):
                seen.add(first > 12)
    return seen.pop() if len(seen) == 1 else None


def _month(name: str) -> int:
    return _MONTHS.index(name.lower()) + 1


def _day(year: str | int, month: str | int, day: str | int) -> str:
    try:
        return date(int(year), int(month), int(day)).isoformat()
    except ValueError:
        return ""
