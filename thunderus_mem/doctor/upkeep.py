"""Maintenance: status and verification of index and manifest, and the files in quarantine.

Only `manifest` writes.
"""

from __future__ import annotations

import os
import shlex
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from thunderus_mem.document.timestamp import format_timestamp
from thunderus_mem.errors import Degraded
from thunderus_mem.index.manifest import check_manifest, take_inventory
from thunderus_mem.index.refresh import in_memory, peek
from thunderus_mem.index.sqlite_index import SqliteIndex
from thunderus_mem.startup import NamedTuple
from thunderus_mem.store.quarantine import kept_files, plain_name, way_back

if TYPE_CHECKING:
    from collections.abc import Iterable

    from thunderus_mem.diagnostic import Diagnostic
    from thunderus_mem.memory.memory import Memory
    from thunderus_mem.store.layout import Layout
    from thunderus_mem.store.quarantine import QuarantinedFile


@dataclass(frozen=True, slots=True)
class IndexStatus:
    """The state of the index: fresh, behind, missing, damaged, or newer (written by a later version).

    ``size`` is in bytes; ``generation`` identifies the files that it was built from.
    """

    path: str
    state: str
    fresh: bool
    documents: int
    problems: int
    size: int
    generation: str = ""


def index_status(memory: Memory) -> IndexStatus:
    """Compare index and files, without refreshing the index."""
    layout = memory.layout
    path = layout.relative(layout.index_file)
    try:
        index = SqliteIndex.open(layout.index_file)
    except (FileNotFoundError, NotADirectoryError):
        return IndexStatus(path, "missing", False, 0, 0, 0)
    except Degraded as error:
        state = "newer" if error.newer else "damaged"
        return IndexStatus(path, state, False, 0, 0, os.lstat(layout.index_file).st_size)
    try:
        fresh = peek(layout, index)
        unreadable = sum(not doc_id for _, _, doc_id in index.files())
        size = os.path.getsize(layout.index_file)
        state = "fresh" if fresh else "behind"
        return IndexStatus(path, state, fresh, index.count(), unreadable, size, index.generation())
    except Degraded:
        return IndexStatus(path, "damaged", False, 0, 0, os.path.getsize(layout.index_file))
    finally:
        index.close()


@dataclass(frozen=True, slots=True)
class IndexProof:
    """Result of verifying the index; ``problem`` says what is wrong, "" for nothing.

    ``kept`` is set if the file stays as it is, e.g. because a newer version of the program wrote it.
    """

    path: str
    documents: int
    problem: str
    kept: bool = False


def index_verify(memory: Memory) -> IndexProof:
    """Verify every page, word and row of the index against the files and the log.

    A damaged index is rebuilt by the next command.
    """
    layout = memory.layout
    path = layout.relative(layout.index_file)
    refreshed = memory.refresh()
    memory.log_index()
    if memory.index.in_memory:
        return IndexProof(path, memory.index.count(), refreshed.rebuilt or "not usable here", kept=True)
    fresh, _ = in_memory(layout, "to verify")
    documents = fresh.count()
    try:
        fresh.log().refresh(memory.log)
        problem = memory.index.problem(fresh)
    except Degraded as error:
        problem = str(error)
    finally:
        fresh.close()
    if problem:
        memory.index.distrust()
    return IndexProof(path, documents, problem)


@dataclass(frozen=True, slots=True)
class ManifestReport:
    """The manifest and, with ``--check``, its findings and those of files that are not in it."""

    path: str
    documents: int
    tokens: int
    diagnostics: tuple[Diagnostic, ...]


def manifest(memory: Memory, *, check: bool = False) -> ManifestReport:
    """Update the manifest; with ``check``, or in a read-only store, only compare it with the documents."""
    layout = memory.layout
    path = layout.relative(layout.manifest_file)
    if not check:
        memory.refresh()
    if check or memory.index.in_memory:
        inventory = take_inventory(layout.root, memory.tell)
        findings = check_manifest(layout.manifest_file, path, inventory.manifest)
        findings += inventory.left_out if check else ()
        return ManifestReport(path, inventory.documents, inventory.tokens, tuple(findings))
    rows = memory.index.documents()
    return ManifestReport(path, len(rows), sum(row.tokens for row in rows), ())


class KeptFile(NamedTuple):
    """A file in quarantine: path, original path ("" for a part of a file), size, time, description, and the
    command that restores or compares it."""

    path: str
    was: str
    size: int
    time: str
    what: str
    back: str


def kept(layout: Layout, documents: Iterable[str]) -> tuple[KeptFile, ...]:
    """List the files in quarantine; ``documents`` are the paths whose texts may be among them."""
    found = kept_files(layout)
    # Quarantine name of a document's text → its path.
    names = {plain_name(path): path for path in documents} if any(not one.was for one in found) else {}
    return tuple(_kept_file(one, names) for one in found)


def _kept_file(kept: QuarantinedFile, names: dict[str, str]) -> KeptFile:
    when = format_timestamp(datetime.fromtimestamp(max(kept.mtime, 0), UTC))
    quoted = shlex.quote(kept.path)
    was, name = kept.was, os.path.basename(kept.path).partition("-")[2]
    if was:
        what, back = "moved by doctor --fix", way_back(kept.path, was)
    elif name.endswith(".torn"):
        what, back = "incomplete last line of a log", f"cat -v {quoted}"
    elif name in names:
        was, what = names[name], "text of an interrupted write; the file was changed since"
        back = f"diff -u {shlex.quote(was)} {quoted}"
    else:
        what, back = "part of an interrupted write", f"less {quoted}"
    return KeptFile(kept.path, was, kept.size, when, what, back)
