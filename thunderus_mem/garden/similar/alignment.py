"""Which sentence of one document answers which of another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from thunderus_mem.garden.similar.sentences import Sentence

_ONE_SLOT: Final = 0.15
"""Two sentences under one heading or key are a little more likely to answer each other."""
_WEAKEST: Final = 0.3
_MOST_COMPARED: Final = 80


class Aligned(NamedTuple):
    """Two sentences that answer each other; ``likeness`` is 1 when they say the same word for word."""

    one: Sentence
    other: Sentence
    likeness: float


def likeness(one: Sentence, other: Sentence) -> float:
    """How much of what the shorter speaks of the other speaks of too, and the other way round: 0 to 1."""
    shared = len(one.concepts & other.concepts)
    if not shared:
        return 0.0
    sizes = len(one.concepts), len(other.concepts)
    return (2 * shared / sum(sizes) + shared / min(sizes)) / 2


def answers(ones: Sequence[Sentence], others: Sequence[Sentence], least: float) -> list[Aligned]:
    """For each sentence the other side's most like it, either way, from ``least`` on; one may answer many."""
    found = {}
    bodies = [[s for s in each[: _MOST_COMPARED + 1] if s.slot != "title"] for each in (ones, others)]
    scored = [(likeness(one, other), one, other) for one in bodies[0] for other in bodies[1]]
    best: dict[int, float] = {}
    for score, one, other in scored:
        for side in (one, other):
            best[id(side)] = max(best.get(id(side), 0.0), score)
    for score, one, other in scored:
        if score >= least and score in (best[id(one)], best[id(other)]):
            found[id(one), id(other)] = Aligned(one, other, score)
    return list(found.values())


def align(ones: Sequence[Sentence], others: Sequence[Sentence]) -> list[Aligned]:
    """Pairs of sentences, each used once: first those that are the same, then the most alike."""
    found, left, right = _identical(ones, others)
    scored = []
    for at, one in enumerate(left[:_MOST_COMPARED]):
        for to, other in enumerate(right[:_MOST_COMPARED]):
            if (one.slot == "title") != (other.slot == "title"):
                continue
            same_slot = bool(one.slot) and one.slot == other.slot
            score = likeness(one, other)
            if score and score + _ONE_SLOT * same_slot >= _WEAKEST:
                scored.append((-score - _ONE_SLOT * same_slot, at, to, score))
    used: tuple[set[int], set[int]] = (set(), set())
    for _, at, to, score in sorted(scored):
        if at not in used[0] and to not in used[1]:
            used[0].add(at)
            used[1].add(to)
            found.append(Aligned(left[at], right[to], min(score, 0.99)))
    return found


def _identical(
    ones: Sequence[Sentence], others: Sequence[Sentence]
) -> tuple[list[Aligned], list[Sentence], list[Sentence]]:
    waiting: dict[str, list[Sentence]] = {}
    for other in others:
        waiting.setdefault(other.plain, []).append(other)
    found, left = [], []
    for one in ones:
        same = waiting.get(one.plain)
        if same:
            found.append(Aligned(one, same.pop(0), 1.0))
        else:
            left.append(one)
    right = [other for others in waiting.values() for other in others]
    return found, left, sorted(right, key=lambda sentence: sentence.line)
