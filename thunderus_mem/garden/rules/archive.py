"""The gardening rule `archive`: old recaps that nothing depends on, expired and superseded documents, and
those of low quality. Pure.

Only generated recaps that were never edited are archived without review; everything else is proposed. Core
documents are never archived, and recaps of high quality not for their age.
"""

from __future__ import annotations

from datetime import date, timedelta
from typing import TYPE_CHECKING, Final

from thunderus_mem.document.ids import fold_key
from thunderus_mem.document.paths import MEMORY, archived_path, fits
from thunderus_mem.document.state import document_state
from thunderus_mem.document.statements import digest, statements
from thunderus_mem.document.timestamp import utc_key
from thunderus_mem.garden.plan import DocumentNames, Step, moved
from thunderus_mem.startup import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from thunderus_mem.document.document import Document
    from thunderus_mem.document.profile import Profile
    from thunderus_mem.garden.plan import GardenInput, Reach
    from thunderus_mem.store.config import Config

RULE: Final = "archive"
_HIGH, _LOW = 0.8, 0.4
"""From the one on, quality is high; up to the other, it is low."""


class _Reason(NamedTuple):
    """``basis`` is hashed into the step's key: it is part of stored decisions, so its wording is fixed."""

    why: str
    evidence: tuple[str, ...]
    reach: Reach
    basis: str


def plan_archive(material: GardenInput, config: Config) -> tuple[Step, ...]:
    """A step for each document that can be archived; ids claimed by two files are left to lint."""
    if not material.today:
        return ()
    seen = _Seen(material, config)
    taken = {fold_key(path) for path in material.files} | {fold_key(one.path) for one in material.archived}
    archived_ids = {one.id for one in material.archived}
    free = [
        one
        for one in material.documents
        if one.id not in archived_ids and fold_key(archived_path(one.path)) not in taken
    ]
    leaving: frozenset[str] = frozenset()
    while True:
        reasons = [(document, seen.reason(document, leaving)) for document in free]
        steps = tuple(
            [_step(material.read(document), reason) for document, reason in reasons if reason is not None]
        )
        gone = frozenset(step.targets[0] for step in steps if step.reach == "apply")
        if gone <= leaving:
            return steps
        leaving |= gone  # documents linked only from these can be archived with them


def _step(document: Document, reason: _Reason) -> Step:
    target = archived_path(document.path)
    return Step(
        "archive",
        reason.why,
        (*reason.evidence, f"{document.path} moves to {target}; text, id and history are unchanged"),
        (document.id,),
        moved(document, target),
        rule=RULE,
        reach=reason.reach,
        texts=((document.id, f"{reason.basis} {digest(statements(document.body))}"),),
    )


def old_recaps(documents: Iterable[Profile], config: Config, today: str) -> tuple[Profile, ...]:
    """The recaps unchanged for more than ``archive.recaps_after_days``, except those of high quality."""
    before = _days_before(today, config.archive_recaps_after_days)
    recaps = (one for one in documents if one.kind == "recap" and float(one.traits.quality or 0) < _HIGH)
    return tuple(one for one in recaps if before and _last(one) < before)


def _days_before(today: str, days: int) -> str:
    """The day ``days`` before ``today``; "" if ``days`` is 0 or the day is out of range."""
    try:
        return (date.fromisoformat(today) - timedelta(days=days)).isoformat() if days and today else ""
    except (ValueError, OverflowError):
        return ""


def _last(document: Profile) -> str:
    """When it was last changed; a document with invalid timestamps counts as changed just now."""
    return max(utc_key(document.updated), utc_key(document.created)) or "9"


