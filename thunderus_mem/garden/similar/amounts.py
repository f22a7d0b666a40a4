"""The numbers of a sentence with what they measure: amounts, versions, dates, and how often."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from thunderus_mem.garden.similar.vocabulary import NUMBER_WORDS, UNITS, WEEKDAYS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from thunderus_mem.garden.similar.sentences import Sentence

_AMOUNT: Final = re.compile(r"(\d{1,15}(?:\.\d{1,15})?)([^\W\d_]{0,10}%?)")
_DATED: Final = re.compile(r"\d{4}-\d{2}(?:-\d{2})?")
_EACH: Final = frozenset(("every", "each", "per"))
_OFTEN: Final = {"daily": "day", "nightly": "day", "annually": "year", "quarterly": "quarter"} | {
    f"{unit}ly": unit for unit in ("hour", "week", "month", "year")
}
_NUMBER: Final = "number"
MEASURES: Final = frozenset(("time", "bytes", "share", "every"))
"""Kinds whose amounts can be held against each other wherever they stand."""


class Amount(NamedTuple):
    """``value`` of ``kind`` (time in seconds, bytes, share, every, date, version, number), the word before it
    and the word behind it."""

    kind: str
    value: float | str
    before: str
    behind: str


def amounts(sentence: Sentence) -> list[Amount]:
    """What is counted, measured or dated in a sentence, in order."""
    words, stems = sentence.words, ["", *sentence.stems, ""]
    found = []
    for at, word in enumerate(words):
        behind = words[at + 1] if at + 1 < len(words) else ""
        read = _often(word, behind) or _read(word, behind)
        if read is not None:
            found.append(Amount(*read, stems[at], stems[at + 2]))
    return found


def _often(word: str, behind: str) -> tuple[str, str] | None:
    if word in _OFTEN:
        return "every", _OFTEN[word]
    if word in _EACH:
        if behind in WEEKDAYS:
            return "every", "week"
        if UNITS.get(behind, ("",))[0] == "time":
            return "every", behind.rstrip("s")
    return None


def _read(word: str, behind: str) -> tuple[str, float | str] | None:
    if _DATED.fullmatch(word):
        return "date", word
    match = _AMOUNT.fullmatch(NUMBER_WORDS.get(word, word))
    if match is None:
        version = word.removeprefix("v")
        return ("version", version) if version[:1].isdigit() and "." in version else None
    kind, factor = UNITS.get(match[2] or behind, (_NUMBER, 1.0))
    if kind == _NUMBER and (match[2] or word in ("one", "half")):
        return None  # a name such as 2fa, or no amount: one of them
    return kind, round(float(match[1]) * factor, 6)


def _shown(amount: Amount) -> str:
    return f"{amount.value:g}" if isinstance(amount.value, float) else amount.value


def conflict(mine: Iterable[Amount], theirs: Iterable[Amount], *, in_place: bool) -> tuple[str, str] | None:
    """Two amounts of one kind that only one side has each, as texts; ``None`` when there are none.

    A bare number is held against one with the same word beside it, or, ``in_place`` (the sentences answer
    each other as a whole), against any other.
    """
    ones, others = list(mine), list(theirs)
    left = [one for one in ones if all(_apart(one, other) for other in others)]
    right = [other for other in others if all(_apart(one, other) for one in ones)]
    for one in left:
        for other in right:
            bare = {one.kind, other.kind} <= {_NUMBER, "version"}
            beside = bool(one.before == other.before != "" or one.behind == other.behind != "")
            if (bare and (in_place or beside)) or (one.kind == other.kind and not bare):
                return _shown(one), _shown(other)
    return None


def _apart(one: Amount, other: Amount) -> bool:
    return (one.kind, one.value) != (other.kind, other.value)
