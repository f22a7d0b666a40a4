"""How good is the duplicate finder? Pairs with a known answer, put to it and to another method.

``python benchmarks/garden_quality.py --repositories GIT_DIRECTORY…`` takes git directories that are on this
machine, only reads them and downloads nothing. Their Markdown pages become documents of a memory; earlier
versions of them are near duplicates, other layouts exact ones, and mutants with one number, name or negation
changed must never be taken for the same. Pairs written by hand (``benchmarks/pairs``) stand among them.
``--sealed`` takes git directories that nobody developed the rules on: their figures are shown apart, their
pairs are never printed. ``--smoke`` takes the written pairs alone. The other method is that of Thunderus's
own gardener: more than 80 % of the words in common. It prints tables; the exit code is 1 when a target is
missed.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
from typing import TYPE_CHECKING

PROJECT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, PROJECT)

from benchmarks.quality.corpora import corpus_name, pages  # noqa: E402
from benchmarks.quality.finder import ask, product_finder  # noqa: E402
from benchmarks.quality.pools import (  # noqa: E402
    as_they_are,
    exact_pool,
    mutant_pool,
    near_pool,
    readable,
    written_pool,
)
from benchmarks.quality.reporting import as_data, markdown  # noqa: E402
from benchmarks.quality.scoring import HALVES, Asked  # noqa: E402
from benchmarks.quality.word_overlap import word_overlap  # noqa: E402
from benchmarks.quality.written import load  # noqa: E402

if TYPE_CHECKING:
    from benchmarks.quality.corpora import Page
    from benchmarks.quality.finder import Finder
    from benchmarks.quality.trials import Pool


def say(text: str) -> None:
    """Tell how far it is, apart from the report."""
    print(text, file=sys.stderr, flush=True)


def real_pages(repositories: list[str], most: int, seed: str) -> list[Page]:
    """Sampled pages of all repositories; says how many there are of each."""
    found: list[Page] = []
    for repository in repositories:
        name = corpus_name(repository)
        kept, refused = readable(pages(repository, random.Random(f"{seed} {name}"), most))
        earlier = sum(page.earlier is not None for page in kept)
        say(f"{name}: {len(kept)} pages, {earlier} with an earlier version, {len(refused)} left out")
        found += kept
    return found


def make_pools(found: list[Page], seed: str) -> list[Pool]:
    """All pools: the written pairs, and all others if there are real pages."""
    every = [written_pool(load(), found)]
    if found:
        every += [near_pool(found), mutant_pool(found, seed), exact_pool(found, seed)]
        every += [
            as_they_are(corpus, [page for page in found if page.corpus == corpus])
            for corpus in dict.fromkeys(page.corpus for page in found)
        ]
    return every


def halved(pool: Pool, sealed: frozenset[str]) -> Pool:
    """The pool with the half of each trial of real text."""
    return pool._replace(
        name=f"{pool.name} (sealed)" if pool.name in sealed else pool.name,
        trials=tuple(
            trial if trial.split else trial._replace(split=HALVES[trial.origin in sealed])
            for trial in pool.trials
        ),
    )


def put(finder: Finder, pools: list[Pool]) -> list[Asked]:
    """What both methods say of every pool."""
    asked = []
    for pool in pools:
        say(f"{pool.name}: {len(pool.documents)} documents, {len(pool.trials)} pairs")
        asked.append(Asked(pool, ask(finder, pool.documents), word_overlap(pool.documents)))
    return asked


def options_of(arguments: list[str]) -> argparse.Namespace:
    """What the command line asks for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--repositories", nargs="+", default=[], metavar="GIT_DIRECTORY")
    parser.add_argument("--sealed", nargs="+", default=[], metavar="GIT_DIRECTORY")
    parser.add_argument("--smoke", action="store_true", help="only the pairs written by hand")
    parser.add_argument("--most", type=int, default=300, help="pages of one repository")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--examples", type=int, default=0, help="show so many misses of each measure")
    parser.add_argument("--json", action="store_true", help="plain data instead of tables")
    options = parser.parse_args(arguments)
    if options.smoke == bool(options.repositories or options.sealed):
        parser.error("give --repositories or --smoke")
    return options


def main(arguments: list[str]) -> int:
    """Run and print."""
    options = options_of(arguments)
    found = real_pages([*options.repositories, *options.sealed], options.most, options.seed)
    sealed = frozenset(map(corpus_name, options.sealed))
    asked = put(product_finder(), [halved(pool, sealed) for pool in make_pools(found, options.seed)])
    data = as_data(asked)
    print(
        json.dumps(data, indent=1, ensure_ascii=False) if options.json else markdown(asked, options.examples)
    )
    return 0 if data["passed"] else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
