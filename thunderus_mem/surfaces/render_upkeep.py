"""Upkeep for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from thunderus_mem.surfaces.render import finding_lines
from thunderus_mem.surfaces.text import aligned, counted, size

if TYPE_CHECKING:
    from thunderus_mem.projection.refresh import Refreshed
    from thunderus_mem.surfaces.cli.console import Console
    from thunderus_mem.verbs.starting import Initialised
    from thunderus_mem.verbs.upkeep import IndexProof, IndexStatus, ManifestReport


def initialised(value: Initialised, console: Console) -> str:
    """What init did, and the next step; with ``--quiet`` nothing: a new store has no data to print."""
    if console.quiet:
        return ""
    style = console.style
    rows = [(style.good("made"), name) for name in value.made] + [
        (style.dim("kept"), name) for name in value.kept
    ]
    lines = aligned(rows)
    if value.also:
        lines += ["", f"There is a memory above, in {value.also[0]}: from here downwards this one counts."]
    if value.next_step:
        lines += ["", f"Next: {value.next_step}"]
    return "\n".join(lines)


def index_status(value: IndexStatus, console: Console) -> str:
    """How fresh the index is."""
    style = console.style
    state = style.good(value.state) if value.fresh else style.warning(value.state)
    rows = [
        ("index", state),
        ("documents", f"{value.documents:,}"),
        ("unreadable", f"{value.problems:,}" if value.problems else ""),
        ("size", size(value.size)),
        ("generation", value.generation),
        ("path", value.path),
    ]
    lines = aligned([(style.dim(name), text) for name, text in rows if text])
    if not value.fresh:
        lines += ["", "Next: thunderus-mem index refresh"]
    return "\n".join(lines)


def index_proof(value: IndexProof, console: Console) -> str:
    """Whole, or what is wrong and what becomes of it."""
    style = console.style
    if value.problem:
        return f"{style.name(value.path)}  {value.problem}; the next command builds it anew"
    return f"{style.name(value.path)}  {counted(value.documents, 'document')}, whole"


def refreshed(value: Refreshed, console: Console) -> str:
    """What a refresh found; with ``--quiet`` only that files cannot be read: there is no data to print."""
    parts = [("added", value.added), ("modified", value.modified), ("removed", value.removed)]
    changes = ", ".join(f"{number:,} {name}" for name, number in parts if number) or "nothing changed"
    if value.rebuilt:
        console.say(f"Rebuilt: {value.rebuilt}.")
    if value.problems:
        console.talk(f"{counted(value.problems, 'file')} cannot be read; see: thunderus-mem lint")
    return "" if console.quiet else f"{counted(value.total, 'document')}: {changes}"


def manifest_report(value: ManifestReport, console: Console) -> str:
    """Findings, or where the manifest is."""
    if value.diagnostics:
        return "\n".join(finding_lines(value.diagnostics, console.style))
    return (
        f"{console.style.name(value.path)}  {counted(value.documents, 'document')}, {value.tokens:,} tokens"
    )
