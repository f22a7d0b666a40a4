"""``recap``: what happened in a day, or in another while."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from thunderus_mem.cli.commands.write import written_code
from thunderus_mem.cli.params import Why
from thunderus_mem.errors import ThunderusError
from thunderus_mem.recap.recap import recap
from thunderus_mem.recap.scope import Wanted

if TYPE_CHECKING:
    from thunderus_mem.cli.console import Console

app = typer.Typer()

_Day = Annotated[
    str, typer.Option("--day", metavar="DATE", help="As 2026-01-21, today or yesterday; in UTC.")
]
_Session = Annotated[
    str, typer.Option("--session", metavar="ID", help="A session by its id, or the id's beginning or end.")
]
_Since = Annotated[
    str, typer.Option("--since", metavar="WHEN", help="A day, a time, an age as 2d, or a revision of git.")
]
_Episode = Annotated[
    str, typer.Option("--episode", metavar="NAME", help="The events that name this episode_id.")
]
_Week = Annotated[str, typer.Option("--week", metavar="WEEK", help="The recaps of a week, as 2026-W04.")]
_Month = Annotated[str, typer.Option("--month", metavar="MONTH", help="The recaps of a month, as 2026-01.")]
_Summarizer = Annotated[
    str,
    typer.Option(
        "--summarizer",
        metavar="CMD",
        help="A command that gets the recap on stdin; its answer is kept as a draft.",
    ),
]
_Timeout = Annotated[
    float, typer.Option("--timeout", metavar="SECONDS", help="How long the summarizer may take.")
]


@app.command("recap")
def recap_command(
    ctx: typer.Context,
    day: _Day = "",
    session: _Session = "",
    since: _Since = "",
    episode: _Episode = "",
    week: _Week = "",
    month: _Month = "",
    force: Annotated[bool, typer.Option("--force", help="Replace a recap that was edited by hand.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show the recap; write nothing.")] = False,
    summarizer: _Summarizer = "",
    timeout: _Timeout = 60.0,
    why: Why = "",
) -> int:
    """Write a recap of today, or of another day, session, episode or while, from its events, documents and
    commits; every line of its provenance cites events."""
    console: Console = ctx.obj
    value = recap(
        console.memory(),
        _wanted(day=day, session=session, since=since, episode=episode, week=week, month=month),
        force=force,
        dry_run=dry_run,
        why=why,
        summarizer=summarizer,
        timeout=timeout,
    )
    code = written_code(console, "recap", value)
    return console.served_code(value.damaged) or code


def _wanted(**named: str) -> Wanted:
    """The one while that was named, or today."""
    given = [Wanted(kind, name) for kind, name in named.items() if name]
    if len(given) > 1:
        raise ThunderusError(f"--{given[0].kind} and --{given[1].kind} exclude each other.")
    return given[0] if given else Wanted("day", "today")
