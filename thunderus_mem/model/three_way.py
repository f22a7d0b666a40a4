"""Joining two changes of one text by lines: what ``ours`` says stays, what ``theirs`` changed is added."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from thunderus_mem.model.textdiff import lines_of, stretches

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["main_line_end", "three_way"]


class _Stretch(NamedTuple):
    """Lines ``start`` to ``stop`` of the base, and the lines that stand in their place."""

    start: int
    stop: int
    lines: tuple[str, ...]


def main_line_end(text: str) -> str:
    """The line end that most lines of a text have; LF when there are none."""
    return "\r\n" if text.count("\r\n") * 2 > text.count("\n") else "\n"


def three_way(base: str, ours: str, theirs: str, *, apart: int = 0) -> str | None:
    """``ours`` with what changed from ``base`` to ``theirs``; ``None`` where both changed the same lines.

    Line ends do not count in the comparison: lines of ``ours`` keep theirs, new ones get what most have.
    Changes of neighbouring lines are the same place, as git sees it, but not in the first ``apart`` lines.
    """
    old, own, other = lines_of(base), lines_of(ours), lines_of(theirs)
    by_us, by_them = _stretches(old, own), _stretches(old, other)
    if by_us is None or by_them is None:
        return None
    wanted = [one for one in by_them if one not in by_us]
    if any(_meet(one, ours_too, apart) for one in wanted for ours_too in by_us):
        return None
    return _carried_out(_raw_lines(ours), by_us, wanted, main_line_end(ours))


def _stretches(old: Sequence[str], new: Sequence[str]) -> list[_Stretch] | None:
    found = stretches(old, new)
    return None if found is None else [_Stretch(i, j, tuple(new[k:end])) for i, j, k, end in found]


def _meet(one: _Stretch, other: _Stretch, apart: int) -> bool:
    if one.start < other.stop and other.start < one.stop:
        return True
    if one.start == one.stop == other.start == other.stop:
        return True
    touching = one.start == other.stop or other.start == one.stop
    return touching and max(one.start, other.start) >= apart


def _raw_lines(text: str) -> list[str]:
    """The lines of a text with the ends they have; as many as `lines_of` finds."""
    lines = []
    at = 0
    for line in lines_of(text):
        end = at + len(line)
        if line.endswith("\n") and text.startswith("\r\n", end - 1):
            end += 1
        lines.append(text[at:end])
        at = end
    return lines


def _carried_out(lines: list[str], by_us: list[_Stretch], wanted: list[_Stretch], line_end: str) -> str:
    """Our raw lines with the wanted stretches, whose places are those of the base."""
    for one in reversed(wanted):
        shift = sum(len(ours.lines) - (ours.stop - ours.start) for ours in by_us if ours.stop <= one.start)
        lines[one.start + shift : one.stop + shift] = [_ended(line, line_end) for line in one.lines]
    return "".join(lines)


def _ended(line: str, line_end: str) -> str:
    return line[:-1] + line_end if line.endswith("\n") else line
