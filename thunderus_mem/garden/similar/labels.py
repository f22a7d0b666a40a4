"""What two similar documents are to each other: the same, in contradiction, of one form, or only related.

The label decides what is proposed, never that something is told. It errs towards a person: whatever differs
at a place where the two otherwise agree makes it a possible contradiction.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias

from thunderus_mem.garden.similar.alignment import align, answers
from thunderus_mem.garden.similar.amounts import MEASURES, amounts, conflict
from thunderus_mem.garden.similar.differences import Difference, disagreement, names, replaced_word
from thunderus_mem.garden.similar.order import steps_apart
from thunderus_mem.garden.similar.sentences import TITLE, sentences
from thunderus_mem.garden.similar.subjects import titles_differ
from thunderus_mem.garden.similar.words import stem
from thunderus_mem.model.statements import ORDERED_KINDS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from thunderus_mem.garden.similar.alignment import Aligned
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
_LONG: Final = 8
_SHORT: Final = 5


class Read(NamedTuple):
    """A document read for comparing: its sentences, and every word and concept it says."""

    document: Document
    sentences: Sequence[Sentence]
    told: frozenset[str]


class Comparison(NamedTuple):
    """``differences`` at aligned places; ``form`` says that they fill one skeleton with different things."""

    aligned: tuple[Aligned, ...]
    differences: tuple[Difference, ...]
    form: bool


def read(document: Document) -> Read:
    """A document ready to be compared with several others."""
    found = sentences(document)
    told = {word for one in found for word in one.words} | {word for one in found for word in one.concepts}
    told.update(one for sentence in found for one in sentence.stems)
    return Read(document, found, frozenset(told))


def _fills_one_form(one: Read, other: Read, places: int) -> bool:
    """One skeleton with different fillings: shared headings or keys whose contents are not alike, or the same
    sentences about two things with several places filled otherwise."""
    slots = [_by_slot(each) for each in (one, other)]
    shared = sorted((slots[0].keys() & slots[1].keys()) - {"", TITLE})
    if len(shared) >= _FEWEST_SLOTS and 2 * len(shared) >= min(len(slots[0]), len(slots[1])) - 1:
        unlike = sum(_unlike(slots[0][slot], slots[1][slot]) for slot in shared)
        if 2 * unlike > len(shared):
            return True
    long = min(len(one.sentences), len(other.sentences)) > _LONG
    return (places >= _FEWEST_FILLINGS or (long and places > 0)) and titles_differ(one, other)


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
    told = one.told, other.told
    found = [(pair, disagreement(pair.one, pair.other, told)) for pair in unlike]
    differences = [said for pair, said in found if said is not None and pair.likeness >= _AGREES]
    if not differences:
        loose = answers(one.sentences, other.sentences, _AGREES)
        differences = [
            said
            for pair in loose
            if pair.one.plain != pair.other.plain
            and (said := disagreement(pair.one, pair.other, told, in_place=False)) is not None
        ]
    if not differences and {one.document.kind, other.document.kind} <= ORDERED_KINDS:
        differences = _steps_apart(one, other)
    if not differences and max(len(one.sentences), len(other.sentences)) <= _SHORT:
        differences = _apart_as_a_whole(one, other)
    body = [pair for pair in unlike if pair.one.slot != TITLE]
    if not differences and len(body) == 1 and (words := replaced_word(body[0].one, body[0].other)):
        differences.append(Difference("word", body[0].one, body[0].other, words))
    places = sum(said is not None for _, said in found)
    return Comparison(tuple(aligned), tuple(differences), _fills_one_form(one, other, places))


def _steps_apart(one: Read, other: Read) -> list[Difference]:
    """Two steps that two procedures take in another order."""
    ones, others = one.sentences[1:], other.sentences[1:]
    apart = steps_apart(ones, others, answers(ones, others, _AGREES))
    return [Difference("order", pair.one, pair.other) for pair in apart or ()]


def _apart_as_a_whole(one: Read, other: Read) -> list[Difference]:
    """What two short documents measure otherwise, in whatever sentences: times, sizes, shares, and numbers
    behind one name ("iOS 15")."""
    measured = [
        [
            (amount, s)
            for s in each.sentences
            for amount in amounts(s)
            if amount.kind in MEASURES or amount.before in set(map(stem, names(s)))
        ]
        for each in (one, other)
    ]
    said = conflict(*([amount for amount, _ in each] for each in measured), in_place=False)
    if said is None:
        return []
    return [Difference("number", measured[0][0][1], measured[1][0][1], said)]


def label_of(found: Comparison, *, strong: bool, one_text: bool = False) -> Label:
    """The label of a pair; ``strong`` says that the two were found to be near enough to be the same,
    ``one_text`` that they are almost the same text under one subject, which two fillings never are."""
    if found.form and not one_text:
        return FORM
    if not strong:
        return RELATED
    return CONTRADICTION if found.differences else SAME
