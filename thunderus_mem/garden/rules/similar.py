"""The gardening rule `similar`: one of two documents about the same subject is obsolete. Pure.

Likeness alone proposes nothing. Two documents are compared only if they have the same kind and anchors, and
their titles agree. Then

- if one makes all statements of the other, the other is archived, and the first takes over its frontmatter;
- if each has its own but much of the text is the same, they may contradict each other: the newer one
  supersedes the older, if their dates differ. Otherwise it is only reported.

Every step needs review. Reports, also of other documents with much the same text, are made only on request.
"""

from __future__ import annotations

import posixpath
from collections import Counter
from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING, Final

from thunderus_mem.document.frontmatter.edit import insert_item
from thunderus_mem.document.paths import archived_path
from thunderus_mem.document.statements import ORDERED_KINDS, Statement, fold, statements, text_digest
from thunderus_mem.document.timestamp import utc_key
from thunderus_mem.errors import InvalidDocument
from thunderus_mem.garden.plan import REPORT, DocumentEdit, Step, moved
from thunderus_mem.garden.rules.duplicates import (
    FLAG_FOR_REVIEW,
    MERGEABLE_KINDS,
    conflicts,
    malformation,
    merged,
)
from thunderus_mem.garden.rules.origins import tree
from thunderus_mem.startup import NamedTuple, lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set

    from thunderus_mem.document.document import Document
    from thunderus_mem.document.profile import Profile
    from thunderus_mem.garden.plan import GardenInput
    from thunderus_mem.store.config import Config

RULE: Final = "similar"
JOIN: Final = "join"
SUPERSEDE: Final = "supersede"
SAME: Final = "same"
CONTRADICTION: Final = "possible contradiction"

_KINDS: Final = MERGEABLE_KINDS | {"adr"}
_MOST_OF_ONE_SUBJECT: Final = 3
"""If more documents have the same anchors, these are a file, not a subject."""
_WORD: Final = lazy_pattern(r"\w+")
_NUMBER: Final = lazy_pattern(r"\d+")
_OWN_NUMBER: Final = lazy_pattern(r"(?i:adr|rfc|kep|oep)?[-_ #]{0,2}\d{1,6}[-_ .:]{1,3}")
_LINK: Final = lazy_pattern(r"!?\[\[[^\[\]]*\]\]|!?\[[^\[\]]*\]\([^()]*\)|https?://\S+")
_FEWEST_WORDS: Final = 8
"""A text of fewer words besides links and headings is a stub."""
_MOST_SHOWN: Final = 3
_LONGEST: Final = 120


def plan_similar(material: GardenInput, config: Config) -> tuple[Step, ...]:
    """Proposals and reports about pairs of documents with one subject, ordered by their ids.

    Pairs that mention each other are skipped: their author knew both. So are superseded documents and exact
    duplicates. With ``duplicates_strategy`` ``flag_for_review``, everything is only reported.
    """
    known = {one.id: one for one in _comparable(material.documents)}
    pairs = _pairs(known.values(), material.read)
    files = material.names.linked_files if pairs else {}

    def read(pair: tuple[str, str]) -> _Pair:
        one, other = pair
        return _read(material.read(known[one]), material.read(known[other]))

    steps = [_step(read(pair), config, files) for pair in pairs]
    if material.verbose:
        others = sorted(set(_sharing(map(material.read, known.values()))) - set(pairs))
        steps += [_doubtful(read(pair), config) for pair in others]
    return tuple(step for step in steps if step is not None)


# Pairs with one subject


def _comparable(documents: Sequence[Profile]) -> list[Profile]:
    claims = Counter(document.id for document in documents)
    replaced = {
        link.target
        for one in documents
        for link in one.links
        if link.rel == "supersedes" and link.target != one.id
    }
    return [
        one
        for one in documents
        if one.kind in _KINDS and claims[one.id] == 1 and replaced.isdisjoint((one.id, *one.aliases))
    ]


