"""What is kept of a document to find those like it: computed once for a text, small, and always the same.

Bodies only. Headings and comments are left out of the signature, so that documents made from one template
do not look alike for that alone.
"""

from __future__ import annotations

import struct
import sys
from array import array
from hashlib import sha256
from operator import xor
from typing import TYPE_CHECKING, Final, NamedTuple

from thunderus_mem.garden.similar.words import number_of, numbers_meant, runs, spread
from thunderus_mem.model.anchor import anchors_in
from thunderus_mem.model.statements import gist, statements

if TYPE_CHECKING:
    from collections.abc import Mapping, MutableMapping, Sequence

    from thunderus_mem.model.document import Document

# To be raised with every change of what a profile is made from, the words and synonyms included.
_RULES: Final = 2
PLACES: Final = 128
"""Numbers in a signature."""
_SEED = 20261
_WORDS_OF_A_RUN = 3
# What a body of a megabyte has more of is cut: it is no restatement of anything, and the cache stays small.
_MOST = 2048
# From 256 sets on rensa starts threads, and a process with threads cannot share its work with others.
_AT_ONCE: Final = 128
"""Documents whose words are held at a time."""
_HEAD: Final = struct.Struct("<32sIII")
_DIGEST = 32


class Profile(NamedTuple):
    """``gist`` is the exact tier's (hex, "" for next to nothing), ``runs`` the number of three-word runs,
    ``signature`` their MinHash, ``lines`` a number for each line, ``terms`` one for each concept, ordered.
    Arrays, because there may be a hundred thousand of them."""

    gist: str
    runs: int
    signature: bytes
    lines: array[int]
    terms: array[int]


def measure() -> str:
    """Names the rules that profiles follow: kept ones of other rules are worth nothing."""
    from rensa import RMinHash

    return f"{_RULES}/{PLACES}/{RMinHash.ALGORITHM_VERSION}"


def told_lines(body: str) -> list[str]:
    """The lines of a body that say something: no headings, comments or blank lines; without outer blanks."""
    if "<!--" in body:
        first, *rest = body.split("<!--")
        body = first + "\n".join(piece.partition("-->")[2] for piece in rest)
    stripped = [line.strip() for line in body.splitlines()]
    return [line for line in stripped if line and line[0] != "#"]


def three_word_runs(lines: Sequence[str]) -> set[int]:
    """A number of 64 bits for every three neighbouring words."""
    return _runs_of(runs("\n".join(lines)))


def _runs_of(words: Sequence[str]) -> set[int]:
    if len(words) < _WORDS_OF_A_RUN:
        return set()
    firsts, seconds, thirds = zip(*map(spread, words), strict=True)
    return set(map(xor, map(xor, firsts, seconds[1:]), thirds[2:]))


def signatures(sets: Sequence[set[int]]) -> list[bytes]:
    """The MinHash of each set, four bytes (little-endian) a place."""
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
    """The places in the code that a document is anchored to."""
    return frozenset(cited.anchor.place for cited in anchors_in(document.header, document.header_line))


def _terms(document: Document, words: Sequence[str]) -> array[int]:
    found = set().union(*map(numbers_meant, {*words, *runs(document.title)}))
    found.update(number_of("@" + place) for place in anchored(document))
    return array("I", sorted(found)[:_MOST])


def key_of(document: Document) -> str:
    """What the profile of a document is remembered by: its whole text."""
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
    """The profile in some bytes; ``None`` when they hold none."""
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
    """The profile of each document as it is kept."""
    parts = range(0, len(documents), _AT_ONCE)
    return [_pack(each) for at in parts for each in _computed(documents[at : at + _AT_ONCE])]


def _computed(documents: Sequence[Document]) -> list[Profile]:
    lines = [told_lines(document.body) for document in documents]
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
    """The documents of whose text nothing is kept, one for each text."""
    missing = {key: one for one in documents if len(kept.get(key := key_of(one), b"")) < _HEAD.size}
    return list(missing.values())


def profiles(documents: Sequence[Document], kept: MutableMapping[str, bytes] | None = None) -> list[Profile]:
    """The profile of each document. Those in ``kept`` (by `key_of`) are taken from there, the others are
    computed and put there."""
    known: MutableMapping[str, bytes] = {} if kept is None else kept
    keys = [key_of(document) for document in documents]
    found = [_unpack(known[key]) if key in known else None for key in keys]
    missing = [at for at, profile in enumerate(found) if profile is None]
    for at, data in zip(missing, computed([documents[at] for at in missing]), strict=True):
        known[keys[at]] = data
        found[at] = _unpack(data)
    return [profile for profile in found if profile is not None]


def gists(documents: Sequence[Document], kept: MutableMapping[str, bytes] | None) -> dict[str, str]:
    """The gist of each document by path, where profiles are kept at all; see `profiles`."""
    if kept is None:
        return {}
    keys = [key_of(document) for document in documents]
    profiles(not_kept(documents, kept), kept)
    heads = ((one.path, kept[key][:_DIGEST]) for one, key in zip(documents, keys, strict=True))
    return {path: digest.hex() if any(digest) else "" for path, digest in heads}


def first_of_each_text(known: Sequence[Profile]) -> list[int]:
    """The positions of those that say something, of several that say exactly the same only the first."""
    seen: set[str] = set()
    kept = []
    for at, profile in enumerate(known):
        if profile.gist and profile.gist not in seen:
            kept.append(at)
        seen.add(profile.gist)
    return kept
