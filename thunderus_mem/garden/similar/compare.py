"""What two similar documents are to each other: the same, in possible contradiction, of one form, or only
related.

Sentences that answer each other are found first (`align`); these may disagree about an order, a number, how
far something reaches, a name, a negation or an opposite. The label decides what is proposed, never that
something is told. It errs towards a person: whatever differs at a place where the two otherwise agree makes
it a possible contradiction. Pure.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias

from thunderus_mem.document.statements import ORDERED_KINDS
from thunderus_mem.garden.similar.profile import SAYING, TITLE, sentences
from thunderus_mem.garden.similar.words import (
    MONTHS,
    NEGATIONS,
    NUMBER_WORDS,
    STOP_WORDS,
    UNITS,
    WEEKDAYS,
    concepts,
    concepts_of,
    opposites,
    stem,
)
from thunderus_mem.index.words import has_hump

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence, Set

    from thunderus_mem.document.document import Document
    from thunderus_mem.garden.similar.profile import Sentence

_ONE_SLOT: Final = 0.15
"""Two sentences under one heading or key are a little more likely to answer each other."""
_WEAKEST: Final = 0.3
_MOST_COMPARED: Final = 80


class Aligned(NamedTuple):
    """Two sentences that answer each other; ``likeness`` is 1 when they say the same word for word."""

    one: Sentence
    other: Sentence
    likeness: float


def likeness(one: Sentence, other: Sentence) -> float:
    """How much of what the shorter speaks of the other speaks of too, and the other way round: 0 to 1."""
    shared = len(one.concepts & other.concepts)
    if not shared:
        return 0.0
    sizes = len(one.concepts), len(other.concepts)
    return (2 * shared / sum(sizes) + shared / min(sizes)) / 2


def answers(ones: Sequence[Sentence], others: Sequence[Sentence], least: float) -> list[Aligned]:
    """For each sentence the other side's most like it, either way, from ``least`` on; one may answer many."""
    found = {}
    bodies = [[s for s in each[: _MOST_COMPARED + 1] if s.slot != "title"] for each in (ones, others)]
    scored = [(likeness(one, other), one, other) for one in bodies[0] for other in bodies[1]]
    best: dict[int, float] = {}
    for score, one, other in scored:
        for side in (one, other):
            best[id(side)] = max(best.get(id(side), 0.0), score)
    for score, one, other in scored:
        if score >= least and score in (best[id(one)], best[id(other)]):
            found[id(one), id(other)] = Aligned(one, other, score)
    return list(found.values())


def align(ones: Sequence[Sentence], others: Sequence[Sentence]) -> list[Aligned]:
    """Pairs of sentences, each used once: first those that are the same, then the most alike."""
    found, left, right = _identical(ones, others)
    scored = []
    for at, one in enumerate(left[:_MOST_COMPARED]):
        for to, other in enumerate(right[:_MOST_COMPARED]):
            if (one.slot == "title") != (other.slot == "title"):
                continue
            same_slot = bool(one.slot) and one.slot == other.slot
            score = likeness(one, other)
            if score and score + _ONE_SLOT * same_slot >= _WEAKEST:
                scored.append((-score - _ONE_SLOT * same_slot, at, to, score))
    used: tuple[set[int], set[int]] = (set(), set())
    for _, at, to, score in sorted(scored):
        if at not in used[0] and to not in used[1]:
            used[0].add(at)
            used[1].add(to)
            found.append(Aligned(left[at], right[to], min(score, 0.99)))
    return found


def _identical(
    ones: Sequence[Sentence], others: Sequence[Sentence]
) -> tuple[list[Aligned], list[Sentence], list[Sentence]]:
    waiting: dict[str, list[Sentence]] = {}
    for other in others:
        waiting.setdefault(other.plain, []).append(other)
    found, left = [], []
    for one in ones:
        same = waiting.get(one.plain)
        if same:
            found.append(Aligned(one, same.pop(0), 1.0))
        else:
            left.append(one)
    right = [other for others in waiting.values() for other in others]
    return found, left, sorted(right, key=lambda sentence: sentence.line)


