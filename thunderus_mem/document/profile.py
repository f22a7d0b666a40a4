"""The profile of a document: the values by which the gardener selects the few documents that it reads. Pure.

The index stores the profile of every document.
"""

from __future__ import annotations

import unicodedata
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from thunderus_mem.document.anchors import anchors_in
from thunderus_mem.document.frontmatter.nodes import typed_value
from thunderus_mem.document.references import references
from thunderus_mem.document.statements import fold
from thunderus_mem.document.timestamp import utc_key
from thunderus_mem.document.unicode import token_count
from thunderus_mem.startup import NamedTuple, lazy_pattern

if TYPE_CHECKING:
    from thunderus_mem.document.document import Document, Link
    from thunderus_mem.document.markdown import MarkdownScan


class Profile(NamedTuple):
    """A document without its text. ``hash`` is that of the text, ``tokens`` is about characters / 4;
    ``links`` are sorted."""

    path: str
    id: str
    title: str
    kind: str
    tags: tuple[str, ...]
    created: str
    updated: str
    events: tuple[str, ...]
    aliases: tuple[str, ...]
    links: tuple[Link, ...]
    hash: str
    tokens: int
    traits: Traits

    @property
    def imported_from(self) -> str:
        """The file the text was imported from; "" if it was not imported."""
        return self.traits.imported_from


class Traits(NamedTuple):
    """What the gardener asks of a document besides its row in the index.

    ``expires`` is the day on which it expires, "" without a valid one; ``letters`` are counts of letters of
    its body, equal for bodies that make the same statements; ``quality`` is a number from 0 to 1: the
    ``quality_score``, or what a person's ``rating`` counts as; "" without either. ``anchors`` are the places
    in the code, sorted; ``wiki_links`` and ``file_links`` the targets of links to others in the body, as
    `Reference.target`, and ``hashtags`` the words after a ``#``, in code too, each once.
    """

    imported_from: str
    expires: str
    letters: str
    quality: str
    anchors: tuple[str, ...]
    wiki_links: tuple[str, ...]
    file_links: tuple[str, ...]
    hashtags: tuple[str, ...]


def profile_of(document: Document) -> Profile:
    """The profile of a document."""
    return Profile(
        document.path,
        document.id,
        document.title,
        document.kind,
        document.tags,
        document.created,
        document.updated,
        document.events,
        document.aliases,
        tuple(sorted(set(document.links))),
        document.hash,
        token_count(document.text),
        traits_of(document),
    )


def traits_of(document: Document, scanned: MarkdownScan | None = None) -> Traits:
    """The part of a profile that the index stores apart; ``scanned`` is the scan of the body, if known."""
    body = document.body
    found = [one for one in references(body, scanned) if not one.target.startswith("#")]
    return Traits(
        document.imported_from,
        _expiry(document),
        " ".join(map(str, _letters(body, document.title))),
        _quality(document),
        tuple(sorted(cited.anchor.place for cited in anchors_in(document.header, document.header_line))),
        tuple(dict.fromkeys(one.target for one in found if one.kind == "wiki")),
        tuple(dict.fromkeys(one.target for one in found if one.kind == "link")),
        tuple(dict.fromkeys(_HASHTAG.findall(body))),
    )


def _expiry(document: Document) -> str:
    """The day on which a document expires, from its ``expires`` key; "" without a valid one."""
    value = typed_value(document.header, "expires")
    return utc_key(value)[:10] if isinstance(value, str) else ""


_RATINGS: Final = {"up": 1.0, "down": 0.0}


def _quality(document: Document) -> str:
    """The quality of a document as text; a rating counts more than the score."""
    score, rating = (typed_value(document.header, key) for key in ("quality_score", "rating"))
    quality = _RATINGS.get(str(rating), score)
    return f"{quality:g}" if isinstance(quality, int | float) and 0 <= quality <= 1 else ""


_COUNTED: Final = tuple(bytes((letter,)) for letter in b"aeinst")
_LOWER: Final = bytes(range(256)).lower()
_UNCOUNTED: Final = bytes(code for code in range(256) if bytes((code,)).lower() not in _COUNTED)
_HASHTAG: Final = lazy_pattern(r"""#(?<![^\s(\["'`,]#)(?!\d+\b)(\w[\w/-]*)""")


def _letters(body: str, title: str) -> tuple[int, ...]:
    """How often some letters occur in a body: equal for bodies that make the same statements, whatever their
    layout, and a fraction of the cost of reading these."""
    body = body if body.isascii() else unicodedata.normalize("NFC", body)
    first, mark, rest = body.lstrip().partition("\n")
    heading = first.startswith("#") or rest.startswith(("===", "---"))
    if mark and heading and fold(first.strip("# \r")) == fold(title):
        body = rest
    letters = body.encode("ascii", "replace").translate(_LOWER, _UNCOUNTED)
    counts = [letters.count(letter) for letter in _COUNTED]
    counts[_COUNTED.index(b"i")] += body.count("\u0130")  # in lower case, an i and a dot
    return tuple(counts)


_BETWEEN: Final = lazy_pattern(r"[\s_-]+")


def tag_key(tag: str) -> str:
    """The normal form of a tag, which ignores the separators between words, and case, except in names with a
    capital inside a word. `_common` is another tag than `common`."""
    is_name = not tag.islower() and any(one.islower() and other.isupper() for one, other in pairwise(tag))
    key = _BETWEEN.sub("-", tag.strip() if is_name else tag.strip().casefold()).strip("-") or tag
    return f"_{key}" if tag.startswith("_") else key
