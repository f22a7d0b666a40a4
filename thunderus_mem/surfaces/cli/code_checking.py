"""``check``: which memories the code does not support, whole or for one change."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated, Final

import typer

from thunderus_mem.model.errors import ThunderusError
from thunderus_mem.surfaces.cli.handing_over import chosen_form, hand_over, seen_from_top

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from thunderus_mem.memory import Memory
    from thunderus_mem.surfaces.cli.console import Console
    from thunderus_mem.verbs.code_checking import CheckReport

app = typer.Typer()

CHECK_FORMATS: Final = ("text", "json", "jsonl", "github", "gitlab", "sarif", "junit")


@app.command("check")
def check(
    ctx: typer.Context,
    documents: Annotated[
        list[str] | None, typer.Argument(metavar="ID", help="Documents; all when none.")
    ] = None,
    since: Annotated[str, typer.Option("--since", metavar="REV", help="What changed since a commit.")] = "",
    staged: Annotated[bool, typer.Option("--staged", help="What the next commit changes.")] = False,
    diff: Annotated[
        str, typer.Option("--diff", metavar="FILE|-", help="What a unified diff changes; - is stdin.")
    ] = "",
    everything: Annotated[bool, typer.Option("--all", help="Every document; the default.")] = False,
    form: Annotated[
        str,
        typer.Option("--format", metavar="FORMAT", help="text, json, jsonl, github, gitlab, sarif, junit."),
    ] = "",
    patch: Annotated[bool, typer.Option("--patch", "-p", help="Show the code then and now.")] = False,
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FILE", help="Write the report to a file.")
    ] = "",
    exit_zero: Annotated[bool, typer.Option("--exit-zero", help="End with 0 whatever is found.")] = False,
) -> int:
    """Tell which memories the code does not support any more. Exits with 1 when there are some.

    With --since, --staged or --diff: which ones that change makes false, judged by its hunks.
    """
    from thunderus_mem.surfaces.render_evidence import said_of_check

    console: Console = ctx.obj
    chosen = sum((bool(documents), bool(since), staged, bool(diff), everything))
    if chosen > 1:
        raise ThunderusError("IDs, --since, --staged, --diff and --all leave each other no room.")
    form = chosen_form(console, form, CHECK_FORMATS, "text")
    memory = console.memory()
    value = _checked(console, memory, documents or (), since=since, staged=staged, diff=diff)
    text = _rendered(memory, value, form, patch=patch)
    hand_over(
        console, "check", value, text, output, drawn=form == "text", for_people=form in ("text", "github")
    )
    for line in said_of_check(value, changed=bool(since or staged or diff)) if form == "text" else ():
        console.say(line)
    console.tell_others()
    return int(bool(value.findings) and not exit_zero)


def _checked(
    console: Console, memory: Memory, ids: Sequence[str], *, since: str, staged: bool, diff: str
) -> CheckReport:
    from thunderus_mem.verbs import code_checking

    if not (since or staged or diff):
        return code_checking.check(memory, tuple(ids))
    from thunderus_mem.verbs import code_changes

    if staged:
        return code_changes.check_staged(memory)
    if since:
        return code_changes.check_since(memory, since)
    return code_changes.check_diff(memory, _diff_text(console, diff))


def _diff_text(console: Console, given: str) -> str:
    import sys

    if given == "-":
        return sys.stdin.buffer.read().decode("utf-8", "surrogateescape")
    path = os.path.join(console.start, given)
    try:
        with open(path, "rb") as file:
            return file.read().decode("utf-8", "surrogateescape")
    except OSError as error:
        raise ThunderusError(f"{given} cannot be read: {error.strerror}.") from error


def _rendered(
    memory: Memory, value: CheckReport, form: str, *, patch: bool
) -> Callable[[CheckReport, Console], str]:
    """What writes the report in a format."""
    from thunderus_mem.surfaces.render_evidence import check_report
    from thunderus_mem.surfaces.report import report
    from thunderus_mem.verbs.code_checking import diagnostics

    def for_people(value: CheckReport, console: Console) -> str:
        return check_report(value, console, patch=patch)

    def for_programs(value: CheckReport, _: Console) -> str:
        return report(seen_from_top(memory, diagnostics(memory, value), form), form, ()).rstrip("\n")

    return for_people if form == "text" else for_programs
