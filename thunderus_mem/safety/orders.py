"""Find orders to an agent by what they say: a weighted sum of words, classes of words and their neighbours.

The weights in ``order_weights.txt`` are those of a logistic regression (`benchmarks/fit_orders.py`). Words of
one class (``order_words.txt``) count alike in all languages, so an order is recognized in other words, too.
"""

from __future__ import annotations

import os
import re
from functools import cache, cached_property, lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from thunderus_mem.safety.literals import Literals, plain
from thunderus_mem.startup import NamedTuple, lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Sequence

_FOLDER: Final = os.path.dirname(__file__)
WEIGHTS: Final = os.path.join(_FOLDER, "order_weights.txt")
WORDS: Final = os.path.join(_FOLDER, "order_words.txt")
SINGLE: Final = "(single)"
"""The name of the lines with weights of words and classes; the others are of pairs, by the first of both."""
_WINDOW: Final = 3
_LONGEST: Final = 600
_NEAR: Final = 4
_SHORTEST: Final = 12
_STEM: Final = 3
_BEGIN: Final = "^"
_BEGINNING: Final = ("+^",)
_SENTENCE: Final = lazy_pattern("[.!?] |[\u3002\uff01\uff1f]")
_TOKEN: Final = lazy_pattern(
    r"https?://\S{1,300}|s3://\S{1,300}|[\w.+-]{1,64}+@[\w-]{1,64}\.[\w.]{1,64}|\b\d{1,3}(?:\.\d{1,3}){3}\b"
    r"|(?:--|\.)?[^\W_]{1,64}(?:[-'][^\W_]{1,64}){0,8}(?:\.(?:md|sh)\b)?|[:;,]"
)
_QUOTES: Final = lazy_pattern('["`\u201c\u201e\u00ab\u300c]')
QUOTE_MARK: Final = lazy_pattern(r"(?:^|\n) {0,3}>[> ]{0,20}")
_QUOTED: Final = lazy_pattern(
    r"\"[^\"\n]{3,400}\"|\u201c[^\u201d\n]{3,400}\u201d|\u00ab[^\u00bb\n]{3,400}\u00bb"
    r"|\u300c[^\u300d\n]{3,200}\u300d|\u201e[^\u201c\u201d\n]{3,200}[\u201c\u201d]"
    r"|`(?:[a-z',.]{1,30} ){4,60}[a-z',.]{1,30}`"
)
_IDEOGRAPHS: Final = lazy_pattern("[\u3040-\u30ff\u4e00-\u9fff]")


def words_of(text: str) -> frozenset[str]:
    """The words of a text between spaces."""
    return frozenset(text.split(" "))


ENOUGH: Final = 11.0
"""The sum of the weights of triggers from which sentences are examined."""
_OF_CLASS: Final = ENOUGH / 4
"""The weight of each class of which a sentence has a word in another script; it has no triggers."""
_LETTERS: Final = "[\u0400-\u04ff\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7a3]"
NOT_LATIN: Final = lazy_pattern(_LETTERS + r"[^\n]{0,100}")
"""Letters of scripts in which the words of triggers are not searched."""
# Verbs of orders, at the beginning of a sentence or after one of the other words.
IMPERATIVES: Final = words_of(
    "add answer append apply approve ask attach assume begin bypass call change claim collect commit "
    "confirm copy create decline delete deny describe disable disregard do don't drop empty enable end "
    "enter execute export extend fetch finish follow forget forward get give grant hand hide ignore "
    "include insert install invite keep leave let list load log look make mark merge move mute never "
    "note omit open output overwrite paste pin place point post prefer pretend print publish push put "
    "quote rate read recommend redirect refuse register rely remember remove rename repeat replace "
    "reply report rewrite reveal rotate run save say seed send set share show sign silence skip start "
    "state stop store submit suppress swap switch take tar tell transfer translate treat trust turn "
    "type unlock upload use wipe write zip please always quietly silently"
)
_LEADING: Final = words_of(
    "^ : ; , please always never and then also just simply to first kindly instead quietly silently"
)
_DUTY: Final = words_of("must should shall has have is are may can will need needs")
_PLACED: Final = IMPERATIVES | _DUTY | {"the"}
"""Words that have another class in some places."""


