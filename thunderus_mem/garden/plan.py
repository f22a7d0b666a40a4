"""The gardener's plan as a value: it is printed, tested, proposed or applied. Pure.

Also the input of every rule besides the configuration (`GardenInput`), and the lookup of documents by name
(`DocumentNames`, with the same answers as the index).
"""

from __future__ import annotations

import hashlib
import posixpath
from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from thunderus_mem.document.ids import fold_key
from thunderus_mem.document.paths import archived_path
from thunderus_mem.document.profile import Profile, profile_of
from thunderus_mem.document.references import linked_path, rebased_text
from thunderus_mem.recap.scope import Activity

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from thunderus_mem.document.document import Document

REPORT = "report"
MERGE_DUPLICATES = "merge-duplicates"

Reach: TypeAlias = Literal["apply", "propose", "report"]
"""How far a step may go without review: applied, proposed, or only reported."""

_ORDER: Final = {"apply": 0, "propose": 1, "report": 2}


@dataclass(frozen=True, slots=True)
class DocumentEdit:
    """The change of one file in a step.

    ``path`` is relative to the root, ``before`` the content hash the step was planned from ("": the file does
    not exist), ``after_text`` the complete new text, or ``None`` to remove the file. A move is two edits with
    ``renames``: the first removes the old path, the second creates the new one.
    """

    path: str
    doc_id: str
    before: str
    after_text: str | None
    renames: bool = False


def moved(document: Document, path: str) -> tuple[DocumentEdit, ...]:
    """The two edits that move a document; only the links of an imported text change."""
    return (
        DocumentEdit(document.path, document.id, document.hash, None, renames=True),
        DocumentEdit(path, document.id, "", rebased_text(document, path), renames=True),
    )


