"""Fit the weights of `thunderus_mem.document.orders`, and say how well they carry over to other authors.

``python benchmarks/fit_orders.py --honest FOLDER… [--write]`` needs scikit-learn. Cases are those of
``safety/instructions.jsonl``, each with its author; honest documents are Markdown files of folders or git
directories, and those of this project. Each author is left out once, and the share of the cases of that
author that the weights of the others find is printed, with the threshold that reports at most 1.5 % of honest
cases and 0.7 % of documents.
``--write`` fits all cases and writes ``order_weights.txt``.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import re
import sys
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any

PROJECT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, PROJECT)

from benchmarks.safety_quality import documents  # noqa: E402
from thunderus_mem.document import orders  # noqa: E402
from thunderus_mem.document.injection import shown_paragraphs  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

CASES = os.path.join(PROJECT, "benchmarks", "safety", "instructions.jsonl")
FEWEST = 3
LIGHTEST = 0.12
HONEST, DOCUMENTS = 0.015, 0.007
THRESHOLD, HIDDEN = 0.7, -0.75
"""The scores above which passages are reported, in plain and in hidden text: fewer than one in a hundred
documents that were not fitted are."""
OWN = ("docs", ".thunderus/memory")
SAMPLE = 160
FEW_OF = 4
NEARLY = -4.0
LONGEST = 20_000
TRIGGER = 2.2
ESTIMATE = -1.2
Row = tuple[frozenset[str], float]


def rows_of(text: str, names: frozenset[str] | None = None) -> list[Row]:
    """Features, all or those with these names, and lengths of the passages of a text."""
    return [
        (
            kept(frozenset[str]().union(*[one.features for one in window]), names),
            sum([one.length for one in window]),
        )
        for paragraph in shown_paragraphs(text)
        for window in orders.windows(orders.plain_paragraph(paragraph))
    ]


def kept(found: frozenset[str], names: frozenset[str] | None) -> frozenset[str]:
    """The features with these names."""
    return found if names is None else found & names


class Fit:
    """A regression of passages: weight of each feature, of the length, and the constant."""

    def __init__(
        self, vocabulary: dict[str, int], groups: Sequence[tuple[list[list[Row]], int, float]]
    ) -> None:
        """``groups`` are texts, whether they are orders, and what an error costs."""
        from sklearn.linear_model import LogisticRegression  # type: ignore[import-not-found, unused-ignore]

        self.vocabulary = vocabulary
        self.model: Any = None
        for _ in range(3):
            chosen = [
                (row, label, weight)
                for texts, label, weight in groups
                for rows in texts
                for row in (self.heaviest(rows) if label else self.hardest(rows) if weight == 1 else rows)
            ]
            model = LogisticRegression(C=0.05, max_iter=300, solver="liblinear")
            labels, costs = [label for _, label, _ in chosen], [weight for *_, weight in chosen]
            self.model = model.fit(self.matrix([row for row, _, _ in chosen]), labels, sample_weight=costs)

    def matrix(self, rows: Sequence[Row]) -> Any:
        """The rows as a sparse matrix."""
        from scipy.sparse import csr_matrix  # type: ignore[import-not-found, unused-ignore]

        values, places, edges = [], [], [0]
        for found, length in rows:
            known = [self.vocabulary[name] for name in found if name in self.vocabulary]
            places += [*known, len(self.vocabulary)]
            values += [*([1.0] * len(known)), orders.length_of(length)]
            edges.append(len(places))
        return csr_matrix((values, places, edges), shape=(len(rows), len(self.vocabulary) + 1))

    def heaviest(self, rows: list[Row]) -> list[Row]:
        """The passage of a text that is most of an order: not every sentence of a case is one."""
        if not rows:
            return []
        if self.model is None:
            return [max(rows, key=lambda row: len(self.vocabulary.keys() & row[0]))]
        scores = list(self.model.decision_function(self.matrix(rows)))
        return [rows[scores.index(max(scores))]]

    def hardest(self, rows: list[Row]) -> list[Row]:
        """Some passages of a document, and those that are nearly reported."""
        if self.model is None or not rows:
            return rows[::FEW_OF]
        scores = self.model.decision_function(self.matrix(rows))
        return [row for at, row in enumerate(rows) if at % FEW_OF == 0 or scores[at] > NEARLY]

    def score(self, texts: Sequence[list[Row]]) -> list[float]:
        """The score of each text: that of its heaviest passage."""
        return [max(self.model.decision_function(self.matrix(rows))) if rows else -99.0 for rows in texts]


def fitted(orders: list[list[Row]], honest: list[list[Row]], public: list[list[Row]]) -> Fit:
    """Fit orders against honest cases and public documents."""
    counted = Counter(name for rows in orders for name in {name for found, _ in rows for name in found})
    names = sorted(name for name, count in counted.items() if count >= FEWEST)
    return Fit({name: at for at, name in enumerate(names)}, [(orders, 1, 10), (honest, 0, 5), (public, 0, 1)])


def quantile(values: Iterable[float], share: float) -> float:
    """The value that this share of the values exceeds."""
    ordered = sorted(values, reverse=True)
    return ordered[min(int(share * len(ordered)), len(ordered) - 1)]


def compare(known: dict[str, dict[str, list[list[Row]]]], public: list[list[Row]]) -> None:
    """Leave each author out, and print the recall."""
    scores: dict[str, dict[str, list[float]]] = {}
    outside: list[float] = []
    for number, author in enumerate(sorted(known)):
        others = [kinds for name, kinds in known.items() if name != author]
        kept = [rows for at, rows in enumerate(public) if at % len(known) != number]
        fit = fitted(
            [rows for kinds in others for rows in kinds["orders"]],
            [rows for kinds in others for rows in kinds["honest"]],
            kept,
        )
        scores[author] = {kind: fit.score(texts) for kind, texts in known[author].items()}
        outside += fit.score(public[number :: len(known)])
    limit = max(
        quantile([score for kinds in scores.values() for score in kinds["honest"]], HONEST),
        quantile(outside, DOCUMENTS),
    )
    for author, kinds in scores.items():
        shares = {kind: 100 * sum(one > limit for one in found) / len(found) for kind, found in kinds.items()}
        print(f"{author}: " + ", ".join([f"{kind} {share:.1f} %" for kind, share in shares.items()]))
    print(
        f"documents {100 * sum(one > limit for one in outside) / len(outside):.2f} %, threshold {limit:.2f}"
    )


def trigger_weights(orders: Iterable[str], public: Iterable[str]) -> dict[str, float]:
    """Words that are more frequent in the paragraphs of orders than in those of documents, by log ratio."""
    shares = []
    for paragraphs in (list(orders), list(public)):
        counted = Counter(word for one in paragraphs for word in set(re.findall("[a-z0-9]+", one)))
        shares.append((counted, len(paragraphs)))
    (ours, all_ours), (theirs, all_theirs) = shares
    return {
        word: math.log((count + 0.1) / all_ours) - math.log((theirs[word] + 3) / all_theirs)
        for word, count in sorted(ours.items())
        if count > 1
    }


def write(fit: Fit, triggers: dict[str, float]) -> None:
    """Write the table; a score without the constant is compared with the thresholds."""
    weights = fit.model.coef_[0]
    constant = fit.model.intercept_[0]
    lines = [
        f"(threshold)\t{THRESHOLD - constant:.2f}",
        f"(hidden)\t{HIDDEN - constant:.2f}",
        f"(length)\t{weights[-1]:.2f}",
        f"(estimate)\t{ESTIMATE:.2f}",
        *[f"!{word}\t{weight:.1f}" for word, weight in triggers.items() if weight >= TRIGGER],
        *[
            f"{name}\t{weights[at]:.2f}"
            for name, at in fit.vocabulary.items()
            if abs(weights[at]) >= LIGHTEST
        ],
    ]
    with open(orders.WEIGHTS, "w", encoding="utf-8", newline="\n") as file:
        file.write("\n".join(lines) + "\n")


def sample(folder: str) -> list[str]:
    """Documents of a folder, evenly spread."""
    texts = [text[:LONGEST] for _, text in documents(folder)]
    return texts[:: max(len(texts) // SAMPLE, 1)][:SAMPLE]


def main() -> int:
    """Fit, and print or write."""
    parser = argparse.ArgumentParser(description="Fit the weights of words of planted instructions.")
    parser.add_argument("--honest", nargs="+", required=True, metavar="FOLDER")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    known: dict[str, dict[str, list[list[Row]]]] = defaultdict(lambda: {"orders": [], "honest": []})
    said = []
    with open(CASES, encoding="utf-8") as lines:
        for one in map(json.loads, lines):
            if one["class"] == "instruction-structure":
                continue
            kind = "honest" if one["class"].startswith("honest") else "orders"
            known[one["author"]][kind].append(rows_of(one["text"]))
            said += shown_paragraphs(one["text"]) if kind == "orders" else []
    texts = [text for folder in options.honest for text in sample(folder)]
    names = frozenset(
        name for kinds in known.values() for rows in kinds["orders"] for found, _ in rows for name in found
    )
    public = [rows_of(text, names) for text in texts]
    compare(known, public)
    for name in OWN:
        known["own"]["honest"] += [rows_of(text) for text in sample(os.path.join(PROJECT, name))]
    if options.write:
        fit = fitted(
            [rows for kinds in known.values() for rows in kinds["orders"]],
            [rows for kinds in known.values() for rows in kinds["honest"]],
            public,
        )
        write(fit, trigger_weights(said, [one for text in texts for one in shown_paragraphs(text)]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
