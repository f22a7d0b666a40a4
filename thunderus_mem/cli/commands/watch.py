"""``watch``: keep the index fresh while files change."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Annotated

import typer

from thunderus_mem.cli.report.report import report
from thunderus_mem.watch import Debounce, WatchedMemory, WatchTurn, watch

if TYPE_CHECKING:
    from thunderus_mem.cli.console import Console

app = typer.Typer()


@app.command("watch")
def watch_command(
    ctx: typer.Context,
    poll: Annotated[
        bool | None,
        typer.Option("--poll/--no-poll", help="Look at intervals (network folders); see `watch.poll`."),
    ] = None,
    every: Annotated[
        float, typer.Option("--every", metavar="SECONDS", min=0.1, help="How often to look with --poll.")
    ] = 1.0,
) -> None:
    """Keep the index fresh while files change, and print what the changed documents have wrong.

    Ctrl-C ends it. With --json every look that found something prints one JSON document.
    """
    console: Console = ctx.obj

    def tell(turn: WatchTurn) -> None:
        console.emit("watch", turn, _turn)
        console.flush()

    def say(text: str) -> None:
        console.say(text)
        console.flush()

    memory = WatchedMemory(console.memory)
    config = memory.config
    watch(
        memory,
        tell,
        say,
        threading.Event(),
        poll=config.watch_poll if poll is None else poll,
        every=every,
        debounce=Debounce(config.watch_quiet_ms / 1000, config.watch_longest_ms / 1000),
    )


def _turn(value: WatchTurn, console: Console) -> str:
    lines = [
        f"{mark} {path}"
        for mark, paths in (("+", value.added), ("~", value.modified), ("-", value.removed))
        for path in paths
    ]
    if value.diagnostics:
        lines.append(report(value.diagnostics, "concise").rstrip("\n"))
    return "\n".join(lines)