_MARKS: Final = frozenset(("before", "after", "then", "until"))
_CLAUSE: Final = re.compile(r"[,;:()–—]")
_WORD: Final = re.compile(r"[^\s,;:()–—]+")
_AROUND: Final = "`*_\"'.!?"


class Told(NamedTuple):
    """What a sentence puts ``earlier`` and what ``later``, as concepts that stand on one side only."""

    earlier: frozenset[str]
    later: frozenset[str]


def _denies(words: Iterable[str]) -> bool:
    return any(word in NEGATIONS or word.endswith(("n't", "n’t")) for word in words)


def _told(mark: str, front: list[str], behind: list[str]) -> Told | None:
    before, after = (frozenset(concepts_of(" ".join(words))) for words in (front, behind))
    before, after = before - after, after - before
    if not before or not after:
        return None
    turned = _denies(word.lower() for word in front)
    if mark == "until":
        # "Wait with a until b" and "a until b" differ; only what must not be is plain.
        return Told(after, before) if turned else None
    return Told(after, before) if (mark == "after") != turned else Told(before, after)


def orders(sentence: Sentence) -> list[Told]:
    """Every "before", "after", "then" and "not … until" of a sentence with what stands around it."""
    clauses = [
        [word.strip(_AROUND) for word in _WORD.findall(clause)] for clause in _CLAUSE.split(sentence.text)
    ]
    clauses = [words for words in clauses if words]
    found = []
    for at, words in enumerate(clauses):
        for to, word in enumerate(words):
            mark = word.lower()
            if mark not in _MARKS:
                continue
            front, behind = words[:to], words[to + 1 :]
            if mark == "then":
                front = front if concepts_of(" ".join(front)) or not at else clauses[at - 1]
            elif not concepts_of(" ".join(front)) and at + 1 < len(clauses):
                front = clauses[at + 1]  # "before a, do b"
            told = _told(mark, front, behind)
            if told is not None:
                found.append(told)
    return found


def turned_round(one: Sentence, other: Sentence) -> tuple[str, str] | None:
    """The two things that one sentence puts in the one order and the other in the opposite one."""
    for mine in orders(one):
        for theirs in orders(other):
            first, second = mine.earlier & theirs.later, mine.later & theirs.earlier
            straight = len(mine.earlier & theirs.earlier) + len(mine.later & theirs.later)
            if first and second and len(first) + len(second) > straight:
                a, b = min(first), min(second)
                return f"{a} first", f"{b} first"
    return None


def in_one_order(one: Sentence, other: Sentence) -> bool:
    """Whether two sentences put the same things in the same order, with whatever words."""
    return any(
        mine.earlier & theirs.earlier and mine.later & theirs.later
        for mine in orders(one)
        for theirs in orders(other)
    )


def steps_apart(
    ones: Sequence[Sentence], others: Sequence[Sentence], matched: Iterable[Aligned]
) -> tuple[Aligned, Aligned] | None:
    """Two steps that follow each other the other way round in the other text; each may have several answers,
    and all of them must."""
    places = {id(sentence): at for each in (ones, others) for at, sentence in enumerate(each)}
    answered: dict[int, list[tuple[int, Aligned]]] = {}
    for pair in matched:
        answered.setdefault(places[id(pair.one)], []).append((places[id(pair.other)], pair))
    latest: tuple[int, Aligned] | None = None
    for at in sorted(answered):
        first, last = min(answered[at], key=_place), max(answered[at], key=_place)
        if latest is not None and last[0] < latest[0]:
            return latest[1], last[1]
        if latest is None or first[0] > latest[0]:
            latest = first
    return None


def _place(found: tuple[int, Aligned]) -> int:
    return found[0]


