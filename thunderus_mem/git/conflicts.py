"""What a merge left to people: files in conflict with their versions, lines merged anew, and how git is told.

``git ls-files --unmerged`` and ``git merge-file`` are asked, the second through files of a temporary folder.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final, NamedTuple

from thunderus_mem.errors import NotWritable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from thunderus_mem.git.repository import Git, Output

_SIDES: Final = ("ours", "base", "theirs")
_MOST_CONFLICTS: Final = 127


def merge_lines(
    run: Callable[..., Output], base: str, ours: str, theirs: str, labels: tuple[str, str]
) -> str:
    """The three texts merged; git's markers, in the style it is configured for, stand around conflicts.

    ``run`` starts git. Raises `NotWritable` when git cannot do it.
    """
    from tempfile import TemporaryDirectory

    with TemporaryDirectory(prefix="thunderus-mem-") as folder:
        paths = [os.path.join(folder, name) for name in _SIDES]
        for path, text in zip(paths, (ours, base, theirs), strict=True):
            with open(path, "wb") as stream:
                stream.write(text.encode("utf-8", "surrogatepass"))
        names = [word for label in (labels[0], "base", labels[1]) for word in ("-L", label)]
        done = run("merge-file", "-p", *names, *paths)
    if not 0 <= done.code <= _MOST_CONFLICTS:
        raise NotWritable(f"git could not merge the text: {done.complaint or 'it does not say why'}.")
    return done.data.decode("utf-8", "surrogatepass")


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


class _Stages(NamedTuple):
    """The object names of a file's versions, by stage: 1 base, 2 ours, 3 theirs."""

    path: str
    objects: Mapping[int, str]
    regular: bool


def _stages(data: bytes) -> list[_Stages]:
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
    return [_Stages(path, stages, path not in irregular) for path, stages in objects.items()]


def unmerged(git: Git, folder: str) -> list[Unmerged]:
    """Files below ``folder`` that git has in conflict, with all their versions: two processes."""
    listed = _stages(git.ask("ls-files", "--unmerged", "-z", "--full-name", "--", folder).data)
    found = [one for one in listed if one.path.startswith(git.prefix)]
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
