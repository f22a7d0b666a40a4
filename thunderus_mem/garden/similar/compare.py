"""Classify a pair of similar documents: same, possible contradiction, same form, or only related. Pure.

Corresponding sentences are found first (`align`); these may disagree about an order, a number, a scope, a
name, a negation or an opposite. The label decides what is proposed, not whether the pair is reported. In
doubt it asks for review: any difference between otherwise corresponding sentences is a possible
contradiction.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

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
from thunderus_mem.startup import NamedTuple, lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence, Set

    from thunderus_mem.document.document import Document
    from thunderus_mem.garden.similar.profile import Sentence

_ONE_SLOT: Final = 0.15
"""Bonus for two sentences under the same heading or key."""
_WEAKEST: Final = 0.3
_MOST_COMPARED: Final = 80


class Aligned(NamedTuple):
    """Two corresponding sentences; ``likeness`` is 1 if they are identical."""

    one: Sentence
    other: Sentence
    likeness: float


def likeness(one: Sentence, other: Sentence) -> float:
    """The overlap of the concepts of two sentences: the mean of the Dice and overlap coefficients, 0 to 1."""
    shared = len(one.concepts & other.concepts)
    if not shared:
        return 0.0
    sizes = len(one.concepts), len(other.concepts)
    return (2 * shared / sum(sizes) + shared / min(sizes)) / 2


def answers(ones: Sequence[Sentence], others: Sequence[Sentence], least: float) -> list[Aligned]:
    """For each sentence of either side its most similar one with at least ``least``; one may match
    several."""
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
    """Pair sentences, each used once: identical ones first, then the most similar."""
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
_CLAUSE: Final = lazy_pattern(r"[,;:()–—]")
_WORD: Final = lazy_pattern(r"[^\s,;:()–—]+")
_AROUND: Final = "`*_\"'.!?"


class Order(NamedTuple):
    """What a sentence puts ``earlier`` and ``later``, as concepts that are on one side only."""

    earlier: frozenset[str]
    later: frozenset[str]


def _denies(words: Iterable[str]) -> bool:
    return any(word in NEGATIONS or word.endswith(("n't", "n’t")) for word in words)


def _order(mark: str, front: list[str], behind: list[str]) -> Order | None:
    before, after = (frozenset(concepts_of(" ".join(words))) for words in (front, behind))
    before, after = before - after, after - before
    if not before or not after:
        return None
    turned = _denies(word.lower() for word in front)
    if mark == "until":
        # "Wait with a until b" and "a until b" differ; only the negated form is unambiguous.
        return Order(after, before) if turned else None
    return Order(after, before) if (mark == "after") != turned else Order(before, after)


def orders(sentence: Sentence) -> list[Order]:
    """The order stated by every "before", "after", "then" and "not … until" of a sentence."""
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
            order = _order(mark, front, behind)
            if order is not None:
                found.append(order)
    return found


def opposite_order(one: Sentence, other: Sentence) -> tuple[str, str] | None:
    """Two things that the sentences put in opposite orders."""
    for mine in orders(one):
        for theirs in orders(other):
            first, second = mine.earlier & theirs.later, mine.later & theirs.earlier
            straight = len(mine.earlier & theirs.earlier) + len(mine.later & theirs.later)
            if first and second and len(first) + len(second) > straight:
                a, b = min(first), min(second)
                return f"{a} first", f"{b} first"
    return None


def same_order(one: Sentence, other: Sentence) -> bool:
    """Whether two sentences put the same things in the same order, in whatever words."""
    return any(
        mine.earlier & theirs.earlier and mine.later & theirs.later
        for mine in orders(one)
        for theirs in orders(other)
    )


def steps_apart(
    ones: Sequence[Sentence], others: Sequence[Sentence], matched: Iterable[Aligned]
) -> tuple[Aligned, Aligned] | None:
    """Two steps that are in the opposite order in the other text; if a step matches several sentences, all of
    them must be."""
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


_AMOUNT: Final = lazy_pattern(r"(\d{1,15}(?:\.\d{1,15})?)([^\W\d_]{0,10}%?)")
_DATED: Final = lazy_pattern(r"\d{4}-\d{2}(?:-\d{2})?")
_EACH: Final = frozenset(("every", "each", "per"))
_OFTEN: Final = {"daily": "day", "nightly": "day", "annually": "year", "quarterly": "quarter"} | {
    f"{unit}ly": unit for unit in ("hour", "week", "month", "year")
}
_NUMBER: Final = "number"
MEASURES: Final = frozenset(("time", "bytes", "share", "every"))
"""Kinds whose amounts are comparable regardless of the sentence."""


class Amount(NamedTuple):
    """``value`` of ``kind`` (time in seconds, bytes, share, every, date, version, number), with the stems of
    the words before and after it."""

    kind: str
    value: float | str
    before: str
    behind: str


def amounts(sentence: Sentence) -> list[Amount]:
    """The numbers, measures and dates of a sentence, in order."""
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
        return None  # a name such as 2fa, or not an amount ("one of them")
    return kind, round(float(match[1]) * factor, 6)


def _shown(amount: Amount) -> str:
    return f"{amount.value:g}" if isinstance(amount.value, float) else amount.value


def conflict(mine: Iterable[Amount], theirs: Iterable[Amount], *, in_place: bool) -> tuple[str, str] | None:
    """Two amounts of one kind, each on one side only, as texts; ``None`` if there are none.

    A bare number is compared with one next to the same word or, ``in_place`` (the sentences correspond as a
    whole), with any other.
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
# "The only one", "at most", "at all", "after all" and "in any case" do not limit the scope of a statement.
_IDLE: Final = {
    "only": frozenset(("the", "not", "if")),
    "most": frozenset(("at", "the")),
    "few": frozenset(("a",)),
    "all": frozenset(("at", "after", "above", "of", "first")),
    "any": frozenset(("in", "at", "if")),
}


