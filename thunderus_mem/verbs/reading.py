"""The verbs that look at documents: show and list. (`search` is in ``finding``, `status` in ``status``.)"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from thunderus_mem.model.archive import is_archived
from thunderus_mem.model.query import filter_value
from thunderus_mem.projection.index import Index
from thunderus_mem.projection.rows import has_anchors
from thunderus_mem.verbs.code_statuses import code_statuses

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from thunderus_mem.memory import Memory
    from thunderus_mem.model.document import Document
    from thunderus_mem.projection.index import DocRow


@dataclass(frozen=True, slots=True)
class Listed:
    """One document of a listing; ``anchored`` when it names places in the code."""

    id: str
    kind: str
    title: str
    path: str
    tags: tuple[str, ...]
    created: str
    updated: str
    status: str
    superseded_by: str
    tokens: int
    archived: bool = False
    anchored: bool = False


@dataclass(frozen=True, slots=True)
class Listing:
    """Documents by kind and id."""

    documents: tuple[Listed, ...]


def list_documents(
    memory: Memory,
    *,
    kinds: Iterable[str] = (),
    tags: Iterable[str] = (),
    statuses: Iterable[str] = (),
    path: str = "",
    since: str = "",
    before: str = "",
    archived: bool = False,
) -> Listing:
    """Documents that pass every filter; times are compared with ``updated``, tags must all be there.

    Documents in the archive are among them only with ``archived``. Raises `InvalidQuery` for a kind, a status
    or a day that there is not.
    """
    memory.refresh()
    matching = partial(
        Index.documents,
        kinds=[filter_value("kind", kind) for kind in kinds],
        tags=tuple(tags),
        statuses=[filter_value("status", status) for status in statuses],
        path=path,
        since=filter_value("since", since) if since else "",
        before=filter_value("before", before) if before else "",
        archived=archived,
    )

    said = code_statuses(memory)

    def answer(index: Index) -> Listing:
        replaced = index.superseded_by()
        rows = sorted(matching(index, judged=said), key=lambda row: (row.kind, row.id))
        return Listing(tuple(_listed(row, said.get(row.id), replaced.get(row.id, "")) for row in rows))

    return memory.ask(answer)


def _listed(row: DocRow, status: str | None, superseded_by: str) -> Listed:
    return Listed(
        row.id,
        row.kind,
        row.title,
        row.path,
        tuple(row.tags),
        row.created,
        row.updated,
        status or row.status,
        superseded_by,
        row.tokens,
        is_archived(row.path),
        anchored=status is not None,
    )


@dataclass(frozen=True, slots=True)
class Relation:
    """A link of a document, ``incoming`` when another document made it."""

    rel: str
    target: str
    title: str
    incoming: bool


@dataclass(frozen=True, slots=True)
class AnchorState:
    """A place in the code that a document talks about, and what the code says now: ``verdict`` verified,
    moved, changed, missing or unknown, why, and where the code is ``now`` ("" when it is nowhere)."""

    place: str
    line: int
    verdict: str
    reason: str
    now: str
    note: str


@dataclass(frozen=True, slots=True)
class Shown:
    """A document whole, with its relations both ways and what the code says of it.

    ``status`` follows from ``anchors`` where there are some, else it is what the file says; ``confirmed_by``
    is user, agent or "". What is ``archived`` is not judged by the code.
    """

    id: str
    kind: str
    title: str
    path: str
    tags: tuple[str, ...]
    aliases: tuple[str, ...]
    created: str
    updated: str
    status: str
    superseded_by: str
    links: tuple[Relation, ...]
    hash: str
    text: str
    body: str
    confirmed_by: str = ""
    anchors: tuple[AnchorState, ...] = ()
    archived: bool = False


def show(memory: Memory, id: str) -> Shown:
    """One document, read from its file now."""
    from thunderus_mem.verbs.locating import find_document

    memory.refresh()
    document = find_document(memory, id)
    anchors = _anchor_states(memory, document.id)
    return Shown(
        id=document.id,
        kind=document.kind,
        title=document.title,
        path=document.path,
        tags=document.tags,
        aliases=document.aliases,
        created=document.created,
        updated=document.updated,
        status=_status(document, anchors),
        superseded_by=memory.index.superseded_by([document.id]).get(document.id, ""),
        links=tuple(_relations(memory, document.id)),
        hash=document.hash,
        text=document.text,
        body=document.body,
        confirmed_by=document.confirmed_by,
        anchors=anchors,
        archived=is_archived(document.path),
    )


def _anchor_states(memory: Memory, doc_id: str) -> tuple[AnchorState, ...]:
    if not has_anchors(memory.index.database):
        return ()
    from thunderus_mem.projection.anchored import anchored
    from thunderus_mem.verbs.judging import Judge

    with Judge(memory) as judge:
        judged = judge.all(anchored(memory.index.database, [doc_id]))
    return tuple(
        AnchorState(
            one.verdict.anchor.place,
            one.anchored.line,
            one.verdict.status,
            one.verdict.reason,
            one.now,
            one.verdict.note,
        )
        for one in judged
    )


def _status(document: Document, anchors: Sequence[AnchorState]) -> str:
    if not anchors:
        return document.status
    from thunderus_mem.evidence.verdict import ORDER, status_of

    return status_of(max((one.verdict for one in anchors), key=ORDER.index))


def _relations(memory: Memory, doc_id: str) -> Iterable[Relation]:
    for source, relation, target in memory.index.edges_of(doc_id):
        other = source if target == doc_id else target
        row = memory.index.get(other)
        yield Relation(relation, other, row.title if row is not None else "", incoming=target == doc_id)
