"""``for``: which memories govern a place in the code, the most specific first, each with its verdict."""

from __future__ import annotations

import os
import re
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple

from thunderus_mem.evidence.governs import MENTIONS, Relation, relate
from thunderus_mem.evidence.verdict import MOVED
from thunderus_mem.projection.anchored import anchored_at, anchored_below
from thunderus_mem.verbs.code_places import place_in_code
from thunderus_mem.verbs.judging import Judge

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from thunderus_mem.evidence.code.source import Source
    from thunderus_mem.evidence.trees import WorkingTree
    from thunderus_mem.memory import Memory
    from thunderus_mem.model.anchor import Anchor
    from thunderus_mem.projection.anchored import Anchored
    from thunderus_mem.projection.index import DocRow
    from thunderus_mem.verbs.judging import Judged

__all__ = ["Governed", "Governing", "governing"]

FEW: Final = 5
"""With fewer memories than this, documents that only name the file are worth showing."""
_MOST_READ: Final = 100
_WORD: Final = re.compile(r"\w+")


class Governing(NamedTuple):
    """A memory that governs the code, by one of its anchors, or one that only names the file.

    ``how`` says what the anchor is to the code: same, around, inside, overlaps, nearby, file, folder, or
    mentions. ``line`` is where the document (in ``path``) says so, ``place`` the anchor or the path as it is
    written there, ``now`` where that code is by now when it moved. ``verdict`` and ``reason`` are today's,
    "" where there is no anchor; ``status`` is what the document says of itself.
    """

    id: str
    title: str
    kind: str
    how: str
    place: str
    verdict: str
    reason: str
    now: str
    status: str
    superseded_by: str
    path: str
    line: int


class Governed(NamedTuple):
    """What governs a place. ``exists`` says whether the file (or folder) is there; ``more`` how many
    documents name the file and were left out."""

    place: str
    exists: bool
    memories: tuple[Governing, ...]
    more: int = 0


def governing(
    memory: Memory, place: str, *, mentions: bool | None = None, start: str = os.curdir
) -> Governed:
    """Which memories govern ``PATH``, ``PATH#SYMBOL`` or ``PATH:10-20``.

    The path may be absolute, from the folder ``start`` or from the root, and need not be there. ``mentions``
    asks for documents whose text names the file, or leaves them out; by default they come where few govern.

    Raises `InvalidQuery` for a path outside the repository, `InvalidDocument` for what is no place.
    """
    memory.refresh()
    asked, exists = place_in_code(memory, place, start)
    database = memory.index.database
    folder = not asked.path or asked.path.endswith("/")
    anchors = anchored_below(database, asked.path) if folder else anchored_at(database, [asked.path])
    near = [one for one in anchors if relate(asked._replace(symbol="", lines=None), one.anchor, _nothing)]
    with Judge(memory) as judge:
        judged = _related(judge, asked, near)
        found = [_governing(memory, one, relation) for one, relation in judged]
        known = {one.id for one in found}
        cited: list[Governing] = []
        if not folder and asked.path:
            cited = [one for one in _citing(memory, asked.path, lambda: judge.tree) if one.id not in known]
    shown = mentions if mentions is not None else len(known) < FEW
    more = 0 if shown else len(cited)
    return Governed(asked.place or ".", exists, (*found, *(cited if shown else ())), more)


def _nothing() -> None:
    return None


def _related(judge: Judge, asked: Anchor, near: list[Anchored]) -> list[tuple[Judged, Relation]]:
    """The verdicts on those anchors that speak of what is asked about, the most specific first."""
    read: Callable[[], Source | None] = partial(_source, judge, asked.path)
    found = []
    for one in judge.all(near):
        anchor, there = one.anchored.anchor, one.verdict.found
        relations = [relate(asked, anchor, read)]
        if one.verdict.status == MOVED and there is not None:
            relations.append(relate(asked, there, read))
        closest = min((told for told in relations if told is not None), key=_rank, default=None)
        if closest is not None:
            found.append((one, closest))
    return sorted(found, key=lambda pair: (pair[1].rank, pair[0].doc_id, pair[0].anchored.place))


def _source(judge: Judge, path: str) -> Source | None:
    return judge.tree.source(path)


def _rank(relation: Relation) -> tuple[int, int]:
    return relation.rank


def _governing(memory: Memory, one: Judged, relation: Relation) -> Governing:
    row = memory.index.get(one.doc_id)
    found, anchor = one.verdict.found, one.anchored.anchor
    moved = one.verdict.status == MOVED and found is not None
    return Governing(
        id=one.doc_id,
        title=row.title if row is not None else "",
        kind=row.kind if row is not None else "",
        how=relation.how,
        place=anchor.place,
        verdict=one.verdict.status,
        reason=one.verdict.reason,
        now=found.place if moved and found is not None else "",
        status=row.status if row is not None else "",
        superseded_by=memory.index.superseded_by([one.doc_id]).get(one.doc_id, ""),
        path=row.path if row is not None else "",
        line=one.anchored.line,
    )


def _citing(memory: Memory, path: str, tree: Callable[[], WorkingTree]) -> Iterator[Governing]:
    """Documents whose text names the file in a code span or links to it, by id."""
    words = _WORD.findall(path.rpartition("/")[2])
    ids = memory.index.nearest([" ".join(words)], _MOST_READ) if words else []
    for id in sorted(ids):
        row = memory.index.get(id)
        cited = _citation(memory, row, path, tree) if row is not None else None
        if row is not None and cited is not None:
            by = memory.index.superseded_by([id]).get(id, "")
            yield Governing(
                id, row.title, row.kind, MENTIONS, cited[0], "", "", "", row.status, by, row.path, cited[1]
            )


def _citation(
    memory: Memory, row: DocRow, path: str, tree: Callable[[], WorkingTree]
) -> tuple[str, int] | None:
    """The path as a document names it, and the line of its file."""
    from thunderus_mem.model.errors import ThunderusError
    from thunderus_mem.model.references import cited_paths
    from thunderus_mem.verbs.locating import read_row

    try:
        document = read_row(memory, row)
    except ThunderusError:  # gone or unreadable since the index was read
        return None
    if document is None:
        return None
    for cited in cited_paths(document.body):
        folder = document.path.rpartition("/")[0] if cited.relative else ""
        named = os.path.normpath(f"{folder}/{cited.path}" if folder else cited.path)
        line = document.body_line + cited.line - 1
        if named == path:
            return cited.path, line
        if not cited.relative and path.endswith(f"/{named}") and _is_only(named, tree()):
            return cited.path, line
    return None


def _is_only(named: str, tree: WorkingTree) -> bool:
    """Whether the end of a path says which file is meant."""
    return sum(path == named or path.endswith(f"/{named}") for path in tree.paths()) <= 1