def _counts(behind: str) -> bool:
    """Whether the word before this one quantifies an amount or a time: "every 6 hours", "some 20 minutes"."""
    numbered = behind[:1].isdigit() or behind in NUMBER_WORDS
    return numbered or behind in UNITS or behind in WEEKDAYS or behind in ("time", "times")


def reaches(words: Sequence[str]) -> tuple[set[str], set[str]]:
    """The words that extend a sentence to all, and those that limit it to a part."""
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
    """The words by which one sentence is about all and the other about a part; ``in_place`` also if such a
    word is the only difference."""
    mine, theirs = reaches(one.words), reaches(other.words)
    for (whole, part), (their_whole, their_part), turned in ((mine, theirs, False), (theirs, mine, True)):
        if whole - their_whole and their_part - part and not (part & _NARROW):
            said = min(whole - their_whole), min(their_part - part)
            return (said[1], said[0]) if turned else said
    bare = [[w for w in each.words if w not in _ALL and w not in _PART] for each in (one, other)]
    if in_place and bare[0] == bare[1] and bool(mine[1]) != bool(theirs[1]):
        return " ".join(sorted(mine[1])), " ".join(sorted(theirs[1]))
    return None


# Words whose two sides can be swapped: "a before b" is "b after a".
_SIDED: Final = frozenset(
    map(stem, ("before", "after", "above", "below", "left", "right", "more", "less", "higher", "lower"))
)
_TEMPORAL: Final = frozenset(map(stem, ("before", "after")))
# A negation does not extend beyond one of these: "without it the query is slow".
_ENDS_NEGATION: Final = frozenset(
    (
        *("it", "its", "they", "them", "he", "she", "we", "you", "i", "this"),
        *("that", "these", "those", "and", "or", "but", "which", "who", "when", "where"),
        *("if", "as", "because", "so"),
    )
)
_REACH: Final = 4
_PARTS: Final = lazy_pattern(r"[-_/.:@]")


class Difference(NamedTuple):
    """``about`` is what differs: "number", "name", "negation", "opposite", "order", "scope" or "word";
    ``said`` are the words."""

    about: str
    one: Sentence
    other: Sentence
    said: tuple[str, str] = ("", "")


def names(sentence: Sentence) -> set[str]:
    """The names in a sentence, in lower case: code spans, mixed-case words, paths, weekdays."""
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


def _known(name: str, vocabulary: Set[str]) -> bool:
    """Whether the other document also has a name, as a whole or in its parts."""
    parts = [part for part in _PARTS.split(name) if part]
    return name in vocabulary or all(
        part in vocabulary or any(one in vocabulary for one in concepts(part)) for part in parts
    )