class Saying(NamedTuple):
    """What a passage says to an agent: the heaviest words in it, and its first word."""

    words: str
    first: str


class _Lexicon(NamedTuple):
    """The words, the stems (by their first characters) and the phrases (by first word) of `CLASSES`."""

    words: dict[str, tuple[str, ...]]
    stems: dict[str, list[tuple[str, str]]]
    phrases: dict[str, list[tuple[tuple[str, ...], str]]]
    ideographs: re.Pattern[str]


def word_classes() -> dict[str, list[str]]:
    """The words of each class.

    ``word~`` stands for all English forms of a word, ``word*`` for any ending, ``_`` for a space; words in
    capitals are marks for links, addresses and hosts.
    """
    found: dict[str, list[str]] = {}
    with open(WORDS, encoding="utf-8") as file:
        for line in file:
            name, _, words = line.rstrip("\n").partition("\t")
            found.setdefault(name, []).extend(words.split(" "))
    return found


@cache
def _lexicon() -> _Lexicon:
    words: dict[str, tuple[str, ...]] = {}
    stems: dict[str, list[tuple[str, str]]] = {}
    phrases: dict[str, list[tuple[tuple[str, ...], str]]] = {}
    for name, listed in word_classes().items():
        for word in listed:
            first, *rest = word.split("_")
            if rest:
                phrases.setdefault(first, []).append((tuple(rest), f"+{name}"))
            elif word[-1] == "*":
                stems.setdefault(word[:-1][:_STEM], []).append((word[:-1], name))
            else:
                for form in _forms(word[:-1]) if word[-1] == "~" else (word,):
                    words[form] = (*words.get(form, ()), name)
    ideographs = [word for word in words if "\u3040" <= max(word) <= "\u9fff"]
    longest_first = sorted(ideographs, key=len, reverse=True)
    pattern = lazy_pattern("|".join(map(re.escape, longest_first)))
    return _Lexicon(words, stems, phrases, pattern)


def _forms(word: str) -> frozenset[str]:
    """The forms that an English noun or verb can have; some of them do not exist."""
    forms = {word, *(word + end for end in ("s", "es", "d", "ed", "n", "ing"))}
    forms |= {word + word[-1] + end for end in ("ed", "ing")}
    if word[-1] == "e":
        forms |= {word[:-1] + end for end in ("ed", "ing")}
    if word[-1] == "y":
        forms |= {word[:-1] + end for end in ("ies", "ied")}
    return frozenset(forms)


@cache
def _classes(word: str) -> tuple[str, ...]:
    lexicon = _lexicon()
    if "://" in word:
        word = "URLHOST"
    elif "@" in word:
        word = "EMAIL"
    elif word[0].isdigit() and word.count(".") == 3:
        word = "IPADDR"
    found = set(lexicon.words.get(word, ()))
    for length in range(1, _STEM + 1):
        for stem, name in lexicon.stems.get(word[:length], ()):
            if word.startswith(stem):
                found.add(name)
    if not found and "-" in word:
        found = {name for part in word.split("-") for name in lexicon.words.get(part, ())}
    return tuple([f"+{name}" for name in sorted(found)]) if found else ()


