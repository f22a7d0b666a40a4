"""What a document is about by its title, and whether two are about different things."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from thunderus_mem.garden.similar.differences import names
from thunderus_mem.garden.similar.sentences import SAYING
from thunderus_mem.model.words import has_hump

if TYPE_CHECKING:
    from thunderus_mem.garden.similar.labels import Read

_SPOKEN_OF: Final = 2
"""In so many sentences of its own a document must speak of what its title names."""


def titles_differ(one: Read, other: Read, *, numbers: bool = True) -> bool:
    """Whether each title says something that the other document never speaks of; bare numbers are
    left out unless ``numbers``."""
    mine, theirs = (
        {concept for concept in each.sentences[0].concepts if numbers or not concept.isdigit()}
        for each in (one, other)
    )
    return bool(mine - other.told) and bool(theirs - one.told)


def subjects_differ(one: Read, other: Read) -> bool:
    """Whether each document is about something that the other never speaks of: a name in its title, or a word
    of its title that it keeps coming back to.

    Not when a title is a sentence, for "the queue is in Redis" claims what "… in Postgres" denies, nor when
    both come back to one thing that both titles name.
    """
    claims = any(not SAYING.isdisjoint(each.sentences[0].words) for each in (one, other))
    if claims or _returned_to(one) & _returned_to(other):
        return False
    for about in (_named, _returned_to):
        mine, theirs = about(one), about(other)
        if mine - other.told and theirs - one.told:
            return True
    return False


def _named(each: Read) -> set[str]:
    """The names in a title: what is written like one there, or with a capital there and in the text."""
    title = each.sentences[0]
    in_text = {name for sentence in each.sentences[1:] for name in names(sentence)}
    found = set()
    for token in title.tokens:
        word = token.lower()
        marked = has_hump(token) or word in title.code or any(char in token for char in "_/.@")
        if marked or (token[0].isupper() and word in in_text):
            found.add(word)
    return found


def _returned_to(each: Read) -> set[str]:
    said = Counter(concept for sentence in each.sentences[1:] for concept in sentence.concepts)
    return {concept for concept in each.sentences[0].concepts if said[concept] >= _SPOKEN_OF}
