"""Snippets: the lines of a passage shown in a hit, read from its file.

A snippet is made only if the file is unchanged since it was indexed. Read only.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from thunderus_mem.index.scan import read_bytes, stamp_of

if TYPE_CHECKING:
    from thunderus_mem.index.questions import Index

WIDTH: Final = 240
_MARK = re.compile("[\x01\x02]")


class Snippet(NamedTuple):
    """A short text, its matching ranges, the location of its passage, and the prompt injection in that."""

    anchor: str
    line: int
    text: str
    marks: tuple[tuple[int, int], ...]
    injection: str


class Outdated(Exception):
    """A file changed since the index was refreshed."""


class Snippets:
    """Extracts snippets for one query. ``expression`` is the FTS5 expression whose words are marked, "" for
    none. With ``whole``, a changed file raises ``Outdated``."""

    def __init__(self, root: str, index: Index, expression: str, *, whole: bool) -> None:
        self._root = root
        self._index = index
        self._expression = expression
        self._whole = whole
        self._words = [word for word in re.findall(r"\w{3,}", expression) if word not in ("AND", "OR")]

    def of(self, path: str, passage: int) -> Snippet | None:
        """Return the snippet of a passage by its row id; ``None`` if the file is missing or has changed."""
        row = self._index.passage(passage, path)
        lines = self._lines(path, row.stamp) if row is not None else None
        if row is None or lines is None:
            if self._whole:
                raise Outdated(path)
            return None
        text = "\n".join(lines[row.line - 1 : row.line - 1 + row.lines])
        shown, marks = self._cut(_MARK.sub(" ", text))
        return Snippet(row.anchor, row.line, shown, marks, row.injection)

    def _lines(self, path: str, stamp: tuple[int, ...]) -> list[str] | None:
        """Return the lines of the file, if the opened file has this stamp: it may have been replaced."""
        found = stamp_of(self._root, path)
        try:
            data, opened = read_bytes(self._root, found) if found is not None else (b"", None)
        except OSError:
            return None
        if opened is None or opened.values != stamp:
            return None
        return data.decode("utf-8", "replace").replace("\r\n", "\n").split("\n")

    def _cut(self, text: str) -> tuple[str, tuple[tuple[int, int], ...]]:
        """Cut out the window with the most marks."""
        marks = self._marks(text) if self._expression else []
        start, end = _window(text, marks)
        inside = tuple(
            (first - start, last - start) for first, last in marks if start <= first and last <= end
        )
        return text[start:end].replace("\n", " ").replace("\t", " "), inside

    def _marks(self, text: str) -> list[tuple[int, int]]:
        """Find the query's words: as tokenised by the index, else as parts of longer names."""
        marks = self._index.marks(text, self._expression)
        if not marks and self._words:
            names = re.compile("|".join(map(re.escape, self._words)), re.IGNORECASE)
            marks = [match.span() for match in names.finditer(text)]
        return marks


def _window(text: str, marks: list[tuple[int, int]]) -> tuple[int, int]:
    """Return start and end of a window of about ``WIDTH`` characters with the most marks, at word
    boundaries."""
    if len(text) <= WIDTH:
        return 0, len(text)
    start = 0
    if marks:
        inside = [
            sum(first <= other[0] and other[1] <= first + WIDTH - 40 for other in marks) for first, _ in marks
        ]
        start = max(0, marks[inside.index(max(inside))][0] - 40)
    end = min(len(text), start + WIDTH)
    start = max(0, end - WIDTH)
    if start and (blank := re.search(r"\s", text[start : start + 30])):
        start += blank.end()
    if end < len(text):
        cut = max(text.rfind(" ", end - 30, end), text.rfind("\n", end - 30, end))
        end = cut if cut > start else end
    return start, end