class Sentence:
    """A lower-case sentence: its words, their classes, and the features of both."""

    def __init__(self, text: str, start: int) -> None:
        self.start = start
        self.length = len(text)
        lexicon = _lexicon()
        self.words = words = [_BEGIN, *_tokens(text)]
        self.classes: list[tuple[str, ...]] = [_BEGINNING, *map(_classes, words[1:])]
        phrases = lexicon.phrases
        for at in [at for at, word in enumerate(words) if word in phrases]:
            for rest, name in phrases[words[at]]:
                if tuple(words[at + 1 : at + 1 + len(rest)]) == rest:
                    self.classes[at] = (*self.classes[at], name)
        placed = [at for at, word in enumerate(words) if word in _PLACED]
        self.extra = {at: name for at in placed if (name := self._extra(at))}
        self.simple = frozenset(
            [*words[1:], *[name for names in self.classes[1:] for name in names], *self.extra.values()]
        )

    def _extra(self, at: int) -> str:
        """A class that a word only has in its place: of an order, of the user spoken of, of a duty."""
        word = self.words[at]
        if word in IMPERATIVES and self.words[at - 1] in _LEADING:
            return "+order"
        if word == "the" and at + 1 < len(self.words) and "+user" in _classes(self.words[at + 1]):
            return "+the_user"
        return "+duty" if word in _DUTY and "+agent" in self.classes[at - 1] else ""

    @cached_property
    def features(self) -> frozenset[str]:
        """Words, classes, neighbours, and pairs of classes near each other."""
        pairs = [f"{first} {second}" for first, after in self._pairs() for second in after if first != second]
        return frozenset([*self.simple, *pairs])

    @cached_property
    def weighed(self) -> dict[str, float]:
        """The features that have a weight, and their weights."""
        weights, _, _, pairs = _weights()
        found = {name: weights[name] for name in self.simple if name in weights}
        for first, after in self._pairs(pairs):
            known = pairs[first]
            for two in known.keys() & after:
                if two != first:
                    found[f"{first} {two}"] = known[two]
        return found

    def _pairs(self, among: Container[str] | None = None) -> Iterator[tuple[str, Iterable[str]]]:
        """Words and classes, all or those among some, each with the words and classes after it."""
        words, classes = self.words, self.classes
        near = [(*names, self.extra[at]) if at in self.extra else names for at, names in enumerate(classes)]
        for at, names in enumerate(near):
            if at + 1 < len(words) and (among is None or words[at] in among):
                yield words[at], (words[at + 1], *classes[at + 1])
            after: set[str] | None = None
            for name in names:
                if among is not None and name not in among:
                    continue
                if after is None:
                    after = {one for others in near[at + 1 : at + 1 + _NEAR] for one in others}
                    after.update(words[at + 1 : at + 2] if at else ())
                yield name, after


def plain_paragraph(paragraph: str) -> str:
    """A lower-case paragraph on one line, without emphasis markup, marks of quoting and quotations."""
    said = QUOTE_MARK.sub("\n", paragraph) if ">" in paragraph else paragraph
    for sign in "*~":
        said = said.replace(sign, " ")
    said = " ".join(said.replace("\u2019", "'").split())
    if paragraph.startswith("---"):  # quotes in frontmatter are those of YAML
        return said.replace('"', " ")
    return _QUOTED.sub(' " ', said) if _QUOTES.search(said) else said


def sentences(paragraph: str) -> list[tuple[int, int]]:
    """Where the sentences of a paragraph begin and end."""
    edges = [0, *(found.end() for found in _SENTENCE.finditer(paragraph)), len(paragraph)]
    pieces = pairwise(edges)
    return [(start, min(end, start + _LONGEST)) for start, end in pieces if end - start > 2]


def windows(paragraph: str) -> Iterator[list[Sentence]]:
    """Every one to three neighbouring sentences of a lower-case paragraph."""
    known = [Sentence(paragraph[start:end], start) for start, end in sentences(paragraph)]
    for first in range(len(known)):
        for last in range(first + 1, min(first + _WINDOW, len(known)) + 1):
            yield known[first:last]


@lru_cache(maxsize=16)
def _tokens(sentence: str) -> Sequence[str]:
    """The words of a sentence; ideographs are divided into known words and the rest."""
    if not sentence.isascii() and _IDEOGRAPHS.search(sentence):
        sentence = _lexicon().ideographs.sub(lambda found: f" {found[0]} ", sentence)
    return tuple(_TOKEN.findall(sentence))


def _alert(sentence: str) -> float:
    """The sum of the weights of the triggers in a sentence."""
    known = triggers()
    heard = sum([known[word] for word in known.keys() & plain(sentence).split()])
    return heard if sentence.isascii() else heard + heard_in_scripts(sentence)


