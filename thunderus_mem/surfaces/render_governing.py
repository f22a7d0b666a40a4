"""``for`` and ``coverage`` for people."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from thunderus_mem.surfaces.render import columns
from thunderus_mem.surfaces.text import counted, one_line

if TYPE_CHECKING:
    from thunderus_mem.surfaces.cli.console import Console
    from thunderus_mem.surfaces.style import Style
    from thunderus_mem.verbs.governing import Governed, Governing

_ALARMS: Final = ("changed", "missing")


def verdict_word(verdict: str, style: Style) -> str:
    """A verdict in its colour."""
    if verdict in _ALARMS:
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
    lines = columns([*head, *rows], console, whole=1).split("\n")
    told = lines[: len(head)]
    for line, one in zip(lines[len(head) :], value.memories, strict=True):
        told.append(line)
        told += [f"    {style.dim(remark)}" for remark in _remarks(one)]
    return "\n".join(told)


def _standing(one: Governing, style: Style) -> str:
    if one.superseded_by:
        return style.warning("superseded")
    return verdict_word(one.verdict, style) if one.verdict else one.status


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