_AMOUNT: Final = re.compile(r"(\d{1,15}(?:\.\d{1,15})?)([^\W\d_]{0,10}%?)")
_DATED: Final = re.compile(r"\d{4}-\d{2}(?:-\d{2})?")
_EACH: Final = frozenset(("every", "each", "per"))
_OFTEN: Final = {"daily": "day", "nightly": "day", "annually": "year", "quarterly": "quarter"} | {
    f"{unit}ly": unit for unit in ("hour", "week", "month", "year")
}
_NUMBER: Final = "number"
MEASURES: Final = frozenset(("time", "bytes", "share", "every"))
"""Kinds whose amounts can be held against each other wherever they stand."""


class Amount(NamedTuple):
    """``value`` of ``kind`` (time in seconds, bytes, share, every, date, version, number), the word before it
    and the word behind it."""

    kind: str
    value: float | str
    before: str
    behind: str


def amounts(sentence: Sentence) -> list[Amount]:
    """What is counted, measured or dated in a sentence, in order."""
    words, stems = sentence.words, ["", *sentence.stems, ""]
    found = []
    for at, word in enumerate(words):
        behind = words[at + 1] if at + 1 < len(words) else ""
        read = _often(word, behind) or _read(word, behind)
        if read is not None:
            found.append(Amount(*read, stems[at], stems[at + 2]))
    return found


def _often(word: str, behind: str) -> tuple[str, str] | None:
    if word in _OFTEN:
        return "every", _OFTEN[word]
    if word in _EACH:
        if behind in WEEKDAYS:
            return "every", "week"
        if UNITS.get(behind, ("",))[0] == "time":
            return "every", behind.rstrip("s")
    return None


def _read(word: str, behind: str) -> tuple[str, float | str] | None:
    if _DATED.fullmatch(word):
        return "date", word
    match = _AMOUNT.fullmatch(NUMBER_WORDS.get(word, word))
    if match is None:
        version = word.removeprefix("v")
        return ("version", version) if version[:1].isdigit() and "." in version else None
    kind, factor = UNITS.get(match[2] or behind, (_NUMBER, 1.0))
    if kind == _NUMBER and (match[2] or word in ("one", "half")):
        return None  # a name such as 2fa, or no amount: one of them
    return kind, round(float(match[1]) * factor, 6)


def _shown(amount: Amount) -> str:
    return f"{amount.value:g}" if isinstance(amount.value, float) else amount.value


def conflict(mine: Iterable[Amount], theirs: Iterable[Amount], *, in_place: bool) -> tuple[str, str] | None:
    """Two amounts of one kind that only one side has each, as texts; ``None`` when there are none.

    A bare number is held against one with the same word beside it, or, ``in_place`` (the sentences answer
    each other as a whole), against any other.
    """
    ones, others = list(mine), list(theirs)
    left = [one for one in ones if all(_apart(one, other) for other in others)]
    right = [other for other in others if all(_apart(one, other) for one in ones)]
    for one in left:
        for other in right:
            bare = {one.kind, other.kind} <= {_NUMBER, "version"}
            beside = bool(one.before == other.before != "" or one.behind == other.behind != "")
            if (bare and (in_place or beside)) or (one.kind == other.kind and not bare):
                return _shown(one), _shown(other)
    return None


def _apart(one: Amount, other: Amount) -> bool:
    return (one.kind, one.value) != (other.kind, other.value)


_ALL: Final = frozenset(("all", "any", "both", "each", "entire", "every", "everyone", "everything"))
_PART: Final = frozenset(
    ("alone", "except", "excluding", "exclusively", "few", "only", "partly", "solely", "some", "most")
)
_NARROW: Final = frozenset(("alone", "only", "solely", "exclusively", "except", "excluding"))
# "The only one", "at most", "at all", "after all" and "in any case" say nothing of how far something reaches.
_IDLE: Final = {
    "only": frozenset(("the", "not", "if")),
    "most": frozenset(("at", "the")),
    "few": frozenset(("a",)),
    "all": frozenset(("at", "after", "above", "of", "first")),
    "any": frozenset(("in", "at", "if")),
}


