"""Applying the unified diffs that the log keeps, to know a text that is nowhere else any more."""

from __future__ import annotations

import re

from thunderus_mem.model.textdiff import raw_lines

_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@", re.ASCII)
_NO_NEWLINE = "\\ No newline at end of file"
_TURNED = {"+": "-", "-": "+"}


def apply_diff(text: str, diff: str) -> str | None:
    """The text after a unified diff; ``None`` when the diff is not one of this text."""
    old = raw_lines(text)
    new: list[str] = []
    position = 0
    body = raw_lines(diff)
    index = 0
    while index < len(body):
        match = _HUNK.match(body[index])
        if match is None:
            index += 1
            continue
        start = int(match[1]) - (1 if match[2] != "0" else 0)
        if start < position or start > len(old):
            return None
        new.extend(old[position:start])
        position, index, fits = _apply_hunk(old, start, body, index + 1, new)
        if not fits:
            return None
    new.extend(old[position:])
    return "".join(new)


def reversed_diff(diff: str) -> str:
    """The diff that leads back; the lines that name the file stay as they are."""
    turned: list[str] = []
    inside = False
    for line in raw_lines(diff):
        match = _HUNK.match(line)
        if match is not None:
            old, _, new = match[0][4:-3].partition(" +")
            turned.append(f"@@ -{new} +{old} @@\n")
            inside = True
        else:
            turned.append(_TURNED.get(line[:1], line[:1]) + line[1:] if inside else line)
    return "".join(turned)


def _apply_hunk(
    old: list[str], position: int, body: list[str], index: int, new: list[str]
) -> tuple[int, int, bool]:
    """Carry out one hunk: the positions after it in the old text and the diff, and whether it fitted."""
    while index < len(body) and body[index][:1] in (" ", "+", "-"):
        mark, line = body[index][0], body[index][1:]
        index += 1
        if index < len(body) and body[index].startswith(_NO_NEWLINE):
            line = line.removesuffix("\n")
            index += 1
        if mark == "+":
            new.append(line)
            continue
        if position >= len(old) or old[position] != line:
            return position, index, False
        if mark == " ":
            new.append(line)
        position += 1
    return position, index, True