@cache
def _words_in_scripts() -> Literals:
    """The words of `CLASSES` in other scripts, in UTF-8, and the numbers of their classes."""
    return Literals(
        (word.rstrip("*~").replace("_", " ").encode(), number)
        for number, words in enumerate(word_classes().values())
        for word in words
        if NOT_LATIN.search(word)
    )


def heard_in_scripts(text: str) -> float:
    """What the words of a lower-case text in other scripts add to the weights of triggers."""
    literals = _words_in_scripts()
    found = literals.find(text.encode("utf-8", "surrogatepass"))
    return _OF_CLASS * len({number for word, *_ in found for number in literals.rows[word]})


@cache
def _weight_of(word: str) -> float:
    weights, classes = _weights().features, _classes(word)
    return sum([weights.get(name, 0) for name in (word, *classes)]) if classes else weights.get(word, 0)


class _Weights(NamedTuple):
    """The table of weights: of words and classes, of triggers, the numbers in parentheses, and of pairs by
    their first word or class."""

    features: dict[str, float]
    triggers: dict[bytes, float]
    settings: dict[str, float]
    pairs: dict[str, dict[str, float]]


@cache
def _weights() -> _Weights:
    found = _Weights({}, {}, {}, {})
    with open(WEIGHTS, encoding="utf-8") as file:
        for line in file:
            name, _, rest = line.partition("\t")
            if name[0] == "!":
                found.triggers[name[1:].encode()] = float(rest)
            elif name[0] == "(" and name != SINGLE:
                found.settings[name] = float(rest)
            else:
                table = found.features if name == SINGLE else found.pairs.setdefault(name, {})
                listed = rest.split()
                table.update(zip(listed[::2], map(float, listed[1::2]), strict=True))
    return found


def triggers() -> dict[bytes, float]:
    """Words that are frequent in orders and rare elsewhere: without some of them a text is not examined."""
    return _weights().triggers


def score(window: Sequence[Sentence], length: float) -> float:
    """The sum of the weights of neighbouring sentences."""
    found: dict[str, float] = {}
    for one in window:
        found.update(one.weighed)
    return _weights().settings["(length)"] * length_of(length) + sum(found.values())


def length_of(characters: float) -> float:
    """The feature of a passage's length: long passages have more words."""
    return float((max(characters, 60) / 150) ** 0.5)


def manipulates(paragraph: str, *, hidden: bool = False) -> Saying | None:
    """What a lower-case paragraph says to an agent, if its sum is high enough."""
    enough = ENOUGH / 2 if hidden else ENOUGH
    if len(paragraph) < _SHORTEST or _alert(paragraph) < enough:
        return None
    paragraph = plain_paragraph(paragraph)
    settings = _weights().settings
    least = settings["(hidden)" if hidden else "(threshold)"]
    places = sentences(paragraph)
    alert = [_alert(paragraph[start:end]) for start, end in places]
    known: dict[int, Sentence] = {}
    for first in range(len(places)):
        for last in range(first, min(first + _WINDOW, len(places))):
            window = range(first, last + 1)
            length = sum([places[at][1] - places[at][0] for at in window])
            if sum(alert[first : last + 1]) < enough * max(length_of(length), 1):
                continue
            for at in window:
                if at not in known:
                    known[at] = Sentence(paragraph[places[at][0] : places[at][1]], places[at][0])
            sentences_of = [known[at] for at in window]
            if score(sentences_of, length) > least:
                return Saying(_said(sentences_of), paragraph[places[first][0] :].partition(" ")[0])
    return None


def _said(window: Sequence[Sentence]) -> str:
    """The heaviest words of a class, for a message."""
    words = {word for one in window for word in one.words[1:] if word[0].isalpha() and _classes(word)}
    heaviest = sorted(words, key=lambda word: (-_weight_of(word), word))
    return ", ".join([f"'{word}'" for word in heaviest[:3]])
