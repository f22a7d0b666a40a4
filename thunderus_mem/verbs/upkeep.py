"""The verbs that judge and rebuild projections: index, manifest, doctor."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from thunderus_mem.projection.refresh import Refreshed, rebuild

if TYPE_CHECKING:
    from thunderus_mem.memory import Memory
    from thunderus_mem.model.diagnostic import Diagnostic


@dataclass(frozen=True, slots=True)
class IndexStatus:
    """How far the index is behind the files; judged without touching it."""

    path: str
    state: str
    documents: int
    added: int
    modified: int
    removed: int
    size_bytes: int


def index_status(memory: Memory) -> IndexStatus:
    """Compare index and files. Writes nothing, not even a refresh."""
    from thunderus_mem.projection.refresh import compare

    compared = compare(memory.layout)
    return IndexStatus(
        path=memory.layout.relative(memory.layout.index_file),
        state=compared.state,
        documents=compared.documents,
        added=compared.added,
        modified=compared.modified,
        removed=compared.removed,
        size_bytes=compared.size_bytes,
    )


def index_refresh(memory: Memory) -> Refreshed:
    """Bring index and manifest up to date."""
    return memory.refresh()


def index_rebuild(memory: Memory) -> Refreshed:
    """Make index and manifest anew from the documents alone."""
    return rebuild(memory.layout)


@dataclass(frozen=True, slots=True)
class ManifestReport:
    """The manifest and, with ``--check``, what is wrong with it."""

    path: str
    documents: int
    tokens: int
    diagnostics: tuple[Diagnostic, ...]


def manifest(memory: Memory, *, check: bool = False) -> ManifestReport:
    """Write the manifest when it is out of date; with ``check`` judge the file as it is, writing nothing."""
    from thunderus_mem.projection.manifest import check as judged

    findings = tuple(judged(memory.layout)) if check else ()
    if not check:
        memory.refresh()
    rows = list(memory.index.documents())
    return ManifestReport(
        memory.layout.relative(memory.layout.manifest_file), len(rows), sum(row.tokens for row in rows), findings
    )


@dataclass(frozen=True, slots=True)
class Check:
    """One thing `doctor` looked at. ``state`` is ok, note, warning or damage; ``next_step`` mends it."""

    name: str
    state: str
    message: str
    next_step: str = ""


@dataclass(frozen=True, slots=True)
class DoctorReport:
    """All checks; ``damaged`` when something is broken that a person should know about."""

    checks: tuple[Check, ...]
    damaged: bool


def doctor(memory: Memory) -> DoctorReport:
    """Look at everything around the documents and say what is wrong and what to do. Mends nothing."""
    from thunderus_mem.verbs.examining import CHECKS

    checks = tuple(found for look in CHECKS for found in look(memory))
    return DoctorReport(checks, any(check.state == "damage" for check in checks))
