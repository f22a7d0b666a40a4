"""The piece of a passage that is shown, cut from the file as it is now, with the places of the words that
matched."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from thunderus_mem.projection.database import scratch
from thunderus_mem.projection.scan import stamp_of
from thunderus_mem.projection.source import read_bytes

if TYPE_CHECKING:
    from sqlite3 import Connection

    from thunderus_mem.projection.database import Database

WIDTH: Final = 240
_OPEN, _CLOSE = "\x01", "\x02"
_MARK = re.compile("[\x01\x02]")
_TABLE = "CREATE VIRTUAL TABLE shown USING fts5(text, tokenize = 'porter unicode61 remove_diacritics 2')"


class Snippet(NamedTuple):
    """Text of one line's worth, the ranges in it that matched, and where its passage stands."""

    anchor: str
    line: int
    text: str
    marks: tuple[tuple[int, int], ...]


class Outdated(Exception):
    """A file is not what was indexed any more: somebody changed it since the index was looked over."""


class Snippets:
    """Cuts snippets for one query. ``expression`` is the FTS5 expression whose words are marked, "" for
    none. With ``whole`` a file that has changed raises ``Outdated``."""

    def __init__(self, root: str, database: Database, expression: str, *, whole: bool = False) -> None:
        self._root = root
        self._database = database
        self._expression = expression
        self._whole = whole
        self._scratch: Connection | None = None
        self._words = [word for word in re.findall(r"\w{3,}", expression) if word not in ("AND", "OR")]

    def of(self, path: str, passage: int) -> Snippet | None:
        """The snippet of a passage by its row id; ``None`` when the file is gone or no longer what was
        indexed."""
        row = self._database.row(
            "SELECT p.anchor, p.line, p.body, f.size, f.mtime_ns, f.ctime_ns, f.inode "
            "FROM passages p, files f WHERE p.id = ? AND f.path = ?",
            (passage, path),
        )
        lines = self._lines(path, row[3:]) if row is not None else None
        if row is None or lines is None:
            if self._whole:
                raise Outdated(path)
            return None
        line, count = row[1], row[2].count("\n") + 1
        text = "\n".join(lines[line - 1 : line - 1 + count])
        shown, marks = self._cut(_MARK.sub(" ", text))
        return Snippet(row[0], line, shown, marks)

    def _lines(self, path: str, stamp: tuple[int, ...]) -> list[str] | None:
        """The lines of the file, when what is opened has the stamp: another may come into its place."""
        found = stamp_of(self._root, path)
        try:
            data, opened = read_bytes(self._root, found) if found is not None else (b"", None)
        except OSError:
            return None
        if opened is None or opened.values != stamp:
            return None
        return data.decode("utf-8", "replace").replace("\r\n", "\n").split("\n")

    def _cut(self, text: str) -> tuple[str, tuple[tuple[int, int], ...]]:
        """The window with the most marks in it."""
        marks = self._marks(text) if self._expression else []
        start, end = _window(text, marks)
        inside = tuple(
            (first - start, last - start) for first, last in marks if start <= first and last <= end
        )
        return text[start:end].replace("\n", " ").replace("\t", " "), inside

    def _marks(self, text: str) -> list[tuple[int, int]]:
        """Where the query's words stand: as the index tokenises them, else as parts of longer names."""
        if self._scratch is None:
            self._scratch = scratch(_TABLE)
        self._scratch.execute("DELETE FROM shown")
        self._scratch.execute("INSERT INTO shown VALUES (?)", (text,))
        found = self._scratch.execute(
            "SELECT highlight(shown, 0, ?, ?) FROM shown WHERE shown MATCH ?",
            (_OPEN, _CLOSE, self._expression),
        ).fetchone()
        marks: list[tuple[int, int]] = []
        if found is not None:
            places = [match.start() - at for at, match in enumerate(_MARK.finditer(found[0]))]
            marks = list(zip(places[::2], places[1::2], strict=False))
        if not marks and self._words:
            names = re.compile("|".join(map(re.escape, self._words)), re.IGNORECASE)
            marks = [match.span() for match in names.finditer(text)]
        return marks


def _window(text: str, marks: list[tuple[int, int]]) -> tuple[int, int]:
    """Start and end of what is shown: about ``WIDTH`` characters at word boundaries, around most of the
    marks."""
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
