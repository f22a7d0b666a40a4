"""Folders of documents as input of the gardener, and the result of a plan."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from thunderus_mem.document.document import Document, content_hash, read_document
from thunderus_mem.document.paths import is_archived
from thunderus_mem.garden.apply import RULE_NAMES, RULES, planned
from thunderus_mem.garden.plan import GardenInput, Plan, make_plan
from thunderus_mem.store.config import Config

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from thunderus_mem.garden.plan import Step

Files = dict[str, bytes]
MEMORY = ".thunderus/memory/"
ORDER = ("numbers", "links", "tags", "sizes", "archive")


def document_text(
    doc_id: str,
    body: str,
    *,
    title: str = "",
    tags: Iterable[str] = ("one",),
    day: str = "2026-01-21",
    more: str = "",
) -> str:
    """A whole document; ``more`` are further lines of its header."""
    listed = "".join(f"  - {tag}\n" for tag in tags)
    return (
        f"---\nid: {doc_id}\ntitle: {title or doc_id}\nkind: {doc_id.partition('.')[0]}\ntags:\n{listed}"
        f"created: {day}T09:00:00Z\nupdated: {day}T09:00:00Z\n{more}"
        "provenance:\n  events: []\n  patches: []\n  commits: []\n"
        f"verification:\n  last_verified_commit: null\n  status: unknown\n---\n\n{body}"
    )


def documents(files: Mapping[str, bytes]) -> list[Document]:
    """Those of the files that read, by id and path."""
    read = (read_document(path, data).document for path, data in files.items())
    return sorted((one for one in read if one is not None), key=lambda one: (one.id, one.path))


def material(
    files: Mapping[str, bytes],
    today: str = "2026-06-30",
    former: Mapping[str, str] | None = None,
    ours: Any = (),
) -> GardenInput:
    """What the gardener sees of the files."""
    found = documents(files)
    return GardenInput.of(
        (one for one in found if not is_archived(one.path)),
        (one for one in found if is_archived(one.path)),
        today=today,
        files=frozenset(files),
        ours=frozenset(ours),
        former={path: doc_id for path, doc_id in (former or {}).items() if path not in files},
    )


def plan_of(seen: GardenInput, config: Config | None = None, only: Iterable[str] = ORDER) -> Plan:
    """The plan of some rules, in their order."""
    rules = [rule for rule in RULES if rule.name in set(only)]
    return make_plan(*planned(rules, seen, config or Config()), order=RULE_NAMES)


def applied(files: Mapping[str, bytes], steps: Iterable[Step]) -> Files:
    """The files after the steps, each of which has to find what it was planned from; one that does not is
    left out as a whole."""
    after = dict(files)
    for step in steps:
        if all(_hash(after, edit.path) == edit.before for edit in step.edits):
            for edit in step.edits:
                after.pop(edit.path, None)
                if edit.after_text is not None:
                    after[edit.path] = edit.after_text.encode()
    return after


def _hash(files: Mapping[str, bytes], path: str) -> str:
    return content_hash(files[path]) if path in files else ""
