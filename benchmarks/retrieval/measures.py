"""Measures of rankings, scores and answers, and the paired bootstrap. Pure."""

from __future__ import annotations

import bisect
import math
import random
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

DEPTH: Final = 10
_SAMPLES: Final = 2000
_BINS: Final = 10


def ndcg(ranked: Sequence[str], grades: Mapping[str, int]) -> float:
    """The normalized discounted cumulative gain of the first ten; a grade g gains 2^g - 1."""
    best = _gain(sorted(grades.values(), reverse=True))
    return _gain([grades.get(path, 0) for path in ranked]) / best if best else 0.0


def _gain(grades: Sequence[int]) -> float:
    return sum((2.0**grade - 1) / math.log2(place + 2) for place, grade in enumerate(grades[:DEPTH]))


def recall(ranked: Sequence[str], relevant: Collection[str]) -> float:
    """The share of the relevant documents that are in the first ten."""
    return len(set(ranked[:DEPTH]) & set(relevant)) / len(relevant) if relevant else 0.0


def found(ranked: Sequence[str], relevant: Collection[str], depth: int = 5) -> bool:
    """Whether any relevant document is in the first ``depth``."""
    return not set(ranked[:depth]).isdisjoint(relevant)


def before(ranked: Sequence[str], current: Collection[str], outdated: Collection[str]) -> bool:
    """Whether a current document is listed before every outdated one."""
    first = next((path for path in ranked if path in current or path in outdated), None)
    return first in current


def mean(values: Sequence[float]) -> float:
    """The mean; 0 without values."""
    return sum(values) / len(values) if values else 0.0


def paired_interval(ours: Sequence[float], theirs: Sequence[float], seed: str = "1") -> tuple[float, float]:
    """The 95 % interval of the mean difference, by resampling the questions."""
    differences = [one - other for one, other in zip(ours, theirs, strict=True)]
    if not differences:
        return 0.0, 0.0
    dice = random.Random(seed)
    means = sorted(mean(dice.choices(differences, k=len(differences))) for _ in range(_SAMPLES))
    return means[int(0.025 * _SAMPLES)], means[int(0.975 * _SAMPLES) - 1]


def area(positive: Sequence[float], negative: Sequence[float]) -> float:
    """The area under the ROC curve: how often a positive value is above a negative one; ties count half."""
    ordered = sorted(negative)
    won = sum(bisect.bisect_left(ordered, value) + bisect.bisect_right(ordered, value) for value in positive)
    pairs = len(positive) * len(negative)
    return won / (2 * pairs) if pairs else 0.5


def calibration_error(judged: Sequence[tuple[float, bool]]) -> float:
    """The expected difference between a score and the share of relevant hits, in ten bins of equal width."""
    bins: list[list[tuple[float, bool]]] = [[] for _ in range(_BINS)]
    for score, right in judged:
        bins[max(0, min(int(score * _BINS), _BINS - 1))].append((score, right))
    total = sum(abs(sum(score for score, _ in one) - sum(right for _, right in one)) for one in bins)
    return total / len(judged) if judged else 0.0
