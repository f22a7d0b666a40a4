"""Classify the lines of a Markdown text: prose that may be changed, and everything else. Pure."""

from __future__ import annotations

import re
from typing import NamedTuple

_FENCE = re.compile(r"\s*(`{3,}|~{3,})")
_ITEM = re.compile(r"(?:[-*+]|\d{1,9}[.)])[ \t]+")
_NOT_PROSE = re.compile(r"[ \t]|[#|><!:{}%\[\]=]|\*\*\*|---|___|import |export |@|\+\+\+")


class Block(NamedTuple):
    """Lines that belong together. ``sort`` is "paragraph", "item" (of an unordered list) or "other".

    ``followed`` says whether the next block but blank lines is of another sort than a paragraph or heading:
    then the last sentence may introduce it. ``continued`` says whether the next line that is not blank is
    indented, and so may belong to it.
    """

    sort: str
    lines: tuple[str, ...]
    followed: bool
    continued: bool


def _sort(lines: list[str]) -> str:
    if any(line.startswith((" ", "\t")) or "  " in line.rstrip() for line in lines[1:]):
        return "other"
    if all(not _NOT_PROSE.match(line) and not _ITEM.match(line) for line in lines):
        return "paragraph"
    bulleted = lines[0][:2] in ("- ", "* ", "+ ")
    if len(lines) == 1 and bulleted and not lines[0][2:].startswith(("[ ]", "[x]", " ", "\t")):
        return "item"
    return "other"


def blocks(body: str) -> list[Block]:
    """A text as blocks; joined with ``"\\n"`` their lines are the text again."""
    groups: list[list[str]] = []
    fence = ""
    open_group = False
    for line in body.split("\n"):
        mark = _FENCE.match(line)
        if fence:
            groups[-1].append(line)
            if mark and mark[1].startswith(fence) and not line.strip().strip(fence[0]):
                fence, open_group = "", False
        elif mark:
            groups.append([line])
            fence = mark[1]
        elif not line.strip():
            groups.append([line])
            open_group = False
        elif open_group and not _ITEM.match(line) and not line.startswith("#"):
            groups[-1].append(line)
        else:
            groups.append([line])
            open_group = not line.startswith("#")
    sorts = ["other" if _FENCE.match(group[0]) else _sort(group) for group in groups]
    found = []
    for at, group in enumerate(groups):
        coming = (after for after in range(at + 1, len(groups)) if groups[after][0].strip())
        after = next(coming, None)
        plain = after is None or sorts[after] == "paragraph" or groups[after][0].startswith("#")
        indented = after is not None and groups[after][0].startswith((" ", "\t"))
        sort = sorts[at] if group[0].strip() else "other"
        found.append(Block(sort, tuple(group), not plain, indented))
    return found