def _pairs(documents: Iterable[Profile], read: Callable[[Profile], Document]) -> list[tuple[str, str]]:
    """The ids of every two documents with one subject, in order."""
    subjects: dict[tuple[object, ...], list[Profile]] = {}
    for document in sorted(documents, key=lambda each: each.id):
        if document.traits.anchors:
            stem = posixpath.basename(document.imported_from.removesuffix(".md"))
            numbers = _NUMBER.findall(_without_number(stem, document.kind))
            subject = (document.kind, tree(document), *numbers, *document.traits.anchors)
            subjects.setdefault(subject, []).append(document)
    return sorted(
        (one.id, other.id)
        for some in subjects.values()
        if len(some) <= _MOST_OF_ONE_SUBJECT
        for one, other in combinations(some, 2)
        if _titles_agree(one, other) and not (_mentions(read(one), other) or _mentions(read(other), one))
    )


def _without_number(name: str, kind: str) -> str:
    """A name without the own number of a decision."""
    return _OWN_NUMBER.sub("", name, count=1) if kind == "adr" else name


def _title(document: Profile) -> list[str]:
    return _WORD.findall(fold(_without_number(document.title, document.kind)).lower())


def _titles_agree(one: Profile, other: Profile) -> bool:
    """Whether all words of one title are in the other, and both have the same numbers."""
    mine, theirs = set(_title(one)), set(_title(other))
    return (mine <= theirs or theirs <= mine) and not any(map(_NUMBER.search, mine ^ theirs))


def _mentions(one: Document, other: Profile) -> bool:
    names = (other.id, *other.aliases)
    return any(link.target in names for link in one.links) or other.id in one.body


def _sharing(documents: Iterable[Document]) -> Iterator[tuple[str, str]]:
    """The ids of every two documents of one kind that make a statement which hardly another one makes."""
    making: dict[tuple[object, ...], list[str]] = {}
    for document in documents:
        for text in {one.text for one in statements(document.body, document.title)}:
            making.setdefault((document.kind, tree(document), text), []).append(document.id)
    for some in making.values():
        if len(some) <= _MOST_OF_ONE_SUBJECT:
            yield from combinations(sorted(some), 2)


# What to do about a pair


class _Pair(NamedTuple):
    """Two documents by their last change, and their statements in order."""

    older: Document
    newer: Document
    said: tuple[Statement, ...]
    said_later: tuple[Statement, ...]


def _read(one: Document, other: Document) -> _Pair:
    older, newer = sorted((one, other), key=lambda each: (utc_key(each.updated), each.id))
    return _Pair(older, newer, statements(older.body, older.title), statements(newer.body, newer.title))


def _step(pair: _Pair, config: Config, files: Mapping[str, str]) -> Step | None:
    older, newer, said, said_later = pair
    if set(said) == set(said_later) or _is_stub(said) or _is_stub(said_later):
        return None
    if older.kind in MERGEABLE_KINDS:
        if _contains(said_later, said, older.kind):
            return _join(newer, older, config, files)
        if _contains(said, said_later, older.kind):
            return _join(older, newer, config, files)
    return _supersede(pair, config)


def _is_stub(said: Iterable[Statement]) -> bool:
    texts = {one.text for one in said if not one.text.startswith("# ")}
    words = (len(_WORD.findall(_LINK.sub("", text))) for text in texts)
    return sum(words) < _FEWEST_WORDS


def _contains(whole: Sequence[Statement], part: Sequence[Statement], kind: str) -> bool:
    """Whether one text makes all statements of another, as often; for steps, in the same order."""
    if Counter(part) - Counter(whole):
        return False
    return kind not in ORDERED_KINDS or [one for one in whole if one in set(part)] == list(part)


def _join(stays: Document, leaves: Document, config: Config, files: Mapping[str, str]) -> Step | None:
    after = _merge(stays, leaves, config, files)
    if isinstance(after, str):
        why = f"`{stays.id}` makes all statements of `{leaves.id}`; decide which one to keep"
        return _report(SAME, why, (after,), (stays, leaves))
    return Step(
        JOIN,
        f"archive `{leaves.id}`: `{stays.id}` makes all of its statements",
        (*_paths(stays, leaves), *conflicts(stays, leaves)),
        (stays.id, leaves.id),
        (
            DocumentEdit(stays.path, stays.id, stays.hash, after.text),
            *moved(leaves, archived_path(leaves.path)),
        ),
        rule=RULE,
        reach="propose",
        label=SAME,
        texts=_texts((stays, leaves)),
    )


