"""``for coverage``: from the code to the memories about it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

import typer

from thunderus_mem.cli.text import columns, counted, one_line, width
from thunderus_mem.verdicts.coverage import Coverage, FolderCoverage, coverage
from thunderus_mem.verdicts.lookup import Governed, Governing, governing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from thunderus_mem.cli.console import Console
    from thunderus_mem.cli.style import Style

app = typer.Typer()

_MOST_SHOWN: Final = 10


@app.command("for")
def for_command(
    ctx: typer.Context,
    place: Annotated[str, typer.Argument(metavar="PATH[#SYMBOL|:LINE]", help="A place in the code.")],
    mentions: Annotated[
        bool | None,
        typer.Option(
            "--mentions/--no-mentions",
            help="Also documents that only name the file; by default where few govern it.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Which memories govern this code, the most specific first, each with today's verdict.

    A place is a file or folder, a symbol (src/jwt.py#Token.issue) or lines (src/jwt.py:10-20).
    It may be gone. Put -- before a path that begins with a dash.
    """
    console: Console = ctx.obj
    value = governing(console.memory(), place, mentions=mentions, start=console.start)
    if note := governed_note(value):
        console.say(note)
    console.emit("for", value, governed, long=True)


@app.command("coverage")
def coverage_command(
    ctx: typer.Context,
    path: Annotated[str, typer.Argument(metavar="[PATH]", help="Only this folder.", show_default=False)] = "",
    depth: Annotated[int, typer.Option("--depth", "-d", min=0, max=100, help="How many folders down.")] = 2,
) -> None:
    """Which folders have code and which of it has memories; which memories have no anchor, or a weak one.

    Files further down are counted in their folder at that depth, so that all lines add up.
    """
    console: Console = ctx.obj
    value = coverage(console.memory(), path, depth=depth, start=console.start)
    if not value.folders:
        console.say("There is no code here.")
    console.emit("coverage", value, coverage_report, long=True)


def _verdict(verdict: str, style: Style) -> str:
    """A verdict in its colour."""
    if verdict in ("changed", "missing"):
        return style.error(verdict)
    return style.good(verdict) if verdict == "verified" else style.warning(verdict)


def governed(value: Governed, console: Console) -> str:
    """A memory a line: id, how it governs the code, verdict, anchor, title; what is wrong below it."""
    style = console.style
    if not value.memories:
        return ""
    rows = [
        (style.name(one.id), one.how, _standing(one, style), one.place, one_line(one.title))
        for one in value.memories
    ]
    head = []
    if console.width is not None:
        head = [tuple(map(style.dim, ("ID", "HOW", "VERDICT", "WHERE", "TITLE")))]
    lines = columns([*head, *rows], console.width, whole=1).split("\n")
    told = lines[: len(head)]
    for line, one in zip(lines[len(head) :], value.memories, strict=True):
        told.append(line)
        told += [f"    {style.dim(remark)}" for remark in _remarks(one)]
    return "\n".join(told)


def _standing(one: Governing, style: Style) -> str:
    if one.superseded_by:
        return style.warning("superseded")
    if one.verdict:
        return _verdict(one.verdict, style)
    return "" if one.status == "unknown" else one.status


def _remarks(one: Governing) -> list[str]:
    remarks = []
    if one.superseded_by:
        remarks.append(f"replaced by {one.superseded_by}")
    if one.verdict not in ("", "verified"):
        remarks.append(f"{one.reason}: {one.now}" if one.now and one.now not in one.reason else one.reason)
    return [one_line(remark) for remark in remarks]


def governed_note(value: Governed) -> str:
    """What somebody who sees the table should know besides; "" for nothing."""
    if value.more:
        return f"{counted(value.more, 'document')} only name the file; --mentions shows them."
    if not value.memories:
        where = "" if value.exists else " There is no such file."
        return f"No memory speaks of {value.place}.{where}"
    return ""


def coverage_report(value: Coverage, console: Console) -> str:
    """A folder a line with its counts, the sum below; then what has no anchor, and what has a weak one."""
    style = console.style
    head = ("FOLDER", "CODE FILES", "WITH ANCHORS", "BY PATTERN", "ANCHORS", "STALE")
    rows = [tuple(map(style.dim, head)), *(_counts(one, style) for one in value.folders)]
    if len(value.folders) > 1:
        rows.append(_counts(value.total._replace(path="all"), style))
    lines = _right(rows)
    if value.unanchored:
        names = [(style.name(one.id), one_line(one.title)) for one in value.unanchored[:_MOST_SHOWN]]
        lines += ["", f"{counted(len(value.unanchored), 'memory', 'memories')} without an anchor:"]
        lines += _indented(columns(names, console.width, whole=1), len(value.unanchored))
        lines.append(f"Next: {value.unanchored[0].next_step}")
    if value.weak:
        places = [
            (style.name(one.id), one.place, counted(one.files, "file")) for one in value.weak[:_MOST_SHOWN]
        ]
        lines += ["", "On whole files, so that any edit in them speaks against the memory:"]
        lines += _indented(columns(places, console.width, whole=1), len(value.weak))
        lines.append(f"Next: {value.weak[0].next_step}")
    return "\n".join(lines)


def _counts(one: FolderCoverage, style: Style) -> tuple[str, ...]:
    stale = style.warning(f"{one.stale:,}") if one.stale else "0"
    numbers = (one.files, one.anchored, one.by_pattern, one.anchors)
    return (style.name(one.path), *(f"{number:,}" for number in numbers), stale)


def _right(rows: Sequence[tuple[str, ...]]) -> list[str]:
    """Rows in columns, all but the first flush right."""
    widths = [max(map(width, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            [first + " " * (widths[0] - width(first))]
            + [" " * (most - width(cell)) + cell for most, cell in zip(widths[1:], rest, strict=True)]
        )
        for first, *rest in rows
    ]


def _indented(text: str, total: int) -> list[str]:
    more = [f"    … and {total - _MOST_SHOWN:,} more; --json has all"] if total > _MOST_SHOWN else []
    return [*(f"    {line}" for line in text.split("\n")), *more]
