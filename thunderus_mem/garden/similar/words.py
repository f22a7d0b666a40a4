"""Words as they are compared: the stem of a word, the one word for several, names as their parts."""

from __future__ import annotations

import re
import struct
import unicodedata
from functools import cache, lru_cache
from hashlib import blake2b
from typing import Final
from zlib import crc32

from thunderus_mem.garden.similar.synonyms import OPPOSITE, SAME
from thunderus_mem.garden.similar.vocabulary import STOP_WORDS
from thunderus_mem.model.words import grams, has_hump, is_cjk, latin_parts, scripts

_RUN: Final = re.compile(r"\w+")
_VOWELS: Final = frozenset("aeiouy")
_SHORTEST_STEM = 3
_LONGEST_WORD = 64
_SUFFIXES: Final = (
    *("ations", "ation", "ating", "ated", "ates", "ate", "ions", "ion", "ments", "ment", "ings", "ing"),
    *("ed", "ly"),
)


def runs(text: str) -> list[str]:
    """The runs of letters, digits and underscores of a text, as written."""
    return _RUN.findall(text if text.isascii() else unicodedata.normalize("NFC", text))


def _has_vowel(word: str) -> bool:
    return not _VOWELS.isdisjoint(word)


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """The word without its endings: deploys, deployed, deploying, deployment → deploy. Small letters only."""
    if not word.isascii() or not word.isalpha() or len(word) <= _SHORTEST_STEM:
        return word
    if word.endswith("ies"):
        word = word[:-3] + "y"
    elif word.endswith(("sses", "shes", "ches", "xes", "zes")):
        word = word[:-2]
    elif word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    for suffix in _SUFFIXES:
        rest = word[: -len(suffix)]
        if word.endswith(suffix) and len(rest) >= _SHORTEST_STEM and _has_vowel(rest):
            word = rest
            if len(word) > _SHORTEST_STEM and word[-1] == word[-2] and word[-1] not in "aeiouls":
                word = word[:-1]
            break
    if len(word) > _SHORTEST_STEM and word.endswith("e"):
        word = word[:-1]
    if len(word) > _SHORTEST_STEM and word.endswith("i"):
        word = word[:-1] + "y"
    return word


@cache
def _same() -> dict[str, str]:
    table: dict[str, str] = {}
    for line in SAME:
        for word in line:
            table.setdefault(stem(word), stem(line[0]))
    return table


@cache
def opposites() -> dict[str, frozenset[str]]:
    """Stem → the stems that say the opposite."""
    table: dict[str, set[str]] = {}
    for one, other in OPPOSITE:
        table.setdefault(stem(one), set()).add(stem(other))
        table.setdefault(stem(other), set()).add(stem(one))
    return {word: frozenset(others) for word, others in table.items()}


@lru_cache(maxsize=65536)
def concepts(run: str) -> tuple[str, ...]:
    """What a run of `runs` stands for: nothing (a stop word), a word for its stem, a name and its parts."""
    if run in STOP_WORDS or len(run) > _LONGEST_WORD or not run.strip("_"):
        return ()
    if run.isascii() and "_" not in run:
        if len(run) == 1 and not run.isdigit():
            return ()
        stemmed = stem(run)
        return (_same().get(stemmed, stemmed),)
    parts = [part for part in run.split("_") if part]
    if len(parts) > 1:
        found = [one for part in parts for one in concepts(part)]
        return (run, *(one for one in found if one != run))
    return tuple(one for piece in scripts(parts[0]) for one in (grams(piece) if is_cjk(piece) else (piece,)))


@lru_cache(maxsize=65536)
def _meant(name: str) -> tuple[str, ...]:
    """What a run as it is written stands for: `concepts`, and the parts of a name with humps."""
    found = concepts(name.lower())
    if not name.islower() and not name.istitle() and has_hump(name):
        found += tuple(one for part in latin_parts(name) for one in concepts(part))
    return found


def concepts_of(text: str) -> set[str]:
    """Everything a text speaks of, as a set of concepts."""
    return set().union(*map(_meant, set(runs(text))))


@lru_cache(maxsize=1 << 18)
def number_of(concept: str) -> int:
    """A number of 32 bits for a text, the same in every process and on every machine."""
    return crc32(concept.encode("utf-8", "surrogatepass"))


@lru_cache(maxsize=1 << 18)
def numbers_meant(name: str) -> tuple[int, ...]:
    """The numbers of what a run as it is written stands for."""
    return tuple(map(number_of, _meant(name)))


@lru_cache(maxsize=1 << 18)
def spread(name: str) -> tuple[int, int, int]:
    """Three numbers of 64 bits for a run, whatever its capitals: one for each place in three words."""
    digest = blake2b(name.lower().encode("utf-8", "surrogatepass"), digest_size=24).digest()
    return struct.unpack("<3Q", digest)
