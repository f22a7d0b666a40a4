"""Unified diffs as git writes them, read as hunks: which lines of which files a change touches. Pure.

Source of the format: git's documentation, "Generating patch text with -p" (git-diff), and POSIX ``diff -u``.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["FileDiff", "Hunk", "parse_diff", "unquoted"]

_HUNK: Final = re.compile(r"@@ -([0-9]{1,9})(?:,([0-9]{1,9}))? \+([0-9]{1,9})(?:,([0-9]{1,9}))? @@", re.ASCII)
_ESCAPES: Final = {"a": 7, "b": 8, "t": 9, "n": 10, "v": 11, "f": 12, "r": 13, '"': 34, "\\": 92}
_ESCAPED: Final = re.compile(r'\\([0-7]{3}|[abtnvfr"\\])')


class Hunk(NamedTuple):
    """A run of changed lines: first line and count in the old and the new file (from 1; a count of 0 stands
    behind the line named), and the diff's own lines."""

    old_start: int
    old_count: int
    new_start: int
    new_count: int
    lines: tuple[str, ...]

    def touches_old(self, first: int, last: int) -> bool:
        """Whether it takes away or adds inside these lines of the old file."""
        return _meets(self.old_start, self.old_count, first, last)

    def touches_new(self, first: int, last: int) -> bool:
        """Whether it puts or takes something inside these lines of the new file."""
        return _meets(self.new_start, self.new_count, first, last)

    @property
    def header(self) -> str:
        """The line that begins it in a diff."""
        return f"@@ -{self.old_start},{self.old_count} +{self.new_start},{self.new_count} @@"


def _meets(start: int, count: int, first: int, last: int) -> bool:
    if count == 0:
        # Between the line named and the next: inside only when both belong to the span.
        return first <= start < last
    return start <= last and first < start + count


class FileDiff(NamedTuple):
    """What a diff says of one file; a path is "" where there is none. ``binary``: it shows no lines."""

    old_path: str
    new_path: str
    hunks: tuple[Hunk, ...]
    binary: bool = False


def parse_diff(text: str) -> tuple[FileDiff, ...]:
    """The files of a unified diff in order. What stands between them is passed over, so that mails and
    ``git show`` read as well; of a text that is no diff nothing comes back. Never raises."""
    return tuple(_files(text.split("\n")))


def _files(lines: list[str]) -> Iterator[FileDiff]:
    at, git_names = 0, ("", "")
    pending: FileDiff | None = None
    while at < len(lines):
        line = lines[at]
        if line.startswith("diff --git "):
            if pending is not None:
                yield pending
            git_names = _git_names(line[11:])
            pending = FileDiff(*git_names, ())
        elif pending is not None and line.startswith(("rename from ", "copy from ")):
            pending = pending._replace(old_path=unquoted(line.partition(" from ")[2]))
        elif pending is not None and line.startswith(("rename to ", "copy to ")):
            pending = pending._replace(new_path=unquoted(line.partition(" to ")[2]))
        elif pending is not None and line.startswith("new file mode"):
            pending = pending._replace(old_path="")
        elif pending is not None and line.startswith("deleted file mode"):
            pending = pending._replace(new_path="")
        elif pending is not None and line.startswith(("Binary files ", "GIT binary patch")):
            pending = pending._replace(binary=True)
        elif line.startswith("--- ") and at + 1 < len(lines) and lines[at + 1].startswith("+++ "):
            if pending is not None and not git_names[0]:
                yield pending
            old, new = _name(line[4:], "a/"), _name(lines[at + 1][4:], "b/")
            hunks, at = _hunks(lines, at + 2)
            yield FileDiff(old, new, hunks)
            pending = None
            continue
        at += 1
    if pending is not None:
        yield pending


def _hunks(lines: list[str], at: int) -> tuple[tuple[Hunk, ...], int]:
    found = []
    while at < len(lines) and (match := _HUNK.match(lines[at])) is not None:
        old_start, old_count = int(match[1]), int(match[2] or "1")
        new_start, new_count = int(match[3]), int(match[4] or "1")
        start = at = at + 1
        old_left, new_left = old_count, new_count
        while at < len(lines) and (old_left > 0 or new_left > 0 or lines[at][:1] == "\\"):
            mark = lines[at][:1]
            old_left -= mark in ("-", " ", "")
            new_left -= mark in ("+", " ", "")
            if mark not in ("-", "+", " ", "\\", ""):
                break
            at += 1
        found.append(Hunk(old_start, old_count, new_start, new_count, tuple(lines[start:at])))
    return tuple(found), at


def _git_names(names: str) -> tuple[str, str]:
    """Both names of a ``diff --git`` line, as far as it says them without doubt."""
    if names.startswith('"'):
        end = _closing(names)
        return _stripped(unquoted(names[: end + 1]), "a/"), _stripped(unquoted(names[end + 2 :]), "b/")
    half = len(names) // 2
    one, other = names[:half], names[half + 1 :]
    if one.startswith("a/") and other == f"b/{one[2:]}":
        return one[2:], one[2:]
    first, mark, second = names.partition(" b/")
    return (_stripped(first, "a/"), second) if mark else ("", "")


def _closing(text: str) -> int:
    at = 1
    while at < len(text) and text[at] != '"':
        at += 2 if text[at] == "\\" else 1
    return at


def _name(written: str, prefix: str) -> str:
    if not written.startswith('"'):
        written = written.partition("\t")[0].rstrip("\r")
    name = unquoted(written)
    return "" if name == "/dev/null" else _stripped(name, prefix)


def _stripped(name: str, prefix: str) -> str:
    return name.removeprefix(prefix)


def unquoted(name: str) -> str:
    """A path as git writes it: in double quotes with escapes when it holds unusual characters."""
    if len(name) < 2 or name[0] != '"' or name[-1] != '"':
        return name
    raw = bytearray()
    last = 0
    inner = name[1:-1]
    for match in _ESCAPED.finditer(inner):
        raw += inner[last : match.start()].encode("utf-8", "surrogateescape")
        code = match[1]
        raw.append(int(code, 8) & 0xFF if len(code) == 3 else _ESCAPES[code])
        last = match.end()
    raw += inner[last:].encode("utf-8", "surrogateescape")
    return raw.decode("utf-8", "surrogateescape")
