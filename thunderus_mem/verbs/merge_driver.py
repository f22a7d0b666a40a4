"""What git may call instead of merging a document line by line itself. Needs no store, logs nothing."""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from thunderus_mem.model.conflict import find_conflict, two_way
from thunderus_mem.model.document import MAX_DOCUMENT
from thunderus_mem.model.errors import InvalidDocument
from thunderus_mem.model.merge import LABELS, Left, Merged, merge
from thunderus_mem.model.standoff import Versions, stand_offs
from thunderus_mem.store.files import read_file, replace_file

if TYPE_CHECKING:
    from collections.abc import Mapping

    from thunderus_mem.model.merge import Lines

__all__ = ["Driven", "merge_driver"]


class Driven(NamedTuple):
    """What came of a merge: ``settled`` and ``left`` as `Merged` has them."""

    path: str
    settled: tuple[str, ...]
    left: tuple[Left, ...]


def merge_driver(base: str, ours: str, theirs: str, path: str, *, environ: Mapping[str, str]) -> Driven:
    """Merge the files that git names (%O %A %B), and write the result into ``ours``.

    ``path`` is what the document is called. What does not read as one is merged line by line. Raises
    `InvalidDocument` when it is no text.
    """
    try:
        texts = [
            read_file(os.path.abspath(name), MAX_DOCUMENT).decode("utf-8") for name in (base, ours, theirs)
        ]
    except UnicodeDecodeError as error:
        raise InvalidDocument(f"{path} is not UTF-8 on every side", hint="decide with git") from error
    merged = _merged(Versions(path, texts[0] or None, texts[1], texts[2]), _lines(environ))
    replace_file(os.path.abspath(ours), merged.text.encode())
    return Driven(path, tuple(dict.fromkeys(one.key for one in merged.settled)), merged.left)


def _merged(versions: Versions, lines: Lines) -> Merged:
    base, ours, theirs = versions.base, versions.ours or "", versions.theirs or ""
    if len(stand_offs([versions])) > 1:
        why = "two documents stand in one file; `thunderus-mem resolve` parts them"
        return Merged(lines(base or "", ours, theirs, LABELS), left=(Left("", why),))
    try:
        return merge(base, ours, theirs, lines)
    except InvalidDocument as error:
        text = lines(base or "", ours, theirs, LABELS)
        return Merged(text, left=(Left("", str(error)),) if find_conflict(text) else ())


def _lines(environ: Mapping[str, str]) -> Lines:
    from thunderus_mem.store.git_merge import merge_lines
    from thunderus_mem.store.git_process import GitProcess, find_executable

    executable = find_executable(environ.get("PATH", os.defpath))
    if executable is None:
        return lambda _base, ours, theirs, labels: two_way(ours, theirs, labels)
    process = GitProcess(executable, os.getcwd(), environ)
    return partial(merge_lines, process.run)
