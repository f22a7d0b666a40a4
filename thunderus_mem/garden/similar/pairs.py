"""Documents that nearly say the same, or say the same in other words: found, labelled, and why; near linear
in the size of the memory.

Compared are only those whose signatures agree in one of their bands, and those that are each other's nearest
by what they speak of. A band that many share is a template's: there the lines that all of them have are left
out, and what remains is looked at again, so that forms cost no square. Of what documents speak of, words
weigh by how rare they are in this memory; how near two documents are is measured against how much each says,
so no figure depends on the length of texts or on the size of the memory. No model.

The exact tier is `garden.rules.duplicates`; what it finds is not found again here. Pure, but for the
processes that look for the nearest of many; the caller keeps what was found about a memory as long as none of
its documents changes.
"""

from __future__ import annotations

import json
from bisect import bisect_left
from collections import Counter
from hashlib import sha256
from heapq import nsmallest
from itertools import accumulate, chain, pairwise
from math import fsum, log, sqrt
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

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
    first_of_each_text,
    key_of,
    measure,
    profiles,
    signatures,
    three_word_runs,
    told_lines,
)
from thunderus_mem.garden.similar.words import number_of
from thunderus_mem.store.parallel import spread

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, MutableMapping, Sequence, Set

    from thunderus_mem.document.document import Document
    from thunderus_mem.garden.similar.compare import Comparison
    from thunderus_mem.garden.similar.profile import Profile, Sentence

# Pairs that are worth comparing

# With 32 bands of 4 a pair that shares half of its three-word runs is met 87 times in 100, one that shares
# seven tenths always; one that shares a tenth in 3 of 1,000 cases.
_BANDS: Final = 32
_ROWS: Final = PLACES // _BANDS
CROWD: Final = 24
"""More documents than this in one band, or with one line, share a form."""


class Candidates(NamedTuple):
    """Pairs of positions to look at, lower first; ``forms`` are those met only as neighbours in a crowd."""

    pairs: set[tuple[int, int]]
    forms: set[tuple[int, int]]


def _bands(members: Iterable[tuple[int, bytes]]) -> list[list[int]]:
    """Positions that share a band, for every band that several share; the same company only once."""
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
    """The pairs worth comparing word by word, near linear in the number of documents."""
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
    """Pairs among documents of one form that are alike in what is their own."""
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
            # The form is inside its lines: whoever fills it in alike stands side by side in this order.
            beside = sorted(group, key=lambda at: (signed[at], at))
            pairs.update((min(two), max(two)) for two in pairwise(beside))
    return pairs


# Neighbours by what documents speak of

NEAREST: Final = 2
"""How many nearest each document has; both must be among the other's."""
_FEWEST_SHARED: Final = 3
_FEWEST_RARE: Final = 2
_LOOKED_AT: Final = 5
_LEAST_PART: Final = 10
_REACH: Final = 128
"""So many documents that share a rare concept are met, and those met most for their length compared."""
# In a memory of a few documents nothing is rare: weights are then those of one of this size.
_SMALLEST: Final = 200
_MANY: Final = 2000
"""From so many documents on it pays to look for the nearest in several processes."""
_COMMON_FROM: Final = 8
_COMMON_AT_MOST: Final = 64


class Neighbours(NamedTuple):
    """Two positions, lower first. ``likeness`` is the geometric mean of the parts of what each says that the
    other says too, ``contained`` the larger of them; ``lead`` is how far they are ahead of the next best of
    either (1 = as near as others)."""

    first: int
    second: int
    likeness: float
    contained: float
    lead: float


