"""What a text puts first: "a before b" said as "b before a", and the steps of a playbook in another order."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from thunderus_mem.garden.similar.vocabulary import NEGATIONS
from thunderus_mem.garden.similar.words import concepts_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from thunderus_mem.garden.similar.alignment import Aligned
    from thunderus_mem.garden.similar.sentences import Sentence

_MARKS: Final = frozenset(("before", "after", "then", "until"))
_CLAUSE: Final = re.compile(r"[,;:()–—]")
_WORD: Final = re.compile(r"[^\s,;:()–—]+")
_AROUND: Final = "`*_\"'.!?"


class Told(NamedTuple):
    """What a sentence puts ``earlier`` and what ``later``, as concepts that stand on one side only."""

    earlier: frozenset[str]
    later: frozenset[str]


def _denies(words: Iterable[str]) -> bool:
    return any(word in NEGATIONS or word.endswith(("n't", "n’t")) for word in words)


def _told(mark: str, front: list[str], behind: list[str]) -> Told | None:
    before, after = (frozenset(concepts_of(" ".join(words))) for words in (front, behind))
    before, after = before - after, after - before
    if not before or not after:
        return None
    turned = _denies(word.lower() for word in front)
    if mark == "until":
        # "Wait with a until b" and "a until b" differ; only what must not be is plain.
        return Told(after, before) if turned else None
    return Told(after, before) if (mark == "after") != turned else Told(before, after)


def orders(sentence: Sentence) -> list[Told]:
    """Every "before", "after", "then" and "not … until" of a sentence with what stands around it."""
    clauses = [
        [word.strip(_AROUND) for word in _WORD.findall(clause)] for clause in _CLAUSE.split(sentence.text)
    ]
    clauses = [words for words in clauses if words]
    found = []
    for at, words in enumerate(clauses):
        for to, word in enumerate(words):
            mark = word.lower()
            if mark not in _MARKS:
                continue
            front, behind = words[:to], words[to + 1 :]
            if mark == "then":
                front = front if concepts_of(" ".join(front)) or not at else clauses[at - 1]
            elif not concepts_of(" ".join(front)) and at + 1 < len(clauses):
                front = clauses[at + 1]  # "before a, do b"
            told = _told(mark, front, behind)
            if told is not None:
                found.append(told)
    return found


def turned_round(one: Sentence, other: Sentence) -> tuple[str, str] | None:
    """The two things that one sentence puts in the one order and the other in the opposite one."""
    for mine in orders(one):
        for theirs in orders(other):
            first, second = mine.earlier & theirs.later, mine.later & theirs.earlier
            straight = len(mine.earlier & theirs.earlier) + len(mine.later & theirs.later)
            if first and second and len(first) + len(second) > straight:
                a, b = min(first), min(second)
                return f"{a} first", f"{b} first"
    return None


def in_one_order(one: Sentence, other: Sentence) -> bool:
    """Whether two sentences put the same things in the same order, with whatever words."""
    return any(
        mine.earlier & theirs.earlier and mine.later & theirs.later
        for mine in orders(one)
        for theirs in orders(other)
    )


def steps_apart(
    ones: Sequence[Sentence], others: Sequence[Sentence], matched: Iterable[Aligned]
) -> tuple[Aligned, Aligned] | None:
    """Two steps that follow each other the other way round in the other text; each may have several answers,
    and all of them must."""
    places = {id(sentence): at for each in (ones, others) for at, sentence in enumerate(each)}
    answered: dict[int, list[tuple[int, Aligned]]] = {}
    for pair in matched:
        answered.setdefault(places[id(pair.one)], []).append((places[id(pair.other)], pair))
    latest: tuple[int, Aligned] | None = None
    for at in sorted(answered):
        first, last = min(answered[at], key=_place), max(answered[at], key=_place)
        if latest is not None and last[0] < latest[0]:
            return latest[1], last[1]
        if latest is None or first[0] > latest[0]:
            latest = first
    return None


def _place(found: tuple[int, Aligned]) -> int:
    return found[0]
