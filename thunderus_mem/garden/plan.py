"""What the gardener wants to do, as a value: a plan is printed, tested, filed or carried out. Pure.

Also what every rule is a function of, beside the configuration (`GardenInput`), and whom a name means among
the documents (`DocumentNames`, as the index answers it).
"""

from __future__ import annotations

import hashlib
import posixpath
from collections import Counter
from dataclasses import dataclass
from functools import cached_property, lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias

from thunderus_mem.document.ids import fold_key
from thunderus_mem.document.paths import archived_path, live_path
from thunderus_mem.document.references import references
from thunderus_mem.recap.scope import Activity

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, MutableMapping, Sequence

    from thunderus_mem.document.document import Document
    from thunderus_mem.document.references import Reference

REPORT = "report"
MERGE_DUPLICATES = "merge-duplicates"

Reach: TypeAlias = Literal["apply", "propose", "report"]
"""How far a step may go without a person: be carried out, be filed for review, or only be told."""

_ORDER: Final = {"apply": 0, "propose": 1, "report": 2}


@dataclass(frozen=True, slots=True)
class DocumentEdit:
    """One file of a step.

    ``path`` is relative to the root, ``before`` the content hash the step was made from ("": there is no
    file), ``after_text`` the whole new text, or ``None`` to remove the file. A document that gets another
    path is two of them with ``renames``: the old path loses the text, then the new path gets it.
    """

    path: str
    doc_id: str
    before: str
    after_text: str | None
    renames: bool = False


def moved(document: Document, path: str) -> tuple[DocumentEdit, ...]:
    """The two edits by which a document gets another path; its text stays as it is."""
    return (
        DocumentEdit(document.path, document.id, document.hash, None, renames=True),
        DocumentEdit(path, document.id, "", document.text, renames=True),
    )


@dataclass(frozen=True, slots=True)
class Step:
    """One thing to do, to propose, or only to say.

    ``rule`` is the gardening rule it comes from, ``action`` what is done. ``targets`` are document ids, the
    one that stays first; ``why`` is one sentence; ``evidence`` are the lines that let a reader check it;
    ``label`` is what a comparison found (``same``, ``possible contradiction`` …). ``texts`` are the digests
    of what the targets say, by id: a decision about the step holds until one of them changes. ``op`` is the
    kind of patch the log calls it, ``private`` the private events that a new text names.
    """

    action: str
    why: str
    evidence: tuple[str, ...]
    targets: tuple[str, ...]
    edits: tuple[DocumentEdit, ...] = ()
    rule: str = "duplicates"
    reach: Reach = "apply"
    label: str = ""
    texts: tuple[tuple[str, str], ...] = ()
    op: str = "garden"
    private: tuple[str, ...] = ()

    @property
    def extent(self) -> Reach:
        """How far it may go: without edits there is nothing to carry out or to file."""
        return self.reach if self.edits else "report"

    @property
    def key(self) -> str:
        """What a decision about this step is remembered by: the rule, and what it looked at."""
        made_from = sorted((edit.path, edit.before) for edit in self.edits if edit.before)
        seen = sorted(self.texts) or made_from or sorted((target, "") for target in self.targets)
        return hashlib.sha256(repr((self.rule, seen)).encode()).hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class Plan:
    """All steps, in an order that depends on their content alone. ``decided`` counts the steps left out
    because a person has turned them down, ``waiting`` those that are filed for review already."""

    steps: tuple[Step, ...] = ()
    decided: int = 0
    waiting: int = 0

    @property
    def applicable(self) -> tuple[Step, ...]:
        """The steps that may be carried out at once."""
        return self._of("apply")

    @property
    def proposals(self) -> tuple[Step, ...]:
        """The steps that change something once a person approves."""
        return self._of("propose")

    @property
    def reports(self) -> tuple[Step, ...]:
        """The steps that only say something, for a person to decide."""
        return self._of("report")

    def _of(self, extent: Reach) -> tuple[Step, ...]:
        return tuple(step for step in self.steps if step.extent == extent)


def make_plan(
    *parts: tuple[Step, ...],
    rejected: Collection[str] = frozenset(),
    waiting: Collection[str] = frozenset(),
    order: Sequence[str] = (),
) -> Plan:
    """Join the steps of every gardening rule into one plan: what can be carried out first, then proposals,
    then reports; each by rule, in the ``order`` of their names. Steps whose key is ``rejected``, or among
    those ``waiting`` for review, are left out and counted; a proposal about a document that another one of
    its rule would take away already is left out until that one is turned down."""
    rank = {name: place for place, name in enumerate(order)}
    steps = [step for part in parts for step in part]
    undecided = [step for step in steps if step.key not in rejected] if rejected else steps
    asked = _asked_once(undecided, waiting)
    left = [step for step in asked if step.key not in waiting] if waiting else asked
    ordered = sorted(
        left,
        key=lambda step: (
            _ORDER[step.extent],
            rank.get(step.rule, len(rank)),
            step.rule,
            step.action,
            step.targets,
        ),
    )
    return Plan(tuple(ordered), len(steps) - len(undecided), len(asked) - len(left))


def _asked_once(steps: Sequence[Step], waiting: Collection[str]) -> list[Step]:
    """Of proposals of one rule that would take away the same document only one: of a family of documents that
    are alike each is asked about once. One that waits goes first, then one whose other document stays."""
    taking: dict[tuple[str, str], list[Step]] = {}
    for step in steps:
        for name in _taken(step):
            taking.setdefault(name, []).append(step)

    def rank(step: Step) -> tuple[bool, bool]:
        changed = ((step.rule, edit.path) for edit in step.edits if edit.after_text is not None)
        return step.key not in waiting, any(name in taking for name in changed)

    chosen = {name: min(some, key=rank) if len(some) > 1 else some[0] for name, some in taking.items()}
    return [step for step in steps if any(chosen[name] is step for name in _taken(step)) or not _taken(step)]


