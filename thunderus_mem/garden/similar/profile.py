"""The profile of a document for finding similar ones: small, deterministic, and computed once for each text.

It covers only the body. Headings and comments are not part of the signature, so that documents from the same
template are not similar for that alone.
"""

from __future__ import annotations

import struct
import sys
from array import array
from functools import cached_property
from hashlib import sha256
from operator import xor
from typing import TYPE_CHECKING, Final

from thunderus_mem.document.anchors import anchors_in
from thunderus_mem.document.statements import gist, statements
from thunderus_mem.garden.similar.words import concepts_of, number_of, numbers_meant, runs, spread, stem
from thunderus_mem.startup import NamedTuple, lazy_pattern

if TYPE_CHECKING:
    import re
    from collections.abc import Mapping, MutableMapping, Sequence

    from thunderus_mem.document.document import Document

# Increase it with every change to how profiles are computed, including the word tables.
_RULES: Final = 2
PLACES: Final = 128
"""Numbers in a signature."""
_SEED = 20261
_WORDS_OF_A_RUN = 3
# Larger bodies are cut: they restate nothing, and the cache stays small.
_MOST = 2048
# From 256 sets on rensa starts threads, and a process with threads cannot fork workers.
_AT_ONCE: Final = 128
"""The number of documents whose words are in memory at a time."""
_HEAD: Final = struct.Struct("<32sIII")
_DIGEST = 32


class Profile(NamedTuple):
    """``gist`` is that of the exact tier (hex, "" for an almost empty text), ``runs`` the number of
    three-word runs, ``signature`` their MinHash, ``lines`` the hashes of the lines, ``terms`` those of the
    concepts, ordered. Arrays, because there may be a hundred thousand profiles."""

    gist: str
    runs: int
    signature: bytes
    lines: array[int]
    terms: array[int]


def measure() -> str:
    """A version of the computation of profiles: cached ones of another version are ignored."""
    from rensa import RMinHash

    return f"{_RULES}/{PLACES}/{RMinHash.ALGORITHM_VERSION}"


def content_lines(body: str) -> list[str]:
    """The stripped lines of a body, without headings, comments and blank lines."""
    if "<!--" in body:
        first, *rest = body.split("<!--")
        body = first + "\n".join(piece.partition("-->")[2] for piece in rest)
    stripped = [line.strip() for line in body.splitlines()]
    return [line for line in stripped if line and line[0] != "#"]


def three_word_runs(lines: Sequence[str]) -> set[int]:
    """A 64-bit hash for every three consecutive words."""
    return _runs_of(runs("\n".join(lines)))


def _runs_of(words: Sequence[str]) -> set[int]:
    if len(words) < _WORDS_OF_A_RUN:
        return set()
    firsts, seconds, thirds = zip(*map(spread, words), strict=True)
    return set(map(xor, map(xor, firsts, seconds[1:]), thirds[2:]))


def signatures(sets: Sequence[set[int]]) -> list[bytes]:
    """The MinHash of each set, four bytes (little-endian) for each value."""
    from rensa import RMinHash

    found: list[bytes] = []
    for at in range(0, len(sets), _AT_ONCE):
        tokens = [list(one) for one in sets[at : at + _AT_ONCE]]
        rows = RMinHash.digest_matrix_from_token_hash_sets(tokens, PLACES, _SEED).to_rows()
        found += map(_packed, rows)
    return found


def _packed(numbers: Sequence[int]) -> bytes:
    packed = array("I", numbers)
    if sys.byteorder == "big":
        packed.byteswap()
    return packed.tobytes()


def _unpacked(data: bytes) -> array[int]:
    packed = array("I")
    packed.frombytes(data)
    if sys.byteorder == "big":
        packed.byteswap()
    return packed


def anchored(document: Document) -> frozenset[str]:
    """The anchors of a document, as places."""
    return frozenset(cited.anchor.place for cited in anchors_in(document.header, document.header_line))


def _terms(document: Document, words: Sequence[str]) -> array[int]:
    found = set().union(*map(numbers_meant, {*words, *runs(document.title)}))
    found.update(number_of("@" + place) for place in anchored(document))
    return array("I", sorted(found)[:_MOST])


def key_of(document: Document) -> str:
    """The cache key of a document's profile, from its complete text."""
    return sha256(document.text.encode("utf-8", "surrogatepass")).hexdigest()


