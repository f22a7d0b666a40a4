"""The method of Thunderus's own gardener: two facts whose files share more than 80 % of their words are one.

Words are what stands between blanks, counted once each, over the whole file with its frontmatter. Comparing
all pairs is quadratic; this finds exactly the same pairs by looking only at those that share a rare word.
"""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, Final

from benchmarks.quality.trials import Seen, Told

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from thunderus_mem.document.document import Document

LIMIT: Final = 0.8


def overlap(one: frozenset[str], other: frozenset[str]) -> float:
    """Jaccard's coefficient of two sets of words, 0 to 1."""
    shared = len(one & other)
    return shared / (len(one) + len(other) - shared) if shared else 0.0


def alike(words: Mapping[str, frozenset[str]], limit: float = LIMIT) -> set[tuple[str, str]]:
    """Every pair of keys, in order, whose words overlap by more than ``limit``.

    Of two sets that overlap so much, the rarest words of each (as many as it could lack, and one more) have
    one in common.
    """
    frequency = Counter(word for each in words.values() for word in each)
    holders: dict[str, list[str]] = {}
    found: set[tuple[str, str]] = set()
    for name in sorted(words):
        mine = words[name]
        rare = sorted(mine, key=lambda word: (frequency[word], word))
        candidates: set[str] = set()
        for word in rare[: len(mine) - math.ceil(limit * len(mine)) + 1]:
            candidates.update(holders.get(word, ()))
            holders.setdefault(word, []).append(name)
        for other in candidates:
            theirs = words[other]
            if min(len(mine), len(theirs)) <= limit * max(len(mine), len(theirs)):
                continue
            if overlap(mine, theirs) > limit:
                found.add((other, name))
    return found


def word_overlap(documents: Iterable[Document]) -> Seen:
    """The results of that gardener for a pool: it merges all pairs it finds and proposes nothing."""
    words = {each.id: frozenset(each.text.split()) for each in documents if each.kind == "fact"}
    merged = alike(words)
    return Seen({pair: Told("duplicate", "word overlap", True) for pair in merged}, frozenset(merged))