def negated(sentence: Sentence) -> set[str]:
    """The concepts that a sentence negates: the first one after each negation."""
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
    """Whether two sentences say the same with swapped sides: "a before b", "b after a"."""
    if word not in _SIDED:
        return False
    at, to = one.stems.index(word), other.stems.index(opposite)
    left, right = set(one.stems[:at]), set(one.stems[at + 1 :])
    their_left, their_right = set(other.stems[:to]), set(other.stems[to + 1 :])
    crossed = len(left & their_right) + len(right & their_left)
    return crossed > len(left & their_left) + len(right & their_right)


def _opposite(one: Sentence, other: Sentence) -> tuple[str, str] | None:
    """Two opposite words; ``None`` if one of them is negated: "enabled", "not disabled"."""
    table = opposites()
    mine, theirs = set(one.stems) - set(other.stems), set(other.stems) - set(one.stems)
    for word in sorted(mine & table.keys()):
        for opposite in sorted(table[word] & theirs):
            denied = (
                not negated(one).isdisjoint(concepts(word)),
                not negated(other).isdisjoint(concepts(opposite)),
            )
            placed = word in _TEMPORAL and same_order(one, other)
            if denied[0] == denied[1] and not placed and not _changed_places(one, other, word, opposite):
                return word, opposite
    return None


def _denied(one: Sentence, other: Sentence) -> tuple[str, str] | None:
    """A concept that one sentence negates and the other states."""
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
    """Whether two sentences have the same words except for an odd number of negations."""
    bare = [[word for word in each.words if not _is_negation(word)] for each in (one, other)]
    return bare[0] == bare[1] and (len(one.words) - len(other.words)) % 2 == 1


def disagreement(
    one: Sentence, other: Sentence, vocabularies: tuple[Set[str], Set[str]], *, in_place: bool = True
) -> Difference | None:
    """What two sentences disagree about; ``vocabularies`` are all words and concepts of each document;
    ``in_place`` means that the sentences correspond as a whole."""
    if said := conflict(amounts(one), amounts(other), in_place=in_place):
        return Difference("number", one, other, said)
    mine = {name for name in names(one) if not _known(name, vocabularies[1])}
    theirs = {name for name in names(other) if not _known(name, vocabularies[0])}
    if in_place and mine and theirs:
        return Difference("name", one, other, (min(mine), min(theirs)))
    if said := _opposite(one, other):
        return Difference("opposite", one, other, said)
    if said := opposite_order(one, other):
        return Difference("order", one, other, said)
    if said := _denied(one, other):
        return Difference("negation", one, other, said)
    if said := scopes_apart(one, other, in_place=in_place):
        return Difference("scope", one, other, said)
    return Difference("negation", one, other) if in_place and _only_denied(one, other) else None


def replaced_word(one: Sentence, other: Sentence) -> tuple[str, str] | None:
    """The one word that differs between two otherwise identical sentences."""
    if len(one.words) != len(other.words):
        return None
    unlike = [pair for pair in zip(one.words, other.words, strict=True) if pair[0] != pair[1]]
    if len(unlike) != 1 or set(concepts(unlike[0][0])) & set(concepts(unlike[0][1])):
        return None
    return None if {*unlike[0]} <= STOP_WORDS else unlike[0]


_FEWEST_MENTIONS: Final = 2
"""A concept of the title must be in at least this many sentences of the body."""


def titles_differ(one: Read, other: Read, *, numbers: bool = True) -> bool:
    """Whether each title has a concept that the other document never mentions; bare numbers are ignored
    unless ``numbers``."""
    mine, theirs = (
        {concept for concept in each.sentences[0].concepts if numbers or not concept.isdigit()}
        for each in (one, other)
    )
    return bool(mine - other.vocabulary) and bool(theirs - one.vocabulary)


def subjects_differ(one: Read, other: Read) -> bool:
    """Whether each document is about something that the other never mentions: a name in its title, or a word
    of its title that its text repeats.

    Not if a title is a sentence, because "the queue is in Redis" contradicts "… in Postgres", nor if both
    repeat the same word of both titles.
    """
    claims = any(not SAYING.isdisjoint(each.sentences[0].words) for each in (one, other))
    if claims or _repeated_words(one) & _repeated_words(other):
        return False
    for about in (_named, _repeated_words):
        mine, theirs = about(one), about(other)
        if mine - other.vocabulary and theirs - one.vocabulary:
            return True
    return False


