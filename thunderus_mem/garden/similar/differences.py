"""What two sentences that answer each other disagree about: a number, a name, a negation, an opposite."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from thunderus_mem.garden.similar.amounts import amounts, conflict
from thunderus_mem.garden.similar.order import in_one_order, turned_round
from thunderus_mem.garden.similar.scope import scopes_apart
from thunderus_mem.garden.similar.vocabulary import MONTHS, NEGATIONS, STOP_WORDS, WEEKDAYS
from thunderus_mem.garden.similar.words import concepts, opposites, stem
from thunderus_mem.model.words import has_hump

if TYPE_CHECKING:
    from collections.abc import Set

    from thunderus_mem.garden.similar.sentences import Sentence

# A word whose two sides may change places: "a before b" is "b after a".
_SIDED: Final = frozenset(
    map(stem, ("before", "after", "above", "below", "left", "right", "more", "less", "higher", "lower"))
)
_TEMPORAL: Final = frozenset(map(stem, ("before", "after")))
# A negation says nothing about what stands behind one of these: "without it the query is slow".
_ENDS_NEGATION: Final = frozenset(
    (
        *("it", "its", "they", "them", "he", "she", "we", "you", "i", "this"),
        *("that", "these", "those", "and", "or", "but", "which", "who", "when", "where"),
        *("if", "as", "because", "so"),
    )
)
_REACH: Final = 4
_PARTS: Final = re.compile(r"[-_/.:@]")


class Difference(NamedTuple):
    """``about`` is what differs: "number", "name", "negation", "opposite", "order", "scope" or "word";
    ``said`` the words."""

    about: str
    one: Sentence
    other: Sentence
    said: tuple[str, str] = ("", "")


def names(sentence: Sentence) -> set[str]:
    """The names in a sentence, in small letters: in code spans, with capitals inside, paths, weekdays."""
    found = set()
    for at, token in enumerate(sentence.tokens):
        word = token.lower()
        if word in STOP_WORDS or word[:1].isdigit() or "'" in word:
            continue
        marked = any(char in token for char in "_/.@") or has_hump(token)
        capital = token[0].isupper() and (at > 0 or (token.isupper() and len(token) > 1))
        if word in sentence.code or marked or capital or word in WEEKDAYS or word in MONTHS:
            found.add(word)
    return found


def _known(name: str, told: Set[str]) -> bool:
    """Whether the other document speaks of a name too, in whole or in its parts."""
    parts = [part for part in _PARTS.split(name) if part]
    return name in told or all(part in told or any(one in told for one in concepts(part)) for part in parts)


def negated(sentence: Sentence) -> set[str]:
    """The concepts that a sentence denies: the first one behind each negation."""
    found: set[str] = set()
    words = sentence.words
    for at, word in enumerate(words):
        if _denies(word):
            for behind in words[at + 1 : at + 1 + _REACH]:
                if behind in _ENDS_NEGATION:
                    break
                if denied := concepts(behind):
                    found.update(denied)
                    break
    return found


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
    """Two words that say opposite things; not when one of them is denied: "enabled", "not disabled"."""
    table = opposites()
    mine, theirs = set(one.stems) - set(other.stems), set(other.stems) - set(one.stems)
    for word in sorted(mine & table.keys()):
        for opposite in sorted(table[word] & theirs):
            denied = (
                not negated(one).isdisjoint(concepts(word)),
                not negated(other).isdisjoint(concepts(opposite)),
            )
            placed = word in _TEMPORAL and in_one_order(one, other)
            if denied[0] == denied[1] and not placed and not _changed_places(one, other, word, opposite):
                return word, opposite
    return None


def _denied(one: Sentence, other: Sentence) -> tuple[str, str] | None:
    """A concept that one sentence denies and the other states."""
    mine, theirs = negated(one), negated(other)
    for denied, stated, turned in ((mine, other, theirs), (theirs, one, mine)):
        for concept in sorted(denied - turned):
            if concept in stated.concepts:
                said = f"not {concept}", concept
                return said if denied is mine else (said[1], said[0])
    return None


def _denies(word: str) -> bool:
    return word in NEGATIONS or word.endswith("n't")


def _only_denied(one: Sentence, other: Sentence) -> bool:
    """Whether two sentences have the same words but for an odd number of negations."""
    bare = [[word for word in each.words if not _denies(word)] for each in (one, other)]
    return bare[0] == bare[1] and (len(one.words) - len(other.words)) % 2 == 1


def disagreement(
    one: Sentence, other: Sentence, told: tuple[Set[str], Set[str]], *, in_place: bool = True
) -> Difference | None:
    """What two sentences disagree about; ``told`` is every word and concept of the one and other document,
    ``in_place`` says that the sentences answer each other as a whole."""
    if said := conflict(amounts(one), amounts(other), in_place=in_place):
        return Difference("number", one, other, said)
    mine = {name for name in names(one) if not _known(name, told[1])}
    theirs = {name for name in names(other) if not _known(name, told[0])}
    if in_place and mine and theirs:
        return Difference("name", one, other, (min(mine), min(theirs)))
    if said := _opposite(one, other):
        return Difference("opposite", one, other, said)
    if said := turned_round(one, other):
        return Difference("order", one, other, said)
    if said := _denied(one, other):
        return Difference("negation", one, other, said)
    if said := scopes_apart(one, other, in_place=in_place):
        return Difference("scope", one, other, said)
    return Difference("negation", one, other) if in_place and _only_denied(one, other) else None


def replaced_word(one: Sentence, other: Sentence) -> tuple[str, str] | None:
    """The one word that stands in the place of another when all others are the same."""
    if len(one.words) != len(other.words):
        return None
    unlike = [pair for pair in zip(one.words, other.words, strict=True) if pair[0] != pair[1]]
    if len(unlike) != 1 or set(concepts(unlike[0][0])) & set(concepts(unlike[0][1])):
        return None
    return None if {*unlike[0]} <= STOP_WORDS else unlike[0]
