"""Find near-duplicates and paraphrases, label them, and collect evidence; nearly linear in the size of the
memory.

Only documents that share a band of their signatures, or are each other's nearest neighbours by concepts, are
compared. A band shared by many comes from a template (a form): there the shared lines are removed and the
rest is banded again, so that forms do not cost quadratic time. Concepts are weighted by how rare they are in
this memory, and similarity is relative to the content of both documents, so that no threshold depends on the
length of texts or the size of the memory. No model.

Exact duplicates are found by `garden.rules.duplicates` and excluded here. Pure, except for the processes that
search the neighbours of many documents; the caller caches the result for a memory until a document changes.
"""

from __future__ import annotations

import json
from bisect import bisect_left
from collections import Counter
from hashlib import sha256
from heapq import nsmallest
from itertools import accumulate, chain, pairwise
from math import fsum, log, sqrt
from typing import TYPE_CHECKING, Any, Final, Literal

from thunderus_mem.garden.similar.compare import (
    CONTRADICTION,
    FORM,
    RELATED,
    SAME,
    Label,
    Read,
    compare,
    label_of,
    read,
    subjects_differ,
    titles_differ,
)
from thunderus_mem.garden.similar.profile import (
    PLACES,
    content_lines,
    first_of_each_text,
    key_of,
    measure,
    profiles,
    signatures,
    three_word_runs,
)
from thunderus_mem.garden.similar.words import number_of
from thunderus_mem.startup import NamedTuple
from thunderus_mem.store.parallel import spread

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, MutableMapping, Sequence, Set

    from thunderus_mem.document.document import Document
    from thunderus_mem.garden.similar.compare import Comparison
    from thunderus_mem.garden.similar.profile import Profile, Sentence

# Pairs worth comparing

# With 32 bands of 4, a pair that shares half of its three-word runs is found in 87 of 100 cases, one that
# shares seven tenths always, and one that shares a tenth in 3 of 1,000 cases.
_BANDS: Final = 32
_ROWS: Final = PLACES // _BANDS
CROWD: Final = 24
"""If more documents than this share a band or a line, it belongs to a form (a template)."""


class Candidates(NamedTuple):
    """Pairs of positions to compare, lower first; ``forms`` are those found only in a crowded band."""

    pairs: set[tuple[int, int]]
    forms: set[tuple[int, int]]


def _bands(members: Iterable[tuple[int, bytes]]) -> list[list[int]]:
    """Groups of positions that share a band, without repeated groups."""
    width = 4 * _ROWS
    signed = list(members)
    found: set[tuple[int, ...]] = set()
    for start in range(0, 4 * PLACES, width):
        first: dict[bytes, int] = {}
        groups: dict[int, list[int]] = {}
        for at, signature in signed:
            leader = first.setdefault(signature[start : start + width], at)
            if leader != at:
                groups.setdefault(leader, [leader]).append(at)
        found.update(map(tuple, groups.values()))
    return [list(group) for group in sorted(found)]


def _pairs_of(group: Sequence[int]) -> Iterable[tuple[int, int]]:
    return ((one, other) for at, one in enumerate(group) for other in group[at + 1 :])


def near_candidates(documents: Sequence[Document], profiles: Sequence[Profile]) -> Candidates:
    """The pairs worth comparing word by word; nearly linear in the number of documents."""
    groups = _bands((at, profile.signature) for at, profile in enumerate(profiles) if profile.runs)
    pairs: set[tuple[int, int]] = set()
    forms: set[tuple[int, int]] = set()
    crowded: set[int] = set()
    for group in groups:
        if len(group) <= CROWD:
            pairs.update(_pairs_of(group))
        else:
            crowded.update(group)
            forms.update(pairwise(group))
    if crowded:
        pairs.update(_unlike_the_form(sorted(crowded), documents, profiles))
    return Candidates(pairs, forms - pairs)