def _counts(behind: str) -> bool:
    """Whether a word before this one stands at an amount or a time: "every 6 hours", "some 20 minutes"."""
    numbered = behind[:1].isdigit() or behind in NUMBER_WORDS
    return numbered or behind in UNITS or behind in WEEKDAYS or behind in ("time", "times")


def reaches(words: Sequence[str]) -> tuple[set[str], set[str]]:
    """The words by which a sentence reaches to all, and those by which it reaches only to a part."""
    whole: set[str] = set()
    part: set[str] = set()
    for at, word in enumerate(words):
        if word not in _ALL and word not in _PART:
            continue
        before = words[at - 1] if at else ""
        behind = words[at + 1] if at + 1 < len(words) else ""
        if before in _IDLE.get(word, ()) or _counts(behind):
            continue
        if word in _ALL and (before in NEGATIONS or before.endswith("n't")):
            part.add(word)  # "not every"
        else:
            (whole if word in _ALL else part).add(word)
    return whole, part


def scopes_apart(one: Sentence, other: Sentence, *, in_place: bool) -> tuple[str, str] | None:
    """The words by which one sentence reaches to all and the other to a part; ``in_place`` also when nothing
    but such a word is added."""
    mine, theirs = reaches(one.words), reaches(other.words)
    for (whole, part), (their_whole, their_part), turned in ((mine, theirs, False), (theirs, mine, True)):
        if whole - their_whole and their_part - part and not (part & _NARROW):
            said = min(whole - their_whole), min(their_part - part)
            return (said[1], said[0]) if turned else said
    bare = [[w for w in each.words if w not in _ALL and w not in _PART] for each in (one, other)]
    if in_place and bare[0] == bare[1] and bool(mine[1]) != bool(theirs[1]):
        return " ".join(sorted(mine[1])), " ".join(sorted(theirs[1]))
    return None


# A word whose two sides may change places: "a before b" is "b after a".
_SIDED: Final = frozenset(
    map(stem, ("before", "after", "above", "below", "left", "right", "more", "less", "higher", "lower"))
)
_TEMPORAL: Final = frozenset(map(stem, ("before", "after")))
# A negation says nothing about what stands behind one of these: "without it the query is slow".
_ENDS_NEGATION: Final = frozenset(
    (
        *("it", "its", "they", "them", "he", "she", "we", "you", "i", "this"),
        *("that", "these", "those", "and", "or", "but", "which", "who", "when", "where"),
        *("if", "as", "because", "so"),
    )
)
_REACH: Final = 4
_PARTS: Final = re.compile(r"[-_/.:@]")


class Difference(NamedTuple):
    """``about`` is what differs: "number", "name", "negation", "opposite", "order", "scope" or "word";
    ``said`` the words."""

    about: str
    one: Sentence
    other: Sentence
    said: tuple[str, str] = ("", "")


def names(sentence: Sentence) -> set[str]:
    """The names in a sentence, in small letters: in code spans, with capitals inside, paths, weekdays."""
    found = set()
    for at, token in enumerate(sentence.tokens):
        word = token.lower()
        if word in STOP_WORDS or word[:1].isdigit() or "'" in word:
            continue
        marked = any(char in token for char in "_/.@") or has_hump(token)
        capital = token[0].isupper() and (at > 0 or (token.isupper() and len(token) > 1))
        if word in sentence.code or marked or capital or word in WEEKDAYS or word in MONTHS:
            found.add(word)
    return found


def _known(name: str, told: Set[str]) -> bool:
    """Whether the other document speaks of a name too, in whole or in its parts."""
    parts = [part for part in _PARTS.split(name) if part]
    return name in told or all(part in told or any(one in told for one in concepts(part)) for part in parts)


