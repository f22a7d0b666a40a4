"""The index in SQLite: documents, names, links, anchors, words. Read only.

All SQL that reads documents is here; the log is in ``log``, writing in ``writer``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from thunderus_mem.document.paths import is_archived
from thunderus_mem.index.database import (
    BATCH,
    PASSAGES_PER_DOCUMENT,
    decode_list,
    engine,
    open_existing,
    scratch,
)
from thunderus_mem.index.questions import (
    ALL_IN_USE,
    Anchored,
    DocRow,
    DocSummary,
    Filter,
    PassageRow,
    RankedRows,
)
from thunderus_mem.index.scan import FolderPart
from thunderus_mem.index.words import fold_name
from thunderus_mem.startup import lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
    from contextlib import AbstractContextManager
    from sqlite3 import Connection

    from thunderus_mem.document.document import Link
    from thunderus_mem.document.profile import Profile
    from thunderus_mem.index.database import Database
    from thunderus_mem.index.log import LogIndex
    from thunderus_mem.index.questions import Index
    from thunderus_mem.index.records import RecordIndex
    from thunderus_mem.index.scan import FolderScan, Stamp

_DOC_COLUMNS: Final = (
    "doc_id, kind, title, path, tags_json, updated, created, status, aliases_json, hash, tokens, size, state"
)
_PROFILE_COLUMNS: Final = (
    "doc_id, path, title, kind, tags_json, created, updated, provenance_json, aliases_json, hash, tokens, "
    "imported_from, expires, letters, quality, places_json, wiki_links_json, file_links_json, "
    "hashtags_json"
)
_SUMMARY_COLUMNS: Final = "rowid, doc_id, kind, title, path, status, confirmed_by, state, updated, hash, ''"
_ANCHOR_COLUMNS: Final = "doc_id, place, path, symbol, lines, fingerprint, line, since"
_ENTRIES: Final = 2_000
_ARCHIVED: Final = "SELECT rowid FROM docs WHERE archived = 1"
_SHOWN: Final = (
    "CREATE VIRTUAL TABLE shown USING fts5(text, tokenize = 'porter unicode61 remove_diacritics 2')"
)
_OPEN, _CLOSE = "\x01", "\x02"
_ADR_NUMBER: Final = lazy_pattern(r"adr[-_ ]?([0-9]{1,6})")


class SqliteIndex:
    """An open index; ``questions.Index`` documents its methods. ``refresh`` updates it from the files."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self._scratch: Connection | None = None

    @classmethod
    def open(cls, path: str) -> SqliteIndex:
        """Open the index file. Raises ``FileNotFoundError`` or ``IndexDamaged``; ``refresh.open_index``
        rebuilds the index in both cases."""
        return cls(open_existing(path))

    @staticmethod
    def engine() -> tuple[str, bool]:
        """Return the version of SQLite, and whether it has FTS5."""
        return engine()

    def close(self) -> None:
        """Close the file."""
        self.database.close()

    @property
    def in_memory(self) -> bool:
        return self.database.in_memory

    def moment(self) -> AbstractContextManager[None]:
        return self.database.snapshot()

    def generation(self) -> str:
        return self.database.meta("generation")

    def problem(self, fresh: Index | None = None) -> str:
        problem = self.database.check()
        if not problem and isinstance(fresh, SqliteIndex):
            for name, sql in (DOCUMENT_TABLES | LOG_TABLES).items():
                if _digest(self.database, sql) != _digest(fresh.database, sql):
                    return f"its {name} do not match the files"
        return problem

    def distrust(self) -> None:
        self.database.distrust()

    def log(self) -> LogIndex:
        from thunderus_mem.index.log import LogIndex

        return LogIndex(self.database)

    def records(self) -> RecordIndex:
        from thunderus_mem.index.records import RecordIndex

        return RecordIndex(self.database)

    def has_walk(self, seen: FolderScan) -> bool:
        """Whether the last refresh found exactly this, and no file must be read again."""
        left = set(seen.parts)
        for part in self.database.each("SELECT * FROM walk"):
            if part not in left:
                return False
            left.remove(FolderPart._make(part))
        return not left and self.unlisted() == seen.unlisted

    # Files

    def files(self) -> list[tuple[str, str, str]]:
        rows = self.database.rows("SELECT path, hash, doc_id FROM files ORDER BY path")
        return [(row[0], row[1], row[2]) for row in rows]

    def each_document_file(self, folder: str) -> Iterator[str]:
        last, end = f"{folder}/", f"{folder}0"
        sql = "SELECT path FROM files WHERE path > ? AND path < ? AND doc_id <> '' ORDER BY path LIMIT ?"
        while rows := self.database.rows(sql, (last, end, BATCH)):
            yield from (row[0] for row in rows)
            last = rows[-1][0]

    def settled(self) -> dict[str, tuple[str, str]]:
        rows = self.database.each("SELECT path, hash, doc_id FROM files WHERE settled AND hash <> ''")
        return {path: (content_hash, doc_id) for path, content_hash, doc_id in rows}

    def stamps(self) -> dict[str, Stamp | None]:
        """Return the stamp of every file when it was read, ``None`` for one that must be read again."""
        rows = self.database.each("SELECT path, settled, size, mtime_ns, ctime_ns, inode FROM files")
        return {path: tuple(stamp) if settled else None for path, settled, *stamp in rows}

    def unlisted(self) -> tuple[str, ...]:
        return tuple(filter(None, self.database.meta("unlisted").split("\0")))

    def paths_of(self, doc_id: str) -> tuple[str, ...]:
        rows = self.database.rows("SELECT path FROM files WHERE doc_id = ? ORDER BY path", (doc_id,))
        return tuple(sorted((row[0] for row in rows), key=is_archived))

    def paths_like(self, path: str) -> tuple[str, ...]:
        from thunderus_mem.document.ids import fold_key

        rows = self.database.rows("SELECT path FROM files WHERE folded = ? ORDER BY path", (fold_key(path),))
        return tuple(row[0] for row in rows)

    def ids_like(self, doc_id: str) -> tuple[str, ...]:
        from thunderus_mem.document.ids import fold_key

        sql = "SELECT doc_id FROM docs WHERE folded = ? ORDER BY doc_id"
        return tuple(row[0] for row in self.database.rows(sql, (fold_key(doc_id),)))

    # Documents

    def documents(self, wanted: Filter = ALL_IN_USE) -> list[DocRow]:
        return list(self.each_document(wanted))

    def each_document(self, wanted: Filter = ALL_IN_USE) -> Iterator[DocRow]:
        where, values = _where(wanted)
        return map(
            _doc_row,
            self.database.each(f"SELECT {_DOC_COLUMNS} FROM docs WHERE {where} ORDER BY doc_id", values),
        )

    def each_summary(self, wanted: Filter) -> Iterator[DocSummary]:
        where, values = _where(wanted)
        # By another index, all rows would be sorted, in memory.
        by_id = "docs INDEXED BY sqlite_autoindex_docs_1"
        sql = f"SELECT {_SUMMARY_COLUMNS} FROM {by_id} WHERE {where} ORDER BY doc_id"
        return map(DocSummary._make, self.database.each(sql, values))

    def profiles(self, without: Collection[str] = ()) -> list[Profile]:
        import json

        from thunderus_mem.document.document import Link

        links: dict[str, list[Link]] = {}
        for source, relation, target in self.edges():
            links.setdefault(source, []).append(Link(relation, target))
        rows = self.database.rows(
            f"SELECT {_PROFILE_COLUMNS} FROM docs JOIN traits USING (doc_id) "
            "WHERE doc_id NOT IN (SELECT value FROM json_each(?)) ORDER BY 1",
            (json.dumps(list(without)),),
        )
        return [_profile(row, tuple(links.get(row[0], ()))) for row in rows]

    def get(self, doc_id: str) -> DocRow | None:
        row = self.database.row(f"SELECT {_DOC_COLUMNS} FROM docs WHERE doc_id = ?", (doc_id,))
        return _doc_row(row) if row else None

    def by_path(self, path: str) -> DocRow | None:
        row = self.database.row(f"SELECT {_DOC_COLUMNS} FROM docs WHERE path = ?", (path,))
        return _doc_row(row) if row else None

    def ids(self) -> list[str]:
        return [row[0] for row in self.database.rows("SELECT doc_id FROM docs ORDER BY doc_id")]

    def titles(self, prefix: str, limit: int) -> list[tuple[str, str]]:
        """Return ``(id, title)`` of documents whose id starts with ``prefix``, for shell completion."""
        escaped = prefix.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_") + "%"
        rows = self.database.rows(
            "SELECT doc_id, title FROM docs WHERE doc_id LIKE ? ESCAPE '\\' ORDER BY doc_id LIMIT ?",
            (escaped, limit),
        )
        return [(row[0], row[1]) for row in rows]

    def count(self, *, archived: bool | None = None) -> int:
        where = "" if archived is None else f" WHERE archived = {int(archived)}"
        row = self.database.row(f"SELECT count(*) FROM docs{where}")
        return int(row[0]) if row else 0

    def headings(self) -> dict[str, tuple[str, str]]:
        rows = self.database.rows("SELECT doc_id, path, anchors_json FROM docs")
        return {row[0]: (row[1], row[2]) for row in rows}

    def named(self, key: str) -> list[str]:
        rows = self.database.rows(
            "SELECT DISTINCT value FROM docs, json_each(provenance_json, ?) WHERE typeof(value) = 'text'",
            (f"$.{key}",),
        )
        return [row[0] for row in rows]

    def names(self) -> dict[str, str]:
        sql = "SELECT name, min(doc_id) FROM names{} GROUP BY name"
        found = {row[0]: row[1] for row in self.database.rows(sql.format(""))}
        if self.count(archived=True):
            in_use = " WHERE doc_id NOT IN (SELECT doc_id FROM docs WHERE archived = 1)"
            found.update(self.database.rows(sql.format(in_use)))
        return found

    def heir(self, doc_id: str) -> str | None:
        rows = self.database.rows(
            "SELECT doc_id, aliases_json FROM names JOIN docs USING (doc_id) WHERE name = ? AND archived = 0 "
            "ORDER BY doc_id",
            (fold_name(doc_id),),
        )
        return next((str(row[0]) for row in rows if doc_id in decode_list(row[1])), None)

    def edges(self) -> list[tuple[str, str, str]]:
        rows = self.database.rows("SELECT src_doc_id, rel, dst_doc_id FROM doc_edges ORDER BY 1, 2, 3")
        return [(row[0], row[1], row[2]) for row in rows]

    def edges_of(self, doc_id: str) -> list[tuple[str, str, str]]:
        rows = self.database.rows(
            "SELECT src_doc_id, rel, dst_doc_id FROM doc_edges WHERE src_doc_id = ?1 OR dst_doc_id = ?1 "
            "ORDER BY 1, 2, 3",
            (doc_id,),
        )
        return [(row[0], row[1], row[2]) for row in rows]

    def superseded_by(self, doc_ids: Iterable[str] | None = None) -> dict[str, str]:
        wanted = sorted(set(doc_ids)) if doc_ids is not None else []
        chosen = f"AND dst_doc_id IN ({_marks(wanted)}) " if doc_ids is not None else ""
        rows = self.database.rows(
            "SELECT dst_doc_id, min(src_doc_id) FROM doc_edges JOIN docs ON docs.doc_id = src_doc_id "
            f"WHERE rel = 'supersedes' AND src_doc_id <> dst_doc_id {chosen}GROUP BY 1",
            wanted,
        )
        return {row[0]: row[1] for row in rows}

    def episode(self, name: str) -> list[str]:
        rows = self.database.rows(
            "SELECT doc_id FROM episodes JOIN docs USING (doc_id) WHERE episode = ? "
            "ORDER BY sequence IS NULL, sequence, created, doc_id",
            (name,),
        )
        return [row[0] for row in rows]

    def episodes(self) -> dict[str, int]:
        rows = self.database.rows(
            "SELECT episode, sum(archived = 0 AND (kind <> 'recap' OR sequence IS NOT NULL)) "
            "FROM episodes JOIN docs USING (doc_id) GROUP BY episode"
        )
        return {row[0]: row[1] for row in rows}

    def manifest_stamp(self) -> str:
        """Return the stamp of the manifest after our last write, "" before the first one."""
        return self.database.meta("manifest")

    def manifest(self) -> Iterator[bytes]:
        """Yield the manifest of the active documents: archived ones are not to be loaded."""
        from thunderus_mem.index.manifest import manifest_pieces

        newest = self.database.row(
            "SELECT updated FROM docs WHERE archived = 0 ORDER BY updated_key DESC, updated DESC LIMIT 1"
        )
        kinds = self.database.rows(
            "SELECT kind, count(*), sum(tokens) FROM docs WHERE archived = 0 GROUP BY kind"
        )
        yield from manifest_pieces(
            self._entries(),
            [(kind, count, tokens) for kind, count, tokens in kinds],
            newest[0] if newest else "",
        )

    def _entries(self) -> Iterator[bytes]:
        """Yield the manifest entries by id, joined by SQLite: faster than ten thousand rows in Python."""
        last = ""
        while found := self.database.row(
            "SELECT CAST(group_concat(entry, ',\n') AS BLOB), max(doc_id) FROM "
            "(SELECT doc_id, entry FROM manifest WHERE doc_id > ? ORDER BY doc_id LIMIT ?)",
            (last, _ENTRIES),
        ):
            if found[0] is None:
                return
            yield found[0]
            last = found[1]

    # Anchors

    def has_anchors(self) -> bool:
        return self.database.row("SELECT 1 FROM anchors LIMIT 1") is not None

    def anchors(self, doc_ids: Iterable[str] | None = None) -> list[Anchored]:
        return self._anchors("1") if doc_ids is None else self._anchors_in("doc_id", doc_ids)

    def anchors_at(self, paths: Iterable[str]) -> list[Anchored]:
        wild = self._anchors("symbol = '' AND lines = '' AND path GLOB '*[*?[/]*'")
        globs = [one for one in wild if one.anchor.is_glob]
        found = {*self._anchors_in("path", paths), *globs}
        return sorted(found, key=lambda one: (one.doc_id, one.place))

    def anchored_files(self) -> list[str]:
        return sorted({one.anchor.path for one in self._anchors("symbol = ''") if not one.anchor.is_glob})

    def anchors_with(self, hashes: Set[str]) -> list[Anchored]:
        if not hashes:
            return []
        rows = self.database.rows("SELECT fingerprint FROM anchors WHERE symbol <> ''")
        wanted = [text for (text,) in rows if not hashes.isdisjoint(text.split(":")[1:3])]
        return self._anchors_in("fingerprint", wanted)

    def anchors_below(self, folder: str) -> list[Anchored]:
        if not folder:
            return self.anchors()
        after = folder[:-1] + chr(ord("/") + 1)
        return self._anchors("path >= ? AND path < ?", (folder, after))

    def _anchors_in(self, column: str, values: Iterable[str]) -> list[Anchored]:
        wanted = sorted(set(values))
        chunks = (wanted[at : at + BATCH] for at in range(0, len(wanted), BATCH))
        return [one for some in chunks for one in self._anchors(f"{column} IN ({_marks(some)})", some)]

    def _anchors(self, where: str, values: Sequence[str] = ()) -> list[Anchored]:
        from thunderus_mem.document.anchors import Anchor, parse_lines

        rows = self.database.rows(
            f"SELECT {_ANCHOR_COLUMNS} FROM anchors WHERE {where} ORDER BY doc_id, place", values
        )
        return [
            Anchored(doc_id, place, Anchor(path, symbol, parse_lines(lines), fingerprint), line, since)
            for doc_id, place, path, symbol, lines, fingerprint, line, since in rows
        ]

    # Words

    def nearest(self, words: Sequence[str], limit: int, *, archived: bool = False) -> list[str]:
        if not words:
            return []
        rows = self.database.rows(
            "SELECT docs.doc_id FROM docs_fts JOIN docs ON docs.rowid = docs_fts.rowid "
            "WHERE docs_fts MATCH ? AND archived <= ? ORDER BY bm25(docs_fts), docs.doc_id LIMIT ?",
            (" OR ".join(f'"{word}"' for word in words), int(archived), limit),
        )
        return [row[0] for row in rows]

    def newest(self, wanted: Filter) -> list[int]:
        where, values = _where(wanted)
        sql = f"SELECT rowid FROM docs WHERE {where} ORDER BY updated_key DESC, doc_id"
        return [row[0] for row in self.database.rows(sql, values)]

    def matching(self, expression: str, *, archived: bool) -> set[int]:
        in_use = "" if archived else f" AND rowid NOT IN ({_ARCHIVED})"
        sql = f"SELECT rowid FROM docs_fts WHERE docs_fts MATCH ?{in_use}"
        return {row[0] for row in self.database.rows(sql, (expression,))}

    def ranked(self, expression: str, *, archived: bool) -> RankedRows:
        # Nothing but the full-text tables is read: a join for each match takes longer than ranking it.
        documents: dict[int, float] = dict(
            self.database.rows(
                "SELECT rowid, -bm25(docs_fts) FROM docs_fts WHERE docs_fts MATCH ?", (expression,)
            )
        )
        passages = self.database.rows(
            f"SELECT rowid / {PASSAGES_PER_DOCUMENT}, rowid, -bm25(passages_fts) FROM passages_fts "
            "WHERE passages_fts MATCH ?",
            (expression,),
        )
        hidden = set() if archived else {row[0] for row in self.database.rows(_ARCHIVED)}
        if hidden:
            documents = {row: score for row, score in documents.items() if row not in hidden}
            passages = [found for found in passages if found[0] not in hidden]
        return RankedRows(documents, passages)

    def holders(self, expressions: Sequence[str], *, archived: bool) -> list[int]:
        hidden = not archived and self.count(archived=True)
        in_use = f" AND rowid NOT IN ({_ARCHIVED})" if hidden else ""
        sql = f"SELECT count(*) FROM docs_fts WHERE docs_fts MATCH ?{in_use}"
        return [self.database.rows(sql, (expression,))[0][0] for expression in expressions]

    def holds(self, row: int, passage: int, expressions: Sequence[str]) -> list[bool]:
        sql = (
            "SELECT 1 FROM passages_fts WHERE passages_fts MATCH ? AND rowid = ? UNION ALL "
            "SELECT 1 FROM docs_fts WHERE docs_fts MATCH ? AND rowid = ?"
        )
        return [
            self.database.row(sql, (each, passage, f"{{doc_id tags}} : ({each})", row)) is not None
            for each in expressions
        ]

    def called(self, name: str) -> list[int]:
        folded = fold_name(name)
        number = _ADR_NUMBER.fullmatch(folded)
        adr = f"adr-{int(number[1]):04}" if number else ""
        found = self.database.rows(
            "SELECT rowid FROM docs WHERE folded = ? OR doc_id IN (SELECT doc_id FROM files WHERE path = ? "
            "UNION SELECT doc_id FROM names WHERE name = ? OR (name >= ? AND name < ?)) ORDER BY doc_id",
            (folded, name, folded.removesuffix(".md"), adr and f"{adr}-", adr and f"{adr}."),
        )
        return [row[0] for row in found]

    def by_id(self, rows: Iterable[int]) -> list[int]:
        # All documents of a store may be tied: more than a statement has room for.
        sql = "SELECT rowid FROM docs WHERE rowid IN (SELECT value FROM json_each(?)) ORDER BY doc_id"
        found = self.database.rows(sql, (str([*rows]),))
        return [row[0] for row in found]

    def summaries(self, *, rows: Iterable[int] = (), ids: Iterable[str] = ()) -> dict[int, DocSummary]:
        keys: list[int | str] = [*rows]
        column = "rowid" if keys else "doc_id"
        keys = keys or [*ids]
        found = self.database.rows(
            f"SELECT {_SUMMARY_COLUMNS} FROM docs WHERE {column} IN ({_marks(keys)})",
            keys,
        )
        return {row[0]: DocSummary(*row) for row in found}

    def best_passage(self, row: int, expression: str, best_first: Sequence[int]) -> int:
        if not expression:
            return row * PASSAGES_PER_DOCUMENT
        # Every passage includes the title, so a short one (a status, a date) could win by the title alone.
        first = row * PASSAGES_PER_DOCUMENT
        rows = self.database.rows(
            "SELECT rowid FROM passages_fts WHERE passages_fts MATCH ? AND rowid BETWEEN ? AND ? "
            "ORDER BY rowid",
            (f"{{body parts}} : ({expression})", first, first + PASSAGES_PER_DOCUMENT - 1),
        )
        own = [found[0] for found in rows]
        return next((passage for passage in best_first if passage in own), own[0] if own else first)

    def passages_of(self, row: int) -> list[int]:
        first = row * PASSAGES_PER_DOCUMENT
        span = (first, first + PASSAGES_PER_DOCUMENT - 1)
        rows = self.database.rows("SELECT id FROM passages WHERE id BETWEEN ? AND ? ORDER BY id", span)
        return [found[0] for found in rows]

    def passage(self, passage: int, path: str) -> PassageRow | None:
        row = self.database.row(
            "SELECT p.anchor, p.line, p.body, p.injection, p.heading, f.size, f.mtime_ns, f.ctime_ns, "
            "f.inode FROM passages p, files f WHERE p.id = ? AND f.path = ?",
            (passage, path),
        )
        if row is None:
            return None
        anchor, line, body, injection, heading, *stamp = row
        return PassageRow(anchor, line, body.count("\n") + 1, injection, tuple(stamp), heading)

    def injection(self, doc_id: str) -> str:
        row = self.database.row(
            "SELECT p.injection FROM docs JOIN passages p "
            f"ON p.id BETWEEN docs.rowid * {PASSAGES_PER_DOCUMENT} "
            f"AND (docs.rowid + 1) * {PASSAGES_PER_DOCUMENT} - 1 "
            "WHERE doc_id = ? AND p.injection <> '' ORDER BY p.id LIMIT 1",
            (doc_id,),
        )
        return str(row[0]) if row else ""

    def marks(self, text: str, expression: str) -> list[tuple[int, int]]:
        if self._scratch is None:
            self._scratch = scratch(_SHOWN)
        ask = self._scratch.execute
        ask("DELETE FROM shown")
        ask("INSERT INTO shown VALUES (?)", (text,))
        found = ask(
            "SELECT highlight(shown, 0, ?, ?) FROM shown WHERE shown MATCH ?", (_OPEN, _CLOSE, expression)
        ).fetchone()
        if found is None:
            return []
        marked = [at for at, char in enumerate(found[0]) if char in _OPEN + _CLOSE]
        places = [at - before for before, at in enumerate(marked)]
        return list(zip(places[::2], places[1::2], strict=False))


