"""Snippets: the lines of a passage shown in a hit, read from its file.

A snippet is made only if the file is unchanged since it was indexed. Read only.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from thunderus_mem.index.scan import read_bytes, stamp_of
from thunderus_mem.startup import NamedTuple, lazy_pattern

if TYPE_CHECKING:
    from thunderus_mem.index.questions import Index, PassageRow

WIDTH: Final = 240
_BEFORE: Final = 60
"""Most text before the first mark of a window that does not begin with the passage."""
ELLIPSIS: Final = "…"
_LONGEST: Final = 50_000
"""Characters of a passage in which words are looked for: SQLite takes seconds to mark a hundred thousand."""
_MARK = lazy_pattern("[\x01\x02]")
_LINE_START = lazy_pattern(r"\n+")
_WORD_START = lazy_pattern(r"\s+")
_FENCE = lazy_pattern(r"[ \t]*(?:`{3}|~{3})")
_OWN_LINE = lazy_pattern(r"[ \t]*(?:[-*+][ \t]|[0-9]{1,9}[.)][ \t]|[#>|]|`{3}|~{3}|$)| {4}|\t")


class Snippet(NamedTuple):
    """A short text, its matching ranges, the location of its passage, and the prompt injection in that.

    An ellipsis is where text is missing; lines are those of lists, quotes, tables, code and paragraphs."""

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
        found = self.passage(path, passage)
        if found is None:
            return None
        row, text = found
        shown, marks = self._cut(_MARK.sub(" ", text[:_LONGEST]))
        return Snippet(row.anchor, row.line, shown, marks, row.injection)

    def passage(self, path: str, passage: int) -> tuple[PassageRow, str] | None:
        """Return a passage with its whole text; ``None`` if the file is missing or has changed."""
        row = self._index.passage(passage, path)
        lines = self._lines(path, row.stamp) if row is not None else None
        if row is None or lines is None:
            if self._whole:
                raise Outdated(path)
            return None
        return row, "\n".join(lines[row.line - 1 : row.line - 1 + row.lines])

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
        """Cut out the window with the most marks, with an ellipsis where text is missing."""
        text = _joined(text)
        marks = self._marks(text) if self._expression else []
        start, end = _window(text, marks)
        before = ELLIPSIS + _break(text[start - 1]) if text[:start].strip() else ""
        after = _break(text[end]) + ELLIPSIS if text[end:].strip() else ""
        shift = len(before) - start
        inside = tuple(
            (first + shift, last + shift) for first, last in marks if start <= first and last <= end
        )
        return f"{before}{text[start:end]}{after}".replace("\t", " "), inside

    def _marks(self, text: str) -> list[tuple[int, int]]:
        """Find the query's words: as tokenised by the index, else as parts of longer names."""
        marks = self._index.marks(text, self._expression)
        if not marks and self._words:
            names = re.compile("|".join(map(re.escape, self._words)), re.IGNORECASE)
            marks = [match.span() for match in names.finditer(text)]
        return marks


def _break(char: str) -> str:
    """Return what is between an ellipsis and the text, from the character where it is cut."""
    return "\n" if char == "\n" else " "


def _joined(text: str) -> str:
    """Join the lines of each paragraph; lists, quotes, tables and code keep theirs. The length stays the
    same."""
    lines = text.split("\n")
    joined, fenced = [lines[0]], False
    for above, line in pairwise(lines):
        fenced ^= _FENCE.match(above) is not None
        separate = fenced or not above.strip() or above.startswith("#") or _FENCE.match(above)
        joined += ("\n" if separate or _OWN_LINE.match(line) else " ", line)
    return "".join(joined)


def _window(text: str, marks: list[tuple[int, int]]) -> tuple[int, int]:
    """Return start and end of the window with the most marks, of about ``WIDTH`` characters, at boundaries of
    lines or words."""
    if len(text) <= WIDTH:
        return 0, len(text)
    ends = [last for _, last in marks]
    # A search for each mark: a long text may have a hundred thousand of them.
    stops = [bisect_right(ends, first + WIDTH - _BEFORE) for first, _ in marks]
    best = max(range(len(marks)), key=lambda place: stops[place] - place, default=0)
    fullest = ends[best : stops[best]] if marks else []
    at = marks[best][0] if fullest else 0
    start = _start(text, min(at - _BEFORE, len(text) - WIDTH), at)
    end = min(len(text), start + WIDTH)
    if end < len(text):
        last = max((last for last in fullest if last <= end), default=start)
        cuts = (text.rfind("\n", max(last, end - _BEFORE), end), text.rfind(" ", max(last, end - 30), end))
        end = next((cut for cut in cuts if cut > start), end)
    return start, start + len(text[start:end].rstrip())


def _start(text: str, earliest: int, at: int) -> int:
    """Return the first beginning of a line, else of a word, from ``earliest`` to ``at``."""
    if earliest <= 0:
        return 0
    for boundary in (_LINE_START, _WORD_START):
        if found := boundary.search(text, earliest - 1, at):
            return found.end()
    return earliest