class _Seen:
    """The links and successors that the reasons depend on."""

    def __init__(self, material: GardenInput, config: Config) -> None:
        self._material = material
        self._config = config
        names = material.names
        self._twice = names.claimed_twice
        self._old = {one.path for one in old_recaps(material.documents, config, material.today)}
        self._poor_before = _days_before(material.today, config.archive_low_quality_after_days)
        self._replaced_before = _days_before(material.today, config.archive_superseded_after_days)
        self._successors = _successors(material.documents, names)
        self._linked_by: Mapping[str, tuple[Profile, ...]] = names.linked_by() if self._old else {}

    def reason(self, document: Profile, leaving: Collection[str]) -> _Reason | None:
        """Why to archive a document, or ``None`` to keep it; documents ``leaving`` are archived as well."""
        if document.kind == "core" or document.id in self._twice or self._is_kept(document):
            return None
        ours = document.kind == "recap" and document.id in self._material.ours
        reach: Reach = "apply" if ours else "propose"
        day = document.traits.expires
        if day and day <= self._material.today:
            why = f"`{document.id}` expired on {day}"
            return _Reason(why, (f"frontmatter: `expires: {day}`",), reach, why)
        if document.path in self._old:
            return self._old_recap(document, reach, leaving)
        return self._replaced(document) or self._poor(document)

    def _poor(self, document: Profile) -> _Reason | None:
        quality = document.traits.quality
        if not quality or float(quality) > _LOW or not _last(document) < self._poor_before:
            return None
        why = f"`{document.id}` has low quality ({quality})"
        evidence = "frontmatter: `quality_score` or `rating`"
        return _Reason(why, (evidence, f"last changed on {_last(document)[:10]}"), "propose", why)

    def _is_kept(self, document: Profile) -> bool:
        tags = {tag.casefold() for tag in document.tags}
        inside = document.path.removeprefix(MEMORY)
        return any(
            keep.casefold() in tags or any(fits(keep, name) for name in (document.id, document.path, inside))
            for keep in self._config.archive_keep
        )

    def _old_recap(self, document: Profile, reach: Reach, leaving: Collection[str]) -> _Reason | None:
        linking = [one for one in self._linked_by.get(document.id, ()) if one.id not in leaving]
        sums = [one.id for one in linking if one.kind == "recap" and self._derives(one, document)]
        if len(sums) < len(linking):
            return None
        days = self._config.archive_recaps_after_days
        since = f"the recap `{document.id}` has not changed for more than {days} days"
        rests = f"`{sums[0]}` sums it up" if sums else "no active document links to it"
        linked = f"it is included in `{sums[0]}`" if sums else "no active document links to it"
        return _Reason(
            f"{since}; {linked}",
            (
                f"last changed on {_last(document)[:10]}",
                "generated, never edited" if reach == "apply" else "written or edited by hand",
            ),
            reach,
            f"{since}, and {rests}",
        )

    @staticmethod
    def _derives(one: Profile, other: Profile) -> bool:
        return any(link.rel == "derives_from" and link.target == other.id for link in one.links)

    def _replaced(self, document: Profile) -> _Reason | None:
        successor = self._successors.get(document.id)
        if successor is None or not self._replaced_before or document.kind == "recap":
            return None
        since = max(utc_key(successor.created), _last(document))
        if not utc_key(successor.created) or since >= self._replaced_before or self._is_plan(successor):
            return None
        return _Reason(
            f"`{document.id}` has been superseded by `{successor.id}` since {since[:10]}",
            (f"`{successor.id}` ({successor.path}) lists it under `links.supersedes`",),
            "propose",
            f"`{document.id}` is superseded by `{successor.id}` since {since[:10]}",
        )

    def _is_plan(self, document: Profile) -> bool:
        """Whether a document is a decision that is not in force: proposed, or rejected."""
        return document_state(self._material.read(document)) in ("proposed", "rejected")


def _successors(documents: Iterable[Profile], names: DocumentNames) -> dict[str, Profile]:
    """The successor in use of each superseded document, by id; documents in a cycle are omitted."""
    found: dict[str, Profile] = {}
    for document in documents:
        for link in document.links:
            if link.rel != "supersedes":
                continue
            # Superseding a merged document does not supersede the one it was merged into.
            target = link.target if link.target in names.ids else names.resolve(link.target)
            if target and target != document.id:
                found.setdefault(target, document)
    return {doc_id: successor for doc_id, successor in found.items() if not _is_in_cycle(doc_id, found)}


def _is_in_cycle(doc_id: str, successors: Mapping[str, Profile]) -> bool:
    seen = {doc_id}
    while doc_id in successors:
        doc_id = successors[doc_id].id
        if doc_id in seen:
            return True
        seen.add(doc_id)
    return False
