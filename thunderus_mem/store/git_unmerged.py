"""What ``git ls-files --unmerged -z`` says: the versions of a file that a merge could not make one."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["UNMERGED", "Stages", "Unmerged", "parse_unmerged"]

UNMERGED: Final = ("ls-files", "--unmerged", "-z", "--full-name", "--")
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
