"""Whether git has a text somewhere in the history behind HEAD, and which files its commits took away."""

from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING, Final

from thunderus_mem.model.document import content_hash

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from thunderus_mem.store.git import Git

__all__ = ["former_texts", "removed_files", "texts_in_history"]

_FEW: Final = 200
_SHA1_DIGITS: Final = 40


def texts_in_history(git: Git, texts: Mapping[str, bytes], below: str) -> set[str]:
    """The paths whose text some commit behind HEAD has below a folder, line ends apart.

    HEAD's own files are asked first, then the whole history: three processes at most, however many texts.
    """
    found = _among(texts, {oid for oid, _ in _head_files(git, below)})
    if len(found) < len(texts):
        older = _all_files(git, below)
        found |= _among(texts, {oid for oid, _ in older})
        rest = {path: text for path, text in texts.items() if path not in found}
        found |= _with_other_line_ends(git, rest, older)
    return found


def former_texts(git: Git, paths: Sequence[str]) -> list[bytes]:
    """Every text that a file at one of these paths had in a commit behind HEAD; two processes."""
    oids = [oid for oid, _ in _all_files(git, *paths)] if paths else []
    return [blob for blob in git.blobs(oids).values() if blob is not None]


def _head_files(git: Git, below: str) -> list[tuple[str, str]]:
    """Object and path of every file of HEAD below a folder."""
    output = git.ask("ls-tree", "-r", "-z", "--full-name", "HEAD", "--", below)
    entries = (os.fsdecode(entry) for entry in output.data.split(b"\0") if entry) if output.ok else ()
    pairs = (entry.partition("\t") for entry in entries)
    return [(head.rpartition(" ")[2], path) for head, _, path in pairs]


def _all_files(git: Git, *below: str) -> list[tuple[str, str]]:
    """Object and path of every version of every file at or below the paths; folders are among them."""
    output = git.ask("rev-list", "--objects", "--full-history", "HEAD", "--", *below)
    lines = os.fsdecode(output.data).split("\n") if output.ok else []
    pairs = (line.partition(" ") for line in lines)
    return [(oid, path) for oid, _, path in pairs if path]


def _among(texts: Mapping[str, bytes], oids: set[str]) -> set[str]:
    """The paths whose text, with any uniform line ends, is one of the objects."""
    if not oids:
        return set()
    digest = hashlib.sha1 if len(next(iter(oids))) == _SHA1_DIGITS else hashlib.sha256
    found = set()
    for path, text in texts.items():
        as_lf = text.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        for form in dict.fromkeys((text, as_lf, as_lf.replace(b"\n", b"\r\n"))):
            if digest(b"blob %d\0" % len(form) + form, usedforsecurity=False).hexdigest() in oids:
                found.add(path)
                break
    return found


def _with_other_line_ends(git: Git, texts: Mapping[str, bytes], older: Sequence[tuple[str, str]]) -> set[str]:
    """The paths at which git once had the text with line ends of several kinds."""
    versions: dict[str, list[str]] = {}
    for oid, path in older:
        if path.startswith(git.prefix) and path[len(git.prefix) :] in texts:
            versions.setdefault(path[len(git.prefix) :], []).append(oid)
    blobs = git.blobs([oid for oids in versions.values() for oid in oids])
    wanted = {path: content_hash(texts[path]) for path in versions}
    return {
        path
        for path, oids in versions.items()
        if any(content_hash(blob) == wanted[path] for oid in oids if (blob := blobs[oid]) is not None)
    }


def removed_files(git: Git, paths: Sequence[str], below: str) -> set[str]:
    """Those of the root-relative paths that a commit behind HEAD took away and HEAD has not got again."""
    asked = paths if len(paths) <= _FEW else [below]
    output = git.ask(
        *("log", "-z", "-m", "--full-history", "--no-renames", "--diff-filter=D", "--name-only"),
        *("--no-ext-diff", "--format=", "HEAD", "--", *asked),
    )
    names = (os.fsdecode(name).lstrip("\n") for name in output.data.split(b"\0")) if output.ok else ()
    gone = {name[len(git.prefix) :] for name in names if name.startswith(git.prefix)}
    there = {path[len(git.prefix) :] for _, path in _head_files(git, below)}
    return gone.intersection(paths) - there
