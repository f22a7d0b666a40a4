"""Rules one after another: each plans on what is there once the steps before it are carried out. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from thunderus_mem.garden.order.naming import references_in
from thunderus_mem.model.archive import is_archived
from thunderus_mem.model.document import read_document

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from thunderus_mem.garden.material import Material
    from thunderus_mem.garden.plan import Step
    from thunderus_mem.garden.rules import GardenRule
    from thunderus_mem.model.document import Document
    from thunderus_mem.store.config import Config

__all__ = ["carried_out", "planned"]


def planned(rules: Iterable[GardenRule], material: Material, config: Config) -> tuple[tuple[Step, ...], ...]:
    """The steps of each rule. Two rules may change one document: what the second would carry out begins with
    what the first leaves. Proposals and reports are about the memory as it is, since they wait."""
    try:
        return tuple(_planned(rules, material, config))
    finally:
        references_in.cache_clear()


def _planned(rules: Iterable[GardenRule], material: Material, config: Config) -> Iterator[tuple[Step, ...]]:
    seen = material
    for rule in rules:
        if not rule.applies:
            yield rule.plan(material, config)
            continue
        steps = rule.plan(seen, config)
        now = tuple(step for step in steps if step.extent == "apply")
        rest = steps if seen is material else rule.plan(material, config)
        yield (*now, *(step for step in rest if step.extent != "apply"))
        if now:
            seen = carried_out(seen, now)


def carried_out(material: Material, steps: Sequence[Step]) -> Material:
    """The memory after the edits of ``steps``, in their order."""
    by_path = {document.path: document for document in (*material.documents, *material.archived)}
    files, former = set(material.files), dict(material.former)
    for edit in (edit for step in steps for edit in step.edits):
        by_path.pop(edit.path, None)
        files.discard(edit.path)
        former.pop(edit.path, None)
        if edit.after_text is None and edit.renames:
            former[edit.path] = edit.doc_id
        if edit.after_text is not None:
            files.add(edit.path)
            document = read_document(edit.path, edit.after_text.encode("utf-8", "surrogatepass")).document
            if document is not None:
                by_path[edit.path] = document
    ordered: list[Document] = sorted(by_path.values(), key=lambda one: (one.id, one.path))
    return material._replace(
        documents=tuple(one for one in ordered if not is_archived(one.path)),
        archived=tuple(one for one in ordered if is_archived(one.path)),
        files=frozenset(files),
        former=former,
    )