def _merge(stays: Document, leaves: Document, config: Config, files: Mapping[str, str]) -> Document | str:
    """The merged document, or why a merge cannot be proposed."""
    if config.duplicates_strategy == FLAG_FOR_REVIEW:
        return "`duplicates.strategy` is `flag_for_review`"
    if stays.kind not in config.duplicates_kinds:
        return f"documents of kind {stays.kind} are not merged"
    return malformation(stays) or malformation(leaves) or merged(stays, leaves, files)


def _supersede(pair: _Pair, config: Config) -> Step | None:
    older, newer = pair[:2]
    found = _doubtful(pair, config)
    text = _superseding(newer, older) if config.duplicates_strategy != FLAG_FOR_REVIEW else ""
    if found is None or not text:
        return found
    return replace(
        found,
        action=SUPERSEDE,
        why=f"`{newer.id}` is newer than `{older.id}`, which it may contradict",
        edits=(DocumentEdit(newer.path, newer.id, newer.hash, text),),
        reach="propose",
    )


def _doubtful(pair: _Pair, config: Config) -> Step | None:
    """A report of two documents that may contradict each other, if much of their text is the same."""
    older, newer, said, said_later = pair
    share = _likeness(older, newer)
    if share < config.duplicates_near / 100 or said == said_later:
        return None
    evidence = (
        f"{share:.0%} of the three-word sequences are shared",
        *_paths(newer, older),
        *_own(older, set(said) - set(said_later), said),
        *_own(newer, set(said_later) - set(said), said_later),
    )
    why = f"`{newer.id}` and `{older.id}` may contradict each other; decide which one is correct"
    return _report(CONTRADICTION, why, evidence, (newer, older))


def _superseding(newer: Document, older: Document) -> str:
    """The text of the newer document that supersedes the older; "" if it is unknown which one is newer."""
    since, until = utc_key(older.updated), utc_key(newer.updated)
    if not since or since == until:
        return ""
    try:
        return insert_item(newer.text, ("links", "supersedes"), older.id)
    except InvalidDocument:
        return ""


def _likeness(one: Document, other: Document) -> float:
    """The share of three-word sequences that two bodies have in common (Jaccard)."""
    mine, theirs = _sequences(one), _sequences(other)
    return len(mine & theirs) / max(len(mine | theirs), 1)


def _sequences(document: Document) -> Set[tuple[str, ...]]:
    words = _WORD.findall(document.body.lower())
    return set(zip(words, words[1:], words[2:], strict=False))


def _paths(*documents: Document) -> tuple[str, ...]:
    return tuple(f"`{one.id}`: {one.path}, updated {one.updated[:10]}" for one in documents)


def _own(document: Document, own: Set[Statement], said: Sequence[Statement]) -> tuple[str, ...]:
    """The first statements that only this document makes."""
    texts = [" ".join(one.text.split()) for one in dict.fromkeys(said) if one in own]
    cut = (text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…" for text in texts[:_MOST_SHOWN])
    more = (f"and {len(texts) - _MOST_SHOWN} more",) if len(texts) > _MOST_SHOWN else ()
    return (*(f"only in `{document.id}`: {text}" for text in cut), *more)


def _report(label: str, why: str, evidence: tuple[str, ...], documents: Sequence[Document]) -> Step:
    return Step(
        REPORT,
        why,
        evidence,
        tuple(document.id for document in documents),
        rule=RULE,
        label=label,
        texts=_texts(documents),
    )


def _texts(documents: Iterable[Document]) -> tuple[tuple[str, str], ...]:
    return tuple((one.id, text_digest(one.title, statements(one.body, one.title))) for one in documents)
