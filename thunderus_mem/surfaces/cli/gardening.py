"""``garden recap``: what the gardener would do, does, and tells of a day."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from thunderus_mem.model.errors import Conflict, ThunderusError

if TYPE_CHECKING:
    from thunderus_mem.surfaces.cli.console import Console

app = typer.Typer()


@app.command("garden")
def garden(
    ctx: typer.Context,
    plan: Annotated[bool, typer.Option("--plan", help="Say what would be done (the default).")] = False,
    apply: Annotated[bool, typer.Option("--apply", help="Do it, step by step.")] = False,
) -> int:
    """Find documents that say the same, recaps that are missing, and what sessions have shown.

    With --apply one of equal documents keeps all ids, tags and links, and the recaps of recap.schedule are
    written; the rest is for a person to decide.

    What somebody changes meanwhile is left as it is and named; the exit code is 3 then.
    """
    from thunderus_mem.surfaces.cli.done import published_code
    from thunderus_mem.surfaces.render_upkeep import applied
    from thunderus_mem.surfaces.render_upkeep import plan as render_plan
    from thunderus_mem.verbs import gardening

    if plan and apply:
        raise ThunderusError("--plan and --apply exclude each other.")
    console: Console = ctx.obj
    memory = console.memory()
    found = gardening.garden_plan(memory)
    if not found.steps:
        console.say("Nothing to do.")
    if not apply or not found.steps:
        console.emit("garden", found, render_plan)
        return 0
    value = gardening.garden_apply(memory, found)
    console.emit("garden apply", value, applied)
    for step in value.skipped:
        console.say(f"Skipped {', '.join(step.targets)}: {step.why}.")
    return published_code(console, published=value.published) or (Conflict.exit_code if value.skipped else 0)


@app.command("recap")
def recap(
    ctx: typer.Context,
    day: Annotated[
        str, typer.Option("--day", metavar="DATE", help="As 2026-01-21, today or yesterday; in UTC.")
    ] = "",
    session: Annotated[
        str,
        typer.Option("--session", metavar="ID", help="A session by its id, or the id's beginning or end."),
    ] = "",
    since: Annotated[
        str,
        typer.Option("--since", metavar="WHEN", help="A day, a time, an age as 2d, or a revision of git."),
    ] = "",
    episode: Annotated[
        str, typer.Option("--episode", metavar="NAME", help="The events that name this episode_id.")
    ] = "",
    week: Annotated[
        str, typer.Option("--week", metavar="WEEK", help="The recaps of a week, as 2026-W04.")
    ] = "",
    month: Annotated[
        str, typer.Option("--month", metavar="MONTH", help="The recaps of a month, as 2026-01.")
    ] = "",
    force: Annotated[bool, typer.Option("--force", help="Replace a recap that was edited by hand.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show the recap; write nothing.")] = False,
    summarizer: Annotated[
        str,
        typer.Option(
            "--summarizer",
            metavar="CMD",
            help="A command that gets the recap on stdin; its answer is kept as a draft.",
        ),
    ] = "",
    timeout: Annotated[
        float, typer.Option("--timeout", metavar="SECONDS", help="How long the summarizer may take.")
    ] = 60.0,
    why: Annotated[str, typer.Option("-m", "--why", metavar="WHY", help="The reason, kept in the log.")] = "",
) -> int:
    """Write a recap of today, or of another day, session, episode or while, from its events, documents and
    commits; every line of its provenance cites events."""
    from thunderus_mem.surfaces.cli.done import served_code, written_code
    from thunderus_mem.verbs import recapping

    console: Console = ctx.obj
    given = [
        recapping.Wanted(kind, name)
        for kind, name in (
            ("day", day),
            ("session", session),
            ("since", since),
            ("episode", episode),
            ("week", week),
            ("month", month),
        )
        if name
    ]
    if len(given) > 1:
        raise ThunderusError(f"--{given[0].kind} and --{given[1].kind} exclude each other.")
    value = recapping.recap(
        console.memory(),
        given[0] if given else recapping.Wanted("day", "today"),
        force=force,
        dry_run=dry_run,
        why=why,
        summarizer=summarizer,
        timeout=timeout,
    )
    code = written_code(console, "recap", value)
    return served_code(console, value.damaged) or code
