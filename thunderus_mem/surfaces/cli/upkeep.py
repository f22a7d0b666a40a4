"""``init doctor index manifest``: making a store and keeping it well."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from thunderus_mem.surfaces.cli.console import Console

app = typer.Typer()
index_app = typer.Typer(help="Look after the full-text index.", no_args_is_help=True)
app.add_typer(index_app, name="index")


@app.command("init")
def init(
    ctx: typer.Context,
    agents: Annotated[
        bool, typer.Option("--agents", help="Also tell agents: a marked block in AGENTS.md and CLAUDE.md.")
    ] = False,
) -> int:
    """Make a memory in this folder. Run again at any time: nothing is overwritten."""
    import os

    from thunderus_mem.surfaces.cli.done import published_code
    from thunderus_mem.surfaces.render_upkeep import initialised
    from thunderus_mem.verbs import starting

    console: Console = ctx.obj
    root = os.path.abspath(console.start)
    value = starting.init(root, lambda: console.open_at(root), agents=agents)
    console.emit("init", value, initialised)
    return published_code(console, published=value.published)


@app.command("doctor")
def doctor(
    ctx: typer.Context,
    fix: Annotated[
        bool, typer.Option("--fix", help="Mend what can be mended; what is in the way is set aside.")
    ] = False,
    plan: Annotated[bool, typer.Option("--plan", help="Only say what --fix would do.")] = False,
) -> int:
    """Check the store and its surroundings; each trouble comes with what to do.

    Exits with 1 when there is any. Works where no other command does. Changes nothing without --fix, which
    deletes nothing and touches no document: what it takes away is in .thunderus/.quarantine, and each step
    says how it comes back.
    """
    from thunderus_mem.surfaces import render_doctor
    from thunderus_mem.verbs import examining, repairing

    console: Console = ctx.obj
    if not fix and not plan:
        report = examining.doctor(console.memory(lenient=True))
        console.emit("doctor", report, render_doctor.report, long=True)
        return int(any(check.is_trouble for check in report.checks))
    value = repairing.planned(console.memory(lenient=True))
    if not plan:
        console.say(render_doctor.announced(value))
        value = repairing.treat(lambda: console.memory(lenient=True))
    console.emit("doctor fix", value, render_doctor.treatment, long=True)
    return int(bool(value.left) or any(step.state != "done" for step in value.steps))


@index_app.command("status")
def index_status(ctx: typer.Context) -> int:
    """How fresh the index is; judges, refreshes nothing. Exits with 1 when it is behind."""
    from thunderus_mem.surfaces.render_upkeep import index_status as render
    from thunderus_mem.verbs import upkeep

    console: Console = ctx.obj
    value = upkeep.index_status(console.memory())
    console.emit("index status", value, render)
    return int(not value.fresh)


@index_app.command("verify")
def index_verify(ctx: typer.Context) -> int:
    """Prove the index: pages, words, and every row against the files. Exits with 1 when it is damaged."""
    from thunderus_mem.surfaces.render_upkeep import index_proof
    from thunderus_mem.verbs import upkeep

    console: Console = ctx.obj
    value = upkeep.index_verify(console.memory())
    console.emit("index verify", value, index_proof)
    return int(bool(value.problem))


@index_app.command("refresh")
def index_refresh(ctx: typer.Context) -> None:
    """Bring the index up to date with the files."""
    from thunderus_mem.surfaces.render_upkeep import refreshed
    from thunderus_mem.verbs import upkeep

    console: Console = ctx.obj
    console.emit("index refresh", upkeep.index_refresh(console.memory()), refreshed)


@index_app.command("rebuild")
def index_rebuild(ctx: typer.Context) -> None:
    """Make index and manifest anew from the files."""
    from thunderus_mem.surfaces.render_upkeep import refreshed
    from thunderus_mem.verbs import upkeep

    console: Console = ctx.obj
    console.emit("index rebuild", upkeep.index_rebuild(console.memory()), refreshed)


@app.command("manifest")
def manifest(
    ctx: typer.Context,
    check: Annotated[
        bool, typer.Option("--check", help="Only compare it with the documents; exit 1 when it differs.")
    ] = False,
) -> int:
    """Write the manifest, the inventory of all documents; or check it."""
    from thunderus_mem.surfaces.render_upkeep import manifest_report
    from thunderus_mem.verbs import upkeep

    console: Console = ctx.obj
    value = upkeep.manifest(console.memory(), check=check)
    console.emit("manifest", value, manifest_report)
    return int(bool(value.diagnostics))
