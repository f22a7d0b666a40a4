"""Fit the weights of `thunderus_mem.safety.orders`, and say how well they carry over to other authors.

``python benchmarks/fit_orders.py --honest FOLDER… [--write]`` needs scikit-learn. Cases are those of
`CASES`, each with its author; honest documents are Markdown files of folders or git
directories, and those of this project. Each author is left out once, and the share of the cases of that
author that the weights of the others find is printed, with the threshold that reports `HONEST` of the honest
cases and `DOCUMENTS` of the documents. ``--write`` fits all cases and writes ``order_weights.txt``.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import re
import sys
from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

PROJECT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, PROJECT)

from benchmarks.safety_quality import documents  # noqa: E402
from thunderus_mem.safety import injection, orders  # noqa: E402
from thunderus_mem.safety.literals import plain  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

SAFETY = os.path.join(PROJECT, "benchmarks", "safety")
CASES = [os.path.join(SAFETY, name) for name in ("instructions.jsonl", "development.jsonl")]
FEWEST = 3
LARGEST = 94_000
"""The size of the weights of words, classes and pairs in bytes; the lightest are left out."""
LIGHTEST = 0.02
IN_LINE = 8
"""How many weights a line has."""
HONEST, DOCUMENTS = 0.010, 0.008
"""The shares of honest cases and of documents that weights may report to which they were not fitted."""
HIDDEN = 2.95
"""How much lower the threshold is in hidden text."""
COSTS = {"order": 10, "aside": 5, "honest": 8, "honest-aside": 8, "public": 1}
"""What an error costs."""
KINDS = {
    "instruction-wording": "order",
    "instruction-structure": "aside",
    "honest-structure": "honest-aside",
    "honest": "honest",
    "honest-imperative": "honest",
}
OWN = ("docs", ".thunderus/memory", "tests/repos/demo/docs")
PLANTED = {"poison.txt": ("order", "aside"), "honest.txt": ("honest",)}
"""The corpora of our tests, `tests/cases/planted`, and what their texts may be."""
SAMPLE = 160
LONGEST = 20_000
FEW_OF = 20
NEARLY = -4.0
RIGID = 0.15
"""The inverse of how much large weights cost."""
SMALLEST = 6.0
"""Passages of documents are used from this sum of log ratios of their words."""
LOST = 0.005
"""The share of the orders that each of the two quick looks may lose."""
LASSO, RIDGE = 3.0, 1.0
"""How much the sum of the weights of triggers costs, and that of their squares."""


class Passage(NamedTuple):
    """A passage of one to three sentences: of which text, its words, its features and its length."""

    text: int
    said: str
    features: frozenset[str]
    length: float


class Text(NamedTuple):
    """An order, an order in an aside, an honest case or a public document."""

    author: str
    kind: str
    text: str


def texts(folders: Sequence[str]) -> list[Text]:
    """The cases, the documents of this project, and documents of folders, evenly spread."""
    found = []
    for path in CASES:
        with open(path, encoding="utf-8") as lines:
            known = [one for one in map(json.loads, lines) if one["class"] in KINDS]
        found += [Text(one.get("author", "own"), KINDS[one["class"]], one["text"]) for one in known]
    found += [
        Text("own", kind, text) for name, kinds in PLANTED.items() for kind in kinds for text in planted(name)
    ]
    own = [os.path.join(PROJECT, name) for name in OWN]
    for folder in (*own, *folders):
        all_of = [text[:LONGEST] for _, text in documents(folder)]
        chosen = all_of[:: max(len(all_of) // SAMPLE, 1)][:SAMPLE]
        author, kind = ("own", "honest") if folder in own else ("", "public")
        found += [Text(author, kind, text) for text in chosen]
    return found


def planted(name: str) -> list[str]:
    """The texts of a corpus of our tests."""
    with open(os.path.join(PROJECT, "tests", "cases", "planted", name), encoding="utf-8") as file:
        parts = re.split(r"^=====> ", file.read(), flags=re.MULTILINE)[1:]
    return [part.partition("\n")[2] for part in parts]


def paragraphs(one: Text) -> list[str]:
    """The paragraphs of a text; code counts only where it is an aside with an order."""
    shown = injection.shown_paragraphs(one.text)
    if one.kind != "aside":
        return shown
    return [said for _, said in injection._paragraphs_of(injection._lower(one.text))]


def log_ratios(known: Sequence[Text]) -> dict[bytes, float]:
    """How much more frequent words are in the paragraphs of orders than in those of documents."""
    counted: dict[bool, Counter[bytes]] = {True: Counter(), False: Counter()}
    total = Counter[bool]()
    for one in known:
        for paragraph in paragraphs(one) if one.kind in ("order", "public") else ():
            counted[one.kind == "order"].update(set(plain(paragraph).split()))
            total[one.kind == "order"] += 1
    ours, theirs = counted[True], counted[False]
    return {
        word: math.log((count + 0.1) / total[True]) - math.log((theirs[word] + 3) / (total[False] + 1))
        for word, count in ours.items()
        if count > 1
    }


def passages(known: Sequence[Text]) -> Iterator[Passage]:
    """The passages of texts; of documents only those that may be taken for an order, and some more."""
    ratios = {word: ratio for word, ratio in log_ratios(known).items() if ratio > 1}
    for number, one in enumerate(known):
        for paragraph in map(orders.plain_paragraph, paragraphs(one)):
            for at, window in enumerate(orders.windows(paragraph)):
                length = float(sum([sentence.length for sentence in window]))
                said = paragraph[window[0].start : window[-1].start + window[-1].length]
                if one.kind == "public" and at % FEW_OF and said.isascii():
                    heard = sum([ratios[word] for word in ratios.keys() & plain(said).split()])
                    if heard < SMALLEST * max(orders.length_of(length), 1):
                        continue
                features = frozenset[str]().union(*[sentence.features for sentence in window])
                yield Passage(number, said, features, length)


class Table:
    """The passages of all texts as a sparse matrix; the last column is the length."""

    def __init__(self, known: Sequence[Text], found: Sequence[Passage]) -> None:
        import numpy as np  # type: ignore[import-not-found, unused-ignore]
        from scipy.sparse import csr_matrix  # type: ignore[import-not-found, unused-ignore]

        self.known, self.passages = known, found
        counted = Counter(name for names in self._names_of_orders() for name in names)
        self.names = sorted(name for name, count in counted.items() if count >= FEWEST)
        at = {name: place for place, name in enumerate(self.names)}
        places: list[int] = []
        values: list[float] = []
        edges = [0]
        for one in found:
            columns = [at[name] for name in one.features if name in at]
            places += [*columns, len(at)]
            values += [*([1.0] * len(columns)), orders.length_of(one.length)]
            edges.append(len(places))
        self.matrix: Any = csr_matrix((values, places, edges), shape=(len(found), len(at) + 1))
        self.text: Any = np.array([one.text for one in found])
        self.kind: Any = np.array([known[one.text].kind for one in found])

    def _names_of_orders(self) -> Iterable[set[str]]:
        by_text: dict[int, set[str]] = {}
        for one in self.passages:
            if self.known[one.text].kind in ("order", "aside"):
                by_text.setdefault(one.text, set()).update(one.features)
        return by_text.values()

    def heaviest(self, scores: Any) -> Any:
        """The number of the heaviest passage of each text that has one."""
        import numpy as np

        order = np.lexsort((scores, self.text))
        last = np.append(self.text[order][1:] != self.text[order][:-1], True)
        return order[last]


class Fit:
    """A regression of passages: of each order its heaviest passage, of documents some, and the nearest.

    Names with a weight in a regression that prefers few weights are kept first, then the heaviest, and the
    weights are those of a regression with the kept names only: cut off weights are missed by the others.
    """

    def __init__(self, table: Table, without: frozenset[int]) -> None:
        """Fit the texts but those with these numbers."""
        import numpy as np
        from sklearn.linear_model import LogisticRegression  # type: ignore[import-not-found, unused-ignore]

        used = ~np.isin(table.text, list(without))
        ordered = np.isin(table.kind, ["order", "aside"])
        scores: Any = np.asarray(table.matrix[:, :-1].sum(axis=1)).ravel()
        nearest: Any = np.arange(len(scores)) % FEW_OF == 0
        for _ in range(3):
            heaviest = np.zeros(len(scores), dtype=bool)
            heaviest[table.heaviest(scores)] = True
            chosen = used & ((ordered & heaviest) | (~ordered & (nearest | (table.kind != "public"))))
            costs = [COSTS[kind] for kind in table.kind[chosen]]
            model = LogisticRegression(C=RIGID, max_iter=300, solver="liblinear")
            model.fit(table.matrix[chosen], ordered[chosen].astype(int), sample_weight=costs)
            scores = model.decision_function(table.matrix)
            nearest = (np.arange(len(scores)) % FEW_OF == 0) | (scores > NEARLY)
        few = LogisticRegression(C=RIGID, l1_ratio=1, max_iter=60, solver="liblinear")
        few.fit(table.matrix[chosen], ordered[chosen].astype(int), sample_weight=costs)
        heavy = np.abs(model.coef_[0][:-1]) + 100 * (few.coef_[0][:-1] != 0)
        kept = [*_heaviest_names(table.names, heavy), len(table.names)]
        matrix = table.matrix[:, kept]
        model.fit(matrix[chosen], ordered[chosen].astype(int), sample_weight=costs)
        scores = model.decision_function(matrix)
        self.without = without
        self.weights: Any = np.zeros(len(table.names) + 1)
        self.weights[kept] = model.coef_[0]
        self.constant = float(model.intercept_[0])
        heaviest = table.heaviest(scores)
        self.scores = dict(zip(table.text[heaviest].tolist(), scores[heaviest].tolist(), strict=True))
        self.heaviest: list[int] = heaviest.tolist()


def _heaviest_names(names: Sequence[str], heavy: Any) -> list[int]:
    """The numbers of the heaviest names for which the table has room."""
    left = float(LARGEST)
    kept: list[int] = []
    for at in sorted(range(len(names)), key=lambda at: -heavy[at]):
        first, _, second = names[at].partition(" ")
        left -= len((second or first).encode()) + len(" -0.12 ") + (len(first.encode()) + 2) / IN_LINE
        if left < 0:
            break
        kept.append(at)
    return sorted(kept)


def compare(table: Table) -> float:
    """Leave each author out, print the recall, and return the threshold."""
    authors = sorted({one.author for one in table.known if one.kind in ("order", "aside")})
    scores: dict[int, float] = {}
    for number, author in enumerate(authors):
        without = frozenset(
            at
            for at, one in enumerate(table.known)
            if one.author == author or (one.kind == "public" and at % len(authors) == number)
        )
        fit = Fit(table, without)
        scores |= {at: fit.scores.get(at, -99.0) for at in without}
    groups: dict[tuple[str, str], list[float]] = {}
    for at, score in scores.items():
        groups.setdefault((table.known[at].author, table.known[at].kind), []).append(score)
    honest = [score for (_, kind), found in groups.items() if kind == "honest" for score in found]
    limit = max(quantile(honest, HONEST), quantile(groups["", "public"], DOCUMENTS))
    for (author, kind), found in sorted(groups.items()):
        print(f"{author or 'documents'}: {kind} {share(found, limit)}")
    print(f"honest {share(honest, limit)}, threshold {limit:.2f}")
    for kind in ("order", "aside"):
        print(
            kind,
            share([score for (_, one), found in groups.items() if one == kind for score in found], limit),
        )
    return limit


def quantile(values: Iterable[float], part: float) -> float:
    """The value that this share of the values exceeds."""
    ordered = sorted(values, reverse=True)
    return ordered[min(int(part * len(ordered)), len(ordered) - 1)]


def share(scores: Sequence[float], limit: float) -> str:
    """The share of scores above a limit, as text."""
    return f"{100 * sum(one > limit for one in scores) / max(len(scores), 1):.1f} % of {len(scores)}"


def triggers(table: Table, fit: Fit, limit: float) -> dict[str, float]:
    """Weights, none negative, of the words that tell orders from documents; `orders.ENOUGH` are enough for
    all but `LOST` of the orders that are found."""
    import numpy as np
    from scipy.optimize import minimize  # type: ignore[import-not-found, unused-ignore]
    from scipy.sparse import csr_matrix

    ordered = [at for at in _found(table, fit, limit) if not orders.NOT_LATIN.search(table.passages[at].said)]
    others = [at for at, kind in enumerate(table.kind) if kind == "public"][::2]
    counted = Counter(word for at in ordered for word in set(plain(table.passages[at].said).split()))
    words = sorted(word for word, count in counted.items() if count > 1)
    columns = {word: at for at, word in enumerate(words)}
    places: list[int] = []
    values: list[float] = []
    edges = [0]
    for at in (*ordered, *others):
        one = table.passages[at]
        found = [columns[word] for word in set(plain(one.said).split()) if word in columns]
        places += found
        values += [1 / max(orders.length_of(one.length), 1)] * len(found)
        edges.append(len(places))
    matrix = csr_matrix((values, places, edges), shape=(len(ordered) + len(others), len(words)))
    sign = np.array([1.0] * len(ordered) + [-1.0] * len(others))
    cost = np.array([len(others) / len(ordered)] * len(ordered) + [1.0] * len(others))

    def loss(weights: Any) -> Any:
        margin = sign * (matrix @ weights[:-1] + weights[-1])
        slope = -sign * cost / (1 + np.exp(margin))
        value = (cost * np.logaddexp(0, -margin)).sum()
        penalty = LASSO * weights[:-1].sum() + RIDGE * (weights[:-1] ** 2).sum()
        gradient = np.append(matrix.T @ slope + LASSO + 2 * RIDGE * weights[:-1], slope.sum())
        return value + penalty, gradient

    bounds = [(0, None)] * len(words) + [(None, None)]
    start = np.append(np.full(len(words), 0.5), -3.0)
    weights = minimize(loss, start, jac=True, bounds=bounds, method="L-BFGS-B", options={"maxiter": 300}).x
    heard = {word: float(weights[at]) for word, at in columns.items() if weights[at] > 0.02}
    sums = [_heard(table.passages[at], heard) for at in ordered]
    scale = orders.ENOUGH / sorted(sums)[int(LOST * len(sums))]
    return {word.decode(): weight * scale for word, weight in heard.items()}


def _found(table: Table, fit: Fit, limit: float) -> list[int]:
    """The heaviest passages of the fitted orders that are found."""
    return [
        at
        for at in fit.heaviest
        if table.kind[at] == "order"
        and table.text[at] not in fit.without
        and fit.scores[table.passages[at].text] > limit
    ]


def _heard(one: Passage, weights: dict[bytes, float]) -> float:
    """The weights of the words of a passage, as both looks hear them: near each other, and by length."""
    said = plain(one.said)
    total = sum([weights.get(word, 0.0) for word in set(said.split())])
    most, at = 0.0, 0
    near: dict[bytes, int] = {}
    for word in said.split():
        at = said.index(word, at)
        if word in weights:
            near[word] = at
            near = {one: place for one, place in near.items() if at - place < injection._TRIGGERS_REACH}
            most = max(most, sum([weights[one] for one in near]))
    return min(total / max(orders.length_of(one.length), 1), most)


def write(table: Table, fit: Fit, limit: float) -> None:
    """Write the table; a score without the constant is compared with the thresholds."""
    lines = [
        *[f"!{word}\t{weight:.1f}" for word, weight in triggers(table, fit, limit).items() if weight >= 0.1],
    ]
    save(table, fit, limit, lines)


def save(table: Table, fit: Fit, limit: float, lines: Sequence[str] = ()) -> None:
    """Write the weights after these lines."""
    least = limit - fit.constant
    lines = [
        f"(threshold)\t{least:.2f}",
        f"(hidden)\t{least - HIDDEN:.2f}",
        f"(length)\t{fit.weights[-1]:.2f}",
        *lines,
    ]
    by_first: dict[str, list[str]] = {}
    for name, weight in zip(table.names, fit.weights, strict=False):
        if abs(weight) >= LIGHTEST:
            first, _, second = name.partition(" ")
            listed = by_first.setdefault(first if second else orders.SINGLE, [])
            listed.append(f"{second or first} {weight:.2f}")
    for first, weights in sorted(by_first.items()):
        parts = [weights[at : at + IN_LINE] for at in range(0, len(weights), IN_LINE)]
        lines += [f"{first}\t{' '.join(part)}" for part in parts]
    with open(orders.WEIGHTS, "w", encoding="utf-8", newline="\n") as file:
        file.write("\n".join(lines) + "\n")


def main() -> int:
    """Fit, and print or write."""
    parser = argparse.ArgumentParser(description="Fit the weights of words of planted instructions.")
    parser.add_argument("--honest", nargs="+", required=True, metavar="FOLDER")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    known = texts(options.honest)
    table = Table(known, list(passages(known)))
    limit = compare(table)
    if options.write:
        write(table, Fit(table, frozenset()), limit)
    return 0


if __name__ == "__main__":
    sys.exit(main())
