"""The verbs that judge and rebuild projections: index and manifest."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from thunderus_mem.errors import Degraded
from thunderus_mem.index.database import Damaged, Newer
from thunderus_mem.index.file import break_seal
from thunderus_mem.index.manifest import check_manifest, take_inventory
from thunderus_mem.index.refresh import FOLDERS, Refreshed, in_memory, peek, rebuild
from thunderus_mem.index.sqlite_index import SqliteIndex

if TYPE_CHECKING:
    from thunderus_mem.diagnostic import Diagnostic
    from thunderus_mem.memory.memory import Memory


@dataclass(frozen=True, slots=True)
class IndexStatus:
    """How the index stands to the files. ``state``: fresh, behind, missing, damaged, or newer when a later
    version of the program wrote it; ``size`` in bytes; ``generation`` names the files it agrees with."""

    path: str
    state: str
    fresh: bool
    documents: int
    problems: int
    size: int
    generation: str = ""


def index_status(memory: Memory) -> IndexStatus:
    """Compare index and files. Writes nothing, not even a refresh."""
    layout = memory.layout
    path = layout.relative(layout.index_file)
    try:
        index = SqliteIndex.open(layout.index_file)
    except (FileNotFoundError, NotADirectoryError):
        return IndexStatus(path, "missing", False, 0, 0, 0)
    except Degraded as error:
        state = "newer" if isinstance(error, Newer) else "damaged"
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


def index_rebuild(memory: Memory) -> Refreshed:
    """Make index and manifest anew from the documents alone."""
    return rebuild(memory.layout, tell=memory.tell)


@dataclass(frozen=True, slots=True)
class IndexProof:
    """Whether the index is whole; ``problem`` says what is wrong with it, "" when nothing is."""

    path: str
    documents: int
    problem: str


def index_verify(memory: Memory) -> IndexProof:
    """Prove the index: every page, every word, and every row against the files and the log read anew.

    One that is found wanting is built anew by the next command.
    """
    layout = memory.layout
    path = layout.relative(layout.index_file)
    memory.log_index()
    if memory.index.in_memory:
        return IndexProof(path, memory.index.count(), "it cannot be used here; answers come from memory")
    fresh, _ = in_memory(layout, "to judge by")
    documents = fresh.count()
    try:
        fresh.log().refresh(memory.log)
        problem = memory.index.problem(fresh)
    except Damaged as error:
        problem = str(error)
    finally:
        fresh.close()
    if problem:
        break_seal(layout.index_file)
    return IndexProof(path, documents, problem)


@dataclass(frozen=True, slots=True)
class ManifestReport:
    """The manifest and, with ``--check``, what is wrong with it."""

    path: str
    documents: int
    tokens: int
    diagnostics: tuple[Diagnostic, ...]


def manifest(memory: Memory, *, check: bool = False) -> ManifestReport:
    """Write the manifest when it is out of date; with ``check`` judge the file as it is, writing nothing.

    Where nothing can be written it is judged as well.
    """
    layout = memory.layout
    path = layout.relative(layout.manifest_file)
    if not check:
        memory.refresh()
    if check or memory.index.in_memory:
        inventory = take_inventory(layout.root, FOLDERS)
        findings = check_manifest(layout.manifest_file, path, inventory.manifest)
        return ManifestReport(path, inventory.documents, inventory.tokens, tuple(findings))
    rows = memory.index.documents()
    return ManifestReport(path, len(rows), sum(row.tokens for row in rows), ())
