"""Which folders of a tree memories speak of: counts over paths and verdicts. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from thunderus_mem.model.path_glob import matching
from thunderus_mem.model.path_text import is_code

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from thunderus_mem.evidence.verdict import Verdict

__all__ = ["FolderCoverage", "folders_covered"]


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
