"""The index as its readers see it: documents, names, relations, findings, anchors. Never writes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from thunderus_mem.document.paths import is_archived
from thunderus_mem.index.database import decode_list
from thunderus_mem.index.file import open_existing
from thunderus_mem.index.scan import UNSETTLED, FolderWalk
from thunderus_mem.index.words import fold_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from thunderus_mem.diagnostic import Diagnostic
    from thunderus_mem.document.anchors import Anchor
    from thunderus_mem.index.database import Database

_DOC_COLUMNS: Final = (
    "doc_id, kind, title, path, tags_json, updated, created, status, aliases_json, hash, tokens, size"
)


class DocRow(NamedTuple):
    """One document as the index knows it. ``path`` is POSIX and relative to root; ``tokens`` is about chars
    / 4."""

    id: str
    kind: str
    title: str
    path: str
    tags: tuple[str, ...]
    updated: str
    created: str
    status: str
    aliases: tuple[str, ...]
    hash: str
    tokens: int
    size: int


class Index:
    """An open index. ``refresh`` (in ``projection.refresh``) makes it agree with the files."""

    def __init__(self, database: Database) -> None:
        self.database = database

    @classmethod
    def open(cls, path: str) -> Index:
        """Open the index file. Raises ``FileNotFoundError`` or ``Damaged``; see ``refresh.open_index``, which
        answers both by building a new one."""
        return cls(open_existing(path))

    def close(self) -> None:
        """Let go of the file."""
        self.database.close()

    def documents(
        self,
        *,
        kinds: Sequence[str] = (),
        tags: Sequence[str] = (),
        statuses: Sequence[str] = (),
        path: str = "",
        since: str = "",
        before: str = "",
        judged: Mapping[str, str] | None = None,
        archived: bool = False,
    ) -> list[DocRow]:
        """Documents by id, those that fit every filter given. ``since`` and ``before`` are ``utc_key`` times;
        status ``superseded`` asks for what another document supersedes; tags must all be there; ``path``
        with ``*`` is a pattern, without one a part of the path; ``judged`` gives documents another status
        than their files do. Those in the archive only with ``archived``."""

        where, values = filter_clauses(
            kinds=kinds,
            tags=tags,
            statuses=statuses,
            paths=[path] if path else [],
            since=since,
            before=before,
            judged=judged,
            archived=archived,
        )
        rows = self.database.rows(f"SELECT {_DOC_COLUMNS} FROM docs WHERE {where} ORDER BY doc_id", values)
        return [_doc_row(row) for row in rows]

    def get(self, doc_id: str) -> DocRow | None:
        """The document with exactly this id."""
        row = self.database.row(f"SELECT {_DOC_COLUMNS} FROM docs WHERE doc_id = ?", (doc_id,))
        return _doc_row(row) if row else None

    def by_path(self, path: str) -> DocRow | None:
        """The document in this file (not when the file only repeats another's id)."""
        row = self.database.row(f"SELECT {_DOC_COLUMNS} FROM docs WHERE path = ?", (path,))
        return _doc_row(row) if row else None

    def ids(self) -> list[str]:
        """All document ids, sorted."""
        return [row[0] for row in self.database.rows("SELECT doc_id FROM docs ORDER BY doc_id")]

    def titles(self, prefix: str = "", limit: int = -1) -> list[tuple[str, str]]:
        """``(id, title)`` of documents whose id, with or without its kind, begins with ``prefix``."""
        escaped = prefix.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_") + "%"
        rows = self.database.rows(
            "SELECT doc_id, title FROM docs WHERE doc_id LIKE ?1 ESCAPE '\\' OR "
            "substr(doc_id, instr(doc_id, '.') + 1) LIKE ?1 ESCAPE '\\' ORDER BY doc_id LIMIT ?2",
            (escaped, limit),
        )
        return [(row[0], row[1]) for row in rows]

    def count(self) -> int:
        """How many documents there are, the archived ones among them."""
        row = self.database.row("SELECT count(*) FROM docs")
        return int(row[0]) if row else 0

    def count_archived(self) -> int:
        """How many documents are in the archive."""
        row = self.database.row("SELECT count(*) FROM docs WHERE archived = 1")
        return int(row[0]) if row else 0

    def paths_of(self, doc_id: str) -> tuple[str, ...]:
        """Every file with this id; the first is the document."""
        rows = self.database.rows("SELECT path FROM files WHERE doc_id = ? ORDER BY path", (doc_id,))
        return tuple(sorted((row[0] for row in rows), key=is_archived))

    def files(self) -> list[tuple[str, str, str]]:
        """``(path, hash, doc_id)`` of every Markdown file; hash and id may be ""."""
        rows = self.database.rows("SELECT path, hash, doc_id FROM files ORDER BY path")
        return [(row[0], row[1], row[2]) for row in rows]

    def settled(self) -> dict[str, tuple[str, str]]:
        """Hash and id of every file that has not changed since it was read, as its stamp proves. Fresh as
        the last refresh."""
        row = self.database.row("SELECT names, stamps FROM walk")
        stamps = FolderWalk(*row).files() if row else {}
        return {
            path: (content_hash, doc_id)
            for path, content_hash, doc_id in self.files()
            if content_hash and stamps.get(path, UNSETTLED) != UNSETTLED
        }

    @property
    def in_memory(self) -> bool:
        """Whether nobody else can open it."""
        return self.database.in_memory

    def generation(self) -> str:
        """Which files the index agrees with: equal for equal paths and texts, in any clone, at any time."""
        return self.database.meta("generation")

    def edges(self) -> list[tuple[str, str, str]]:
        """All relations ``(source id, relation, target id)``, sorted."""
        rows = self.database.rows("SELECT src_doc_id, rel, dst_doc_id FROM doc_edges ORDER BY 1, 2, 3")
        return [(row[0], row[1], row[2]) for row in rows]

    def edges_of(self, doc_id: str) -> list[tuple[str, str, str]]:
        """The relations from and to one document, sorted."""
        rows = self.database.rows(
            "SELECT src_doc_id, rel, dst_doc_id FROM doc_edges WHERE src_doc_id = ?1 OR dst_doc_id = ?1 "
            "ORDER BY 1, 2, 3",
            (doc_id,),
        )
        return [(row[0], row[1], row[2]) for row in rows]

    def superseded_by(self, doc_ids: Iterable[str] | None = None) -> dict[str, str]:
        """For each of the ids (of all when none are given) that an existing document supersedes: that
        document
        (the first by id)."""
        wanted = sorted(set(doc_ids)) if doc_ids is not None else []
        chosen = f"AND dst_doc_id IN ({', '.join('?' * len(wanted))}) " if doc_ids is not None else ""
        rows = self.database.rows(
            "SELECT dst_doc_id, min(src_doc_id) FROM doc_edges JOIN docs ON docs.doc_id = src_doc_id "
            f"WHERE rel = 'supersedes' AND src_doc_id <> dst_doc_id {chosen}GROUP BY 1",
            wanted,
        )
        return {row[0]: row[1] for row in rows}

    def nearest(self, words: Sequence[str], limit: int, *, archived: bool = False) -> list[str]:
        """Ids of the documents that share most with ``words`` (letters and digits only), best first; those in
        the archive only with ``archived``."""
        if not words:
            return []
        rows = self.database.rows(
            "SELECT docs.doc_id FROM docs_fts JOIN docs ON docs.rowid = docs_fts.rowid "
            "WHERE docs_fts MATCH ? AND archived <= ? ORDER BY bm25(docs_fts), docs.doc_id LIMIT ?",
            (" OR ".join(f'"{word}"' for word in words), int(archived), limit),
        )
        return [row[0] for row in rows]

    def heir(self, doc_id: str) -> str | None:
        """The document in use that has this id, or that of an archived document, among its aliases; the first
        by id when several."""
        rows = self.database.rows(
            "SELECT doc_id, aliases_json FROM names JOIN docs USING (doc_id) WHERE name = ? AND archived = 0 "
            "ORDER BY doc_id",
            (fold_name(doc_id),),
        )
        return next((str(row[0]) for row in rows if doc_id in decode_list(row[1])), None)

    def resolve(self, target: str) -> str | None:
        """The document a person means: its id, its path, an alias or a file stem; the first by id when
        several, one in use before one in the archive."""
        row = self.database.row(
            "SELECT doc_id FROM docs WHERE doc_id = ?1 OR path = ?1 ORDER BY doc_id <> ?1 LIMIT 1", (target,)
        ) or self.database.row(
            "SELECT doc_id FROM names JOIN docs USING (doc_id) WHERE name = ? "
            "ORDER BY archived, doc_id LIMIT 1",
            (fold_name(target.removesuffix(".md")),),
        )
        return str(row[0]) if row else None

    def manifest(self) -> bytes:
        """The manifest of the documents in use: what is archived is no part of what is to be loaded."""
        from thunderus_mem.index.manifest import manifest_bytes

        row = self.database.row
        # Joined by SQLite in the order of the inner query: ten thousand rows cost more when Python sees each.
        joined = row(
            "SELECT CAST(group_concat(entry, ',\n') AS BLOB) "
            "FROM (SELECT entry FROM manifest ORDER BY doc_id)"
        )
        newest = row(
            "SELECT updated FROM docs WHERE archived = 0 ORDER BY updated_key DESC, updated DESC LIMIT 1"
        )
        kinds = self.database.rows(
            "SELECT kind, count(*), sum(tokens) FROM docs WHERE archived = 0 GROUP BY kind"
        )
        return manifest_bytes(
            (joined and joined[0]) or b"",
            [(kind, count, tokens) for kind, count, tokens in kinds],
            newest[0] if newest else "",
        )

    def problems(self) -> list[Diagnostic]:
        """The reader's findings in files, those it could not read included; by path."""
        rows = self.database.rows("SELECT problems_json FROM files WHERE problems_json <> '[]' ORDER BY path")
        return [diagnostic for row in rows for diagnostic in decode_problems(row[0])]


def encode_problems(problems: Sequence[Diagnostic]) -> str:
    """Findings as JSON text, for the index."""
    if not problems:
        return "[]"
    import json

    return json.dumps(
        [
            [p.rule, p.severity, p.path, p.line, p.column, p.message, p.key, p.expected, p.hint, p.doc_id]
            for p in problems
        ],
        ensure_ascii=False,
    )


def decode_problems(text: str) -> list[Diagnostic]:
    """Findings from the index. Edits are not kept: lint reads the file again for them."""
    import json

    from thunderus_mem.diagnostic import Diagnostic, Severity

    return [Diagnostic(row[0], Severity(row[1]), *row[2:]) for row in json.loads(text)]


def _doc_row(row: tuple[Any, ...]) -> DocRow:
    doc_id, kind, title, path, tags, updated, created, status, aliases, content_hash, tokens, size = row
    return DocRow(
        doc_id, kind, title, path, decode_list(tags), updated, created, status, decode_list(aliases),
        content_hash, tokens, size,
    )  # fmt: skip


# Questions to the index about anchors: which documents talk about which code.

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


def has_anchors(database: Database) -> bool:
    """Whether any document talks about code in a way that can be checked."""
    return database.row("SELECT 1 FROM anchors LIMIT 1") is not None


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
    from thunderus_mem.document.anchors import Anchor, parse_lines

    return [
        Anchored(doc_id, place, Anchor(path, symbol, parse_lines(lines), fingerprint), line, since)
        for doc_id, place, path, symbol, lines, fingerprint, line, since in rows
    ]


# Filters over documents as a WHERE clause.

_HAS_STATUS: Final = (
    "(CASE WHEN doc_id IN (SELECT value FROM json_each(?)) THEN doc_id IN (SELECT value FROM json_each(?)) "
    "ELSE status = ? END OR (? = 'superseded' AND doc_id IN (SELECT e.dst_doc_id FROM doc_edges e "
    "JOIN docs d ON d.doc_id = e.src_doc_id WHERE e.rel = 'supersedes' AND e.src_doc_id <> e.dst_doc_id)))"
)


def filter_clauses(
    *,
    kinds: Sequence[str] = (),
    tags: Sequence[str] = (),
    statuses: Sequence[str] = (),
    paths: Sequence[str] = (),
    since: str | None = None,
    before: str | None = None,
    judged: Mapping[str, str] | None = None,
    archived: bool = True,
) -> tuple[str, list[Any]]:
    """A WHERE clause over ``docs`` for filters; values that begin with ``-`` leave out.

    ``judged`` gives documents another status than their files do; without ``archived`` only documents in use
    pass.
    """
    clauses: list[str] = [] if archived else ["archived = 0"]
    values: list[Any] = []

    def each(given: Sequence[str], clause: str, *, together: str, change: Any = str) -> None:
        wanted = [value for value in given if not value.startswith("-")]
        unwanted = [value[1:] for value in given if value.startswith("-")]
        if wanted:
            clauses.append("(" + together.join([clause] * len(wanted)) + ")")
        clauses.extend([f"NOT ({clause})"] * len(unwanted))
        values.extend(change(value) for value in (*wanted, *unwanted))

    each(kinds, "kind = ?", together=" OR ")
    each(
        tags,
        "EXISTS (SELECT 1 FROM json_each(tags_json) WHERE lower(json_each.value) = ?)",
        together=" AND ",
        change=str.lower,
    )
    each(paths, "lower(path) GLOB ?", together=" OR ", change=_path_pattern)
    _statuses(statuses, judged or {}, clauses, values)
    if since:
        clauses.append("updated_key >= ?")
        values.append(since)
    if before:
        clauses.append("updated_key < ? AND updated_key <> ''")
        values.append(before)
    return " AND ".join(clauses) or "1", values


def _statuses(given: Sequence[str], judged: Mapping[str, str], clauses: list[str], values: list[Any]) -> None:
    """The clauses for statuses: what ``judged`` says of a document goes before what its file says."""
    import json

    known = json.dumps(sorted(judged))

    def clause(status: str) -> str:
        those = json.dumps(sorted(doc_id for doc_id, said in judged.items() if said == status))
        values.extend((known, those, status, status))
        return _HAS_STATUS

    wanted = [clause(status) for status in given if not status.startswith("-")]
    if wanted:
        clauses.append(f"({' OR '.join(wanted)})")
    clauses.extend([f"NOT ({clause(status[1:])})" for status in given if status.startswith("-")])


def _path_pattern(value: str) -> str:
    lowered = value.lower()
    if "*" in lowered:
        return lowered.replace("[", "[[]")
    return f"*{lowered.replace('[', '[[]').replace('?', '[?]')}*"
