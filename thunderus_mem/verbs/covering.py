"""``coverage``: which parts of the code have memories, and which memories no code, or too much of it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final, NamedTuple

from thunderus_mem.evidence.coverage import FolderCoverage, folders_covered
from thunderus_mem.model.errors import InvalidQuery
from thunderus_mem.model.path_glob import matching
from thunderus_mem.projection.anchored import anchored, anchored_ids
from thunderus_mem.verbs.code_places import place_in_code
from thunderus_mem.verbs.judging import Judge

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from thunderus_mem.memory import Memory
    from thunderus_mem.projection.anchored import Anchored

__all__ = ["Coverage", "Unanchored", "Weak", "coverage"]

_ABOUT_CODE: Final = ("fact", "adr", "playbook")
"""Kinds that make claims which code can contradict: a recap tells of a day that is over."""


class Unanchored(NamedTuple):
    """A memory that no change of the code can ever prove wrong, and what to do about it."""

    id: str
    kind: str
    title: str
    next_step: str


class Weak(NamedTuple):
    """An anchor on ``files`` whole files: any edit in them speaks against the document."""

    id: str
    place: str
    files: int
    next_step: str


class Coverage(NamedTuple):
    """Folders below ``path`` ("." for the root), their totals, and what is left to do.

    ``unanchored`` are facts, decisions and playbooks in force without an anchor; they are in no folder, so
    only the coverage of the root has them. ``documents`` have an anchor here.
    """

    path: str
    depth: int
    folders: tuple[FolderCoverage, ...]
    total: FolderCoverage
    documents: int
    unanchored: tuple[Unanchored, ...]
    weak: tuple[Weak, ...]


def coverage(memory: Memory, path: str = "", *, depth: int = 2, start: str = os.curdir) -> Coverage:
    """Count the code files, anchors and stale anchors of each folder, ``depth`` folders down.

    Raises `InvalidQuery` when the path is no folder below the root.
    """
    memory.refresh()
    below = _folder(memory, path, start)
    with Judge(memory) as judge:
        judged = judge.all(anchored(memory.index.database))
        paths = judge.tree.paths()
    inside = [one for one in judged if _is_inside(one.anchored, below, paths)]
    folders = folders_covered(paths, [one.verdict for one in inside], below, depth)
    return Coverage(
        below or ".",
        depth,
        tuple(folders),
        _total(below or ".", folders),
        len({one.doc_id for one in inside}),
        () if below else tuple(_unanchored(memory)),
        tuple(_weak((one.anchored for one in inside), paths)),
    )


def _folder(memory: Memory, path: str, start: str) -> str:
    if not path:
        return ""
    asked, exists = place_in_code(memory, path, start)
    if not asked.path or asked.path.endswith("/"):
        return asked.path
    if exists:
        raise InvalidQuery(f"{path!r} is no folder", hint=f"try `thunderus-mem for {path}`")
    raise InvalidQuery(f"there is no folder {path!r}")


def _is_inside(one: Anchored, below: str, paths: Sequence[str]) -> bool:
    anchor = one.anchor
    if anchor.path.startswith(below) or not anchor.is_glob:
        return anchor.path.startswith(below)
    return any(path.startswith(below) for path in matching(anchor.path, paths))


def _total(path: str, folders: Iterable[FolderCoverage]) -> FolderCoverage:
    sums = [sum(column) for column in zip(*(folder[1:] for folder in folders), strict=True)]
    return FolderCoverage(path, *sums)


def _unanchored(memory: Memory) -> Iterator[Unanchored]:
    have = {*anchored_ids(memory.index.database), *memory.index.superseded_by()}
    for row in memory.index.documents(kinds=_ABOUT_CODE):
        if row.id not in have:
            yield Unanchored(row.id, row.kind, row.title, _suggest(row.id))


def _weak(anchors: Iterable[Anchored], paths: Sequence[str]) -> Iterator[Weak]:
    for one in anchors:
        if one.anchor.is_weak:
            files = len(matching(one.anchor.path, paths)) if one.anchor.is_glob else 1
            yield Weak(one.doc_id, one.anchor.place, files, _suggest(one.doc_id))


def _suggest(id: str) -> str:
    return f"thunderus-mem anchor --suggest {id}"