def _unlike_the_form(
    crowded: Sequence[int], documents: Sequence[Document], profiles: Sequence[Profile]
) -> set[tuple[int, int]]:
    """Pairs among documents of one form that are similar in their own lines."""
    shared = Counter(chain.from_iterable(profiles[at].lines for at in crowded))
    form = frozenset(line for line, count in shared.items() if count > CROWD)
    own = [own_runs(documents[at], form) for at in crowded]
    filled = [(at, runs) for at, runs in zip(crowded, own, strict=True) if runs]
    signed = dict(zip([at for at, _ in filled], signatures([runs for _, runs in filled]), strict=True))
    pairs: set[tuple[int, int]] = set()
    for group in _bands(signed.items()):
        if len(group) <= CROWD:
            pairs.update(_pairs_of(group))
        else:
            # The form is inside the lines: similar documents are adjacent in this order.
            beside = sorted(group, key=lambda at: (signed[at], at))
            pairs.update((min(two), max(two)) for two in pairwise(beside))
    return pairs


# Neighbours by concepts

NEAREST: Final = 2
"""Nearest neighbours of each document; a pair must be mutual."""
_FEWEST_SHARED: Final = 3
_FEWEST_RARE: Final = 2
_LOOKED_AT: Final = 5
_LEAST_PART: Final = 10
_REACH: Final = 128
"""The limit on documents reached through rare concepts; the most promising of them are compared."""
# In a small memory nothing is rare, so weights are computed as for this size.
_SMALLEST: Final = 200
_MANY: Final = 2000
"""From this many documents on, neighbours are searched in several processes."""
_COMMON_FROM: Final = 8
_COMMON_AT_MOST: Final = 64


class Neighbours(NamedTuple):
    """Two positions, lower first. ``likeness`` is the geometric mean of the shares of each document's weight
    that the other has too, ``contained`` the larger of these shares; ``lead`` is the ratio to the next best
    neighbour of either (1: equally near)."""

    first: int
    second: int
    likeness: float
    contained: float
    lead: float


