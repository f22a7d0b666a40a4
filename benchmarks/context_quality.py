"""How often does `context` give an agent the right passages, and how often some that are about nothing asked?

``python benchmarks/context_quality.py GIT_DIRECTORY… --work FOLDER [--sealed]`` asks the questions of
``benchmarks/retrieval`` as tasks, as `search_quality` does for search, with the default budget and number of
passages. For each kind of question it prints how many tasks got any passage, how many the right one, and how
long the text is; then the same with the score from which at most 5 % of the questions without an answer get
a passage. The sealed half is only counted, never listed.
"""

from __future__ import annotations

import argparse
import os
import sys
from typing import TYPE_CHECKING, Final, NamedTuple

PROJECT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, PROJECT)

from benchmarks.retrieval.collection import PARTS, SEALED, UNANSWERABLE  # noqa: E402
from benchmarks.retrieval.measures import mean  # noqa: E402
from benchmarks.retrieval.reporting import table  # noqa: E402
from benchmarks.retrieval.sources import collection, half_of, name_of  # noqa: E402
from benchmarks.retrieval.stores import build  # noqa: E402
from thunderus_mem.search.context import ContextRequest, context, render  # noqa: E402
from thunderus_mem.search.search import search  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from benchmarks.retrieval.collection import Collection

FALSE: Final = 0.05
"""The share of questions without an answer that may get a passage."""
BUDGET: Final = 2000


class Task(NamedTuple):
    """A question asked as a task: its kind, the score of the best document, how many of the ``passages`` are
    of documents that answer it (``right``), and the length of the text in tokens."""

    half: str
    kind: str
    score: float
    passages: int
    right: int
    tokens: int


def tasks(one: Collection, work: str) -> Iterator[Task]:
    """The results for all questions of a collection."""
    store = build(os.path.join(work, one.name.replace("/", "+")), one.documents)
    for question in one.questions:
        found = context(store.memory, ContextRequest(question.text, BUDGET, unreviewed=True))
        hits = search(store.memory, question.text, limit=1).hits
        paths = [store.paths[item.id] for item in found.items]
        text = render(found)
        assert len(text) < BUDGET * 4
        yield Task(
            one.half,
            question.kind,
            hits[0].score if hits else 0.0,
            len(paths),
            sum(path in question.relevant for path in paths),
            found.tokens,
        )


def least_score(asked: Sequence[Task]) -> float:
    """The score from which at most `FALSE` of the questions without an answer get a passage."""
    wrong = sorted((one.score for one in asked if one.kind in UNANSWERABLE and one.passages), reverse=True)
    most = int(FALSE * sum(one.kind in UNANSWERABLE for one in asked))
    return wrong[most] + 1e-9 if most < len(wrong) else 0.0


def lines(asked: Sequence[Task], least: float) -> Iterator[tuple[str, ...]]:
    """The measures of each kind, and of all that have an answer, and of all that have none."""
    kinds = {kind: [one for one in asked if one.kind == kind] for kind in sorted({one.kind for one in asked})}
    kinds["all answerable"] = [one for one in asked if one.kind not in UNANSWERABLE]
    kinds["all unanswerable"] = [one for one in asked if one.kind in UNANSWERABLE]
    for kind, own in kinds.items():
        given = [one for one in own if one.passages]
        passages = sum(one.passages for one in given)
        yield (
            kind,
            str(len(own)),
            _percent(len(given), len(own)),
            _percent(sum(one.right > 0 for one in own), len(own)),
            _percent(sum(one.right > 0 and one.score >= least for one in own), len(own)),
            _percent(sum(one.right for one in given), passages),
            f"{mean([one.tokens for one in given]) if given else 0:.0f}",
        )


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else ""


HEAD: Final = (
    "kind", "questions", "got passages", "right passage", "right passage at 5 % false",
    "right, of all passages", "tokens",
)  # fmt: skip


def main(arguments: list[str]) -> int:
    """Run and print a table for each part."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("repositories", nargs="+", metavar="GIT_DIRECTORY")
    parser.add_argument("--work", required=True, metavar="FOLDER", help="for the stores")
    parser.add_argument("--sealed", action="store_true", help="also ask the sealed questions")
    options = parser.parse_args(arguments)
    asked: list[Task] = []
    for repository in options.repositories:
        half = half_of(name_of(repository))
        if half and (half != SEALED or options.sealed):
            asked += tasks(collection(repository), options.work)
            print(f"{name_of(repository)}: {len(asked)} questions so far", file=sys.stderr, flush=True)
    for part in PARTS:
        if own := [one for one in asked if one.half == part]:
            print(f"{part}:\n\n{table(HEAD, list(lines(own, least_score(own))))}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
