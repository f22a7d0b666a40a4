"""Files that a merge could not make one: their versions, and how git is told that they are settled."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from thunderus_mem.store.git import Git

__all__ = ["Stages", "Unmerged", "parse_unmerged", "stage_files", "unmerged"]

_UNMERGED: Final = ("ls-files", "--unmerged", "-z", "--full-name", "--")
_REGULAR: Final = frozenset(["100644", "100755", "100664"])


class Unmerged(NamedTuple):
    """One file in conflict, by its root-relative path: the bytes of each version, ``None`` where it is not.

    ``regular`` is false when a version is a link or a submodule; there are no bytes then.
    """

    path: str
    base: bytes | None
    ours: bytes | None
    theirs: bytes | None
    regular: bool = True


class Stages(NamedTuple):
    """The object names of a file's versions, by stage: 1 base, 2 ours, 3 theirs."""

    path: str
    objects: Mapping[int, str]
    regular: bool


def parse_unmerged(data: bytes) -> list[Stages]:
    """Read the NUL-separated answer, in its order; paths are relative to the top level."""
    objects: dict[str, dict[int, str]] = {}
    irregular = set()
    for entry in data.split(b"\0"):
        head, tab, name = entry.partition(b"\t")
        fields = head.decode("ascii", "replace").split(" ")
        if not tab or len(fields) != 3 or not fields[2].isdigit():
            continue
        path = os.fsdecode(name)
        objects.setdefault(path, {})[int(fields[2])] = fields[1]
        if fields[0] not in _REGULAR:
            irregular.add(path)
    return [Stages(path, stages, path not in irregular) for path, stages in objects.items()]


def unmerged(git: Git, folder: str) -> list[Unmerged]:
    """Files below ``folder`` that git has in conflict, with all their versions: two processes."""
    found = [
        one for one in parse_unmerged(git.ask(*_UNMERGED, folder).data) if one.path.startswith(git.prefix)
    ]
    texts = git.blobs([name for one in found if one.regular for name in one.objects.values()])
    versions = ([texts.get(one.objects.get(stage, "")) for stage in (1, 2, 3)] for one in found)
    return [
        Unmerged(one.path[len(git.prefix) :], base, ours, theirs, one.regular)
        for one, (base, ours, theirs) in zip(found, versions, strict=True)
    ]


def stage_files(git: Git, paths: Sequence[str]) -> str:
    """Put files (or that they are gone) into git's index, which ends their conflicts; "" or why not.

    No filter is run for us, so files that have one are for the person's own git.
    """
    data = b"".join(os.fsencode(f"{path}\0") for path in paths)
    asked = git.ask("check-attr", "-z", "--stdin", "filter", data=data).data.split(b"\0")
    if not set(asked[2::3]) <= {b"unspecified", b"unset"}:
        return "a filter is configured for them, which only your own git runs"
    done = git.ask("update-index", "--add", "--remove", "-z", "--stdin", data=data)
    return "" if done.ok else git.reason
