"""``coverage``: which parts of the code have memories, and which memories no code, or too much of it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final, NamedTuple

from thunderus_mem.document.paths import is_code, matching
from thunderus_mem.errors import InvalidQuery
from thunderus_mem.index.questions import Filter
from thunderus_mem.verdicts.judge import Judge
from thunderus_mem.verdicts.lookup import place_in_code

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from thunderus_mem.index.questions import Anchored
    from thunderus_mem.memory.memory import Memory
    from thunderus_mem.verdicts.verdict import Verdict

_ABOUT_CODE: Final = ("fact", "adr", "playbook")
"""Kinds that make claims which code can contradict: a recap tells of a day that is over."""


class FolderCoverage(NamedTuple):
    """A folder ("." for the root). Below the depth that is asked for it counts everything in it, above only
    what is in it directly, so that the folders add up.

    ``files`` are code files; ``anchored`` those (of any sort) that an anchor names, ``by_pattern`` code files
    that only an anchor on a folder or a pattern reaches; ``stale`` of the ``anchors`` are changed or missing.
    Anchors on folders and patterns are counted where these begin.
    """

    path: str
    files: int = 0
    anchored: int = 0
    anchors: int = 0
    stale: int = 0
    by_pattern: int = 0


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
    below = _covering_folder(memory, path, start)
    with Judge(memory) as judge:
        judged = judge.all(memory.index.anchors())
        paths = judge.tree.paths()
    inside = [one for one in judged if _is_inside(one.anchored, below, paths)]
    folders = folders_covered(paths, [one.verdict for one in inside], below, depth)
    return Coverage(
        below or ".",
        depth,
        tuple(folders),
        _total(below or ".", folders),
        len({one.doc_id for one in inside}),
        () if below else tuple(_unanchored(memory, {one.doc_id for one in judged})),
        tuple(_weak((one.anchored for one in inside), paths)),
    )


def _covering_folder(memory: Memory, path: str, start: str) -> str:
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


def _unanchored(memory: Memory, anchored: set[str]) -> Iterator[Unanchored]:
    have = {*anchored, *memory.index.superseded_by()}
    for row in memory.index.documents(Filter(kinds=_ABOUT_CODE)):
        if row.id not in have:
            yield Unanchored(row.id, row.kind, row.title, _suggest(row.id))


def _weak(anchors: Iterable[Anchored], paths: Sequence[str]) -> Iterator[Weak]:
    for one in anchors:
        if one.anchor.is_weak:
            files = len(matching(one.anchor.path, paths)) if one.anchor.is_glob else 1
            yield Weak(one.doc_id, one.anchor.place, files, _suggest(one.doc_id))


def _suggest(id: str) -> str:
    return f"thunderus-mem anchor --suggest {id}"


def folders_covered(
    paths: Sequence[str], verdicts: Iterable[Verdict], below: str = "", depth: int = 2
) -> list[FolderCoverage]:
    """The folders below a folder (that ends in ``/``, or "") which have code or anchors, by path."""
    found: dict[str, FolderCoverage] = {}

    def count(path: str, **counts: int) -> None:
        folder = _folder(path, below, depth)
        known = found.get(folder, FolderCoverage(folder))
        found[folder] = known._replace(**{name: getattr(known, name) + one for name, one in counts.items()})

    inside = [path for path in paths if path.startswith(below)]
    for path in inside:
        if is_code(path):
            count(path, files=1)
    named: set[str] = set()
    reached: set[str] = set()
    for verdict in verdicts:
        anchor = verdict.anchor
        if anchor.is_glob:
            reached.update(files := matching(anchor.path, inside))
            if not files and not anchor.path.startswith(below):
                continue
            place = anchor.path if anchor.path.startswith(below) else below
        elif anchor.path.startswith(below):
            named.add(place := anchor.path)
        else:
            continue
        count(place, anchors=1, stale=int(verdict.is_stale))
    for path in named.intersection(inside):
        count(path, anchored=1)
    for path in reached - named:
        if is_code(path):
            count(path, by_pattern=1)
    return [found[path] for path in sorted(found)]


def _folder(path: str, below: str, depth: int) -> str:
    """The folder that counts a path: at most ``depth`` folders below, none with a wildcard in its name."""
    names = path[len(below) :].split("/")[:-1][:depth]
    wild = next((at for at, name in enumerate(names) if any(mark in name for mark in "*?[")), len(names))
    return (below + "".join(f"{name}/" for name in names[:wild])) or "."
