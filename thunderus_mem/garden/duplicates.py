"""Exact duplicates: documents that make the same statements, joined into one so that nothing is lost.

Only what is provably the same is merged. The text of the survivor never changes; the ids and titles of the
others become its aliases, their tags, links and provenance are added to its own. Where a merge could lose or
blur anything the pair is reported instead, for a person to decide.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from thunderus_mem.garden.plan import MERGE_DUPLICATES, REPORT, DocumentEdit, Step
from thunderus_mem.garden.statements import Statement, fold, statements
from thunderus_mem.model.edit import insert_item, set_key
from thunderus_mem.model.document import read_document
from thunderus_mem.model.errors import InvalidDocument
from thunderus_mem.model.markdown import references
from thunderus_mem.model.timestamp import utc_key

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from thunderus_mem.model.document import Document

MERGE_TO_FIRST: Final = "merge_to_first"
KEEP_NEWEST: Final = "keep_newest"
FLAG_FOR_REVIEW: Final = "flag_for_review"
STRATEGIES: Final = (MERGE_TO_FIRST, KEEP_NEWEST, FLAG_FOR_REVIEW)

MERGED_KINDS: Final = frozenset({"fact", "playbook"})
# In a playbook the order of the sentences is the procedure.
_ORDERED_KINDS: Final = frozenset({"playbook"})
# Below this many words a body cannot stand without its title, so two titles are two documents.
_WORDS_THAT_STAND_ALONE = 12
_FEWEST_WORDS = 3
_UNITED = frozenset(
    {"id", "title", "kind", "tags", "created", "updated", "provenance", "verification", "aliases", "links"}
)
_CONFLICT_MARKS = ("<<<<<<< ", ">>>>>>> ")


@dataclass(frozen=True, slots=True)
class _Member:
    document: Document
    said: tuple[Statement, ...]
    words: int

    @property
    def id(self) -> str:
        return self.document.id


def _digest(said: Iterable[Statement]) -> str:
    return hashlib.sha256(repr([(s.under, s.lead, s.text) for s in said]).encode()).hexdigest()


def _member(document: Document) -> _Member:
    said = statements(document.body, document.title)
    return _Member(document, said, sum(len(statement.text.split()) for statement in said))


def _age(document: Document) -> tuple[bool, str, str]:
    created = utc_key(document.created)
    return (not created, created, document.id)


def _choose(members: Sequence[_Member], strategy: str) -> list[_Member]:
    """The members, the one that stays first; an unreadable time counts as the latest, or as never updated."""
    by_age = sorted(members, key=lambda member: _age(member.document))
    if strategy == KEEP_NEWEST:
        newest = max(utc_key(member.document.updated) for member in members)
        stays = min(
            (member for member in members if utc_key(member.document.updated) == newest),
            key=lambda member: member.id,
        )
        by_age.remove(stays)
        by_age.insert(0, stays)
    return by_age


def _is_list_of_text(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _malformed_key(document: Document) -> str:
    """The first header key whose shape we would have to guess, or ""."""
    data = document.data()
    provenance = data.get("provenance")
    links = data.get("links", {})
    lists = {"tags": data.get("tags"), "aliases": data.get("aliases", [])}
    if not isinstance(provenance, dict):
        return "provenance"
    if not isinstance(links, dict):
        return "links"
    lists |= {f"provenance.{key}": provenance.get(key, []) for key in ("events", "patches", "commits")}
    lists |= {f"links.{rel}": items for rel, items in links.items()}
    for key, value in lists.items():
        if not _is_list_of_text(value):
            return key
    return next((key for key in ("created", "updated") if not utc_key(str(data.get(key, "")))), "")


def _obstacle(stays: Document, leaves: _Member, linked_files: Mapping[str, str]) -> str:
    """Why ``leaves`` cannot be merged into ``stays`` without a person; "" when it can."""
    document = leaves.document
    for each in (stays, document):
        if key := _malformed_key(each):
            return f"the header of `{each.id}` is malformed at `{key}`"
        if any(line.startswith(_CONFLICT_MARKS) for line in each.text.splitlines()):
            return f"`{each.id}` holds conflict markers"
    if _titles_disagree(stays.title, document.title, leaves.words):
        return f"the titles differ: “{stays.title}” and “{document.title}”"
    kept, given = stays.data(), document.data()
    for key in sorted(given.keys() - _UNITED):
        if key in kept and kept[key] != given[key]:
            return f"`{key}` differs between `{stays.id}` and `{document.id}`"
    if document.path in linked_files:
        return f"`{linked_files[document.path]}` links to the file of `{document.id}`; link to its id instead"
    if _folder(stays.path) != _folder(document.path) and any(
        reference.kind == "link" for reference in references(document.body)
    ):
        return f"`{document.id}` stands in another folder and its relative links mean other files"
    return ""


def _folder(path: str) -> str:
    return path.rpartition("/")[0]


def _titles_disagree(one: str, other: str, words: int) -> bool:
    """Whether two titles may tell two documents with one text apart: a number, a negation, a short text."""
    folded = fold(one).lower(), fold(other).lower()
    if folded[0] == folded[1]:
        return False
    telling = [
        sorted(word for word in title.split() if word in _NEGATIONS or any(map(str.isdigit, word)))
        for title in folded
    ]
    return words < _WORDS_THAT_STAND_ALONE or telling[0] != telling[1]


_NEGATIONS = frozenset("no not never none without don't doesn't cannot can't isn't avoid except".split())


def _unite(stays: Document, leaves: Document) -> str:
    """The text of ``stays`` with everything of ``leaves`` that its own header lacks."""
    text = stays.text
    known = {stays.id, fold(stays.title), *stays.aliases}
    titles = [] if fold(leaves.title) in known else [leaves.title]
    for alias in (leaves.id, *titles, *leaves.aliases):
        if alias not in known:
            text = insert_item(text, ("aliases",), alias)
    for tag in leaves.tags:
        text = insert_item(text, ("tags",), tag)
    for key, items in (("events", leaves.events), ("patches", leaves.patches), ("commits", leaves.commits)):
        for item in items:
            text = insert_item(text, ("provenance", key), item)
    for link in leaves.links:
        if link.target not in (stays.id, leaves.id):
            text = insert_item(text, ("links", link.rel), link.target)
    text = insert_item(text, ("links", "duplicates"), leaves.id)
    own = stays.data()
    for key, value in leaves.data().items():
        if key not in _UNITED and key not in own:
            text = set_key(text, (key,), value)
    return text


def _united(stays: Document, leaves: Document) -> Document | None:
    """`stays` after taking in `leaves`, or ``None`` when its header cannot hold what `leaves` has."""
    try:
        after = read_document(stays.path, _unite(stays, leaves).encode()).document
    except InvalidDocument:
        return None
    if after is None:
        return None
    own = after.data()
    extras = leaves.data()
    if any(own.get(key) != value for key, value in extras.items() if key not in _UNITED):
        return None
    return after


def _merge_family(
    family: list[_Member], linked_files: Mapping[str, str]
) -> tuple[Step | None, list[_Member], list[str]]:
    """One step for documents of one kind and text; then who remains after it, and what stood in the way."""
    first, *others = family
    merged, gone, remaining, obstacles = first.document, [], [first], []
    for member in others:
        obstacle = _obstacle(merged, member, linked_files)
        after = None if obstacle else _united(merged, member.document)
        if after is None:
            remaining.append(member)
            obstacles.append(obstacle or f"the header of `{first.id}` cannot hold that of `{member.id}`")
        else:
            merged = after
            gone.append(member)
    if not gone:
        return None, remaining, obstacles
    edits = [DocumentEdit(first.document.path, first.id, first.document.hash, merged.text)]
    edits += [DocumentEdit(m.document.path, m.id, m.document.hash, None) for m in gone]
    evidence = [f"`{m.id}` ({m.document.path}) says the same as `{first.id}`, statement by statement" for m in gone]
    ids = ", ".join(f"`{m.id}`" for m in gone)
    step = Step(
        MERGE_DUPLICATES,
        f"`{first.id}` says all that {ids} {'says' if len(gone) == 1 else 'say'}; one document is enough",
        tuple(evidence),
        (first.id, *(m.id for m in gone)),
        tuple(edits),
    )
    return step, remaining, obstacles


def _families(group: Sequence[_Member], strategy: str) -> list[list[_Member]]:
    """A group of one text, apart by kind (and by order where order counts), each with its survivor first."""
    families: dict[tuple[str, str], list[_Member]] = {}
    for member in group:
        kind = member.document.kind
        order = _digest(member.said) if kind in _ORDERED_KINDS else ""
        families.setdefault((kind, order), []).append(member)
    return [_choose(families[key], strategy) for key in sorted(families)]


def _plan_group(group: Sequence[_Member], strategy: str, linked_files: Mapping[str, str]) -> list[Step]:
    steps: list[Step] = []
    remaining: list[_Member] = []
    obstacles: list[str] = []
    for family in _families(group, strategy):
        if family[0].document.kind not in MERGED_KINDS or strategy == FLAG_FOR_REVIEW:
            remaining += family
            continue
        step, left, why_not = _merge_family(family, linked_files)
        steps += [step] if step else []
        remaining += left
        obstacles += why_not
    if len(remaining) > 1:
        steps.append(_report(remaining, obstacles))
    return steps


def _report(members: Sequence[_Member], obstacles: Sequence[str]) -> Step:
    ordered = sorted(members, key=lambda member: member.id)
    lines = [f"`{m.id}` is a {m.document.kind} in {m.document.path}" for m in ordered]
    ids = [m.id for m in ordered]
    return Step(
        REPORT,
        f"{', '.join(f'`{i}`' for i in ids)} say the same; a person decides which of them stays",
        (*lines, *sorted(obstacles)),
        tuple(ids),
    )


def _linked_files(members: Iterable[_Member]) -> dict[str, str]:
    """File path → the (first) id of a document that links to that very file."""
    import posixpath

    linked: dict[str, str] = {}
    for member in sorted(members, key=lambda each: each.id):
        if "](" not in member.document.text and "]: " not in member.document.text:
            continue
        for reference in references(member.document.body):
            if reference.kind == "link":
                target = reference.target.partition("#")[0]
                path = posixpath.normpath(posixpath.join(_folder(member.document.path), target))
                linked.setdefault(path, member.id)
    return linked


def plan_duplicates(documents: Iterable[Document], strategy: str = MERGE_TO_FIRST) -> tuple[Step, ...]:
    """Steps that join exact duplicates, and reports on those that a person must decide.

    ``documents`` in any order; ``strategy`` says which one stays: the oldest (``merge_to_first``), the one
    updated last (``keep_newest``), or none is touched (``flag_for_review``). Facts and playbooks are merged
    within their kind; core documents, decisions, recaps and pairs of two kinds are only reported. An id that
    two files claim is left alone: lint tells of it.
    """
    ordered = sorted(documents, key=lambda document: (document.id, document.path))
    claims: dict[str, int] = {}
    for document in ordered:
        claims[document.id] = claims.get(document.id, 0) + 1
    members = [_member(document) for document in ordered]
    groups: dict[str, list[_Member]] = {}
    for member in members:
        if member.words >= _FEWEST_WORDS and claims[member.id] == 1:
            groups.setdefault(_digest(sorted(set(member.said))), []).append(member)
    shared = [group for group in groups.values() if len(group) > 1]
    linked_files = _linked_files(members) if shared else {}
    steps = [step for group in shared for step in _plan_group(group, strategy, linked_files)]
    return tuple(sorted(steps, key=lambda step: (step.action == REPORT, step.targets)))
