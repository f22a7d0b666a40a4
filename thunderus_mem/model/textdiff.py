"""Unified diffs of documents, as ``git apply`` reads them, with a cap on their size."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["MAX_DIFF", "lines_of", "raw_lines", "stretches", "unified_diff", "whole_diff"]

MAX_DIFF: Final = 32 * 1024
"""Bytes (UTF-8) of the longest diff that is kept."""
_CONTEXT: Final = 3
_MAX_LINES: Final = 3_000
"""Changed stretches longer than this are not compared: their diff would pass the cap or take seconds."""


def lines_of(text: str) -> list[str]:
    """The lines of a text with their ends, all written as LF; a last line without an end keeps none."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    if lines[-1] == "":
        return [f"{line}\n" for line in lines[:-1]]
    return [f"{line}\n" for line in lines[:-1]] + [lines[-1]]


def raw_lines(text: str) -> list[str]:
    """Lines with their ends, cut at LF only (a lone CR or U+2028 is text, as it is for git)."""
    parts = text.split("\n")
    lines = [part + "\n" for part in parts[:-1]]
    return [*lines, parts[-1]] if parts[-1] else lines


def _shared(old: Sequence[str], new: Sequence[str]) -> tuple[int, int]:
    """How many lines the two have in common at the start, and at the end."""
    limit = min(len(old), len(new))
    start = 0
    while start < limit and old[start] == new[start]:
        start += 1
    end = 0
    while end < limit - start and old[-1 - end] == new[-1 - end]:
        end += 1
    return start, end


def stretches(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int, int, int]] | None:
    """Where two lists of lines differ, as ``(old start, old stop, new start, new stop)``, in order.

    ``None`` when so much differs that comparing it would take seconds.
    """
    from difflib import SequenceMatcher

    start, end = _shared(old, new)
    if max(len(old), len(new)) - start - end > _MAX_LINES:
        return None
    matcher = SequenceMatcher(None, old[start : len(old) - end], new[start : len(new) - end])
    return [
        (i1 + start, i2 + start, j1 + start, j2 + start)
        for tag, i1, i2, j1, j2 in matcher.get_opcodes()
        if tag != "equal"
    ]


def _range(start: int, stop: int) -> str:
    count = stop - start
    if count == 1:
        return str(start + 1)
    return f"{start + 1 if count else start},{count}"


def _marked(sign: str, lines: Sequence[str]) -> list[str]:
    whole = (line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)
    return [sign + line for line in whole]


def unified_diff(old: str | None, new: str | None, path: str) -> str | None:
    """The diff from ``old`` to ``new`` (``None`` = no file) with three lines of context; line ends as LF.

    "" when nothing differs, ``None`` when the diff would be longer than 32 KiB.
    """
    diff = _diff(old, new, path, coarse=False)
    return diff if diff is not None and len(diff.encode("utf-8", "replace")) <= MAX_DIFF else None


def whole_diff(old: str | None, new: str | None, path: str) -> str:
    """As `unified_diff`, however long it is; where comparing would take seconds, all that may differ is one
    hunk."""
    return _diff(old, new, path, coarse=True) or ""


def _diff(old: str | None, new: str | None, path: str, *, coarse: bool) -> str | None:
    before, after = lines_of(old or ""), lines_of(new or "")
    if before == after and (old is None) == (new is None):
        return ""
    start, end = _shared(before, after)
    long = max(len(before), len(after)) - start - end > _MAX_LINES
    if long and not coarse:
        return None
    first = max(0, start - _CONTEXT)
    cut = max(0, end - _CONTEXT)
    before, after = before[first : len(before) - cut], after[first : len(after) - cut]
    parts = [f"--- {'/dev/null' if old is None else f'a/{path}'}\n"]
    parts.append(f"+++ {'/dev/null' if new is None else f'b/{path}'}\n")
    for group in _one_group(before, after, start - first, end - cut) if long else _groups(before, after):
        old_range = _range(group[0][1] + first, group[-1][2] + first)
        new_range = _range(group[0][3] + first, group[-1][4] + first)
        parts.append(f"@@ -{old_range} +{new_range} @@\n")
        for tag, i1, i2, j1, j2 in group:
            if tag == "equal":
                parts.extend(_marked(" ", before[i1:i2]))
            else:
                parts.extend(_marked("-", before[i1:i2]))
                parts.extend(_marked("+", after[j1:j2]))
    return "".join(parts)


_Group: TypeAlias = "list[tuple[str, int, int, int, int]]"


def _groups(before: Sequence[str], after: Sequence[str]) -> list[_Group]:
    from difflib import SequenceMatcher

    return [list(group) for group in SequenceMatcher(None, before, after).get_grouped_opcodes(_CONTEXT)]


def _one_group(before: Sequence[str], after: Sequence[str], lead: int, tail: int) -> list[_Group]:
    """Everything between the first ``lead`` and the last ``tail`` lines as one replacement."""
    old, new = len(before), len(after)
    whole = [
        ("equal", 0, lead, 0, lead),
        ("replace", lead, old - tail, lead, new - tail),
        ("equal", old - tail, old, new - tail, new),
    ]
    return [[one for one in whole if one[2] > one[1] or one[4] > one[3]]]