def negated(sentence: Sentence) -> set[str]:
    """The concepts that a sentence denies: the first one behind each negation."""
    found: set[str] = set()
    words = sentence.words
    for at, word in enumerate(words):
        if _is_negation(word):
            for behind in words[at + 1 : at + 1 + _REACH]:
                if behind in _ENDS_NEGATION:
                    break
                if denied := concepts(behind):
                    found.update(denied)
                    break
    return found


def _changed_places(one: Sentence, other: Sentence, word: str, opposite: str) -> bool:
    """Whether two sentences say the same from the other side: "a before b", "b after a"."""
    if word not in _SIDED:
        return False
    at, to = one.stems.index(word), other.stems.index(opposite)
    left, right = set(one.stems[:at]), set(one.stems[at + 1 :])
    their_left, their_right = set(other.stems[:to]), set(other.stems[to + 1 :])
    crossed = len(left & their_right) + len(right & their_left)
    return crossed > len(left & their_left) + len(right & their_right)


def _opposite(one: Sentence, other: Sentence) -> tuple[str, str] | None:
    """Two words that say opposite things; not when one of them is denied: "enabled", "not disabled"."""
    table = opposites()
    mine, theirs = set(one.stems) - set(other.stems), set(other.stems) - set(one.stems)
    for word in sorted(mine & table.keys()):
        for opposite in sorted(table[word] & theirs):
            denied = (
                not negated(one).isdisjoint(concepts(word)),
                not negated(other).isdisjoint(concepts(opposite)),
            )
            placed = word in _TEMPORAL and in_one_order(one, other)
            if denied[0] == denied[1] and not placed and not _changed_places(one, other, word, opposite):
                return word, opposite
    return None


def _denied(one: Sentence, other: Sentence) -> tuple[str, str] | None:
    """A concept that one sentence denies and the other states."""
    mine, theirs = negated(one), negated(other)
    for denied, stated, turned in ((mine, other, theirs), (theirs, one, mine)):
        for concept in sorted(denied - turned):
            if concept in stated.concepts:
                said = f"not {concept}", concept
                return said if denied is mine else (said[1], said[0])
    return None


def _is_negation(word: str) -> bool:
    return word in NEGATIONS or word.endswith("n't")


def _only_denied(one: Sentence, other: Sentence) -> bool:
    """Whether two sentences have the same words but for an odd number of negations."""
    bare = [[word for word in each.words if not _is_negation(word)] for each in (one, other)]
    return bare[0] == bare[1] and (len(one.words) - len(other.words)) % 2 == 1


def disagreement(
    one: Sentence, other: Sentence, told: tuple[Set[str], Set[str]], *, in_place: bool = True
) -> Difference | None:
    """What two sentences disagree about; ``told`` is every word and concept of the one and other document,
    ``in_place`` says that the sentences answer each other as a whole."""
    if said := conflict(amounts(one), amounts(other), in_place=in_place):
        return Difference("number", one, other, said)
    mine = {name for name in names(one) if not _known(name, told[1])}
    theirs = {name for name in names(other) if not _known(name, told[0])}
    if in_place and mine and theirs:
        return Difference("name", one, other, (min(mine), min(theirs)))
    if said := _opposite(one, other):
        return Difference("opposite", one, other, said)
    if said := turned_round(one, other):
        return Difference("order", one, other, said)
    if said := _denied(one, other):
        return Difference("negation", one, other, said)
    if said := scopes_apart(one, other, in_place=in_place):
        return Difference("scope", one, other, said)
    return Difference("negation", one, other) if in_place and _only_denied(one, other) else None


def replaced_word(one: Sentence, other: Sentence) -> tuple[str, str] | None:
    """The one word that stands in the place of another when all others are the same."""
    if len(one.words) != len(other.words):
        return None
    unlike = [pair for pair in zip(one.words, other.words, strict=True) if pair[0] != pair[1]]
    if len(unlike) != 1 or set(concepts(unlike[0][0])) & set(concepts(unlike[0][1])):
        return None
    return None if {*unlike[0]} <= STOP_WORDS else unlike[0]


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
