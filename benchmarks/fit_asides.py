"""Fit the weights of `thunderus_mem.safety.asides`, and say how well they carry over to other authors.

``python benchmarks/fit_asides.py --honest FOLDER… [--write]`` needs scikit-learn. Texts are those of
`fit_orders`: orders in asides, honest cases and public documents. Each author with orders is left out once,
and the share of the cases of that author that the weights of the others find is printed, with the threshold
that reports `SHARE` of the documents and `HONEST` of the honest orders that were left out. ``--write`` fits
all cases and writes ``aside_weights.txt``.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

PROJECT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, PROJECT)

from benchmarks import fit_orders  # noqa: E402
from benchmarks.safety_quality import JOINT  # noqa: E402
from thunderus_mem.safety import asides, orders  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

FEWEST, FEWEST_AUTHORS = 4, 7
"""A feature counts if this many orders have it, a word if orders by this many authors have it."""
LIGHTEST = 0.05
SHARE, HONEST = 0.004, 0.01
"""The shares of public documents and of honest orders that asides alone may report if they are left out."""
HEAVY, CAREFUL = 20, 8
"""What it costs to miss an order and to report an honest case, in asides of public documents."""
NEAREST = 60
Features = dict[str, float]
Texts = list[list[Features]]


class Case(NamedTuple):
    """A case: who wrote it, whether it is an order in an aside, and the features of its asides."""

    author: str
    kind: str
    asides: list[Features]


def features(one: fit_orders.Text) -> list[Features]:
    """The features and words of the asides of a text; of documents those whose words are most of an order."""
    text = one.text.replace(JOINT, "") + "\n"
    found = [
        {**aside.features, **dict.fromkeys(sorted(words(aside)), 1.0)}
        for aside in asides.asides(text, asides.mentions(text))
    ]
    return found if one.kind != "public" else sorted(found, key=lambda one: -one["prose"])[:NEAREST]


def words(aside: asides.Aside) -> set[str]:
    """The words of an aside, as names in the table."""
    return {f"!{word}" for one in aside.said for word in one.simple if word[0] != "+"}


def cases(table: fit_orders.Table) -> list[Case]:
    """The asides of all texts; orders in plain text are left out.

    The sum of words in each half of the texts is that of weights fitted to the other half, for weights say
    more about the texts to which they were fitted than about others.
    """
    found: list[Case] = []
    authors = sorted({one.author for one in table.known})
    halves: list[list[int]] = [[], []]
    for at, one in enumerate(table.known):
        halves[at % 2 if one.kind == "public" else authors.index(one.author) % 2].append(at)
    written = orders.WEIGHTS
    with tempfile.TemporaryDirectory() as folder:
        for number, half in enumerate(halves):
            orders.WEIGHTS = os.path.join(folder, f"{number}.txt")
            fit_orders.save(table, fit_orders.Fit(table, frozenset(half)), 0.0)
            orders._weights.cache_clear()
            asides._said.cache_clear()
            known = [table.known[at] for at in half if table.known[at].kind != "order"]
            found += [Case(one.author, one.kind, features(one)) for one in known]
    orders.WEIGHTS = written
    return _with_known_words(found)


def _with_known_words(found: list[Case]) -> list[Case]:
    """The cases with the words that several authors use in asides, and without others."""
    authors: dict[str, set[str]] = {}
    for one in found:
        for name in {name for aside in one.asides for name in aside} if one.kind == "aside" else ():
            authors.setdefault(name, set()).add(one.author)
    known = {name for name, who in authors.items() if name[0] != "!" or len(who) >= FEWEST_AUTHORS}
    return [
        one._replace(
            asides=[{name: value for name, value in aside.items() if name in known} for aside in one.asides]
        )
        for one in found
    ]


class Fit:
    """A regression of asides."""

    def __init__(self, orders: Texts, honest: Texts, public: Texts) -> None:
        from sklearn.feature_extraction import DictVectorizer  # type: ignore[import-not-found, unused-ignore]
        from sklearn.linear_model import LogisticRegression  # type: ignore[import-not-found, unused-ignore]

        counted = Counter(name for one in orders for name in {name for aside in one for name in aside})
        self.names = {name for name, count in counted.items() if count >= FEWEST}
        self.vectorizer: Any = DictVectorizer().fit([dict.fromkeys(sorted(self.names), 1.0)])
        self.model: Any = None
        rows = [(self.kept(one), CAREFUL) for text in honest for one in text]
        rows += [(self.kept(one), 1) for text in public for one in text]
        for _ in range(4):
            heaviest = [self.kept(self.heaviest(one)) for one in orders if one]
            labels = [0] * len(rows) + [1] * len(heaviest)
            costs = [cost for _, cost in rows] + [HEAVY] * len(heaviest)
            matrix = self.matrix([row for row, _ in rows] + heaviest)
            model = LogisticRegression(C=0.05, max_iter=400, solver="liblinear")
            self.model = model.fit(matrix, labels, sample_weight=costs)

    def kept(self, one: Features) -> Features:
        """The features that count."""
        return {name: value for name, value in one.items() if name in self.names}

    def matrix(self, rows: Sequence[Features]) -> Any:
        """The rows as a sparse matrix."""
        found = self.vectorizer.transform(rows)
        found.indices, found.indptr = found.indices.astype("int32"), found.indptr.astype("int32")
        return found

    def heaviest(self, one: list[Features]) -> Features:
        """The aside of a case that is most of an order."""
        if self.model is None:
            return max(one, key=lambda aside: aside["prose"])
        scores = list(self.model.decision_function(self.matrix([self.kept(aside) for aside in one])))
        return one[scores.index(max(scores))]

    def score(self, one: list[Features]) -> float:
        """The score of a text: that of its heaviest aside."""
        kept = [self.kept(aside) for aside in one]
        return float(max(self.model.decision_function(self.matrix(kept)))) if kept else -99.0


def split(known: list[Case]) -> tuple[Texts, Texts]:
    """The asides of orders and those of honest cases."""
    orders = [one.asides for one in known if one.kind == "aside"]
    return orders, [one.asides for one in known if one.kind != "aside"]


def share(scores: Iterable[float], limit: float) -> str:
    """The share of scores above a limit, as text."""
    found = [score > limit for score in scores]
    return f"{100 * sum(found) / len(found):.1f} % of {len(found)}" if found else "\u2013"


def compare(known: list[Case], public: Texts) -> float:
    """Leave each author and a part of the documents out, print what is found, and return the threshold."""
    authors = sorted({one.author for one in known if one.kind == "aside"})
    scores: dict[tuple[str, str], list[float]] = {}
    for number, author in enumerate(authors):
        orders, honest = split([one for one in known if one.author != author])
        kept = [one for at, one in enumerate(public) if at % len(authors) != number]
        fit = Fit(orders, honest, kept)
        for one in known:
            if one.author == author:
                scores.setdefault((author, one.kind), []).append(fit.score(one.asides))
        scores.setdefault(("", "documents"), []).extend(map(fit.score, public[number :: len(authors)]))
    imperatives = [score for (_, kind), found in scores.items() if kind == "honest" for score in found]
    limit = max(quantile(imperatives, HONEST), quantile(scores["", "documents"], SHARE))
    for (author, kind), found in sorted(scores.items()):
        print(f"{author} {kind} {share(found, limit)}")
    print(f"threshold {limit:.2f}")
    return limit


def quantile(values: Iterable[float], part: float) -> float:
    """The value that this share of the values exceeds."""
    ordered = sorted(values, reverse=True)
    return ordered[min(int(part * len(ordered)), len(ordered) - 1)]


def write(fit: Fit, limit: float) -> None:
    """Write the table; a sum without the constant is compared with the threshold."""
    names = fit.vectorizer.get_feature_names_out()
    weights = [one for one in zip(names, fit.model.coef_[0], strict=True) if abs(one[1]) >= LIGHTEST]
    lines = [f"(threshold)\t{limit - fit.model.intercept_[0]:.2f}"]
    lines += [f"{name}\t{weight:.2f}" for name, weight in weights]
    with open(asides.WEIGHTS, "w", encoding="utf-8", newline="\n") as file:
        file.write("\n".join(lines) + "\n")


def main() -> int:
    """Fit, and print or write."""
    parser = argparse.ArgumentParser(description="Fit the weights of planted instructions in asides.")
    parser.add_argument("--honest", nargs="+", required=True, metavar="FOLDER")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    texts = fit_orders.texts(options.honest)
    found = cases(fit_orders.Table(texts, list(fit_orders.passages(texts))))
    known = [one for one in found if one.kind != "public"]
    public = [one.asides for one in found if one.kind == "public"]
    limit = compare(known, public)
    if options.write:
        write(Fit(*split(known), public), limit)
    return 0


if __name__ == "__main__":
    sys.exit(main())