class _Scale:
    """How much each concept weighs in this memory, and which are rare enough to find others."""

    def __init__(self, profiles: Sequence[Profile]) -> None:
        frequency: Counter[int] = Counter(chain.from_iterable(profile.terms for profile in profiles))
        size = max(len(profiles), _SMALLEST)
        by_count = {count: log(1 + size / count) for count in set(frequency.values())}
        self.weight = {term: by_count[count] for term, count in frequency.items()}
        # More than this share a common word: it weighs, but finds nobody.
        common = max(_COMMON_FROM, min(len(profiles) // 8, _COMMON_AT_MOST))
        rare = sorted((count, term) for term, count in frequency.items() if 1 < count <= common)
        self.counts = [count for count, _ in rare]
        self.rank = {term: rank for rank, (_, term) in enumerate(rare)}

    def total(self, terms: Iterable[int]) -> float:
        """What concepts weigh together, to the last bit the same in whatever order."""
        return fsum(map(self.weight.__getitem__, terms))

    def rare(self, terms: Sequence[int]) -> list[int]:
        """The ranks of those concepts that find others, the rarest first."""
        return sorted([rank for rank in map(self.rank.get, terms) if rank is not None])

    def in_reach(self, ranks: Sequence[int]) -> Sequence[int]:
        """No more of them than lead to a bounded number of documents."""
        met = list(accumulate([self.counts[rank] for rank in ranks]))
        return ranks[: bisect_left(met, _REACH) + 1]


class _Search:
    """Finds the nearest of documents of one memory."""

    def __init__(self, profiles: Sequence[Profile], scale: _Scale, totals: Sequence[float]) -> None:
        self._profiles, self._scale, self._totals = profiles, scale, totals
        self._rare = [scale.rare(profile.terms) for profile in profiles]
        self._posted: list[list[int]] = [[] for _ in scale.counts]
        for at, ranks in enumerate(self._rare):
            for rank in ranks:
                self._posted[rank].append(at)
        self._said: dict[int, frozenset[int]] = {}

    def of(self, positions: Iterable[int]) -> list[list[tuple[float, int]]]:
        """For each document the nearest and how near, best first, one more than counts."""
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
    """The nearest of each of so many documents, those of many found in several processes."""
    if count < _MANY:
        return search.of(range(count))
    answers = spread(range(count), search.of)
    return [
        search.of([at])[0] if found is None else [(score, other) for score, other in found]
        for at, found in enumerate(answers)
    ]


def neighbours(profiles: Sequence[Profile]) -> list[Neighbours]:
    """Every two documents that are among each other's nearest, ordered by position; near linear."""
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


# What belongs to a form

_TITLES: Final = 4
"""Versions of one document share a title; two copies and their copies are not yet a form."""


def form_lines(documents: Sequence[Document], profiles: Sequence[Profile]) -> frozenset[int]:
    """The numbers of lines that stand in documents of at least four different titles."""
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
    """The titles that at least four documents have: they name a form, not what a document is about."""
    counted = Counter(document.title for document in documents)
    return frozenset(title for title, count in counted.items() if count >= _TITLES)


def own_runs(document: Document, form: frozenset[int]) -> set[int]:
    """The three-word runs of the lines that are not the form's."""
    lines = told_lines(document.body)
    return three_word_runs([line for line in lines if number_of(line.lower()) not in form])


# Pairs that are alike: two tiers, four labels

_FEWEST_RUNS: Final = 6


class Gates(NamedTuple):
    """From where on documents are alike, 0 to 1: ``near``, the three-word runs of both that both have;
    ``contained``, those of the shorter that the longer has; ``restated``, what both speak of."""

    near: float = 0.5
    contained: float = 0.8
    restated: float = 0.33


def jaccard(one: Set[int], other: Set[int]) -> float:
    """How much of both together is in both: 0 to 1."""
    shared = len(one & other)
    return shared / max(len(one) + len(other) - shared, 1)


def near_score(one: Set[int], other: Set[int], gates: Gates) -> float:
    """The Jaccard index, or how much of the shorter the longer holds; 0 when they are not near."""
    shorter = min(len(one), len(other))
    if shorter < _FEWEST_RUNS:
        return 0.0
    score = jaccard(one, other)
    if score >= gates.near:
        return score
    contained = len(one & other) / shorter
    return contained if contained >= gates.contained else 0.0


_USUAL: Final = Gates()
_MAY_HOLD: Final = 0.6
# With less of a form than this the two are not alike because of it.
_FORM_FROM: Final = 0.8
_LIKENESS_PER_SENTENCE: Final = 0.02
_FEW_SENTENCES: Final = 3
_MANY_SENTENCES: Final = 12
_VERY_LIKE: Final = 0.5
_LEAD: Final = 1.2
_LEAD_OF_THE_VERY_LIKE: Final = 0.9
# Across kinds a fact and the decision it comes from speak of one thing without restating each other.
_LIKENESS_ACROSS_KINDS: Final = 0.4
_ONE_TEXT: Final = 0.75
"""Of all three-word runs; two versions of which one word in twenty-five differs still share so much."""
_KINDS: Final = frozenset(["core", "fact", "playbook", "adr"])

Tier = Literal["near", "paraphrase"]


class Pair(NamedTuple):
    """Two documents that are alike: their ids in order, how they were found, what they are to each other.

    ``score`` is 0 to 1: the share of three-word runs that both have (near), or of what both speak of
    (paraphrase). ``evidence`` are lines that let a person check it. ``proposed`` says whether the gardener
    proposes a change; it never makes one by itself.
    """

    first: str
    second: str
    tier: Tier
    label: Label
    score: float
    evidence: tuple[str, ...]
    proposed: bool


class _Found(NamedTuple):
    """``strong``: near enough to be the same; ``told``: near enough to be mentioned; ``form``: what they
    share belongs to a form; ``one_text``: they are almost the same text under one subject;
    ``closeness``: how much of both together is shared, comparable within a tier."""

    at: int
    to: int
    tier: Tier
    score: float
    strong: bool = True
    told: bool = True
    form: bool = False
    one_text: bool = False
    closeness: float = 0.0


def find_similar(
    documents: Sequence[Document],
    signatures: MutableMapping[str, bytes] | None = None,
    gates: Gates = _USUAL,
) -> tuple[Pair, ...]:
    """Every two documents that nearly say the same, or the same in other words, ordered by their ids.

    ``documents`` in any order; recaps and ids that two files claim are left out, and of documents that say
    exactly the same only the first is compared. ``signatures`` is a memory of what was computed before, by
    content; it is added to, and changes no answer. ``gates`` say how much alike is alike.
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
            # One way from each member of a form to every other is enough: a thousand fill it in too.
            pairs.append(_of_one_form(found, ordered))
    return tuple(sorted([*pairs, *_to_be_asked(sorted(asked))]))


def _to_be_asked(nearest_first: Iterable[tuple[Tier, float, Pair]]) -> Iterator[Pair]:
    """Of several documents that are all alike under different titles, each with its nearest; not any two.

    What is left out is less alike than every pair on some way from the one to the other, and not among the
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
    """Reads a document for comparing when it is first needed."""

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
        """Whether two documents, and at most one more, have one title."""
        title = self.documents[at].title
        return title == self.documents[to].title and title not in self._common_titles

    def joined(self, at: int, to: int) -> bool:
        """Whether a link of whatever relation joins two documents: whoever wrote it knew both."""
        return frozenset((self.documents[at].id, self.documents[to].id)) in self._joined

    def runs(self, at: int) -> tuple[set[int], set[int]]:
        """The three-word runs of all lines, and of those that are not a form's."""
        if at not in self._runs:
            document = self.documents[at]
            own = own_runs(document, self.form) if self.form else set()
            self._runs[at] = three_word_runs(told_lines(document.body)), own
        return self._runs[at]


def _found(
    documents: Sequence[Document],
    known: Sequence[Profile],
    nearest: Iterable[Neighbours],
    reader: _Reader,
) -> Iterator[_Found]:
    by_signature = near_candidates(documents, known)
    alike = {(pair.first, pair.second): pair for pair in nearest}
    # Who holds most of another's words, in whatever order of size, may hold its sentences.
    holding = {two for two, pair in alike.items() if pair.contained >= _MAY_HOLD}
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
    form = bool(reader.form) and not one_text and not _alike_by_themselves(runs, own, reader.gates)
    return _Found(at, to, "near", score, form=form, one_text=one_text, closeness=closeness)


def _one_text(closeness: float, at: int, to: int, reader: _Reader) -> bool:
    """Whether two near texts are versions of one: they have one title, or, when they are almost the same,
    titles that do not differ. A number there may count decisions, and be another one tomorrow."""
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
    strong, told = _strong(pair, shorter, reader.gates), pair.likeness >= _VERY_LIKE
    # Pages that go side by side, one for each of two things, say much in the same words.
    strong = strong and not subjects_differ(one, other)
    if not (strong or told):
        return None
    return _Found(pair.first, pair.second, "paraphrase", pair.likeness, strong, told, closeness=pair.likeness)


def _alike_by_themselves(runs: tuple[set[int], ...], own: tuple[set[int], ...], gates: Gates) -> bool:
    """Whether two near documents are near without the lines of a form, or have few of these."""
    if sum(map(len, own)) > _FORM_FROM * sum(map(len, runs)):
        return True
    return near_score(own[0], own[1], gates) > 0


def _strong(pair: Neighbours, shorter: int, gates: Gates) -> bool:
    """Whether two neighbours are near enough to be taken for restatements: much of what they speak of is
    shared, the more the longer they are, and both are clearly ahead of the next best."""
    length = min(max(shorter - _FEW_SENTENCES, 0), _MANY_SENTENCES)
    if pair.likeness < gates.restated + length * _LIKENESS_PER_SENTENCE:
        return False
    return pair.lead >= (_LEAD if pair.likeness < _VERY_LIKE else _LEAD_OF_THE_VERY_LIKE)


def _of_one_form(found: _Found, documents: Sequence[Document]) -> Pair:
    said = (measured(found.tier, found.score), "and stands in documents of other titles too")
    one, other = documents[found.at].id, documents[found.to].id
    return Pair(one, other, found.tier, FORM, round(found.score, 3), said, proposed=False)


def _labelled(found: _Found, reader: _Reader) -> Pair | None:
    one, other = reader.read(found.at), reader.read(found.to)
    comparison = compare(one, other)
    label = label_of(comparison, strong=found.strong, one_text=found.one_text)
    if label == RELATED and not found.told:
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


# What was found, kept for the next time

_JUDGEMENT: Final = 2
"""Raised when the same documents would get another answer: other gates, labels, words or evidence."""


def memory_key(documents: Iterable[Document], gates: Gates) -> str:
    """What an answer about these documents, in whatever order, is kept by: their ids, paths and texts, and
    from where on they are alike."""
    known = sorted((document.id, document.path, key_of(document)) for document in documents)
    return sha256(
        repr((_JUDGEMENT, measure(), tuple(gates), known)).encode("utf-8", "surrogatepass")
    ).hexdigest()


def _packed(rows: Sequence[tuple[Any, ...]]) -> bytes:
    """An answer as bytes."""
    return json.dumps(rows).encode()


def _unpacked(data: bytes, names: frozenset[str]) -> list[list[Any]] | None:
    """The answer in some bytes; ``None`` when they hold none about documents of these ``names``."""
    try:
        rows = json.loads(data)
        if all(len(row) == 7 and {row[0], row[1]} <= names for row in rows):
            return list(rows)
    except (ValueError, TypeError, RecursionError):
        pass
    return None


# Evidence for a person

_MOST: Final = 6
_LONGEST: Final = 120
_MEASURED: Final = {
    "near": "of the three-word runs of the two are shared",
    "paraphrase": "of what the two speak of is shared, by weight",
}


def _quoted(sentence: Sentence) -> str:
    text = sentence.text
    return f'"{text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"}"'


def measured(tier: str, score: float) -> str:
    """The score as a person reads it."""
    return f"{score:.0%} {_MEASURED[tier]}"


def evidence(tier: str, score: float, found: Comparison, one: Read, other: Read) -> tuple[str, ...]:
    """The score, then what differs (or, when nothing does, what answers each other) with path and line."""
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
        lines.append(f"and {len(pairs) - _MOST} more places")
    return tuple(lines)


# Links and families


def links_between(
    documents: Iterable[Document], relations: Collection[str] | None = None
) -> list[tuple[str, str, str]]:
    """Every link as (id, relation, id it leads to), aliases followed; only of some ``relations`` if given."""
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
    """Grows pair by pair; what it says depends on the pairs alone, not on their order."""

    def __init__(self) -> None:
        self._leads: dict[str, str] = {}

    def _lead(self, name: str) -> str:
        leads = self._leads
        while leads.setdefault(name, name) != name:
            leads[name] = leads[leads[name]]
            name = leads[name]
        return name

    def join(self, one: str, other: str) -> bool:
        """Put two names into one family; false when they were in one already."""
        first, second = sorted((self._lead(one), self._lead(other)))
        self._leads[second] = first
        return first != second

    def all(self) -> list[list[str]]:
        """The families, each in order, by their first name."""
        found: dict[str, list[str]] = {}
        for name in sorted(self._leads):
            found.setdefault(self._lead(name), []).append(name)
        return sorted(found.values())
