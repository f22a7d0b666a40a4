"""Findings that somebody has answered: in a comment of the document, or for files in ``config.toml``. Pure.

``<!-- thunderus-mem: ignore TM201 reason -->`` at the end of a line speaks for that line, alone on a line for
the next one that is not blank; ``ignore-file`` speaks for the whole file, its frontmatter included. Several
codes are joined by commas. TM401 must name the fingerprint of the secret it means, never all of them.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from thunderus_mem.document.markdown import scan

if TYPE_CHECKING:
    from thunderus_mem.diagnostic import Diagnostic

MARK: Final = "thunderus-mem: ignore"
_COMMENT = re.compile(r"<!--\s{0,9}thunderus-mem: ignore(-file)?(?![\w-])([^\n>]{0,600}?)-->")
_CODES = re.compile(r"\s{0,9}([A-Za-z0-9_-]+(?:\s{0,3},\s{0,3}[A-Za-z0-9_-]+){0,40})")
_SECRET = "TM401"
FINGERPRINT = re.compile(r"\b[0-9a-f]{8}\b")


class Suppression(NamedTuple):
    """One answer: its codes, the line it speaks for (0: the file), and the words of its reason.

    ``at`` is where a comment stands, and ``shown`` is true for one inside code, which may be an example.
    ``glob`` is set for an entry of the configuration.
    """

    codes: tuple[str, ...]
    line: int
    reason: str
    at: tuple[int, int] = (0, 0)
    shown: bool = False
    glob: str = ""

    def covers(self, found: Diagnostic) -> bool:
        """Whether this answers that finding."""
        if found.rule not in self.codes or self.line not in (0, found.line):
            return False
        if found.rule != _SECRET:
            return True
        return any(f"(fingerprint {mark})" in found.message for mark in FINGERPRINT.findall(self.reason))


def suppressions(text: str) -> tuple[Suppression, ...]:
    """The comments of a file, in order. Lines count from 1 in the file."""
    if MARK not in text:
        return ()
    found: list[Suppression] = []
    lines = text.split("\n")
    fenced = _fenced(text)
    for number, line in enumerate(lines, 1):
        if MARK not in line:
            continue
        alone = not _COMMENT.sub("", line).strip()
        for match in _COMMENT.finditer(line):
            speaks_for = 0 if match[1] else _next_line(lines, number) if alone else number
            shown = number in fenced or line.count("`", 0, match.start()) % 2 == 1
            codes, reason = _parts(match[2])
            found.append(Suppression(codes, speaks_for, reason, (number, match.start() + 1), shown))
    return tuple(found)


def _parts(words: str) -> tuple[tuple[str, ...], str]:
    match = _CODES.match(words)
    if match is None:
        return (), words.strip()
    return tuple(code.strip() for code in match[1].split(",")), words[match.end() :].strip()


def _fenced(text: str) -> frozenset[int]:
    lines, _, hidden = scan(text)
    code = [(start, end) for start, end in hidden if lines[start].lstrip(" \t")[:1] in ("`", "~")]
    return frozenset(number + 1 for start, end in code for number in range(start, end))


def _next_line(lines: list[str], number: int) -> int:
    for after in range(number, len(lines)):
        if lines[after].strip() and not (MARK in lines[after] and not _COMMENT.sub("", lines[after]).strip()):
            return after + 1
    return number
