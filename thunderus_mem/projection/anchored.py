"""Questions to the index about anchors: which documents talk about which code."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from thunderus_mem.model.anchor import Anchor, parse_lines

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from thunderus_mem.projection.database import Database

__all__ = ["Anchored", "anchored", "anchored_at", "anchored_below", "anchored_ids"]

_COLUMNS: Final = "doc_id, place, path, symbol, lines, fingerprint, line, since"
_CHUNK: Final = 500


class Anchored(NamedTuple):
    """An anchor of a document. ``line`` is that of the document's file it stands in, ``since`` the commit the
    document names as last verified ("" for none)."""

    doc_id: str
    place: int
    anchor: Anchor
    line: int
    since: str


def anchored(database: Database, doc_ids: Sequence[str] | None = None) -> list[Anchored]:
    """The anchors of some documents, or of all, by document and in their order."""
    if doc_ids is None:
        return _read(database.rows(f"SELECT {_COLUMNS} FROM anchors ORDER BY doc_id, place"))
    return _for_each(database, "doc_id", sorted(set(doc_ids)))


def anchored_at(database: Database, paths: Iterable[str]) -> list[Anchored]:
    """Anchors at one of these files, and all with a glob, by document and in their order."""
    found = _for_each(database, "path", sorted(set(paths)))
    wild = database.rows(
        f"SELECT {_COLUMNS} FROM anchors WHERE symbol = '' AND lines = '' AND path GLOB '*[*?[/]*'"
    )
    globs = [one for one in _read(wild) if one.anchor.is_glob]
    return sorted({*found, *globs}, key=lambda one: (one.doc_id, one.place))


def anchored_below(database: Database, folder: str) -> list[Anchored]:
    """Anchors at files below a folder, which ends in ``/`` ("" for all), those with a glob that begins there
    among them, by document and in their order."""
    if not folder:
        return anchored(database)
    after = folder[:-1] + chr(ord("/") + 1)
    rows = database.rows(
        f"SELECT {_COLUMNS} FROM anchors WHERE path >= ? AND path < ? ORDER BY doc_id, place", (folder, after)
    )
    return _read(rows)


def anchored_ids(database: Database) -> list[str]:
    """Documents that have an anchor, by id."""
    return [row[0] for row in database.rows("SELECT DISTINCT doc_id FROM anchors ORDER BY doc_id")]


def _for_each(database: Database, column: str, values: Sequence[str]) -> list[Anchored]:
    found: list[Anchored] = []
    for at in range(0, len(values), _CHUNK):
        some = values[at : at + _CHUNK]
        marks = ", ".join("?" * len(some))
        rows = database.rows(
            f"SELECT {_COLUMNS} FROM anchors WHERE {column} IN ({marks}) ORDER BY doc_id, place", some
        )
        found.extend(_read(rows))
    return found


def _read(rows: Iterable[tuple[str, int, str, str, str, str, int, str]]) -> list[Anchored]:
    return [
        Anchored(doc_id, place, Anchor(path, symbol, parse_lines(lines), fingerprint), line, since)
        for doc_id, place, path, symbol, lines, fingerprint, line, since in rows
    ]