def _taken(step: Step) -> list[tuple[str, str]]:
    """The files that a proposal would take away, each with the rule that wants it."""
    if step.extent != "propose":
        return []
    return [(step.rule, edit.path) for edit in step.edits if edit.after_text is None]


class GardenInput(NamedTuple):
    """The memory as a gardener sees it.

    ``documents`` are those in use, ``archived`` those set aside, both ordered by id and path; ``today`` is
    the day in UTC (``2026-01-21``). ``files`` are all Markdown files of the memory folders, unreadable ones
    too; ``ours`` are ids of documents whose text is the very one that the program itself wrote last;
    ``former`` gives for a path that is no file any more the id of the one document it was, as the log tells.
    ``history`` is what happened, read when a rule asks for it; ``signatures`` is what was computed of texts
    before, by content: rules may add to it, and it changes no answer.
    """

    documents: tuple[Document, ...]
    archived: tuple[Document, ...] = ()
    today: str = ""
    files: frozenset[str] = frozenset()
    ours: frozenset[str] = frozenset()
    former: Mapping[str, str] = MappingProxyType({})
    history: Callable[[], Activity] = Activity
    signatures: MutableMapping[str, bytes] | None = None


_MOST_REMEMBERED: Final = 1 << 15


@lru_cache(maxsize=_MOST_REMEMBERED)
def references_in(body: str) -> tuple[Reference, ...]:
    """The references of a body. Several rules ask for those of every document; `planner.planned` forgets
    them."""
    return references(body)


def _folded(name: str) -> str:
    return " ".join(name.casefold().split())


def path_of(document: Document, reference: Reference) -> str:
    """The root-relative path a relative link leads to, without anchor and query; "" for one within the text.

    In the archive a document's links are those of the place it had in use.
    """
    target = reference.target.partition("#")[0].partition("?")[0]
    folder = posixpath.dirname(live_path(document.path))
    return posixpath.normpath(posixpath.join(folder, target)) if target else ""


class DocumentNames:
    """Every name of a memory's documents; one in use goes before one in the archive, then the first id."""

    def __init__(self, material: GardenInput) -> None:
        self._material = material
        self.ids: dict[str, Document] = {}
        self._paths: dict[str, Document] = {}
        self._names: dict[str, str] = {}
        for document in (*material.documents, *material.archived):
            self.ids.setdefault(document.id, document)
            self._paths[document.path] = document
            for name in _known_as(document):
                self._names.setdefault(name, document.id)
        archived = {document.id for document in material.archived} - {one.id for one in material.documents}
        self._heirs = {
            alias: document.id
            for document in reversed(material.documents)
            for alias in document.aliases
            if alias in archived
        }
        claims = Counter(document.id for document in (*material.documents, *material.archived))
        self.claimed_twice = frozenset(doc_id for doc_id, count in claims.items() if count > 1)

    def resolve(self, name: str) -> str | None:
        """The id behind an id, a path, an alias or a file stem; behind that of an archived document that was
        joined into another, the other."""
        if name in self.ids:
            return self._heirs.get(name, name)
        if name in self._paths:
            return self._paths[name].id
        return self._names.get(_folded(name.removesuffix(".md")))

    def at(self, path: str) -> Document | None:
        """The document in a file, or in the archive when it was set aside from there."""
        return self._paths.get(path) or self._paths.get(archived_path(path))

    @cached_property
    def by_folded_id(self) -> dict[str, tuple[str, ...]]:
        """Ids that differ in nothing but case and Unicode form."""
        found: dict[str, tuple[str, ...]] = {}
        for doc_id in sorted(self.ids):
            found[fold_key(doc_id)] = (*found.get(fold_key(doc_id), ()), doc_id)
        return found

    @cached_property
    def by_folded_path(self) -> dict[str, tuple[str, ...]]:
        """Paths that differ in nothing but case and Unicode form."""
        found: dict[str, tuple[str, ...]] = {}
        for path in sorted(self._paths):
            found[fold_key(path)] = (*found.get(fold_key(path), ()), path)
        return found

    def targets(self, document: Document) -> Iterator[str]:
        """Ids of the other documents that one links to, by relation, in brackets or by path."""
        for link in document.links:
            yield from self._other(document, self.resolve(link.target))
        for reference in references_in(document.body):
            if reference.kind == "wiki":
                yield from self._other(document, self.resolve(reference.target.partition("#")[0].strip()))
            elif path := path_of(document, reference):
                found = self.at(path)
                yield from self._other(document, found.id if found is not None else None)

    @staticmethod
    def _other(document: Document, found: str | None) -> tuple[str, ...]:
        return (found,) if found and found != document.id else ()

    def linked_by(self) -> dict[str, tuple[Document, ...]]:
        """For each id, the documents in use that link to it."""
        found: dict[str, dict[str, Document]] = {}
        for document in self._material.documents:
            for target in self.targets(document):
                found.setdefault(target, {})[document.path] = document
        return {target: tuple(linking.values()) for target, linking in found.items()}


def _known_as(document: Document) -> set[str]:
    stem = posixpath.basename(document.path).removesuffix(".md").casefold()
    known = {name for alias in document.aliases if (name := _folded(alias))} | {stem}
    if document.imported_from:
        known.add(_folded(document.imported_from.removesuffix(".md")))
    return known
