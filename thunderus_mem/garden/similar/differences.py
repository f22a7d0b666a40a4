"""What two sentences that answer each other disagree about: a number, a name, a negation, an opposite."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from thunderus_mem.garden.similar.vocabulary import NEGATIONS, NUMBER_WORDS, STOP_WORDS, UNITS
from thunderus_mem.garden.similar.words import concepts, opposites
from thunderus_mem.model.words import has_hump

if TYPE_CHECKING:
    from collections.abc import Set

    from thunderus_mem.garden.similar.sentences import Sentence

_AMOUNT: Final = re.compile(r"(\d{1,15}(?:\.\d{1,15})?)([^\W\d_]{0,10}%?)")
_DATED: Final = re.compile(r"\d{4}-\d{2}(?:-\d{2})?")
# A word whose two sides may change places: "a before b" is "b after a".
_SIDED: Final = frozenset("before after above below left right more less higher lower".split())
_MONTHS_AND_DAYS: Final = frozenset(
    (
        "january february march april june july august september october november december "
        "monday tuesday wednesday thursday friday saturday sunday"
    ).split()
)

Quantity = tuple[str, float | str]


class Difference(NamedTuple):
    """``about`` is what differs: "number", "name", "negation", "opposite" or "word"; ``said`` the words."""

    about: str
    one: Sentence
    other: Sentence
    said: tuple[str, str] = ("", "")


def quantities(sentence: Sentence) -> set[Quantity]:
    """The numbers of a sentence with what they measure, in the smallest unit: ``5 min`` is 300 of time."""
    found: set[Quantity] = set()
    words = sentence.words
    for at, word in enumerate(words):
        if _DATED.fullmatch(word):
            found.add(("date", word))
            continue
        match = _AMOUNT.fullmatch(NUMBER_WORDS.get(word, word))
        if match is None:
            if word.lstrip("v")[:1].isdigit() and "." in word:
                found.add(("version", word.lstrip("v").rstrip(".")))
            continue
        unit = match[2] or (words[at + 1] if at + 1 < len(words) else "")
        kind, factor = UNITS.get(unit, ("number", 1.0))
        if match[2] and kind == "number":
            continue  # a name such as 2fa
        found.add((kind, round(float(match[1]) * factor, 6)))
    return found


def _conflict(one: set[Quantity], other: set[Quantity]) -> tuple[str, str] | None:
    """Two amounts of one kind that only one side has each; a version may stand for a number."""
    mine, theirs = one - other, other - one
    for kind, amount in sorted(mine, key=repr):
        for other_kind, other_amount in sorted(theirs, key=repr):
            if kind == other_kind or {kind, other_kind} == {"number", "version"}:
                return f"{amount}", f"{other_amount}"
    return None


def names(sentence: Sentence) -> set[str]:
    """The names in a sentence, in small letters: in code spans, with capitals inside, paths, weekdays."""
    found = set()
    for at, token in enumerate(sentence.tokens):
        word = token.lower()
        if word in STOP_WORDS or word[:1].isdigit() or "'" in word:
            continue
        marked = any(char in token for char in "_/.@") or has_hump(token)
        capital = token[0].isupper() and (at > 0 or (token.isupper() and len(token) > 1))
        if word in sentence.code or marked or capital or word in _MONTHS_AND_DAYS:
            found.add(word)
    return found


def _known(name: str, said: Set[str]) -> bool:
    """Whether the other document speaks of a name too, in whole or in its parts."""
    if name in said:
        return True
    parts = [part for part in re.split(r"[-_/.:@]", name) if part]
    return bool(parts) and all(part in said or any(one in said for one in concepts(part)) for part in parts)


def _negations(sentence: Sentence) -> int:
    return sum(word in NEGATIONS or word.endswith("n't") for word in sentence.words)


def _changed_places(one: Sentence, other: Sentence, word: str, opposite: str) -> bool:
    """Whether two sentences say the same from the other side: "a before b", "b after a"."""
    if word not in _SIDED:
        return False
    at, to = one.stems.index(word), other.stems.index(opposite)
    left, right = set(one.stems[:at]), set(one.stems[at + 1 :])
    their_left, their_right = set(other.stems[:to]), set(other.stems[to + 1 :])
    crossed = len(left & their_right) + len(right & their_left)
    return crossed > len(left & their_left) + len(right & their_right)


def _opposite(one: Sentence, other: Sentence) -> tuple[str, str] | None:
    table = opposites()
    mine, theirs = set(one.stems) - set(other.stems), set(other.stems) - set(one.stems)
    for word in sorted(mine & table.keys()):
        for opposite in sorted(table[word] & theirs):
            if not _changed_places(one, other, word, opposite):
                return word, opposite
    return None


def disagreement(one: Sentence, other: Sentence, told: tuple[Set[str], Set[str]]) -> Difference | None:
    """What two sentences disagree about; ``told`` is every word and concept of the one and other document."""
    if amounts := _conflict(quantities(one), quantities(other)):
        return Difference("number", one, other, amounts)
    mine = {name for name in names(one) if not _known(name, told[1])}
    theirs = {name for name in names(other) if not _known(name, told[0])}
    if mine and theirs:
        return Difference("name", one, other, (min(mine), min(theirs)))
    opposite = _opposite(one, other)
    turned = (_negations(one) - _negations(other)) % 2
    if opposite and not turned:
        return Difference("opposite", one, other, opposite)
    if turned and not opposite:
        return Difference("negation", one, other)
    return None


def replaced_word(one: Sentence, other: Sentence) -> tuple[str, str] | None:
    """The one word that stands in the place of another when all others are the same."""
    if len(one.words) != len(other.words):
        return None
    unlike = [pair for pair in zip(one.words, other.words, strict=True) if pair[0] != pair[1]]
    if len(unlike) != 1 or set(concepts(unlike[0][0])) & set(concepts(unlike[0][1])):
        return None
    return None if {*unlike[0]} <= STOP_WORDS else unlike[0]
