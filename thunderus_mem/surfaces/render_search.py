"""Hits for people. Apart from ``render``, so that a search loads nothing else."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from thunderus_mem.recall.search import Hit
    from thunderus_mem.surfaces.cli.console import Console
    from thunderus_mem.surfaces.style import Style
    from thunderus_mem.verbs.finding import SearchResult

_BLANKS = re.compile(r"\s+")


def search_result(value: SearchResult, console: Console) -> str:
    """Each hit: title and id, where it stands, and the passage with the words marked."""
    return "\n\n".join(_hit(hit, console.style, console.width) for hit in value.hits)


def hit_ids(value: SearchResult, console: Console) -> str:
    """Only the ids, best first."""
    return "\n".join(hit.id for hit in value.hits)


def _hit(hit: Hit, style: Style, room: int | None) -> str:
    place = hit.path + (f":{hit.line}" if hit.line else "") + (f" #{hit.anchor}" if hit.anchor else "")
    remarks = [hit.kind, f"{hit.score:.3f}"]
    if hit.archived:
        remarks.append("archived")
    if hit.status not in ("", "unknown"):
        remarks.append(hit.status)
    lines = [
        f"{style.bold(_BLANKS.sub(' ', hit.title))}  {style.name(hit.id)}",
        style.dim(f"{place}  ({', '.join(remarks)})"),
    ]
    if hit.superseded_by:
        lines.append(style.warning(f"replaced by {hit.superseded_by}"))
    snippet = _BLANKS.sub(" ", _marked(hit.snippet, hit.marks, style)).strip()
    if snippet:
        lines += [f"    {line}" for line in _wrapped(snippet, room)]
    lines += [f"    {style.dim(f'{name} {value}')}" for name, value in sorted(hit.explain.items())]
    return "\n".join(lines)


def _wrapped(text: str, room: int | None) -> list[str]:
    """The snippet in lines that a terminal does not break inside a word; whole where nobody looks."""
    if room is None:
        return [text]
    from thunderus_mem.surfaces.text import wrapped

    return wrapped(text, min(room, 100) - 4)


def _marked(text: str, marks: tuple[tuple[int, int], ...], style: Style) -> str:
    """The snippet with its marked ranges in the match style."""
    parts, at = [], 0
    for start, end in sorted(marks):
        if start >= at:
            parts += [text[at:start], style.match(text[start:end])]
            at = end
    return "".join([*parts, text[at:]])
