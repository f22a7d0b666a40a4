"""Lines that belong to a form, not to what a document says: the same in documents of several titles."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from thunderus_mem.garden.similar.profile import three_word_runs, told_lines
from thunderus_mem.garden.similar.words import number_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from thunderus_mem.garden.similar.profile import Profile
    from thunderus_mem.model.document import Document

_TITLES: Final = 4
"""Versions of one document share a title; two copies and their copies are not yet a form."""


def form_lines(documents: Sequence[Document], profiles: Sequence[Profile]) -> frozenset[int]:
    """The numbers of lines that stand in documents of at least four different titles."""
    last: dict[int, str] = {}
    titles: dict[int, int] = {}
    for at in sorted(range(len(documents)), key=lambda at: documents[at].title):
        title = documents[at].title
        for line in profiles[at].lines:
            if last.get(line) != title:
                last[line] = title
                titles[line] = titles.get(line, 0) + 1
    return frozenset(line for line, count in titles.items() if count >= _TITLES)


def common_titles(documents: Sequence[Document]) -> frozenset[str]:
    """The titles that at least four documents have: they name a form, not what a document is about."""
    counted = Counter(document.title for document in documents)
    return frozenset(title for title, count in counted.items() if count >= _TITLES)


def own_runs(document: Document, form: frozenset[int]) -> set[int]:
    """The three-word runs of the lines that are not the form's."""
    lines = told_lines(document.body)
    return three_word_runs([line for line in lines if number_of(line.lower()) not in form])