def _pack(profile: Profile) -> bytes:
    head = _HEAD.pack(
        bytes.fromhex(profile.gist) if profile.gist else bytes(_DIGEST),
        profile.runs,
        len(profile.lines),
        len(profile.terms),
    )
    return head + profile.signature + _packed(profile.lines) + _packed(profile.terms)


def _unpack(data: bytes) -> Profile | None:
    """The profile in some bytes; ``None`` if they are invalid."""
    fixed = _HEAD.size + 4 * PLACES
    if len(data) < fixed:
        return None
    digest, count, line_count, term_count = _HEAD.unpack_from(data)
    if len(data) != fixed + 4 * (line_count + term_count):
        return None
    terms_at = fixed + 4 * line_count
    return Profile(
        digest.hex() if any(digest) else "",
        count,
        data[_HEAD.size : fixed],
        _unpacked(data[fixed:terms_at]),
        _unpacked(data[terms_at:]),
    )


def computed(documents: Sequence[Document]) -> list[bytes]:
    """The profile of each document, in its cached form."""
    parts = range(0, len(documents), _AT_ONCE)
    return [_pack(each) for at in parts for each in _computed(documents[at : at + _AT_ONCE])]


def _computed(documents: Sequence[Document]) -> list[Profile]:
    lines = [content_lines(document.body) for document in documents]
    words = [runs("\n".join(each)) for each in lines]
    sets = [_runs_of(each) for each in words]
    return [
        Profile(
            gist(statements(document.body, document.title)),
            len(shingles),
            signature,
            array("I", sorted({number_of(line.lower()) for line in said})[:_MOST]),
            _terms(document, each),
        )
        for document, said, each, shingles, signature in zip(
            documents, lines, words, sets, signatures(sets), strict=True
        )
    ]


def not_kept(documents: Sequence[Document], kept: Mapping[str, bytes]) -> list[Document]:
    """The documents whose text has no cached profile, one for each text."""
    missing = {key: one for one in documents if len(kept.get(key := key_of(one), b"")) < _HEAD.size}
    return list(missing.values())


def profiles(documents: Sequence[Document], kept: MutableMapping[str, bytes] | None = None) -> list[Profile]:
    """The profile of each document, from the cache ``kept`` (by `key_of`); missing ones are computed and
    added."""
    known: MutableMapping[str, bytes] = {} if kept is None else kept
    keys = [key_of(document) for document in documents]
    found = [_unpack(known[key]) if key in known else None for key in keys]
    missing = [at for at, profile in enumerate(found) if profile is None]
    for at, data in zip(missing, computed([documents[at] for at in missing]), strict=True):
        known[keys[at]] = data
        found[at] = _unpack(data)
    return [profile for profile in found if profile is not None]


def gists(documents: Sequence[Document], kept: MutableMapping[str, bytes] | None) -> dict[str, str]:
    """The gist of each document by path, if there is a cache; see `profiles`."""
    if kept is None:
        return {}
    keys = [key_of(document) for document in documents]
    profiles(not_kept(documents, kept), kept)
    heads = ((one.path, kept[key][:_DIGEST]) for one, key in zip(documents, keys, strict=True))
    return {path: digest.hex() if any(digest) else "" for path, digest in heads}


def first_of_each_text(known: Sequence[Profile]) -> list[int]:
    """The positions of profiles that are not empty; of exact duplicates only the first."""
    seen: set[str] = set()
    kept = []
    for at, profile in enumerate(known):
        if profile.gist and profile.gist not in seen:
            kept.append(at)
        seen.add(profile.gist)
    return kept


TITLE: Final = "title"
MOST: Final = 300
"""The limit on sentences of a document that are compared."""

_ITEM: Final = lazy_pattern(r"(?:[-*+]|\d{1,9}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?")
_END: Final = lazy_pattern(r"(?<=[.!?])\s+(?=[A-Z`\"(\[])")
_KEY: Final = lazy_pattern(r"[*_|]{0,3}([^\W\d_][\w -]{0,30}?)[*_]{0,3}(?::[*_]{0,3}(?=\s|$)|[*_]{0,3}\s*\|)")
_TOKEN: Final = lazy_pattern(r"[^\W_]+(?:[-.:/'’_@][^\W_]+)*%?")
_CODE: Final = lazy_pattern(r"`([^`\n]+)`")
_THOUSANDS: Final = lazy_pattern(r"(?<=\d),(?=\d{3})")
_WORDS_OF_A_KEY = 4
SAYING: Final = frozenset(
    (
        *("is", "are", "was", "were", "be", "been", "has", "have"),
        *("can", "cannot", "may", "must", "should", "will"),
    )
)
"""A short text with one of these is a statement: "Migrations cannot be reversed" is neither key nor name."""