class _Scale:
    """The weight of each concept in this memory, and which are rare enough to search by."""

    def __init__(self, profiles: Sequence[Profile]) -> None:
        frequency: Counter[int] = Counter(chain.from_iterable(profile.terms for profile in profiles))
        size = max(len(profiles), _SMALLEST)
        by_count = {count: log(1 + size / count) for count in set(frequency.values())}
        self.weight = {term: by_count[count] for term, count in frequency.items()}
        # A concept in more documents than this has a weight, but is not searched by.
        common = max(_COMMON_FROM, min(len(profiles) // 8, _COMMON_AT_MOST))
        rare = sorted((count, term) for term, count in frequency.items() if 1 < count <= common)
        self.counts = [count for count, _ in rare]
        self.rank = {term: rank for rank, (_, term) in enumerate(rare)}

    def total(self, terms: Iterable[int]) -> float:
        """The total weight of concepts; bit-identical in any order."""
        return fsum(map(self.weight.__getitem__, terms))

    def rare(self, terms: Sequence[int]) -> list[int]:
        """The ranks of the rare concepts, rarest first."""
        return sorted([rank for rank in map(self.rank.get, terms) if rank is not None])

    def in_reach(self, ranks: Sequence[int]) -> Sequence[int]:
        """As many of them as lead to at most about `_REACH` documents."""
        met = list(accumulate([self.counts[rank] for rank in ranks]))
        return ranks[: bisect_left(met, _REACH) + 1]


class _Search:
    """Finds the nearest neighbours of documents in one memory."""

    def __init__(self, profiles: Sequence[Profile], scale: _Scale, totals: Sequence[float]) -> None:
        self._profiles, self._scale, self._totals = profiles, scale, totals
        self._rare = [scale.rare(profile.terms) for profile in profiles]
        self._posted: list[list[int]] = [[] for _ in scale.counts]
        for at, ranks in enumerate(self._rare):
            for rank in ranks:
                self._posted[rank].append(at)
        self._said: dict[int, frozenset[int]] = {}

    def of(self, positions: Iterable[int]) -> list[list[tuple[float, int]]]:
        """For each document its `NEAREST` neighbours and one more, with their similarity, best first."""
        return [self._of(at) for at in positions]

    def _of(self, at: int) -> list[tuple[float, int]]:
        scale, totals = self._scale, self._totals
        asked = scale.in_reach(self._rare[at])
        met = Counter(chain.from_iterable([self._posted[rank] for rank in asked]))
        met.pop(at, None)
        least = max(_FEWEST_RARE, len(asked) // _LEAST_PART)
        ranked = [(-count * count / totals[other], other) for other, count in met.items() if count >= least]
        if not ranked:
            return []
        said = self._terms(at)
        scored = [
            (-scale.total(said & self._terms(other)) / sqrt(totals[at] * totals[other]), other)
            for _, other in nsmallest(_LOOKED_AT, ranked)
        ]
        return [(-score, other) for score, other in sorted(scored)[: NEAREST + 1]]

    def _terms(self, at: int) -> frozenset[int]:
        if at not in self._said:
            self._said[at] = frozenset(self._profiles[at].terms)
        return self._said[at]


def _nearest(search: _Search, count: int) -> list[list[tuple[float, int]]]:
    """The neighbours of each of ``count`` documents, searched in several processes if there are many."""
    if count < _MANY:
        return search.of(range(count))
    answers = spread(range(count), search.of)
    return [
        search.of([at])[0] if found is None else [(score, other) for score, other in found]
        for at, found in enumerate(answers)
    ]


def neighbours(profiles: Sequence[Profile]) -> list[Neighbours]:
    """All mutual nearest neighbours, ordered by position; nearly linear."""
    scale = _Scale(profiles)
    totals = [max(scale.total(profile.terms), 1e-9) for profile in profiles]
    nearest = _nearest(_Search(profiles, scale, totals), len(profiles))
    closest = [{other for _, other in each[:NEAREST]} for each in nearest]
    found = []
    for at, others in enumerate(closest):
        for other in sorted(others):
            if other > at and at in closest[other]:
                pair = _measured(at, other, profiles, scale, totals, nearest)
                if pair is not None:
                    found.append(pair)
    return found


def _measured(
    at: int,
    other: int,
    profiles: Sequence[Profile],
    scale: _Scale,
    totals: Sequence[float],
    nearest: Sequence[Sequence[tuple[float, int]]],
) -> Neighbours | None:
    shared = set(profiles[at].terms).intersection(profiles[other].terms)
    if len(shared) < _FEWEST_SHARED:
        return None
    total = scale.total(shared)
    mine = next(score for score, who in nearest[at] if who == other)
    next_best = max(
        [score for score, who in nearest[at] if who != other]
        + [score for score, who in nearest[other] if who != at],
        default=0.0,
    )
    return Neighbours(
        at,
        other,
        total / sqrt(totals[at] * totals[other]),
        total / min(totals[at], totals[other]),
        mine / next_best if next_best else 9.0,
    )


# Lines that belong to a form

_TITLES: Final = 4
"""Versions of one document share a title, so a form needs this many different ones."""


def form_lines(documents: Sequence[Document], profiles: Sequence[Profile]) -> frozenset[int]:
    """The numbers of the lines in documents with at least four different titles."""
    last: dict[int, str] = {}
    titles: dict[int, int] = {}
    for at in sorted(range(len(documents)), key=lambda at: documents[at].title):
        title = documents[at].title
        for line in profiles[at].lines:
            if last.get(line) != title:
                last[line] = title
                titles[line] = titles.get(line, 0) + 1
    return frozenset(line for line, count in titles.items() if count >= _TITLES)


def common_titles(documents: Sequence[Document]) -> frozenset[str]:
    """The titles shared by at least four documents: they name a form, not a subject."""
    counted = Counter(document.title for document in documents)
    return frozenset(title for title, count in counted.items() if count >= _TITLES)


def own_runs(document: Document, form: frozenset[int]) -> set[int]:
    """The three-word runs of the lines that do not belong to the form."""
    lines = content_lines(document.body)
    return three_word_runs([line for line in lines if number_of(line.lower()) not in form])


# Similar pairs: two tiers, four labels

_FEWEST_RUNS: Final = 6


class Gates(NamedTuple):
    """Thresholds of similarity, 0 to 1: ``near``, the shared three-word runs of both; ``contained``, the runs
    of the shorter that are in the longer; ``restated``, the shared concepts."""

    near: float = 0.5
    contained: float = 0.8
    restated: float = 0.33


def jaccard(one: Set[int], other: Set[int]) -> float:
    """The Jaccard index of two sets, 0 to 1."""
    shared = len(one & other)
    return shared / max(len(one) + len(other) - shared, 1)


def near_score(one: Set[int], other: Set[int], gates: Gates) -> float:
    """The Jaccard index, or the share of the shorter contained in the longer; 0 below the thresholds."""
    shorter = min(len(one), len(other))
    if shorter < _FEWEST_RUNS:
        return 0.0
    score = jaccard(one, other)
    if score >= gates.near:
        return score
    contained = len(one & other) / shorter
    return contained if contained >= gates.contained else 0.0


_USUAL: Final = Gates()
_MAY_CONTAIN: Final = 0.6
# If more than this share of the runs is their own, two documents are not similar because of a form.
_FORM_FROM: Final = 0.8
_LIKENESS_PER_SENTENCE: Final = 0.02
_FEW_SENTENCES: Final = 3
_MANY_SENTENCES: Final = 12
_VERY_LIKE: Final = 0.5
_LEAD: Final = 1.2
_LEAD_OF_THE_VERY_LIKE: Final = 0.9
# A fact and the decision it comes from share concepts without restating each other.
_LIKENESS_ACROSS_KINDS: Final = 0.4
_ONE_TEXT: Final = 0.75
"""Share of three-word runs; two versions with one word in twenty-five changed still reach it."""
_KINDS: Final = frozenset(["core", "fact", "playbook", "adr"])

Tier = Literal["near", "paraphrase"]


class Pair(NamedTuple):
    """Two similar documents: their ids in order, how they were found (``tier``), and their ``label``.

    ``score`` is 0 to 1: the share of three-word runs (near) or of concepts (paraphrase) that both have.
    ``evidence`` are lines that let a reader check it. ``proposed`` says whether the gardener proposes a
    change; it never applies one without review.
    """

    first: str
    second: str
    tier: Tier
    label: Label
    score: float
    evidence: tuple[str, ...]
    proposed: bool


class _Found(NamedTuple):
    """``strong``: similar enough to be the same; ``reported``: similar enough to be reported; ``form``: what
    they share belongs to a form; ``one_text``: almost the same text about one subject; ``closeness``: the
    share of both together, comparable within a tier."""

    at: int
    to: int
    tier: Tier
    score: float
    strong: bool = True
    reported: bool = True
    form: bool = False
    one_text: bool = False
    closeness: float = 0.0


def find_similar(
    documents: Sequence[Document],
    signatures: MutableMapping[str, bytes] | None = None,
    gates: Gates = _USUAL,
) -> tuple[Pair, ...]:
    """All pairs of near-duplicates and paraphrases, ordered by their ids.

    ``documents`` in any order; recaps and ids claimed by two files are skipped, and of exact duplicates only
    the first is compared. ``signatures`` is a cache by content; it is added to, and never changes a result.
    ``gates`` are the thresholds.
    """
    ordered = _comparable(documents)
    if signatures is None:
        return _similar(ordered, None, gates)
    whole = memory_key(documents, gates)
    rows = _unpacked(signatures[whole], frozenset(one.id for one in ordered)) if whole in signatures else None
    if rows is not None:
        return tuple(Pair._make((*row[:5], tuple(row[5]), row[6])) for row in rows)
    pairs = _similar(ordered, signatures, gates)
    signatures[whole] = _packed(pairs)
    return pairs


def _similar(
    ordered: Sequence[Document],
    signatures: MutableMapping[str, bytes] | None,
    gates: Gates,
) -> tuple[Pair, ...]:
    known = profiles(ordered, signatures)
    keep = first_of_each_text(known)
    ordered, known = [ordered[at] for at in keep], [known[at] for at in keep]
    reader = _Reader(ordered, known, gates)
    forms = Families()
    pairs = []
    asked = []
    alike = neighbours(known)
    for found in _found(ordered, known, alike, reader):
        if not found.form:
            pair = _labelled(found, reader)
            if pair is not None and pair.proposed and not reader.one_title(found.at, found.to):
                asked.append((pair.tier, -found.closeness, pair))
            elif pair is not None:
                pairs.append(pair)
        elif forms.join(ordered[found.at].id, ordered[found.to].id):
            # A spanning tree of the form is enough: it may have thousands of documents.
            pairs.append(_of_one_form(found, ordered))
    return tuple(sorted([*pairs, *_nearest_pairs(sorted(asked))]))


def _nearest_pairs(nearest_first: Iterable[tuple[Tier, float, Pair]]) -> Iterator[Pair]:
    """Of a group of similar documents with different titles, keep only pairs of near neighbours.

    An omitted pair is less similar than every pair on some path between its two documents, and not among the
    two nearest of both.
    """
    asked = Families()
    met: Counter[str] = Counter()
    for _, _, pair in nearest_first:
        met.update((pair.first, pair.second))
        nearest = max(met[pair.first], met[pair.second]) <= NEAREST
        if asked.join(pair.first, pair.second) or nearest:
            yield pair


def _comparable(documents: Sequence[Document]) -> list[Document]:
    claims = Counter(document.id for document in documents)
    chosen = [one for one in documents if one.kind in _KINDS and claims[one.id] == 1]
    return sorted(chosen, key=lambda document: document.id)


class _Reader:
    """Prepares documents for comparison on first use."""

    def __init__(self, documents: Sequence[Document], known: Sequence[Profile], gates: Gates) -> None:
        self.documents, self.gates = documents, gates
        self.form = form_lines(documents, known)
        self._common_titles = common_titles(documents)
        self._read: dict[int, Read] = {}
        self._runs: dict[int, tuple[set[int], set[int]]] = {}
        self._joined = {frozenset((source, target)) for source, _, target in links_between(documents)}

    def read(self, at: int) -> Read:
        if at not in self._read:
            self._read[at] = read(self.documents[at])
        return self._read[at]

    def one_title(self, at: int, to: int) -> bool:
        """Whether two documents have the same title, shared by at most one more."""
        title = self.documents[at].title
        return title == self.documents[to].title and title not in self._common_titles

    def joined(self, at: int, to: int) -> bool:
        """Whether two documents are linked by any relation: then their author knew both."""
        return frozenset((self.documents[at].id, self.documents[to].id)) in self._joined

    def runs(self, at: int) -> tuple[set[int], set[int]]:
        """The three-word runs of all lines, and of those that do not belong to a form."""
        if at not in self._runs:
            document = self.documents[at]
            own = own_runs(document, self.form) if self.form else set()
            self._runs[at] = three_word_runs(content_lines(document.body)), own
        return self._runs[at]


def _found(
    documents: Sequence[Document],
    known: Sequence[Profile],
    nearest: Iterable[Neighbours],
    reader: _Reader,
) -> Iterator[_Found]:
    by_signature = near_candidates(documents, known)
    alike = {(pair.first, pair.second): pair for pair in nearest}
    # A document with most of another's words may also contain its sentences.
    holding = {two for two, pair in alike.items() if pair.contained >= _MAY_CONTAIN}
    nearby = by_signature.pairs | by_signature.forms | holding
    for at, to in sorted(nearby | alike.keys()):
        found = _near(at, to, reader) if (at, to) in nearby else None
        if found is None and (at, to) in alike:
            found = _restated(alike[at, to], reader)
        if found is not None:
            yield found


def _near(at: int, to: int, reader: _Reader) -> _Found | None:
    runs, own = zip(reader.runs(at), reader.runs(to), strict=True)
    score = near_score(*runs, reader.gates)
    if not score:
        return None
    closeness = jaccard(*runs)
    one_text = closeness >= reader.gates.near and _one_text(closeness, at, to, reader)
    form = bool(reader.form) and not one_text and not _near_without_form(runs, own, reader.gates)
    return _Found(at, to, "near", score, form=form, one_text=one_text, closeness=closeness)


def _one_text(closeness: float, at: int, to: int, reader: _Reader) -> bool:
    """Whether two near texts are versions of one: they have the same title or, if almost identical, similar
    titles. Numbers in titles are ignored, because the number of a decision can change."""
    if reader.one_title(at, to):
        return True
    return closeness >= _ONE_TEXT and not titles_differ(reader.read(at), reader.read(to), numbers=False)


def _restated(pair: Neighbours, reader: _Reader) -> _Found | None:
    if pair.likeness < reader.gates.restated or reader.joined(pair.first, pair.second):
        return None
    one, other = reader.read(pair.first), reader.read(pair.second)
    if one.document.kind != other.document.kind and pair.likeness < _LIKENESS_ACROSS_KINDS:
        return None
    shorter = min(len(one.sentences), len(other.sentences)) - 1
    strong, reported = _strong(pair, shorter, reader.gates), pair.likeness >= _VERY_LIKE
    # Parallel pages, one for each of two things, have many words in common.
    strong = strong and not subjects_differ(one, other)
    if not (strong or reported):
        return None
    return _Found(
        pair.first, pair.second, "paraphrase", pair.likeness, strong, reported, closeness=pair.likeness
    )


def _near_without_form(runs: tuple[set[int], ...], own: tuple[set[int], ...], gates: Gates) -> bool:
    """Whether two near documents are also near without the lines of a form, or have few of these."""
    if sum(map(len, own)) > _FORM_FROM * sum(map(len, runs)):
        return True
    return near_score(own[0], own[1], gates) > 0


def _strong(pair: Neighbours, shorter: int, gates: Gates) -> bool:
    """Whether two neighbours are similar enough to be paraphrases: they share many concepts (longer documents
    need more), and are clearly closer than the next best."""
    length = min(max(shorter - _FEW_SENTENCES, 0), _MANY_SENTENCES)
    if pair.likeness < gates.restated + length * _LIKENESS_PER_SENTENCE:
        return False
    return pair.lead >= (_LEAD if pair.likeness < _VERY_LIKE else _LEAD_OF_THE_VERY_LIKE)


def _of_one_form(found: _Found, documents: Sequence[Document]) -> Pair:
    said = (measured(found.tier, found.score), "the shared text is also in documents with other titles")
    one, other = documents[found.at].id, documents[found.to].id
    return Pair(one, other, found.tier, FORM, round(found.score, 3), said, proposed=False)


def _labelled(found: _Found, reader: _Reader) -> Pair | None:
    one, other = reader.read(found.at), reader.read(found.to)
    comparison = compare(one, other)
    label = label_of(comparison, strong=found.strong, one_text=found.one_text)
    if label == RELATED and not found.reported:
        return None
    return Pair(
        one.document.id,
        other.document.id,
        found.tier,
        label,
        round(found.score, 3),
        evidence(found.tier, found.score, comparison, one, other),
        label in (SAME, CONTRADICTION),
    )


# Cached results

_JUDGEMENT: Final = 4
"""Increase it if the result for the same documents changes: thresholds, labels, word tables or evidence."""


def memory_key(documents: Iterable[Document], gates: Gates) -> str:
    """The cache key of a result: a hash of the documents' ids, paths and texts (in any order) and the
    thresholds."""
    known = sorted((document.id, document.path, key_of(document)) for document in documents)
    return sha256(
        repr((_JUDGEMENT, measure(), tuple(gates), known)).encode("utf-8", "surrogatepass")
    ).hexdigest()


def _packed(rows: Sequence[tuple[Any, ...]]) -> bytes:
    """A result as bytes."""
    return json.dumps(rows).encode()


def _unpacked(data: bytes, names: frozenset[str]) -> list[list[Any]] | None:
    """The result in some bytes; ``None`` if they are invalid or about other documents than ``names``."""
    try:
        rows = json.loads(data)
        if all(len(row) == 7 and {row[0], row[1]} <= names for row in rows):
            return list(rows)
    except (ValueError, TypeError, RecursionError):
        pass
    return None


# Evidence

_MOST: Final = 6
_LONGEST: Final = 120
_MEASURED: Final = {
    "near": "of the three-word sequences are shared",
    "paraphrase": "of the terms are shared (rare terms count more)",
}


def _quoted(sentence: Sentence) -> str:
    text = sentence.text
    return f'"{text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"}"'


def measured(tier: str, score: float) -> str:
    """The score as text."""
    return f"{score:.0%} {_MEASURED[tier]}"


def evidence(tier: str, score: float, found: Comparison, one: Read, other: Read) -> tuple[str, ...]:
    """The score, then the differences (or, without any, the corresponding sentences) with path and line."""
    lines = [measured(tier, score)]
    pairs = [(each.about, each.one, each.other) for each in found.differences]
    if not pairs:
        unlike = sorted(
            (pair for pair in found.aligned if pair.likeness < 1.0),
            key=lambda pair: (-pair.likeness, pair.one.line, pair.other.line),
        )
        pairs = [("", pair.one, pair.other) for pair in unlike]
    for about, mine, theirs in pairs[:_MOST]:
        lead = f"{about} differs: " if about else ""
        lines.append(
            f"{lead}{_quoted(mine)} ↔ {_quoted(theirs)} "
            f"({one.document.path}:{mine.line}, {other.document.path}:{theirs.line})"
        )
    if len(pairs) > _MOST:
        lines.append(f"and {len(pairs) - _MOST} more")
    return tuple(lines)


# Links and families


def links_between(
    documents: Iterable[Document], relations: Collection[str] | None = None
) -> list[tuple[str, str, str]]:
    """All links as (id, relation, target id), aliases resolved; only those of ``relations`` if given."""
    known = list(documents)
    ids = {alias: document.id for document in known for alias in document.aliases}
    ids |= {document.id: document.id for document in known}
    return [
        (document.id, link.rel, ids.get(link.target, link.target))
        for document in known
        for link in document.links
        if relations is None or link.rel in relations
    ]


class Families:
    """A disjoint-set structure; the result does not depend on the order of the pairs."""

    def __init__(self) -> None:
        self._leads: dict[str, str] = {}

    def _lead(self, name: str) -> str:
        leads = self._leads
        while leads.setdefault(name, name) != name:
            leads[name] = leads[leads[name]]
            name = leads[name]
        return name

    def join(self, one: str, other: str) -> bool:
        """Put two names into one family; false if they already were."""
        first, second = sorted((self._lead(one), self._lead(other)))
        self._leads[second] = first
        return first != second

    def all(self) -> list[list[str]]:
        """The families, each in order, by their first name."""
        found: dict[str, list[str]] = {}
        for name in sorted(self._leads):
            found.setdefault(self._lead(name), []).append(name)
        return sorted(found.values())