def _marks(values: Sequence[Any]) -> str:
    """Return a question mark per value, for SQL."""
    return ", ".join("?" * len(values))


def _doc_row(row: tuple[Any, ...]) -> DocRow:
    doc_id, kind, title, path, tags, updated, created, status, aliases, *rest = row
    return DocRow(
        doc_id, kind, title, path, decode_list(tags), updated, created, status, decode_list(aliases), *rest
    )  # fmt: skip


def _profile(row: tuple[Any, ...], links: tuple[Link, ...]) -> Profile:
    import json

    from thunderus_mem.document.profile import Profile, Traits

    doc_id, path, title, kind, tags, created, updated, provenance, aliases, text_hash, tokens, *traits = row
    return Profile(
        path,
        doc_id,
        title,
        kind,
        decode_list(tags),
        created,
        updated,
        tuple(json.loads(provenance)["events"]),
        decode_list(aliases),
        links,
        text_hash,
        tokens,
        Traits(*traits[:4], *map(decode_list, traits[4:])),
    )


_HAS_VERDICT: Final = (
    "CASE WHEN archived THEN ? = 'archived' WHEN doc_id IN (SELECT value FROM json_each(?)) "
    "THEN doc_id IN (SELECT value FROM json_each(?)) "
    "ELSE iif(status = 'unknown', 'unanchored', status) = ? END"
)
_HAS_STATE: Final = (
    "iif(doc_id IN (SELECT e.dst_doc_id FROM doc_edges e JOIN docs d ON d.doc_id = e.src_doc_id "
    "WHERE e.rel = 'supersedes' AND e.src_doc_id <> e.dst_doc_id), 'superseded', state) = ?"
)


