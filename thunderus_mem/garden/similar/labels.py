"""What two similar documents are to each other: the same, in contradiction, of one form, or only related.

The label decides what is proposed, never that something is told. It errs towards a person: whatever differs
at a place where the two otherwise agree makes it a possible contradiction.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias

from thunderus_mem.garden.similar.alignment import align
from thunderus_mem.garden.similar.differences import disagreement, replaced_word
from thunderus_mem.garden.similar.sentences import TITLE, sentences

if TYPE_CHECKING:
    from collections.abc import Sequence

    from thunderus_mem.garden.similar.alignment import Aligned
    from thunderus_mem.garden.similar.differences import Difference
    from thunderus_mem.garden.similar.sentences import Sentence
    from thunderus_mem.model.document import Document

Label: TypeAlias = Literal["same", "possible contradiction", "same form", "related"]
SAME: Final = "same"
CONTRADICTION: Final = "possible contradiction"
FORM: Final = "same form"
RELATED: Final = "related"

_AGREES: Final = 0.5
"""From here on two sentences are about one thing, so that what differs in them counts."""
_FILLED_ALIKE: Final = 0.25
_FEWEST_SLOTS: Final = 2
_FEWEST_FILLINGS: Final = 3


class Read(NamedTuple):
    """A document read for comparing: its sentences, and every word and concept it says."""

    document: Document
    sentences: Sequence[Sentence]
    told: frozenset[str]


class Comparison(NamedTuple):
    """``differences`` at aligned places; ``covered`` is how much of the shorter has an answer in the longer,
    ``form`` whether they fill one skeleton with different things."""

    aligned: tuple[Aligned, ...]
    differences: tuple[Difference, ...]
    covered: float
    form: bool


def read(document: Document) -> Read:
    """A document ready to be compared with several others."""
    found = sentences(document)
    told = {word for one in found for word in one.words} | {word for one in found for word in one.concepts}
    told.update(one for sentence in found for one in sentence.stems)
    return Read(document, found, frozenset(told))


def _size(sentence: Sentence) -> int:
    return len(sentence.concepts) or 1


def _covered(one: Read, other: Read, aligned: Sequence[Aligned]) -> float:
    bodies = [[s for s in each.sentences if s.slot != TITLE] for each in (one, other)]
    shorter = min((0, 1), key=lambda at: sum(map(_size, bodies[at])))
    total = sum(map(_size, bodies[shorter]))
    answered = sum(
        _size(pair[shorter]) * min(1.0, pair.likeness / _AGREES)
        for pair in aligned
        if pair.one.slot != TITLE
    )
    return answered / total if total else 0.0


def _subjects_differ(one: Read, other: Read) -> bool:
    """Whether each title names something that the other document never speaks of."""
    mine, theirs = one.sentences[0].concepts, other.sentences[0].concepts
    return bool(mine - other.told) and bool(theirs - one.told)


def _fills_one_form(one: Read, other: Read, aligned: Sequence[Aligned], places: int) -> bool:
    """One skeleton with different fillings: shared headings or keys whose contents are not alike, or the same
    sentences about two things with several places filled otherwise."""
    slots = [_by_slot(each) for each in (one, other)]
    shared = sorted((slots[0].keys() & slots[1].keys()) - {"", TITLE})
    if len(shared) >= _FEWEST_SLOTS and 2 * len(shared) >= min(len(slots[0]), len(slots[1])) - 1:
        unlike = sum(_unlike(slots[0][slot], slots[1][slot]) for slot in shared)
        if 2 * unlike > len(shared):
            return True
    return places >= _FEWEST_FILLINGS and _subjects_differ(one, other)


def _by_slot(each: Read) -> dict[str, frozenset[str]]:
    slots: dict[str, set[str]] = {}
    for sentence in each.sentences:
        slots.setdefault(sentence.slot, set()).update(sentence.concepts)
    return {slot: frozenset(said) for slot, said in slots.items()}


def _unlike(one: frozenset[str], other: frozenset[str]) -> bool:
    shared = len(one & other)
    return shared < _FILLED_ALIKE * (len(one) + len(other)) / 2 or (not shared and one != other)


def compare(one: Read, other: Read) -> Comparison:
    """Align two documents and look at what differs at each place."""
    aligned = align(one.sentences, other.sentences)
    unlike = [pair for pair in aligned if pair.likeness < 1.0]
    differences = []
    places = 0
    for pair in unlike:
        found = disagreement(pair.one, pair.other, (one.told, other.told))
        places += found is not None
        if found is not None and pair.likeness >= _AGREES:
            differences.append(found)
    body = [pair for pair in unlike if pair.one.slot != TITLE]
    if not differences and len(body) == 1 and (said := replaced_word(body[0].one, body[0].other)):
        from thunderus_mem.garden.similar.differences import Difference

        differences.append(Difference("word", body[0].one, body[0].other, said))
    return Comparison(
        tuple(aligned),
        tuple(differences),
        _covered(one, other, aligned),
        _fills_one_form(one, other, aligned, places),
    )


def label_of(found: Comparison, *, strong: bool) -> Label:
    """The label of a pair; ``strong`` says that the two were found to be near enough to be the same."""
    if found.form:
        return FORM
    if found.differences:
        return CONTRADICTION
    return SAME if strong else RELATED
