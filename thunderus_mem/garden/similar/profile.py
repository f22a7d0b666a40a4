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
    from collections.abc import MutableMapping, Sequence

    from thunderus_mem.model.document import Document

# To be raised with every change of what a profile is made from, the words and synonyms included.
_RULES: Final = 2
PLACES: Final = 128
"""Numbers in a signature."""
_SEED = 20261
_WORDS_OF_A_RUN = 3
# What a body of a megabyte has more of is cut: it is no restatement of anything, and the cache stays small.
_MOST = 2048
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

    matrix = RMinHash.digest_matrix_from_token_hash_sets([list(one) for one in sets], PLACES, _SEED)
    return [_packed(row) for row in matrix.to_rows()]


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


def profiles(documents: Sequence[Document], kept: MutableMapping[str, bytes] | None = None) -> list[Profile]:
    """The profile of each document. Those in ``kept`` (by `key_of`) are taken from there, the others are
    computed and put there."""
    known: MutableMapping[str, bytes] = {} if kept is None else kept
    keys = [key_of(document) for document in documents]
    found = [_unpack(known[key]) if key in known else None for key in keys]
    missing = [at for at, profile in enumerate(found) if profile is None]
    lines = [told_lines(documents[at].body) for at in missing]
    words = [runs("\n".join(each)) for each in lines]
    sets = [_runs_of(each) for each in words]
    computed = zip(missing, lines, words, sets, signatures(sets), strict=True)
    for at, said, each, shingles, signature in computed:
        document = documents[at]
        numbers = sorted({number_of(line.lower()) for line in said})[:_MOST]
        profile = Profile(
            gist(statements(document.body, document.title)),
            len(shingles),
            signature,
            array("I", numbers),
            _terms(document, each),
        )
        known[keys[at]] = _pack(profile)
        found[at] = profile
    return [profile for profile in found if profile is not None]


def gists(documents: Sequence[Document], kept: MutableMapping[str, bytes] | None) -> dict[str, str]:
    """The gist of each document by path, where profiles are kept at all; see `profiles`."""
    if kept is None:
        return {}
    keys = [key_of(document) for document in documents]
    missing = [one for one, key in zip(documents, keys, strict=True) if len(kept.get(key, b"")) < _HEAD.size]
    profiles(missing, kept)
    heads = ((one.path, kept[key][:_DIGEST]) for one, key in zip(documents, keys, strict=True))
    return {path: digest.hex() if any(digest) else "" for path, digest in heads}
