"""The index as its readers see it: documents, names, relations, findings. Never writes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from thunderus_mem.model.archive import is_archived
from thunderus_mem.projection.manifest import manifest_bytes
from thunderus_mem.projection.opening import open_existing
from thunderus_mem.projection.rows import decode_list, fold_name
from thunderus_mem.projection.scan import UNSETTLED, Walk

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from thunderus_mem.model.diagnostic import Diagnostic
    from thunderus_mem.projection.corpus import IndexCorpus
    from thunderus_mem.projection.database import Database

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
        from thunderus_mem.projection.filters import filter_clauses

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
        stamps = Walk(*row).files() if row else {}
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

    def corpus(self) -> IndexCorpus:
        """The documents as lint rules ask for them, read once."""
        from thunderus_mem.projection.corpus import IndexCorpus

        return IndexCorpus(self)


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

    from thunderus_mem.model.diagnostic import Diagnostic, Severity

    return [Diagnostic(row[0], Severity(row[1]), *row[2:]) for row in json.loads(text)]


def _doc_row(row: tuple[Any, ...]) -> DocRow:
    doc_id, kind, title, path, tags, updated, created, status, aliases, content_hash, tokens, size = row
    return DocRow(
        doc_id, kind, title, path, decode_list(tags), updated, created, status, decode_list(aliases),
        content_hash, tokens, size,
    )  # fmt: skip
