"""Fit the weights of `thunderus_mem.document.asides`, and say how well they carry over to other authors.

``python benchmarks/fit_asides.py --honest FOLDER… [--write]`` needs scikit-learn. Orders are the cases of
``safety/*.jsonl`` of the class ``instruction-structure``; honest ones are the other cases and the asides of
public documents, Markdown files of folders or git directories. Each author with orders is left out once, and
the share of the cases of that author that the weights of the others find is printed, with the threshold that
reports `SHARE` of the documents. ``--write`` fits all cases and writes ``aside_weights.txt``.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

PROJECT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, PROJECT)

from benchmarks.safety_quality import JOINT, documents  # noqa: E402
from thunderus_mem.document import asides  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

SAFETY = os.path.join(PROJECT, "benchmarks", "safety")
FEWEST = 4
"""A feature counts if this many orders have it."""
LIGHTEST = 0.05
SHARE, HONEST = 0.003, 0.012
"""The shares of public documents and of honest cases that asides alone may report."""
HEAVY, CAREFUL = 20, 11
"""What it costs to miss an order and to report an honest case, in asides of public documents."""
SAMPLE = 300
NEAREST = 60
Features = dict[str, float]
Texts = list[list[Features]]


class Case(NamedTuple):
    """A case: who wrote it, whether it is an order in an aside, and the features of its asides."""

    author: str
    kind: str
    asides: list[Features]


def features(text: str) -> list[Features]:
    """The features of the asides of a text."""
    return [one.features for one in asides.asides(text)]


def cases() -> list[Case]:
    """The cases of all files; orders in plain text are left out."""
    found = []
    for name in ("development.jsonl", "instructions.jsonl"):
        with open(os.path.join(SAFETY, name), encoding="utf-8") as lines:
            for one in map(json.loads, lines):
                kind = one["class"]
                if kind == "instruction-structure" or kind.startswith("honest"):
                    text = one["text"].replace(JOINT, "") + "\n"
                    found.append(Case(one.get("author", "own"), kind, features(text)))
    return found


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


def threshold(fit: Fit, honest: Texts, public: Texts) -> float:
    """The score that few of the documents and of the honest cases exceed."""
    both = ((honest, HONEST), (public, SHARE))
    return max(sorted(map(fit.score, texts), reverse=True)[int(part * len(texts))] for texts, part in both)


def split(known: list[Case]) -> tuple[Texts, Texts]:
    """The asides of orders and those of honest cases."""
    orders = [one.asides for one in known if one.kind == "instruction-structure"]
    return orders, [one.asides for one in known if one.kind != "instruction-structure"]


def share(scores: Iterable[float], limit: float) -> str:
    """The share of scores above a limit, as text."""
    found = [score > limit for score in scores]
    return f"{100 * sum(found) / len(found):.1f} % of {len(found)}" if found else "\u2013"


def compare(known: list[Case], public: Texts) -> None:
    """Leave each author out, and print what is found; half of the documents only set the threshold."""
    for author in sorted({one.author for one in known if one.kind == "instruction-structure"}):
        own = [one for one in known if one.author == author]
        others = [one for one in known if one.author != author]
        orders, honest = split(others)
        fit = Fit(orders, honest, public[::2])
        limit = threshold(fit, honest, public[1::2])
        said = [
            f"{kind} {share([fit.score(one.asides) for one in own if one.kind == kind], limit)}"
            for kind in ("instruction-structure", "honest-structure", "honest")
        ]
        print(f"{author}: {', '.join(said)}, threshold {limit:.2f}")


def write(fit: Fit, limit: float) -> None:
    """Write the table; a sum without the constant is compared with the threshold."""
    names = fit.vectorizer.get_feature_names_out()
    weights = [one for one in zip(names, fit.model.coef_[0], strict=True) if abs(one[1]) >= LIGHTEST]
    lines = [f"(threshold)\t{limit - fit.model.intercept_[0]:.2f}"]
    lines += [f"{name}\t{weight:.2f}" for name, weight in weights]
    with open(asides.WEIGHTS, "w", encoding="utf-8", newline="\n") as file:
        file.write("\n".join(lines) + "\n")


def sample(folder: str) -> Texts:
    """The asides of documents of a folder, evenly spread: of each those whose words are most of an order."""
    texts = [text for _, text in documents(folder)]
    chosen = texts[:: max(len(texts) // SAMPLE, 1)][:SAMPLE]
    return [sorted(features(text), key=lambda one: -one["prose"])[:NEAREST] for text in chosen]


def main() -> int:
    """Fit, and print or write."""
    parser = argparse.ArgumentParser(description="Fit the weights of planted instructions in asides.")
    parser.add_argument("--honest", nargs="+", required=True, metavar="FOLDER")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    known = cases()
    public = [one for folder in options.honest for one in sample(folder)]
    compare(known, public)
    if options.write:
        orders, honest = split(known)
        fit = Fit(orders, honest, public)
        write(fit, threshold(fit, honest, public))
    return 0


if __name__ == "__main__":
    sys.exit(main())