def _where(wanted: Filter) -> tuple[str, list[Any]]:
    """Return a WHERE clause for ``docs``, and its values."""
    clauses: list[str] = [] if wanted.archived else ["archived = 0"]
    values: list[Any] = []

    def each(
        given: Sequence[str], clause: str, *, together: str = " OR ", change: Callable[[str], Any] = str
    ) -> None:
        positive = [value for value in given if not value.startswith("-")]
        negative = [value[1:] for value in given if value.startswith("-")]
        if positive:
            clauses.append("(" + together.join([clause] * len(positive)) + ")")
        clauses.extend([f"NOT ({clause})"] * len(negative))
        for value in map(change, (*positive, *negative)):
            values.extend(value if isinstance(value, tuple) else (value,))

    each(wanted.kinds, "kind = ?")
    each(
        wanted.tags,
        "EXISTS (SELECT 1 FROM json_each(tags_json) WHERE lower(json_each.value) = ?)",
        together=" AND ",
        change=str.lower,
    )
    each(wanted.paths, "lower(path) GLOB ?", change=_path_pattern)
    each(wanted.statuses, "status = ?")
    each(wanted.verdicts, _HAS_VERDICT, change=lambda verdict: _verdict_values(verdict, wanted.judged))
    each(wanted.states, _HAS_STATE)
    each(wanted.categories, "lower(category) = ?", change=str.lower)
    each(wanted.runs, "run_id = ?")
    if wanted.episode:
        clauses.append("doc_id IN (SELECT doc_id FROM episodes WHERE episode = ?)")
        values.append(wanted.episode)
    if wanted.since:
        clauses.append("updated_key >= ?")
        values.append(wanted.since)
    if wanted.before:
        clauses.append("updated_key < ? AND updated_key <> ''")
        values.append(wanted.before)
    return " AND ".join(clauses) or "1", values