@dataclass(frozen=True, slots=True)
class Step:
    """One part of a plan: a change to apply or propose, or a report.

    ``rule`` is the gardening rule it comes from, ``action`` what it does. ``targets`` are document ids, the
    surviving one first; ``why`` is the reason in one sentence; ``evidence`` are lines that let a reader check
    it; ``label`` is the result of a comparison (``same``, ``possible contradiction`` …). ``texts`` are
    digests of the content of the targets, by id: a decision about the step is valid until one of them
    changes. A step without ``edits`` is only reported. ``op`` is the patch operation in the log, ``private``
    the private events cited by a new text.
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

    def __post_init__(self) -> None:
        if not self.edits:
            object.__setattr__(self, "reach", "report")

    @property
    def key(self) -> str:
        """The key under which a decision about this step is stored: a hash of the rule and its input."""
        made_from = sorted((edit.path, edit.before) for edit in self.edits if edit.before)
        seen = sorted(self.texts) or made_from or sorted((target, "") for target in self.targets)
        return hashlib.sha256(repr((self.rule, seen)).encode()).hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class Plan:
    """All steps, in an order that depends only on their content. ``decided`` counts omitted steps that were
    rejected before, ``waiting`` those already pending review."""

    steps: tuple[Step, ...] = ()
    decided: int = 0
    waiting: int = 0

    @property
    def applicable(self) -> tuple[Step, ...]:
        """The steps that are safe to apply."""
        return self._of("apply")

    @property
    def proposals(self) -> tuple[Step, ...]:
        """The steps that need approval."""
        return self._of("propose")

    @property
    def reports(self) -> tuple[Step, ...]:
        """The steps that are only reported and need a decision."""
        return self._of("report")

    def _of(self, reach: Reach) -> tuple[Step, ...]:
        return tuple(step for step in self.steps if step.reach == reach)


def make_plan(
    *parts: tuple[Step, ...],
    rejected: Collection[str] = frozenset(),
    waiting: Collection[str] = frozenset(),
    order: Sequence[str] = (),
) -> Plan:
    """Combine the steps of all gardening rules into one plan: steps to apply first, then proposals, then
    reports, each by rule in the ``order`` of their names.

    Steps whose key is ``rejected``, or ``waiting`` for review, are omitted and counted. Of several proposals
    of one rule that would remove the same document, only one is kept until it is rejected.
    """
    rank = {name: place for place, name in enumerate(order)}
    steps = [step for part in parts for step in part]
    undecided = [step for step in steps if step.key not in rejected] if rejected else steps
    asked = _one_per_document(undecided, waiting)
    left = [step for step in asked if step.key not in waiting] if waiting else asked
    ordered = sorted(
        left,
        key=lambda step: (
            _ORDER[step.reach],
            rank.get(step.rule, len(rank)),
            step.rule,
            step.action,
            step.targets,
        ),
    )
    return Plan(tuple(ordered), len(steps) - len(undecided), len(asked) - len(left))


def _one_per_document(steps: Sequence[Step], waiting: Collection[str]) -> list[Step]:
    """Keep only one of the proposals of a rule that would remove the same document, so that each of several
    similar documents is asked about once. A pending proposal is preferred, then one whose other document
    survives."""
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
    """The files that a proposal would remove, each with its rule."""
    if step.reach != "propose":
        return []
    return [(step.rule, edit.path) for edit in step.edits if edit.after_text is None]


@dataclass(frozen=True)
class GardenInput:
    """The input of the gardening rules.

    ``documents`` are those in use, ``archived`` those in the archive, both ordered by id and path; ``read``
    returns the document of a profile, and raises `Conflict` if its text has changed since. ``today`` is
    the day in UTC (``2026-01-21``). ``files`` are all Markdown files of the memory folders, including
    unreadable ones; ``ours`` are ids of documents whose text was last written by the program itself;
    ``former`` maps paths that no longer exist to the id of the one document that was there, according to the
    log; ``logged`` maps an id to the place of its creating event in the log. ``history`` returns the events,
    read on demand; ``named`` are the rules the user asked for by name, ``verbose``
    asks for reports about documents for which no change is proposed. ``going`` selects the steps that will be
    applied: others build on these only, not on rejected or pending ones.
    """

    documents: tuple[Profile, ...]
    archived: tuple[Profile, ...]
    read: Callable[[Profile], Document]
    today: str = ""
    files: frozenset[str] = frozenset()
    ours: frozenset[str] = frozenset()
    former: Mapping[str, str] = field(default_factory=dict)
    logged: Mapping[str, int] = field(default_factory=dict)
    history: Callable[[], Activity] = Activity
    named: frozenset[str] = frozenset()
    verbose: bool = False
    going: Callable[[Sequence[Step]], Sequence[Step]] = lambda steps: steps

    @classmethod
    def of(cls, documents: Iterable[Document], archived: Iterable[Document] = (), **more: Any) -> GardenInput:
        """The input of rules about documents that are read already."""
        known: dict[Profile, Document] = {}

        def ordered(some: Iterable[Document]) -> tuple[Profile, ...]:
            profiles = {profile_of(one): one for one in some}
            known.update(profiles)
            return tuple(sorted(profiles, key=lambda one: (one.id, one.path)))

        return cls(ordered(documents), ordered(archived), known.__getitem__, **more)

    @cached_property
    def names(self) -> DocumentNames:
        """The documents by name."""
        return DocumentNames(self)


def _folded(name: str) -> str:
    return " ".join(name.casefold().split())


class DocumentNames:
    """Look up documents by name; a document in use wins over an archived one, then the first id."""

    def __init__(self, material: GardenInput) -> None:
        self._material = material
        self.ids: dict[str, Profile] = {}
        self._paths: dict[str, Profile] = {}
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
        """The id for an id, path, alias or file stem; for an archived document that was merged into another,
        the id of the other."""
        if name in self.ids:
            return self._heirs.get(name, name)
        if name in self._paths:
            return self._paths[name].id
        return self._names.get(_folded(name.removesuffix(".md")))

    def at(self, path: str) -> Profile | None:
        """The document at a path, or the one archived from there."""
        return self._paths.get(path) or self._paths.get(archived_path(path))

    @cached_property
    def by_folded_id(self) -> dict[str, tuple[str, ...]]:
        """Ids that differ only in case and Unicode normalization."""
        found: dict[str, tuple[str, ...]] = {}
        for doc_id in sorted(self.ids):
            found[fold_key(doc_id)] = (*found.get(fold_key(doc_id), ()), doc_id)
        return found

    @cached_property
    def by_folded_path(self) -> dict[str, tuple[str, ...]]:
        """Paths that differ only in case and Unicode normalization."""
        found: dict[str, tuple[str, ...]] = {}
        for path in sorted(self._paths):
            found[fold_key(path)] = (*found.get(fold_key(path), ()), path)
        return found

    def targets(self, document: Profile) -> Iterator[str]:
        """Ids of the other documents that a document links to, by relation, wiki link or path."""
        for link in document.links:
            yield from self._other(document, self.resolve(link.target))
        for target in document.traits.wiki_links:
            yield from self._other(document, self.resolve(target.partition("#")[0].strip()))
        for target in document.traits.file_links:
            if path := linked_path(document.path, target):
                found = self.at(path)
                yield from self._other(document, found.id if found is not None else None)

    @staticmethod
    def _other(document: Profile, found: str | None) -> tuple[str, ...]:
        return (found,) if found and found != document.id else ()

    @cached_property
    def linked_files(self) -> dict[str, str]:
        """For each path, the first id of a document in use that links to it by path."""
        found: dict[str, str] = {}
        for document in self._material.documents:
            for target in document.traits.file_links:
                if ".md" in target:
                    found.setdefault(linked_path(document.path, target), document.id)
        return found

    def linked_by(self) -> dict[str, tuple[Profile, ...]]:
        """For each id, the documents in use that link to it."""
        found: dict[str, dict[str, Profile]] = {}
        for document in self._material.documents:
            for target in self.targets(document):
                found.setdefault(target, {})[document.path] = document
        return {target: tuple(linking.values()) for target, linking in found.items()}


def _known_as(document: Profile) -> set[str]:
    stem = posixpath.basename(document.path).removesuffix(".md").casefold()
    known = {name for alias in document.aliases if (name := _folded(alias))} | {stem}
    if document.imported_from:
        known.add(_folded(document.imported_from.removesuffix(".md")))
    return known
