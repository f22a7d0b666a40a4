"""Exact duplicates: documents that make the same statements, joined into one so that nothing is lost.

Only what is provably the same is merged. The text of the survivor never changes; the ids and titles of the
others become its aliases, their tags, links and provenance are added to its own. Where a merge could lose or
blur anything the pair is reported instead, for a person to decide.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from thunderus_mem.garden.merging import file_links, folder, malformation, obstacle, unite
from thunderus_mem.garden.plan import MERGE_DUPLICATES, REPORT, DocumentEdit, Step
from thunderus_mem.model.statements import ORDERED_KINDS, Statement, digest, gist, statements, text_digest
from thunderus_mem.model.timestamp import utc_key

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from thunderus_mem.model.document import Document
    from thunderus_mem.store.config import Config

KEEP_NEWEST: Final = "keep_newest"
FLAG_FOR_REVIEW: Final = "flag_for_review"

# A core document is shaped by hand, a decision and a recap are records of their day: none is ever merged.
MERGEABLE_KINDS: Final = frozenset({"fact", "playbook"})


@dataclass(frozen=True, slots=True)
class _Member:
    document: Document
    said: tuple[Statement, ...]
    words: int

    @property
    def id(self) -> str:
        return self.document.id

    @property
    def text(self) -> str:
        return text_digest(self.document.title, self.said)


def _member(document: Document) -> _Member:
    said = statements(document.body, document.title)
    return _Member(document, said, sum(len(statement.text.split()) for statement in said))


def _age(document: Document) -> tuple[bool, str, str]:
    created = utc_key(document.created)
    return (not created, created, document.id)


def by_strategy(documents: Iterable[Document], strategy: str) -> list[Document]:
    """The documents, the one that stays first; a time that cannot be read is the latest, or never updated."""
    by_age = sorted(documents, key=_age)
    if strategy == KEEP_NEWEST:
        newest = max(utc_key(document.updated) for document in by_age)
        stays = min((one for one in by_age if utc_key(one.updated) == newest), key=lambda one: one.id)
        by_age.remove(stays)
        by_age.insert(0, stays)
    return by_age


def _choose(members: Sequence[_Member], strategy: str) -> list[_Member]:
    """The members, the one that stays first."""
    of = {member.document.path: member for member in members}
    return [of[document.path] for document in by_strategy((m.document for m in members), strategy)]


def _merge_step(stays: Document, said: str, merged: Document, gone: Sequence[_Member]) -> Step:
    edits = [DocumentEdit(stays.path, stays.id, stays.hash, merged.text)]
    edits += [DocumentEdit(m.document.path, m.id, m.document.hash, None) for m in gone]
    ids = ", ".join(f"`{member.id}`" for member in gone)
    return Step(
        MERGE_DUPLICATES,
        f"`{stays.id}` says all that {ids} {'says' if len(gone) == 1 else 'say'}; one document is enough",
        tuple(f"`{m.id}` ({m.document.path}) says what `{stays.id}` ({stays.path}) says" for m in gone),
        (stays.id, *(member.id for member in gone)),
        tuple(edits),
        texts=((stays.id, said), *((member.id, member.text) for member in gone)),
    )


def _merge_family(
    family: Sequence[_Member], links: Mapping[str, str]
) -> tuple[list[Step], list[_Member], list[str]]:
    """Steps for documents of one kind and text, survivor first; who is left; what stood in the way."""
    steps: list[Step] = []
    left: list[_Member] = []
    waiting = list(family)
    while waiting:
        first, *others = waiting
        merged, gone, waiting = first.document, [], []
        for member in others:
            document = member.document
            after = None
            if not obstacle(merged, document, member.words, links):
                after = unite(merged, document)
            if after is None:
                waiting.append(member)
            else:
                merged = after
                gone.append(member)
        if gone:
            steps.append(_merge_step(first.document, first.text, merged, gone))
        left.append(_Member(merged, first.said, first.words))
    reasons = [obstacle(left[0].document, m.document, m.words, links) for m in left[1:]]
    return steps, left, reasons


def _families(group: Sequence[_Member], strategy: str) -> list[list[_Member]]:
    """A group of one text, apart by kind (and by order where order counts), each with its survivor first."""
    families: dict[tuple[str, str], list[_Member]] = {}
    for member in group:
        kind = member.document.kind
        order = digest(member.said) if kind in ORDERED_KINDS else ""
        families.setdefault((kind, order), []).append(member)
    return [_choose(families[key], strategy) for key in sorted(families)]


def _plan_group(group: Sequence[_Member], config: Config, links: Mapping[str, str]) -> list[Step]:
    flagged = config.duplicates_strategy == FLAG_FOR_REVIEW
    merged_kinds = frozenset() if flagged else MERGEABLE_KINDS & frozenset(config.duplicates_kinds)
    steps: list[Step] = []
    remaining: list[_Member] = []
    obstacles: list[str] = []
    sound = []
    for member in group:
        if reason := malformation(member.document):
            remaining.append(member)
            obstacles.append(reason)
        else:
            sound.append(member)
    for family in _families(sound, config.duplicates_strategy):
        if family[0].document.kind not in merged_kinds:
            remaining += family
            continue
        merges, left, reasons = _merge_family(family, links)
        steps += merges
        remaining += left
        obstacles += reasons
    if len(remaining) > 1:
        steps.append(_report(remaining, obstacles))
    return steps


def _report(members: Sequence[_Member], obstacles: Sequence[str]) -> Step:
    ordered = sorted(members, key=lambda member: member.id)
    lines = [f"`{m.id}` stands in {m.document.path}" for m in ordered]
    ids = [m.id for m in ordered]
    return Step(
        REPORT,
        f"{', '.join(f'`{i}`' for i in ids)} say the same; a person decides which of them stays",
        (*lines, *sorted(obstacles)),
        tuple(ids),
        texts=tuple((m.id, m.text) for m in ordered),
    )


def linked_files(documents: Iterable[Document]) -> dict[str, str]:
    """File path → the (first) id of a document that links to that very file."""
    import posixpath

    linked: dict[str, str] = {}
    for document in sorted(documents, key=lambda each: each.id):
        if "](" not in document.text and "]: " not in document.text:
            continue
        for link in file_links(document.body):
            path = posixpath.normpath(posixpath.join(folder(document.path), link))
            linked.setdefault(path, document.id)
    return linked


def plan_duplicates(
    documents: Iterable[Document], config: Config, gists: Mapping[str, str] | None = None
) -> tuple[Step, ...]:
    """Steps that join exact duplicates, and reports on those that a person must decide.

    ``documents`` in any order; ``duplicates_strategy`` says which one stays: the oldest
    (``merge_to_first``), the one updated last (``keep_newest``), or none is touched (``flag_for_review``).
    Facts and playbooks among ``duplicates_kinds`` are merged within their kind; core documents, decisions,
    recaps and pairs of two kinds are only reported. An id that two files claim is left to lint. ``gists`` are
    those that are known already (`model.statements.gist`), by path.
    """
    ordered = sorted(documents, key=lambda document: (document.id, document.path))
    claims: dict[str, int] = {}
    for document in ordered:
        claims[document.id] = claims.get(document.id, 0) + 1
    groups: dict[str, list[Document]] = {}
    for document in ordered:
        if claims[document.id] == 1 and (told := _gist(document, gists or {})):
            groups.setdefault(told, []).append(document)
    shared = [[_member(document) for document in group] for group in groups.values() if len(group) > 1]
    links = linked_files(ordered) if shared else {}
    steps = [step for group in shared for step in _plan_group(group, config, links)]
    return tuple(sorted(steps, key=lambda step: (step.action == REPORT, step.targets)))


def _gist(document: Document, gists: Mapping[str, str]) -> str:
    known = gists.get(document.path)
    return gist(statements(document.body, document.title)) if known is None else known