def _verdict_values(verdict: str, judged: Mapping[str, str]) -> tuple[str, ...]:
    """Return the values for ``_HAS_VERDICT``: with ids as JSON, because there may be many."""
    import json

    those = [doc_id for doc_id, found in judged.items() if found == verdict]
    return verdict, json.dumps([*judged]), json.dumps(those), verdict


def _path_pattern(value: str) -> str:
    lowered = value.lower()
    if "*" in lowered:
        return lowered.replace("[", "[[]")
    return f"*{lowered.replace('[', '[[]').replace('?', '[?]')}*"


_EVENT: Final = (
    "SELECT path, line, id, kind, place, day, origin_session, origin_id FROM events JOIN shards USING (shard)"
)
_NAMED: Final = (
    "SELECT shards.path, line, doc_id, event_docs.path, after_hash, text_by, former_id "
    "FROM event_docs JOIN shards USING (shard)"
)
DOCUMENT_TABLES: Final = {
    "generation": "SELECT value FROM meta WHERE key = 'generation'",
    "files": "SELECT path, hash, doc_id, problems_json FROM files ORDER BY path",
    "docs": "SELECT * FROM docs ORDER BY doc_id",
    "manifest": "SELECT * FROM manifest ORDER BY doc_id",
    "words": "SELECT * FROM docs_fts ORDER BY doc_id",
    "passages": (
        "SELECT doc_id, p.id % 4096, anchor, line, p.title, heading, body, parts, injection FROM passages p "
        "JOIN docs ON docs.rowid = p.id / 4096 ORDER BY 1, 2"
    ),
    "names": "SELECT * FROM names ORDER BY 1, 2",
    "traits": "SELECT * FROM traits ORDER BY 1",
    "edges": "SELECT * FROM doc_edges ORDER BY 1, 2, 3",
    "episodes": "SELECT * FROM episodes ORDER BY 1",
    "anchors": "SELECT * FROM anchors ORDER BY 1, 2",
    "orphans": "SELECT id FROM passages WHERE id / 4096 NOT IN (SELECT rowid FROM docs)",
}
"""Queries of all document data, by a readable name; their rows depend only on the files."""

LOG_TABLES: Final = {
    "shards": "SELECT path, damages FROM shards ORDER BY path",
    "events": f"{_EVENT} ORDER BY path, line",
    "changes": f"{_NAMED} ORDER BY 1, 2, 3, 4, 5, 6, 7",
}
"""Queries of all data of the log, in the same form."""


def _digest(database: Database, sql: str) -> bytes:
    from hashlib import sha256

    total = sha256()
    for row in database.each(sql):
        total.update(repr(row).encode("utf-8", "surrogatepass"))
    return total.digest()
