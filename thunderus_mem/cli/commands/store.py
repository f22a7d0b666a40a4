"""``init index manifest``: making a store, and what is worked out from its documents."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated

import typer

from thunderus_mem.authoring.init import Initialised, init
from thunderus_mem.cli.text import aligned, counted, finding_lines, size
from thunderus_mem.doctor.upkeep import (
    IndexProof,
    IndexStatus,
    ManifestReport,
    index_rebuild,
    index_status,
    index_verify,
    manifest,
)

if TYPE_CHECKING:
    from thunderus_mem.cli.console import Console
    from thunderus_mem.index.refresh import Refreshed

app = typer.Typer()
index_app = typer.Typer(no_args_is_help=True)
app.add_typer(index_app, name="index")


@app.command("init")
def init_command(
    ctx: typer.Context,
    agents: Annotated[
        bool, typer.Option("--agents", help="Also tell agents: a marked block in AGENTS.md and CLAUDE.md.")
    ] = False,
) -> int:
    """Make a memory in this folder. Run again at any time: nothing is overwritten."""
    console: Console = ctx.obj
    root = os.path.abspath(console.start)
    value = init(root, lambda: console.open_at(root), agents=agents)
    console.emit("init", value, initialised)
    return console.published_code(value.published)


@index_app.command("status")
def index_status_command(ctx: typer.Context) -> int:
    """How fresh the index is; judges, refreshes nothing. Exits with 1 when it is behind."""
    console: Console = ctx.obj
    value = index_status(console.memory())
    console.emit("index status", value, freshness)
    return int(not value.fresh)


@index_app.command("verify")
def index_verify_command(ctx: typer.Context) -> int:
    """Prove the index: pages, words, and every row against the files. Exits with 1 when it is damaged."""
    console: Console = ctx.obj
    value = index_verify(console.memory())
    console.emit("index verify", value, index_proof)
    return int(bool(value.problem))


@index_app.command("refresh")
def index_refresh_command(ctx: typer.Context) -> None:
    """Bring the index up to date with the files."""
    console: Console = ctx.obj
    console.emit("index refresh", console.memory().refresh(), refreshed)


@index_app.command("rebuild")
def index_rebuild_command(ctx: typer.Context) -> None:
    """Make index and manifest anew from the files."""
    console: Console = ctx.obj
    console.emit("index rebuild", index_rebuild(console.memory()), refreshed)


@app.command("manifest")
def manifest_command(
    ctx: typer.Context,
    check: Annotated[
        bool, typer.Option("--check", help="Only compare it with the documents; exit 1 when it differs.")
    ] = False,
) -> int:
    """Write the manifest, the inventory of all documents; or check it."""
    console: Console = ctx.obj
    value = manifest(console.memory(), check=check)
    console.emit("manifest", value, manifest_report)
    return int(bool(value.diagnostics))


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


def freshness(value: IndexStatus, console: Console) -> str:
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