class Sentence:
    """One sentence, list item, table row or line of code. ``line`` is its line in the file, ``slot`` the
    heading or key above it ("" for none)."""

    def __init__(self, text: str, line: int, slot: str) -> None:
        self.text = " ".join(text.split())
        self.line = line
        self.slot = slot

    @cached_property
    def plain(self) -> str:
        """The text for comparison: words only, in lower case."""
        return " ".join(self.words)

    @cached_property
    def tokens(self) -> list[str]:
        """Words, numbers, names and paths as written, in order."""
        return _TOKEN.findall(_THOUSANDS.sub("", self.text.replace("’", "'")))

    @cached_property
    def words(self) -> list[str]:
        """The tokens in lower case."""
        return [token.lower() for token in self.tokens]

    @cached_property
    def stems(self) -> list[str]:
        """The stem of each word."""
        return [stem(word) for word in self.words]

    @cached_property
    def concepts(self) -> frozenset[str]:
        """The concepts of the sentence."""
        return frozenset(concepts_of(self.text))

    @cached_property
    def code(self) -> frozenset[str]:
        """The tokens inside code spans, in lower case."""
        if "`" not in self.text:
            return frozenset()
        return frozenset(token.lower() for span in _CODE.findall(self.text) for token in _TOKEN.findall(span))


def _key(text: str) -> re.Match[str] | None:
    found = _KEY.match(text)
    if not found:
        return None
    words = found[1].lower().split()
    return found if len(words) <= _WORDS_OF_A_KEY and SAYING.isdisjoint(words) else None


def _slot(heading: str, text: str) -> tuple[str, str]:
    """The slot of a line and its content: ``Owner: Ana`` has the slot "owner" and the content "Ana"."""
    found = _key(text)
    return (f"{heading}/{found[1].strip().lower()}", text[found.end() :]) if found else (heading, text)


class _Reader:
    """Reads the lines of a body in one pass."""

    def __init__(self) -> None:
        self.found: list[Sentence] = []
        self.heading = ""
        self.fence = ""
        self.comment = False
        self._running: list[str] = []
        self._start = 0

    def flush(self) -> None:
        """End the current paragraph or item and split it into sentences."""
        if self._running:
            for part in _END.split(" ".join(self._running)):
                slot, text = _slot(self.heading, part)
                self.emit(text, self._start, slot)
            self._running.clear()

    def emit(self, text: str, number: int, slot: str) -> None:
        sentence = Sentence(text, number, slot)
        if sentence.words:
            self.found.append(sentence)

    def read(self, line: str, number: int) -> None:
        """Read one stripped line."""
        if self.comment or (line.startswith("<!--") and not self.fence):
            self.comment = "-->" not in line
        elif self.fence or line.startswith(("```", "~~~")):
            self.flush()
            if not self.fence:
                self.fence = line[:3]
            elif line.startswith(self.fence):
                self.fence = ""
            else:
                self.emit(line, number, self.heading)
        elif not line or line[0] == "#":
            self.flush()
            self.heading = line.strip("# ").lower() if line else self.heading
        else:
            self.text(line, number)

    def text(self, line: str, number: int) -> None:
        item = _ITEM.match(line)
        if item or line[0] in "|>" or _key(line):
            self.flush()
            line = line[item.end() :] if item else line
        if not self._running:
            self._start = number
        self._running.append(line)
        if line.startswith("|"):
            self.flush()


def sentences_of(body: str, first_line: int = 1, most: int | None = None) -> list[Sentence]:
    """The sentences of a Markdown text, in order; ``first_line`` is the number of its first line."""
    reader = _Reader()
    for number, line in enumerate(body.splitlines(), first_line):
        if most is not None and len(reader.found) >= most:
            break
        reader.read(line.strip(), number)
    reader.flush()
    return reader.found[:most]


def sentences(document: Document) -> list[Sentence]:
    """The title and at most `MOST` sentences of the body."""
    title = document.header.get("title")
    line = document.header_line + (title.line if title is not None else 1) - 1
    return [Sentence(document.title, line, TITLE), *sentences_of(document.body, document.body_line, MOST)]
