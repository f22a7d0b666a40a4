"""``check``: which memories the code does not support, whole or for one change."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Annotated, Final

import typer

from thunderus_mem.cli.params import Output, Patch
from thunderus_mem.cli.report.report import chosen_form, hand_over, report, seen_from_top
from thunderus_mem.cli.text import aligned, counted, diff_line, one_line, verdict_word
from thunderus_mem.errors import ThunderusError
from thunderus_mem.lint.check import (
    CheckReport,
    CodeFinding,
    check,
    check_diff,
    check_since,
    check_staged,
    diagnostics,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from thunderus_mem.cli.console import Console
    from thunderus_mem.cli.style import Style
    from thunderus_mem.memory.memory import Memory

app = typer.Typer()

FORMATS: Final = ("text", "json", "jsonl", "github", "gitlab", "sarif", "junit")
_MOST_UNKNOWN: Final = 10


@app.command("check")
def check_command(
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
    patch: Patch = False,
    output: Output = "",
    exit_zero: Annotated[bool, typer.Option("--exit-zero", help="End with 0 whatever is found.")] = False,
) -> int:
    """Tell which memories the code does not support any more. Exits with 1 when there are some.

    With --since, --staged or --diff: which ones that change makes false, judged by its hunks.
    """
    console: Console = ctx.obj
    chosen = sum((bool(documents), bool(since), staged, bool(diff), everything))
    if chosen > 1:
        raise ThunderusError("IDs, --since, --staged, --diff and --all leave each other no room.")
    form = chosen_form(console, form, FORMATS, "text")
    memory = console.memory()
    value = _checked(console, memory, documents or (), since=since, staged=staged, diff=diff)
    text = _rendered(memory, value, form, patch=patch)
    hand_over(
        console, "check", value, text, output, drawn=form == "text", for_people=form in ("text", "github")
    )
    for line in summary(value, changed=bool(since or staged or diff)) if form == "text" else ():
        console.say(line)
    console.tell_others()
    return int(bool(value.findings) and not exit_zero)


def _checked(
    console: Console, memory: Memory, ids: Sequence[str], *, since: str, staged: bool, diff: str
) -> CheckReport:
    if not (since or staged or diff):
        return check(memory, tuple(ids))
    if staged:
        return check_staged(memory)
    if since:
        return check_since(memory, since)
    return check_diff(memory, _diff_text(console, diff))


def _diff_text(console: Console, given: str) -> str:
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

    def for_people(value: CheckReport, console: Console) -> str:
        return check_report(value, console, patch=patch)

    def for_programs(value: CheckReport, _: Console) -> str:
        return report(seen_from_top(memory, diagnostics(memory, value), form), form).rstrip("\n")

    return for_people if form == "text" else for_programs


def check_report(value: CheckReport, console: Console, *, patch: bool = False) -> str:
    """Each memory that the code does not support, with its anchors; then what cannot be told."""
    blocks = ["\n".join(_document(ones, console.style, patch)) for ones in _by_document(value.findings)]
    if value.unknown:
        blocks.append("\n".join(_unknown(value, console.style)))
    return "\n\n".join(blocks)


def _by_document(findings: Sequence[CodeFinding]) -> list[list[CodeFinding]]:
    found: dict[str, list[CodeFinding]] = {}
    for one in findings:
        found.setdefault(one.doc_id, []).append(one)
    return list(found.values())


def _document(ones: Sequence[CodeFinding], style: Style, patch: bool) -> Iterator[str]:
    first = ones[0]
    yield f"{style.bold(one_line(first.title))}  {style.name(first.doc_id)}"
    for one in ones:
        yield style.dim(f"{one.path}:{one.line}")
        yield f"  {verdict_word(one.verdict, style)}  {one.place}: {one.reason}"
        if one.hunk:
            yield f"    by {one.file} {one.hunk}"
        elif one.commit:
            yield f"    by {one.commit[:12]} {one_line(one.subject)}"
        if patch and one.diff:
            yield from (f"    {diff_line(line, style)}" for line in one.diff.splitlines())
    yield style.dim(f"  {first.next_step}")


def _unknown(value: CheckReport, style: Style) -> Iterator[str]:
    yield style.dim(f"Of {counted(len(value.unknown), 'anchor')} nothing can be said:")
    rows = [(f"  {one.doc_id}", one.place, one.reason) for one in value.unknown[:_MOST_UNKNOWN]]
    yield from aligned(rows)
    if len(value.unknown) > _MOST_UNKNOWN:
        yield f"  … and {len(value.unknown) - _MOST_UNKNOWN} more"


def summary(value: CheckReport, *, changed: bool) -> Iterator[str]:
    """One line about the whole."""
    looked = f"{counted(value.anchors, 'anchor')} of {counted(value.documents, 'document')}"
    if changed:
        yield f"{looked} at the changed files; {len({one.doc_id for one in value.findings})} made false."
        return
    moved = f", {value.moved} moved" if value.moved else ""
    stale = len(value.findings)
    yield f"{looked} checked: {stale} not supported by the code{moved}, {len(value.unknown)} unknown."
    if value.moved:
        yield "`thunderus-mem verify --fix-moved` sets anchors anew whose code only moved."