def _named(each: Read) -> set[str]:
    """The names in a title: words written like names, or capitalized both there and in the text."""
    title = each.sentences[0]
    in_text = {name for sentence in each.sentences[1:] for name in names(sentence)}
    found = set()
    for token in title.tokens:
        word = token.lower()
        marked = has_hump(token) or word in title.code or any(char in token for char in "_/.@")
        if marked or (token[0].isupper() and word in in_text):
            found.add(word)
    return found


def _repeated_words(each: Read) -> set[str]:
    said = Counter(concept for sentence in each.sentences[1:] for concept in sentence.concepts)
    return {concept for concept in each.sentences[0].concepts if said[concept] >= _FEWEST_MENTIONS}


Label: TypeAlias = Literal["same", "possible contradiction", "same form", "related"]
SAME: Final = "same"
CONTRADICTION: Final = "possible contradiction"
FORM: Final = "same form"
RELATED: Final = "related"

_AGREES: Final = 0.5
"""From this likeness on, two sentences are about the same thing, so that their differences count."""
_FILLED_ALIKE: Final = 0.25
_FEWEST_SLOTS: Final = 2
_FEWEST_FILLINGS: Final = 3
_LONG: Final = 8
_SHORT: Final = 5


class Read(NamedTuple):
    """A document prepared for comparison: its sentences, and all of its words, stems and concepts."""

    document: Document
    sentences: Sequence[Sentence]
    vocabulary: frozenset[str]


class Comparison(NamedTuple):
    """``differences`` of aligned sentences; ``form`` means one template with different content."""

    aligned: tuple[Aligned, ...]
    differences: tuple[Difference, ...]
    form: bool


def read(document: Document) -> Read:
    """Prepare a document for comparison with several others."""
    found = sentences(document)
    vocabulary = {word for one in found for word in one.words}
    vocabulary |= {word for one in found for word in one.concepts}
    vocabulary.update(one for sentence in found for one in sentence.stems)
    return Read(document, found, frozenset(vocabulary))


def _fills_one_form(one: Read, other: Read, places: int) -> bool:
    """Whether two documents are one template with different content: shared headings or keys with dissimilar
    contents, or the same sentences about two things with several differences."""
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
    """Align two documents and find the differences of their sentences."""
    aligned = align(one.sentences, other.sentences)
    unlike = [pair for pair in aligned if pair.likeness < 1.0]
    vocabularies = one.vocabulary, other.vocabulary
    found = [(pair, disagreement(pair.one, pair.other, vocabularies)) for pair in unlike]
    differences = [said for pair, said in found if said is not None and pair.likeness >= _AGREES]
    if not differences:
        loose = answers(one.sentences, other.sentences, _AGREES)
        differences = [
            said
            for pair in loose
            if pair.one.plain != pair.other.plain
            and (said := disagreement(pair.one, pair.other, vocabularies, in_place=False)) is not None
        ]
    if not differences and {one.document.kind, other.document.kind} <= ORDERED_KINDS:
        differences = _steps_apart(one, other)
    if not differences and max(len(one.sentences), len(other.sentences)) <= _SHORT:
        differences = _different_measures(one, other)
    body = [pair for pair in unlike if pair.one.slot != TITLE]
    if not differences and len(body) == 1 and (words := replaced_word(body[0].one, body[0].other)):
        differences.append(Difference("word", body[0].one, body[0].other, words))
    places = sum(said is not None for _, said in found)
    return Comparison(tuple(aligned), tuple(differences), _fills_one_form(one, other, places))


def _steps_apart(one: Read, other: Read) -> list[Difference]:
    """Two steps that are in a different order in two procedures."""
    ones, others = one.sentences[1:], other.sentences[1:]
    apart = steps_apart(ones, others, answers(ones, others, _AGREES))
    return [Difference("order", pair.one, pair.other) for pair in apart or ()]


def _different_measures(one: Read, other: Read) -> list[Difference]:
    """Different measures in two short documents, in any sentence: times, sizes, shares, and numbers after the
    same name ("iOS 15")."""
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
    """The label of a pair; ``strong``: similar enough to be the same; ``one_text``: almost the same text
    about one subject, so that it is not just a shared template."""
    if found.form and not one_text:
        return FORM
    if not strong:
        return RELATED
    return CONTRADICTION if found.differences else SAME
