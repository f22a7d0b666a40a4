"""Findings that a document's author has answered, in HTML comments.

``<!-- thunderus-mem: ignore TM201 reason -->`` at the end of a line speaks for that line, alone on a line for
the next one that is not blank; ``ignore-file`` speaks for the whole file, its frontmatter included. Several
codes are joined by commas. TM401 must name the fingerprint of the secret it means, never all of them.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from thunderus_mem.model.diagnostic import Diagnostic

MARK: Final = "thunderus-mem: ignore"
_COMMENT = re.compile(
    r"<!--\s{0,9}thunderus-mem: ignore(-file)?\s{1,9}"
    r"(TM[0-9]{3}(?:\s{0,3},\s{0,3}TM[0-9]{3}){0,40})([^\n>]{0,500}?)-->"
)
_SECRET = "TM401"
_FINGERPRINT = re.compile(r"\b[0-9a-f]{8}\b")


class Suppression(NamedTuple):
    """One comment: its codes, the line it speaks for (0: the file), and the words of its reason."""

    codes: tuple[str, ...]
    line: int
    reason: str

    def covers(self, found: Diagnostic) -> bool:
        """Whether this comment answers that finding."""
        if found.rule not in self.codes or self.line not in (0, found.line):
            return False
        if found.rule != _SECRET:
            return True
        return any(f"(fingerprint {mark})" in found.message for mark in _FINGERPRINT.findall(self.reason))


def suppressions(text: str) -> tuple[Suppression, ...]:
    """The comments of a file, in order. Lines count from 1 in the file."""
    if MARK not in text:
        return ()
    found: list[Suppression] = []
    lines = text.split("\n")
    for number, line in enumerate(lines, 1):
        if MARK not in line:
            continue
        alone = not _COMMENT.sub("", line).strip()
        for match in _COMMENT.finditer(line):
            speaks_for = 0 if match[1] else _next_line(lines, number) if alone else number
            codes = tuple(code.strip() for code in match[2].split(","))
            found.append(Suppression(codes, speaks_for, match[3].strip()))
    return tuple(found)


def _next_line(lines: list[str], number: int) -> int:
    for after in range(number, len(lines)):
        if lines[after].strip() and not (MARK in lines[after] and not _COMMENT.sub("", lines[after]).strip()):
            return after + 1
    return number


def unanswered(text: str | None, found: list[Diagnostic]) -> list[Diagnostic]:
    """The findings that no comment in ``text`` answers."""
    comments = suppressions(text) if text and found else ()
    if not comments:
        return found
    return [one for one in found if not any(comment.covers(one) for comment in comments)]
