"""Pools of documents with trials among them: written pairs and real pages."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Final

from benchmarks.quality.documents import document
from benchmarks.quality.layout import LAYOUTS, laid_out, plain
from benchmarks.quality.mutants import CHANGES, mutant, names_in
from benchmarks.quality.trials import EXACT, MUTANT, NEAR, Pool, Trial
from benchmarks.quality.written import written

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.quality.corpora import Page
    from benchmarks.quality.written import Entry
    from thunderus_mem.document.document import Document

BANDS: Final = ((0.02, "1–2 %"), (0.05, "2–5 %"), (0.10, "5–10 %"), (1.0, "10–20 %"))

WRITTEN: Final = "written by hand, among real text"


def _document(page: Page) -> Document:
    return document(page.id, page.title, page.body)


def _twin(page: Page, body: str, what: str, title: str = "") -> Document:
    return document(f"{page.id}-{what}", title or page.title, body)


def readable(pages: Sequence[Page]) -> tuple[list[Page], list[str]]:
    """The pages usable as documents with unique ids, and why the others are not."""
    kept: dict[str, Page] = {}
    refused = []
    for page in pages:
        try:
            _document(page)
        except ValueError as error:
            refused.append(str(error))
            continue
        if page.id in kept:
            refused.append(f"{page.id} is taken: {page.path}")
        else:
            kept[page.id] = page
    return list(kept.values()), refused


def as_they_are(name: str, pages: Sequence[Page]) -> Pool:
    """Only real pages: no proposal here was planted."""
    return Pool(name, tuple(map(_document, pages)), ())


def written_pool(entries: Sequence[Entry], pages: Sequence[Page]) -> Pool:
    """The written pairs, among real pages."""
    documents, trials = written(entries)
    return Pool(WRITTEN, (*documents, *map(_document, pages)), trials)


def band(change: float) -> str:
    """The name of the band of a change size."""
    return next(name for limit, name in BANDS if change <= limit)


def near_pool(pages: Sequence[Page]) -> Pool:
    """Real pages, and an earlier version of each that has one."""
    documents, trials = [], []
    for page in pages:
        documents.append(_document(page))
        if page.earlier is not None:
            older = _twin(page, page.earlier.body, "before", page.earlier.title)
            documents.append(older)
            how = f"{page.earlier.origin} {page.earlier.source}, {100 * page.earlier.change:.1f} % changed"
            trials.append(Trial(NEAR, band(page.earlier.change), "", page.id, older.id, page.corpus, how))
    return Pool("near", tuple(documents), tuple(trials))


def mutant_pool(pages: Sequence[Page], seed: str) -> Pool:
    """Real pages, each with a copy in which one number, name or negation is changed."""
    names = {corpus: names_in([p.body for p in pages if p.corpus == corpus]) for corpus in _corpora(pages)}
    documents, trials = [], []
    for at, page in enumerate(pages):
        documents.append(_document(page))
        dice = random.Random(f"{seed} mutant {page.id}")
        for change in (*CHANGES[at % 3 :], *CHANGES[: at % 3]):
            found = mutant(page.body, change, names[page.corpus], dice)
            if found is not None:
                other = _twin(page, found.body, "changed")
                documents.append(other)
                how = f"{found.old!r} → {found.new!r} in: {found.line}"
                trials.append(Trial(MUTANT, change, "", page.id, other.id, page.corpus, how))
                break
    return Pool("mutants", tuple(documents), tuple(trials))


def exact_pool(pages: Sequence[Page], seed: str) -> Pool:
    """Real pages, each with a copy in another layout."""
    documents, trials = [], []
    kinds = list(LAYOUTS)
    for at, page in enumerate(pages):
        documents.append(_document(page))
        if not plain(page.body):
            continue
        start = at % len(kinds)
        for how in (*kinds[start:], *kinds[:start]):
            body = laid_out(page.body, how, random.Random(f"{seed} {how} {page.id}"))
            if body.strip("\n") != page.body:
                other = _twin(page, body, "laid-out")
                documents.append(other)
                trials.append(Trial(EXACT, how, "", page.id, other.id, page.corpus, how))
                break
    return Pool("exact", tuple(documents), tuple(trials))


def _corpora(pages: Sequence[Page]) -> list[str]:
    return sorted({page.corpus for page in pages})
